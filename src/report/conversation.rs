//! A conversation, message by message, with the agent's reports about its work.

use std::fmt::Write;

use super::{Ink, TrialNames, count, duration, plain, thousands};
use crate::evidence::{
    AgentOutput, AskedQuestion, Change, Ending, Event, EventKind, FailedAttempt, GuardFinding, Observed, PersonaFault,
    Speaker, UserToolCall,
};
use crate::record::{ModelDivergence, Overview, TrialRecord};

/// Where a conversation and that of the run's first model part.
pub fn divergence(divergence: &ModelDivergence, ink: Ink) -> String {
    let ModelDivergence { from, turn, by } = divergence;
    let from = plain(from);
    let words = match (turn, by) {
        (Some(turn), Some(by)) => {
            let place = if *turn == 0 { "the greeting".to_owned() } else { format!("turn {turn}") };
            let whose = if *by == Speaker::Agent { "the agent's reply" } else { "the user's message" };
            format!("parts from the conversation with {from} at {place}, with {whose}")
        }
        _ => format!("user and agent say the same as in the conversation with {from}"),
    };
    format!("   {}\n", ink.dim(&words))
}

/// A trial's conversation; empty where there was none.
pub fn conversation(run: &Overview, trial: &TrialRecord, ink: Ink, length: PromptLength) -> String {
    let mut page = String::new();
    if trial.evidence.is_none()
        && trial.agent_output.is_none()
        && trial.discarded.is_empty()
        && trial.replaced.is_empty()
    {
        return page;
    }
    let _ = writeln!(page, "{}", ink.bold(&title(run, trial)));
    for discarded in &trial.discarded {
        let turns = discarded.evidence.as_ref().map_or(0, |evidence| evidence.transcript.turns.len());
        let words = format!("ran before for {} and was discarded: {}", count(turns, "turn"), plain(&discarded.error));
        let _ = writeln!(page, "   {}", ink.unsure(&words));
    }
    for replaced in &trial.replaced {
        let turns = replaced.evidence.as_ref().map_or(0, |evidence| evidence.transcript.turns.len());
        let why = match &replaced.outcome {
            None => "cut off".to_owned(),
            Some(outcome) => {
                format!("{}: {}", outcome.label(), plain(outcome.error().unwrap_or("a figure was missing")))
            }
        };
        let words = format!("ran before for {} and was replaced when the run was resumed: {why}", count(turns, "turn"));
        let _ = writeln!(page, "   {}", ink.unsure(&words));
    }
    for continued in &trial.continued {
        let stopped = continued.stopped_at.map_or_else(String::new, |at| {
            format!(", stopped for {}", duration((continued.at - at).num_milliseconds().max(0) as f64 / 1000.0))
        });
        let words = format!("continued in the agent's session{stopped}: what the agent had forgotten by then counts");
        let _ = writeln!(page, "   {}", ink.unsure(&words));
    }
    let faults = trial.evidence.iter().flat_map(|evidence| &evidence.persona_faults).collect::<Vec<_>>();
    let tool_calls = trial.evidence.iter().flat_map(|evidence| &evidence.user_tool_calls).collect::<Vec<_>>();
    let changes = match trial.evidence.as_ref().and_then(|evidence| evidence.changes.as_ref()) {
        Some(Observed::Seen(changes)) => changes.as_slice(),
        _ => &[],
    };
    let of_turn = |page: &mut String, turn: u32, late: bool| {
        for change in changes.iter().filter(|change| (change.when().turn, change.when().late) == (turn, late)) {
            let _ = writeln!(page, "   {}", self::change(change, ink));
        }
    };
    for turn in trial.evidence.iter().flat_map(|evidence| &evidence.transcript.turns) {
        for fault in faults.iter().filter(|fault| fault.turn == turn.number) {
            let _ = writeln!(page, "   {}", ink.unsure(&not_sent(fault)));
        }
        for call in tool_calls.iter().filter(|call| call.turn == turn.number) {
            let _ = writeln!(page, "   {}", user_tool_call(call, ink, length));
        }
        if !turn.is_greeting() {
            let _ = writeln!(
                page,
                "{} {}",
                ink.bold(&format!("{}. {}:", turn.number, plain(&run.summary.provenance.persona))),
                indented(&turn.user)
            );
        }
        for failure in &turn.failures {
            let _ = writeln!(
                page,
                "   {}",
                ink.unsure(&format!("a try failed{}: {}{}", time(failure), plain(&failure.error), excuse(failure)))
            );
        }
        for event in &turn.events {
            let _ = writeln!(page, "   {}", self::event(event, ink).replace('\n', "\n   "));
        }
        if let Some(text) = &turn.agent {
            let latency = turn.latency_ms.unwrap_or_default();
            let _ = writeln!(page, "   {} {}", ink.bold(&format!("agent ({latency:.0} ms):")), indented(text));
        }
        of_turn(&mut page, turn.number, false);
        of_turn(&mut page, turn.number, true);
    }
    if let Some(Ending::SignedOff { reason: Some(reason) }) = trial.evidence.as_ref().map(|evidence| &evidence.ending) {
        let _ = writeln!(page, "   {}", ink.dim(&format!("the user left: {}", plain(reason))));
    }
    let last = trial.evidence.iter().flat_map(|evidence| &evidence.transcript.turns).map(|turn| turn.number).max();
    for fault in faults.iter().filter(|fault| fault.turn > last.unwrap_or_default()) {
        let _ = writeln!(page, "   {}", ink.unsure(&not_sent(fault)));
    }
    for call in tool_calls.iter().filter(|call| call.turn > last.unwrap_or_default()) {
        let _ = writeln!(page, "   {}", user_tool_call(call, ink, length));
    }
    if let Some(pending) = &trial.pending {
        let _ = writeln!(page, "   {} {}", ink.unsure("on its way:"), indented(pending));
    }
    if let Some(output) = &trial.agent_output {
        page.push_str(&printed(output, ink));
    }
    page.push('\n');
    page
}

