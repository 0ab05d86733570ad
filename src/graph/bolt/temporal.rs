//! Temporal values: Bolt counts days, seconds and nanoseconds, Cypher prints ISO 8601.

use chrono::{DateTime, Offset, TimeZone, Utc};

use super::packstream::Pack;
use crate::graph::{Temporal, TemporalKind};

const DATE: u8 = b'D';
const TIME: u8 = b'T';
const LOCAL_TIME: u8 = b't';
const LOCAL_DATE_TIME: u8 = b'd';
const DURATION: u8 = b'E';
/// A moment with an offset, in seconds since the epoch.
const MOMENT: u8 = b'I';
/// A moment in a zone, in seconds since the epoch.
const ZONED_MOMENT: u8 = b'i';
/// A moment with an offset, in seconds of its own wall clock: Bolt 4 without the patch "utc".
const WALL_MOMENT: u8 = b'F';
/// A moment in a zone, in seconds of its own wall clock: Bolt 4 without the patch "utc".
const WALL_ZONED_MOMENT: u8 = b'f';

const NANOS: i64 = 1_000_000_000;
const DAY: i64 = 86_400;

/// A temporal value as a structure. `None` when the text is not what it says it is.
pub(super) fn pack(temporal: &Temporal, utc: bool) -> Option<Pack> {
    let text = temporal.text.as_str();
    let structure = |tag, fields: &[i64]| Some(Pack::Structure(tag, fields.iter().copied().map(Pack::Int).collect()));
    match temporal.kind {
        TemporalKind::Date => structure(DATE, &[date(text)?]),
        TemporalKind::LocalTime => structure(LOCAL_TIME, &[nanos_of_day(text)?]),
        TemporalKind::Time => {
            let (clock, offset) = split_offset(text)?;
            structure(TIME, &[nanos_of_day(clock)?, offset])
        }
        TemporalKind::LocalDateTime => {
            let (seconds, nanos) = wall(text)?;
            structure(LOCAL_DATE_TIME, &[seconds, nanos])
        }
        TemporalKind::DateTime => {
            let (moment, zone) = match text.strip_suffix(']') {
                Some(zoned) => zoned.split_once('[').map(|(moment, zone)| (moment, Some(zone)))?,
                None => (text, None),
            };
            let (clock, offset) = split_offset(moment)?;
            let (seconds, nanos) = wall(clock)?;
            let seconds = if utc { seconds.checked_sub(offset)? } else { seconds };
            let (tag, place) = match (zone, utc) {
                (Some(zone), true) => (ZONED_MOMENT, Pack::from(zone)),
                (Some(zone), false) => (WALL_ZONED_MOMENT, Pack::from(zone)),
                (None, true) => (MOMENT, Pack::Int(offset)),
                (None, false) => (WALL_MOMENT, Pack::Int(offset)),
            };
            Some(Pack::Structure(tag, vec![Pack::Int(seconds), Pack::Int(nanos), place]))
        }
        TemporalKind::Duration => structure(DURATION, &duration(text)?),
    }
}

/// A structure as a temporal value: `None` when it is no temporal structure or out of range.
pub(super) fn unpack(tag: u8, fields: &[Pack]) -> Option<Temporal> {
    let int = |at: usize| fields.get(at).and_then(Pack::int);
    let (kind, size, text) = match tag {
        DATE => (TemporalKind::Date, 1, date_text(int(0)?)?),
        LOCAL_TIME => (TemporalKind::LocalTime, 1, clock_text(int(0)?)?),
        TIME => (TemporalKind::Time, 2, format!("{}{}", clock_text(int(0)?)?, offset_text(int(1)?)?)),
        LOCAL_DATE_TIME => (TemporalKind::LocalDateTime, 2, wall_text(int(0)?, int(1)?)?),
        DURATION => (TemporalKind::Duration, 4, duration_text(int(0)?, int(1)?, int(2)?, int(3)?)?),
        MOMENT => {
            let offset = int(2)?;
            let wall = wall_text(int(0)?.checked_add(offset)?, int(1)?)?;
            (TemporalKind::DateTime, 3, format!("{wall}{}", offset_text(offset)?))
        }
        WALL_MOMENT => {
            (TemporalKind::DateTime, 3, format!("{}{}", wall_text(int(0)?, int(1)?)?, offset_text(int(2)?)?))
        }
        ZONED_MOMENT | WALL_ZONED_MOMENT => {
            let zone: chrono_tz::Tz = fields.get(2)?.text()?.parse().ok()?;
            let offset = zone_offset(zone, int(0)?, tag == ZONED_MOMENT)?;
            let wall = if tag == ZONED_MOMENT { int(0)?.checked_add(offset)? } else { int(0)? };
            let text = format!("{}{}[{}]", wall_text(wall, int(1)?)?, offset_text(offset)?, zone.name());
            (TemporalKind::DateTime, 3, text)
        }
        _ => return None,
    };
    (fields.len() == size).then_some(Temporal { kind, text })
}

