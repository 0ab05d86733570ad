//! Goals on which a judge decides: messages that say something in other words, and assertions about the conversation.

use super::super::rubric::{Rubric, RubricConfig, RubricScope, message_item_id};
use super::{
    Expectation, ExpectedMessage, JudgedAssertion, MessageGoal, TrajectoryConfig, TrajectoryDialect, TrajectoryFigure,
    UnknownGoal,
};
use crate::evidence::{Judgement, Question, Transcript};
use crate::metric::judged::{JudgeItems, JudgeMeasure, JudgeOptions, JudgedMetric};
use crate::metric::{Metric, MetricInput, ReplyError};
use crate::prompt::{PromptError, Templates};
use crate::score::{Component, Score, Weight};

/// The metric of watsonx Orchestrate whose rubrics are assertions: a journey succeeds only where they hold.
pub const ASSERTIONS: &str = "AssertLLM";

type Judged = JudgedMetric<RubricConfig>;

impl TrajectoryFigure {
    /// Whether it rests on goals that are messages.
    fn rests_on_messages(self) -> bool {
        use TrajectoryFigure::{JourneyCompletion, JourneySuccess, Match, Resisted, TextMatch};
        matches!(self, Match | JourneySuccess | JourneyCompletion | TextMatch | Resisted)
    }

    /// Whether it rests on assertions.
    pub(super) fn rests_on_assertions(self) -> bool {
        use TrajectoryFigure::{JourneyCompletion, JourneySuccess, Resisted};
        matches!(self, JourneySuccess | JourneyCompletion | Resisted)
    }
}

impl TrajectoryConfig {
    /// Whether a judge must read the conversation to know which goals were reached.
    pub fn asks_reader(&self, expected: &Expectation) -> bool {
        let is_asked = expected.messages.iter().any(|message| self.is_judged(message));
        (is_asked && self.score.rests_on_messages()) || self.assertions(expected).is_some()
    }

    /// Whether a judge decides who said it. Keywords alone are looked up, except in watsonx Orchestrate's goals.
    fn is_judged(&self, message: &ExpectedMessage) -> bool {
        message.reply.is_some() || (self.dialect == TrajectoryDialect::Watsonx && !message.keywords.is_empty())
    }

    /// Whether the judge decides on each message by itself: where one came before a call of its turn, it matters which one says
    /// something. watsonx' own order has every message behind the calls.
    fn scope(&self, transcript: &Transcript) -> RubricScope {
        let is_apart = !self.is_strict_watsonx() && transcript.has_reply() && transcript.has_message_before_call();
        if is_apart { RubricScope::Messages } else { RubricScope::Turns }
    }

    /// The rubrics about messages.
    fn messages(&self, expected: &Expectation, scope: RubricScope) -> Option<Judged> {
        let subject = match scope {
            RubricScope::Messages => "by itself, it",
            _ => "A message of the agent's in this turn, by itself,",
        };
        let rubric = |message: &ExpectedMessage| {
            let says = message.reply.as_ref().map(|reply| format!("says the same as: {reply}"));
            let names = message.keywords.join(", ");
            let has = (!names.is_empty()).then(|| format!("mentions all of these, in whatever spelling: {names}"));
            let parts: Vec<String> = says.into_iter().chain(has).collect();
            let text = format!("{subject} {}", parts.join(", and "));
            Rubric { id: message.name.clone(), text, ..Rubric::default() }
        };
        let rubrics: Vec<Rubric> = expected.messages.iter().filter(|it| self.is_judged(it)).map(rubric).collect();
        // Messages before the final reply count too.
        let judging = JudgeOptions { intermediate: true, ..JudgeOptions::default() };
        let measure = RubricConfig { rubrics, scope, judging, ..RubricConfig::default() };
        (!measure.rubrics.is_empty()).then_some(Judged { weight: Weight::ONE, measure })
    }

    /// The rubrics about assertions: the same as those of the metric that shows them.
    fn assertions(&self, expected: &Expectation) -> Option<Judged> {
        let is_one = |rubric: &Rubric| rubric.metric.as_deref() == Some(ASSERTIONS);
        let has_some = self.dialect == TrajectoryDialect::Watsonx
            && self.score.rests_on_assertions()
            && expected.rubrics.iter().any(is_one);
        let judging =
            JudgeOptions { samples: Some(1), strict: self.strict, intermediate: true, ..JudgeOptions::default() };
        let measure = RubricConfig { label: ASSERTIONS.to_owned(), judging, ..RubricConfig::default() };
        has_some.then_some(Judged { weight: Weight::ONE, measure })
    }

    /// Whether the whole conversation is compared with it.
    pub fn compares_all(&self, expected: &Expectation) -> bool {
        expected.calls.is_some() || expected.goals.is_some() || self.assertions(expected).is_some()
    }

    /// The questions to the judge.
    pub(super) fn goal_questions(
        &self,
        input: &MetricInput<'_>,
        templates: &Templates,
    ) -> Result<Vec<Question>, PromptError> {
        let Some(expected) = input.expected.filter(|expected| self.asks_reader(expected)) else {
            return Ok(Vec::new());
        };
        let mut questions = Vec::new();
        let scope = self.scope(input.transcript);
        if let Some(messages) = self.messages(expected, scope).filter(|_| self.score.rests_on_messages()) {
            let own = |question| Question { metric: "trajectory".to_owned(), ..question };
            questions.extend(messages.questions(input, templates)?.into_iter().map(own));
        }
        if let Some(assertions) = self.assertions(expected) {
            questions.extend(assertions.questions(input, templates)?);
        }
        Ok(questions)
    }

