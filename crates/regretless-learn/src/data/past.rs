//! What is known of the past of a series when a row is decided for: lags and rolling means.
//!
//! ```text
//! lag k    y(t − k·p)
//! mean w   the mean of the y there are at t − (d + w − 1)·p … t − d·p
//! ```
//!
//! t is the time of the row, p the period, and d the delay: how many periods before t the newest value is known. Looked up by time, so
//! that a day that is not there shifts nothing. Nothing here looks at t or later.
//!
//! Whoever decides has to tell a value that is not known yet from one that never was, such as that of a Sunday on which the shop was
//! closed. What is newer than the newest value at t − d·p is not known yet, unless the series is used to have a pause there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::kind;

/// Moments that differ by less than this share of a period are one.
const SAME: f64 = 1e-4;

/// The share of the steps from one value to the next that a step as long as a usual pause has at least.
const USUAL: f64 = 0.05;

/// With fewer steps a series does not tell: one in twenty is then a single one, and that may be a holiday.
const TELLING: usize = 40;

/// How the past of a column is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Look {
    /// The value so many periods before.
    Lag(u32),
    /// The mean of so many periods.
    Mean(u32),
}

/// A feature that is made of the past of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lag {
    /// The column.
    pub column: String,
    /// How it is looked at.
    pub look: Look,
}

impl Lag {
    /// What the feature is called.
    pub fn name(&self) -> String {
        match self.look {
            Look::Lag(k) => format!("lag{k}_{}", self.column),
            Look::Mean(w) => format!("mean{w}_{}", self.column),
        }
    }

    /// The first and the last period before a row that it looks at.
    pub fn periods(&self, delay: u32) -> (u32, u32) {
        match self.look {
            Look::Lag(k) => (k, k),
            Look::Mean(w) => (delay, delay + w - 1),
        }
    }
}

/// As it is asked for.
impl fmt::Display for Lag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.look {
            Look::Lag(k) => write!(f, "lag({}, {k})", self.column),
            Look::Mean(w) => write!(f, "mean({}, {w})", self.column),
        }
    }
}

/// The features of the past, and where the past is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lags {
    /// The features.
    pub features: Vec<Lag>,
    /// The columns that together name a series.
    pub series: Vec<String>,
    /// The column that says when a row is.
    pub time: String,
    /// Whether it holds dates: times are days then.
    pub dates: bool,
    /// The time from one row of a series to the next; `None` until a table has told.
    pub period: Option<f64>,
    /// How many periods before a row the newest value is known.
    pub delay: u32,
    /// The longest usual step from one value to the next over all series, where that is more than a period: two days for shops that are
    /// closed on Sundays. Series that are new or short are taken to be as all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<f64>,
}

impl Lags {
    /// The columns that are looked at, each once.
    pub fn columns(&self) -> Vec<String> {
        let all: BTreeSet<&String> = self.features.iter().map(|lag| &lag.column).collect();
        all.into_iter().cloned().collect()
    }

    /// What the features are called.
    pub fn names(&self) -> Vec<String> {
        self.features.iter().map(Lag::name).collect()
    }

    /// A time, for people.
    pub fn moment(&self, time: f64) -> String {
        if self.dates { kind::date(time) } else { time.to_string() }
    }

    /// The most periods that a feature looks back.
    fn reach(&self) -> u32 {
        self.features.iter().map(|lag| lag.periods(self.delay).1).max().unwrap_or(0)
    }
}

/// The values of a column in a series.
#[derive(Clone, Debug, PartialEq)]
struct Track {
    /// What was before is not known any more.
    since: f64,
    /// Times and values, in the order of time.
    values: Vec<(f64, f64)>,
    /// The longest usual step from one value to the next; `None` where too few tell.
    pause: Option<f64>,
}

impl Default for Track {
    fn default() -> Self {
        Self { since: f64::NEG_INFINITY, values: Vec::new(), pause: None }
    }
}

impl Track {
    /// From each value to the next.
    fn steps(&self) -> impl Iterator<Item = f64> + '_ {
        self.values.windows(2).map(|pair| pair[1].0 - pair[0].0)
    }
}

