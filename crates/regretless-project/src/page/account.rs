//! An account as tables for people: the same on a page and in a terminal.

use regretless_learn::{Account, Group, Grouping, Importance, Side, four};
use regretless_report::{Cell, Grid, Sheet};

/// Series and rows that are shown, at most.
const SHOWN: usize = 12;

/// The tables of an account; those without rows are left out. `unit` is what is counted, such as `cost`.
pub fn sheets(account: &Account) -> Vec<Sheet> {
    let money = [achieved(account), periods(account), series(account)];
    let rows = [soft(account), hard(account), errors(account)];
    money
        .into_iter()
        .chain(account.groups.iter().map(|own| grouping(account, own)))
        .chain(rows)
        .chain(account.importance.iter().map(worth))
        .filter(|sheet| !sheet.grid.rows.is_empty())
        .collect()
}

/// A share in percent.
fn percent(share: f64) -> String {
    match 100.0 * share {
        p if p > 0.0 && p < 0.1 => "<0.1 %".into(),
        p if (p - p.round()).abs() < 0.05 => format!("{p:.0} %"),
        p => format!("{p:.1} %"),
    }
}

/// A number with its sign.
pub(super) fn signed(v: f64) -> String {
    if v > 0.0 { format!("+{}", four(v)) } else { four(v).replace('-', "−") }
}

fn sheet(name: &str, title: &str, lead: String, header: &[&str], rows: Vec<Vec<Cell>>) -> Sheet {
    let header = header.iter().map(|head| (*head).to_owned()).collect();
    Sheet { name: name.into(), title: title.into(), lead, grid: Grid { header, labels: 1, rows } }
}

/// Money first: the model, those it is compared with, the best there was.
fn achieved(account: &Account) -> Sheet {
    let what = account.objective.as_str();
    let money = &account.achieved;
    let count = money.decisions as f64;
    // What is left of a 0 after solving.
    let rounding = 1e-9 * (money.total.abs() + money.regret.abs());
    let optimal = if money.optimal.abs() <= rounding { 0.0 } else { money.optimal };
    let mut rows = vec![vec![
        Cell::best("this model"),
        money.decisions.to_string().into(),
        four(money.mean).into(),
        four(money.total).into(),
        "".into(),
        "".into(),
        "".into(),
    ]];
    for rival in &account.against {
        let broken = if rival.violated > 0.0 {
            format!(" (breaks hard rows on {})", percent(rival.violated))
        } else {
            String::new()
        };
        let error = if rival.standard_error.is_finite() { four(rival.standard_error) } else { "–".into() };
        rows.push(vec![
            format!("{}{broken}", rival.name).into(),
            rival.decisions.to_string().into(),
            four(rival.mean).into(),
            four(rival.mean * rival.decisions as f64).into(),
            signed(rival.advantage).into(),
            error.into(),
            signed(rival.total).into(),
        ]);
    }
    rows.push(vec![
        Cell::muted("best possible, knowing all"),
        Cell::muted(money.decisions.to_string()),
        Cell::muted(four(optimal / count)),
        Cell::muted(four(optimal)),
        Cell::muted(signed(-money.regret / count)),
        "".into(),
        Cell::muted(signed(-money.regret)),
    ]);
    if money.decisions == 0 {
        rows.clear();
    }
    let a_decision = format!("{what} a decision");
    let header = [
        "decided by",
        "decisions",
        &a_decision,
        "in total",
        "the model is better by, a decision",
        "± standard error",
        "in total, better by",
    ];
    let lead = match account.against.first() {
        Some(rival) if rival.decisions > 0 => {
            let (word, by) = if rival.advantage >= 0.0 {
                ("better", rival.advantage)
            } else {
                ("worse", -rival.advantage)
            };
            format!(
                "A decision of the model is {word} than one by {} by {} on average, {} over {} decisions.",
                rival.name,
                four(by),
                four(rival.total.abs()),
                rival.decisions
            )
        }
        _ => String::new(),
    };
    sheet(
        "money",
        &format!("What the decisions {}", if what == "cost" { "cost" } else { "gained" }),
        lead,
        &header,
        rows,
    )
}

