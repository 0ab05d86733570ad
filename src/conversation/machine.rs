//! The machine: it is asked what comes next and told what came.

use super::PersonaSaid;
use crate::evidence::{Ending, Transcript, Turn};

/// What a conversation must keep to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConversationRules {
    /// How many messages, of both sides, there may be (`maxTurns`). A turn needs two: with 5 there are two turns, with
    /// less than 2 there is none.
    pub max_messages: u32,
    /// The first user message.
    pub greeting: String,
    /// What the user says after the greeting, line by line, instead of a persona.
    pub lines: Option<Vec<String>>,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Say this to the agent, then tell [`Conversation::agent_replied`] or [`Conversation::agent_failed`].
    SayToAgent(String),
    /// Ask the persona what it says next, then tell [`Conversation::persona_said`].
    AskPersona,
    /// The conversation is over.
    Done(Ending),
}

/// A conversation that is under way.
///
/// It ends when the persona has signed off ([`Ending::SignedOff`]), when the last of the fixed lines was answered
/// ([`Ending::ScriptEnded`]), when the agent fails ([`Ending::AgentFailed`]), when its time runs out
/// ([`Ending::TimeLimit`]), or when another user message and its reply would pass the limit of messages
/// ([`Ending::MaxTurns`]; the persona is not asked any more). If several hold at once, the first of these counts.
#[derive(Debug, Clone)]
pub struct Conversation {
    max_messages: u32,
    lines: Option<std::vec::IntoIter<String>>,
    transcript: Transcript,
    next: Next,
    /// The persona signed off in the message that is on its way.
    last_message: bool,
}

impl Conversation {
    /// A conversation that begins with the greeting.
    pub fn new(rules: ConversationRules) -> Conversation {
        let mut conversation = Conversation {
            max_messages: rules.max_messages,
            lines: rules.lines.map(Vec::into_iter),
            transcript: Transcript::default(),
            next: Next::Done(Ending::MaxTurns),
            last_message: false,
        };
        if conversation.has_room() {
            conversation.next = Next::SayToAgent(rules.greeting);
        }
        conversation
    }

    /// What comes next. It stays the same until something is told.
    pub fn next(&self) -> Next {
        self.next.clone()
    }

    /// The number of the turn that comes next or is under way, from 1.
    pub fn turn_number(&self) -> u32 {
        self.transcript.turns.last().map_or(0, |turn| turn.number) + 1
    }

    /// The agent has greeted before anybody said anything. Heard only as the first of all; whether there is room for the
    /// user's first message is counted anew.
    pub fn agent_greeted(&mut self, turn: Turn) {
        if !self.transcript.turns.is_empty() {
            return;
        }
        self.transcript.turns.push(Turn { number: 0, user: String::new(), ..turn });
        if !self.has_room() {
            self.next = Next::Done(Ending::MaxTurns);
        }
    }

    /// What was said so far.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// What was said.
    pub fn into_transcript(self) -> Transcript {
        self.transcript
    }

    /// The persona has said something. A persona that says nothing at all has signed off. Heard only after
    /// [`Next::AskPersona`].
    pub fn persona_said(&mut self, said: PersonaSaid) {
        if self.next != Next::AskPersona {
            return;
        }
        self.next = match said.message {
            Some(message) => {
                self.last_message = said.done;
                Next::SayToAgent(message)
            }
            None => Next::Done(Ending::SignedOff),
        };
    }

    /// The agent has replied. The turn's number and user message are set to what they must be. A turn without a reply
    /// is a failure. Heard only after [`Next::SayToAgent`].
    pub fn agent_replied(&mut self, turn: Turn) {
        if turn.agent.is_none() {
            return self.agent_failed(turn, "the agent gave no reply");
        }
        if self.record(turn) {
            self.next = self.after_reply();
        }
    }

    /// The agent has failed to reply, to the end of the retries; the turn holds the tries. Heard only after
    /// [`Next::SayToAgent`].
    pub fn agent_failed(&mut self, turn: Turn, error: impl Into<String>) {
        if self.record(Turn { agent: None, latency_ms: None, ..turn }) {
            self.next = Next::Done(Ending::AgentFailed { error: error.into() });
        }
    }

    /// The time limit of the conversation, in seconds, has run out. A message on its way that was answered or failed is
    /// told before; one that was not even sent is not part of the transcript. An ending that is there stays.
    pub fn time_ran_out(&mut self, seconds: f64) {
        if !matches!(self.next, Next::Done(_)) {
            self.next = Next::Done(Ending::TimeLimit { seconds });
        }
    }

    /// The time limit, in seconds, has run out while the agent was being waited for: the message is part of the
    /// transcript, without a reply. Heard only after [`Next::SayToAgent`].
    pub fn time_ran_out_on(&mut self, turn: Turn, seconds: f64) {
        if self.record(Turn { agent: None, latency_ms: None, ..turn }) {
            self.next = Next::Done(Ending::TimeLimit { seconds });
        }
    }

    fn record(&mut self, turn: Turn) -> bool {
        let number = self.turn_number();
        let Next::SayToAgent(user) = &self.next else { return false };
        self.transcript.turns.push(Turn { number, user: user.clone(), ..turn });
        true
    }

