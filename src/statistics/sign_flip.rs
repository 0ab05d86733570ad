//! The test by flips of signs: how often the sum of values with signs by chance is as far from 0 as theirs.

use statrs::distribution::{ContinuousCDF, Normal};

/// Up to so many units every flip of signs is tried; beyond, as many as these have are drawn.
const ENUMERATED: usize = 13;

/// Of more units than these, where so many have a part in the sum, the flips need not be drawn.
const MANY: usize = 1000;

/// How much two statistics may differ by rounding.
pub(super) const ROUNDING: f64 = 1e-12;

/// The share of flips of signs whose sum is at least as far from 0 as that of the values.
pub(super) fn sign_flip(values: impl Iterator<Item = f64> + Clone, rng_seed: u64) -> f64 {
    let far = values.clone().sum::<f64>().abs() * (1.0 - ROUNDING) - ROUNDING;
    let drawn = (1_u32 << ENUMERATED) - 1;
    let many = values.clone().count() > MANY;
    if many && let Some(p) = flips_of_many(values.clone(), far) {
        return p.max(1.0 / f64::from(drawn + 1));
    }
    // One that is 0 is the same with either sign.
    let values: Vec<f64> = values.filter(|value| !many || *value != 0.0).collect();
    if values.len() <= ENUMERATED {
        let all = 1_u32 << values.len();
        let is_far = |flips: &u32| {
            let sign = |place: usize| if flips >> place & 1 == 1 { -1.0 } else { 1.0 };
            values.iter().enumerate().map(|(place, value)| sign(place) * value).sum::<f64>().abs() >= far
        };
        return (0..all).filter(is_far).count() as f64 / f64::from(all);
    }
    let mut rng = fastrand::Rng::with_seed(rng_seed);
    // Of a draw each bit is a sign.
    let flipped = |chunk: &[f64], rng: &mut fastrand::Rng| {
        let signs = rng.u64(..);
        let sign = |place: usize| (signs >> place & 1) << 63;
        chunk.iter().enumerate().map(|(place, value)| f64::from_bits(value.to_bits() ^ sign(place))).sum::<f64>()
    };
    let is_far = |_: &u32| values.chunks(64).map(|chunk| flipped(chunk, &mut rng)).sum::<f64>().abs() >= far;
    // The values as they are count as one of the draws, so that the share is never 0.
    (1 + (0..drawn).filter(is_far).count()) as f64 / f64::from(drawn + 1)
}

/// The same where so many values have a part in the sum that it is normal, whichever their signs are: nearer than by draws. `None` where
/// few of them outweigh the others.
///
/// Source: the central limit theorem for the sum of flipped values, with its error by their fourth moments, Feller 1971, XVI.4.
fn flips_of_many(values: impl Iterator<Item = f64>, far: f64) -> Option<f64> {
    let (mut squares, mut fourths) = (0.0, 0.0);
    for square in values.map(|value| value * value) {
        squares += square;
        fourths += square * square;
    }
    let is_normal = squares * squares > MANY as f64 * fourths;
    is_normal.then(|| 2.0 * Normal::standard().cdf(-far / squares.sqrt())).map(|p| p.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flips_of_many_pairs_are_as_they_are_drawn() {
        // The normal approximation beside the enumerated distribution: of n values of 1 the sum is 2 B(n, 1/2) − n.
        use statrs::distribution::{Binomial, DiscreteCDF};
        let count = 2 * MANY;
        for ahead in [20_usize, 60, 100] {
            let values = (0..count).map(|at| if at < count / 2 + ahead / 2 { 1.0 } else { -1.0 });
            let exact = 2.0 * Binomial::new(0.5, count as u64).unwrap().sf((count + ahead) as u64 / 2 - 1);
            let found = sign_flip(values, 1);
            // Values of one size lie on a lattice, half a step of which is the error.
            assert!((found - exact).abs() < 0.02, "{ahead}: {found} {exact}");
        }
        let mut rng = fastrand::Rng::with_seed(5);
        let values: Vec<f64> = (0..count).map(|_| rng.f64() - 0.485).collect();
        let (by_moments, sum) = (sign_flip(values.iter().copied(), 1), values.iter().sum::<f64>().abs());
        let is_far = |_: &u32| values.iter().map(|it| if rng.bool() { *it } else { -it }).sum::<f64>().abs() >= sum;
        let drawn = (0..4000).filter(is_far).count() as f64 / 4000.0;
        assert!((by_moments - drawn).abs() < 0.03, "{by_moments} {drawn}");
    }

    #[test]
    fn where_few_pairs_differ_their_flips_are_enumerated_however_many_there_are() {
        let values = |same: usize| [0.5, 0.25, 0.25, 0.125].into_iter().chain(std::iter::repeat_n(0.0, same));
        assert_eq!(sign_flip(values(5 * MANY), 1), 0.125);
        assert_eq!(sign_flip(values(0), 1), 0.125);
        assert_eq!(sign_flip(std::iter::repeat_n(0.0, 5 * MANY), 1), 1.0);
    }
}
