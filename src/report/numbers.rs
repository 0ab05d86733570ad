//! Numbers as readers see them.

use crate::score::Score;

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

/// A figure with at least two decimals, and as many as `digits` says.
pub fn decimals(value: f64, digits: usize) -> String {
    if digits <= 2 { two_decimals(value) } else { format!("{value:.digits$}") }
}

/// How many decimals, two at the least, tell these figures apart wherever they differ by more than arithmetic may leave.
pub fn telling_decimals(figures: &[f64]) -> usize {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let tells_apart = |digits: &usize| {
        sorted
            .windows(2)
            .all(|pair| pair[1] - pair[0] < Score::HAIR || decimals(pair[0], *digits) != decimals(pair[1], *digits))
    };
    (2..10).find(tells_apart).unwrap_or(10)
}

/// A figure with two decimals, and as many more as tell it apart from a gate.
pub fn beside_gate(value: f64, gate: Option<f64>) -> String {
    decimals(value, gate.map_or(2, |gate| telling_decimals(&[value, gate])))
}

/// `512 bytes`, `1.4 kB`, `12 MB`: a size as people say it, by thousands.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1000 => count(bytes as usize, "byte"),
        _ => {
            let units = ["kB", "MB", "GB", "TB"];
            let (mut size, mut unit) = (bytes as f64 / 1000.0, 0);
            while size >= 999.5 && unit + 1 < units.len() {
                (size, unit) = (size / 1000.0, unit + 1);
            }
            if size < 9.95 { format!("{size:.1} {}", units[unit]) } else { format!("{size:.0} {}", units[unit]) }
        }
    }
}

/// `75 ms`, `1.2 s`, `12 s`, `3 min 20 s`, `2 h 5 min`: a length of time as people say it.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        _ if seconds < 0.95 => format!("{:.0} ms", seconds * 1000.0),
        _ if seconds < 9.95 => format!("{seconds:.1} s"),
        0..60 => format!("{whole} s"),
        60..3600 if whole.is_multiple_of(60) => format!("{} min", whole / 60),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ if whole % 3600 < 60 => format!("{} h", whole / 3600),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
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
    fn a_size_has_two_digits_or_three_and_a_unit() {
        let sizes = [0, 1, 999, 1000, 12_345, 999_499, 999_500, 1_500_000, 2_000_000_000].map(size);
        let said = ["0 bytes", "1 byte", "999 bytes", "1.0 kB", "12 kB", "999 kB", "1.0 MB", "1.5 MB", "2.0 GB"];
        assert_eq!(sizes, said.map(str::to_owned));
    }

    #[test]
    fn thousands_are_parted() {
        let parted: Vec<String> = [0, 12, 123, 1234, 12_345, 123_456, 1_234_567].into_iter().map(thousands).collect();
        assert_eq!(parted, ["0", "12", "123", "1,234", "12,345", "123,456", "1,234,567"]);
    }

    #[test]
    fn figures_that_differ_are_shown_with_the_digits_that_differ() {
        for (figures, digits, shown) in [
            (vec![0.8667, 0.87], 3, "0.867"),
            (vec![0.5, 0.7], 2, "0.50"),
            (vec![0.7, 0.7], 2, "0.70"),
            (vec![5.6 / 7.0, 0.8], 2, "0.80"),
            (vec![0.799_999_9, 0.8, 0.1], 7, "0.7999999"),
        ] {
            assert_eq!((telling_decimals(&figures), decimals(figures[0], digits).as_str()), (digits, shown));
        }
    }

    #[test]
    fn a_figure_close_to_its_gate_does_not_look_like_it() {
        let shown = [(0.8667, Some(0.87)), (0.87, Some(0.87)), (0.8667, None)];
        assert_eq!(shown.map(|(value, gate)| beside_gate(value, gate)), ["0.867", "0.87", "0.87"]);
    }

    #[test]
    fn lengths_of_time_are_short() {
        let shown: Vec<String> =
            [0.0, 0.075, 0.96, 9.4, 59.4, 60.0, 200.0, 3600.0, 7530.0].into_iter().map(duration).collect();
        let expected = ["0 ms", "75 ms", "1.0 s", "9.4 s", "59 s", "1 min", "3 min 20 s", "1 h", "2 h 5 min"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn two_decimals_round_half_to_even() {
        let rounded: Vec<String> =
            [0.125, 0.375, 0.005, 0.015, 0.994_999, 1.0, 0.0].into_iter().map(two_decimals).collect();
        assert_eq!(rounded, ["0.12", "0.38", "0.00", "0.02", "0.99", "1.00", "0.00"]);
    }
}
