//! Whether the words that a verdict rests on were said.

use std::collections::{BTreeMap, BTreeSet};

use super::{Citations, EvidenceRule, JudgeItem, Support, Verdict};
use crate::metric::MetricInput;
use crate::prompt::{call_text, cut_turns, result_text};
use crate::score::Score;
use crate::text::{self, is_blank, is_of_word, is_unspaced, visible};

/// The fewest letters and digits, or else words, of each part of a quote that leaves something out: with less, any sentence could
/// be put together from any text.
const LEAST_OF_PART: usize = 8;
const LEAST_WORDS_OF_PART: usize = 2;
/// From so many letters and digits on a quote is long.
const LONG: usize = 20;
/// How many letters a character counts for in scripts without spaces.
const UNSPACED: usize = 3;

/// What stands in the place of a key that was cleared, in what the judge was shown and in what is stored.
const CLEARED: &str = "***";
/// Stands for it in a quote.
const GAP: char = '\u{1}';

/// Whose words a text of the conversation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    User,
    Agent,
    Call,
    Result,
}

/// What the judge was shown: the texts of each turn, and the facts and the context.
pub(in crate::metric) struct Shown {
    turns: BTreeMap<u32, Vec<(Source, String)>>,
    beside: Vec<String>,
    /// The replies that are expected.
    expected: Vec<String>,
    /// The turns of which it was not shown everything.
    cut: BTreeSet<u32>,
    rule: EvidenceRule,
}

impl Shown {
    /// `tools` are those whose results are evidence where only what was retrieved is.
    pub(in crate::metric) fn new(input: &MetricInput<'_>, rule: EvidenceRule, tools: &[String]) -> Shown {
        let calls = input.transcript.tool_uses_by_turn();
        let turn = |(turn, calls): (&crate::evidence::Turn, Vec<crate::evidence::ToolUse>)| {
            let done = calls.iter().flat_map(|call| {
                let is_evidence = rule != EvidenceRule::Retrieved || tools.contains(&call.tool);
                let source = if is_evidence { Source::Result } else { Source::Call };
                let result = call.result.as_ref().map(|result| (source, result_text(result)));
                [Some((Source::Call, call_text(call))), result]
            });
            let said = [Some((Source::User, turn.user.clone())), turn.agent.clone().map(|text| (Source::Agent, text))];
            let texts =
                said.into_iter().chain(done).flatten().map(|(source, text)| (source, folded(&text.replace(GAP, ""))));
            (turn.number, texts.collect())
        };
        let beside = input.facts.iter().map(String::as_str).chain(input.context.iter().map(|(_, text)| *text));
        let lines = input.lines.iter().filter_map(|line| line.expected.reply.as_deref());
        let expected = lines.chain(input.expected.and_then(|expected| expected.reply.as_deref()));
        Shown {
            turns: input.transcript.turns.iter().zip(calls).map(turn).collect(),
            beside: beside.map(|text| folded(&text.replace(GAP, ""))).collect(),
            expected: expected.map(folded).collect(),
            cut: cut_turns(input.facts, &input.context, (input.transcript, false)),
            rule,
        }
    }

    /// The same where each message of the agent's was shown by itself.
    pub(super) fn by_message(mut self, input: &MetricInput<'_>) -> Shown {
        for turn in &input.transcript.turns {
            let said = turn.agent_messages().into_iter();
            let said = said.map(|message| (Source::Agent, folded(&message.text.replace(GAP, ""))));
            self.turns.entry(turn.number).or_default().extend(said);
        }
        self.cut = cut_turns(input.facts, &input.context, (input.transcript, true));
        self
    }

    /// The problem with the evidence of a score for something, in a sentence; `None` where nothing is.
    pub(in crate::metric) fn problem_of(&self, name: &str, citations: &Citations, score: Score) -> Option<String> {
        let (reason, citations) = (String::new(), citations.clone());
        let decision = Ok(Some(score));
        self.problem(&Verdict { id: name.to_owned(), found: None, reason, citations, label: None, decision }, None)
    }

