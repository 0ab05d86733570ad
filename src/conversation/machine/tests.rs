use proptest::prelude::*;

use super::*;

fn conversation(max_messages: u32, lines: Option<&[&str]>) -> Conversation {
    let lines = lines.map(|lines| lines.iter().map(|line| (*line).to_owned()).collect());
    Conversation::new(ConversationRules { max_messages, opening: vec!["Hi".to_owned()], lines })
}

fn turn(agent: Option<&str>) -> Turn {
    Turn { agent: agent.map(str::to_owned), latency_ms: agent.map(|_| 1.0), ..Turn::begun(99, "?".into()) }
}

fn replied(message: &str, done: bool) -> PersonaReply {
    PersonaReply { message: Some(message.to_owned()), written: message.to_owned(), done, reason: None, tool: None }
}

fn say(text: &str) -> Next {
    Next::SayToAgent(text.to_owned())
}

#[test]
fn an_agent_that_greets_first_takes_one_message_of_the_limit() {
    let mut talk = conversation(3, None);
    talk.agent_greeted(turn(Some("Welcome")));
    assert_eq!((talk.next(), talk.turn_number()), (say("Hi"), 1));
    talk.agent_greeted(turn(Some("Welcome again")));
    talk.agent_replied(turn(Some("Hello")));
    assert_eq!(talk.next(), Next::Done(Ending::MaxTurns));
    let transcript = talk.into_transcript();
    let messages: Vec<String> = transcript.messages().map(|message| message.content).collect();
    assert_eq!(messages, ["Welcome", "Hi", "Hello"]);
    assert_eq!((transcript.turns[0].number, transcript.turns[0].user.as_str()), (0, ""));
    let mut small = conversation(2, None);
    small.agent_greeted(turn(Some("Welcome")));
    assert_eq!(small.next(), Next::Done(Ending::MaxTurns));
}

#[test]
fn greeting_reply_persona_reply_and_so_on() {
    let mut talk = conversation(20, None);
    assert_eq!(talk.next(), say("Hi"));
    talk.agent_replied(turn(Some("Hello")));
    assert_eq!(talk.next(), Next::AskPersona);
    talk.persona_replied(replied("Remind me", false));
    assert_eq!((talk.next(), talk.turn_number()), (say("Remind me"), 2));
    talk.agent_replied(turn(Some("When?")));
    talk.persona_replied(PersonaReply { message: None, written: String::new(), done: true, reason: None, tool: None });
    assert_eq!(talk.next(), Next::Done(Ending::SignedOff { reason: None }));
    let transcript = talk.into_transcript();
    let users: Vec<_> = transcript.turns.iter().map(|turn| (turn.number, turn.user.as_str())).collect();
    assert_eq!(users, [(1, "Hi"), (2, "Remind me")]);
}

#[test]
fn what_comes_with_the_signoff_is_delivered_and_answered() {
    let mut talk = conversation(20, None);
    talk.agent_replied(turn(Some("Hello")));
    talk.persona_replied(replied("Thanks", true));
    assert_eq!(talk.next(), say("Thanks"));
    talk.agent_replied(turn(Some("Welcome")));
    assert_eq!(talk.next(), Next::Done(Ending::SignedOff { reason: None }));
    assert_eq!(talk.transcript().message_count(), 4);
}

#[test]
fn a_last_message_that_fails_is_a_failure() {
    let mut talk = conversation(20, None);
    talk.agent_replied(turn(Some("Hello")));
    talk.persona_replied(replied("Thanks", true));
    talk.agent_failed(turn(None), "HTTP 500");
    assert_eq!(talk.next(), Next::Done(Ending::AgentFailed { error: "HTTP 500".into() }));
    assert_eq!(talk.transcript().turns[1].user, "Thanks");
}

