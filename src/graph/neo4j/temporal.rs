//! Bolt's temporal values, and the ISO 8601 text that Neo4j's own `toString` prints for them.

use chrono::{DateTime, Datelike, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeZone, Timelike};
use neo4rs::{BoltDuration, BoltMap, BoltType};

use crate::graph::{Temporal, TemporalKind};

/// A temporal value of theirs as ours; none for what is not temporal, or beyond the calendar.
pub(super) fn from_bolt(bolt: &BoltType) -> Option<Temporal> {
    let temporal = |kind, text| Some(Temporal { kind, text });
    match bolt {
        BoltType::Date(value) => temporal(TemporalKind::Date, date(NaiveDate::try_from(value).ok()?)),
        BoltType::LocalTime(value) => temporal(TemporalKind::LocalTime, time(value.into())),
        BoltType::Time(value) => {
            let (at, offset) = <(NaiveTime, FixedOffset)>::from(value);
            temporal(TemporalKind::Time, time(at) + &offset_text(offset))
        }
        BoltType::LocalDateTime(value) => {
            temporal(TemporalKind::LocalDateTime, moment(NaiveDateTime::try_from(value).ok()?))
        }
        BoltType::DateTime(value) => {
            let at = DateTime::<FixedOffset>::try_from(value).ok()?;
            temporal(TemporalKind::DateTime, moment(at.naive_local()) + &offset_text(*at.offset()))
        }
        BoltType::DateTimeZoneId(value) => {
            let (local, zone): (NaiveDateTime, String) = value.clone().try_into().ok()?;
            let known: chrono_tz::Tz = zone.parse().ok()?;
            // The wire says the wall's time only: of the two hours at the end of summer, the earlier.
            let offset = known.from_local_datetime(&local).earliest()?.offset().fix();
            temporal(TemporalKind::DateTime, format!("{}{}[{zone}]", moment(local), offset_text(offset)))
        }
        BoltType::Duration(value) => temporal(TemporalKind::Duration, duration(parts(value)?)),
        _ => None,
    }
}

/// A temporal value of ours as theirs; none for text that is not of its kind.
pub(super) fn to_bolt(temporal: &Temporal) -> Option<BoltType> {
    let text = temporal.text.as_str();
    Some(match temporal.kind {
        TemporalKind::Date => text.parse::<NaiveDate>().ok()?.into(),
        TemporalKind::LocalTime => parse_time(text)?.into(),
        TemporalKind::Time => {
            let (at, offset) = parse_offset(text)?;
            (parse_time(at)?, offset).into()
        }
        TemporalKind::LocalDateTime => parse_moment(text)?.into(),
        TemporalKind::DateTime => match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
            Some((at, zone)) => {
                let local = parse_offset(at).and_then(|(at, _)| parse_moment(at)).or_else(|| parse_moment(at))?;
                BoltType::DateTimeZoneId((local, zone).into())
            }
            None => {
                let (at, offset) = parse_offset(text)?;
                offset.from_local_datetime(&parse_moment(at)?).single()?.into()
            }
        },
        TemporalKind::Duration => {
            let [months, days, seconds, nanoseconds] = parse_duration(text)?;
            BoltType::Duration(BoltDuration::new(months.into(), days.into(), seconds.into(), nanoseconds.into()))
        }
    })
}

fn date(date: NaiveDate) -> String {
    format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day())
}

fn time(time: NaiveTime) -> String {
    let clock = format!("{:02}:{:02}:{:02}", time.hour(), time.minute(), time.second());
    clock + &fraction(time.nanosecond().into())
}

fn moment(moment: NaiveDateTime) -> String {
    format!("{}T{}", date(moment.date()), time(moment.time()))
}

/// `.5` for half a second, nothing for none.
fn fraction(nanoseconds: u64) -> String {
    let digits = format!("{nanoseconds:09}");
    match digits.trim_end_matches('0') {
        "" => String::new(),
        digits => format!(".{digits}"),
    }
}