    /// The problem with the evidence of a verdict on an item, in a sentence; `None` where nothing is.
    pub(super) fn problem(&self, verdict: &Verdict, item: Option<&JudgeItem>) -> Option<String> {
        // Whether something applies is decided by what it says itself.
        let Ok(Some(score)) = verdict.decision else { return None };
        let id = visible(&verdict.id);
        if verdict.citations.quotes.is_empty() && !self.needs_quote(verdict, score) {
            return self.problem_of_absence(verdict, &id);
        }
        if let Some((turn, text)) = verdict.citations.quotes.iter().find(|(turn, text)| !self.has(*turn, text)) {
            let place = turn.map_or("the facts and the context".to_owned(), |turn| format!("turn {turn}"));
            let what = match self.has_letters(*turn, text) {
                true => format!("stands in {place} only as a part of other words: quote whole ones"),
                false => format!("does not stand in {place}"),
            };
            return Some(format!("The verdict on {id} quotes \"{}\", which {what}.", visible(&short(text))));
        }
        if !self.needs_quote(verdict, score)
            || verdict.citations.quotes.iter().any(|quote| self.is_evidence(quote, item))
        {
            return None;
        }
        Some(match (self.rule, verdict.citations.quotes.is_empty()) {
            (EvidenceRule::NotTheAgents, true) => {
                format!(
                    "The verdict on {id} quotes nothing that the user said, a tool returned, or a fact or the context says."
                )
            }
            (EvidenceRule::NotTheAgents, false) => {
                format!("The verdict on {id} rests on the assistant's own words, which are no evidence.")
            }
            (EvidenceRule::Retrieved, _) => {
                format!("The verdict on {id} quotes nothing that was retrieved in the turn that it is about.")
            }
            _ => format!("The verdict on {id} quotes nothing of the reply that it is about."),
        })
    }

    /// Whether nothing that is absent can be the reason for this decision.
    fn needs_quote(&self, verdict: &Verdict, score: Score) -> bool {
        match self.rule {
            EvidenceRule::Any => false,
            EvidenceRule::TheReply | EvidenceRule::Retrieved => score == Score::ONE,
            EvidenceRule::NotTheAgents => {
                score == Score::ONE || matches!(verdict.label, Some(Support::Contradictory | Support::Disputed))
            }
        }
    }

    /// Whether one of the quotes is of what the agent said or did.
    pub(in crate::metric) fn quotes_agent(&self, citations: &Citations) -> bool {
        let is_agents = |source: Source| source != Source::User;
        citations.quotes.iter().any(|(turn, quote)| {
            let texts = turn.and_then(|turn| self.turns.get(&turn)).into_iter().flatten();
            texts.filter(|(source, _)| is_agents(*source)).any(|(_, text)| stands_in(quote, text))
        })
    }

    fn problem_of_absence(&self, verdict: &Verdict, id: &str) -> Option<String> {
        let read: BTreeSet<u32> = verdict.citations.turns_read.iter().copied().collect();
        let unread: Vec<String> =
            self.turns.keys().filter(|turn| !read.contains(turn)).map(ToString::to_string).collect();
        if let (Some(turn), true) = (self.cut.first(), unread.is_empty()) {
            return Some(format!(
                "The verdict on {id} rests on something absent, and turn {turn}, which is too long, was not shown whole."
            ));
        }
        match (read.is_empty(), unread.is_empty()) {
            (true, _) => Some(format!("The verdict on {id} quotes nothing and names no turns that were read.")),
            (_, false) => Some(format!(
                "The verdict on {id} rests on something absent, and `turnsRead` lacks turn {}.",
                unread.join(", ")
            )),
            _ => None,
        }
    }

