use super::*;
use proptest::prelude::*;

#[test]
fn a_task_becomes_what_a_user_says() {
    for (task, expected) in [
        ("Ask the assistant to paint the fence green.", "Please paint the fence green."),
        ("Tell the assistant to hurry", "Please hurry."),
        ("Tell it that the user prefers tea", "I prefer tea."),
        ("Ask what the best tea is", "Could you tell me what the best tea is?"),
        ("Ask the chatbot which songs the user has", "Could you tell me which songs I have?"),
        ("Ask the agent to wake the user, at six", "Please wake me, at six."),
        ("Ask for a list of songs", "Please give me a list of songs."),
        ("Paint the user's fence", "Please paint my fence."),
        ("", "Please ."),
    ] {
        assert_eq!(wording(task), expected, "{task}");
    }
}

#[test]
fn a_fact_is_stated_in_the_first_person() {
    for (fact, expected) in [
        ("The user's shoe size is 43.", "My shoe size is 43."),
        ("The user is left-handed", "I am left-handed."),
        ("The user prefers oat milk, not soy", "I prefer oat milk, not soy."),
        ("The kettle is green", "The kettle is green."),
    ] {
        assert_eq!(fact_in_first_person(fact), expected);
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "((Ask|tell|the|user|user's|is|to|that|für) ?|\\PC){0,12}") {
        let _ = (wording(&text), fact_in_first_person(&text));
    }
}