    /// Whether a reply about goals can be used; `None` for a question about something else.
    pub(super) fn read_goals(
        &self,
        input: &MetricInput<'_>,
        question: &Question,
        raw: &str,
    ) -> Option<Result<(), ReplyError>> {
        let messages = self.messages(input.expected?, self.scope(input.transcript))?;
        messages.reads(question).then(|| messages.read(input, question, raw))
    }

    /// Whether a judge was asked which messages reach the goals of an expectation.
    pub(super) fn asked_about_messages(
        &self,
        expected: &Expectation,
        input: &MetricInput<'_>,
        judgements: &[Judgement],
    ) -> bool {
        let forms = [self.scope(input.transcript), RubricScope::Turns];
        let ids: Vec<String> =
            forms.into_iter().filter_map(|scope| Some(self.messages(expected, scope)?.question_id())).collect();
        judgements.iter().any(|judgement| ids.contains(&judgement.question))
    }

    /// When each message that is a goal was sent. Undecided ones are unknown.
    pub(super) fn message_goals(
        &self,
        expected: &Expectation,
        input: &MetricInput<'_>,
        judgements: &[Judgement],
    ) -> Vec<MessageGoal> {
        let mut goals = super::metric::message_goals(expected, input.transcript);
        let was_asked = |judged: &Judged| judgements.iter().any(|it| it.question == judged.question_id());
        let forms = [self.scope(input.transcript), RubricScope::Turns];
        let forms = || forms.into_iter().filter_map(|scope| Some((scope, self.messages(expected, scope)?)));
        // Runs of earlier versions have verdicts on turns only.
        if let Some((scope, judged)) = forms().find(|(_, judged)| was_asked(judged)).or_else(|| forms().next()) {
            let verdicts = verdicts(&judged, input, judgements);
            for (goal, message) in goals.iter_mut().zip(&expected.messages) {
                if self.is_judged(message) {
                    goal.reached = reached(&message.name, input.transcript, scope, &verdicts);
                }
            }
        }
        let unseen = expected.unseen.iter().map(|name| MessageGoal {
            name: name.clone(),
            reached: Err(UnknownGoal::OtherKind { name: name.clone() }),
        });
        goals.into_iter().chain(unseen).collect()
    }

    /// Which assertions hold.
    pub(super) fn asserted(
        &self,
        expected: &Expectation,
        input: &MetricInput<'_>,
        judgements: &[Judgement],
    ) -> Vec<JudgedAssertion> {
        let Some(judged) = self.assertions(expected) else { return Vec::new() };
        let assertion = |(_, text, component): (String, String, Component)| JudgedAssertion {
            holds: match component.score() {
                Some(score) => Ok(is_yes(score)),
                None => Err(UnknownGoal::UndecidedAssertion { text: text.clone(), why: component.why().to_owned() }),
            },
            text,
        };
        verdicts(&judged, input, judgements).into_iter().map(assertion).collect()
    }
}

fn is_yes(score: Score) -> bool {
    score.get() >= 0.5
}

/// The id and the text of each item, and what the judge made of it.
fn verdicts(judged: &Judged, input: &MetricInput<'_>, judgements: &[Judgement]) -> Vec<(String, String, Component)> {
    let JudgeItems::Given(items) = judged.measure.items(input) else { return Vec::new() };
    let dimension = judged.score(input, judgements);
    let component = |at: usize| match dimension.items.get(at) {
        Some(item) => item.component.clone(),
        None => dimension.component.clone(),
    };
    items.into_iter().enumerate().map(|(at, item)| (item.id, item.text, component(at))).collect()
}

/// After how many calls each message came that reaches a goal. A message without a verdict leaves open whether it was reached there,
/// unless another one at the same place among the calls reaches it.
fn reached(
    name: &str,
    transcript: &Transcript,
    scope: RubricScope,
    verdicts: &[(String, String, Component)],
) -> Result<Vec<usize>, UnknownGoal> {
    let (mut reached, mut undecided) = (Vec::new(), Vec::new());
    let mut calls = 0;
    for turn in &transcript.turns {
        let before = calls;
        calls += turn.call_count();
        let messages: Vec<(String, usize)> = match scope {
            RubricScope::Messages => (1..)
                .zip(turn.agent_messages())
                .map(|(place, message)| (message_item_id(name, turn.number, place), before + message.after_calls))
                .collect(),
            _ => vec![(format!("{name}@{}", turn.number), calls)],
        };
        for (id, after_calls) in messages {
            let Some((_, _, verdict)) = verdicts.iter().find(|(own, ..)| *own == id) else { continue };
            match verdict.score() {
                Some(score) => reached.extend(is_yes(score).then_some(after_calls)),
                None if verdict.is_missing() => undecided.push((after_calls, verdict.why())),
                None => {}
            }
        }
    }
    undecided.retain(|(after_calls, _)| !reached.contains(after_calls));
    match undecided.first() {
        Some((_, why)) => Err(UnknownGoal::Undecided {
            name: name.to_owned(),
            why: (*why).to_owned(),
            open: undecided.iter().map(|(after_calls, _)| *after_calls).collect(),
            reached,
        }),
        None => Ok(reached),
    }
}

#[cfg(test)]
mod tests;
