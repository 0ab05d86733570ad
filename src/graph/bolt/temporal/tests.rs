use chrono::{DateTime, Utc};
use proptest::prelude::*;

use super::*;
use crate::graph::TemporalKind;

const NANOS: i64 = 1_000_000_000;
const DAY: i64 = 86_400;

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
    let expected = |tag, seconds| Some(Pack::Structure(tag, vec![Pack::Int(seconds), Pack::Int(0), berlin.clone()]));
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
