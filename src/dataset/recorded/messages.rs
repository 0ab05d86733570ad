//! A history of messages, as models see it → turns.

use std::borrow::Cow;

use crate::dataset::NO_TEXT;
use crate::dataset::model::{DatasetCall, RecordedTurn};

/// A warning on messages of which not all is read.
pub(super) const OTHER_PARTS: &str = "parts of messages that are no text, such as images, are left out";

/// One message of a history.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct HistoryMessage {
    /// `user`, `assistant`, `tool`, `system` or another.
    pub(super) role: Cow<'static, str>,
    /// Its whole text.
    pub(super) text: Option<String>,
    /// The parts of its text, each with the number of its calls before it, where the message tells that. Without them the text comes
    /// before the calls.
    pub(super) placed: Vec<(usize, String)>,
    /// The calls that it asks for.
    pub(super) calls: Vec<DatasetCall>,
    /// The results that it brings.
    pub(super) results: Vec<DatasetCall>,
    /// Whether it has parts that are no text, no call and no result: images, files.
    pub(super) has_others: bool,
}

impl HistoryMessage {
    /// Adds a part of its text, behind the calls so far.
    pub(super) fn add_text(&mut self, part: String) {
        let whole = self.text.get_or_insert_default();
        if !whole.is_empty() {
            whole.push('\n');
        }
        whole.push_str(&part);
        match self.placed.last_mut().filter(|(before, _)| *before == self.calls.len()) {
            Some((_, text)) => {
                text.push('\n');
                text.push_str(&part);
            }
            None => self.placed.push((self.calls.len(), part)),
        }
    }
}

/// The turns of a history: each message of the user begins one, and the last text of the agent in it is the reply.
pub(super) fn turns_of(history: Vec<HistoryMessage>) -> Vec<RecordedTurn> {
    let mut turns: Vec<RecordedTurn> = Vec::new();
    for message in history {
        match message.role.as_ref() {
            "system" | "developer" => continue,
            "user" if message.results.is_empty() || message.text.is_some() => {
                let unsaid = if message.has_others { NO_TEXT } else { "" };
                let user = message.text.unwrap_or_else(|| unsaid.to_owned());
                turns.push(RecordedTurn { user, ..RecordedTurn::default() });
            }
            _ => {
                if turns.is_empty() {
                    turns.push(RecordedTurn::default());
                }
                let Some(turn) = turns.last_mut() else { continue };
                let is_agent = message.role != "tool" && message.role != "function" && message.role != "user";
                let placed = match message.placed.is_empty() {
                    true => message.text.map(|text| (0, text)).into_iter().collect(),
                    false => message.placed,
                };
                let mut texts = placed.into_iter().filter(|(_, text)| is_agent && !text.is_empty()).peekable();
                for (place, call) in message.calls.into_iter().enumerate() {
                    while let Some((_, text)) = texts.next_if(|(before, _)| *before <= place) {
                        turn.say(&message.role, Some(text));
                    }
                    turn.calls.push(DatasetCall { is_parallel: place > 0, ..call });
                }
                texts.for_each(|(_, text)| turn.say(&message.role, Some(text)));
            }
        }
        for result in message.results {
            // A call that an earlier turn left without a result waits no longer where this one has a call that does.
            let earlier = turns.len().saturating_sub(1);
            if !answer(&mut turns[earlier..], result.clone()) {
                answer(&mut turns, result);
            }
        }
    }
    turns
}

/// Gives a result to its call: the one with its id, else the first that waits, of its name where it has one. `false` where there is
/// no such call.
pub(super) fn answer(turns: &mut [RecordedTurn], result: DatasetCall) -> bool {
    let mut calls = turns.iter_mut().flat_map(|turn| &mut turn.calls);
    let call = match &result.id {
        // Ids may come again, within a turn and in a later one: the first of them that waits, else the last.
        Some(id) => {
            let mut of_id: Vec<&mut DatasetCall> = calls.filter(|call| call.id.as_ref() == Some(id)).collect();
            let waits = of_id.iter().position(|call| call.result.is_none());
            waits.or(of_id.len().checked_sub(1)).map(|at| of_id.swap_remove(at))
        }
        None => calls.find(|call| call.result.is_none() && (result.tool.is_empty() || call.tool == result.tool)),
    };
    let Some(call) = call else { return false };
    call.result = result.result;
    true
}
