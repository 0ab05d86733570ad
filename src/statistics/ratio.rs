//! The ratio of two variances.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::interval::{Interval, LEVEL};

/// Between what the ratio of two estimates of one variance lies in 95 of 100 samples, of so many degrees of freedom above and below the
/// line.
pub fn variance_ratio(above: f64, below: f64) -> Interval {
    let quantile = |share: f64, otherwise: f64| {
        FisherSnedecor::new(above, below).map_or(otherwise, |fisher| fisher.inverse_cdf(share))
    };
    let tail = (1.0 - LEVEL) / 2.0;
    Interval { low: quantile(tail, 0.0), high: quantile(1.0 - tail, f64::INFINITY) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_fishers() {
        // SciPy 1.17: f.ppf([.025, .975], 9, 20) is 0.27271, 2.83655.
        let Interval { low, high } = variance_ratio(9.0, 20.0);
        assert!((low - 0.27271).abs() < 1e-4 && (high - 2.83655).abs() < 1e-4, "{low} {high}");
        assert_eq!(variance_ratio(0.0, 3.0), Interval { low: 0.0, high: f64::INFINITY });
    }
}
