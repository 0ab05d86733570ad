//! Which part of the conversation belongs to which task.

use std::ops::Range;

use super::words::{Bag, content_words};

/// One message of the judged conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) by_agent: bool,
    pub(super) text: String,
}

/// For each task the messages from the one that brings it up to where the next task begins; `None` when no user message
/// does. Tasks are brought up in order; a message brings up one task at most.
pub(super) fn stretches(asks: &[String], conversation: &[Said]) -> Vec<Option<Range<usize>>> {
    let mut starts: Vec<Option<usize>> = Vec::new();
    let mut from = 0;
    for ask in asks {
        let start = best_start(ask, conversation, from);
        from = start.map_or(from, |start| start + 1);
        starts.push(start);
    }
    (0..asks.len())
        .map(|task| {
            let start = starts[task]?;
            let end = starts[task + 1..].iter().flatten().next().copied().unwrap_or(conversation.len());
            Some(start..end)
        })
        .collect()
}

/// The share of a task's words that a message must have to bring it up.
const ENOUGH: f64 = 0.5;

fn best_start(ask: &str, conversation: &[Said], from: usize) -> Option<usize> {
    let words = content_words(ask);
    let mut best: Option<(f64, usize)> = None;
    for (at, said) in conversation.iter().enumerate().skip(from).filter(|(_, said)| !said.by_agent) {
        let coverage = Bag::of(&said.text).coverage(&words);
        if coverage >= ENOUGH && best.is_none_or(|(so_far, _)| coverage > so_far) {
            best = Some((coverage, at));
        }
    }
    best.map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(lines: &[&str]) -> Vec<Said> {
        lines.iter().enumerate().map(|(at, text)| Said { by_agent: at % 2 == 1, text: (*text).to_owned() }).collect()
    }

    fn found(asks: &[&str], lines: &[&str]) -> Vec<Option<Range<usize>>> {
        let asks: Vec<String> = asks.iter().map(|ask| (*ask).to_owned()).collect();
        stretches(&asks, &conversation(lines))
    }

    #[test]
    fn a_stretch_runs_to_the_next_task() {
        let lines = ["Hello", "Hi", "Please order boots", "Which size?", "43", "Ordered", "And is it sunny?", "Yes"];
        assert_eq!(found(&["Order boots", "Ask whether it is sunny"], &lines), [Some(2..6), Some(6..8)]);
    }

    #[test]
    fn a_task_that_was_not_brought_up_has_none() {
        let lines = ["Hello", "Hi", "Is it sunny?", "Yes"];
        assert_eq!(found(&["Order boots", "Ask whether it is sunny"], &lines), [None, Some(2..4)]);
    }

    #[test]
    fn tasks_alike_are_told_apart_by_order() {
        let lines = ["Please order boots", "Done", "Please order boots", "Done"];
        assert_eq!(found(&["Order boots", "Order boots"], &lines), [Some(0..2), Some(2..4)]);
    }
}
