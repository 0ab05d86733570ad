//! What it does to false alarms that one baseline is used night after night.

use statrs::distribution::{Continuous, ContinuousCDF, Normal};

/// How many steps the baseline's luck is integrated over, between these numbers of standard errors.
const STEPS: u32 = 400;
const RANGE: f64 = 6.0;

/// The chance that at least one of so many nights breaks the rule of a baseline, of an agent that never changes and whose drop is tested at
/// 5 %, two-sided. All nights have the baseline's luck in common. `stretch`, from 1 up, is how many half-widths of that test's interval a
/// drop must be large at least, where the rule asks for more than that it be shown.
///
/// The difference of two nights has the variance of both: given the baseline's deviation, nights are independent.
pub fn false_alarms_by_uses(nights: u32, stretch: f64) -> f64 {
    let Ok(normal) = Normal::new(0.0, 1.0) else { return 0.0 };
    let (limit, step) =
        (normal.inverse_cdf(0.975) * std::f64::consts::SQRT_2 * stretch, 2.0 * RANGE / f64::from(STEPS));
    let alarm = |luck: f64| 1.0 - (1.0 - normal.cdf(luck - limit)).powi(nights.min(100_000) as i32);
    (0..STEPS).map(|at| -RANGE + (f64::from(at) + 0.5) * step).map(|luck| normal.pdf(luck) * step * alarm(luck)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_baseline_for_many_nights_alarms_in_many_of_them() {
        // By numerical integration of the same function, with 4,000 steps; simulated with 10 to 60 cases it is 0.26 to 0.28 of 30 nights.
        for (nights, share) in [(1, 0.025), (10, 0.1437), (30, 0.2550), (100, 0.4015)] {
            let found = false_alarms_by_uses(nights, 1.0);
            assert!((found - share).abs() < 5e-4, "{nights}: {found}");
        }
        // Where a drop of 0.03 is asked for and the standard error is 0.009: simulated, 0.3 of 100 after 6 nights and 0.8 after 30.
        let stretch = 0.03 / (1.96 * 0.009);
        for (nights, share) in [(6, 0.003), (30, 0.012)] {
            let found = false_alarms_by_uses(nights, stretch);
            assert!((found - share).abs() < 5e-3, "{nights}: {found}");
        }
    }
}
