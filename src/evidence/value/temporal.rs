//! Dates, times and durations as numbers, and the ISO 8601 text that Neo4j's `toString` prints for them.

use std::cmp::Ordering;

use chrono::{DateTime, Offset, TimeZone, Utc};

use super::{Temporal, TemporalKind};

const NANOS: i64 = 1_000_000_000;
const DAY: i64 = 86_400;

/// A temporal value, counted as Bolt does it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParsedTemporal {
    /// Days since the epoch.
    Date(i64),
    /// Nanoseconds since midnight.
    LocalTime(i64),
    /// Nanoseconds since midnight by its own clock, and its offset in seconds.
    Time(i64, i64),
    /// Seconds since the epoch by its own clock, and nanoseconds.
    LocalDateTime(i64, i64),
    /// A moment.
    DateTime {
        /// Seconds since the epoch by its own clock.
        wall: i64,
        /// Nanoseconds.
        nanos: i64,
        /// The offset from UTC in seconds.
        offset: i64,
        /// The name of its zone.
        zone: Option<String>,
    },
    /// Months, days, seconds and nanoseconds, of which the last are never negative.
    Duration([i64; 4]),
}

impl Temporal {
    /// The value that the text stands for. `None` when it is not of its kind.
    pub fn parse(&self) -> Option<ParsedTemporal> {
        let text = self.text.as_str();
        Some(match self.kind {
            TemporalKind::Date => ParsedTemporal::Date(date(text)?),
            TemporalKind::LocalTime => ParsedTemporal::LocalTime(nanos_of_day(text)?),
            TemporalKind::Time => {
                let (clock, offset) = split_offset(text)?;
                ParsedTemporal::Time(nanos_of_day(clock)?, offset)
            }
            TemporalKind::LocalDateTime => {
                let (seconds, nanos) = wall(text)?;
                ParsedTemporal::LocalDateTime(seconds, nanos)
            }
            TemporalKind::DateTime => {
                let (moment, zone) = match text.strip_suffix(']') {
                    Some(zoned) => zoned.split_once('[').map(|(moment, zone)| (moment, Some(zone.to_owned())))?,
                    None => (text, None),
                };
                let (clock, offset) = split_offset(moment).map_or((moment, None), |(clock, at)| (clock, Some(at)));
                let (wall, nanos) = wall(clock)?;
                let offset = offset.or_else(|| zone_offset(zone.as_deref()?, wall, false))?;
                ParsedTemporal::DateTime { wall, nanos, offset, zone }
            }
            TemporalKind::Duration => ParsedTemporal::Duration(duration(text)?),
        })
    }
}

impl ParsedTemporal {
    /// The value with its text; `None` where it is beyond the calendar.
    pub fn to_temporal(&self) -> Option<Temporal> {
        let (kind, text) = match self {
            ParsedTemporal::Date(days) => (TemporalKind::Date, date_text(*days)?),
            ParsedTemporal::LocalTime(nanos) => (TemporalKind::LocalTime, clock_text(*nanos)?),
            ParsedTemporal::Time(nanos, offset) => {
                (TemporalKind::Time, format!("{}{}", clock_text(*nanos)?, offset_text(*offset)?))
            }
            ParsedTemporal::LocalDateTime(seconds, nanos) => {
                (TemporalKind::LocalDateTime, wall_text(*seconds, *nanos)?)
            }
            ParsedTemporal::DateTime { wall, nanos, offset, zone } => {
                let zone = zone.as_ref().map(|zone| format!("[{zone}]")).unwrap_or_default();
                (TemporalKind::DateTime, format!("{}{}{zone}", wall_text(*wall, *nanos)?, offset_text(*offset)?))
            }
            ParsedTemporal::Duration(parts) => (TemporalKind::Duration, duration_text(*parts)),
        };
        Some(Temporal { kind, text })
    }

    /// Compares it with another value of its kind; `None` for durations, which have no order, and for different kinds.
    pub fn compare(&self, other: &ParsedTemporal) -> Option<Ordering> {
        let count = |value: &ParsedTemporal| match value {
            ParsedTemporal::Date(days) => Some((TemporalKind::Date, *days, 0)),
            ParsedTemporal::LocalTime(nanos) => Some((TemporalKind::LocalTime, *nanos, 0)),
            ParsedTemporal::Time(nanos, offset) => {
                Some((TemporalKind::Time, nanos.saturating_sub(offset.saturating_mul(NANOS)), 0))
            }
            ParsedTemporal::LocalDateTime(seconds, nanos) => Some((TemporalKind::LocalDateTime, *seconds, *nanos)),
            ParsedTemporal::DateTime { wall, nanos, offset, .. } => {
                Some((TemporalKind::DateTime, wall.saturating_sub(*offset), *nanos))
            }
            ParsedTemporal::Duration(_) => None,
        };
        let ((kind, one, nanos), (other_kind, other, other_nanos)) = (count(self)?, count(other)?);
        (kind == other_kind).then(|| (one, nanos).cmp(&(other, other_nanos)))
    }
}