/// The longest of these steps that is usual; one alone may be a holiday.
fn usual(mut steps: Vec<f64>) -> Option<f64> {
    let rarer = (USUAL * steps.len() as f64).ceil() as usize;
    let at = steps.len().checked_sub(rarer.max(2))?;
    Some(*steps.select_nth_unstable_by(at, f64::total_cmp).1)
}

/// The part of a track that a feature looks at.
struct Window<'a> {
    track: &'a Track,
    /// How much earlier or later is the same moment.
    slack: f64,
    from: f64,
    to: f64,
}

/// Two rows of a series at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Twice {
    /// The series.
    pub series: String,
    /// The time.
    pub time: f64,
}

/// The past of every series.
///
/// ```
/// use regretless_learn::{Lag, Lags, Look, Past};
/// let lag = |look| Lag { column: "sold".into(), look };
/// let features = vec![lag(Look::Lag(2)), lag(Look::Mean(3))];
/// let (series, time) = (vec!["shop".into()], "day".into());
/// let mut past = Past::new(Lags { features, series, time, dates: false, period: None, delay: 1, pause: None });
/// for (day, sold) in [(1.0, 10.0), (2.0, 20.0), (4.0, 40.0)] {
///     past.push("north", day, &[sold]);
/// }
/// past.settle().unwrap();
/// // Day 3 is not there: the mean is that of days 2 and 4.
/// assert_eq!(past.look("north", 5.0).collect::<Vec<_>>()[1], 30.0);
/// // Of day 5 nobody knows yet.
/// assert_eq!(past.look("north", 6.0).collect::<Vec<_>>(), [40.0, 40.0]);
/// assert_eq!(past.knows("north", 6.0).collect::<Vec<_>>(), [true, false]);
/// assert_eq!(past.knows("south", 5.0).collect::<Vec<_>>(), [false, false]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    lags: Lags,
    /// The column of each feature, by its place among the columns.
    columns: Vec<usize>,
    width: usize,
    tracks: BTreeMap<String, Vec<Track>>,
    /// The times of each series that rows were added of, until they are settled.
    times: BTreeMap<String, Vec<f64>>,
}

impl Past {
    /// Nothing is known yet.
    pub fn new(lags: Lags) -> Self {
        let names = lags.columns();
        let place = |lag: &Lag| names.iter().position(|name| *name == lag.column).unwrap_or_default();
        let columns = lags.features.iter().map(place).collect();
        Self { columns, width: names.len(), lags, tracks: BTreeMap::new(), times: BTreeMap::new() }
    }

    /// The features.
    pub fn lags(&self) -> &Lags {
        &self.lags
    }

    /// Adds a row: a value for each of [`Lags::columns`], NaN where there is none.
    pub fn push(&mut self, series: &str, time: f64, values: &[f64]) {
        if !self.tracks.contains_key(series) {
            self.tracks.insert(series.to_owned(), vec![Track::default(); self.width]);
        }
        for (track, value) in self.tracks.get_mut(series).into_iter().flatten().zip(values) {
            if value.is_finite() {
                track.values.push((time, *value));
            }
        }
        match self.times.get_mut(series) {
            Some(times) => times.push(time),
            None => drop(self.times.insert(series.to_owned(), vec![time])),
        }
    }

    /// Puts what was added in order; the period is the least step of a series where nobody said.
    pub fn settle(&mut self) -> Result<(), Twice> {
        let mut least = f64::INFINITY;
        for (series, mut times) in std::mem::take(&mut self.times) {
            times.sort_by(f64::total_cmp);
            for pair in times.windows(2) {
                if pair[0] == pair[1] {
                    return Err(Twice { series, time: pair[0] });
                }
                least = least.min(pair[1] - pair[0]);
            }
        }
        self.lags.period = self.lags.period.or_else(|| least.is_finite().then_some(least));
        for track in self.tracks.values_mut().flatten() {
            track.values.sort_by(|a, b| a.0.total_cmp(&b.0));
            track.pause = usual(track.steps().collect()).filter(|_| track.values.len() > TELLING);
        }
        self.lags.pause = self.lags.pause.or_else(|| self.usual_pause());
        Ok(())
    }

    /// The longest step between values of any series that is usual, if it is more than a period.
    fn usual_pause(&self) -> Option<f64> {
        let period = self.lags.period?;
        let steps = self.tracks.values().flatten().flat_map(Track::steps).collect();
        usual(steps).filter(|usual| *usual > (1.0 + SAME) * period)
    }

