//! Reads the tokens of a date one by one.

use super::PartialDateTime;
use super::numbers::{Numbers, days_of};
use super::words::{WEEKDAYS, afternoon, half, index_of, is_between, is_digits, month, unit};

/// Years of two digits are those around this one.
const AROUND: i64 = 2025;

pub(super) struct DateReader {
    pub(super) tokens: Vec<String>,
    pub(super) moment: PartialDateTime,
    pub(super) numbers: Numbers,
}

impl DateReader {
    fn token(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", String::as_str)
    }

    /// Takes the token at a place, with those that belong to it. Returns the last of them; `None` where it is no date.
    pub(super) fn take(&mut self, at: usize) -> Option<usize> {
        let token = self.token(at).to_owned();
        if token.starts_with(|c: char| c.is_ascii_digit()) {
            return self.take_number(at, &token);
        }
        if let Some(weekday) = index_of(&WEEKDAYS, &token) {
            self.moment.weekday = Some(weekday);
            return Some(at);
        }
        if let Some(month) = month(&token) {
            return self.take_month(at, month);
        }
        if let Some(is_afternoon) = afternoon(&token) {
            self.set_half(is_afternoon)?;
            return Some(at);
        }
        if self.moment.hour.is_some() && matches!(token.as_str(), "utc" | "gmt" | "z") && self.moment.offset.is_none() {
            self.moment.offset = Some(0);
            return Some(at);
        }
        if self.moment.hour.is_some() && (token == "+" || token == "-") {
            return self.take_offset(at, if token == "+" { 1 } else { -1 });
        }
        is_between(&token).then_some(at)
    }

    fn take_month(&mut self, at: usize, month: u32) -> Option<usize> {
        self.numbers.push_month(month)?;
        let separator = self.token(at + 1).to_owned();
        if separator == "-" || separator == "/" {
            let next = self.token(at + 2).to_owned();
            self.numbers.push(&next)?;
            if self.token(at + 3) == separator {
                let next = self.token(at + 4).to_owned();
                self.numbers.push(&next)?;
                return Some(at + 4);
            }
            return Some(at + 2);
        }
        Some(at)
    }

    fn set_half(&mut self, is_afternoon: bool) -> Option<()> {
        let hour = self.moment.hour?;
        if hour > 12 || self.moment.is_afternoon.is_some() {
            return None;
        }
        self.moment.is_afternoon = Some(is_afternoon);
        self.moment.hour = Some(half(hour, is_afternoon));
        Some(())
    }

    fn take_offset(&mut self, at: usize, sign: i64) -> Option<usize> {
        let digits = self.token(at + 1);
        let number = |text: &str| text.parse::<i64>().ok().filter(|_| is_digits(text));
        let (hours, minutes, last) = match digits.len() {
            4 => (number(&digits[..2])?, number(&digits[2..])?, at + 1),
            _ if self.token(at + 2) == ":" => (number(digits)?, number(self.token(at + 3))?, at + 3),
            1 | 2 => (number(digits)?, 0, at + 1),
            _ => return None,
        };
        if hours >= 24 || minutes >= 60 {
            return None;
        }
        // As in GMT+3.
        self.moment.offset = Some(sign * (hours * 3600 + minutes * 60));
        Some(last)
    }

    fn take_number(&mut self, at: usize, token: &str) -> Option<usize> {
        let value: f64 = token.parse().ok()?;
        let (next, after) = (self.token(at + 1).to_owned(), self.token(at + 2).to_owned());
        let whole = is_digits(token);
        let length = token.len();
        let part = |from: usize, to: usize| token[from..to].parse::<u32>().ok();
        if whole
            && self.numbers.values.len() == 3
            && matches!(length, 2 | 4)
            && self.moment.hour.is_none()
            && next != ":"
            && unit(&next).is_none()
        {
            self.moment.hour = part(0, 2);
            self.moment.minute = if length == 4 { part(2, 4) } else { None };
            return Some(at);
        }
        if (whole && length == 6) || token.find('.') == Some(6) {
            if self.numbers.values.is_empty() && whole {
                for from in [0, 2, 4] {
                    self.numbers.push(&token[from..from + 2])?;
                }
            } else {
                self.moment.hour = part(0, 2);
                self.moment.minute = part(2, 4);
                self.moment.second = token[4..].parse().ok();
            }
            return Some(at);
        }
        if whole && matches!(length, 8 | 12 | 14) {
            self.numbers.push(&token[..4])?;
            self.numbers.push(&token[4..6])?;
            self.numbers.push(&token[6..8])?;
            if length > 8 {
                self.moment.hour = part(8, 10);
                self.moment.minute = part(10, 12);
            }
            if length > 12 {
                self.moment.second = token[12..].parse().ok();
            }
            return Some(at);
        }
        if let Some((unit, last)) = self.unit_of(at) {
            self.set_unit(unit, value);
            return Some(last);
        }
        if next == ":" && !after.is_empty() {
            self.moment.hour = Some(value as u32);
            let minutes: f64 = after.parse().ok()?;
            self.moment.minute = Some(minutes as u32);
            if minutes.fract() != 0.0 {
                self.moment.second = Some((minutes.fract() * 60.0).floor());
            }
            if self.token(at + 3) == ":" && !self.token(at + 4).is_empty() {
                self.moment.second = Some(self.token(at + 4).parse().ok()?);
                return Some(at + 4);
            }
            return Some(at + 2);
        }
        if matches!(next.as_str(), "-" | "/" | ".") {
            return self.take_separated(at, token, &next);
        }
        if next.is_empty() || is_between(&next) {
            if let Some(is_afternoon) = afternoon(&after).filter(|_| !next.is_empty()) {
                self.moment.hour = Some(half(value as u32, is_afternoon));
                self.moment.is_afternoon = Some(is_afternoon);
                return Some(at + 2);
            }
            self.numbers.push(token)?;
            return Some(at + 1);
        }
        if let Some(is_afternoon) = afternoon(&next).filter(|_| value < 24.0) {
            self.moment.hour = Some(half(value as u32, is_afternoon));
            self.moment.is_afternoon = Some(is_afternoon);
            return Some(at + 1);
        }
        self.numbers.may_be_day(value).then(|| self.numbers.push(token))??;
        Some(at)
    }