/// A zone's offset in seconds: at a moment in UTC, or when its wall clock shows a time; where that shows it twice, the
/// earlier moment counts.
pub fn zone_offset(zone: &str, seconds: i64, utc: bool) -> Option<i64> {
    let zone: chrono_tz::Tz = zone.parse().ok()?;
    let moment = DateTime::<Utc>::from_timestamp(seconds, 0)?.naive_utc();
    let offset = if utc {
        zone.offset_from_utc_datetime(&moment)
    } else {
        zone.offset_from_local_datetime(&moment).earliest()?
    };
    Some(offset.fix().local_minus_utc().into())
}

/// Days since the epoch of `2020-02-29`, with any year; both calendars are the proleptic Gregorian one.
fn date(text: &str) -> Option<i64> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let mut parts = rest.split('-');
    let (year, month, day) = (number(parts.next()?)?, number(parts.next()?)?, number(parts.next()?)?);
    if parts.next().is_some() || !(1..=12).contains(&month) || day < 1 {
        return None;
    }
    let date = days(sign * year, month, day)?;
    let next_month =
        if month == 12 { days((sign * year).checked_add(1)?, 1, 1)? } else { days(sign * year, month + 1, 1)? };
    (date < next_month).then_some(date)
}

/// Counts in eras of 400 years, with years that begin in March, so that the leap day is a year's last.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let year = if month <= 2 { year.checked_sub(1)? } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era.checked_mul(146_097)?.checked_add(of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

fn date_text(days: i64) -> Option<String> {
    let shifted = days.checked_add(719_468)?;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + i64::from(month <= 2);
    Some(match year {
        0..=9999 => format!("{year:04}-{month:02}-{day:02}"),
        -999_999_999..0 => format!("-{:04}-{month:02}-{day:02}", -year),
        10_000..=999_999_999 => format!("+{year}-{month:02}-{day:02}"),
        _ => return None,
    })
}

/// Nanoseconds since midnight of `12`, `12:30`, `12:30:01` or `12:30:01.5`.
fn nanos_of_day(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, ':');
    let hour = number(parts.next()?)?;
    let minute = parts.next().map_or(Some(0), number)?;
    let (second, nanos) = parts.next().map_or(Some((0, 0)), decimal)?;
    let valid = hour < 24 && minute < 60 && second < 60;
    valid.then(|| (hour * 3600 + minute * 60 + second) * NANOS + nanos)
}

fn clock_text(nanos: i64) -> Option<String> {
    if !(0..DAY * NANOS).contains(&nanos) {
        return None;
    }
    let seconds = nanos / NANOS;
    Some(format!("{:02}:{:02}:{:02}{}", seconds / 3600, seconds / 60 % 60, seconds % 60, fraction_text(nanos % NANOS)))
}

/// `.5`, or nothing for zero.
fn fraction_text(nanos: i64) -> String {
    if nanos == 0 { String::new() } else { format!(".{nanos:09}").trim_end_matches('0').to_owned() }
}

/// The text before the offset, and the offset in seconds.
fn split_offset(text: &str) -> Option<(&str, i64)> {
    if let Some(clock) = text.strip_suffix('Z') {
        return Some((clock, 0));
    }
    // After the `T`, or from the start of a time: the `-` of a date is no offset's.
    let from = text.find('T').unwrap_or(0);
    let at = from + text.get(from..)?.find(['+', '-'])?;
    let (clock, offset) = text.split_at(at);
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let mut seconds = 0;
    let mut unit = 3600;
    for part in offset[1..].split(':') {
        seconds = number(part)?.checked_mul(unit)?.checked_add(seconds)?;
        unit /= 60;
    }
    Some((clock, sign * seconds))
}

