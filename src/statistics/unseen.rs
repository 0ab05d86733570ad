//! Cases unlike those that were seen: so many independent ones can't rule out that a share of all cases is as bad, or as good, as can
//! be, though none of it was drawn.

/// The share of all cases that so many, drawn independently, miss with this chance: 0 to 1.
///
/// Source: the rule of three, Hanley and Lippman-Hand 1983, exactly: 3 / `units` is near it at 5 %.
pub fn unseen_share(units: u32, chance: f64) -> f64 {
    if units == 0 { 1.0 } else { 1.0 - chance.powf(1.0 / f64::from(units)) }
}

/// The one-sided p-value of a mean at this distance from a bound, allowing for cases that were not sampled. What was
/// seen may be off by a part of the distance, with the chance that `seen` gives for that part; the rest takes a share
/// of unseen cases that are off by `room`. The parts are split so that either is as likely as the other.
pub(super) fn p_value(distance: f64, room: f64, units: u32, seen: impl Fn(f64) -> f64) -> f64 {
    if distance <= 0.0 {
        return 1.0;
    }
    let unseen = |part: f64| (1.0 - (part / room).min(1.0)).powf(f64::from(units));
    let (mut low, mut high) = (0.0, distance);
    for _ in 0..50 {
        let middle = low + (high - low) / 2.0;
        if seen(middle) > unseen(distance - middle) { low = middle } else { high = middle }
    }
    seen(high).max(unseen(distance - low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_missed_as_rarely_as_is_said() {
        // SciPy 1.17: stats.binomtest(0, 10).proportion_ci(0.95, "exact").high is 0.30850 (0.025 at its end).
        assert!((unseen_share(10, 0.025) - 0.308_497).abs() < 1e-6);
        assert!((unseen_share(149, 0.05) - 0.02).abs() < 1e-3 && unseen_share(0, 0.05) == 1.0);
    }

    #[test]
    fn without_spread_all_of_the_distance_is_unseen_cases() {
        let none = |part: f64| if part > 0.0 { 0.0 } else { 0.5 };
        assert!((p_value(0.02, 1.0, 10, none) - 0.98_f64.powi(10)).abs() < 1e-9);
        assert_eq!(p_value(0.0, 1.0, 10, none), 1.0);
    }
}
