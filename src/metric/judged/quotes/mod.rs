//! Whether the quotes that a verdict rests on stand in the conversation, the facts or the context.

mod matching;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::{Citations, EvidenceRule, ItemVerdict, JudgeItem, Support};
use crate::metric::MetricInput;
use crate::metric::tasks::GOOD_ABOVE;
use crate::prompt::{call_text, result_text, shown_call};
use crate::score::{Component, Score};
use crate::text::{is_of_word, visible};
pub(in crate::metric) use matching::is_quoted_from;
pub(super) use matching::resolved;
use matching::{GAP, folded, says_enough, stands_in, trimmed};

/// The origin of a text of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextOrigin {
    User,
    Agent,
    Call,
    Result,
}

/// A text that is folded when a quote is first looked for in it: most are never asked for.
struct Folded {
    text: String,
    folded: OnceCell<String>,
}

impl Folded {
    fn new(text: String) -> Folded {
        Folded { text, folded: OnceCell::new() }
    }

    fn get(&self) -> &str {
        self.folded.get_or_init(|| folded(&self.text.replace(GAP, "")))
    }
}

/// The texts that the judge was shown: those of each turn, and the facts and the context.
pub(in crate::metric) struct Shown {
    turns: BTreeMap<u32, Vec<(TextOrigin, Folded)>>,
    /// The agent's messages of each turn, where each is judged by itself.
    messages: BTreeMap<u32, Vec<Folded>>,
    beside: Vec<Folded>,
    /// The replies that are expected.
    expected: Vec<Folded>,
    /// The turns of which it was not shown everything.
    cut: BTreeSet<u32>,
    rule: EvidenceRule,
}

impl Shown {
    /// `tools` are those whose results are evidence where only what was retrieved is; `cut` are the turns of which not everything
    /// is shown.
    pub(in crate::metric) fn new(
        input: &MetricInput<'_>,
        rule: EvidenceRule,
        tools: &[String],
        cut: BTreeSet<u32>,
    ) -> Shown {
        let calls = input.transcript.tool_uses_by_turn();
        let turn = |(turn, calls): (&crate::evidence::Turn, Vec<crate::evidence::ToolUse>)| {
            let done = calls.iter().flat_map(|call| {
                let is_evidence = rule != EvidenceRule::Retrieved || tools.contains(&call.tool);
                let source = if is_evidence { TextOrigin::Result } else { TextOrigin::Call };
                let result = call.result.as_ref().map(|result| (source, result_text(result)));
                [Some((TextOrigin::Call, call_text(call))), result]
            });
            let messages =
                [Some((TextOrigin::User, turn.user.clone())), turn.agent.clone().map(|text| (TextOrigin::Agent, text))];
            let by_user = input.user.tool_calls.iter().filter(|call| call.turn == turn.number).flat_map(shown_call);
            let texts = messages
                .into_iter()
                .chain(done)
                .flatten()
                .chain(by_user.map(|text| (TextOrigin::User, text)))
                .map(|(source, text)| (source, Folded::new(text)));
            (turn.number, texts.collect())
        };
        let beside = input.facts.iter().map(String::as_str).chain(input.context.iter().map(|(_, text)| *text));
        let lines = input.lines.iter().filter_map(|line| line.expected.reply.as_deref());
        let expected = lines.chain(input.expected.and_then(|expected| expected.reply.as_deref()));
        Shown {
            turns: input.transcript.turns.iter().zip(calls).map(turn).collect(),
            messages: BTreeMap::new(),
            beside: beside.map(|text| Folded::new(text.to_owned())).collect(),
            expected: expected.map(|text| Folded::new(text.to_owned())).collect(),
            cut,
            rule,
        }
    }

    /// The same where each message of the agent's was shown by itself.
    pub(super) fn by_message(mut self, input: &MetricInput<'_>) -> Shown {
        for turn in &input.transcript.turns {
            let messages = turn.agent_messages();
            let texts = || messages.iter().map(|message| Folded::new(message.text.to_string()));
            self.turns.entry(turn.number).or_default().extend(texts().map(|text| (TextOrigin::Agent, text)));
            self.messages.insert(turn.number, texts().collect());
        }
        self
    }

    /// The same to a judge that is shown the messages and the facts alone.
    pub(in crate::metric) fn messages_only(mut self, facts: &[String]) -> Shown {
        let is_message = |source: TextOrigin| matches!(source, TextOrigin::User | TextOrigin::Agent);
        self.turns.values_mut().for_each(|texts| texts.retain(|(source, _)| is_message(*source)));
        self.beside = facts.iter().map(|fact| Folded::new(fact.clone())).collect();
        self.expected.clear();
        self
    }

