use proptest::prelude::*;

use super::*;

fn parsed(kind: TemporalKind, text: &str) -> Option<ParsedTemporal> {
    Temporal { kind, text: text.to_owned() }.parse()
}

fn printed(kind: TemporalKind, text: &str) -> Option<String> {
    let temporal = parsed(kind, text)?.to_temporal()?;
    assert_eq!(temporal.kind, kind);
    Some(temporal.text)
}

#[test]
fn text_is_printed_as_it_was_read() {
    for (kind, text) in [
        (TemporalKind::Date, "2024-02-29"),
        (TemporalKind::Date, "-0044-03-15"),
        (TemporalKind::Date, "+12024-02-29"),
        (TemporalKind::LocalTime, "10:20:30.5"),
        (TemporalKind::Time, "10:20:30+01:00"),
        (TemporalKind::Time, "10:20:30Z"),
        (TemporalKind::Time, "10:20:30-03:30:15"),
        (TemporalKind::LocalDateTime, "2024-01-01T10:20:30.000000001"),
        (TemporalKind::LocalDateTime, "1969-12-31T23:59:59.9"),
        (TemporalKind::DateTime, "2024-01-01T10:20:30-02:00"),
        (TemporalKind::DateTime, "2024-07-01T10:20:30+02:00[Europe/Berlin]"),
        (TemporalKind::Duration, "P1Y2M3DT4H5M6.7S"),
        (TemporalKind::Duration, "P-1DT5H"),
        (TemporalKind::Duration, "PT-0.5S"),
        (TemporalKind::Duration, "PT0S"),
    ] {
        assert_eq!(printed(kind, text).as_deref(), Some(text));
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
        assert_eq!(printed(kind, text).as_deref(), Some(expected));
    }
}

#[test]
fn text_of_another_kind_is_refused() {
    for (kind, text) in [
        (TemporalKind::Date, "yesterday"),
        (TemporalKind::Date, "2024-02-30"),
        (TemporalKind::Date, "2023-02-29"),
        (TemporalKind::Date, "2024-12-32"),
        (TemporalKind::LocalTime, "24:00"),
        (TemporalKind::Time, "10:20:30"),
        (TemporalKind::DateTime, "2024-01-01T10:20:30"),
        (TemporalKind::DateTime, "2024-01-01T10:20:30[Nowhere/None]"),
        (TemporalKind::Duration, "1D"),
        (TemporalKind::Duration, "P1X"),
        (TemporalKind::Duration, "PT1.2.3S"),
    ] {
        assert_eq!(parsed(kind, text), None, "{text}");
    }
}

#[test]
fn values_of_a_kind_are_ordered_by_the_calendar() {
    let order = |kind, one, other| parsed(kind, one).unwrap().compare(&parsed(kind, other).unwrap());
    let less = Some(Ordering::Less);
    assert_eq!(order(TemporalKind::Date, "2024-02-29", "2024-03-01"), less);
    assert_eq!(order(TemporalKind::LocalTime, "09:59", "10:00:00.000000001"), less);
    assert_eq!(order(TemporalKind::Time, "10:00+02:00", "09:00Z"), less);
    assert_eq!(order(TemporalKind::DateTime, "2024-01-01T10:00Z", "2024-01-01T10:00-01:00"), less);
    assert_eq!(order(TemporalKind::DateTime, "2024-01-01T10:00Z", "2024-01-01T11:00+01:00"), Some(Ordering::Equal));
    assert_eq!(order(TemporalKind::Duration, "PT1S", "PT2S"), None);
    let (date, time) = (ParsedTemporal::Date(1), ParsedTemporal::LocalTime(1));
    assert_eq!(date.compare(&time), None);
}

proptest! {
    #[test]
    fn durations_keep_their_length(months in -999i64..999, days in -999i64..999, nanoseconds in -10_i128.pow(15)..10_i128.pow(15)) {
        let seconds = i64::try_from(nanoseconds.div_euclid(1_000_000_000)).unwrap();
        let rest = i64::try_from(nanoseconds.rem_euclid(1_000_000_000)).unwrap();
        let parts = [months, days, seconds, rest];
        prop_assert_eq!(duration(&duration_text(parts)), Some(parts));
    }

    #[test]
    fn days_are_counted_as_chrono_does(days in -800_000i64..4_000_000) {
        let text = date_text(days).unwrap();
        let theirs = chrono::NaiveDate::from_num_days_from_ce_opt(i32::try_from(days).unwrap() + 719_163).unwrap();
        if (0..10_000).contains(&chrono::Datelike::year(&theirs)) {
            prop_assert_eq!(&text, &theirs.to_string());
        }
        prop_assert_eq!(date(&text), Some(days));
    }

    #[test]
    fn no_text_breaks_the_parsers(text in "[-P0-9TYMDHSW:.+Z\\[\\]é]{0,20}") {
        for kind in [TemporalKind::Duration, TemporalKind::DateTime, TemporalKind::Time, TemporalKind::Date] {
            let _ = printed(kind, &text);
        }
    }
}
