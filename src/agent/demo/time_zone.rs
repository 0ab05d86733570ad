//! Finds a time zone in a user's message.

use chrono_tz::{TZ_VARIANTS, Tz};

/// The zone that these words name: an IANA name, UTC, or a city that has a zone of its name, in capitals.
pub(super) fn find(words: &[&str]) -> Option<Tz> {
    let by_name = |word: &&str| {
        let is_name = |zone: &&Tz| zone.name().eq_ignore_ascii_case(word);
        (word.contains('/') || *word == "UTC").then(|| TZ_VARIANTS.iter().find(is_name)).flatten()
    };
    let by_city = |name: &[&str]| {
        let city = name.join("_");
        let is_city =
            |zone: &&Tz| zone.name().rsplit_once('/').is_some_and(|(area, place)| area != "Etc" && place == city);
        TZ_VARIANTS.iter().find(is_city)
    };
    let cities = (1..=3).rev().flat_map(|length| words.windows(length));
    words.iter().find_map(by_name).or_else(|| cities.into_iter().find_map(by_city)).copied()
}

#[cfg(test)]
mod tests;
