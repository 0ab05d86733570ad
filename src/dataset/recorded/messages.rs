//! A history of messages, as models see it → turns.

use crate::dataset::model::{DatasetCall, RecordedTurn};

/// One message of a history.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Spoken {
    /// `user`, `assistant`, `tool`, `system` or another.
    pub(super) role: String,
    /// Its text.
    pub(super) text: Option<String>,
    /// The calls that it asks for.
    pub(super) calls: Vec<DatasetCall>,
    /// The results that it brings.
    pub(super) results: Vec<DatasetCall>,
}

/// The turns of a history: each message of the user begins one, and the last text of the agent in it is the reply.
pub(super) fn turns_of(history: Vec<Spoken>) -> Vec<RecordedTurn> {
    let mut turns: Vec<RecordedTurn> = Vec::new();
    for message in history {
        match message.role.as_str() {
            "system" | "developer" => continue,
            "user" if message.results.is_empty() || message.text.is_some() => {
                let user = message.text.unwrap_or_default();
                turns.push(RecordedTurn { user, ..RecordedTurn::default() });
            }
            _ => {
                if turns.is_empty() {
                    turns.push(RecordedTurn::default());
                }
                let Some(turn) = turns.last_mut() else { continue };
                let is_agent = message.role != "tool" && message.role != "function" && message.role != "user";
                if let Some(text) = message.text.filter(|text| is_agent && !text.is_empty()) {
                    turn.say(&message.role, Some(text));
                }
                let calls = message.calls.into_iter().zip(0..);
                turn.calls.extend(calls.map(|(call, place)| DatasetCall { is_parallel: place > 0, ..call }));
            }
        }
        for result in message.results {
            answer(&mut turns, result);
        }
    }
    turns
}

/// Gives a result to its call: the one with its id, else the first that waits, of its name where it has one.
pub(super) fn answer(turns: &mut [RecordedTurn], result: DatasetCall) {
    let mut calls = turns.iter_mut().flat_map(|turn| &mut turn.calls);
    let call = match &result.id {
        Some(id) => calls.rev().find(|call| call.id.as_ref() == Some(id)),
        None => calls.find(|call| call.result.is_none() && (result.tool.is_empty() || call.tool == result.tool)),
    };
    if let Some(call) = call {
        call.result = result.result;
    }
}
