//! The state of the agent's session after the conversation, against the one that the case expects.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::json::{JsonRules, json_differences};
use super::measured::{MeasureProblem, problem};
use super::options::{MetricOptions, OptionsProblem};
use super::selection::Selection;
use super::{Metric, MetricInput};
use crate::evidence::{Judgement, Observed};
use crate::score::{Component, Dimension, Score, Weight};

/// How many differences are shown at most.
const SHOWN: usize = 10;

/// How the state is compared with `expected.state`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "state")]
pub struct StateConfig {
    /// Whether the state may have nothing else than what is expected.
    pub exact: bool,
    /// Numbers that differ by at most so much are the same.
    #[schemars(range(min = 0))]
    pub number_tolerance: f64,
    /// The only places that are compared, such as `city` or `cart.items`; a key with a dot needs a JSON Pointer: `/a.b`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_paths: Option<Vec<String>>,
    /// Places that are not compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore_paths: Vec<String>,
}

impl Default for StateConfig {
    fn default() -> StateConfig {
        StateConfig { exact: false, number_tolerance: JsonRules::TOLERANCE, only_paths: None, ignore_paths: Vec::new() }
    }
}

impl StateConfig {
    /// How it compares.
    ///
    /// # Errors
    /// An option that can't be used.
    pub(super) fn rules(&self) -> Result<JsonRules, MeasureProblem> {
        if !self.number_tolerance.is_finite() {
            return problem("`numberTolerance` must be a number from 0 on");
        }
        Ok(JsonRules {
            number_tolerance: self.number_tolerance,
            only: self.only_paths.as_deref().map(Selection::from_paths).transpose()?,
            ignore: Selection::from_paths(&self.ignore_paths)?,
            extra: !self.exact,
            ..JsonRules::default()
        })
    }
}

impl MetricOptions for StateConfig {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        Some(Box::new(StateMetric { weight, options: self.clone() }))
    }

    fn options_problem(&self) -> Option<OptionsProblem> {
        OptionsProblem::of_check(self.rules().map(drop))
    }

    fn state_use(&self, is_expected: bool) -> Option<&'static str> {
        is_expected.then_some("the metric state compares `expected.state`")
    }
}

/// The final state against the expected one.
#[derive(Debug, Clone)]
pub(super) struct StateMetric {
    pub(super) weight: Weight,
    pub(super) options: StateConfig,
}

impl Metric for StateMetric {
    fn name(&self) -> &'static str {
        "state"
    }

    fn score(&self, input: &MetricInput<'_>, _judgements: &[Judgement]) -> Dimension {
        super::single_part(self.name(), self.weight, "the state after the conversation", self.component(input))
    }
}

impl StateMetric {
    fn component(&self, input: &MetricInput<'_>) -> Component {
        let Some(expected) = input.expected.and_then(|expected| expected.state.as_ref()) else {
            return Component::not_applicable("the case expects no state");
        };
        let actual = match input.state {
            Some(Observed::Seen(context)) => context.state(),
            Some(Observed::Failed(error)) if input.agent_ended_it => {
                return Component::scored(Score::ZERO, format!("the agent failed and shows no state: {error}"));
            }
            Some(Observed::Failed(error)) => {
                return Component::missing(format!("the state could not be read: {error}"));
            }
            None => return Component::missing("the state was never read"),
        };
        let rules = match self.options.rules() {
            Ok(rules) => rules,
            Err(problem) => return Component::missing(problem.to_string()),
        };
        let differences = json_differences(&actual, expected, &rules);
        if let Some(doubt) = differences.doubt() {
            return Component::missing(doubt);
        }
        let differences = differences.found;
        if differences.is_empty() {
            return Component::scored(Score::ONE, "the state is as expected");
        }
        let places = if differences.len() == 1 { "place" } else { "places" };
        let mut why = format!("the state differs in {} {places}", differences.len());
        for difference in differences.iter().take(SHOWN) {
            why.push_str(&format!("\n  {difference}"));
        }
        if differences.len() > SHOWN {
            why.push_str(&format!("\n  and {} more", differences.len() - SHOWN));
        }
        Component::scored(Score::ZERO, why)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::evidence::ObjectContext;
    use crate::metric::input::Example;
    use crate::metric::trajectory::Expectation;

    fn score(options: Value, expected: Option<Value>, state: Option<Observed<Value>>, failed: bool) -> Component {
        let options: StateConfig = serde_json::from_value(options).unwrap();
        let example = Example::new(1);
        let expected = Expectation { state: expected, ..Expectation::default() };
        let state = state.map(|state| match state {
            Observed::Seen(context) => Observed::Seen(ObjectContext { context, ..ObjectContext::default() }),
            Observed::Failed(error) => Observed::Failed(error),
        });
        let input =
            MetricInput { expected: Some(&expected), state: state.as_ref(), agent_ended_it: failed, ..example.input() };
        StateMetric { weight: Weight::ONE, options }.score(&input, &[]).component
    }

    #[test]
    fn the_expected_keys_are_compared_and_all_where_it_must_be_exact() {
        let actual =
            || Some(Observed::Seen(json!({"cart": {"items": [{"id": 1, "at": 5}], "total": 9.5}, "user:x": 1})));
        let expected = json!({"cart": {"items": [{"id": 1}], "total": 9.5}});
        assert_eq!(score(json!({}), Some(expected.clone()), actual(), false).score(), Some(Score::ONE));
        let exact = score(json!({"exact": true}), Some(expected.clone()), actual(), false);
        assert_eq!(
            exact.why(),
            "the state differs in 2 places\n  `/cart/items/0/at`: expected nothing, actual 5\n  `/user:x`: expected nothing, \
             actual 1"
        );
        let ignored = json!({"exact": true, "ignorePaths": ["cart.items.at", "user:x"]});
        assert_eq!(score(ignored, Some(expected), actual(), false).score(), Some(Score::ONE));
        let other = score(json!({}), Some(json!({"cart": {"items": []}, "done": true})), actual(), false);
        assert_eq!(
            other.why(),
            "the state differs in 2 places\n  `/cart/items/0`: expected nothing, actual {\"id\":1,\"at\":5}\n  `/done`: expected \
             true, actual nothing"
        );
    }

    #[test]
    fn a_state_that_nobody_saw_is_missing_unless_the_agent_failed() {
        let expected = || Some(json!({"a": 1}));
        assert!(score(json!({}), expected(), None, false).is_missing());
        let failed = || Some(Observed::Failed("500".to_owned()));
        assert_eq!(
            score(json!({}), expected(), failed(), false),
            Component::missing("the state could not be read: 500")
        );
        assert_eq!(score(json!({}), expected(), failed(), true).score(), Some(Score::ZERO));
        assert!(matches!(score(json!({}), None, failed(), false), Component::NotApplicable { .. }));
    }
}
