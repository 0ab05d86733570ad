//! An estimate with its interval.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// How often the intervals of this room cover what they estimate, when everything is drawn anew.
pub const LEVEL: f64 = 0.95;

/// A range of values, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Around a centre, cut to what is possible.
    pub(crate) fn around(centre: f64, half_width: f64, possible: Interval) -> Interval {
        let cut = |value: f64| value.clamp(possible.low, possible.high);
        Interval { low: cut(centre - half_width), high: cut(centre + half_width) }
    }

    /// Widened, where it must be, to hold this value.
    pub(super) fn with(self, value: f64) -> Interval {
        Interval { low: self.low.min(value), high: self.high.max(value) }
    }

    /// The part of it that is possible; `None` where that is all that is possible, which tells nothing.
    pub fn cut(self, possible: Interval) -> Option<Interval> {
        let Interval { low, high } = possible;
        let cut = Interval { low: self.low.clamp(low, high), high: self.high.clamp(low, high) };
        (cut != possible).then_some(cut)
    }

    /// Whether it holds this value.
    pub fn covers(self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Half of its width.
    pub fn half_width(self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// An estimate with its 95 % interval; without one where there are too few cases to give it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its interval; `None` of fewer than two cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// The two-sided 95 % quantile of Student's t; infinite without degrees of freedom.
pub(super) fn t_quantile(degrees: usize) -> f64 {
    StudentsT::new(0.0, 1.0, degrees as f64).map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + LEVEL / 2.0))
}

/// The standard error of a sum of what each unit adds to it, whose expectation is 0, where units of one case are alike. Cases are
/// numbered from 0 without large gaps.
pub(super) fn standard_error(influences: impl IntoIterator<Item = (usize, f64)>) -> f64 {
    let mut cases: Vec<Option<f64>> = Vec::new();
    for (case, influence) in influences {
        if case >= cases.len() {
            cases.resize(case + 1, None);
        }
        *cases[case].get_or_insert(0.0) += influence;
    }
    let count = cases.iter().flatten().count() as f64;
    (cases.iter().flatten().map(|sum| sum * sum).sum::<f64>() * count / (count - 1.0).max(1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantiles_are_students() {
        // Any table of the distribution.
        for (degrees, quantile) in [(1, 12.706), (4, 2.776), (9, 2.262), (30, 2.042), (1000, 1.962)] {
            assert!((t_quantile(degrees) - quantile).abs() < 5e-4, "{degrees}");
        }
        assert_eq!(t_quantile(0), f64::INFINITY);
    }
}