fn offset_text(offset: FixedOffset) -> String {
    let seconds = offset.local_minus_utc();
    if seconds == 0 {
        return "Z".to_owned();
    }
    let (sign, seconds) = if seconds < 0 { ('-', -seconds) } else { ('+', seconds) };
    let text = format!("{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60);
    if seconds % 60 == 0 { text } else { format!("{text}:{:02}", seconds % 60) }
}

fn parse_time(text: &str) -> Option<NaiveTime> {
    ["%H:%M:%S%.f", "%H:%M"].iter().find_map(|format| NaiveTime::parse_from_str(text, format).ok())
}

fn parse_moment(text: &str) -> Option<NaiveDateTime> {
    let (date, time) = text.split_once('T')?;
    Some(date.parse::<NaiveDate>().ok()?.and_time(parse_time(time)?))
}

/// Splits an offset off the end of a time.
fn parse_offset(text: &str) -> Option<(&str, FixedOffset)> {
    if let Some(at) = text.strip_suffix('Z') {
        return Some((at, FixedOffset::east_opt(0)?));
    }
    // Not the hyphens of a date: they stand before the T, or there are none.
    let clock = text.find('T').map_or(0, |t| t + 1);
    let sign = clock + text[clock..].find(['+', '-'])?;
    let mut seconds = 0;
    for (at, part) in text[sign + 1..].split(':').enumerate() {
        seconds += part.parse::<i32>().ok()? * [3600, 60, 1].get(at)?;
    }
    let east = if text[sign..].starts_with('-') { -seconds } else { seconds };
    Some((&text[..sign], FixedOffset::east_opt(east)?))
}

/// Months, days, seconds and nanoseconds of a duration of theirs.
fn parts(duration: &BoltDuration) -> Option<[i64; 4]> {
    // The crate shows these numbers only to a deserialiser, and deserialises only what is in a map.
    let mut map = BoltMap::new();
    map.put("duration".into(), BoltType::Duration(duration.clone()));
    let (months, days, seconds, nanoseconds) = map.get::<(i64, i64, i64, i64)>("duration").ok()?;
    Some([months, days, seconds, nanoseconds])
}

fn duration([months, days, seconds, nanoseconds]: [i64; 4]) -> String {
    let total = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
    let (sign, size) = (if total < 0 { "-" } else { "" }, total.unsigned_abs());
    let whole = size / 1_000_000_000;
    let rest = fraction(u64::try_from(size % 1_000_000_000).unwrap_or_default());
    let part = |amount: i64, unit: char| if amount == 0 { String::new() } else { format!("{amount}{unit}") };
    let clock = |amount: u128, unit: char| if amount == 0 { String::new() } else { format!("{sign}{amount}{unit}") };
    let second =
        if whole % 60 == 0 && rest.is_empty() { String::new() } else { format!("{sign}{}{rest}S", whole % 60) };
    let calendar = part(months / 12, 'Y') + &part(months % 12, 'M') + &part(days, 'D');
    let time = clock(whole / 3600, 'H') + &clock(whole / 60 % 60, 'M') + &second;
    match (calendar.is_empty(), time.is_empty()) {
        (true, true) => "PT0S".to_owned(),
        (_, true) => format!("P{calendar}"),
        _ => format!("P{calendar}T{time}"),
    }
}

/// Reads `P1Y2M3W4DT5H6M7.8S`, with signs, as months, days, seconds and nanoseconds.
fn parse_duration(text: &str) -> Option<[i64; 4]> {
    let (calendar, time) = match text.strip_prefix('P')?.split_once('T') {
        Some((calendar, time)) => (calendar, time),
        None => (text.strip_prefix('P')?, ""),
    };
    let [mut months, mut days, mut nanoseconds] = [0_i128; 3];
    for (amount, unit) in amounts(calendar)? {
        let whole: i128 = amount.parse().ok()?;
        match unit {
            'Y' => months += whole * 12,
            'M' => months += whole,
            'W' => days += whole * 7,
            'D' => days += whole,
            _ => return None,
        }
    }
    for (amount, unit) in amounts(time)? {
        let scale = match unit {
            'H' => 3600,
            'M' => 60,
            'S' => 1,
            _ => return None,
        };
        nanoseconds += billionths(amount)? * scale;
    }
    let seconds = nanoseconds.div_euclid(1_000_000_000);
    let rest = nanoseconds.rem_euclid(1_000_000_000);
    Some([
        i64::try_from(months).ok()?,
        i64::try_from(days).ok()?,
        i64::try_from(seconds).ok()?,
        i64::try_from(rest).ok()?,
    ])
}

fn amounts(text: &str) -> Option<Vec<(&str, char)>> {
    let (mut amounts, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let unit = rest.find(|c: char| c.is_ascii_alphabetic())?;
        amounts.push((&rest[..unit], rest[unit..].chars().next()?));
        rest = &rest[unit + 1..];
    }
    Some(amounts)
}

/// `-1.5` as -1 500 000 000.
fn billionths(text: &str) -> Option<i128> {
    let (sign, size) = text.strip_prefix('-').map_or((1, text), |size| (-1, size));
    let (whole, fraction) = size.split_once('.').unwrap_or((size, ""));
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let fraction: i128 = format!("{fraction:0<9}").parse().ok()?;
    Some(sign * (whole.parse::<i128>().ok()? * 1_000_000_000 + fraction))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn there_and_back(kind: TemporalKind, text: &str) -> Option<String> {
        from_bolt(&to_bolt(&Temporal { kind, text: text.to_owned() })?).map(|temporal| {
            assert_eq!(temporal.kind, kind);
            temporal.text
        })
    }

    #[test]
    fn text_survives_the_way_there_and_back() {
        for (kind, text) in [
            (TemporalKind::Date, "2024-02-29"),
            (TemporalKind::LocalTime, "10:20:30.5"),
            (TemporalKind::Time, "10:20:30+01:00"),
            (TemporalKind::Time, "10:20:30Z"),
            (TemporalKind::Time, "10:20:30-03:30"),
            (TemporalKind::LocalDateTime, "2024-01-01T10:20:30.000000001"),
            (TemporalKind::DateTime, "2024-01-01T10:20:30-02:00"),
            (TemporalKind::DateTime, "2024-07-01T10:20:30+02:00[Europe/Berlin]"),
            (TemporalKind::Duration, "P1Y2M3DT4H5M6.7S"),
            (TemporalKind::Duration, "P-1DT5H"),
            (TemporalKind::Duration, "PT-0.5S"),
            (TemporalKind::Duration, "PT0S"),
        ] {
            assert_eq!(there_and_back(kind, text).as_deref(), Some(text));
        }
    }

    #[test]
    fn shorter_forms_are_read() {
        for (kind, text, expected) in [
            (TemporalKind::LocalTime, "10:20", "10:20:00"),
            (TemporalKind::Time, "10:20Z", "10:20:00Z"),
            (TemporalKind::DateTime, "2024-07-01T10:20[Europe/Berlin]", "2024-07-01T10:20:00+02:00[Europe/Berlin]"),
            (TemporalKind::Duration, "P1W", "P7D"),
            (TemporalKind::Duration, "PT90M", "PT1H30M"),
        ] {
            assert_eq!(there_and_back(kind, text).as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_is_of_another_kind_is_refused() {
        for (kind, text) in [
            (TemporalKind::Date, "yesterday"),
            (TemporalKind::Date, "2024-02-30"),
            (TemporalKind::Time, "10:20:30"),
            (TemporalKind::DateTime, "2024-01-01T10:20:30"),
            (TemporalKind::DateTime, "2024-01-01T10:20:30Z[Nowhere/None]"),
            (TemporalKind::Duration, "1D"),
            (TemporalKind::Duration, "P1X"),
            (TemporalKind::Duration, "PT1.2.3S"),
        ] {
            assert_eq!(there_and_back(kind, text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn durations_keep_their_length(months in -999i64..999, days in -999i64..999, nanoseconds in -10_i128.pow(15)..10_i128.pow(15)) {
            let seconds = i64::try_from(nanoseconds.div_euclid(1_000_000_000)).unwrap();
            let rest = i64::try_from(nanoseconds.rem_euclid(1_000_000_000)).unwrap();
            let parts = [months, days, seconds, rest];
            prop_assert_eq!(parse_duration(&duration(parts)), Some(parts));
        }

        #[test]
        fn no_text_breaks_the_parsers(text in "[-P0-9TYMDHSW:.+Z\\[\\]é]{0,20}") {
            for kind in [TemporalKind::Duration, TemporalKind::DateTime, TemporalKind::Time] {
                to_bolt(&Temporal { kind, text: text.clone() });
            }
        }
    }
}
