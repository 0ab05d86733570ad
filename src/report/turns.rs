//! A conversation in short: a few words, times, tokens, events and changes of each turn.

use std::fmt::Write;

use super::conversation::{title, user_tool_text};
use super::{Ink, count, one_line, thousands};
use crate::evidence::{Change, Observed, Turn};
use crate::record::{Overview, TrialRecord};

/// A trial's turns, each with a line of figures and a line for each side; what is in no turn is left out.
pub fn turns(run: &Overview, trial: &TrialRecord, ink: Ink, width: usize) -> String {
    let mut page = format!("{}\n", ink.bold(&title(run, trial)));
    let Some(evidence) = &trial.evidence else { return page + "  no session was opened\n\n" };
    let changes = match &evidence.changes {
        Some(Observed::Seen(changes)) => changes.as_slice(),
        _ => &[],
    };
    for turn in &evidence.transcript.turns {
        let of_turn: Vec<&Change> = changes.iter().filter(|change| change.when().turn == turn.number).collect();
        let _ = writeln!(page, "  {}. {}", turn.number, ink.dim(&figures(turn, &of_turn)));
        let room = width.saturating_sub(12).max(20);
        for call in evidence.user_tool_calls.iter().filter(|call| call.turn == turn.number) {
            let _ = writeln!(page, "     tool   {}", one_line(&user_tool_text(call), room));
        }
        if !turn.is_greeting() {
            let _ = writeln!(page, "     user   {}", one_line(&turn.user, room));
        }
        match &turn.agent {
            Some(text) => {
                let _ = writeln!(page, "     agent  {}", one_line(text, room));
            }
            None => {
                let _ = writeln!(page, "     agent  {}", ink.unsure("no reply"));
            }
        }
    }
    if let Some(pending) = &trial.pending {
        let _ = writeln!(
            page,
            "     {}  {}",
            ink.unsure("on its way"),
            one_line(pending, width.saturating_sub(17).max(20))
        );
    }
    page.push('\n');
    page
}

fn figures(turn: &Turn, changes: &[&Change]) -> String {
    let mut parts = Vec::new();
    parts.extend(turn.latency_ms.map(|ms| format!("{} ms", thousands(ms.round() as u64))));
    parts.extend(turn.first_token_ms.map(|ms| format!("first words after {} ms", thousands(ms.round() as u64))));
    if let Some((input, output)) = turn.usage.and_then(|usage| usage.input_tokens.zip(usage.output_tokens)) {
        parts.push(format!("{} tokens in, {} out", thousands(input), thousands(output)));
    }
    if !turn.failures.is_empty() {
        parts.push(match turn.failures.len() {
            1 => "1 failed try".to_owned(),
            several => format!("{several} failed tries"),
        });
    }
    if !turn.events.is_empty() {
        parts.push(count(turn.events.len(), "event"));
    }
    if !changes.is_empty() {
        parts.push(count(changes.len(), "change"));
    }
    if parts.is_empty() { "no time taken".to_owned() } else { parts.join(" · ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{FailedAttempt, Usage};

    #[test]
    fn a_turn_has_the_figures_that_are_known() {
        let turn = Turn {
            latency_ms: Some(1203.4),
            usage: Some(Usage::from_counts(Some(812), Some(96))),
            failures: vec![FailedAttempt::untimed("e".to_owned(), true)],
            ..Turn::answered(1, "a", "b")
        };
        assert_eq!(figures(&turn, &[]), "1,203 ms · 812 tokens in, 96 out · 1 failed try");
        assert_eq!(figures(&Turn::answered(1, "a", "b"), &[]), "no time taken");
    }
}
