//! Figures of a conversation that have no threshold: they inform, and are no part of a score.
//!
//! ADK has four of them, as means over the turns. A figure that was not reported is missing, never 0.

use serde::Serialize;

use super::{EventKind, Transcript, Turn};

/// A figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureKind {
    /// Calls of tools.
    ToolCalls,
    /// Requests to the agent's model.
    ModelCalls,
    /// Tokens of the model's requests and replies.
    Tokens,
    /// Seconds as the user would wait.
    Seconds,
}

impl FigureKind {
    /// All of them, in the order in which they are shown.
    pub const ALL: [FigureKind; 4] =
        [FigureKind::ToolCalls, FigureKind::ModelCalls, FigureKind::Tokens, FigureKind::Seconds];

    /// As people read it.
    pub fn as_str(self) -> &'static str {
        match self {
            FigureKind::ToolCalls => "tool calls",
            FigureKind::ModelCalls => "model calls",
            FigureKind::Tokens => "tokens",
            FigureKind::Seconds => "seconds",
        }
    }

    /// As JSON spells it.
    pub fn key(self) -> &'static str {
        match self {
            FigureKind::ToolCalls => "toolCalls",
            FigureKind::ModelCalls => "modelCalls",
            FigureKind::Tokens => "tokens",
            FigureKind::Seconds => "seconds",
        }
    }

    /// ADK's name of it.
    pub fn adk_name(self) -> &'static str {
        match self {
            FigureKind::ToolCalls => "tool_call_count_v1",
            FigureKind::ModelCalls => "inference_call_count_v1",
            FigureKind::Tokens => "token_usage_v1",
            FigureKind::Seconds => "invocation_duration_v1",
        }
    }

    /// The one with ADK's name.
    pub fn from_adk_name(name: &str) -> Option<FigureKind> {
        FigureKind::ALL.into_iter().find(|kind| kind.adk_name() == name)
    }

    /// Its value in one turn; `None` where the agent did not report it.
    pub fn of_turn(self, turn: &Turn) -> Option<f64> {
        match self {
            FigureKind::ToolCalls => {
                let is_call = |kind: &EventKind| matches!(kind, EventKind::FunctionCall(_));
                Some(turn.events.iter().filter(|event| is_call(&event.kind)).count() as f64)
            }
            FigureKind::ModelCalls => turn.usage.map(|usage| usage.calls as f64),
            FigureKind::Tokens => {
                let usage = turn.usage?;
                // One of the two alone is what is known.
                let known: Vec<u64> = [usage.input_tokens, usage.output_tokens].into_iter().flatten().collect();
                (!known.is_empty()).then(|| known.iter().map(|it| *it as f64).sum())
            }
            FigureKind::Seconds => Some(thousandths(turn.spent_ms.or(turn.latency_ms)? / 1000.0)),
        }
    }
}

/// A figure of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationFigure {
    /// Which.
    pub kind: FigureKind,
    /// The value for each user turn.
    pub per_turn: Vec<Option<f64>>,
    /// The total over the turns with a known value; `None` if there are none.
    pub total: Option<f64>,
    /// The average: tokens over all turns, the others over the turns with a known value, as ADK does it.
    pub mean: Option<f64>,
}

/// All figures of a conversation. Its number of turns is that of each one's `per_turn`; the agent's greeting is none.
pub fn figures(turns: &[Turn]) -> Vec<ConversationFigure> {
    FigureKind::ALL.into_iter().map(|kind| figure(kind, turns)).collect()
}

/// One figure of a conversation.
pub fn figure(kind: FigureKind, turns: &[Turn]) -> ConversationFigure {
    let per_turn: Vec<Option<f64>> = turns.iter().filter(|it| !it.is_greeting()).map(|it| kind.of_turn(it)).collect();
    let known: Vec<f64> = per_turn.iter().flatten().copied().collect();
    let total = (!known.is_empty()).then(|| known.iter().sum::<f64>());
    let (divisor, rounded): (usize, fn(f64) -> f64) = match kind {
        FigureKind::Tokens => (per_turn.len(), |mean| mean),
        FigureKind::Seconds => (known.len(), thousandths),
        _ => (known.len(), |mean| mean),
    };
    ConversationFigure { kind, mean: total.map(|total| rounded(total / divisor.max(1) as f64)), total, per_turn }
}

/// The figures of conversations together: of all their turns.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FigureTotals {
    /// How many turns of users there were.
    pub turns: usize,
    totals: [Option<f64>; FigureKind::ALL.len()],
}

