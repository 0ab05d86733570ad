//! Numbers that nobody said and that follow from those that were said.

/// With more known numbers than these, nearly every number is a sum of two.
const MOST: usize = 30;

/// Whether a number is a sum, a difference or a rounding of known ones, or, where it may be one, a product, a quotient or the
/// same in other units.
pub(super) fn follows(number: f64, known: &[f64], named: &[f64], is_free: bool) -> bool {
    let near = |other: f64| (other - number).abs() < 0.005;
    if known.iter().any(|known| is_rounded(number, *known)) {
        return true;
    }
    if known.len() > MOST {
        return false;
    }
    let is_sum =
        |(at, one): (usize, &f64)| known[at + 1..].iter().any(|two| near(one + two) || near((one - two).abs()));
    let is_product =
        |one: &f64| named.iter().chain(known).any(|two| near(one * two) || near(one / two) || near(two / one));
    known.iter().enumerate().any(is_sum)
        || is_free
            && (number >= 10.0 && known.iter().any(is_product) || known.iter().any(|it| converted(*it).any(near)))
}

/// Whether a number is a known one made round, maybe in thousands: 80,333 is not 80,331 made round.
fn is_rounded(number: f64, known: f64) -> bool {
    let is_near = |factor: f64| (number * factor - known).abs() <= known.abs() * 0.02;
    let is_round =
        (number - known).abs() < 0.005 || number % 10.0 == 0.0 || (number - known).abs() < 1.0 && known.fract() != 0.0;
    number >= 10.0 && (is_round && is_near(1.0) || is_near(1000.0))
}

/// A number in other units: days and months or weeks, years and months, hours and days or minutes, degrees.
fn converted(number: f64) -> impl Iterator<Item = f64> {
    let factors = [30.0, 7.0, 12.0, 24.0, 60.0, 100.0, 1000.0];
    let degrees = [(number * 1.8 + 32.0).round(), ((number - 32.0) / 1.8).round()];
    factors.into_iter().flat_map(move |factor| [number * factor, number / factor]).chain(degrees)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_reckoned_is_no_invention() {
        for (number, known, named, is_free) in [
            (7.0, vec![5.0, 2.0], vec![], false),
            (38.0, vec![37_900.0], vec![], false),
            (124.0, vec![62.0], vec![2.0], true),
            (61.0, vec![16.0], vec![], true),
            (60.0, vec![2.0], vec![], true),
            (20.0, vec![19.8], vec![], false),
            (2000.0, vec![1985.0], vec![], false),
        ] {
            assert!(follows(number, &known, &named, is_free), "{number}");
        }
        for (number, known, is_free) in [
            (80_333.0, vec![80_331.0], false),
            (1986.0, vec![1985.0], false),
            (61.0, vec![16.0], false),
            (13.0, vec![5.0, 2.0], true),
            (4711.0, vec![], true),
        ] {
            assert!(!follows(number, &known, &[], is_free), "{number}");
        }
    }
}
