//! The report as a reader sees it: opened in a browser, light and dark, on a desk and on a phone.
#![allow(clippy::print_stdout, clippy::missing_panics_doc, missing_docs)]

mod chromium;
#[path = "../examples/demo/data.rs"]
mod data;
#[path = "browser/study.rs"]
mod study;

use std::path::PathBuf;

use chromium::Chromium;
use regretless_report::{Charts, Report};

const DARK: &str = "--blink-settings=preferredColorScheme=0";
const PHONE: u32 = 390;

/// Shows `report.html` in a frame of a given width and writes what a script finds in it into `<pre id="found">`.
/// A frame, because a headless window is never narrower than about 500 pixels.
fn framed(browser: &Chromium, name: &str, width: u32, script: &str) -> PathBuf {
    browser.page(
        name,
        &format!(
            "<!doctype html><html><body style=\"margin:0\"><iframe id=\"f\" src=\"report.html\" width=\"{width}\" \
             height=\"9000\" style=\"border:0;display:block\"></iframe><pre id=\"found\"></pre><script>\
             document.getElementById('f').onload = function () {{ const page = this.contentDocument, view = \
             this.contentWindow; document.getElementById('found').textContent = String((() => {{ {script} }})()); }};\
             </script></body></html>"
        ),
    )
}

fn found(browser: &Chromium, width: u32, script: &str, extra: &[&str]) -> String {
    let dom = browser.dom(&framed(browser, "frame.html", width, script), extra);
    between(&dom, "<pre id=\"found\">", "</pre>").to_owned()
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let start = text.find(from).unwrap_or_else(|| panic!("no {from}")) + from.len();
    let length = text[start..].find(to).unwrap_or_else(|| panic!("no {to} after {from}"));
    &text[start..start + length]
}

/// Twelve methods with names of all lengths, many seeds.
fn crowded() -> Report {
    let demo = data::demo();
    let mut report =
        Report { charts: Charts::default(), title: "UnbreakableTitle".repeat(12), ..demo.clone() };
    report.table.rows.clear();
    for k in 0..12 {
        let name = format!("surrogate-{}+l2-{k}", "very-long-".repeat(k % 4));
        let mut row = demo.table.rows[k % 7].clone();
        (row.method, row.best) = (name.clone(), k == 5);
        report.table.rows.push(row);
        for seed in 0..20 {
            let mut curve = demo.charts.curves[(k * 7 + seed) % demo.charts.curves.len()].clone();
            curve.method.clone_from(&name);
            report.charts.curves.push(curve);
        }
        let mut distribution = demo.charts.distributions[k % 7].clone();
        distribution.method.clone_from(&name);
        report.charts.distributions.push(distribution);
        let mut scatter = demo.charts.scatters[k % 3].clone();
        scatter.method.clone_from(&name);
        report.charts.scatters.push(scatter);
        let mut sharpness = demo.charts.sharpness[k % 2].clone();
        sharpness.method.clone_from(&name);
        report.charts.sharpness.push(sharpness);
        let mut activity = demo.charts.activity[k % 3].clone();
        activity.method = name;
        report.charts.activity.push(activity);
    }
    report
}

/// Texts of the visible charts that leave their drawing or touch one another.
const COLLISIONS: &str = "const bad = []; for (const svg of page.querySelectorAll('svg')) { \
    if (view.getComputedStyle(svg).display === 'none') continue; const frame = svg.getBoundingClientRect(); \
    const boxes = [...svg.querySelectorAll('text')].map(t => [t, t.getBoundingClientRect()]); \
    boxes.forEach(([t, a], i) => { \
      if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1 || a.bottom > frame.bottom + 1) \
        bad.push('outside: ' + t.textContent); \
      for (const [u, b] of boxes.slice(i + 1)) \
        if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4) \
          bad.push('overlap: ' + t.textContent + ' / ' + u.textContent); }); } \
    return bad.length ? bad.join('; ') : 'none';";