    /// `05-03-2024`, `5/Mar/2024`, `2024.03.05`.
    fn take_separated(&mut self, at: usize, token: &str, separator: &str) -> Option<usize> {
        self.numbers.push(token)?;
        let second = self.token(at + 2).to_owned();
        if second.is_empty() || is_between(&second) {
            return Some(at + 1);
        }
        self.push_part(&second)?;
        if self.token(at + 3) == separator {
            let third = self.token(at + 4).to_owned();
            self.push_part(&third)?;
            return Some(at + 4);
        }
        Some(at + 2)
    }

    fn push_part(&mut self, token: &str) -> Option<()> {
        match month(token) {
            Some(month) => self.numbers.push_month(month),
            None => self.numbers.push(token),
        }
    }

    /// The unit of a number: `10h`, `10 minutes`, and after `1h` a bare number are the next smaller ones.
    fn unit_of(&self, at: usize) -> Option<(usize, usize)> {
        if let Some(unit) = unit(self.token(at + 1)) {
            return Some((unit, at + 1));
        }
        if self.token(at + 1) == " "
            && let Some(unit) = unit(self.token(at + 2))
        {
            return Some((unit, at + 2));
        }
        let before = at.checked_sub(1).and_then(|before| unit(self.token(before)));
        let is_last = at + 1 == self.tokens.len() && at > 1 && self.token(at - 1) == " ";
        let before = before.or_else(|| is_last.then(|| unit(self.token(at - 2))).flatten());
        before.map(|unit| (unit + 1, at))
    }

    fn set_unit(&mut self, unit: usize, value: f64) {
        match unit {
            0 => {
                self.moment.hour = Some(value as u32);
                if value.fract() != 0.0 {
                    self.moment.minute = Some((value.fract() * 60.0) as u32);
                }
            }
            1 => {
                self.moment.minute = Some(value as u32);
                if value.fract() != 0.0 {
                    self.moment.second = Some((value.fract() * 60.0).floor());
                }
            }
            _ => self.moment.second = Some(value),
        }
    }

    pub(super) fn finish(mut self) -> Option<PartialDateTime> {
        let [year, month, day] = self.numbers.resolve()?;
        let moment = &mut self.moment;
        moment.year = match year {
            Some(year) if year < 100 && !self.numbers.has_century => {
                let year = year + AROUND / 100 * 100;
                Some(if year >= AROUND + 50 { year - 100 } else { year })
            }
            other => other,
        };
        moment.month = month.map(u32::try_from).transpose().ok()?;
        moment.day = day.map(u32::try_from).transpose().ok()?;
        let has_any = moment.year.is_some()
            || moment.month.is_some()
            || moment.day.is_some()
            || moment.weekday.is_some()
            || moment.hour.is_some()
            || moment.minute.is_some()
            || moment.second.is_some();
        let longest = days_of(moment.year.unwrap_or(2000), moment.month.unwrap_or(1));
        let is_valid = moment.year.is_none_or(|year| (1..=9999).contains(&year))
            && moment.month.is_none_or(|month| (1..=12).contains(&month))
            && moment.day.is_none_or(|day| (1..=longest).contains(&day))
            && moment.hour.is_none_or(|hour| hour < 24)
            && moment.minute.is_none_or(|minute| minute < 60)
            && moment.second.is_none_or(|second| second < 60.0);
        // Whether it was written as 10 am or 22:00 does not matter.
        moment.is_afternoon = None;
        (has_any && is_valid).then_some(self.moment)
    }
}
