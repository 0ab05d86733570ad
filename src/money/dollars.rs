//! An amount of money.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// US dollars, 0 to 18 million, in steps of a millionth of a millionth: the price of one token is a whole number of steps
/// wherever prices have at most six decimals a million tokens. Written as a number of dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "f64", into = "f64")]
pub struct Dollars(u64);

const STEPS: f64 = 1e12;

impl Dollars {
    /// Nothing.
    pub const ZERO: Dollars = Dollars(0);

    /// The nearest amount; `None` for what is negative, not a number or above the largest.
    pub fn new(dollars: f64) -> Option<Dollars> {
        let steps = (dollars * STEPS).round();
        // The largest f64 below 2^64.
        ((0.0..=18_446_744_073_709_549_568.0).contains(&steps)).then_some(Dollars(steps as u64))
    }

    /// As a number of dollars.
    pub fn get(self) -> f64 {
        self.0 as f64 / STEPS
    }

    /// The sum, saturating.
    pub fn plus(self, other: Dollars) -> Dollars {
        Dollars(self.0.saturating_add(other.0))
    }

    /// The difference, zero at least.
    pub fn minus(self, other: Dollars) -> Dollars {
        Dollars(self.0.saturating_sub(other.0))
    }

    /// The product, saturating.
    pub fn times(self, count: u64) -> Dollars {
        Dollars(self.0.saturating_mul(count))
    }

    /// One of so many equal parts, rounded up; all of it for 0.
    pub fn part_of(self, count: u64) -> Dollars {
        Dollars(self.0.div_ceil(count.max(1)))
    }
}

impl From<Dollars> for f64 {
    fn from(dollars: Dollars) -> f64 {
        dollars.get()
    }
}

impl From<f64> for Dollars {
    /// Zero for a number that is no amount of money.
    fn from(dollars: f64) -> Dollars {
        Dollars::new(dollars).unwrap_or_default()
    }
}

impl Display for Dollars {
    /// Cents, or more decimals where there are no two digits to show otherwise: `$12.40`, `$0.0031`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let dollars = self.get();
        let decimals = match dollars {
            _ if self.0 == 0 || dollars >= 0.1 => 2,
            _ if dollars >= 0.01 => 3,
            _ if dollars >= 0.001 => 4,
            _ => 6,
        };
        write!(f, "${dollars:.decimals$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_shown_with_two_digits_that_say_something() {
        let shown =
            [0.0, 12.4, 0.5, 0.031, 0.0031, 0.000_012].map(|dollars| Dollars::new(dollars).unwrap().to_string());
        assert_eq!(shown, ["$0.00", "$12.40", "$0.50", "$0.031", "$0.0031", "$0.000012"]);
    }

    #[test]
    fn what_is_no_amount_is_refused_and_sums_do_not_wrap() {
        for wrong in [-0.01, f64::NAN, f64::INFINITY, 1e9] {
            assert_eq!(Dollars::new(wrong), None, "{wrong}");
        }
        let most = Dollars::new(18e6).unwrap();
        assert!(most.plus(most) > most && most.times(u64::MAX) > most);
        assert_eq!(Dollars::ZERO.minus(most), Dollars::ZERO);
    }
}