    /// What is known with a newer past: where it says something, that is so. What is usual stays as it was when the model was trained.
    pub fn followed_by(mut self, newer: Self) -> Self {
        for (series, mut tracks) in newer.tracks {
            tracks.iter_mut().for_each(|track| track.pause = None);
            let Some(own) = self.tracks.get_mut(&series) else {
                self.tracks.insert(series, tracks);
                continue;
            };
            for (own, newer) in own.iter_mut().zip(tracks) {
                let begins = newer.values.first().map_or(f64::INFINITY, |first| first.0);
                let mut all = newer.values;
                let there: BTreeSet<u64> = all.iter().map(|(time, _)| time.to_bits()).collect();
                all.extend(own.values.iter().filter(|(time, _)| !there.contains(&time.to_bits())));
                all.sort_by(|a, b| a.0.total_cmp(&b.0));
                own.values = all;
                // A newer past that begins earlier is a whole one.
                if begins <= own.since {
                    own.since = newer.since;
                }
            }
        }
        self
    }

    /// The newest values of each series: all that rows after them need.
    pub fn recent(&self) -> Self {
        let mut recent = self.clone();
        let Some(period) = self.lags.period else { return recent };
        let reach = f64::from(self.lags.reach().max(1) - 1);
        for track in recent.tracks.values_mut().flatten() {
            let Some((last, _)) = track.values.last() else { continue };
            let since = last - (reach + SAME) * period;
            let old = track.values.partition_point(|(time, _)| *time < since);
            if old > 0 {
                track.values.drain(..old);
                track.since = since;
            }
        }
        recent
    }