fn offset_text(offset: i64) -> Option<String> {
    if !(-18 * 3600..=18 * 3600).contains(&offset) {
        return None;
    }
    let (sign, seconds) = (if offset < 0 { '-' } else { '+' }, offset.abs());
    Some(match (offset, seconds % 60) {
        (0, _) => "Z".to_owned(),
        (_, 0) => format!("{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60),
        (_, rest) => format!("{sign}{:02}:{:02}:{rest:02}", seconds / 3600, seconds / 60 % 60),
    })
}

/// Seconds of the wall clock since the epoch, and nanoseconds.
fn wall(text: &str) -> Option<(i64, i64)> {
    let (day, clock) = text.split_once('T')?;
    let nanos = nanos_of_day(clock)?;
    Some((date(day)?.checked_mul(DAY)?.checked_add(nanos / NANOS)?, nanos % NANOS))
}

fn wall_text(seconds: i64, nanos: i64) -> Option<String> {
    if !(0..NANOS).contains(&nanos) {
        return None;
    }
    let clock = clock_text(seconds.rem_euclid(DAY) * NANOS + nanos)?;
    Some(format!("{}T{clock}", date_text(seconds.div_euclid(DAY))?))
}

/// Months, days, seconds and nanoseconds of `P1Y2M3W4DT5H6M7.8S`; the nanoseconds are never negative.
fn duration(text: &str) -> Option<[i64; 4]> {
    let (days, clock) = match text.strip_prefix('P')?.split_once('T') {
        Some((days, clock)) => (days, clock),
        None => (&text[1..], ""),
    };
    let (mut months, mut whole_days, mut nanos) = (0i64, 0i64, 0i128);
    for (value, unit) in amounts(days)? {
        let value = value.parse::<i64>().ok()?;
        match unit {
            'Y' => months = months.checked_add(value.checked_mul(12)?)?,
            'M' => months = months.checked_add(value)?,
            'W' => whole_days = whole_days.checked_add(value.checked_mul(7)?)?,
            'D' => whole_days = whole_days.checked_add(value)?,
            _ => return None,
        }
    }
    for (value, unit) in amounts(clock)? {
        let seconds = match unit {
            'H' => 3600,
            'M' => 60,
            'S' => 1,
            _ => return None,
        };
        let (sign, digits) = value.strip_prefix('-').map_or((1, value), |digits| (-1, digits));
        let (whole, part) = decimal(digits)?;
        nanos += sign * seconds * (i128::from(whole) * i128::from(NANOS) + i128::from(part));
    }
    let seconds = i64::try_from(nanos.div_euclid(NANOS.into())).ok()?;
    Some([months, whole_days, seconds, nanos.rem_euclid(NANOS.into()) as i64])
}

/// The numbers of a duration with their units.
fn amounts(text: &str) -> Option<Vec<(&str, char)>> {
    let (mut amounts, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let at = rest.find(|c: char| c.is_ascii_alphabetic())?;
        amounts.push((&rest[..at], char::from(rest.as_bytes()[at])));
        rest = &rest[at + 1..];
    }
    Some(amounts)
}

fn duration_text([months, days, seconds, nanos]: [i64; 4]) -> String {
    let total = i128::from(seconds) * i128::from(NANOS) + i128::from(nanos);
    let (sign, size) = (if total < 0 { "-" } else { "" }, total.unsigned_abs());
    let (whole, part) = (size / NANOS as u128, fraction_text((size % NANOS as u128) as i64));
    let amount = |amount: i64, unit: char| if amount == 0 { String::new() } else { format!("{amount}{unit}") };
    let clock = |amount: u128, unit: char| if amount == 0 { String::new() } else { format!("{sign}{amount}{unit}") };
    let second =
        if whole % 60 == 0 && part.is_empty() { String::new() } else { format!("{sign}{}{part}S", whole % 60) };
    let calendar = [amount(months / 12, 'Y'), amount(months % 12, 'M'), amount(days, 'D')].concat();
    let time = [clock(whole / 3600, 'H'), clock(whole / 60 % 60, 'M'), second].concat();
    match (calendar.is_empty(), time.is_empty()) {
        (true, true) => "PT0S".to_owned(),
        (_, true) => format!("P{calendar}"),
        _ => format!("P{calendar}T{time}"),
    }
}

/// Digits and nothing else: no sign, no blank.
fn number(text: &str) -> Option<i64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// A number with at most nine digits after the point: its whole and its billionths.
fn decimal(text: &str) -> Option<(i64, i64)> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    if part.len() > 9 {
        return None;
    }
    Some((number(whole)?, number(&format!("{part:0<9}"))?))
}

#[cfg(test)]
mod tests;
