//! What Cypher prints of days, clocks, offsets and durations, and what it counts.

pub(super) const NANOS: i64 = 1_000_000_000;
pub(super) const DAY: i64 = 86_400;

/// Days since the epoch of `2020-02-29`, with any year; both calendars are the proleptic Gregorian one.
pub(super) fn date(text: &str) -> Option<i64> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let mut parts = rest.split('-');
    let (year, month, day) = (number(parts.next()?)?, number(parts.next()?)?, number(parts.next()?)?);
    let plausible = parts.next().is_none() && (1..=12).contains(&month) && (1..=31).contains(&day);
    plausible.then(|| days(sign * year, month, day))?
}

/// Counts in eras of 400 years, with years that begin in March, so that the leap day is a year's last.
pub(super) fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let year = if month <= 2 { year.checked_sub(1)? } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era.checked_mul(146_097)?.checked_add(of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

pub(super) fn date_text(days: i64) -> Option<String> {
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
pub(super) fn nanos_of_day(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, ':');
    let hour = number(parts.next()?)?;
    let minute = parts.next().map_or(Some(0), number)?;
    let (second, nanos) = parts.next().map_or(Some((0, 0)), decimal)?;
    let valid = hour < 24 && minute < 60 && second < 60;
    valid.then(|| (hour * 3600 + minute * 60 + second) * NANOS + nanos)
}

pub(super) fn clock_text(nanos: i64) -> Option<String> {
    if !(0..DAY * NANOS).contains(&nanos) {
        return None;
    }
    let seconds = nanos / NANOS;
    Some(format!("{:02}:{:02}:{:02}{}", seconds / 3600, seconds / 60 % 60, seconds % 60, fraction_text(nanos % NANOS)))
}

/// `.5`, or nothing for zero.
pub(super) fn fraction_text(nanos: i64) -> String {
    if nanos == 0 { String::new() } else { format!(".{nanos:09}").trim_end_matches('0').to_owned() }
}

/// What stands before the offset, and the offset in seconds.
pub(super) fn split_offset(text: &str) -> Option<(&str, i64)> {
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

pub(super) fn offset_text(offset: i64) -> Option<String> {
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
pub(super) fn wall(text: &str) -> Option<(i64, i64)> {
    let (day, clock) = text.split_once('T')?;
    let nanos = nanos_of_day(clock)?;
    Some((date(day)?.checked_mul(DAY)?.checked_add(nanos / NANOS)?, nanos % NANOS))
}

pub(super) fn wall_text(seconds: i64, nanos: i64) -> Option<String> {
    if !(0..NANOS).contains(&nanos) {
        return None;
    }
    let clock = clock_text(seconds.rem_euclid(DAY) * NANOS + nanos)?;
    Some(format!("{}T{clock}", date_text(seconds.div_euclid(DAY))?))
}

/// Months, days, seconds and nanoseconds of `P1Y2M3W4DT5H6M7.8S`; the nanoseconds are never negative.
pub(super) fn duration(text: &str) -> Option<[i64; 4]> {
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
pub(super) fn amounts(text: &str) -> Option<Vec<(&str, char)>> {
    let (mut amounts, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let at = rest.find(|c: char| c.is_ascii_alphabetic())?;
        amounts.push((&rest[..at], char::from(rest.as_bytes()[at])));
        rest = &rest[at + 1..];
    }
    Some(amounts)
}

pub(super) fn duration_text(months: i64, days: i64, seconds: i64, nanos: i64) -> Option<String> {
    let clock = i128::from(seconds) * i128::from(NANOS) + i128::from(nanos);
    let (sign, clock) = (if clock < 0 { "-" } else { "" }, clock.unsigned_abs());
    let whole = i64::try_from(clock / NANOS as u128).ok()?;
    Some(format!("P{months}M{days}DT{sign}{whole}{}S", fraction_text((clock % NANOS as u128) as i64)))
}

/// Digits and nothing else: no sign, no blank.
pub(super) fn number(text: &str) -> Option<i64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// A number with at most nine digits after the point: its whole and its billionths.
pub(super) fn decimal(text: &str) -> Option<(i64, i64)> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    if part.len() > 9 {
        return None;
    }
    Some((number(whole)?, number(&format!("{part:0<9}"))?))
}
