//! Temporal values as structures of Bolt.

use super::packstream::Pack;
use crate::evidence::{ParsedTemporal, zone_offset};
use crate::graph::Temporal;

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
    let structure = |tag, fields: &[i64]| Some(Pack::Structure(tag, fields.iter().copied().map(Pack::Int).collect()));
    match temporal.parse()? {
        ParsedTemporal::Date(days) => structure(DATE, &[days]),
        ParsedTemporal::LocalTime(nanos) => structure(LOCAL_TIME, &[nanos]),
        ParsedTemporal::Time(nanos, offset) => structure(TIME, &[nanos, offset]),
        ParsedTemporal::LocalDateTime(seconds, nanos) => structure(LOCAL_DATE_TIME, &[seconds, nanos]),
        ParsedTemporal::DateTime { wall, nanos, offset, zone } => {
            let seconds = if utc { wall.checked_sub(offset)? } else { wall };
            let tag = match (&zone, utc) {
                (Some(_), true) => ZONED_MOMENT,
                (Some(_), false) => WALL_ZONED_MOMENT,
                (None, true) => MOMENT,
                (None, false) => WALL_MOMENT,
            };
            let place = zone.map_or(Pack::Int(offset), Pack::String);
            Some(Pack::Structure(tag, vec![Pack::Int(seconds), Pack::Int(nanos), place]))
        }
        ParsedTemporal::Duration(parts) => structure(DURATION, &parts),
    }
}

/// A structure as a temporal value: `None` when it is no temporal structure or out of range.
pub(super) fn unpack(tag: u8, fields: &[Pack]) -> Option<Temporal> {
    let int = |at: usize| fields.get(at).and_then(Pack::int);
    let (size, parsed) = match tag {
        DATE => (1, ParsedTemporal::Date(int(0)?)),
        LOCAL_TIME => (1, ParsedTemporal::LocalTime(int(0)?)),
        TIME => (2, ParsedTemporal::Time(int(0)?, int(1)?)),
        LOCAL_DATE_TIME => (2, ParsedTemporal::LocalDateTime(int(0)?, int(1)?)),
        DURATION => (4, ParsedTemporal::Duration([int(0)?, int(1)?, int(2)?, int(3)?])),
        MOMENT | WALL_MOMENT | ZONED_MOMENT | WALL_ZONED_MOMENT => {
            let (seconds, nanos, utc) = (int(0)?, int(1)?, matches!(tag, MOMENT | ZONED_MOMENT));
            let zone =
                if matches!(tag, ZONED_MOMENT | WALL_ZONED_MOMENT) { Some(fields.get(2)?.text()?) } else { None };
            let offset = match zone {
                Some(zone) => zone_offset(zone, seconds, utc)?,
                None => int(2)?,
            };
            let wall = if utc { seconds.checked_add(offset)? } else { seconds };
            (3, ParsedTemporal::DateTime { wall, nanos, offset, zone: zone.map(str::to_owned) })
        }
        _ => return None,
    };
    if fields.len() == size { parsed.to_temporal() } else { None }
}

#[cfg(test)]
mod tests;
