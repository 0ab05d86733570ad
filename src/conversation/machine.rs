//! The state machine of a conversation.

use super::PersonaReply;
use crate::evidence::{Ending, Transcript, Turn};

/// The rules of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConversationRules {
    /// The most messages, of both sides (`maxTurns`). A turn needs two: with 5 there are two turns, with
    /// less than 2 there is none.
    pub max_messages: u32,
    /// The first user messages, sent one after the other; without any, the lines or the persona begin.
    pub opening: Vec<String>,
    /// The user's lines, after the opening, instead of a persona.
    pub lines: Option<Vec<String>>,
}

/// The next step.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Send this message to the agent, then call [`Conversation::agent_replied`] or [`Conversation::agent_failed`].
    SayToAgent(String),
    /// Ask the persona for its next message, then call [`Conversation::persona_replied`].
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
    opening: std::vec::IntoIter<String>,
    lines: Option<std::vec::IntoIter<String>>,
    transcript: Transcript,
    next: Next,
    /// How the conversation ends when the message that is on its way is answered, where the persona signed off in it.
    farewell: Option<Ending>,
}

impl Conversation {
    /// A conversation that begins with the opening, if there is one.
    pub fn new(rules: ConversationRules) -> Conversation {
        let mut conversation = Conversation {
            max_messages: rules.max_messages,
            opening: rules.opening.into_iter(),
            lines: rules.lines.map(Vec::into_iter),
            transcript: Transcript::default(),
            next: Next::Done(Ending::MaxTurns),
            farewell: None,
        };
        if conversation.has_room() {
            conversation.next = conversation.user_turn();
        }
        conversation
    }

    /// The next step. It stays the same until its result is passed in.
    pub fn next(&self) -> Next {
        self.next.clone()
    }

    /// The number of the turn that comes next or is under way, from 1.
    pub fn turn_number(&self) -> u32 {
        self.transcript.turns.last().map_or(0, |turn| turn.number) + 1
    }

    /// The agent has opened the conversation. Ignored unless it is the first message; afterwards it is checked again whether
    /// there is room for the user's first message.
    pub fn agent_greeted(&mut self, turn: Turn) {
        if !self.transcript.turns.is_empty() {
            return;
        }
        self.transcript.turns.push(Turn { number: 0, user: String::new(), ..turn });
        if !self.has_room() {
            self.next = Next::Done(Ending::MaxTurns);
        }
    }

    /// Takes in what was held of the same conversation before: its turns, each with a reply, and the message that was on its way.
    /// `farewell` is how it ends, where the persona signed off in the last message of them.
    pub fn go_on(&mut self, turns: &[Turn], pending: Option<&str>, farewell: Option<Ending>) {
        for (at, turn) in turns.iter().enumerate() {
            if turn.is_greeting() {
                self.agent_greeted(turn.clone());
                continue;
            }
            self.user_said(&turn.user);
            if pending.is_none() && at + 1 == turns.len() {
                self.farewell.clone_from(&farewell);
            }
            self.agent_replied(turn.clone());
        }
        if let Some(pending) = pending {
            self.user_said(pending);
            self.farewell = farewell;
        }
    }

    /// The user's message is known already.
    fn user_said(&mut self, message: &str) {
        if !matches!(self.next, Next::Done(_)) {
            self.next = Next::SayToAgent(message.to_owned());
        }
    }

    /// How the conversation ends when the message that comes next is answered, where the persona signed off in it.
    pub fn farewell(&self) -> Option<&Ending> {
        self.farewell.as_ref()
    }

    /// The transcript so far.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The transcript.
    pub fn into_transcript(self) -> Transcript {
        self.transcript
    }

    /// The persona has replied. A reply without a message is a sign-off. Ignored unless after [`Next::AskPersona`].
    pub fn persona_replied(&mut self, reply: PersonaReply) {
        if self.next != Next::AskPersona {
            return;
        }
        let farewell = Ending::SignedOff { reason: reply.reason };
        self.next = match reply.message {
            Some(message) => {
                self.farewell = reply.done.then_some(farewell);
                Next::SayToAgent(message)
            }
            None => Next::Done(farewell),
        };
    }

    /// The agent has replied. The turn's number and user message are set to what they must be. A turn without a reply
    /// is a failure. Ignored but after [`Next::SayToAgent`].
    pub fn agent_replied(&mut self, turn: Turn) {
        if turn.agent.is_none() {
            return self.agent_failed(turn, "the agent gave no reply");
        }
        if self.record(turn) {
            self.next = self.after_reply();
        }
    }

    /// The agent has failed to reply, to the end of the retries; the turn holds the tries. Ignored but after
    /// [`Next::SayToAgent`].
    pub fn agent_failed(&mut self, turn: Turn, error: impl Into<String>) {
        if self.record(Turn { agent: None, latency_ms: None, ..turn }) {
            self.next = Next::Done(Ending::AgentFailed { error: error.into() });
        }
    }

    /// The time limit of the conversation, in seconds, has run out. A message on its way that was answered or failed is
    /// passed in before; one that was not even sent is not part of the transcript. An ending that is there stays.
    pub fn time_ran_out(&mut self, seconds: f64) {
        if !matches!(self.next, Next::Done(_)) {
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
        match self.farewell.take() {
            Some(ending) => Next::Done(ending),
            None => self.user_turn(),
        }
    }

    /// The user's next message, while there is one and room for it.
    fn user_turn(&mut self) -> Next {
        let room = self.has_room();
        if let Some(line) = self.opening.next() {
            return if room { Next::SayToAgent(line) } else { Next::Done(Ending::MaxTurns) };
        }
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
mod tests;
