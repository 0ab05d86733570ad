//! Messages that were said before a conversation, or before one of its turns.

use serde_json::{Value, json};

use super::{LowerOptions, filled};
use crate::dataset::{CaseUser, ContextFile, ContextMessage, DatasetCase, UserLine};

/// Whether messages are put before the conversation or a turn of it.
pub(super) fn has_context(case: &DatasetCase) -> bool {
    !case.session.context.is_empty() || lines(case).iter().any(|line| !line.context.is_empty())
}

fn lines(case: &DatasetCase) -> &[UserLine] {
    match &case.user {
        CaseUser::Lines(lines) => lines,
        CaseUser::Scenario(_) => &[],
    }
}

/// The messages of a turn that were not there before it: trpc-agent-go writes those of the case into each turn that it records. A turn
/// that begins with those of the case, or with all that its former turn had, has only the rest for itself.
fn own_messages(case: &DatasetCase, turn: usize) -> &[ContextMessage] {
    let lines = lines(case);
    let all = lines.get(turn).map(|line| line.context.as_slice()).unwrap_or_default();
    let former = turn.checked_sub(1).and_then(|former| lines.get(former));
    let known = [Some(&case.session.context), former.map(|line| &line.context)].into_iter().flatten();
    let own = known.filter_map(|known| all.strip_prefix(known.as_slice()));
    own.min_by_key(|own| own.len()).unwrap_or(all)
}

/// The messages that are put before a turn, from 0. The original sends none of them: it shows them to judges alone.
pub(super) fn before_turn(
    case: &DatasetCase,
    turn: usize,
    options: &LowerOptions,
    warn: &mut impl FnMut(&str),
) -> Vec<Value> {
    let own = own_messages(case, turn);
    if options.strict && !own.is_empty() && !options.is_recorded {
        warn("the messages before its turns are not sent: trpc-agent-go shows those to judges alone");
        return Vec::new();
    }
    earlier_messages(own, options, warn)
}

/// Puts messages before a line of a script.
pub(super) fn put_before(line: &mut Value, messages: Vec<Value>) {
    if messages.is_empty() {
        return;
    }
    if line.is_string() {
        *line = json!({ "say": line.take() });
    }
    line["before"] = messages.into();
}

/// The messages that are put before a conversation or a turn, as far as the transport takes them.
pub(super) fn earlier_messages(
    context: &[ContextMessage],
    options: &LowerOptions,
    warn: &mut impl FnMut(&str),
) -> Vec<Value> {
    // Nobody has to send what came before a recording.
    if context.is_empty() || options.is_recorded {
        return Vec::new();
    }
    if !options.takes_history {
        let key = &options.target.0;
        warn(&format!(
            "its context messages are not sent: a conversation with `{key}` begins empty; `openai` and `responses` take them"
        ));
        return Vec::new();
    }
    let is_known = |it: &&ContextMessage| ["user", "assistant", "system"].contains(&it.role.as_str());
    let known: Vec<&ContextMessage> = context.iter().filter(is_known).collect();
    if known.len() < context.len() {
        warn("its context has messages of tools: they are left out");
    }
    if known.iter().any(|message| !message.extra.is_empty()) {
        warn("parts of its context messages that are no text are not sent");
    }
    let known = known.into_iter().filter(|message| filled(&message.content).is_some());
    known.map(|message| json!({ "role": message.role, "content": message.content })).collect()
}

/// All of them as a text for judges: what the agent was told there it did not make up.
pub(super) fn said_before(case: &DatasetCase) -> Option<ContextFile> {
    let of_turns = (0..lines(case).len()).flat_map(|turn| own_messages(case, turn));
    let said = case.session.context.iter().chain(of_turns);
    let said = said.filter_map(|it| Some(format!("{}: {}", it.role, filled(&it.content)?.trim())));
    let text = said.collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then(|| ContextFile { name: "messages before the conversation".to_owned(), text })
}
