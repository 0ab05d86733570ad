//! Several things that must hold of one reply together, as trpc-agent-go's criterion of a final response asks for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Metric;
use super::document::{JsonConfig, XmlConfig};
use super::measured::{MeasureProblem, Measured, Unusable, problem};
use super::options::{MetricOptions, OptionsProblem, reply_metric, reply_problems};
use super::reply::ReplyMeasure;
use super::rouge::RougeConfig;
use super::trajectory::{Expectation, ExpectationProblem};
use super::wording::TextConfig;
use crate::score::Weight;

/// The requirement of a reply together: it scores 1 where every part is fulfilled, else 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "reply")]
pub struct ReplyParts {
    /// Whether the reply is, contains or matches a text, and how long it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<TextConfig>,
    /// Whether it is a JSON document, which one, and of what shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<JsonConfig>,
    /// How much of the expected reply's wording it has: all of it, unless `minimum` asks for less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rouge: Option<RougeConfig>,
    /// Whether it is a well-formed XML document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xml: Option<XmlConfig>,
}

impl ReplyParts {
    /// Whether it can be measured.
    ///
    /// # Errors
    /// There is no part, or the options of one can't be used.
    pub fn check(&self) -> Result<(), MeasureProblem> {
        self.text.as_ref().map_or(Ok(()), TextConfig::check)?;
        self.json.as_ref().map_or(Ok(()), JsonConfig::check)?;
        self.rouge.as_ref().map_or(Ok(()), RougeConfig::check)?;
        if *self == ReplyParts::default() {
            return problem("it has no part: give `text`, `json`, `rouge` or `xml`");
        }
        Ok(())
    }

    fn parts(&self) -> impl Iterator<Item = (&'static str, &dyn NamedMeasure)> {
        let parts: [(_, Option<&dyn NamedMeasure>); 4] = [
            ("text", self.text.as_ref().map(|it| it as &dyn NamedMeasure)),
            ("json", self.json.as_ref().map(|it| it as &dyn NamedMeasure)),
            ("rouge", self.rouge.as_ref().map(|it| it as &dyn NamedMeasure)),
            ("xml", self.xml.as_ref().map(|it| it as &dyn NamedMeasure)),
        ];
        parts.into_iter().filter_map(|(name, part)| Some((name, part?)))
    }
}

/// A measure whose name stands elsewhere.
trait NamedMeasure {
    fn applies(&self, expected: &Expectation) -> bool;
    fn measure(&self, reply: &str, expected: &Expectation) -> Result<Measured, MeasureProblem>;
    fn unusable(&self, expected: &Expectation) -> Option<Unusable>;
}

impl<M: ReplyMeasure> NamedMeasure for M {
    fn applies(&self, expected: &Expectation) -> bool {
        ReplyMeasure::applies(self, expected)
    }

    fn measure(&self, reply: &str, expected: &Expectation) -> Result<Measured, MeasureProblem> {
        ReplyMeasure::measure(self, reply, expected)
    }

    fn unusable(&self, expected: &Expectation) -> Option<Unusable> {
        ReplyMeasure::unusable(self, expected)
    }
}

impl MetricOptions for ReplyParts {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        reply_metric(self, weight)
    }

    fn options_problem(&self) -> Option<OptionsProblem> {
        OptionsProblem::of_check(self.check())
    }

    fn expectation_problems(&self, expected: &Expectation) -> Vec<ExpectationProblem> {
        reply_problems(ReplyMeasure::unusable(self, expected))
    }
}

impl ReplyMeasure for ReplyParts {
    const NAME: &'static str = "reply";

    fn applies(&self, expected: &Expectation) -> bool {
        self.parts().any(|(_, part)| part.applies(expected))
    }

    /// A part that fails decides, also where another one can't be measured.
    fn measure(&self, reply: &str, expected: &Expectation) -> Result<Measured, MeasureProblem> {
        let (mut held, mut failed, mut unknown) = (Vec::new(), Vec::new(), None);
        for (name, part) in self.parts().filter(|(_, part)| part.applies(expected)) {
            match part.measure(reply, expected) {
                Ok(measured) if measured.is_full() => held.push(format!("{name}: {}", measured.why)),
                Ok(measured) => failed.push(format!("{name}: {}", measured.why)),
                Err(why) => unknown = unknown.or(Some(why)),
            }
        }
        match unknown {
            _ if !failed.is_empty() => Ok(Measured::failed(failed.join("\n"))),
            Some(why) => Err(why),
            None => Ok(Measured::passed(held.join("; "))),
        }
    }

    fn unusable(&self, expected: &Expectation) -> Option<Unusable> {
        self.parts().find_map(|(_, part)| part.unusable(expected))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::evidence::Turn;
    use crate::metric::input::Example;
    use crate::metric::{ExpectedTurn, MetricInput, metric};
    use crate::score::Component;

    fn measured(options: Value, reply: &str, expected: &str) -> Result<Measured, MeasureProblem> {
        let parts: ReplyParts = serde_json::from_value(options).unwrap();
        let expected = Expectation { reply: Some(expected.to_owned()), ..Expectation::default() };
        ReplyMeasure::measure(&parts, reply, &expected)
    }

    #[test]
    fn every_part_must_hold_and_one_that_fails_decides() {
        let parts = json!({"text": {"match": "contains"}, "rouge": {"minimum": {"f1": 0.9}}});
        assert!(measured(parts.clone(), "Hello", "Hello").unwrap().is_full());
        let failed = measured(parts, "Hello to all of you", "Hello").unwrap();
        assert_eq!(failed.score.get(), 0.0);
        assert!(failed.why.starts_with("rouge: rouge1 f1 0.333"), "{}", failed.why);
        assert!(measured(json!({"text": {}, "json": {}}), "a", "a").is_err(), "what is expected is no JSON");
        assert_eq!(measured(json!({"text": {}, "json": {}}), "b", "a").unwrap().score.get(), 0.0);
    }

    #[test]
    fn the_score_is_the_share_of_the_turns_in_which_all_parts_hold() {
        let entry = json!({"reply": {"text": {"match": "contains"}, "json": {"match": "skip"}}});
        let entry = serde_json::from_value(entry).unwrap();
        let mut example = Example::new(0);
        let replies = ["[1]", "1", "[1", "{}"];
        example.transcript.turns =
            replies.iter().zip(1..).map(|(reply, number)| Turn::answered(number, "Hi", reply)).collect();
        let expected: Expectation = serde_json::from_value(json!({"reply": "1"})).unwrap();
        let line = |turn| ExpectedTurn { turn, say: "Hi", expected: std::borrow::Cow::Borrowed(&expected) };
        let input = MetricInput { lines: (1..=4).map(line).collect(), ..example.input() };
        let dimension = metric(&entry, &Default::default()).unwrap().score(&input, &[]);
        assert_eq!(dimension.component.score().map(|score| score.get()), Some(0.5), "{:?}", dimension.component);
        assert!(matches!(&dimension.items[2].component, Component::Scored { why, .. } if why.starts_with("json: ")));
    }

    #[test]
    fn without_a_part_it_is_refused() {
        assert!(ReplyParts::default().check().is_err());
    }
}