#[test]
fn the_limit_counts_messages_and_leaves_none_unanswered() {
    for (max, turns) in [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (5, 2), (20, 10)] {
        let mut talk = conversation(max, None);
        let mut asked = 0;
        loop {
            match talk.next() {
                Next::SayToAgent(_) => talk.agent_replied(turn(Some("ok"))),
                Next::AskPersona => {
                    asked += 1;
                    talk.persona_replied(replied("more", false));
                }
                Next::Done(ending) => {
                    assert_eq!(ending, Ending::MaxTurns);
                    break;
                }
            }
        }
        assert_eq!(talk.transcript().turns.len(), turns, "max {max}");
        assert_eq!(asked, turns.saturating_sub(1), "the persona is not asked for a message that can't be sent");
    }
}

#[test]
fn a_signoff_in_the_last_allowed_turn_is_a_signoff() {
    let mut talk = conversation(4, None);
    talk.agent_replied(turn(Some("Hello")));
    talk.persona_replied(replied("Thanks", true));
    talk.agent_replied(turn(Some("Welcome")));
    assert_eq!(talk.next(), Next::Done(Ending::SignedOff { reason: None }));
}

#[test]
fn an_agent_ends_nothing() {
    let mut talk = conversation(20, None);
    talk.agent_replied(turn(Some("So Long, and Thanks for All the Fish")));
    assert_eq!(talk.next(), Next::AskPersona);
}

#[test]
fn fixed_lines_follow_the_greeting() {
    let mut talk = conversation(20, Some(&["one", "two"]));
    for expected in ["Hi", "one", "two"] {
        assert_eq!(talk.next(), say(expected));
        talk.agent_replied(turn(Some("ok")));
    }
    assert_eq!(talk.next(), Next::Done(Ending::ScriptEnded));
    let mut only_greeting = conversation(20, Some(&[]));
    only_greeting.agent_replied(turn(Some("ok")));
    assert_eq!(only_greeting.next(), Next::Done(Ending::ScriptEnded));
    let mut too_long = conversation(4, Some(&["one", "two"]));
    too_long.agent_replied(turn(Some("ok")));
    too_long.agent_replied(turn(Some("ok")));
    assert_eq!(too_long.next(), Next::Done(Ending::MaxTurns));
    let mut just_fits = conversation(4, Some(&["one"]));
    just_fits.agent_replied(turn(Some("ok")));
    just_fits.agent_replied(turn(Some("ok")));
    assert_eq!(just_fits.next(), Next::Done(Ending::ScriptEnded));
}

#[test]
fn a_reply_without_words_is_a_failure() {
    let mut talk = conversation(20, None);
    talk.agent_replied(turn(None));
    assert!(matches!(talk.next(), Next::Done(Ending::AgentFailed { .. })));
}

#[test]
fn time_that_runs_out_ends_only_what_goes_on() {
    let mut talk = conversation(20, None);
    talk.time_ran_out(3.0);
    assert_eq!(talk.next(), Next::Done(Ending::TimeLimit { seconds: 3.0 }));
    assert!(talk.transcript().turns.is_empty());
    talk.time_ran_out(4.0);
    assert_eq!(talk.next(), Next::Done(Ending::TimeLimit { seconds: 3.0 }));
}

#[test]
fn what_was_not_asked_for_is_not_heard() {
    let mut talk = conversation(20, None);
    talk.persona_replied(replied("me first", true));
    assert_eq!(talk.next(), say("Hi"));
    talk.agent_replied(turn(Some("Hello")));
    talk.agent_replied(turn(Some("Hello again")));
    talk.agent_failed(turn(None), "late");
    assert_eq!((talk.next(), talk.transcript().turns.len()), (Next::AskPersona, 1));
}

#[derive(Debug, Clone)]
enum Input {
    Said(Option<String>, bool),
    Replied(Option<String>),
    Failed,
    TimeRanOut,
}

