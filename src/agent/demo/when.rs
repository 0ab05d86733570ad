//! Reads days and times of day out of what a user says.

use std::str::FromStr;

use chrono::{DateTime, Datelike, Days, Month, NaiveDate, NaiveTime, TimeZone, Weekday};
use chrono_tz::Tz;

/// When something is to be: a day, a time of day, both or neither.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct When {
    pub(super) day: Option<Day>,
    pub(super) time: Option<NaiveTime>,
}

/// A day as it is spoken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Day {
    /// Days from today.
    In(u64),
    /// The next one after today.
    Next(Weekday),
    /// A date; without a year the next one that is not past.
    Date(Option<i32>, Month, u32),
}

/// Reads it out of the words and returns those that are left.
pub(super) fn read<'a>(words: &[&'a str]) -> (When, Vec<&'a str>) {
    let mut when = When::default();
    let mut left: Vec<&str> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let rest = &words[at..];
        let before = left.last().map(|word| word.to_lowercase());
        if let Some((day, used)) = day(rest) {
            when.day = Some(day);
            at += used;
        } else if let Some((time, used)) = time(rest, before.as_deref()) {
            when.time = Some(time);
            at += used;
        } else {
            left.push(words[at]);
            at += 1;
            continue;
        }
        while left.last().is_some_and(|word| PREPOSITIONS.contains(&word.to_lowercase().as_str())) {
            left.pop();
        }
    }
    (when, left)
}

const PREPOSITIONS: &[&str] = &["for", "on", "at", "by", "to", "until", "from", "this", "next", "around", "and", "the"];

fn day(words: &[&str]) -> Option<(Day, usize)> {
    let word = words.first()?.to_lowercase();
    let second = words.get(1).copied().unwrap_or_default();
    match word.as_str() {
        "today" | "tonight" => return Some((Day::In(0), 1)),
        "tomorrow" => return Some((Day::In(1), 1)),
        "in" if words.get(2).is_some_and(|unit| matches!(unit.to_lowercase().as_str(), "days" | "day")) => {
            return Some((Day::In(second.parse().ok()?), 3));
        }
        _ => {}
    }
    if let Ok(weekday) = Weekday::from_str(&word)
        && word.len() > 3
    {
        return Some((Day::Next(weekday), 1));
    }
    if let Ok(date) = NaiveDate::from_str(&word) {
        return Some((Day::of(date)?, 1));
    }
    let (number, month, mut used) = match (ordinal(&word), month(&word)) {
        (Some(number), _) if second.eq_ignore_ascii_case("of") => (number, month(words.get(2)?)?, 3),
        (Some(number), _) => (number, month(second)?, 2),
        (_, Some(month)) => (ordinal(second)?, month, 2),
        _ => return None,
    };
    let year = words.get(used).and_then(|year| year.parse().ok()).filter(|year| (2000..3000).contains(year));
    used += usize::from(year.is_some());
    NaiveDate::from_ymd_opt(year.unwrap_or(2000), month.number_from_month(), number)?;
    Some((Day::Date(year, month, number), used))
}

fn month(word: &str) -> Option<Month> {
    // `May` is a name, too, but `may` is not.
    (word != "may" && word.len() >= 3).then(|| Month::from_str(word).ok()).flatten()
}

fn ordinal(word: &str) -> Option<u32> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
    digits.parse().ok().filter(|number| (1..=31).contains(number))
}

fn time(words: &[&str], before: Option<&str>) -> Option<(NaiveTime, usize)> {
    let word = words.first()?.to_lowercase();
    let second = words.get(1).map(|word| word.to_lowercase()).unwrap_or_default();
    let of_day = |at: usize| -> Option<(bool, usize)> {
        let word = |at: usize| words.get(at).map(|word| word.to_lowercase()).unwrap_or_default();
        let part = (word(at) == "in" && word(at + 1) == "the").then(|| word(at + 2))?;
        match part.as_str() {
            "morning" => Some((false, 3)),
            "afternoon" | "evening" => Some((true, 3)),
            _ => None,
        }
    };
    match word.as_str() {
        "noon" | "midday" => return Some((NaiveTime::from_hms_opt(12, 0, 0)?, 1)),
        "midnight" => return Some((NaiveTime::from_hms_opt(0, 0, 0)?, 1)),
        "in" => {
            let (late, used) = of_day(0)?;
            return Some((NaiveTime::from_hms_opt(if late { 15 } else { 9 }, 0, 0)?, used));
        }
        _ => {}
    }
    let (clock, half) = split_half(&word);
    let (hour, minute) = match clock.split_once([':', '.']) {
        Some((hour, minute)) if minute.len() == 2 => (hour.parse::<u32>().ok()?, minute.parse::<u32>().ok()?),
        Some(_) => return None,
        None => (clock.parse::<u32>().ok().filter(|_| clock.len() <= 2)?, 0),
    };
    let is_clock = clock.contains(':') || half.is_some();
    let (half, used) = match (half, second.trim_end_matches('.')) {
        (Some(late), _) => (Some(late), 1),
        (None, "am" | "a.m") => (Some(false), 2),
        (None, "pm" | "p.m") => (Some(true), 2),
        (None, "o'clock" | "oclock" | "o’clock") => match of_day(2) {
            Some((late, more)) => (Some(late), 2 + more),
            None => (None, 2),
        },
        (None, _) => match of_day(1) {
            Some((late, more)) => (Some(late), 1 + more),
            None if is_clock || before == Some("at") || before == Some("by") => (None, 1),
            None => return None,
        },
    };
    let hour = match half {
        Some(true) if hour < 12 => hour + 12,
        Some(false) if hour == 12 => 0,
        _ => hour,
    };
    Some((NaiveTime::from_hms_opt(hour, minute, 0)?, used))
}

