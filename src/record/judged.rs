//! The judge's answers about one trial, in the order of the questions.

use super::TrialRecord;
use crate::evidence::{AskedQuestion, Judgement};

/// A judge's answer with the place of its question.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedJudgement {
    /// The place among all questions about the conversation, from 0; `None` where it is not known: it is behind those before it.
    pub place: Option<u32>,
    /// The question; earlier versions kept none.
    pub question: Option<Box<AskedQuestion>>,
    /// The answer.
    pub judgement: Judgement,
}

impl TrialRecord {
    /// The judge has answered: the answer comes before those to later questions, whenever they were there.
    pub(super) fn has_judged(&mut self, judged: PlacedJudgement) {
        let PlacedJudgement { place, question, judgement } = judged;
        let place = place.unwrap_or_else(|| self.places.last().copied().unwrap_or_default());
        // Those that were there before, of which no place is known, stay before it.
        let known = self.judgements.len().saturating_sub(self.places.len());
        let among = self.places.partition_point(|other| *other <= place);
        let at = (known + among).min(self.judgements.len());
        if let Some(question) = question {
            let is_in_step = self.questions.len() == self.judgements.len();
            self.questions.insert(if is_in_step { at } else { self.questions.len() }, *question);
        }
        self.judgements.insert(at, judgement);
        self.places.insert(among, place);
    }
}

/// Keeps the items of which this says so.
pub(super) fn retain<T>(items: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    items.retain(|_| kept.next().copied().unwrap_or_default());
}
