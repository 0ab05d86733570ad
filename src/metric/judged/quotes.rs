//! Whether the words that a verdict rests on were said.

use std::collections::{BTreeMap, BTreeSet};

use super::{Scale, Verdict};
use crate::metric::MetricInput;
use crate::prompt::{call_text, result_text};
use crate::score::Score;
use crate::text::visible;

/// The fewest letters and digits of a quote: any text has shorter ones.
const LEAST: usize = 3;

/// What the judge was shown: the texts of each turn, and the facts and the context.
pub(super) struct Shown {
    turns: BTreeMap<u32, Vec<String>>,
    /// The agent's replies among them, where they are no evidence.
    replies: BTreeMap<u32, String>,
    beside: Vec<String>,
}

impl Shown {
    pub(super) fn new(input: &MetricInput<'_>, scale: Scale) -> Shown {
        let calls = input.transcript.tool_uses_by_turn();
        let turn = |(turn, calls): (&crate::evidence::Turn, Vec<crate::evidence::ToolUse>)| {
            let done = calls.iter().flat_map(|call| [Some(call_text(call)), call.result.as_ref().map(result_text)]);
            let said = [Some(turn.user.clone()), turn.agent.clone()].into_iter().chain(done);
            (turn.number, said.flatten().map(|text| folded(&text)).collect())
        };
        let beside = input.facts.iter().map(String::as_str).chain(input.context.iter().map(|(_, text)| *text));
        let lines = input.lines.iter().filter_map(|line| line.expected.reply.as_deref());
        let expected = lines.chain(input.expected.and_then(|expected| expected.reply.as_deref()));
        let reply = |turn: &crate::evidence::Turn| Some((turn.number, folded(turn.agent.as_deref()?)));
        let replies = input.transcript.turns.iter().filter(|_| scale == Scale::Support).filter_map(reply);
        Shown {
            replies: replies.collect(),
            turns: input.transcript.turns.iter().zip(calls).map(turn).collect(),
            beside: beside.chain(expected).map(folded).collect(),
        }
    }

    /// What is wrong with the evidence of a verdict, in a sentence; `None` where nothing is.
    pub(super) fn problem(&self, verdict: &Verdict) -> Option<String> {
        // Whether something applies is decided by what it says itself.
        if !matches!(verdict.decision, Ok(Some(_))) {
            return None;
        }
        let id = visible(&verdict.id);
        if verdict.quotes.is_empty() {
            let read: BTreeSet<u32> = verdict.turns_read.iter().copied().collect();
            let unread: Vec<String> =
                self.turns.keys().filter(|turn| !read.contains(turn)).map(ToString::to_string).collect();
            return match (read.is_empty(), unread.is_empty()) {
                (true, _) => Some(format!("The verdict on {id} quotes nothing and names no turns that were read.")),
                (_, false) => Some(format!(
                    "The verdict on {id} rests on something absent, and `turnsRead` lacks turn {}.",
                    unread.join(", ")
                )),
                _ => None,
            };
        }
        let wrong = verdict.quotes.iter().find(|(turn, text)| !self.has(*turn, text));
        let is_supported = verdict.decision == Ok(Some(Score::ONE));
        if wrong.is_none() && is_supported && verdict.quotes.iter().all(|(turn, text)| self.is_reply_alone(*turn, text))
        {
            return Some(format!("The verdict on {id} rests on the assistant's own words, which are no evidence."));
        }
        wrong.map(|(turn, text)| {
            let place = turn.map_or("the facts and the context".to_owned(), |turn| format!("turn {turn}"));
            format!("The verdict on {id} quotes \"{}\", which does not stand in {place}.", visible(&short(text)))
        })
    }

    /// Whether a quote stands in the agent's reply of a turn and in nothing else there, where replies are no evidence.
    fn is_reply_alone(&self, turn: Option<u32>, text: &str) -> bool {
        let Some((turn, reply)) = turn.and_then(|turn| Some((turn, self.replies.get(&turn)?))) else { return false };
        let others = self.turns.get(&turn).into_iter().flatten().filter(|other| *other != reply);
        !others.into_iter().any(|other| stands_in(text, std::slice::from_ref(other)))
    }

    /// Whether a text stands in a turn; with dots for what is left out, its parts do, one after the other.
    fn has(&self, turn: Option<u32>, text: &str) -> bool {
        let texts = match turn {
            Some(turn) => self.turns.get(&turn).map(Vec::as_slice).unwrap_or_default(),
            None => &self.beside,
        };
        stands_in(text, texts)
    }
}