    /// The problem with the evidence of a score for something, in a sentence; `None` where nothing is.
    pub(in crate::metric) fn problem_of(&self, name: &str, citations: &Citations, score: Score) -> Option<String> {
        let (reason, citations) = (String::new(), citations.clone());
        let decision = Ok(Some(score));
        self.problem(&ItemVerdict { id: name.to_owned(), found: None, reason, citations, label: None, decision }, None)
    }

    /// The problem with the evidence of a verdict on an item, in a sentence; `None` where nothing is.
    pub(super) fn problem(&self, verdict: &ItemVerdict, item: Option<&JudgeItem>) -> Option<String> {
        let Ok(decision) = verdict.decision else { return None };
        // A sentence that states nothing shows that by itself.
        if decision.is_none() && verdict.label.is_some() {
            return None;
        }
        let id = visible(&verdict.id);
        let needs_quote = decision.is_some_and(|score| self.needs_quote(verdict, score));
        if verdict.citations.quotes.is_empty() && !needs_quote {
            return self.problem_of_absence(verdict, item.filter(|_| decision.is_none()));
        }
        if let Some(problem) = self.problem_of_quotes(verdict) {
            return Some(problem);
        }
        // Whether something applies may rest on any words.
        let score = decision?;
        if let Some(item) =
            item.filter(|item| score == Score::ONE && self.is_of_other_message(&verdict.citations, item))
        {
            return Some(format!(
                "The verdict on {id} quotes another message of turn {} than the one that it is about.",
                item.turn.unwrap_or_default()
            ));
        }
        if !needs_quote || verdict.citations.quotes.iter().any(|(turn, quote)| self.is_evidence(*turn, quote, item)) {
            return None;
        }
        Some(match (self.rule, verdict.citations.quotes.is_empty()) {
            (EvidenceRule::NotTheAgents, true) => {
                format!(
                    "The verdict on {id} quotes nothing that the user said, a tool returned, or a fact or the context says."
                )
            }
            (EvidenceRule::NotTheAgents, false) => format!(
                "The verdict on {id} rests on the assistant's own words, or on what was said in a later turn, which are no evidence."
            ),
            (EvidenceRule::Retrieved, _) => {
                format!("The verdict on {id} quotes nothing that was retrieved in the turn that it is about.")
            }
            _ => format!("The verdict on {id} quotes nothing of the reply that it is about."),
        })
    }

    /// The problem with the words that a verdict quotes.
    fn problem_of_quotes(&self, verdict: &ItemVerdict) -> Option<String> {
        let id = visible(&verdict.id);
        if let Some((turn, text)) = verdict.citations.quotes.iter().find(|(turn, text)| !self.has(*turn, text)) {
            let place = turn.map_or("the facts and the context".to_owned(), |turn| format!("turn {turn}"));
            let what = match self.has_letters(*turn, text) {
                true => format!("stands in {place} only as a part of other words: quote whole ones"),
                false => format!("does not stand in {place}"),
            };
            return Some(format!("The verdict on {id} quotes \"{}\", which {what}.", quoted(text)));
        }
        let (_, text) = verdict.citations.quotes.iter().find(|(turn, text)| !self.is_telling(*turn, text))?;
        let quote = quoted(text);
        Some(format!("The verdict on {id} quotes \"{quote}\", which stands anywhere: quote more words."))
    }

    /// Whether nothing that is absent can be the reason for this decision.
    fn needs_quote(&self, verdict: &ItemVerdict, score: Score) -> bool {
        match self.rule {
            EvidenceRule::Any => false,
            EvidenceRule::TheReply | EvidenceRule::Retrieved => score == Score::ONE,
            EvidenceRule::NotTheAgents => {
                score == Score::ONE || matches!(verdict.label, Some(Support::Contradictory | Support::Disputed))
            }
        }
    }

