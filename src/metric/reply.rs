//! Metrics of a single reply: each turn's against what is expected there, and the last one's against what the case expects.

use std::borrow::Cow;

use super::document::{JsonConfig, JsonMeasure, XmlConfig, measure_xml};
use super::measured::{MeasureProblem, Measured, Unusable};
use super::options::{MetricOptions, OptionsProblem, reply_metric, reply_problems};
use super::pattern::PATTERN_HELP;
use super::rouge::{self, RougeConfig};
use super::trajectory::{Expectation, ExpectationProblem};
use super::wording::{KeywordsConfig, TextConfig, TextMatch, TextMeasure, measure_keywords};
use super::{ExpectedTurn, Metric, MetricInput, per_turn};
use crate::evidence::{Judgement, Turn};
use crate::score::{Component, Dimension, Score, Weight};

/// How a reply is measured.
pub(super) trait ReplyMeasure: Send + Sync {
    /// The metric's name.
    const NAME: &'static str;

    /// Whether an expectation, or an option of its own, says what a reply is compared with.
    fn applies(&self, expected: &Expectation) -> bool;

    /// Whether a turn of which nothing is expected is measured, too.
    fn takes_every_turn(&self) -> bool {
        false
    }

    /// Measures a reply.
    ///
    /// # Errors
    /// An option contradicts itself, or a text is too long.
    fn measure(&self, reply: &str, expected: &Expectation) -> Result<Measured, MeasureProblem>;

    /// Why no reply can be compared with this expectation; `None` where one can.
    fn unusable(&self, _expected: &Expectation) -> Option<Unusable> {
        None
    }
}

/// A metric of replies.
pub(super) struct ReplyMetric<M> {
    pub(super) weight: Weight,
    pub(super) measure: M,
}

impl<M: ReplyMeasure> Metric for ReplyMetric<M> {
    fn name(&self) -> &'static str {
        M::NAME
    }

    fn score(&self, input: &MetricInput<'_>, _judgements: &[Judgement]) -> Dimension {
        let with_all = self.measure.takes_every_turn().then(|| with_every_turn(input));
        let input = with_all.as_ref().unwrap_or(input);
        let nothing = Expectation::default();
        let of = |turn: Option<&Turn>, expected: &Expectation| {
            self.measure.applies(expected).then(|| self.component(turn, expected))
        };
        let is_line_expected = input.lines.iter().any(|line| self.measure.applies(&line.expected));
        let last = input.transcript.turns.iter().rev().find(|turn| !turn.is_greeting());
        let whole = input.expected.unwrap_or(&nothing);
        // Options of its own are about every reply of which something is expected, and else about the last one.
        let is_own = self.measure.applies(&nothing) && is_line_expected;
        let whole = if is_own { None } else { of(last, whole) };
        per_turn::dimension(M::NAME, self.weight, input, |turn, expected| of(Some(turn), expected), whole)
    }
}

/// The input with a line for each turn.
fn with_every_turn<'a>(input: &MetricInput<'a>) -> MetricInput<'a> {
    let mut all = input.clone();
    let turns = input.transcript.turns.iter().filter(|turn| !turn.is_greeting());
    let other = turns.filter(|turn| !input.lines.iter().any(|line| line.turn == turn.number));
    let line = |turn: &'a Turn| ExpectedTurn {
        turn: turn.number,
        say: &turn.user,
        expected: Cow::Owned(Expectation::default()),
    };
    all.lines.extend(other.map(line));
    all.lines.sort_by_key(|line| line.turn);
    all
}

impl<M: ReplyMeasure> ReplyMetric<M> {
    fn component(&self, turn: Option<&Turn>, expected: &Expectation) -> Component {
        let Some(reply) = turn.and_then(|turn| turn.agent.as_deref()) else {
            return Component::scored(Score::ZERO, "the agent did not reply");
        };
        match self.measure.measure(reply, expected) {
            Ok(Measured { score, why }) => Component::scored(score, why),
            Err(problem) => Component::missing(problem.to_string()),
        }
    }
}

impl MetricOptions for RougeConfig {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        reply_metric(self, weight)
    }

    fn options_problem(&self) -> Option<OptionsProblem> {
        OptionsProblem::of_check(self.check())
    }
}

impl ReplyMeasure for RougeConfig {
    const NAME: &'static str = "rouge";

    fn applies(&self, expected: &Expectation) -> bool {
        expected.reply.is_some() || !self.references.is_empty() || self.absent_is_zero
    }

    fn takes_every_turn(&self) -> bool {
        self.absent_is_zero
    }

    fn measure(&self, reply: &str, expected: &Expectation) -> Result<Measured, MeasureProblem> {
        if self.absent_is_zero && expected.reply.as_deref().is_none_or(str::is_empty) {
            return Ok(Measured::failed("no reply is expected of this turn, and that scores 0 here"));
        }
        rouge::measure(self, reply, expected.reply.as_deref()).map(|measured| measured.measured)
    }
}

impl MetricOptions for TextConfig {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        reply_metric(self, weight)
    }

    fn options_problem(&self) -> Option<OptionsProblem> {
        OptionsProblem::of_check(self.check())
    }

    fn expectation_problems(&self, expected: &Expectation) -> Vec<ExpectationProblem> {
        reply_problems(self.unusable(expected))
    }
}

impl ReplyMeasure for TextConfig {
    const NAME: &'static str = "text";

