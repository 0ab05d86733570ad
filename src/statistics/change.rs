//! Since when a series of values has another level, reported while the series grows.

use serde::Serialize;

use super::figure::t_half_width;
use super::interval::{Interval, LEVEL};
use super::sums::Sums;

/// The false-alarm rate over the whole life of a series whose level never changes, however often it is inspected.
pub const FALSE_ALARMS: f64 = 0.05;

/// Fewer values than these can't show a change, however clear it is.
pub const LEAST_VALUES: usize = 10;

/// A change is looked for among so many of the newest values.
const NEWEST: usize = 30;

/// A series is not longer than this: a new one begins then.
const LONGEST: usize = 365;

/// How much more often a value from after a fall is below one from before it than above, each with its share of the
/// test's weight. A rise is the same, mirrored.
const ODDS: [(f64, f64); 3] = [(5.0, 0.25), (30.0, 0.25), (1000.0, 0.5)];

/// The share of the test's weight on a drop; the rest is on a rise.
const DROP_WEIGHT: f64 = 0.75;

/// A value of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dated {
    /// The value.
    pub value: f64,
    /// Decides which one of equal values comes first: drawn at random once for each value, and kept.
    pub lot: u64,
}

/// A change of a series' level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// The place of the first value with which it is compared.
    pub from: usize,
    /// The place of the first value after it: the most probable one.
    pub since: usize,
    /// The place of the value with which it was shown.
    pub shown_at: usize,
    /// How much more probable the order of the values is with a change than without one; 20 or more.
    pub evidence: f64,
}

/// A series, read from its beginning.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// The changes, in order.
    pub found: Vec<ChangePoint>,
    /// How many values there are since the last change was shown, or since the beginning.
    pub since: usize,
    /// The evidence for a further change now; it is one from 20 on.
    pub evidence: f64,
}

/// The changes of a series' level.
///
/// Each value is looked at when it comes, and nothing is used of values but their order. While the level stays, every order of
/// the values is equally probable. A change is reported where the order is 20 times as probable with one as without: a weighted
/// mean over its place, its direction and its size. Such a ratio has a mean of 1 at any time while the level stays and is a
/// martingale, so that it ever reaches 20 in at most one of 20 series, whenever one looks and however long the series gets.
/// That holds for values of any distribution, as long as they could have come in any other order: independent ones, or such as
/// have something in common all the time; not for those that drift, or follow the one before.
///
/// After a change a new series begins with the next value, which may be wrong once in 20 times by itself.
///
/// Sources: the ratio for two samples whose distribution functions are powers of each other, Lehmann 1953 and Savage 1956; that
/// it may be looked at at any time, Ville 1939, for the detection of changes Shin, Ramdas and Rinaldo 2022 (arXiv 2203.03532).
pub fn changes(series: &[Dated]) -> Changes {
    let (mut found, mut begins) = (Vec::new(), 0);
    let mut look = ChangeEvidence { since: 0, evidence: 1.0 };
    let mut from = 0;
    // The places of the values, the lowest value first.
    let mut order: Vec<usize> = Vec::new();
    for (place, value) in series.iter().enumerate() {
        if place - begins == LONGEST {
            (begins, from) = (place, place);
            order.clear();
        }
        let key = |place: &usize| (series[begins + place].value, series[begins + place].lot);
        let rank = order.partition_point(|known| {
            let (other, lot) = key(known);
            other.total_cmp(&value.value).then(lot.cmp(&value.lot)).is_lt()
        });
        order.insert(rank, place - begins);
        look = ChangeEvidence::at(&order);
        if look.evidence * FALSE_ALARMS >= 1.0 {
            let since = begins + look.since;
            found.push(ChangePoint { from, since, shown_at: place, evidence: look.evidence });
            (begins, from) = (place + 1, since);
            order.clear();
            look = ChangeEvidence { since: 0, evidence: 1.0 };
        }
    }
    Changes { found, since: series.len() - begins, evidence: look.evidence }
}

/// The evidence for a change of level in the order of a series.
#[derive(Debug, Clone, Copy)]
struct ChangeEvidence {
    /// The place of the first value after the most probable change.
    since: usize,
    /// How much more probable the order is with a change.
    evidence: f64,
}

impl ChangeEvidence {
    /// The evidence at the places of the values, the lowest value first.
    fn at(order: &[usize]) -> ChangeEvidence {
        let count = order.len();
        // A change that is yet to come says nothing so far.
        let mut look = ChangeEvidence { since: 0, evidence: 1.0 / (count as f64).sqrt() };
        let mut most = 0.0;
        for since in count.saturating_sub(NEWEST).max(1)..count {
            let before = since as f64;
            let weight = 1.0 / before.sqrt() - 1.0 / (before + 1.0).sqrt();
            let mut own = 0.0;
            for (odds, share) in ODDS {
                own += share * DROP_WEIGHT * ratio(order.iter().copied(), since, odds);
                own += share * (1.0 - DROP_WEIGHT) * ratio(order.iter().rev().copied(), since, odds);
            }
            look.evidence += weight * own;
            if weight * own > most {
                (most, look.since) = (weight * own, since);
            }
        }
        look
    }
}

/// How much more probable this order is where each value from `since` on comes before an earlier one with these odds.
fn ratio(order: impl ExactSizeIterator<Item = usize>, since: usize, odds: f64) -> f64 {
    let mut left = order.len() as f64;
    let mut weights = since as f64 + (left - since as f64) * odds;
    let mut ratio = 1.0;
    for place in order {
        let weight = if place < since { 1.0 } else { odds };
        ratio *= weight * left / weights;
        left -= 1.0;
        weights -= weight;
    }
    ratio
}

