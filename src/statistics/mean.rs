//! A mean with an interval over cases.

use super::interval::{Estimate, Interval, standard_error, t_quantile};

/// The mean of values, each with its case, which lie within `possible`; `None` of no values. The interval is t × the standard
/// error, with the values of a case summed; none of one case.
pub fn mean(values: &[(usize, f64)], possible: Interval) -> Option<Estimate> {
    let count = values.len() as f64;
    let value = values.iter().map(|(_, value)| value).sum::<f64>() / count;
    let cases: std::collections::BTreeSet<usize> = values.iter().map(|(case, _)| *case).collect();
    let error = standard_error(values.iter().map(|&(case, own)| (case, (own - value) / count)));
    let interval = (cases.len() > 1).then(|| Interval::around(value, t_quantile(cases.len() - 1) * error, possible));
    (!values.is_empty()).then_some(Estimate { value, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_t_interval_over_the_means_of_cases_of_one_size() {
        // SciPy: t.interval(0.95, 4, loc=0.5, scale=sem([.1, .3, .5, .7, .9])) is 0.1074..0.8926.
        let possible = Interval { low: 0.0, high: 1.0 };
        let singles: Vec<(usize, f64)> = [0.1, 0.3, 0.5, 0.7, 0.9].into_iter().enumerate().collect();
        let doubled: Vec<(usize, f64)> = singles.iter().flat_map(|one| [*one, *one]).collect();
        for values in [singles, doubled] {
            let Interval { low, high } = mean(&values, possible).unwrap().interval.unwrap();
            assert!((low - 0.1074).abs() < 1e-4 && (high - 0.8926).abs() < 1e-4, "{low} {high}");
        }
        assert_eq!(mean(&[(3, 0.25)], possible), Some(Estimate { value: 0.25, interval: None }));
        assert_eq!(mean(&[], possible), None);
    }
}
