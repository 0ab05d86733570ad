use super::*;
use proptest::prelude::*;

/// The moment, and the words that are left, on a Wednesday at noon.
fn read_at_noon(text: &str) -> (String, String) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (when, left) = read(&words);
    let now = chrono_tz::Europe::Lisbon.with_ymd_and_hms(2026, 3, 4, 12, 0, 0).unwrap();
    let moment = when.moment(now).map(|moment| moment.format("%Y-%m-%d %H:%M").to_string());
    (moment.unwrap_or_default(), left.join(" "))
}

#[test]
fn days_and_times_are_read_and_the_rest_is_left() {
    for (text, moment, left) in [
        ("for tomorrow at 9am to feed it", "2026-03-05 09:00", "to feed it"),
        ("feed it on Friday at 14:30", "2026-03-06 14:30", "feed it"),
        ("on Wednesday at noon", "2026-03-11 12:00", ""),
        ("to 3 June at 7 pm", "2026-06-03 19:00", ""),
        ("on 3rd February 2028 at 8", "2028-02-03 08:00", ""),
        ("7 p.m. on 3 June to rest", "2026-06-03 19:00", "to rest"),
        ("March 4 at 9", "2026-03-04 09:00", ""),
        ("2026-12-24 at 6:15pm", "2026-12-24 18:15", ""),
        ("at 12am", "2026-03-05 00:00", ""),
        ("at 11am", "2026-03-05 11:00", ""),
        ("at 13:05", "2026-03-04 13:05", ""),
        ("on 29 February", "2028-02-29 09:00", ""),
        ("buy 3 eggs", "2026-03-05 09:00", "buy 3 eggs"),
        ("on 30 February", "2026-03-05 09:00", "on 30 February"),
    ] {
        assert_eq!(read_at_noon(text), (moment.to_owned(), left.to_owned()), "{text}");
    }
}

#[test]
fn an_hour_that_the_clocks_skip_is_the_next_one() {
    let now = chrono_tz::Europe::Lisbon.with_ymd_and_hms(2026, 3, 28, 12, 0, 0).unwrap();
    let when = When { day: Some(Day::FromToday(1)), time: NaiveTime::from_hms_opt(1, 30, 0) };
    assert_eq!(when.moment(now).unwrap().to_rfc3339(), "2026-03-29T02:30:00+01:00");
}

proptest! {
    #[test]
    fn no_words_make_it_panic(words in proptest::collection::vec("(on|at|the|[0-9]{1,12}(am|th|:[0-9]{2})?|june|friday|\\PC{1,4})", 0..8)) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (when, left) = read(&words);
        prop_assert!(left.len() <= words.len());
        let _ = when.moment(chrono_tz::UTC.with_ymd_and_hms(2026, 3, 4, 12, 0, 0).unwrap());
    }
}
