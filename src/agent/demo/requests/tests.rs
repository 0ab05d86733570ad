use super::*;
use chrono::NaiveTime;
use proptest::prelude::*;

use super::super::when::Day;

#[track_caller]
fn one(message: &str) -> UserRequest {
    let mut found = read(message);
    assert_eq!(found.len(), 1, "{message}: {found:?}");
    found.remove(0)
}

#[test]
fn reminders_are_created() {
    let tomorrow_at_nine = When { day: Some(Day::FromToday(1)), time: NaiveTime::from_hms_opt(9, 0, 0) };
    let untitled = UserRequest::Create { title: None, when: tomorrow_at_nine };
    assert_eq!(one("Could you set up a reminder for me for tomorrow at 9?"), untitled);
    let titled = UserRequest::Create { title: Some("Feed the cat".to_owned()), when: tomorrow_at_nine };
    for message in [
        "All right. Please create a reminder to feed the cat for tomorrow at 9am.",
        "Could you remind me tomorrow at 9 to feed the cat?",
        "Remind me to feed the cat tomorrow at 9:00, please",
        "Remind me at 9 a.m. tomorrow to feed the cat",
        "Set a reminder called \"Feed the cat\" for tomorrow at 9 am!",
        "Hi! I'd like a reminder tomorrow at 9am to feed the cat.",
    ] {
        assert_eq!(one(message), titled, "{message}");
    }
    let UserRequest::Create { title, .. } = one("Remind me to cancel Dr. Smith's visit on Friday.") else { panic!() };
    assert_eq!(title.as_deref(), Some("Cancel Dr. Smith's visit"));
}

#[test]
fn reminders_are_listed_moved_and_cancelled() {
    for message in [
        "Could you tell me which reminders I have?",
        "Great. Can you show me my reminders?",
        "How many reminders do I have?",
        "When is my cat reminder?",
    ] {
        assert_eq!(one(message), UserRequest::List, "{message}");
    }
    let UserRequest::Reschedule { description, when } = one("Please move the cat reminder to Friday at 3pm.") else {
        panic!()
    };
    assert_eq!((description.as_str(), when.time), ("the cat reminder", NaiveTime::from_hms_opt(15, 0, 0)));
    assert_eq!(one("Please cancel the cat."), UserRequest::Cancel { description: "the cat".to_owned() });
}

#[test]
fn several_things_are_read_in_order_and_courtesies_are_left_out() {
    let found = read("Thanks! Cancel the cat. And which reminders do I have?");
    assert!(matches!(found[..], [UserRequest::Cancel { .. }, UserRequest::List]), "{found:?}");
    assert_eq!(one("Hello"), UserRequest::Greeting);
    assert_eq!(one("That was everything. Thank you, and goodbye!"), UserRequest::Goodbye);
    assert_eq!(one("Hi! Thank you"), UserRequest::Thanks);
}

#[test]
fn a_time_zone_is_heard_in_any_person() {
    for message in [
        "My timezone is Asia/Tokyo.",
        "Please remember the following:\n\nThe user's time zone is Asia/Tokyo. The sky is blue.",
    ] {
        assert_eq!(one(message), UserRequest::RememberTimeZone(chrono_tz::Asia::Tokyo), "{message}");
    }
}

#[test]
fn the_rest_is_nothing() {
    for message in
        ["", "Colourless green ideas sleep furiously.", "I'm afraid I don't know that.", "What is my time zone?"]
    {
        assert_eq!(read(message), [], "{message}");
    }
}

proptest! {
    #[test]
    fn no_message_makes_it_panic(message in "((Please|add|reminder|move|my|what|to|’s|\"|:|\\.|\\?|9am|\\PC{1,3}) ?){0,14}") {
        prop_assert!(read(&message).len() <= message.len());
    }
}
