use super::*;

fn reminder(title: &str) -> Reminder {
    Reminder { title: title.to_owned(), at: String::new(), time_zone: None }
}

#[test]
fn reminders_are_found_by_some_of_their_words() {
    let data =
        UserData { reminders: vec![reminder("Water the plants"), reminder("Pay the rent")], ..UserData::default() };
    assert_eq!(data.find("the reminder to pay rent").unwrap().title, "Pay the rent");
    assert_eq!(data.find("plants").unwrap().title, "Water the plants");
    assert_eq!(data.find("the dog"), None);
    assert_eq!(data.find("the"), None);
}

#[test]
fn actions_change_the_data() {
    let mut data = UserData::default();
    data.apply(&ReminderAction::Create(reminder("a")));
    data.apply(&ReminderAction::Reschedule { before: reminder("a"), after: reminder("b") });
    data.apply(&ReminderAction::RememberTimeZone(Tz::UTC));
    assert_eq!((data.reminders[0].title.as_str(), data.time_zone), ("b", Some(Tz::UTC)));
    data.apply(&ReminderAction::Cancel(reminder("b")));
    assert!(data.reminders.is_empty());
}
