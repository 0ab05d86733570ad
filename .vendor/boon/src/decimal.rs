// eval-job: exact decimals.
use std::cmp::Ordering;

use serde_json::Number;

/// A number as JSON writes it: `coefficient` times ten to the power of `exponent`.
#[derive(Clone, Copy)]
struct Decimal {
    is_negative: bool,
    coefficient: u128,
    exponent: i32,
}

impl Decimal {
    fn new(number: &Number) -> Option<Decimal> {
        let text = number.to_string();
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(text) => (true, text),
            None => (false, text.as_str()),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut exponent = exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(part.len()).ok()?)?;
        let mut coefficient = format!("{whole}{part}").parse::<u128>().ok()?;
        while coefficient != 0 && coefficient % 10 == 0 {
            coefficient /= 10;
            exponent = exponent.checked_add(1)?;
        }
        // All numbers of 64 bits are smaller.
        if coefficient > u128::from(u64::MAX) {
            return None;
        }
        Some(Decimal { is_negative, coefficient, exponent: if coefficient == 0 { 0 } else { exponent } })
    }

    /// How many digits stand before the point.
    fn magnitude(self) -> i64 {
        i64::from(self.coefficient.checked_ilog10().unwrap_or(0)) + i64::from(self.exponent)
    }

    fn compare_absolute(self, other: Decimal) -> Ordering {
        match (self.coefficient, other.coefficient) {
            (0, 0) => return Ordering::Equal,
            (0, _) => return Ordering::Less,
            (_, 0) => return Ordering::Greater,
            _ => {}
        }
        self.magnitude().cmp(&other.magnitude()).then_with(|| {
            // Of the same magnitude they differ by less than twenty places.
            let scaled = |number: Decimal, by: i32| number.coefficient * 10_u128.pow(by.unsigned_abs());
            let places = self.exponent - other.exponent;
            match places >= 0 {
                true => scaled(self, places).cmp(&other.coefficient),
                false => self.coefficient.cmp(&scaled(other, places)),
            }
        })
    }
}

/// How two numbers compare, to the last digit; `None` where they are too long to tell.
pub(crate) fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    let (one, other) = (Decimal::new(one)?, Decimal::new(other)?);
    let is_negative = |number: Decimal| number.is_negative && number.coefficient != 0;
    Some(match (is_negative(one), is_negative(other)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (true, true) => other.compare_absolute(one),
        (false, false) => one.compare_absolute(other),
    })
}

/// Whether a number is a multiple of another one; `None` where they are too long to tell.
pub(crate) fn is_multiple(number: &Number, of: &Number) -> Option<bool> {
    let (number, of) = (Decimal::new(number)?, Decimal::new(of)?);
    if of.coefficient == 0 {
        return Some(number.coefficient == 0);
    }
    let places = number.exponent.checked_sub(of.exponent)?;
    if number.coefficient == 0 {
        return Some(true);
    }
    if places < 0 {
        let scaled = 10_u128.checked_pow(places.unsigned_abs()).and_then(|by| of.coefficient.checked_mul(by));
        return Some(scaled.is_some_and(|of| number.coefficient % of == 0));
    }
    let mut rest = number.coefficient % of.coefficient;
    for _ in 0..places {
        if rest == 0 {
            return Some(true);
        }
        // Both are below 2^64.
        rest = rest * 10 % of.coefficient;
    }
    Some(rest == 0)
}