#[test]
fn the_table_reads_as_it_was_filled_in() {
    let Some(browser) = Chromium::find() else { return };
    let report = data::demo();
    let dom = browser.dom(&browser.page("report.html", &report.html()), &[]);
    let table = between(&dom, "<table id=\"comparison\">", "</table>");
    let rows: Vec<&str> = table.split("<tr").skip(2).collect();
    assert_eq!(rows.len(), report.table.rows.len());
    for (text, row) in rows.iter().zip(&report.table.rows) {
        assert_eq!(between(text, "<span class=\"name short\">", "</span>"), row.method);
        assert_eq!(between(text, "<span class=\"v\">", "</span>"), format!("{:.2}", row.regret));
        assert_eq!(between(text, "<td data-key=\"seeds\">", "</td>"), row.seeds.to_string());
        assert_eq!(text.contains(">best</span>"), row.best);
    }
    assert!(rows[6].contains("<td data-key=\"p_value\">&lt;0.001</td>"), "{}", rows[6]);
    assert_eq!(table.matches("<th scope=\"col\"").count(), 15);

    let json = between(&dom, "<script type=\"application/json\" id=\"regretless-data\">", "</script>");
    let back: Report = serde_json::from_str(json).expect("the embedded data");
    for (a, b) in back.table.rows.iter().zip(&report.table.rows) {
        assert_eq!((&a.method, a.regret, a.seeds, &a.note), (&b.method, b.regret, b.seeds, &b.note));
    }
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    let Some(browser) = Chromium::find() else { return };
    let page = data::demo().html();
    for text in ["src=", "href=", "url(http", "@import", "<link", "<iframe", "<img"] {
        assert!(!page.contains(text), "{text}");
    }
    browser.page("report.html", &page);
    let loaded = "return view.performance.getEntriesByType('resource').length;";
    assert_eq!(found(&browser, 1280, loaded, &[]), "0");
    let noisy = browser.page("noisy.html", "<html><script>console.error('heard')</script></html>");
    assert!(browser.log(&noisy).contains("heard"), "console messages would go unnoticed");
}

#[test]
fn it_fits_a_phone_and_no_text_collides() {
    let Some(browser) = Chromium::find() else { return };
    for (name, report) in [("demo", data::demo()), ("crowded", crowded())] {
        let html = report.html();
        assert!(html.len() < 2_000_000, "{name}: {} bytes", html.len());
        browser.page("report.html", &html);
        let width =
            "const root = page.documentElement; return Math.max(root.scrollWidth, page.body.scrollWidth);";
        let width: u32 = found(&browser, PHONE, width, &[]).parse().expect("a width");
        assert!(width <= PHONE, "{name} is {width} pixels wide on a phone");
        for width in [PHONE, 1280] {
            assert_eq!(found(&browser, width, COLLISIONS, &[]), "none", "{name} at {width}");
        }
    }
}

/// Reports whose axes have labels of all kinds: negative, small, large.
fn ranges() -> Vec<(String, Report)> {
    let stretch = |values: &mut Vec<f64>, (low, high): (f64, f64)| {
        let ends = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |e, &v| (e.0.min(v), e.1.max(v)));
        values.iter_mut().for_each(|v| *v = low + (*v - ends.0) / (ends.1 - ends.0) * (high - low));
    };
    let each = [((-3.4, 14.1), 2), ((-0.021, 0.034), 1), ((-9e8, 9e8), 3), ((1e-12, 123_456.0), 3)];
    each.map(|(range, clouds)| {
        let mut report = data::demo();
        let Charts { curves, distributions, scatters, sharpness, .. } = &mut report.charts;
        scatters.truncate(clouds);
        scatters.iter_mut().for_each(|s| {
            stretch(&mut s.predicted, range);
            stretch(&mut s.realised, range);
        });
        curves.iter_mut().for_each(|c| stretch(&mut c.valid, range));
        distributions.iter_mut().for_each(|d| stretch(&mut d.regrets, range));
        sharpness.iter_mut().for_each(|s| stretch(&mut s.regret, range));
        (format!("{range:?}"), report)
    })
    .to_vec()
}