/// `9am` into `9` and whether it is after noon.
fn split_half(word: &str) -> (&str, Option<bool>) {
    match (word.strip_suffix("am"), word.strip_suffix("pm")) {
        (Some(clock), _) => (clock, Some(false)),
        (_, Some(clock)) => (clock, Some(true)),
        _ => (word, None),
    }
}

impl Day {
    /// The day of this date.
    pub(super) fn of(date: NaiveDate) -> Option<Day> {
        let month = Month::try_from(u8::try_from(date.month()).ok()?).ok()?;
        Some(Day::Date(Some(date.year()), month, date.day()))
    }
}

impl When {
    /// The moment that is meant, seen from `now`; a missing time of day is 9:00, a missing day is today if that is still to
    /// come and tomorrow if not.
    pub(super) fn moment(&self, now: DateTime<Tz>) -> Option<DateTime<Tz>> {
        let today = now.date_naive();
        let time = self.time.or(NaiveTime::from_hms_opt(9, 0, 0))?;
        let date = match self.day {
            Some(Day::In(days)) => today.checked_add_days(Days::new(days))?,
            Some(Day::Next(weekday)) => {
                let ahead = (7 + weekday.num_days_from_monday() - today.weekday().num_days_from_monday()) % 7;
                today.checked_add_days(Days::new(if ahead == 0 { 7 } else { ahead.into() }))?
            }
            Some(Day::Date(Some(year), month, day)) => NaiveDate::from_ymd_opt(year, month.number_from_month(), day)?,
            Some(Day::Date(None, month, day)) => (0..8)
                .filter_map(|years| NaiveDate::from_ymd_opt(today.year() + years, month.number_from_month(), day))
                .find(|date| *date >= today)?,
            None if today.and_time(time) > now.naive_local() => today,
            None => today.succ_opt()?,
        };
        // An hour that the clocks skip does not exist: the next one does.
        let local = date.and_time(time);
        now.timezone()
            .from_local_datetime(&local)
            .earliest()
            .or_else(|| now.timezone().from_local_datetime(&(local + chrono::Duration::hours(1))).earliest())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A Wednesday.
    fn spoken(text: &str) -> (String, String) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (when, left) = read(&words);
        let now = chrono_tz::Europe::Lisbon.with_ymd_and_hms(2026, 3, 4, 12, 0, 0).unwrap();
        let moment = when.moment(now).map(|moment| moment.format("%Y-%m-%d %H:%M").to_string());
        (moment.unwrap_or_default(), left.join(" "))
    }

    #[test]
    fn days_and_times_are_read_and_the_rest_is_left() {
        for (text, moment, left) in [
            ("for tomorrow at 9am to feed it", "2026-03-05 09:00", "to feed it"),
            ("feed it on Friday at 14:30", "2026-03-06 14:30", "feed it"),
            ("on Wednesday at noon", "2026-03-11 12:00", ""),
            ("to 3 June at 7 pm", "2026-06-03 19:00", ""),
            ("on the 3rd of February 2028 by 8", "2028-02-03 08:00", ""),
            ("March 4 at 9", "2026-03-04 09:00", ""),
            ("2026-12-24 at 6 in the evening", "2026-12-24 18:00", ""),
            ("in 3 days", "2026-03-07 09:00", ""),
            ("at 11am", "2026-03-05 11:00", ""),
            ("at 13:05", "2026-03-04 13:05", ""),
            ("from Monday to Tuesday at 10 o'clock", "2026-03-10 10:00", ""),
            ("buy 3 eggs", "2026-03-05 09:00", "buy 3 eggs"),
        ] {
            assert_eq!(spoken(text), (moment.to_owned(), left.to_owned()), "{text}");
        }
    }

    #[test]
    fn an_hour_that_the_clocks_skip_is_the_next_one() {
        let now = chrono_tz::Europe::Lisbon.with_ymd_and_hms(2026, 3, 28, 12, 0, 0).unwrap();
        let when = When { day: Some(Day::In(1)), time: NaiveTime::from_hms_opt(1, 30, 0) };
        assert_eq!(when.moment(now).unwrap().to_rfc3339(), "2026-03-29T02:30:00+01:00");
    }

    proptest! {
        #[test]
        fn no_words_make_it_panic(words in proptest::collection::vec("(in|on|at|the|of|[0-9]{1,3}(am|th|:[0-9]{2})?|june|friday|morning|\\PC{1,4})", 0..8)) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let (when, left) = read(&words);
            prop_assert!(left.len() <= words.len());
            let _ = when.moment(chrono_tz::UTC.with_ymd_and_hms(2026, 3, 4, 12, 0, 0).unwrap());
        }
    }
}