impl FigureTotals {
    /// Takes in a conversation.
    pub fn add(&mut self, transcript: &Transcript) {
        self.turns += transcript.turns.iter().filter(|turn| !turn.is_greeting()).count();
        for (sum, figure) in self.totals.iter_mut().zip(figures(&transcript.turns)) {
            // Rounded, the sum is the same in whichever order conversations end.
            *sum = figure.total.map(|total| thousandths(sum.unwrap_or_default() + total)).or(*sum);
        }
    }

    /// One of them; `None` where it is known of no turn.
    pub fn total(&self, kind: FigureKind) -> Option<f64> {
        FigureKind::ALL.iter().position(|known| *known == kind).and_then(|place| self.totals[place])
    }

    /// Calls of tools and of the agent's model, where there were some: `3 tool calls`.
    pub fn calls(&self) -> impl Iterator<Item = String> {
        let words = |kind: FigureKind| {
            let total = self.total(kind).filter(|total| *total > 0.0)?;
            let noun = if total == 1.0 { kind.as_str().trim_end_matches('s') } else { kind.as_str() };
            Some(format!("{total} {noun}"))
        };
        [FigureKind::ToolCalls, FigureKind::ModelCalls].into_iter().filter_map(words)
    }
}

/// A figure of a conversation as a document has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FigureDocument {
    /// Its name.
    pub name: &'static str,
    /// ADK's name of it.
    pub adk_name: &'static str,
    /// The total over the turns with a known value; `None` if there are none.
    pub total: Option<f64>,
    /// On average over the turns.
    pub mean: Option<f64>,
}

impl From<ConversationFigure> for FigureDocument {
    fn from(figure: ConversationFigure) -> FigureDocument {
        let ConversationFigure { kind, total, mean, .. } = figure;
        FigureDocument { name: kind.key(), adk_name: kind.adk_name(), total, mean }
    }
}

/// To three decimals.
fn thousandths(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::{Event, Usage};

    fn conversation() -> Vec<Turn> {
        let call = || Event::call("f", json!({}), json!({}));
        let usage = Usage { calls: 2, input_tokens: Some(100), output_tokens: Some(20), ..Usage::default() };
        vec![
            Turn { number: 0, user: String::new(), latency_ms: Some(9.0), ..Turn::answered(0, "", "Welcome") },
            Turn {
                events: vec![call(), call(), Event::response(json!(1), json!(1))],
                usage: Some(usage),
                latency_ms: Some(1000.0),
                spent_ms: Some(1500.4),
                ..Turn::answered(1, "a", "b")
            },
            Turn { events: vec![call()], ..Turn::answered(2, "a", "b") },
        ]
    }

    #[test]
    fn figures_are_of_the_users_turns_and_what_was_not_reported_is_missing() {
        let shown: Vec<_> =
            figures(&conversation()).into_iter().map(|it| (it.kind.as_str(), it.per_turn, it.total, it.mean)).collect();
        assert_eq!(
            shown,
            [
                ("tool calls", vec![Some(2.0), Some(1.0)], Some(3.0), Some(1.5)),
                ("model calls", vec![Some(2.0), None], Some(2.0), Some(2.0)),
                ("tokens", vec![Some(120.0), None], Some(120.0), Some(60.0)),
                ("seconds", vec![Some(1.5), None], Some(1.5), Some(1.5)),
            ]
        );
        for figure in figures(&[]) {
            assert_eq!((figure.total, figure.mean, figure.per_turn.len()), (None, None, 0));
        }
        let none = figure(FigureKind::Tokens, &[Turn { usage: Some(Usage::default()), ..Turn::answered(1, "a", "b") }]);
        assert_eq!((none.total, none.mean), (None, None));
    }

    #[test]
    fn conversations_are_added_up_and_what_nobody_reported_is_not_0() {
        let mut totals = FigureTotals::default();
        let silent = Transcript { turns: vec![Turn::begun(1, String::new())] };
        totals.add(&silent);
        assert_eq!((totals.turns, totals.total(FigureKind::Tokens)), (1, None));
        assert_eq!(totals.calls().count(), 0);
        totals.add(&Transcript { turns: conversation() });
        totals.add(&silent);
        assert_eq!((totals.turns, totals.total(FigureKind::Tokens)), (4, Some(120.0)));
        assert_eq!(totals.calls().collect::<Vec<_>>(), ["3 tool calls", "2 model calls"]);
    }

    #[test]
    fn adks_names_are_known() {
        for kind in FigureKind::ALL {
            assert_eq!(FigureKind::from_adk_name(kind.adk_name()), Some(kind));
        }
        assert_eq!(FigureKind::from_adk_name("safety_v1"), None);
    }
}
