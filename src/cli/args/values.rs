//! Values of the command line, and the sentences about wrong ones.
//!
//! The errors are plain texts: `value_parser` takes any error, and clap puts its text behind the name of the flag.

use clap::ValueEnum;

use crate::evidence::Condition;
use crate::job::{CASE_ID_RULE, is_case_id};
use crate::money::Dollars;
use crate::score::{Score, Weight};

/// A condition, as it is typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(in crate::cli) enum ConditionArg {
    /// Only the conversation in which the persona does not know the facts
    WithoutFacts,
    /// Only the conversation in which the persona knows the facts
    WithFacts,
}

/// Where colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ColorArg {
    /// On a terminal, unless NO_COLOR says otherwise; CLICOLOR_FORCE=1: everywhere
    Auto,
    /// Everywhere, also in a file
    Always,
    /// Nowhere
    Never,
}

impl From<ConditionArg> for Condition {
    fn from(arg: ConditionArg) -> Condition {
        match arg {
            ConditionArg::WithoutFacts => Condition::WithoutFacts,
            ConditionArg::WithFacts => Condition::WithFacts,
        }
    }
}

/// A parser of whole numbers that tells which ones it takes.
pub(super) fn whole_number<T: TryFrom<u64>>(least: u64, most: u64) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text: &str| {
        let number = text.parse::<u64>().ok().filter(|number| (least..=most).contains(number));
        number
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| format!("a whole number from {least} to {most}"))
    }
}

/// Of a variable in the place of a flag that counts: a number, or whether it is set to something that means yes.
pub(super) fn times(text: &str) -> Result<u8, String> {
    match text.trim().to_lowercase().as_str() {
        "" | "n" | "no" | "f" | "false" | "off" => Ok(0),
        word => Ok(word.parse().unwrap_or(1)),
    }
}

pub(super) fn parse_dollars(text: &str) -> Result<Dollars, String> {
    let amount = text.parse::<f64>().ok().and_then(Dollars::new).filter(|amount| *amount > Dollars::ZERO);
    amount.ok_or_else(|| "a cost is a number of US dollars, more than 0".to_owned())
}

/// Seconds: `90`, or with units, `10m`, `1h30m`, `500 ms`.
pub(super) fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().or_else(|| with_units(text));
    let seconds = seconds.filter(|seconds| *seconds > 0.0 && *seconds <= 31_536_000.0);
    seconds.ok_or_else(|| {
        "a time is a number of seconds, more than 0, or one with a unit (ms, s, m, h, d): 90, 10m, 1h30m, 30d"
            .to_owned()
    })
}

/// An age: a number with its unit, since a bare one may be meant as days.
pub(super) fn parse_age(text: &str) -> Result<f64, String> {
    with_units(text)
        .filter(|seconds| *seconds > 0.0)
        .ok_or_else(|| "an age is a number with its unit (m, h, d): 30d, 12h".to_owned())
}

/// The sum of numbers that have a unit each.
fn with_units(text: &str) -> Option<f64> {
    let (mut rest, mut seconds) = (text.trim(), 0.0);
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit() && c != '.')?);
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let unit = match &after[..end] {
            "ms" => 0.001,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86_400.0,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * unit;
        rest = after[end..].trim_start();
    }
    Some(seconds)
}

/// A size in bytes: `100 MB`, `2GB`, `512 kB`, by thousands.
pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    let text = text.trim().to_ascii_uppercase();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let times = match unit.trim() {
        "KB" => Some(1000),
        "MB" => Some(1_000_000),
        "GB" => Some(1_000_000_000),
        _ => None,
    };
    let bytes = times.zip(number.parse::<u64>().ok()).and_then(|(times, number)| number.checked_mul(times));
    bytes.ok_or_else(|| "a size is a whole number with its unit: 512 kB, 100 MB, 2 GB".to_owned())
}

/// The name of one of the agent's models, without the spaces around it.
pub(super) fn parse_agent_model(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a model's name is empty".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// The id of a case, by the rule of job files.
pub(super) fn parse_case_id(text: &str) -> Result<String, String> {
    if is_case_id(text) { Ok(text.to_owned()) } else { Err(CASE_ID_RULE.to_owned()) }
}

pub(super) fn parse_score(text: &str) -> Result<Score, String> {
    text.parse::<f64>().ok().and_then(Score::new).ok_or_else(|| "a score is a number from 0 to 1".to_owned())
}

/// `tasks=2`: a dimension's name and its weight.
pub(super) fn parse_weight(text: &str) -> Result<(String, Weight), String> {
    let (name, weight) = text.split_once('=').ok_or("write NAME=WEIGHT, such as tasks=2")?;
    let weight: f64 = weight.parse().map_err(|_| format!("`{weight}` is not a number"))?;
    Ok((name.to_owned(), Weight::try_from(weight).map_err(|error| error.to_string())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_may_have_units() {
        for (text, seconds) in [
            ("90", Some(90.0)),
            ("0.5", Some(0.5)),
            ("10m", Some(600.0)),
            ("1h30m", Some(5400.0)),
            ("1 h 30 min", Some(5400.0)),
            ("500 ms", Some(0.5)),
            ("2 days", Some(172_800.0)),
            ("10x", None),
            ("m", None),
            ("1h30", None),
            ("-5", None),
            ("0s", None),
            ("", None),
            ("1e9h", None),
        ] {
            assert_eq!(parse_seconds(text).ok(), seconds, "{text}");
        }
    }

    #[test]
    fn a_size_has_a_unit() {
        let sizes = [("100 MB", Some(100_000_000)), ("2gb", Some(2_000_000_000)), ("0 kB", Some(0)), ("7", None)];
        for (text, bytes) in sizes.into_iter().chain([("MB", None), ("-1 MB", None), ("1e3 MB", None), ("", None)]) {
            assert_eq!(parse_size(text).ok(), bytes, "{text}");
        }
    }

    #[test]
    fn spaces_around_a_model_are_nothing_of_its_name() {
        assert_eq!(parse_agent_model(" b ").as_deref(), Ok("b"));
        assert!(parse_agent_model(" ").is_err());
    }
}
