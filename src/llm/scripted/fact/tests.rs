use super::*;

#[test]
fn a_fact_is_given_to_who_asks_for_it_and_to_nobody_else() {
    for (fact, question, asked_for) in [
        ("The user's shoesize is 43", "Which shoe size do you need?", true),
        ("The user's shoe size is 43", "What's your shoesize?", true),
        ("The user speaks Welsh", "Which language do you speak?", true),
        ("The user prefers oat milk", "Which milk would you like?", true),
        ("The neighbour's cat is called Tom", "What is your neighbour's cat called?", true),
        ("The user's shoesize is 43", "Which colour do you like?", false),
        ("The neighbour's cat is called Tom", "What is the neighbour called?", false),
        ("The user's shoesize is 43", "Shall I order 43 of them?", false),
    ] {
        assert_eq!(Fact::new(fact).is_asked_for_by(question), asked_for, "{fact} / {question}");
    }
}