    /// Whether a quote is of the kind that the metric's verdicts must rest on.
    fn is_evidence(&self, (turn, quote): &(Option<u32>, String), item: Option<&JudgeItem>) -> bool {
        let stands = |is_one: &dyn Fn(Source) -> bool| {
            let texts = turn.and_then(|turn| self.turns.get(&turn)).into_iter().flatten();
            texts.filter(|(source, _)| is_one(*source)).any(|(_, text)| stands_in(quote, text))
        };
        match (self.rule, turn) {
            (EvidenceRule::Any, _) => true,
            (EvidenceRule::NotTheAgents, Some(_)) => stands(&|source| matches!(source, Source::User | Source::Result)),
            (EvidenceRule::NotTheAgents, None) => self.beside.iter().any(|text| stands_in(quote, text)),
            (rule, turn) => {
                let is_its_turn = item.and_then(|item| item.turn).is_none_or(|own| *turn == Some(own));
                let wanted = if rule == EvidenceRule::Retrieved { Source::Result } else { Source::Agent };
                is_its_turn && stands(&|source| source == wanted)
            }
        }
    }

    /// Whether the letters of a quote stand in a turn, and begin or end within a word.
    fn has_letters(&self, turn: Option<u32>, quote: &str) -> bool {
        let quote = folded(quote);
        let is_in = |text: &str| quote.chars().any(is_of_word) && text.contains(trimmed(&quote));
        match turn {
            Some(turn) => self.turns.get(&turn).into_iter().flatten().any(|(_, text)| is_in(text)),
            None => self.beside.iter().chain(&self.expected).any(|text| is_in(text)),
        }
    }

    /// Whether a text stands in a turn; with dots for what is left out, its parts do, one after the other.
    fn has(&self, turn: Option<u32>, quote: &str) -> bool {
        match turn {
            Some(turn) => self.turns.get(&turn).into_iter().flatten().any(|(_, text)| stands_in(quote, text)),
            None => self.beside.iter().chain(&self.expected).any(|text| stands_in(quote, text)),
        }
    }
}

/// Whether a quote stands in a text as it was said.
pub(in crate::metric) fn is_quoted_from(quote: &str, text: &str) -> bool {
    stands_in(quote, &folded(&text.replace(GAP, "")))
}

/// Whether a quote stands in a text, both as they are compared; with dots for what is left out, its parts do, one after the other.
fn stands_in(quote: &str, text: &str) -> bool {
    let quote = folded(&quote.replace(GAP, "").replace(CLEARED, &GAP.to_string()));
    if quote == *text {
        return !quote.is_empty();
    }
    let of_word = |c: &char| is_of_word(*c);
    let weight =
        |text: &str| -> usize { text.chars().filter(of_word).map(|c| if is_unspaced(c) { UNSPACED } else { 1 }).sum() };
    let is_enough = |part: &str| {
        weight(part) >= LEAST_OF_PART
            || part.split(|c| !is_of_word(c)).filter(|word| !word.is_empty()).count() >= LEAST_WORDS_OF_PART
    };
    // Dots are somebody's choice of what to leave out; a cleared key stands where it stood.
    let parts: Vec<&str> = quote.split("...").map(trimmed).filter(|part| weight(part) > 0).collect();
    if weight(&quote) == 0 || (parts.len() > 1 && !parts.iter().all(|part| is_enough(part))) {
        return false;
    }
    let mut pieces = parts.iter().flat_map(|part| part.split(GAP)).map(trimmed).filter(|piece| weight(piece) > 0);
    let mut from = 0;
    pieces.all(|piece| match find_words(&text[from..], piece) {
        Some(at) => {
            from += at + piece.len();
            true
        }
        None => false,
    })
}

fn trimmed(part: &str) -> &str {
    part.trim_matches([' ', '"', '\''])
}