fn groups<'a>(account: &Account, groups: impl Iterator<Item = &'a Group>) -> Vec<Vec<Cell>> {
    let row = |group: &Group| {
        let mut row: Vec<Cell> = vec![
            group.name.clone().into(),
            group.decisions.to_string().into(),
            four(group.total).into(),
            four(group.regret).into(),
        ];
        row.extend(group.advantage.iter().take(account.against.len()).map(|v| Cell::from(signed(*v))));
        row
    };
    groups.map(row).collect()
}

fn of_groups(
    account: &Account,
    name: &str,
    title: &str,
    first: &str,
    lead: &str,
    rows: Vec<Vec<Cell>>,
) -> Sheet {
    let than = account.against.iter().map(|rival| format!("better than {} by", rival.name));
    let fixed = [first, "decisions", &account.objective, "regret"].map(str::to_owned);
    let header: Vec<String> = fixed.into_iter().chain(than).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    sheet(name, title, lead.to_owned(), &header, rows)
}

fn periods(account: &Account) -> Sheet {
    let period = account.period.as_deref().unwrap_or("time");
    let title = format!("By {period}");
    let rows = groups(account, account.periods.iter());
    of_groups(account, "by-period", &title, period, "Sums of all decisions of the period.", rows)
}

fn series(account: &Account) -> Sheet {
    by(account, "series", &account.series)
}

fn grouping(account: &Account, grouping: &Grouping) -> Sheet {
    by(account, &grouping.by, &grouping.groups)
}

fn by(account: &Account, what: &str, all: &[Group]) -> Sheet {
    let hidden = all.len().saturating_sub(SHOWN);
    let lead = if hidden > 0 {
        format!("The {SHOWN} with the most regret; {hidden} more are in the JSON.")
    } else {
        "Those with the most regret first.".into()
    };
    let rows = groups(account, all.iter().take(SHOWN));
    of_groups(account, &format!("by-{what}"), &format!("By {what}"), what, &lead, rows)
}

fn soft(account: &Account) -> Sheet {
    let side = |side: &Side| -> [Cell; 3] {
        // Room that costs nothing is no news.
        if !side.priced {
            return ["–", "–", "–"].map(Cell::from);
        }
        [percent(side.share), four(side.amount), four(side.cost)].map(Cell::from)
    };
    let mut order: Vec<usize> = (0..account.soft.len()).collect();
    let cost = |i: usize| account.soft[i].over.cost + account.soft[i].short.cost;
    order.sort_by(|a, b| cost(*b).total_cmp(&cost(*a)));
    let hidden = order.len().saturating_sub(2 * SHOWN);
    order.truncate(2 * SHOWN);
    order.sort_unstable();
    let rows = order.iter().map(|&i| {
        let row = &account.soft[i];
        let name = if row.rows > 1 { format!("{} ({} rows)", row.name, row.rows) } else { row.name.clone() };
        std::iter::once(name.into()).chain(side(&row.short)).chain(side(&row.over)).collect()
    });
    let more = if hidden > 0 {
        format!(" The {} that cost most; {hidden} more are in the JSON.", 2 * SHOWN)
    } else {
        String::new()
    };
    let lead = format!(
        "How often decisions were below a soft limit (short) or above it (over), by how much on average when they were, and what \
         that cost a decision, under what came true.{more}"
    );
    let header = ["soft row", "short on", "by", "costs a decision", "over on", "by ", "costs a decision "];
    sheet("soft-rows", "Soft rows", lead, &header, rows.collect())
}

