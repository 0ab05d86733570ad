//! How many digits a number has.

/// The digits of a floating-point number, written as short as it can be: 1e30 has one.
///
/// With fifteen or fewer, no other number that is written so reads as the same one.
pub fn significant_digits(number: f64) -> usize {
    let written = format!("{number:e}");
    let mantissa = written.split('e').next().unwrap_or_default();
    mantissa.bytes().filter(u8::is_ascii_digit).count()
}

/// The digits that a floating-point number keeps of every number that is written with them.
pub const KEPT_DIGITS: usize = 15;

#[cfg(test)]
mod tests {
    use super::significant_digits;

    #[test]
    fn zeros_at_the_end_do_not_count() {
        for (number, digits) in [(1e30, 1), (-6.022e23, 4), (123456789012345678901234567890.0, 17), (0.5, 1)] {
            assert_eq!(significant_digits(number), digits, "{number}");
        }
    }
}