    fn applies(&self, expected: &Expectation) -> bool {
        let wanted = self.expected.as_deref().or(expected.reply.as_deref());
        // Every reply contains nothing: that is no expectation, except in the original.
        let is_said = match self.text_match {
            TextMatch::Skip => true,
            TextMatch::Exact => wanted.is_some(),
            TextMatch::Contains | TextMatch::Regex => wanted.is_some_and(|it| self.strict || !it.is_empty()),
        };
        is_said || wanted.is_some() && self.length.is_some()
    }

    fn measure(&self, reply: &str, expected: &Expectation) -> Result<Measured, MeasureProblem> {
        TextMeasure::new(self)?.measure(reply, expected.reply.as_deref())
    }

    fn unusable(&self, expected: &Expectation) -> Option<Unusable> {
        let is_pattern = self.text_match == TextMatch::Regex && self.expected.is_none();
        let wrong = self.pattern(expected.reply.as_deref().filter(|_| is_pattern)?).err()?;
        Some(Unusable { why: format!("the expected reply {wrong}"), help: PATTERN_HELP })
    }
}

impl MetricOptions for KeywordsConfig {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        reply_metric(self, weight)
    }

    fn options_problem(&self) -> Option<OptionsProblem> {
        OptionsProblem::of_check(self.check())
    }
}

impl ReplyMeasure for KeywordsConfig {
    const NAME: &'static str = "keywords";

    fn applies(&self, expected: &Expectation) -> bool {
        !expected.keywords.is_empty() || !self.keywords.is_empty()
    }

    fn measure(&self, reply: &str, expected: &Expectation) -> Result<Measured, MeasureProblem> {
        measure_keywords(self, reply, &expected.keywords)
    }
}

impl MetricOptions for JsonConfig {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        reply_metric(self, weight)
    }

    fn options_problem(&self) -> Option<OptionsProblem> {
        OptionsProblem::of_check(self.check())
    }

    fn expectation_problems(&self, expected: &Expectation) -> Vec<ExpectationProblem> {
        reply_problems(self.unusable(expected))
    }
}

impl ReplyMeasure for JsonConfig {
    const NAME: &'static str = "json";

    fn applies(&self, expected: &Expectation) -> bool {
        expected.reply.is_some() || self.stands_alone()
    }

    fn measure(&self, reply: &str, expected: &Expectation) -> Result<Measured, MeasureProblem> {
        JsonMeasure::new(self)?.measure(reply, expected.reply.as_deref())
    }

    fn unusable(&self, expected: &Expectation) -> Option<Unusable> {
        let MeasureProblem(why) = self.document(expected.reply.as_deref()?).err()?;
        Some(Unusable { why, help: "write the whole document, such as {\"city\": \"Rome\"}, or compare it as text" })
    }
}

impl MetricOptions for XmlConfig {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        reply_metric(self, weight)
    }
}

impl ReplyMeasure for XmlConfig {
    const NAME: &'static str = "xml";

    fn applies(&self, _expected: &Expectation) -> bool {
        true
    }

    fn measure(&self, reply: &str, _expected: &Expectation) -> Result<Measured, MeasureProblem> {
        Ok(measure_xml(reply))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::metric::input::Example;

    #[test]
    fn an_empty_reply_that_must_be_part_of_the_reply_is_no_expectation_except_in_the_original() {
        let expected: Expectation = serde_json::from_value(json!({"reply": ""})).unwrap();
        let mut example = Example::new(0);
        example.transcript.turns = vec![Turn::answered(1, "Hi", "whatever")];
        let score = |options: Value| {
            let measure: TextConfig = serde_json::from_value(options).unwrap();
            let input = MetricInput { expected: Some(&expected), ..example.input() };
            ReplyMetric { weight: Weight::ONE, measure }.score(&input, &[]).component
        };
        for way in ["contains", "regex"] {
            assert!(matches!(score(json!({"match": way})), Component::NotApplicable { .. }), "{way}");
            assert_eq!(score(json!({"match": way, "strict": true})).score(), Some(Score::ONE), "{way}");
            assert_eq!(score(json!({"match": way, "length": {"max": 3}})).score(), Some(Score::ZERO), "{way}");
        }
        assert_eq!(score(json!({"match": "exact"})).score(), Some(Score::ZERO), "an empty reply is expected");
    }

    #[test]
    fn a_turn_of_which_nothing_at_all_is_expected_scores_0_where_adk_has_it_so() {
        let expected: Expectation = serde_json::from_value(json!({"reply": "Hello"})).unwrap();
        let mut example = Example::new(0);
        example.transcript.turns = (1..=2).map(|turn| Turn::answered(turn, "Hi", "Hello")).collect();
        let line = ExpectedTurn { turn: 1, say: "Hi", expected: Cow::Borrowed(&expected) };
        let input = MetricInput { lines: vec![line], ..example.input() };
        let score = |options: Value| {
            let measure: RougeConfig = serde_json::from_value(options).unwrap();
            ReplyMetric { weight: Weight::ONE, measure }.score(&input, &[])
        };
        assert_eq!(score(json!({"type": "rouge1"})).component.score(), Some(Score::ONE));
        let strict = score(json!({"type": "rouge1", "absentIsZero": true}));
        assert_eq!(strict.component.score(), Some(Score::clamped(0.5)));
        assert_eq!(strict.items.iter().map(|item| item.turn).collect::<Vec<_>>(), [Some(1), Some(2)]);
    }
}
