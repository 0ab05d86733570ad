//! Finds a time zone in what a user says.

use std::str::FromStr;

use chrono_tz::{TZ_VARIANTS, Tz};

/// The zone that a text names: an IANA name, UTC with or without an offset, or a city that has a zone of its name.
pub(super) fn find(text: &str) -> Option<Tz> {
    let words: Vec<&str> = text.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect();
    words
        .iter()
        .find_map(|word| named(word).or_else(|| offset(word)))
        .or_else(|| (1..=3).rev().find_map(|length| words.windows(length).find_map(|city| of_city(&city.join("_")))))
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

fn named(word: &str) -> Option<Tz> {
    // Short names such as `MET` or `NZ` are words, too: only in capitals and only these.
    if matches!(word, "UTC" | "GMT" | "CET" | "EET" | "WET" | "EST" | "MST" | "HST") {
        return Tz::from_str(word).ok();
    }
    let full = |zone: &&Tz| word.contains('/') && zone.name().eq_ignore_ascii_case(word);
    TZ_VARIANTS.iter().find(full).copied()
}

/// `UTC+2`: the zones of that kind are named the other way round.
fn offset(word: &str) -> Option<Tz> {
    let hours = word.strip_prefix("UTC").or_else(|| word.strip_prefix("GMT"))?;
    let (sign, hours) =
        hours.strip_prefix('+').map(|hours| ('-', hours)).or(hours.strip_prefix('-').map(|hours| ('+', hours)))?;
    let hours: u8 = hours.parse().ok()?;
    Tz::from_str(&format!("Etc/GMT{sign}{hours}")).ok()
}

fn of_city(city: &str) -> Option<Tz> {
    let capital = city.starts_with(|c: char| c.is_uppercase());
    let is_it = |zone: &&Tz| {
        zone.name().split_once('/').is_some_and(|(area, place)| {
            AREAS.contains(&area) && place.rsplit('/').next().is_some_and(|last| last.eq_ignore_ascii_case(city))
        })
    };
    TZ_VARIANTS.iter().find(is_it).copied().filter(|_| capital)
}

const AREAS: &[&str] = &["Africa", "America", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_found_in_sentences() {
        for (text, zone) in [
            ("My timezone is Australia/Sydney.", "Australia/Sydney"),
            ("europe/lisbon", "Europe/Lisbon"),
            ("I live in New York, near the park", "America/New_York"),
            ("I'm in Lisbon", "Europe/Lisbon"),
            ("UTC, please", "UTC"),
            ("It's UTC+2 here", "Etc/GMT-2"),
            ("America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"),
        ] {
            assert_eq!(find(text).map(|zone| zone.name()), Some(zone), "{text}");
        }
    }

    #[test]
    fn other_words_are_no_zones() {
        for text in [
            "I'm afraid I don't know that. Please go on as best you can.",
            "We met in a zone",
            "Mars/Olympus",
            "UTC+99",
            "",
        ] {
            assert_eq!(find(text), None, "{text}");
        }
    }
}
