//! The page of a study, in a browser.

#[path = "../../examples/study/data.rs"]
mod data;

use regretless_report::{Cell, StudyChart, StudyReport};

use super::{COLLISIONS, Chromium, DARK, found};

/// The study with names that are hard to place.
fn crowded() -> StudyReport {
    let mut study = data::study();
    study.title = "UnbreakableTitle".repeat(12);
    let long = |name: &mut String| {
        if name.starts_with("SPO") {
            *name = "surrogate-very-long-very-long-very-long-".repeat(3);
        }
    };
    for section in &mut study.sections {
        section.title.push_str(&"-andmore".repeat(9));
        match &mut section.chart {
            Some(StudyChart::Lines(lines)) => lines.series.iter_mut().for_each(|s| long(&mut s.method)),
            Some(StudyChart::Dots(dots)) => {
                dots.groups.iter_mut().for_each(|g| g.title.push_str(&" with a long name".repeat(4)));
                dots.groups.iter_mut().flat_map(|g| &mut g.dots).for_each(|d| long(&mut d.method));
            }
            None => {}
        }
        if let Some(grid) = &mut section.grid {
            grid.rows[0][0] = Cell::from("a-cell-without-a-space-".repeat(20));
        }
    }
    study
}

#[test]
fn it_fits_every_screen_and_no_text_collides() {
    let Some(browser) = Chromium::find() else { return };
    for (name, study) in [("demo", data::study()), ("crowded", crowded())] {
        browser.page("report.html", &study.html());
        for width in [400, 1400] {
            let wide = "const root = page.documentElement; return Math.max(root.scrollWidth, page.body.scrollWidth);";
            assert_eq!(found(&browser, width, wide, &[]), width.to_string(), "{name}");
            assert_eq!(found(&browser, width, COLLISIONS, &[]), "none", "{name} at {width}");
        }
    }
}

#[test]
fn every_section_is_there_and_reached_from_the_contents() {
    let Some(browser) = Chromium::find() else { return };
    let study = data::study();
    browser.page("report.html", &study.html());
    let headings = "return [...page.querySelectorAll('.contents a')].map(a => { \
        const section = page.querySelector(a.getAttribute('href')); \
        return section.querySelector('h2').textContent === a.textContent && section.offsetHeight > 100 \
          ? a.textContent : 'missing: ' + a.textContent; }).join('|');";
    let titles: Vec<&str> = study.sections.iter().map(|s| s.title.as_str()).collect();
    assert_eq!(found(&browser, 1400, headings, &[]), titles.join("|"));
    let parts = "const shown = [...page.querySelectorAll('svg')].filter(s => s.getBoundingClientRect().height > 0); \
        return [shown.length, page.querySelectorAll('table').length, page.querySelectorAll('td.best').length];";
    assert_eq!(found(&browser, 400, parts, &[]), "4,2,12");
    let loaded = "return view.performance.getEntriesByType('resource').length;";
    assert_eq!(found(&browser, 1400, loaded, &[]), "0");
}

#[test]
fn the_wide_table_scrolls_in_its_own_box() {
    let Some(browser) = Chromium::find() else { return };
    browser.page("report.html", &data::study().html());
    let size = "const box = page.querySelector('.scroll'); box.scrollLeft = 200; \
        const first = box.querySelector('tbody th').getBoundingClientRect().left - box.getBoundingClientRect().left; \
        return [box.scrollWidth > box.clientWidth, box.scrollLeft, Math.round(first)];";
    assert_eq!(found(&browser, 400, size, &[]), "true,200,1");
    let whole = "const box = page.querySelector('.scroll'); return box.scrollWidth <= box.clientWidth;";
    assert_eq!(found(&browser, 1400, whole, &[]), "true");
}

#[test]
fn it_is_drawn_light_and_dark() {
    let Some(browser) = Chromium::find() else { return };
    let page = browser.page("report.html", &data::study().html());
    let light = browser.picture(&page, "study-light", (1200, 5200), &[]);
    let dark = browser.picture(&page, "study-dark", (1200, 5200), &[DARK]);
    assert!(light.len() > 100_000 && dark.len() > 100_000);
    assert_ne!(light, dark);
}