    /// The features of a row; NaN where there is nothing of what they look at.
    pub fn look<'a>(&'a self, series: &str, time: f64) -> impl Iterator<Item = f64> + 'a {
        self.windows(series, time).map(|window| {
            let Some(Window { track, slack, from, to }) = window else { return f64::NAN };
            let begin = track.values.partition_point(|(at, _)| *at < from - slack);
            let there = track.values[begin..].iter().take_while(|(at, _)| *at <= to + slack);
            let (count, sum) = there.fold((0.0, 0.0), |(count, sum), (_, y)| (count + 1.0, sum + y));
            // 0/0 is NaN: nothing there.
            sum / count
        })
    }

    /// For each feature of a row whether all that it looks at is known when the row is decided for, if only that there is nothing: what is
    /// newer than the newest value is not known yet, and what a model did not keep is not known any more.
    pub fn knows<'a>(&'a self, series: &str, time: f64) -> impl Iterator<Item = bool> + 'a {
        let delay = f64::from(self.lags.delay);
        self.windows(series, time).map(move |window| {
            let Some(Window { track, slack, from, to }) = window else { return false };
            let period = slack / SAME;
            let known = track.values.partition_point(|(at, _)| *at <= time - delay * period + slack);
            let Some((newest, _)) = known.checked_sub(1).map(|last| track.values[last]) else { return false };
            let pause = track.pause.or(self.lags.pause).map_or(0.0, |pause| (pause - period).max(0.0));
            to <= newest + pause + slack && from >= track.since - slack
        })
    }

    /// What each feature of a row looks at; `None` where nothing is known of the series.
    fn windows<'a>(&'a self, series: &str, time: f64) -> impl Iterator<Item = Option<Window<'a>>> + 'a {
        let (tracks, period) = (self.tracks.get(series), self.lags.period);
        self.lags.features.iter().zip(&self.columns).map(move |(lag, &column)| {
            let (track, period) = (&tracks?[column], period?);
            let (first, last) = lag.periods(self.lags.delay);
            let [from, to] = [last, first].map(|k| time - f64::from(k) * period);
            Some(Window { track, slack: SAME * period, from, to })
        })
    }

    /// The names of the series and, for a file, their numbers: since when, how many, times, values and usual pauses, NaN for none.
    pub(crate) fn numbers(&self) -> (Vec<String>, [(&'static str, Vec<f64>); 5]) {
        let tracks = || self.tracks.values().flatten();
        let of = |part: fn(&(f64, f64)) -> f64| tracks().flat_map(|t| &t.values).map(part).collect();
        let numbers = [
            ("past.since", tracks().map(|track| track.since).collect()),
            ("past.counts", tracks().map(|track| track.values.len() as f64).collect()),
            ("past.times", of(|v| v.0)),
            ("past.values", of(|v| v.1)),
            ("past.pauses", tracks().map(|track| track.pause.unwrap_or(f64::NAN)).collect()),
        ];
        (self.tracks.keys().cloned().collect(), numbers)
    }

    /// The past that [`Past::numbers`] wrote down, of older files without pauses; `None` if the numbers do not fit.
    pub(crate) fn read(lags: Lags, names: &[String], numbers: [Vec<f64>; 5]) -> Option<Self> {
        let [since, counts, times, values, mut pauses] = numbers;
        if pauses.is_empty() {
            pauses = vec![f64::NAN; since.len()];
        }
        let mut past = Self::new(lags);
        let mut rest = times.into_iter().zip(values);
        if since.len() != names.len() * past.width
            || counts.len() != since.len()
            || pauses.len() != since.len()
        {
            return None;
        }
        let mut tracks = since.into_iter().zip(counts).zip(pauses).map(|((since, count), pause)| {
            let values: Vec<(f64, f64)> = rest.by_ref().take(count as usize).collect();
            (values.len() as f64 == count).then_some(Track {
                since,
                values,
                pause: Some(pause).filter(|v| v.is_finite()),
            })
        });
        for name in names {
            let own = tracks.by_ref().take(past.width).collect::<Option<Vec<_>>>()?;
            past.tracks.insert(name.clone(), own);
        }
        Some(past)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lags(looks: &[Look], delay: u32) -> Lags {
        let features = looks.iter().map(|&look| Lag { column: "y".into(), look }).collect();
        Lags { features, series: Vec::new(), time: "t".into(), dates: true, period: None, delay, pause: None }
    }

    fn past(looks: &[Look], delay: u32, rows: &[(f64, f64)]) -> Past {
        let mut past = Past::new(lags(looks, delay));
        rows.iter().for_each(|(t, y)| past.push("", *t, &[*y]));
        past.settle().unwrap();
        past
    }

    /// The formulas by hand, with a day that is not there and one without a value.
    #[test]
    fn lags_and_means() {
        let rows = [(5.0, 50.0), (1.0, 10.0), (2.0, 20.0), (4.0, f64::NAN), (6.0, 60.0)];
        let past = past(&[Look::Lag(1), Look::Lag(3), Look::Mean(2), Look::Mean(4)], 1, &rows);
        let at = |t: f64| past.look("", t).collect::<Vec<_>>();
        let six = at(6.0);
        assert_eq!([six[0], six[2], six[3]], [50.0, 50.0, 35.0]);
        assert!(six[1].is_nan() && at(5.0)[0].is_nan() && at(5.0)[2].is_nan());
        assert_eq!(at(5.0)[1], 20.0);
        assert!(at(1.0).iter().all(|v| v.is_nan()), "before the first row there is nothing");
        // What is delayed ends earlier.
        let past = self::past(&[Look::Mean(2)], 3, &[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0)]);
        assert_eq!(past.look("", 6.0).next(), Some(2.5));
        assert_eq!([6.0, 7.0, 8.0].map(|t| past.knows("", t).next()), [Some(true), Some(true), Some(false)]);
    }

    /// What a model keeps is enough for the next rows, and is said not to be for earlier ones.
    #[test]
    fn the_recent_past_is_enough() {
        let rows: Vec<(f64, f64)> = (0..40).map(|i| (f64::from(i), f64::from(i * i % 17))).collect();
        let whole = past(&[Look::Lag(1), Look::Lag(7), Look::Mean(5)], 1, &rows);
        let recent = whole.recent();
        let (names, numbers) = recent.numbers();
        assert_eq!(numbers[2].1.len(), 7);
        let read = Past::read(recent.lags().clone(), &names, numbers.map(|(_, v)| v)).unwrap();
        assert_eq!(read, recent);
        for t in [40.0, 41.0, 46.0, 47.0] {
            assert!(whole.knows("", t).eq(read.knows("", t)), "{t}");
            let same = |(a, b): (f64, f64)| a.to_bits() == b.to_bits();
            assert!(whole.look("", t).zip(read.look("", t)).all(same), "{t}");
        }
        assert_eq!(read.knows("", 39.0).collect::<Vec<_>>(), [true, false, true]);
        // With the rows that came since, all of these are known again.
        let mut later = Past::new(lags(&[Look::Lag(1), Look::Lag(7), Look::Mean(5)], 1));
        (40..50).for_each(|i| later.push("", f64::from(i), &[f64::from(i)]));
        later.settle().unwrap();
        let both = read.followed_by(later);
        assert_eq!(both.look("", 50.0).collect::<Vec<_>>(), [49.0, 43.0, 47.0]);
        assert!(both.knows("", 42.0).chain(both.knows("", 50.0)).all(|known| known));
        // What came later changes nothing of what is known of an earlier row.
        assert!(both.knows("", 52.0).eq([false, true, false]));
    }

    /// After a pause that is usual nothing is missing; after another one it is.
    #[test]
    fn sundays() {
        let open = |i: &u32| i % 7 != 6;
        let rows: Vec<(f64, f64)> = (0..70).filter(open).map(|i| (f64::from(i), 1.0)).collect();
        let past = past(&[Look::Lag(1)], 1, &rows);
        assert_eq!(past.lags().pause, Some(2.0));
        // Day 69 is a Sunday, day 70 the Monday after it.
        assert!(past.look("", 70.0).all(f64::is_nan) && past.knows("", 70.0).all(|known| known));
        assert!(past.knows("", 71.0).all(|known| !known));
        // Every day, but for one holiday.
        let rows: Vec<(f64, f64)> = (0..70).filter(|i| *i != 30).map(|i| (f64::from(i), 1.0)).collect();
        let past = self::past(&[Look::Lag(1)], 1, &rows);
        assert_eq!(past.lags().pause, None);
        assert!(past.knows("", 31.0).all(|known| !known) && past.knows("", 32.0).all(|known| known));
    }

    /// One of six shops is closed on Sundays, which is rarer than one step in twenty of all of them, and usual for that shop.
    #[test]
    fn sundays_of_one_shop() {
        let mut whole = Past::new(lags(&[Look::Lag(1)], 1));
        for shop in 0..6 {
            (0..69).filter(|day| shop > 0 || day % 7 != 6).for_each(|day| {
                whole.push(&shop.to_string(), f64::from(day), &[1.0]);
            });
        }
        whole.settle().unwrap();
        assert_eq!(whole.lags().pause, None);
        // Also with the numbers of a model file, and with those of an older one.
        let recent = whole.recent();
        let (names, numbers) = recent.numbers();
        let mut numbers = numbers.map(|(_, v)| v);
        let read = Past::read(recent.lags().clone(), &names, numbers.clone()).unwrap();
        assert_eq!(read, recent);
        let knows = |past: &Past, shop: &str, day: f64| past.knows(shop, day).all(|known| known);
        // Day 69 is a Sunday, the newest value that of day 68.
        for past in [&whole, &read] {
            assert!(knows(past, "0", 70.0) && !knows(past, "0", 71.0) && !knows(past, "1", 70.0));
        }
        numbers[4].clear();
        let older = Past::read(recent.lags().clone(), &names, numbers).unwrap();
        assert!(!knows(&older, "0", 70.0) && knows(&older, "0", 69.0));
        // What came since changes nothing of what is usual; a shop that is new is as all are.
        let mut since = Past::new(whole.lags().clone());
        for shop in ["0", "1", "new"] {
            (70..160).step_by(2).for_each(|day| since.push(shop, f64::from(day), &[1.0]));
        }
        since.settle().unwrap();
        let both = read.followed_by(since);
        assert!(knows(&both, "0", 160.0) && !knows(&both, "1", 160.0) && !knows(&both, "new", 160.0));
        assert!(knows(&both, "1", 159.0) && knows(&both, "new", 159.0));
    }

    #[test]
    fn two_rows_at_one_time() {
        let mut past = Past::new(lags(&[Look::Lag(1)], 1));
        [1.0, 2.0, 1.0].iter().for_each(|t| past.push("a", *t, &[0.0]));
        assert_eq!(past.settle(), Err(Twice { series: "a".into(), time: 1.0 }));
    }
}
