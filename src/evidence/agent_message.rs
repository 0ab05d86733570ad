//! The agent's messages in a turn, and which calls of tools came before each.

use serde_json::{Value, json};

use super::{Event, EventKind, Transcript, Turn};

/// The key of an event that is a message of the agent's before its final reply: the text.
const INTERMEDIATE: &str = "intermediate";

/// A message of the agent's in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentMessage<'a> {
    /// The text.
    pub text: &'a str,
    /// How many calls of this turn came before it.
    pub after_calls: usize,
    /// Whether it is the final reply.
    pub is_reply: bool,
}

impl Event {
    /// A message of the agent's before its final reply.
    pub fn intermediate(text: &str, author: &str) -> Event {
        Event::other(json!({ INTERMEDIATE: text, "author": author }))
    }

    /// The text of a message of the agent's before its final reply.
    pub fn intermediate_text(&self) -> Option<&str> {
        match &self.kind {
            EventKind::Other { data } => data.get(INTERMEDIATE).and_then(Value::as_str),
            _ => None,
        }
    }

    /// The agent that said it, of several, where it is a message before the final reply.
    pub fn intermediate_author(&self) -> Option<&str> {
        match &self.kind {
            EventKind::Other { data } => data.get("author").and_then(Value::as_str),
            _ => None,
        }
    }
}

impl Turn {
    /// The agent's messages that are not blank, in order: those before its final reply, and that reply, which comes after all calls
    /// unless an event tells otherwise.
    pub fn agent_messages(&self) -> Vec<AgentMessage<'_>> {
        let mut messages = Vec::new();
        let mut calls = 0;
        let mut reply = self.agent.as_deref();
        for event in &self.events {
            calls += usize::from(matches!(event.kind, EventKind::FunctionCall(_)));
            let is_reply = event.is_replied;
            let text = if is_reply { reply.take() } else { event.intermediate_text() };
            messages.extend(text.map(|text| AgentMessage { text, after_calls: calls, is_reply }));
        }
        messages.extend(reply.map(|text| AgentMessage { text, after_calls: calls, is_reply: true }));
        messages.retain(|message| !message.text.trim().is_empty());
        messages
    }
}

impl Transcript {
    /// Whether a message of the agent's came before a call of the same turn.
    pub fn has_message_before_call(&self) -> bool {
        let is_one = |turn: &Turn| {
            let calls = turn.call_count();
            turn.agent_messages().iter().any(|message| message.after_calls < calls)
        };
        self.turns.iter().any(is_one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(agent: &str, events: Vec<Event>) -> (Vec<(String, usize)>, bool) {
        let turn = Turn { events, ..Turn::answered(1, "Hi", agent) };
        let messages = turn.agent_messages();
        let messages = messages.iter().map(|it| (it.text.to_owned(), it.after_calls)).collect();
        (messages, Transcript { turns: vec![turn] }.has_message_before_call())
    }

    #[test]
    fn messages_come_in_order_with_the_calls_before_them() {
        let call = || Event::call("get", json!({}), json!(null));
        let said = |text: &str| Event::intermediate(text, "a");
        let text = |text: &str, calls: usize| (text.to_owned(), calls);
        assert_eq!(messages("done", vec![call()]), (vec![text("done", 1)], false));
        assert_eq!(
            messages("done", vec![said("wait"), call(), said(" "), call()]),
            (vec![text("wait", 0), text("done", 2)], true)
        );
        assert_eq!(messages("done", vec![call(), said("so")]), (vec![text("so", 1), text("done", 1)], false));
        assert_eq!(messages("done", vec![call(), Event::replied(), call()]), (vec![text("done", 1)], true));
        assert_eq!(messages(" ", vec![call()]), (Vec::new(), false));
    }
}
