use super::*;
use chrono::NaiveTime;
use proptest::prelude::*;

use super::super::when::Day;

fn wants(message: &str) -> Request {
    let mut found = understand(message);
    assert_eq!(found.len(), 1, "{message}: {found:?}");
    found.remove(0)
}

fn title(message: &str) -> Option<String> {
    match wants(message) {
        Request::AddReminder { title, .. } => title,
        other => panic!("{message}: {other:?}"),
    }
}

#[test]
fn reminders_are_created() {
    let tomorrow_at_nine = When { day: Some(Day::In(1)), time: NaiveTime::from_hms_opt(9, 0, 0) };
    assert_eq!(
        wants("Please create a reminder for tomorrow at 9am"),
        Request::AddReminder { title: None, when: tomorrow_at_nine }
    );
    for (message, expected) in [
        ("Thanks! Please create a reminder to feed the cat for tomorrow at 9am.", "Feed the cat"),
        ("Could you remind me tomorrow at 9 to feed the cat?", "Feed the cat"),
        ("Remind me to feed the cat on Friday at 14:30", "Feed the cat"),
        ("Set a reminder called \"Cat food\" for noon", "Cat food"),
        ("Add a cat food reminder for Monday", "Cat food"),
        ("I'd like a reminder tomorrow at 9am to feed the cat, please.", "Feed the cat"),
        (
            "Hey there! Could you set up a reminder for me for tomorrow at 9 in the morning? It's to feed the cat.",
            "Feed the cat",
        ),
        ("Thanks! And could you also remind me on Saturday at 6:30pm to feed the cat?", "Feed the cat"),
    ] {
        assert_eq!(title(message).as_deref(), Some(expected), "{message}");
    }
}

#[test]
fn reminders_are_asked_for_moved_and_cancelled() {
    assert_eq!(wants("Could you tell me which reminders I have?"), Request::ListReminders);
    assert_eq!(wants("Great. Can you show me my reminders?"), Request::ListReminders);
    assert_eq!(wants("What reminders do I have set?"), Request::ListReminders);
    assert_eq!(wants("How many reminders do I have?"), Request::CountReminders);
    assert!(matches!(wants("When is my cat reminder?"), Request::WhenIsReminder { .. }));
    let Request::MoveReminder { described, when } = wants("Please move the reminder to feed the cat to Friday at 3pm.")
    else {
        panic!()
    };
    assert!(described.contains("feed the cat"), "{described}");
    assert_eq!(when.time, NaiveTime::from_hms_opt(15, 0, 0));
    assert!(
        matches!(wants("Cancel the cat reminder."), Request::CancelReminder { described } if described.contains("cat"))
    );
}

#[test]
fn contacts_are_added_changed_and_looked_up() {
    assert_eq!(
        wants("Please add Ada van Dyke to my contacts with the number +44 20 7946 0018 and ada@dyke.org."),
        Request::AddContact {
            name: Some("Ada van Dyke".to_owned()),
            phone: Some("+44 20 7946 0018".to_owned()),
            email: Some("ada@dyke.org".to_owned()),
            wants: Some(Field::Phone),
        }
    );
    assert_eq!(
        wants("Change Ada's phone number to 555-0199."),
        Request::ChangeContact {
            name: Some("Ada".to_owned()),
            field: Field::Phone,
            value: Some("555-0199".to_owned())
        }
    );
    assert_eq!(
        wants("Could you tell me what Ada's email address is?"),
        Request::LookUpContact { name: Some("Ada".to_owned()), field: Field::Email }
    );
    assert_eq!(wants("Remove Ada from my contacts"), Request::DeleteContact { name: Some("Ada".to_owned()) });
    assert_eq!(wants("How many contacts do I have?"), Request::CountContacts);
    assert_eq!(wants("Which contacts do I have?"), Request::ListContacts);
}

#[test]
fn what_is_told_is_told_in_any_person() {
    let detail =
        |name: &str, value: &str| Told::Detail { name: name.to_owned(), field: Field::Phone, value: value.to_owned() };
    for (message, told) in [
        ("My name is Alice", vec![Told::Name("Alice".to_owned())]),
        ("My timezone is Australia/Sydney.", vec![Told::TimeZone(chrono_tz::Australia::Sydney)]),
        ("Ada's phone number is 555 0199.", vec![detail("Ada", "555 0199")]),
        ("Please remember that I drink tea", vec![Told::Note("I drink tea".to_owned())]),
        (
            "Please remember the following: The user's name is Alice and she lives in Sydney. The sky is blue.",
            vec![
                Told::Name("Alice".to_owned()),
                Told::Home("Sydney".to_owned()),
                Told::Note("The sky is blue".to_owned()),
            ],
        ),
    ] {
        assert_eq!(wants(message), Request::Tell(told), "{message}");
    }
}

#[test]
fn the_rest_is_courtesy_trivia_or_unknown() {
    assert_eq!(wants("Hello"), Request::Greeting);
    assert_eq!(wants("That was everything. Thank you, and goodbye!"), Request::Goodbye);
    assert_eq!(wants("Could you tell me what the capital of France is?"), Request::Capital("France".to_owned()));
    assert_eq!(wants("What is 12 times 7?"), Request::Sum { left: 12.0, operator: '*', right: 7.0 });
    assert!(matches!(wants("What is my name?"), Request::Recall(_)));
    assert_eq!(wants("I'm afraid I don't know that. Please go on as best you can."), Request::Unknown);
    assert_eq!(wants("Colourless green ideas sleep furiously."), Request::Unknown);
    assert_eq!(understand(""), []);
}

proptest! {
    #[test]
    fn no_message_makes_it_panic(message in "((Please|add|reminder|contact|remember|my|what|to|’s|'s|\"|:|\\.|\\?|9am|@|\\PC{1,3}) ?){0,14}") {
        prop_assert!(understand(&message).len() <= message.len());
    }
}