/// A message of the persona that was not sent, and why.
fn not_sent(fault: &PersonaFault) -> String {
    let found_by = |it: &GuardFinding| it.found_by.as_ref().map(|by| format!(", found by {}", plain(by)));
    let one =
        |it: &GuardFinding| format!("{}{}: {}", it.guard.label(), found_by(it).unwrap_or_default(), plain(&it.why));
    let why = fault.findings.iter().map(one).collect::<Vec<_>>();
    format!("not sent ({}): {}", why.join("; "), indented(&fault.text))
}

/// The most characters that are shown of a call that is folded.
const LONGEST_CALL: usize = 2_000;

/// A call of the user's own tools, with its result and what it changed in the graph.
pub fn user_tool_call(call: &UserToolCall, ink: Ink, length: PromptLength) -> String {
    let kind = ink.paint(anstyle::AnsiColor::Cyan.on_default(), "[user's tool]");
    let changes = call.changes.iter().map(|change| format!("\n     {}", self::change(change, ink)));
    let text = user_tool_text(call);
    let text = match text.char_indices().nth(LONGEST_CALL).filter(|_| length == PromptLength::Folded) {
        None => indented(&text),
        Some((end, _)) => {
            let more =
                format!("({} more characters; show -vv has them)", thousands(text[end..].chars().count() as u64));
            format!("{}… {}", indented(&text[..end]), ink.dim(&more))
        }
    };
    format!("{kind} {text}{}", changes.collect::<String>())
}

/// The words for a call of the user's own tools.
pub(super) fn user_tool_text(call: &UserToolCall) -> String {
    let result = if call.result.is_some() { call.result_text() } else { "no result".to_owned() };
    format!("{} {} → {result}", call.name, call.arguments)
}

/// The title of a trial above its conversation.
pub(super) fn title(run: &Overview, trial: &TrialRecord) -> String {
    let (names, id) = (TrialNames::from_run(run), &trial.trial);
    let case = if names.tell_cases() { format!("{} · ", plain(&id.case)) } else { String::new() };
    let repeat = if names.are_grouped() { format!(" · {}", id.repeat) } else { String::new() };
    format!("{case}{} · {}{repeat}", plain(&id.model), id.condition.label())
}

/// How much of long texts is shown: of the judge's prompts, and of results of the user's own tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptLength {
    /// The first words: most of a prompt is the conversation, which is shown anyway.
    Folded,
    /// All of it.
    Whole,
}

impl PromptLength {
    /// How many characters are shown of a prompt that is folded.
    const FOLDED: usize = 120;

    fn of(self, prompt: &str, ink: Ink) -> String {
        let line = plain(&prompt.split_whitespace().collect::<Vec<_>>().join(" "));
        let first: String = line.chars().take(Self::FOLDED).collect();
        if self == PromptLength::Whole || first.len() == line.len() {
            return indented(prompt);
        }
        let words = count(prompt.split_whitespace().count(), "word");
        format!("{first}… {}", ink.dim(&format!("({words}; -vv shows them)")))
    }
}

/// The judge's questions about a trial and its replies; empty where no judge was asked.
pub fn judging(trial: &TrialRecord, ink: Ink, prompts: PromptLength) -> String {
    let mut page = String::new();
    for judgement in &trial.judgements {
        let asked = |asked: &&AskedQuestion| asked.is_answered_by(judgement);
        if let Some(asked) = trial.questions.iter().find(asked) {
            let prompt = asked.prompt.as_deref().map_or_else(
                || ink.unsure("what it was asked can't be rendered again to the byte from what was kept"),
                |prompt| prompts.of(prompt, ink),
            );
            let _ = writeln!(page, "   {} {prompt}", ink.bold("the judge was asked:"));
        }
        for (raw, why) in &judgement.rejected {
            let _ = writeln!(page, "   {} {}", ink.unsure(&format!("unusable ({}):", plain(why))), indented(raw));
        }
        let reply = match &judgement.reply {
            Observed::Seen(raw) => indented(raw),
            Observed::Failed(error) => ink.unsure(&plain(error)),
        };
        let cached = if judgement.is_cached { " (from the cache)" } else { "" };
        let _ = writeln!(page, "   {} {reply}", ink.bold(&format!("{}{cached}:", plain(&judgement.judge))));
    }
    if !page.is_empty() {
        page.push('\n');
    }
    page
}