    /// The end of the reason of a good mark for which nothing of the agent's is quoted; empty for any other.
    pub(in crate::metric) fn mark(&self, citations: &Citations, score: Score) -> &'static str {
        let is_free = self.rule == EvidenceRule::Any;
        let is_unsupported = is_free && score.get() > GOOD_ABOVE && !self.quotes_agent(citations);
        if is_unsupported { Component::UNSUPPORTED } else { "" }
    }

    /// Whether a quote could stand in a few places only, or is all that a message says.
    fn is_telling(&self, turn: Option<u32>, quote: &str) -> bool {
        says_enough(&folded(quote))
            || self.texts_of(turn).any(|text| !says_enough(text.get()) && stands_in(quote, text.get()))
    }

    /// Whether what is quoted of an item's turn is of other messages of the agent's than the item's own.
    fn is_of_other_message(&self, citations: &Citations, item: &JudgeItem) -> bool {
        let Some((turn, place)) = item.turn.zip(item.message) else { return false };
        let messages: &[Folded] = self.messages.get(&turn).map(Vec::as_slice).unwrap_or_default();
        let stands =
            |(at, quote): &(Option<u32>, String), text: &Folded| *at == Some(turn) && stands_in(quote, text.get());
        let is_quoted = |text: &Folded| citations.quotes.iter().any(|quote| stands(quote, text));
        let own = place.checked_sub(1).and_then(|at| messages.get(at));
        messages.iter().any(is_quoted) && !own.is_some_and(is_quoted)
    }

    /// Whether one of the quotes is of what the agent said or did.
    fn quotes_agent(&self, citations: &Citations) -> bool {
        let is_agents = |source: TextOrigin| source != TextOrigin::User;
        citations.quotes.iter().any(|(turn, quote)| {
            let texts = turn.and_then(|turn| self.turns.get(&turn)).into_iter().flatten();
            texts.filter(|(source, _)| is_agents(*source)).any(|(_, text)| stands_in(quote, text.get()))
        })
    }

    /// `inapplicable` is the item of a verdict that it does not apply: it is judged by the turns up to its own.
    fn problem_of_absence(&self, verdict: &ItemVerdict, inapplicable: Option<&JudgeItem>) -> Option<String> {
        let id = visible(&verdict.id);
        let last = inapplicable.and_then(|item| item.turn).unwrap_or(u32::MAX);
        let read: BTreeSet<u32> = verdict.citations.turns_read.iter().copied().collect();
        let asked = self.turns.keys().filter(|turn| **turn <= last);
        let unread: Vec<String> = asked.filter(|turn| !read.contains(turn)).map(ToString::to_string).collect();
        if let (Some(turn), true) = (self.cut.range(..=last).next(), unread.is_empty()) {
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
    fn is_evidence(&self, turn: Option<u32>, quote: &str, item: Option<&JudgeItem>) -> bool {
        let stands = |is_one: &dyn Fn(TextOrigin) -> bool| {
            let texts = turn.and_then(|turn| self.turns.get(&turn)).into_iter().flatten();
            texts.filter(|(source, _)| is_one(*source)).any(|(_, text)| stands_in(quote, text.get()))
        };
        match (self.rule, turn) {
            (EvidenceRule::Any, _) => true,
            (EvidenceRule::NotTheAgents, Some(turn)) => {
                let was_known = item.and_then(|item| item.turn).is_none_or(|own| turn <= own);
                was_known && stands(&|source| matches!(source, TextOrigin::User | TextOrigin::Result))
            }
            (EvidenceRule::NotTheAgents, None) => self.beside.iter().any(|text| stands_in(quote, text.get())),
            (rule, turn) => {
                let is_its_turn = item.and_then(|item| item.turn).is_none_or(|own| turn == Some(own));
                let wanted = if rule == EvidenceRule::Retrieved { TextOrigin::Result } else { TextOrigin::Agent };
                is_its_turn && stands(&|source| source == wanted)
            }
        }
    }

    /// Whether the letters of a quote stand in a turn, and begin or end within a word.
    fn has_letters(&self, turn: Option<u32>, quote: &str) -> bool {
        let quote = folded(quote);
        let is_in = |text: &str| quote.chars().any(is_of_word) && text.contains(trimmed(&quote));
        self.texts_of(turn).any(|text| is_in(text.get()))
    }

    /// Whether a text stands in a turn; with dots for what is left out, its parts do, one after the other.
    fn has(&self, turn: Option<u32>, quote: &str) -> bool {
        self.texts_of(turn).any(|text| stands_in(quote, text.get()))
    }

    /// The texts of a turn, or what was shown beside the turns.
    fn texts_of(&self, turn: Option<u32>) -> impl Iterator<Item = &Folded> {
        let of_turn = turn.and_then(|turn| self.turns.get(&turn)).into_iter().flatten().map(|(_, text)| text);
        let is_beside = turn.is_none();
        of_turn.chain(self.beside.iter().chain(&self.expected).filter(move |_| is_beside))
    }
}

/// A quotation within a sentence that is sent to a judge and shown: it can neither end its quotation marks nor look like a tag.
fn quoted(text: &str) -> String {
    visible(&short(text)).replace('"', "'").replace(['<', '>'], "|")
}

/// The beginning of a long quote.
fn short(text: &str) -> String {
    let mut rest = text.chars();
    let part: String = rest.by_ref().take(80).collect();
    if rest.next().is_some() { part + "…" } else { part }
}
