//! Dates and times in the spellings that people and programs use: `2024-03-05`, `March 5th, 2024`, `5 Mar 2024 10:30 am`,
//! `20240305T103000Z`. An ambiguous date is read month first, as python-dateutil does.

mod numbers;
mod reader;
mod words;

use numbers::Numbers;
use reader::DateReader;
use words::tokens;

/// A date, a time, or both, as far as a text gives them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PartialDateTime {
    year: Option<i64>,
    month: Option<u32>,
    day: Option<u32>,
    /// 0 is Monday.
    weekday: Option<u32>,
    hour: Option<u32>,
    minute: Option<u32>,
    second: Option<f64>,
    /// Seconds east of Greenwich.
    offset: Option<i64>,
    is_afternoon: Option<bool>,
}

/// A text that is longer is no date.
const LONGEST: usize = 100;

impl PartialDateTime {
    /// Reads a text; `None` where it is no date and no time.
    pub fn parse(text: &str) -> Option<PartialDateTime> {
        if text.len() > LONGEST {
            return None;
        }
        let tokens = tokens(&text.to_lowercase());
        let mut reader = DateReader { tokens, moment: PartialDateTime::default(), numbers: Numbers::default() };
        let mut at = 0;
        while at < reader.tokens.len() {
            at = reader.take(at)? + 1;
        }
        reader.finish()
    }

    /// Whether both are the same moment. What one of them leaves out, the other must leave out too; but a date without a time
    /// is its midnight.
    pub fn is_same(&self, other: &PartialDateTime) -> bool {
        let time = |it: &PartialDateTime| {
            (f64::from(it.hour.unwrap_or(0) * 60 + it.minute.unwrap_or(0)) * 60.0 + it.second.unwrap_or(0.0))
                - it.offset.unwrap_or(0) as f64
        };
        let date = |it: &PartialDateTime| (it.year, it.month, it.day);
        let weekday = |it: &PartialDateTime| it.weekday.filter(|_| it.day.is_none());
        if self.offset.is_some() != other.offset.is_some() || weekday(self) != weekday(other) {
            return false;
        }
        match (self.days(), other.days()) {
            (Some(a), Some(b)) => ((a - b) as f64 * 86_400.0 + time(self) - time(other)).abs() < 1e-6,
            _ => date(self) == date(other) && (time(self) - time(other)).abs() < 1e-6,
        }
    }

    /// Days since some day, of a whole date.
    fn days(&self) -> Option<i64> {
        let (year, month, day) = (self.year?, i64::from(self.month?), i64::from(self.day?));
        let year = if month <= 2 { year - 1 } else { year };
        let of_era = year.rem_euclid(400);
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        Some(year.div_euclid(400) * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year)
    }
}

#[cfg(test)]
mod tests;