fn input() -> impl Strategy<Value = Input> {
    prop_oneof![
        8 => (proptest::option::weighted(0.9, ".{0,9}"), proptest::bool::weighted(0.2)).prop_map(|(text, done)| Input::Said(text, done)),
        8 => proptest::option::weighted(0.95, ".{0,9}").prop_map(Input::Replied),
        1 => Just(Input::Failed),
        1 => Just(Input::TimeRanOut),
    ]
}

fn apply(talk: &mut Conversation, input: Input) {
    match input {
        Input::Said(message, done) => {
            talk.persona_replied(PersonaReply { message, written: String::new(), done, reason: None, tool: None })
        }
        Input::Replied(text) => talk.agent_replied(turn(text.as_deref())),
        Input::Failed => talk.agent_failed(turn(None), "down"),
        Input::TimeRanOut => talk.time_ran_out(1.0),
    }
}

proptest! {
    #[test]
    fn the_invariants_hold_for_any_messages(
        max in 0u32..12,
        lines in proptest::option::of(proptest::collection::vec("[a-z]{1,4}", 0..6)),
        events in proptest::collection::vec(input(), 0..60),
    ) {
        let mut talk = Conversation::new(ConversationRules { max_messages: max, opening: vec!["Hi".to_owned()], lines });
        for event in events {
            let before = talk.next();
            apply(&mut talk, event);
            if matches!(before, Next::Done(_)) {
                prop_assert_eq!(talk.next(), before);
            }
            let turns = &talk.transcript().turns;
            prop_assert!(talk.transcript().message_count() <= max as usize);
            prop_assert!(turns.iter().enumerate().all(|(place, turn)| turn.number as usize == place + 1));
            let unanswered = turns.iter().filter(|turn| turn.agent.is_none()).count();
            prop_assert_eq!(unanswered, usize::from(matches!(talk.next(), Next::Done(Ending::AgentFailed { .. }))));
        }
    }

    #[test]
    fn it_ends_whatever_is_answered(max in 0u32..30, messages in proptest::collection::vec((".{0,9}", any::<bool>()), 1..9)) {
        let mut talk = conversation(max, None);
        let mut replies = messages.iter().cycle();
        let mut steps = 0;
        loop {
            match talk.next() {
                Next::Done(_) => break,
                Next::SayToAgent(_) => talk.agent_replied(turn(Some("ok"))),
                Next::AskPersona => {
                    let (text, done) = replies.next().unwrap();
                    talk.persona_replied(replied(text, *done));
                }
            }
            steps += 1;
            prop_assert!(steps <= 2 * max);
        }
    }
}

#[test]
fn without_a_greeting_the_lines_or_the_persona_begin() {
    let rules = |lines: Option<Vec<String>>| ConversationRules { max_messages: 4, opening: Vec::new(), lines };
    let mut talk = Conversation::new(rules(Some(vec!["First".to_owned()])));
    assert_eq!(talk.next(), Next::SayToAgent("First".to_owned()));
    talk.agent_replied(Turn::answered(1, "First", "Yes"));
    assert_eq!(talk.next(), Next::Done(Ending::ScriptEnded));
    assert_eq!(Conversation::new(rules(None)).next(), Next::AskPersona);
    let none = ConversationRules { max_messages: 1, ..rules(None) };
    assert_eq!(Conversation::new(none).next(), Next::Done(Ending::MaxTurns));
}

#[test]
fn the_persona_speaks_after_the_last_message_of_the_opening() {
    let opening = vec!["First".to_owned(), "Second".to_owned()];
    let mut talk = Conversation::new(ConversationRules { max_messages: 6, opening, lines: None });
    assert_eq!(talk.next(), say("First"));
    talk.agent_replied(turn(Some("Yes")));
    assert_eq!(talk.next(), say("Second"));
    let mut short = talk.clone();
    short.max_messages = 3;
    talk.agent_replied(turn(Some("Yes")));
    assert_eq!(talk.next(), Next::AskPersona);
    short.agent_replied(turn(Some("Yes")));
    assert_eq!(short.next(), Next::Done(Ending::MaxTurns));
}