/// Whether a text stands in one of these; with dots for what is left out, its parts do, one after the other.
fn stands_in(text: &str, texts: &[String]) -> bool {
    let quote = folded(text);
    let parts: Vec<&str> =
        quote.split("...").map(|part| part.trim_matches([' ', '"', '\''])).filter(|part| !part.is_empty()).collect();
    let is_enough = quote.chars().filter(|c| c.is_alphanumeric()).count() >= LEAST;
    let in_order = |text: &String| {
        let mut rest = text.as_str();
        parts.iter().all(|part| match rest.find(part) {
            Some(at) => {
                rest = &rest[at + part.len()..];
                true
            }
            None => false,
        })
    };
    let is_whole = || texts.contains(&quote);
    (is_enough && !parts.is_empty() && texts.iter().any(in_order)) || (!quote.is_empty() && is_whole())
}

/// The beginning of a long quote.
fn short(text: &str) -> String {
    let mut rest = text.chars();
    let part: String = rest.by_ref().take(80).collect();
    if rest.next().is_some() { part + "…" } else { part }
}

/// A text as it is compared: without case, with plain quotation marks and dots, one space between words; what a judge was shown as
/// `&lt;` and copied so is the sign itself.
fn folded(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&amp;", "&");
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '“' | '”' | '„' | '«' | '»' => folded.push('"'),
            '‘' | '’' | '‚' => folded.push('\''),
            '–' | '—' | '‑' => folded.push('-'),
            '…' => folded.push_str("..."),
            c if c.is_whitespace() => {
                if !folded.ends_with(' ') {
                    folded.push(' ');
                }
            }
            c => folded.extend(c.to_lowercase()),
        }
    }
    folded.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::{Event, Turn};
    use crate::metric::input::Example;

    fn verdict(quotes: &[(Option<u32>, &str)], turns_read: &[u32]) -> Verdict {
        Verdict {
            id: "1".to_owned(),
            found: None,
            reason: "so".to_owned(),
            quotes: quotes.iter().map(|(turn, text)| (*turn, (*text).to_owned())).collect(),
            turns_read: turns_read.to_vec(),
            decision: Ok(Some(Score::ONE)),
        }
    }

    fn problem(quotes: &[(Option<u32>, &str)], turns_read: &[u32]) -> Option<String> {
        problem_by(Scale::YesNo, quotes, turns_read)
    }

    fn problem_by(scale: Scale, quotes: &[(Option<u32>, &str)], turns_read: &[u32]) -> Option<String> {
        let mut example = Example::new(0);
        let mut second = Turn::answered(2, "And the 2nd?", "It’s “ready” — at   10:30 <b>sharp</b>.");
        second.events = vec![Event::other(json!({}))];
        example.transcript.turns.push(second);
        let facts = ["The user was born in Rome".to_owned()];
        let input =
            MetricInput { facts: &facts, context: vec![("rules", "No refunds after 30 days.")], ..example.input() };
        Shown::new(&input, scale).problem(&verdict(quotes, turns_read))
    }

    #[test]
    fn words_that_were_said_are_evidence() {
        for (turn, quote) in [
            (Some(1), "Hello"),
            (Some(1), "hi"),
            (Some(2), "it's \"ready\" - at 10:30"),
            (Some(2), "It’s “ready” … sharp"),
            (Some(2), "&lt;b>sharp&lt;/b>"),
            (None, "born in Rome"),
            (None, "no refunds"),
        ] {
            assert_eq!(problem(&[(turn, quote)], &[]), None, "{quote}");
        }
    }

    #[test]
    fn words_that_were_not_said_are_none() {
        for (turn, quote) in [
            (Some(2), "Hello"),
            (Some(3), "ready"),
            (Some(2), "sharp … ready"),
            (Some(2), "at"),
            (Some(2), "…"),
            (Some(2), ""),
            (None, "Hello"),
            (Some(1), "The agent booked it"),
        ] {
            let problem = problem(&[(turn, quote)], &[1, 2]).unwrap_or_else(|| panic!("{turn:?} {quote}"));
            assert!(problem.contains("which does not stand in"), "{problem}");
        }
    }

    #[test]
    fn what_the_agent_says_supports_nothing_that_it_says() {
        let by = |quotes: &[(Option<u32>, &str)]| problem_by(Scale::Support, quotes, &[]);
        assert!(by(&[(Some(2), "ready")]).unwrap().contains("the assistant's own words"));
        assert_eq!(by(&[(Some(2), "ready"), (None, "no refunds")]), None);
        assert_eq!(by(&[(Some(2), "and the 2nd")]), None);
    }

    #[test]
    fn what_is_absent_rests_on_all_turns() {
        assert_eq!(problem(&[], &[2, 1]), None);
        assert!(problem(&[], &[1]).unwrap().ends_with("`turnsRead` lacks turn 2."));
        assert!(problem(&[], &[]).unwrap().contains("names no turns"));
    }
}
