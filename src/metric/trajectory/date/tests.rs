use proptest::prelude::*;

use super::*;

#[test]
fn the_same_day_is_the_same_in_all_spellings() {
    for text in [
        "2024-03-05",
        "March 5, 2024",
        "march 5th, 2024",
        "5 Mar 2024",
        "5th of March 2024",
        "Tuesday, March 5, 2024",
        "20240305",
        "2024/03/05",
        "03/05/2024",
        "3/5/24",
        "05-Mar-2024",
        "Mar-05-2024",
        "2024.03.05",
        "2024-03-05T00:00:00",
        "5 march 2024 at 12 am",
        "2024 March 5",
        "MAR 5 2024",
        "2024-3-5 0:00",
    ] {
        let moment = PartialDateTime::parse(text).unwrap_or_else(|| panic!("{text}"));
        assert!(moment.is_same(&PartialDateTime::parse("2024-03-05").unwrap()), "{text}: {moment:?}");
    }
}

#[test]
fn times_and_zones_count() {
    for (a, b, same) in [
        ("2024-03-05 10:30", "March 5 2024 10:30 AM", true),
        ("2024-03-05 22:30", "March 5 2024 10:30pm", true),
        ("20240305T103000", "2024-03-05T10:30:00", true),
        ("2024-03-05T10:30:00.500", "2024-03-05 10:30:00.5", true),
        ("2024-03-05T10:30:00Z", "2024-03-05 12:30:00+02:00", true),
        ("2024-03-05T10:30:00Z", "2024-03-05T10:30:00", false),
        ("2024-03-05T23:30:00-02:00", "2024-03-06T01:30:00Z", true),
        ("10:30", "10h30m", true),
        ("10:30", "10:31", false),
        ("5 pm", "17:00", true),
        ("2024-03-05", "2024-03-06", false),
        ("March 2024", "2024-03", true),
        ("March 5", "2024-03-05", false),
        ("friday", "Fri", true),
        ("friday", "monday", false),
    ] {
        let (x, y) = (PartialDateTime::parse(a).unwrap(), PartialDateTime::parse(b).unwrap());
        assert_eq!(x.is_same(&y), same, "{a}: {x:?}, {b}: {y:?}");
    }
}

#[test]
fn other_texts_are_no_dates() {
    for text in
        ["", " ", "john smith", "a", "am", "at", "2024-13-45", "31 february 2024", "10:99", "room 12", "1 2 3 4", "x"]
    {
        assert_eq!(PartialDateTime::parse(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn nothing_makes_it_fail(text in "[0-9a-zé:/.+ -]{0,30}") {
        if let Some(moment) = PartialDateTime::parse(&text) {
            prop_assert!(moment.is_same(&moment));
        }
    }
}