    fn after_reply(&mut self) -> Next {
        if self.last_message {
            return Next::Done(Ending::SignedOff);
        }
        let room = self.has_room();
        match &mut self.lines {
            None if room => Next::AskPersona,
            None => Next::Done(Ending::MaxTurns),
            Some(lines) => match lines.next() {
                None => Next::Done(Ending::ScriptEnded),
                Some(line) if room => Next::SayToAgent(line),
                Some(_) => Next::Done(Ending::MaxTurns),
            },
        }
    }

    /// Whether a user message and its reply are still allowed.
    fn has_room(&self) -> bool {
        self.transcript.message_count() as u64 + 2 <= u64::from(self.max_messages)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn conversation(max_messages: u32, lines: Option<&[&str]>) -> Conversation {
        let lines = lines.map(|lines| lines.iter().map(|line| (*line).to_owned()).collect());
        Conversation::new(ConversationRules { max_messages, greeting: "Hi".into(), lines })
    }

    fn turn(agent: Option<&str>) -> Turn {
        Turn { agent: agent.map(str::to_owned), latency_ms: agent.map(|_| 1.0), ..Turn::begun(99, "?".into()) }
    }

    fn said(message: &str, done: bool) -> PersonaSaid {
        PersonaSaid { message: Some(message.to_owned()), done }
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
        let said: Vec<String> = transcript.messages().map(|message| message.content).collect();
        assert_eq!(said, ["Welcome", "Hi", "Hello"]);
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
        talk.persona_said(said("Remind me", false));
        assert_eq!((talk.next(), talk.turn_number()), (say("Remind me"), 2));
        talk.agent_replied(turn(Some("When?")));
        talk.persona_said(PersonaSaid { message: None, done: true });
        assert_eq!(talk.next(), Next::Done(Ending::SignedOff));
        let transcript = talk.into_transcript();
        let words: Vec<_> = transcript.turns.iter().map(|turn| (turn.number, turn.user.as_str())).collect();
        assert_eq!(words, [(1, "Hi"), (2, "Remind me")]);
    }

    #[test]
    fn what_comes_with_the_signoff_is_delivered_and_answered() {
        let mut talk = conversation(20, None);
        talk.agent_replied(turn(Some("Hello")));
        talk.persona_said(said("Thanks", true));
        assert_eq!(talk.next(), say("Thanks"));
        talk.agent_replied(turn(Some("Welcome")));
        assert_eq!(talk.next(), Next::Done(Ending::SignedOff));
        assert_eq!(talk.transcript().message_count(), 4);
    }

    #[test]
    fn a_last_message_that_fails_is_a_failure() {
        let mut talk = conversation(20, None);
        talk.agent_replied(turn(Some("Hello")));
        talk.persona_said(said("Thanks", true));
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
                        talk.persona_said(said("more", false));
                    }
                    Next::Done(ending) => {
                        assert_eq!(ending, Ending::MaxTurns);
                        break;
                    }
                }
            }
            assert_eq!(talk.transcript().turns.len(), turns, "max {max}");
            assert_eq!(asked, turns.saturating_sub(1), "the persona is not asked for what can't be said");
        }
    }

    #[test]
    fn a_signoff_in_the_last_allowed_turn_is_a_signoff() {
        let mut talk = conversation(4, None);
        talk.agent_replied(turn(Some("Hello")));
        talk.persona_said(said("Thanks", true));
        talk.agent_replied(turn(Some("Welcome")));
        assert_eq!(talk.next(), Next::Done(Ending::SignedOff));
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
        talk.persona_said(said("me first", true));
        assert_eq!(talk.next(), say("Hi"));
        talk.agent_replied(turn(Some("Hello")));
        talk.agent_replied(turn(Some("Hello again")));
        talk.agent_failed(turn(None), "late");
        assert_eq!((talk.next(), talk.transcript().turns.len()), (Next::AskPersona, 1));
    }

    #[derive(Debug, Clone)]
    enum Told {
        Said(Option<String>, bool),
        Replied(Option<String>),
        Failed,
        TimeRanOut,
    }

    fn told() -> impl Strategy<Value = Told> {
        prop_oneof![
            8 => (proptest::option::weighted(0.9, ".{0,9}"), proptest::bool::weighted(0.2)).prop_map(|(text, done)| Told::Said(text, done)),
            8 => proptest::option::weighted(0.95, ".{0,9}").prop_map(Told::Replied),
            1 => Just(Told::Failed),
            1 => Just(Told::TimeRanOut),
        ]
    }

    fn tell(talk: &mut Conversation, told: Told) {
        match told {
            Told::Said(message, done) => talk.persona_said(PersonaSaid { message, done }),
            Told::Replied(text) => talk.agent_replied(turn(text.as_deref())),
            Told::Failed => talk.agent_failed(turn(None), "down"),
            Told::TimeRanOut => talk.time_ran_out(1.0),
        }
    }

    proptest! {
        #[test]
        fn the_invariants_hold_whatever_is_told(
            max in 0u32..12,
            lines in proptest::option::of(proptest::collection::vec("[a-z]{1,4}", 0..6)),
            events in proptest::collection::vec(told(), 0..60),
        ) {
            let mut talk = Conversation::new(ConversationRules { max_messages: max, greeting: "Hi".into(), lines });
            for event in events {
                let before = talk.next();
                tell(&mut talk, event);
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
                        talk.persona_said(said(text, *done));
                    }
                }
                steps += 1;
                prop_assert!(steps <= 2 * max);
            }
        }
    }
}
