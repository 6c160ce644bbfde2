//! Facts of the real tables, where the folder with them is named: `REGRETLESS_DATA`, as on the command line.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;

use regretless_paper::portfolio::{Panel, Prices};

#[test]
fn the_index_has_the_papers_dates() {
    let Some(folder) = std::env::var_os("REGRETLESS_DATA") else { return };
    let folder = Path::new(&folder).join("sp500");
    if !folder.is_dir() {
        return;
    }
    let prices = Prices::read(&folder, "2017-01-01").unwrap();
    assert_eq!((prices.dates.len(), prices.symbols.len()), (3273, 407));
    assert_eq!((&*prices.dates[0], &*prices.dates[3272]), ("2004-01-02", "2016-12-30"));
    assert!(prices.symbols.iter().all(|symbol| symbol != "WY" && symbol != "JCI"));
    let panel = Panel::of(&prices).unwrap();
    assert_eq!(panel.dates.len(), 2898);
    assert!(panel.features.iter().chain(&panel.next).all(|v| v.is_finite()));
    assert_eq!(panel.draw(250, 471_298_479).unwrap().symbols.len(), 250);
}