/// The zone's offset at a moment; when its wall clock shows a time twice, the earlier moment is meant.
fn zone_offset(zone: chrono_tz::Tz, seconds: i64, utc: bool) -> Option<i64> {
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
    let plausible = parts.next().is_none() && (1..=12).contains(&month) && (1..=31).contains(&day);
    plausible.then(|| days(sign * year, month, day))?
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

/// What stands before the offset, and the offset in seconds.
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

fn duration_text(months: i64, days: i64, seconds: i64, nanos: i64) -> Option<String> {
    let clock = i128::from(seconds) * i128::from(NANOS) + i128::from(nanos);
    let (sign, clock) = (if clock < 0 { "-" } else { "" }, clock.unsigned_abs());
    let whole = i64::try_from(clock / NANOS as u128).ok()?;
    Some(format!("P{months}M{days}DT{sign}{whole}{}S", fraction_text((clock % NANOS as u128) as i64)))
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn temporal(kind: TemporalKind, text: &str) -> Temporal {
        Temporal { kind, text: text.to_owned() }
    }

    fn ints(tag: u8, fields: &[i64]) -> Pack {
        Pack::Structure(tag, fields.iter().copied().map(Pack::Int).collect())
    }

    #[test]
    fn texts_become_what_bolt_counts() {
        use TemporalKind::*;
        for (kind, text, expected) in [
            (Date, "1970-01-01", ints(b'D', &[0])),
            (Date, "2020-02-29", ints(b'D', &[18_321])),
            (Date, "-0001-12-31", ints(b'D', &[-719_529])),
            (Date, "+999999999-12-31", ints(b'D', &[365_241_780_471])),
            (LocalTime, "12:30", ints(b't', &[45_000_000_000_000])),
            (LocalTime, "00:00:00.000000001", ints(b't', &[1])),
            (Time, "01:00:00-01:30", ints(b'T', &[3_600_000_000_000, -5400])),
            (Time, "01:00Z", ints(b'T', &[3_600_000_000_000, 0])),
            (LocalDateTime, "1969-12-31T23:59:59.5", ints(b'd', &[-1, 500_000_000])),
            (DateTime, "1970-01-01T01:00:00+01:00", ints(b'I', &[0, 0, 3600])),
            (Duration, "P1Y2M3W4DT5H6M7.8S", ints(b'E', &[14, 25, 18_367, 800_000_000])),
            (Duration, "PT-9223372036854775807.5S", ints(b'E', &[0, 0, i64::MIN, 500_000_000])),
            (Duration, "PT-1.5S", ints(b'E', &[0, 0, -2, 500_000_000])),
            (Duration, "P-1M2DT0S", ints(b'E', &[-1, 2, 0, 0])),
        ] {
            assert_eq!(pack(&temporal(kind, text), true), Some(expected), "{text}");
        }
        let zoned = temporal(DateTime, "2020-07-01T12:00:00+02:00[Europe/Berlin]");
        let berlin = Pack::from("Europe/Berlin");
        let expected =
            |tag, seconds| Some(Pack::Structure(tag, vec![Pack::Int(seconds), Pack::Int(0), berlin.clone()]));
        assert_eq!(pack(&zoned, true), expected(b'i', 1_593_597_600));
        assert_eq!(pack(&zoned, false), expected(b'f', 1_593_604_800));
    }

    #[test]
    fn a_zone_is_read_by_either_count() {
        let fields = |seconds| vec![Pack::Int(seconds), Pack::Int(0), Pack::from("Europe/Berlin")];
        let expected = Some(temporal(TemporalKind::DateTime, "2020-07-01T12:00:00+02:00[Europe/Berlin]"));
        assert_eq!(unpack(b'i', &fields(1_593_597_600)), expected);
        assert_eq!(unpack(b'f', &fields(1_593_604_800)), expected);
        assert_eq!(unpack(b'i', &[Pack::Int(0), Pack::Int(0), Pack::from("Mars/Olympus")]), None);
    }

    #[test]
    fn zones_go_on_until_the_end_of_the_calendar() {
        let ends = [DateTime::<Utc>::MIN_UTC.timestamp(), DateTime::<Utc>::MAX_UTC.timestamp(), i64::MIN, i64::MAX];
        for end in ends {
            for seconds in [end, end.saturating_add(40_000), end.saturating_sub(40_000)] {
                for zone in ["Asia/Tokyo", "America/New_York"] {
                    let fields = [Pack::Int(seconds), Pack::Int(0), Pack::from(zone)];
                    for tag in [b'i', b'f'] {
                        if let Some(temporal) = unpack(tag, &fields) {
                            assert!(pack(&temporal, tag == b'i').is_some(), "{temporal}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_out_of_range_is_no_temporal() {
        for (tag, fields) in [
            (b'D', vec![i64::MAX]),
            (b'D', vec![0, 0]),
            (b't', vec![-1]),
            (b't', vec![DAY * NANOS]),
            (b'T', vec![0, 100_000]),
            (b'T', vec![0, i64::MIN]),
            (b'd', vec![0, NANOS]),
            (b'd', vec![i64::MIN, 0]),
            (b'I', vec![i64::MAX, 0, 1]),
            (b'N', vec![0]),
        ] {
            let fields: Vec<Pack> = fields.into_iter().map(Pack::Int).collect();
            assert_eq!(unpack(tag, &fields), None, "{tag} {fields:?}");
        }
    }

    proptest! {
        #[test]
        fn structures_survive_their_text(
            days in -365_000_000_000i64..365_000_000_000,
            nanos in 0..DAY * NANOS,
            offset in -64_800i64..=64_800,
            seconds in -40_000_000_000_000i64..30_000_000_000_000,
            part in 0..NANOS,
            months in any::<i32>(),
        ) {
            for structure in [
                ints(b'D', &[days]),
                ints(b't', &[nanos]),
                ints(b'T', &[nanos, offset]),
                ints(b'd', &[seconds, part]),
                ints(b'I', &[seconds, part, offset]),
                ints(b'E', &[months.into(), days, seconds, part]),
            ] {
                let Pack::Structure(tag, fields) = &structure else { unreachable!() };
                if let Some(temporal) = unpack(*tag, fields) {
                    prop_assert_eq!(pack(&temporal, true), Some(structure.clone()), "{}", temporal.text);
                } else {
                    prop_assert!(false, "{:?}", structure);
                }
            }
        }

        #[test]
        fn no_text_breaks_the_reader(text in "[-+0-9TZPYMWDHS:.\\[\\]é]{0,30}") {
            use TemporalKind::*;
            for kind in [Date, Time, LocalTime, DateTime, LocalDateTime, Duration] {
                let _ = pack(&temporal(kind, &text), true);
            }
        }

        #[test]
        fn no_numbers_break_the_reader(tag in any::<u8>(), fields in prop::collection::vec(any::<i64>(), 0..5)) {
            let fields: Vec<Pack> = fields.into_iter().map(Pack::Int).collect();
            for tag in [tag, b'D', b't', b'T', b'd', b'I', b'F', b'E'] {
                let _ = unpack(tag, &fields);
            }
        }
    }
}