#[test]
fn labels_of_every_axis_are_within_the_drawing() {
    let Some(browser) = Chromium::find() else { return };
    for (name, report) in ranges() {
        browser.page("report.html", &report.html());
        for width in [PHONE, 1280] {
            assert_eq!(found(&browser, width, COLLISIONS, &[]), "none", "{name} at {width}");
        }
    }
}

#[test]
fn the_whole_table_is_seen_on_a_desk() {
    let Some(browser) = Chromium::find() else { return };
    let mut report = data::demo();
    report.table.rows[3].method = "surrogate-smooth+l2+scenarios".into();
    report.table.rows[4].seconds = 5_000.0;
    report.table.rows[5].violation = Some(1.234e-5);
    browser.page("report.html", &report.html());
    let size = "const box = page.querySelector('.scroll'); \
        return [box.querySelectorAll('thead th').length, box.offsetWidth, box.scrollWidth <= box.clientWidth];";
    assert_eq!(found(&browser, 1280, size, &[]), "15,1180,true");
}

/// Words of labels that stand on more than one line.
const BROKEN: &str = "const bad = []; for (const label of page.querySelectorAll('dt, th')) { \
    const walk = page.createTreeWalker(label, 4); while (walk.nextNode()) { const node = walk.currentNode; \
      for (const word of node.data.matchAll(/[^\\s-]+/g)) { const range = page.createRange(); \
        range.setStart(node, word.index); range.setEnd(node, word.index + word[0].length); \
        const tops = [...range.getClientRects()].map(r => Math.round(r.top)); \
        if (new Set(tops).size > 1) bad.push(word[0]); } } } return bad.length ? bad.join('; ') : 'none';";

#[test]
fn labels_break_between_words_only() {
    let Some(browser) = Chromium::find() else { return };
    let mut report = data::demo();
    let long = "360 for training, 120 for validation, 120 for test, and-".to_owned() + &"x".repeat(200);
    for key in ["Rows", "Epochs", "Command", "Gradients clipped"] {
        report.problem.push((key.into(), long.clone()));
        report.settings[0].1.push((key.into(), long.clone()));
    }
    browser.page("report.html", &report.html());
    for width in [PHONE, 1280] {
        assert_eq!(found(&browser, width, BROKEN, &[]), "none", "at {width}");
        let wide = "return page.documentElement.scrollWidth;";
        assert_eq!(found(&browser, width, wide, &[]), width.to_string());
    }
}

#[test]
fn it_follows_light_and_dark() {
    let Some(browser) = Chromium::find() else { return };
    let page = browser.page("report.html", &data::demo().html());
    let colour = "return view.getComputedStyle(page.body).backgroundColor;";
    assert_eq!(found(&browser, 1280, colour, &[]), "rgb(255, 255, 255)");
    assert_eq!(found(&browser, 1280, colour, &[DARK]), "rgb(20, 23, 27)");

    let phone = framed(&browser, "phone.html", PHONE, "return '';");
    let light = browser.picture(&page, "light", (1280, 4200), &[]);
    let dark = browser.picture(&page, "dark", (1280, 4200), &[DARK]);
    let phone = browser.picture(&phone, "phone", (500, 7000), &[]);
    for (png, width) in [(&light, 1280u32), (&dark, 1280), (&phone, 500)] {
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png[16..20] == width.to_be_bytes());
        assert!(png.len() > 100_000, "{} bytes are hardly a report", png.len());
    }
    assert_ne!(light, dark);
}

#[test]
fn charts_stand_on_their_own() {
    let Some(browser) = Chromium::find() else { return };
    for (name, svg) in data::demo().svgs() {
        let page = browser.page(&format!("{name}.svg"), &svg);
        // A broken SVG shows an error page instead of a drawing.
        let light = browser.picture(&page, &name, (900, 700), &[]);
        let dark = browser.picture(&page, &format!("{name}-dark"), (900, 700), &[DARK]);
        assert!(light.len() > 8_000 && dark.len() > 8_000, "{name}: {} and {}", light.len(), dark.len());
        assert_ne!(light, dark, "{name}");
    }
}
