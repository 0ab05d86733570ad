//! The texts of a conversation, kept from turn to turn, so that each is analysed once.

use super::GuardInput;
use super::text_view::TextView;
use crate::evidence::{Message, Role};

/// The texts of one conversation as the guards look at them. What the guards find does not depend on it.
#[derive(Debug, Default)]
pub struct KnownTexts {
    pub(super) tasks: Vec<TextView<'static>>,
    pub(super) facts: Vec<TextView<'static>>,
    pub(super) background: Vec<TextView<'static>>,
    pub(super) messages: Vec<(Role, TextView<'static>)>,
}

impl KnownTexts {
    /// The texts of a turn that is looked at alone.
    pub(super) fn of(input: &GuardInput<'_>) -> KnownTexts {
        let mut texts = KnownTexts::default();
        texts.update(input);
        texts
    }

    /// Makes it the texts of this turn: what is the same as before stays.
    pub(super) fn update(&mut self, input: &GuardInput<'_>) {
        for (known, given) in
            [(&mut self.tasks, input.tasks), (&mut self.facts, input.facts), (&mut self.background, input.background)]
        {
            if !known.iter().map(|text| &*text.raw).eq(given.iter().copied()) {
                *known = given.iter().map(|text| owned(text)).collect();
            }
        }
        let is_same = |((role, text), message): &(&(Role, TextView<'_>), &Message)| {
            *role == message.role && text.raw == message.content
        };
        let same = self.messages.iter().zip(input.transcript).take_while(is_same).count();
        self.messages.truncate(same);
        self.messages.extend(input.transcript[same..].iter().map(|message| (message.role, owned(&message.content))));
    }
}

fn owned(text: &str) -> TextView<'static> {
    TextView::new(text.to_owned())
}
