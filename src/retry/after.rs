//! The `Retry-After` header: seconds or a date (RFC 9110, section 10.2.3).

use std::time::Duration;

use chrono::{DateTime, NaiveDateTime, Utc};

/// The wait that a server asks for in its `Retry-After` header; `None` where that can't be read. A date in the past is no
/// wait.
pub fn retry_after(value: &str, now: DateTime<Utc>) -> Option<Duration> {
    let value = value.trim();
    if value.starts_with(|c: char| c.is_ascii_digit()) {
        // RFC 9110 allows whole seconds only; some gateways send fractions.
        let seconds: f64 = value.parse().ok()?;
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let wait = http_date(value)?.signed_duration_since(now);
    Some(wait.to_std().unwrap_or(Duration::ZERO))
}

/// The three spellings of a date that RFC 9110, section 5.6.7, asks a reader to accept.
fn http_date(value: &str) -> Option<DateTime<Utc>> {
    let preferred = DateTime::parse_from_rfc2822(value).ok().map(|date| date.to_utc());
    preferred.or_else(|| {
        let rfc850 = NaiveDateTime::parse_from_str(value, "%A, %d-%b-%y %H:%M:%S GMT");
        let asctime = || NaiveDateTime::parse_from_str(value, "%a %b %e %H:%M:%S %Y");
        rfc850.or_else(|_| asctime()).ok().map(|date| date.and_utc())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn now() -> DateTime<Utc> {
        DateTime::parse_from_rfc3339("1994-11-06T08:49:07Z").unwrap().to_utc()
    }

    #[test]
    fn seconds_and_all_three_dates_are_read() {
        for (value, seconds) in [
            ("30", 30.0),
            (" 0 ", 0.0),
            ("1.5", 1.5),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 30.0),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 30.0),
            ("Sun Nov  6 08:49:37 1994", 30.0),
            ("Sun, 06 Nov 1994 08:00:00 GMT", 0.0),
        ] {
            assert_eq!(retry_after(value, now()), Some(Duration::from_secs_f64(seconds)), "{value}");
        }
    }

    #[test]
    fn what_is_neither_is_no_wish() {
        for value in ["", "soon", "-5", "1e400", "99999999999999999999999999", "06 Nov", "1 minute"] {
            assert_eq!(retry_after(value, now()), None, "{value}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(value in ".{0,60}") {
            retry_after(&value, now());
        }
    }
}
