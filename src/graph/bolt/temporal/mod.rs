//! Temporal values: Bolt counts days, seconds and nanoseconds, Cypher prints ISO 8601.

mod text;

use chrono::{DateTime, Offset, TimeZone, Utc};

use super::packstream::Pack;
use crate::graph::{Temporal, TemporalKind};
use text::*;

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

#[cfg(test)]
mod tests;