/// Where a text stands in another one and begins and ends no word in its middle.
fn find_words(text: &str, part: &str) -> Option<usize> {
    let joins = |a: Option<char>, b: Option<char>| {
        a.zip(b).is_some_and(|(a, b)| [a, b].iter().all(|c| is_of_word(*c) && !is_unspaced(*c)))
    };
    // A long quote may be clipped in its last word.
    let may_be_clipped = part.chars().filter(|c| is_of_word(*c)).count() >= LONG;
    let is_whole = |at: &usize| {
        let (before, after) = (text[..*at].chars().next_back(), text[at + part.len()..].chars().next());
        !joins(before, part.chars().next()) && (may_be_clipped || !joins(part.chars().next_back(), after))
    };
    text.match_indices(part).map(|(at, _)| at).find(is_whole)
}

/// The beginning of a long quote.
fn short(text: &str) -> String {
    let mut rest = text.chars();
    let part: String = rest.by_ref().take(80).collect();
    if rest.next().is_some() { part + "…" } else { part }
}

/// The character references that a judge may copy, or read.
const REFERENCES: [(&str, &str); 7] =
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&apos;", "'"), ("&nbsp;", " "), ("&amp;", "&")];

/// A text as it is compared: without case, in one form of its characters, with plain quotation marks and dots, one space between
/// words, without invisible characters and marks of emphasis, and with the signs that character references stand for.
fn folded(text: &str) -> String {
    let mut text = text::folded(text);
    // What was a reference already was shown to the judge as a reference to one.
    for _ in 0..3 {
        if !text.contains('&') {
            break;
        }
        for (reference, sign) in REFERENCES {
            text = text.replace(reference, sign);
        }
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '“' | '”' | '„' | '«' | '»' => folded.push('"'),
            '‘' | '’' | '‚' => folded.push('\''),
            '–' | '—' | '‐' | '‑' => folded.push('-'),
            '*' | '_' | '`' | '~' => {}
            GAP => folded.push(c),
            c if c.is_whitespace() => {
                if !folded.ends_with(' ') {
                    folded.push(' ');
                }
            }
            c if is_blank(c.encode_utf8(&mut [0; 4])) => {}
            c => folded.push(c),
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
            citations: Citations {
                quotes: quotes.iter().map(|(turn, text)| (*turn, (*text).to_owned())).collect(),
                turns_read: turns_read.to_vec(),
            },
            label: None,
            decision: Ok(Some(Score::ONE)),
        }
    }

    fn problem(quotes: &[(Option<u32>, &str)], turns_read: &[u32]) -> Option<String> {
        problem_by(EvidenceRule::Any, quotes, turns_read)
    }

    fn problem_by(rule: EvidenceRule, quotes: &[(Option<u32>, &str)], turns_read: &[u32]) -> Option<String> {
        let mut example = Example::new(0);
        let mut second = Turn::answered(
            2,
            "And the 2nd?",
            "It’s “ready” — at   10:30 <b>sharp</b>. Bring *42* €, AT&amp;T caf\u{e9}; your code is sk-17 and not sk-18. Zero\u{ad}width. 私は東京へ行く",
        );
        second.events = vec![
            Event::call("find", json!({"time": "10:30 tomorrow"}), json!(null)),
            Event::response(json!("a table is free at eight"), json!(null)),
        ];
        example.transcript.turns.push(second);
        let facts = ["The user was born in Rome".to_owned()];
        let input =
            MetricInput { facts: &facts, context: vec![("rules", "No refunds after 30 days.")], ..example.input() };
        Shown::new(&input, rule, &["find".to_owned()]).problem(&verdict(quotes, turns_read), None)
    }

    #[test]
    fn words_that_were_said_are_evidence() {
        for (turn, quote) in [
            (Some(1), "Hello"),
            (Some(1), "hi"),
            (Some(2), "it's \"ready\" - at 10:30"),
            (Some(2), "It’s “ready” … <b>sharp</b>. Bring"),
            (Some(2), "&lt;b>sharp&lt;/b>"),
            (Some(2), "&lt;b&gt;sharp&lt;/b&gt;"),
            (Some(2), "Bring 42 €, AT&amp;T cafe\u{301}"),
            (Some(2), "Bring **42** €, AT&T café"),
            (Some(2), "your code is *** and not ***."),
            (Some(2), "zero\u{200b}width"),
            (Some(2), "東京へ"),
            (Some(2), "at"),
            (Some(2), "42"),
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
            (Some(2), "i … r … s"),
            (Some(2), "***"),
            (Some(2), "your … not"),
            (Some(2), "your code is *** and sk-18 too"),
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
    fn a_part_of_a_word_is_none_and_is_said_to_be_one() {
        for quote in ["eady", "30 <b>shar", "4", "eigh"] {
            let problem = problem(&[(Some(2), quote)], &[1, 2]).unwrap_or_else(|| panic!("{quote}"));
            assert!(
                problem.ends_with("which stands in turn 2 only as a part of other words: quote whole ones."),
                "{problem}"
            );
        }
    }

    #[test]
    fn what_the_agent_says_supports_nothing_that_it_says() {
        let by = |quotes: &[(Option<u32>, &str)]| problem_by(EvidenceRule::NotTheAgents, quotes, &[1, 2]);
        assert!(by(&[(Some(2), "ready")]).unwrap().contains("the assistant's own words"));
        assert!(by(&[(Some(2), "10:30 tomorrow")]).unwrap().contains("the assistant's own words"), "its call");
        assert!(by(&[]).unwrap().contains("quotes nothing that the user said"));
        assert_eq!(by(&[(Some(2), "ready"), (None, "no refunds")]), None);
        assert_eq!(by(&[(Some(2), "and the 2nd")]), None);
        assert_eq!(by(&[(Some(2), "free at eight")]), None, "a tool's result");
    }

    #[test]
    fn what_was_retrieved_is_what_the_named_tools_returned() {
        let by = |quotes: &[(Option<u32>, &str)]| problem_by(EvidenceRule::Retrieved, quotes, &[1, 2]);
        assert_eq!(by(&[(Some(2), "free at eight")]), None);
        for quotes in [&[(Some(2), "ready")][..], &[(Some(2), "10:30 tomorrow")], &[(None, "no refunds")], &[]] {
            assert!(by(quotes).unwrap().contains("quotes nothing that was retrieved"), "{quotes:?}");
        }
    }

    #[test]
    fn a_reply_is_as_good_as_another_by_its_own_words() {
        let by = |quotes: &[(Option<u32>, &str)]| problem_by(EvidenceRule::TheReply, quotes, &[1, 2]);
        assert_eq!(by(&[(Some(2), "ready")]), None);
        for quotes in [&[(None, "no refunds")][..], &[(Some(2), "and the 2nd")], &[]] {
            assert!(by(quotes).unwrap().contains("quotes nothing of the reply"));
        }
        let mut example = Example::new(0);
        example.transcript.turns.push(Turn::answered(2, "And?", "It is ready."));
        let item = JudgeItem::new("1", "x", Some(1));
        let shown = Shown::new(&example.input(), EvidenceRule::TheReply, &[]);
        assert!(shown.problem(&verdict(&[(Some(2), "ready")], &[]), Some(&item)).is_some(), "of another turn");
        assert_eq!(shown.problem(&verdict(&[(Some(1), "Hello")], &[]), Some(&item)), None);
        let no = Verdict { decision: Ok(Some(Score::ZERO)), ..verdict(&[], &[1, 2]) };
        assert_eq!(shown.problem(&no, Some(&item)), None, "a no may rest on what is absent");
    }

    #[test]
    fn what_is_absent_rests_on_all_turns() {
        assert_eq!(problem(&[], &[2, 1]), None);
        assert!(problem(&[], &[1]).unwrap().ends_with("`turnsRead` lacks turn 2."));
        assert!(problem(&[], &[]).unwrap().contains("names no turns"));
    }
}
