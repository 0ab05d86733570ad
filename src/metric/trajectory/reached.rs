//! When the goals of an expectation were reached, each by itself.

use std::collections::BTreeMap;

use super::metric::message_goals;
use super::{
    CallCount, CallOrder, Expectation, LettersOnly, TrajectoryCheck, TrajectoryConfig, TrajectoryInput,
    TrajectoryMatcher,
};
use crate::evidence::{Judgement, Transcript};
use crate::metric::MetricInput;

impl TrajectoryCheck {
    /// When each goal of an expectation was reached in a conversation, by its name: numbers that grow along it, none where it
    /// never was. A call counts wherever it stands, as these options compare it; on messages the judge's answers decide, where it was asked.
    pub fn reached(
        &self,
        expected: &Expectation,
        transcript: &Transcript,
        judged: Option<(&MetricInput<'_>, &[Judgement])>,
    ) -> BTreeMap<String, Vec<usize>> {
        let mut reached: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let is_asked = |(input, judgements): &(&MetricInput<'_>, &[Judgement])| {
            self.config().asked_about_messages(expected, input, judgements)
        };
        let goals = match judged.filter(is_asked) {
            Some((input, judgements)) => self.config().message_goals(expected, input, judgements),
            None => message_goals(expected, transcript),
        };
        for goal in goals {
            // After so many calls, and before the next.
            let times = goal.known().iter().map(|calls| 2 * calls).collect::<Vec<_>>();
            reached.entry(goal.name).or_default().extend(times);
        }
        let config = self.config().clone();
        let alone = TrajectoryConfig { order: Some(CallOrder::AnyOrder), count: Some(CallCount::Subset), ..config };
        // Options that contradict themselves reach nothing.
        let Ok(matcher) = TrajectoryMatcher::new(&alone) else { return reached };
        let made = self.config().made(transcript);
        for call in expected.calls.iter().flatten() {
            let times = reached.entry(call.label().to_owned()).or_default();
            for (at, actual) in made.iter().enumerate() {
                let (expected, actual) = (std::slice::from_ref(call), std::slice::from_ref(actual));
                let input = TrajectoryInput { expected, actual, ..TrajectoryInput::default() };
                let is_same = matcher.compare(input, &LettersOnly).is_ok_and(|it| it.is_match == Some(true));
                times.extend(is_same.then_some(2 * at + 1));
            }
        }
        reached
    }
}