/// The note that a try does not count, and why; empty where it does.
pub fn excuse(failure: &FailedAttempt) -> String {
    failure.excuse.as_ref().map(|why| format!("; it does not count: {}", plain(why))).unwrap_or_default()
}

/// The time that a try took away, where it is known.
fn time(failure: &FailedAttempt) -> String {
    let waited = failure.waited_ms.map(|ms| format!(", then {ms:.0} ms of waiting")).unwrap_or_default();
    failure.took_ms.map(|ms| format!(" ({ms:.0} ms{waited})")).unwrap_or_default()
}

/// How many of the last lines of what an agent printed are shown.
const LINES: usize = 40;

/// How much of such a line is shown.
const LINE: usize = 300;

/// The end of the agent's output, where its errors stand.
fn printed(output: &AgentOutput, ink: Ink) -> String {
    let text = format!("{}\n{}", output.beginning, output.end);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let left_out = lines.len().saturating_sub(LINES);
    let mut page = format!("   {}\n", ink.bold("the agent printed:"));
    if output.dropped_bytes > 0 || left_out > 0 {
        let dropped = match output.dropped_bytes {
            0 => String::new(),
            bytes => format!(" and {bytes} bytes that were not kept"),
        };
        let before = count(left_out, "line");
        let _ = writeln!(page, "   {}", ink.dim(&format!("… {before} before these, in the record{dropped}")));
    }
    for line in &lines[left_out..] {
        // On one line, but with the spaces by which logs are aligned.
        let line = plain(line);
        let cut: String = line.chars().take(LINE).collect();
        let more = if cut.len() < line.len() { "…" } else { "" };
        let _ = writeln!(page, "   | {cut}{more}");
    }
    page
}

/// An event of the agent's work: each kind has a name and a colour of its own.
pub fn event(event: &Event, ink: Ink) -> String {
    use anstyle::AnsiColor::{Blue, Cyan, Green, Magenta, Yellow};
    let colour = match &event.kind {
        EventKind::SystemPrompt { .. } => Magenta,
        EventKind::GraphRequest { .. } => Blue,
        EventKind::FunctionCall(_) => Cyan,
        EventKind::FunctionResponse { .. } => Green,
        EventKind::Other { .. } => Yellow,
    };
    let (kind, text) = event_text(event);
    format!("{} {}", ink.paint(colour.on_default(), &format!("[{kind}]")), indented(&text))
}

/// The kind of an event, and its text.
pub(super) fn event_text(event: &Event) -> (&'static str, String) {
    match &event.kind {
        EventKind::SystemPrompt { text } => ("system prompt", text.clone()),
        EventKind::GraphRequest { content, summary_direction } => {
            let direction = summary_direction.as_deref().map(|direction| format!(" ({direction})")).unwrap_or_default();
            ("graph request", format!("{content}{direction}"))
        }
        EventKind::FunctionCall(call) => ("function call", format!("{} {}", call.function, call.args)),
        EventKind::FunctionResponse { output } => {
            ("function response", output.as_str().map_or_else(|| output.to_string(), str::to_owned))
        }
        EventKind::Other { .. } if event.is_replied => ("event", "the reply was sent here".to_owned()),
        EventKind::Other { data } => ("event", data.to_string()),
    }
}

/// A change of the graph: `+` created, `-` deleted, `~` changed.
pub fn change(change: &Change, ink: Ink) -> String {
    let late = if change.when().late { ink.dim("  after the reply") } else { String::new() };
    let text = plain(&change.to_string());
    let line = match change {
        Change::Created { .. } => ink.good(&format!("+ {text}")),
        Change::Deleted { .. } => ink.bad(&format!("- {text}")),
        Change::Changed { .. } => ink.unsure(&format!("~ {text}")),
    };
    format!("{line}{late}")
}

fn indented(text: &str) -> String {
    plain(text).trim_end().replace('\n', "\n   ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_try_has_the_time_that_is_known_of_it() {
        for (took_ms, waited_ms, expected) in [
            (Some(12.4), Some(103.0), " (12 ms, then 103 ms of waiting)"),
            (Some(12.6), None, " (13 ms)"),
            (None, None, ""),
        ] {
            let failed = FailedAttempt { took_ms, waited_ms, ..FailedAttempt::untimed("HTTP 500".to_owned(), true) };
            assert_eq!(time(&failed), expected);
        }
    }
}
