//! Reads days and times of day in a user's message.

use chrono::{DateTime, Datelike, Days, Duration, Month, NaiveDate, NaiveTime, TimeZone, Weekday};
use chrono_tz::Tz;

/// A day, a time of day, both or neither.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct When {
    pub(super) day: Option<Day>,
    pub(super) time: Option<NaiveTime>,
}

/// A day as users name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Day {
    /// Days from today.
    FromToday(u64),
    /// The next one after today.
    Next(Weekday),
    Date(NaiveDate),
    /// The next day of this name that is not past.
    OfYear {
        month: u32,
        day: u32,
    },
}

/// Finds day and time among the words, and returns the words that are left.
pub(super) fn read<'a>(words: &[&'a str]) -> (When, Vec<&'a str>) {
    let (mut when, mut left) = (When::default(), Vec::<&str>::new());
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let mut at = 0;
    while at < words.len() {
        let after_at = left.last().is_some_and(|word| word.eq_ignore_ascii_case("at"));
        let used = if let Some((day, used)) = day(&lower[at..]) {
            when.day = Some(day);
            used
        } else if let Some((time, used)) = time(&lower[at..], after_at) {
            when.time = Some(time);
            used
        } else {
            left.push(words[at]);
            at += 1;
            continue;
        };
        at += used;
        while left.last().is_some_and(|word| PREPOSITIONS.contains(&word.to_lowercase().as_str())) {
            left.pop();
        }
    }
    (when, left)
}

const PREPOSITIONS: &[&str] = &["for", "on", "at", "by", "to", "until", "from", "this", "next"];

/// A day at the beginning of these words, and how many of them it takes.
fn day(words: &[String]) -> Option<(Day, usize)> {
    let number = |at: usize| -> Option<u32> { words.get(at)?.trim_end_matches(char::is_alphabetic).parse().ok() };
    let month = |at: usize| Some(words.get(at)?.parse::<Month>().ok()?.number_from_month());
    let first = words.first()?.as_str();
    let (month, day) = match first {
        "today" | "tonight" => return Some((Day::FromToday(0), 1)),
        "tomorrow" => return Some((Day::FromToday(1), 1)),
        _ if first.len() > 3 && first.ends_with("day") => return Some((Day::Next(first.parse().ok()?), 1)),
        _ if first.len() == 10 => return Some((Day::Date(first.parse().ok()?), 1)),
        _ => (month(0).or_else(|| month(1))?, number(0).or_else(|| number(1))?),
    };
    let year = words.get(2).filter(|year| year.len() == 4).and_then(|year| year.parse().ok());
    // In a leap year, so that 29 February is a day.
    NaiveDate::from_ymd_opt(2000, month, day)?;
    match year {
        Some(year) => Some((Day::Date(NaiveDate::from_ymd_opt(year, month, day)?), 3)),
        None => Some((Day::OfYear { month, day }, 2)),
    }
}

/// A time of day at the beginning of these words: `9am`, `9 am`, `18:30`, `6:30pm`, `noon`, and `9` after `at`.
fn time(words: &[String], after_at: bool) -> Option<(NaiveTime, usize)> {
    let first = words.first()?.as_str();
    if first == "noon" {
        return Some((NaiveTime::from_hms_opt(12, 0, 0)?, 1));
    }
    let clock = first.trim_end_matches(char::is_alphabetic);
    let (half, used) = match (&first[clock.len()..], words.get(1).map(String::as_str)) {
        ("", Some("am" | "a.m.")) => ("am", 2),
        ("", Some("pm" | "p.m.")) => ("pm", 2),
        (half, _) => (half, 1),
    };
    let (hour, minute) = clock.split_once(':').unwrap_or((clock, "0"));
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match half {
        "am" => hour % 12,
        "pm" => hour % 12 + 12,
        "" if after_at || clock.contains(':') => hour,
        _ => return None,
    };
    Some((NaiveTime::from_hms_opt(hour, minute, 0)?, used))
}

impl When {
    /// The moment as seen from `now`. Without a time it is 9:00; without a day today, or tomorrow if that is past.
    pub(super) fn moment(&self, now: DateTime<Tz>) -> Option<DateTime<Tz>> {
        let today = now.date_naive();
        let time = self.time.or(NaiveTime::from_hms_opt(9, 0, 0))?;
        let date = match self.day {
            Some(Day::FromToday(days)) => today.checked_add_days(Days::new(days))?,
            Some(Day::Next(weekday)) => today.iter_days().skip(1).find(|date| date.weekday() == weekday)?,
            Some(Day::Date(date)) => date,
            Some(Day::OfYear { month, day }) => (today.year()..today.year() + 9)
                .filter_map(|year| NaiveDate::from_ymd_opt(year, month, day))
                .find(|date| *date >= today)?,
            None if today.and_time(time) > now.naive_local() => today,
            None => today.succ_opt()?,
        };
        // An hour that the clocks skip does not exist: the next one does.
        let local = |time| now.timezone().from_local_datetime(&time).earliest();
        local(date.and_time(time)).or_else(|| local(date.and_time(time) + Duration::hours(1)))
    }
}

#[cfg(test)]
mod tests;
