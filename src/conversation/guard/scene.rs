//! All texts that guards look at, each analysed once.

use std::cell::OnceCell;
use std::ops::Range;

use super::GuardInput;
use super::invented_fact::Invented;
use super::known_texts::KnownTexts;
use super::phrases::List;
use super::text_view::{Content, TextView};
use super::wanted_answer::WantedAnswer;
use crate::evidence::Role;
use crate::text::is_blank;

pub(super) struct Scene<'a> {
    pub(super) input: &'a GuardInput<'a>,
    pub(super) turn: TextViewOfTurn<'a>,
    pub(super) tasks: &'a [TextView<'a>],
    pub(super) facts: &'a [TextView<'a>],
    pub(super) background: &'a [TextView<'a>],
    pub(super) messages: &'a [(Role, TextView<'a>)],
    /// The places of the facts that the assistant asks for, and of the one that the turn passes over: several guards want them.
    pub(super) surely_asked: OnceCell<Option<usize>>,
    pub(super) asked_kind: OnceCell<Option<usize>>,
    pub(super) wanted: OnceCell<Option<usize>>,
    pub(super) passed_over: OnceCell<Option<usize>>,
    /// The place of the fact that may answer the agent's question.
    pub(super) wanted_answer: OnceCell<Option<WantedAnswer>>,
    /// Where the turn has the sentence that is copied from the assistant, and whether that one repeats itself.
    pub(super) copied: OnceCell<Option<Range<usize>>>,
    pub(super) repeats_itself: OnceCell<bool>,
    /// What the turn states that stands nowhere.
    pub(super) invented: OnceCell<Option<Invented>>,
}

/// The turn, without the sign-off phrase at its end.
pub(super) struct TextViewOfTurn<'a> {
    pub(super) text: TextView<'a>,
    pub(super) is_empty: bool,
    pub(super) signs_off: bool,
}

impl<'a> Scene<'a> {
    /// A turn beside the texts of its conversation, which must be those of the input.
    pub(super) fn new(input: &'a GuardInput<'a>, texts: &'a KnownTexts) -> Scene<'a> {
        let signoff = super::signoff_inside::place(input.turn, input.signoff);
        let text = match signoff {
            Some((start, end)) if !input.turn[end..].chars().any(char::is_alphanumeric) => &input.turn[..start],
            _ => input.turn,
        };
        let is_opening = !input.transcript.iter().any(|message| message.role == Role::User);
        let is_empty = signoff.is_none()
            && (is_blank(input.turn)
                || super::empty::is_empty(input.turn)
                || is_opening && super::empty::is_placeholder(input.turn));
        let turn =
            TextViewOfTurn { text: TextView::new(text), is_empty, signs_off: signoff.is_some() || input.is_done };
        let KnownTexts { tasks, facts, background, messages } = texts;
        Scene {
            input,
            turn,
            tasks,
            facts,
            background,
            messages,
            surely_asked: OnceCell::new(),
            asked_kind: OnceCell::new(),
            wanted: OnceCell::new(),
            passed_over: OnceCell::new(),
            wanted_answer: OnceCell::new(),
            copied: OnceCell::new(),
            repeats_itself: OnceCell::new(),
            invented: OnceCell::new(),
        }
    }

    /// A fact that is looked for once.
    pub(super) fn once<'f>(
        &'f self,
        place: &OnceCell<Option<usize>>,
        find: impl FnOnce() -> Option<&'f TextView<'a>>,
    ) -> Option<&'a TextView<'a>> {
        let is = |fact: &TextView<'a>| self.facts.iter().position(|it| std::ptr::eq(it, fact));
        place.get_or_init(|| is(find()?)).map(|at| &self.facts[at])
    }

    /// Whether a text has a word in e-mail addresses alone: whoever gives his address does not tell his name.
    pub(super) fn is_only_in_address(&self, text: &TextView<'_>, word: &Content<'_>) -> bool {
        let plain = text.plain();
        if !plain.contains('@') {
            return false;
        }
        let rest: Vec<&str> = plain.split_whitespace().filter(|part| !part.contains('@')).collect();
        !TextView::new(rest.join(" ")).says(word)
    }

    /// The turn's text, without a sign-off phrase at its end.
    pub(super) fn text(&self) -> &TextView<'a> {
        &self.turn.text
    }

    pub(super) fn users(&self) -> impl DoubleEndedIterator<Item = &TextView<'a>> {
        self.messages.iter().filter(|(role, _)| *role == Role::User).map(|(_, text)| text)
    }

    pub(super) fn agents(&self) -> impl DoubleEndedIterator<Item = &TextView<'a>> {
        self.messages.iter().filter(|(role, _)| *role == Role::Assistant).map(|(_, text)| text)
    }

    /// The agent's message that the turn replies to.
    pub(super) fn last_agent(&self) -> Option<&TextView<'a>> {
        self.messages.last().filter(|(role, _)| *role == Role::Assistant).map(|(_, text)| text)
    }

    /// Whether the agent's last message asks for something, other than whether that was all.
    pub(super) fn agent_asks(&self) -> bool {
        self.last_agent().is_some_and(|text| text.asks() || text.has(List::Awaits))
    }

    /// Whether a word stands in a task or a story, or was said before.
    pub(super) fn is_known(&self, word: &Content<'_>) -> bool {
        self.tasks
            .iter()
            .chain(self.background)
            .chain(self.messages.iter().map(|(_, text)| text))
            .any(|text| text.says(word))
    }
}
