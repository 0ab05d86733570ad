//! The tasks and assertions of one trial that failed.

use super::{one_line, two_decimals};
use crate::score::Scorecard;

/// How much of a label is shown.
const LABEL: usize = 60;

/// Each task and assertion that failed, in a few words: `task 2 (0.31) Ask …`, `assertion 1 one echo a turn`.
pub fn failed_parts(card: &Scorecard) -> Vec<String> {
    let mut failed = Vec::new();
    for dimension in &card.dimensions {
        let kind = match dimension.name.as_str() {
            name @ ("tasks" | "assertions") => name.trim_end_matches('s'),
            name => name,
        };
        let line = dimension.pass_line();
        let items = dimension.items.iter().enumerate().filter(|(_, item)| item.has_failed(line));
        for (place, item) in items {
            let score = item.component.score().filter(|_| dimension.metric() != "assertions");
            let score = score.map(|score| format!(" ({})", two_decimals(score.get()))).unwrap_or_default();
            failed.push(format!("{kind} {}{score} {}", place + 1, one_line(&item.label, LABEL)));
        }
    }
    failed
}
