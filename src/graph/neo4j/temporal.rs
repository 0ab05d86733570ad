//! Bolt's temporal values as the driver has them.

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, TimeZone, Timelike};
use neo4rs::{BoltDuration, BoltMap, BoltType};

use crate::evidence::{ParsedTemporal, zone_offset};
use crate::graph::Temporal;

/// The day of the epoch, counted as chrono does.
const EPOCH: i64 = 719_163;

/// A temporal value of theirs as ours; none for any other value, or one beyond the calendar.
pub(super) fn from_bolt(bolt: &BoltType) -> Option<Temporal> {
    let nanos =
        |time: NaiveTime| i64::from(time.num_seconds_from_midnight()) * 1_000_000_000 + i64::from(time.nanosecond());
    let wall = |local: NaiveDateTime| (local.and_utc().timestamp(), i64::from(local.nanosecond()));
    let parsed = match bolt {
        BoltType::Date(value) => {
            let date = NaiveDate::try_from(value).ok()?;
            ParsedTemporal::Date(wall(date.and_time(NaiveTime::MIN)).0 / 86_400)
        }
        BoltType::LocalTime(value) => ParsedTemporal::LocalTime(nanos(value.into())),
        BoltType::Time(value) => {
            let (at, offset) = <(NaiveTime, FixedOffset)>::from(value);
            ParsedTemporal::Time(nanos(at), offset.local_minus_utc().into())
        }
        BoltType::LocalDateTime(value) => {
            let (seconds, nanos) = wall(NaiveDateTime::try_from(value).ok()?);
            ParsedTemporal::LocalDateTime(seconds, nanos)
        }
        BoltType::DateTime(value) => {
            let at = DateTime::<FixedOffset>::try_from(value).ok()?;
            let (wall, nanos) = wall(at.naive_local());
            ParsedTemporal::DateTime { wall, nanos, offset: at.offset().local_minus_utc().into(), zone: None }
        }
        BoltType::DateTimeZoneId(value) => {
            let (local, zone): (NaiveDateTime, String) = value.clone().try_into().ok()?;
            let (wall, nanos) = wall(local);
            // The wire has the wall's time only: of the two hours at the end of summer, the earlier.
            ParsedTemporal::DateTime { wall, nanos, offset: zone_offset(&zone, wall, false)?, zone: Some(zone) }
        }
        BoltType::Duration(value) => ParsedTemporal::Duration(parts(value)?),
        _ => return None,
    };
    parsed.to_temporal()
}

/// A temporal value of ours as theirs; none for text that is not of its kind.
pub(super) fn to_bolt(temporal: &Temporal) -> Option<BoltType> {
    let time = |nanos: i64| {
        let (seconds, nanos) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
        NaiveTime::from_num_seconds_from_midnight_opt(u32::try_from(seconds).ok()?, u32::try_from(nanos).ok()?)
    };
    let wall = |seconds, nanos: i64| Some(DateTime::from_timestamp(seconds, u32::try_from(nanos).ok()?)?.naive_utc());
    let offset = |seconds: i64| FixedOffset::east_opt(i32::try_from(seconds).ok()?);
    Some(match temporal.parse()? {
        ParsedTemporal::Date(days) => {
            NaiveDate::from_num_days_from_ce_opt(i32::try_from(days.checked_add(EPOCH)?).ok()?)?.into()
        }
        ParsedTemporal::LocalTime(nanos) => time(nanos)?.into(),
        ParsedTemporal::Time(nanos, east) => (time(nanos)?, offset(east)?).into(),
        ParsedTemporal::LocalDateTime(seconds, nanos) => wall(seconds, nanos)?.into(),
        ParsedTemporal::DateTime { wall: seconds, nanos, zone: Some(zone), .. } => {
            BoltType::DateTimeZoneId((wall(seconds, nanos)?, zone.as_str()).into())
        }
        ParsedTemporal::DateTime { wall: seconds, nanos, offset: east, zone: None } => {
            offset(east)?.from_local_datetime(&wall(seconds, nanos)?).single()?.into()
        }
        ParsedTemporal::Duration([months, days, seconds, nanos]) => {
            BoltType::Duration(BoltDuration::new(months.into(), days.into(), seconds.into(), nanos.into()))
        }
    })
}

/// Months, days, seconds and nanoseconds of a duration of theirs.
fn parts(duration: &BoltDuration) -> Option<[i64; 4]> {
    // The crate shows these numbers only to a deserialiser, and deserialises only what is in a map.
    let mut map = BoltMap::new();
    map.put("duration".into(), BoltType::Duration(duration.clone()));
    let (months, days, seconds, nanoseconds) = map.get::<(i64, i64, i64, i64)>("duration").ok()?;
    Some([months, days, seconds, nanoseconds])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::TemporalKind;

    #[test]
    fn text_survives_the_way_there_and_back() {
        for (kind, text) in [
            (TemporalKind::Date, "2024-02-29"),
            (TemporalKind::Date, "1969-12-31"),
            (TemporalKind::LocalTime, "10:20:30.5"),
            (TemporalKind::Time, "10:20:30+01:00"),
            (TemporalKind::Time, "10:20:30-03:30"),
            (TemporalKind::LocalDateTime, "2024-01-01T10:20:30.000000001"),
            (TemporalKind::LocalDateTime, "1969-12-31T23:59:59.5"),
            (TemporalKind::DateTime, "2024-01-01T10:20:30-02:00"),
            (TemporalKind::DateTime, "2024-07-01T10:20:30+02:00[Europe/Berlin]"),
            (TemporalKind::Duration, "P1Y2M3DT4H5M6.7S"),
            (TemporalKind::Duration, "PT-0.5S"),
        ] {
            let temporal = Temporal { kind, text: text.to_owned() };
            assert_eq!(to_bolt(&temporal).and_then(|bolt| from_bolt(&bolt)), Some(temporal));
        }
    }

    #[test]
    fn text_of_another_kind_is_refused() {
        for (kind, text) in [(TemporalKind::Date, "2024-02-30"), (TemporalKind::Time, "10:20:30")] {
            assert_eq!(to_bolt(&Temporal { kind, text: text.to_owned() }), None, "{text}");
        }
    }
}
