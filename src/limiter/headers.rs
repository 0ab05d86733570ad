//! The rate-limit headers of replies: OpenAI's `x-ratelimit-*` (which most gateways have taken over) and Anthropic's `anthropic-ratelimit-*`.

use chrono::{DateTime, Utc};

/// The rate-limit headers of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RateLimitHeaders {
    /// The limit of requests.
    pub requests: Option<RateLimitWindow>,
    /// The limit of tokens.
    pub tokens: Option<RateLimitWindow>,
}

/// The remaining part of a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateLimitWindow {
    /// The whole limit.
    pub limit: Option<f64>,
    /// The remaining part.
    pub remaining: f64,
    /// The seconds until the reset; more than 0.
    pub seconds: f64,
}

impl RateLimitHeaders {
    /// Reads the headers; what can't be read is left out.
    pub fn parse<'a>(header: impl Fn(&str) -> Option<&'a str>, now: DateTime<Utc>) -> RateLimitHeaders {
        let openai = |what: &str| {
            let suffix = if what.is_empty() { String::new() } else { format!("-{what}") };
            window(|part| header(&format!("x-ratelimit-{part}{suffix}")), now)
        };
        let anthropic = |what: &str| window(|part| header(&format!("anthropic-ratelimit-{what}-{part}")), now);
        RateLimitHeaders {
            requests: openai("requests").or_else(|| openai("")).or_else(|| anthropic("requests")),
            tokens: openai("tokens").or_else(|| anthropic("tokens")).or_else(|| anthropic("input-tokens")),
        }
    }
}

fn window<'a>(part: impl Fn(&str) -> Option<&'a str>, now: DateTime<Utc>) -> Option<RateLimitWindow> {
    let number = |name| part(name)?.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    let seconds = seconds(part("reset")?.trim(), now)?;
    // A limit over a longer time says nothing about the rate.
    let in_reach = seconds.is_finite() && seconds <= 86_400.0;
    in_reach.then_some(())?;
    Some(RateLimitWindow { limit: number("limit"), remaining: number("remaining")?, seconds: seconds.max(0.05) })
}

/// A duration (`6m0s`, `120ms`, `59`), a date (RFC 3339), or seconds or milliseconds since 1970.
fn seconds(text: &str, now: DateTime<Utc>) -> Option<f64> {
    if let Ok(number) = text.parse::<f64>() {
        let since_1970 = now.timestamp_millis() as f64;
        return Some(match number {
            _ if number >= 1e12 => (number - since_1970) / 1e3,
            _ if number >= 1e9 => number - since_1970 / 1e3,
            _ => number,
        });
    }
    if let Ok(date) = DateTime::parse_from_rfc3339(text) {
        return Some((date.to_utc() - now).num_milliseconds() as f64 / 1e3);
    }
    let mut rest = Some(text).filter(|text| !text.is_empty())?;
    let mut sum = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let (unit, factor) = [("ms", 1e-3), ("d", 86_400.0), ("h", 3600.0), ("m", 60.0), ("s", 1.0)]
            .into_iter()
            .find(|(unit, _)| rest.starts_with(unit))?;
        sum += number * factor;
        rest = &rest[unit.len()..];
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn now() -> DateTime<Utc> {
        DateTime::parse_from_rfc3339("2026-01-01T00:00:00Z").unwrap().to_utc()
    }

    fn headers(headers: &[(&'static str, &'static str)]) -> RateLimitHeaders {
        RateLimitHeaders::parse(|name| headers.iter().find(|(key, _)| *key == name).map(|(_, value)| *value), now())
    }

    #[test]
    fn both_families_of_headers_are_read() {
        // OpenAI's "Rate limits in headers", its own example.
        let openai = headers(&[
            ("x-ratelimit-limit-requests", "60"),
            ("x-ratelimit-limit-tokens", "150000"),
            ("x-ratelimit-remaining-requests", "59"),
            ("x-ratelimit-remaining-tokens", "149984"),
            ("x-ratelimit-reset-requests", "1s"),
            ("x-ratelimit-reset-tokens", "6m0s"),
        ]);
        assert_eq!(openai.requests, Some(RateLimitWindow { limit: Some(60.0), remaining: 59.0, seconds: 1.0 }));
        assert_eq!(
            openai.tokens,
            Some(RateLimitWindow { limit: Some(150_000.0), remaining: 149_984.0, seconds: 360.0 })
        );
        let anthropic = headers(&[
            ("anthropic-ratelimit-requests-limit", "50"),
            ("anthropic-ratelimit-requests-remaining", "49"),
            ("anthropic-ratelimit-requests-reset", "2026-01-01T00:00:02Z"),
            ("anthropic-ratelimit-input-tokens-remaining", "0"),
            ("anthropic-ratelimit-input-tokens-reset", "2025-12-31T23:59:59Z"),
        ]);
        assert_eq!(anthropic.requests, Some(RateLimitWindow { limit: Some(50.0), remaining: 49.0, seconds: 2.0 }));
        assert_eq!(anthropic.tokens, Some(RateLimitWindow { limit: None, remaining: 0.0, seconds: 0.05 }));
    }

    #[test]
    fn an_incomplete_report_is_left_out() {
        assert_eq!(headers(&[]), RateLimitHeaders::default());
        for (remaining, reset) in [("5", ""), ("5", "soon"), ("5", "5x"), ("many", "1s"), ("-1", "1s"), ("5", "40d")] {
            let read = headers(&[("x-ratelimit-remaining", remaining), ("x-ratelimit-reset", reset)]);
            assert_eq!(read, RateLimitHeaders::default(), "{remaining} {reset}");
        }
    }

    #[test]
    fn every_spelling_of_a_time_is_read() {
        for (text, expected) in [
            ("1h2m3.5s", 3723.5),
            ("120ms", 0.12),
            ("59", 59.0),
            ("1767225610", 10.0),
            ("1767225610000", 10.0),
            ("2026-01-01T00:01:00+00:00", 60.0),
        ] {
            assert_eq!(seconds(text, now()), Some(expected), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "[0-9msh. :+-]{0,20}|.{0,20}") {
            let _ = seconds(&text, now());
        }
    }
}