fn hard(account: &Account) -> Sheet {
    let mut rows: Vec<(f64, Vec<Cell>)> = Vec::new();
    for row in account.hard.iter().filter(|row| row.equation || row.limit > 0.0 || row.violated > 0.0) {
        let kind = if row.equation { "equation" } else { "limit" };
        let cells = [row.name.clone(), kind.into(), percent(row.limit), percent(row.violated)];
        rows.push((row.limit + row.violated, cells.map(Cell::from).to_vec()));
    }
    for bound in &account.bounds {
        for (kind, share) in [("lower bound", bound.lower), ("upper bound", bound.upper)] {
            if share > 0.0 {
                let cells = [bound.name.clone(), kind.into(), percent(share), percent(0.0)];
                rows.push((share, cells.map(Cell::from).to_vec()));
            }
        }
    }
    let hidden = rows.len().saturating_sub(2 * SHOWN);
    if hidden > 0 {
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        rows.truncate(2 * SHOWN);
    }
    let more = if hidden > 0 {
        format!(" The {} that bind most; {hidden} more are in the JSON.", 2 * SHOWN)
    } else {
        String::new()
    };
    let lead = format!(
        "Share of the decisions at the limit, and of those that break it under what came true.{more}"
    );
    let rows = rows.into_iter().map(|(_, cells)| cells).collect();
    let mut sheet = sheet(
        "hard-rows",
        "Hard rows and bounds that bind",
        lead,
        &["row or variable", "kind", "at it on", "broken on"],
        rows,
    );
    sheet.grid.labels = 1;
    sheet
}

fn errors(account: &Account) -> Sheet {
    let mut order: Vec<usize> = (0..account.errors.len()).collect();
    let hidden = order.len().saturating_sub(2 * SHOWN);
    if hidden > 0 {
        order.sort_by(|a, b| account.errors[*b].mae.total_cmp(&account.errors[*a].mae));
        order.truncate(2 * SHOWN);
    }
    let rows = order.iter().map(|&i| {
        let of = &account.errors[i];
        [of.name.clone(), four(of.mean), signed(of.bias), four(of.mae), four(of.rmse)]
            .map(Cell::from)
            .to_vec()
    });
    let more = if hidden > 0 {
        format!(" Those that are off most; {hidden} more are in the JSON.")
    } else {
        String::new()
    };
    let lead = format!(
        "A mean error above 0: too much is predicted, which can be right where the other side costs more.{more}"
    );
    let header = ["quantity", "mean of what came", "mean error", "mean absolute error", "root mean square"];
    sheet("errors", "Errors of the predictions", lead, &header, rows.collect())
}

/// What features are worth, the dearest first.
fn worth(importance: &Importance) -> Sheet {
    let hidden = importance.features.len().saturating_sub(2 * SHOWN);
    let rows = importance.features.iter().take(2 * SHOWN).map(|feature| {
        let error =
            if feature.standard_error.is_finite() { four(feature.standard_error) } else { "–".into() };
        let share = if importance.regret > 0.0 && feature.regret.is_finite() {
            percent_signed(feature.regret / importance.regret)
        } else {
            "–".into()
        };
        [feature.name.clone(), signed(feature.regret), error, share, percent(feature.moved)]
            .map(Cell::from)
            .to_vec()
    });
    let more = if hidden > 0 {
        format!(" {hidden} more are in the JSON, which are worth less.")
    } else {
        String::new()
    };
    let lead = format!(
        "How much regret rises on average when a feature's column is shuffled, so that it says nothing: {} rows, each column \
         shuffled {} times; their regret as they are is {}. Features that say the same stand in for one another, and each looks as if it \
         were worth little.{more}",
        importance.rows,
        importance.shuffles,
        four(importance.regret)
    );
    let header =
        ["feature", "worth, a decision", "± standard error", "of the regret", "predictions it moves"];
    sheet("importance", "What features are worth to decisions", lead, &header, rows.collect())
}

/// A share in percent with its sign.
fn percent_signed(share: f64) -> String {
    match percent(share.abs()) {
        small if share.abs() < 1e-3 => small.replace("<0.1", "0"),
        large if share < 0.0 => format!("−{large}"),
        large => format!("+{large}"),
    }
}