/// By how much the level of values has changed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shift {
    /// The mean before.
    pub before: f64,
    /// The mean after.
    pub after: f64,
    /// The mean after less the mean before.
    pub difference: f64,
    /// Its 95 % interval, for a place that is known: how the place was found is not in it. `None` where values of one side show
    /// no spread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// The level after a change beside that before; the difference lies within `possible`. `None` where there is no value on a side.
///
/// Source: Welch 1947.
pub fn shift(before: &[f64], after: &[f64], possible: Interval) -> Option<Shift> {
    let [one, other]: [Sums; 2] = [before, after].map(|values| values.iter().copied().collect());
    let (first, second) = (one.mean()?, other.mean()?);
    let own = |sums: &Sums| Some((sums.variance()? / f64::from(sums.count), f64::from(sums.count - 1)));
    let interval = own(&one).zip(own(&other)).and_then(|((v, degrees), (w, others))| {
        let squared = v + w;
        let welch = squared * squared / (v * v / degrees + w * w / others);
        let half_width = t_half_width(welch, LEVEL) * squared.sqrt();
        (squared > 0.0 && half_width.is_finite()).then(|| Interval::around(second - first, half_width, possible))
    });
    Some(Shift { before: first, after: second, difference: second - first, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[f64]) -> Vec<Dated> {
        values.iter().zip(0..).map(|(value, lot)| Dated { value: *value, lot }).collect()
    }

    /// This many values of this level, none like another.
    fn level(count: usize, level: f64) -> Vec<f64> {
        (0..count).map(|at| level + ((at * 7) % 11) as f64 / 1000.0 + at as f64 * 1e-6).collect()
    }

    #[test]
    fn the_chance_of_all_orders_adds_up_to_one() {
        // Every order of six values is equally probable where nothing changes: the mean ratio is 1.
        fn orders(left: &mut Vec<usize>, chosen: &mut Vec<usize>, each: &mut impl FnMut(&[usize])) {
            if left.is_empty() {
                return each(chosen);
            }
            for at in 0..left.len() {
                let place = left.remove(at);
                chosen.push(place);
                orders(left, chosen, each);
                chosen.pop();
                left.insert(at, place);
            }
        }
        let (mut sum, mut count) = (0.0, 0);
        orders(&mut (0..6).collect(), &mut Vec::new(), &mut |order| {
            sum += ChangeEvidence::at(order).evidence;
            count += 1;
        });
        assert_eq!(count, 720);
        assert!((sum / 720.0 - 1.0).abs() < 1e-12, "{}", sum / 720.0);
    }

    #[test]
    fn a_fall_is_told_with_its_place() {
        let values = [level(20, 0.8), level(6, 0.7)].concat();
        let found = changes(&series(&values)).found;
        let [change] = found[..] else { panic!("{found:?}") };
        assert_eq!((change.from, change.since), (0, 20), "{change:?}");
        assert!((22..26).contains(&change.shown_at) && change.evidence >= 20.0, "{change:?}");
    }

    #[test]
    fn a_rise_is_told_too_and_so_is_what_follows() {
        let values = [level(16, 0.7), level(20, 0.8), level(10, 0.6)].concat();
        let found = changes(&series(&values)).found;
        assert_eq!(found.iter().map(|it| (it.from, it.since)).collect::<Vec<_>>(), [(0, 16), (16, 36)], "{found:?}");
    }

    #[test]
    fn fewer_values_can_show_nothing_and_so_many_can() {
        // Nothing is clearer than values of which each is below the one before.
        let shows = |count: usize| {
            let falling: Vec<f64> = (0..count).map(|at| 1.0 - at as f64 / 100.0).collect();
            !changes(&series(&falling)).found.is_empty()
        };
        assert_eq!([LEAST_VALUES - 1, LEAST_VALUES].map(shows), [false, true]);
        assert_eq!(changes(&[]), Changes { found: Vec::new(), since: 0, evidence: 1.0 });
    }

    #[test]
    fn what_is_told_stays_while_the_series_grows() {
        let values = [level(14, 0.8), level(8, 0.7), level(30, 0.72)].concat();
        let whole = changes(&series(&values)).found;
        for end in 0..values.len() {
            let so_far = changes(&series(&values[..end])).found;
            assert_eq!(so_far[..], whole[..so_far.len()], "{end}");
        }
    }

    #[test]
    fn a_series_of_a_thousand_values_is_looked_at_in_pieces() {
        let values = [level(800, 0.8), level(10, 0.7)].concat();
        let found = changes(&series(&values));
        assert!(found.found.iter().any(|change| change.since == 800), "{found:?}");
    }

    #[test]
    fn the_shift_is_scipys_welch_interval() {
        // SciPy 1.17.1: stats.ttest_ind([.7, .72, .69, .71], [.8, .82, .79, .83, .81], equal_var=False).confidence_interval().
        let possible = Interval { low: -1.0, high: 1.0 };
        let found = shift(&[0.8, 0.82, 0.79, 0.83, 0.81], &[0.7, 0.72, 0.69, 0.71], possible).unwrap();
        let interval = found.interval.unwrap();
        assert!((found.difference + 0.105).abs() < 1e-12);
        assert!(
            (interval.low + 0.127_652_202_818).abs() < 1e-6 && (interval.high + 0.082_347_797_182).abs() < 1e-6,
            "{interval:?}"
        );
        assert_eq!(shift(&[0.5, 0.5], &[0.25, 0.25], possible).unwrap().interval, None);
        assert_eq!(shift(&[0.5], &[0.25, 0.5], possible).unwrap().interval, None);
        assert_eq!(shift(&[], &[0.5], possible), None);
    }
}
