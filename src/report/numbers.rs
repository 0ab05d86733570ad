//! Numbers as readers see them.

/// Two decimals, half to even, as Embabel's report shows them.
pub fn two_decimals(value: f64) -> String {
    // Hundredths are compared with a tolerance far below what a score can mean, so that 0.125 is a half although
    // 12.5 may come out of the arithmetic as 12.500000000000002.
    let hundredths = value * 100.0;
    let floor = hundredths.floor();
    let half = ((hundredths - floor) - 0.5).abs() < 1e-9;
    let rounded = match half {
        true if floor % 2.0 == 0.0 => floor,
        true => floor + 1.0,
        false => hundredths.round(),
    };
    format!("{:.2}", rounded / 100.0)
}

/// `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut groups: Vec<&str> = Vec::new();
    if first > 0 {
        groups.push(&digits[..first]);
    }
    groups.extend((first..digits.len()).step_by(3).map(|at| &digits[at..at + 3]));
    groups.join(",")
}

/// `1 turn`, `7 turns`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_parted() {
        let parted: Vec<String> = [0, 12, 123, 1234, 12_345, 123_456, 1_234_567].into_iter().map(thousands).collect();
        assert_eq!(parted, ["0", "12", "123", "1,234", "12,345", "123,456", "1,234,567"]);
    }

    #[test]
    fn two_decimals_round_half_to_even() {
        let rounded: Vec<String> =
            [0.125, 0.375, 0.005, 0.015, 0.994_999, 1.0, 0.0].into_iter().map(two_decimals).collect();
        assert_eq!(rounded, ["0.12", "0.38", "0.00", "0.02", "0.99", "1.00", "0.00"]);
    }
}
