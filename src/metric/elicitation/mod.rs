//! Whether the agent asked for the facts.
//!
//! Score: of the facts that the user did not give unasked, the share for which the agent asked. A fact that the user told before
//! the agent could ask for it says nothing of the agent and is left out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::MetricOptions;
use super::table::NoOptions;
use super::{Metric, MetricInput};
use crate::evidence::{FactUse, Judgement};
use crate::score::{Component, Dimension, Item, Score, Weight};

/// The options of `elicitation`: none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ElicitationConfig(NoOptions);

impl MetricOptions for ElicitationConfig {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        Some(Box::new(ElicitationMetric { weight }))
    }
}

/// Whether the agent asked for the facts.
#[derive(Debug, Clone, Copy)]
pub(super) struct ElicitationMetric {
    pub(super) weight: Weight,
}

impl Metric for ElicitationMetric {
    fn name(&self) -> &'static str {
        "elicitation"
    }

    fn score(&self, input: &MetricInput<'_>, _judgements: &[Judgement]) -> Dimension {
        let items: Vec<Item> = match input.fact_uses {
            Some(uses) => {
                input.facts.iter().zip(uses).map(|(fact, use_of)| Item::new(fact, component(use_of))).collect()
            }
            None => Vec::new(),
        };
        let scores: Vec<f64> = items.iter().filter_map(|item| item.component.score()).map(Score::get).collect();
        let asked = scores.iter().filter(|score| **score > 0.0).count();
        let whole = match input.fact_uses {
            _ if input.facts.is_empty() => Component::not_applicable("the case has no facts"),
            None => Component::missing("what became of the facts was not recorded"),
            Some(_) if scores.is_empty() => Component::not_applicable("the user told every fact unasked"),
            Some(_) => Component::scored(
                Score::clamped(scores.iter().sum::<f64>() / scores.len() as f64),
                format!("the agent asked for {asked} of {} facts", scores.len()),
            ),
        };
        Dimension { items, ..Dimension::new(self.name(), self.weight, whole) }
    }
}

fn component(fact: &FactUse) -> Component {
    match (fact.asked, fact.released) {
        (_, Some(released)) if fact.is_volunteered() => {
            Component::not_applicable(format!("the user told it unasked in turn {released}"))
        }
        (Some(asked), Some(released)) => {
            Component::scored(Score::ONE, format!("asked for in turn {asked}, told in turn {released}"))
        }
        (Some(asked), None) => Component::scored(Score::ONE, format!("asked for in turn {asked}, not told")),
        (None, _) => Component::scored(Score::ZERO, "the agent never asked for it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::input::Example;

    fn scored(facts: &[String], uses: Option<&[FactUse]>) -> Dimension {
        let example = Example::new(1);
        let metric = ElicitationMetric { weight: Weight::ONE };
        metric.score(&MetricInput { facts, fact_uses: uses, ..example.input() }, &[])
    }

    #[test]
    fn it_is_the_share_of_the_facts_that_were_asked_for_of_those_that_were_not_volunteered() {
        let facts = ["a", "b", "c", "d"].map(str::to_owned);
        let use_of = |fact, asked, released| FactUse { fact, asked, released };
        let uses =
            [use_of(1, Some(1), Some(2)), use_of(2, Some(2), None), use_of(3, None, None), use_of(4, Some(3), Some(3))];
        let dimension = scored(&facts, Some(&uses));
        assert_eq!(dimension.component.score(), Score::new(2.0 / 3.0));
        assert_eq!(dimension.component.why(), "the agent asked for 2 of 3 facts");
        let whys: Vec<&str> = dimension.items.iter().map(|item| item.component.why()).collect();
        assert_eq!(
            whys,
            [
                "asked for in turn 1, told in turn 2",
                "asked for in turn 2, not told",
                "the agent never asked for it",
                "the user told it unasked in turn 3"
            ]
        );
    }

    #[test]
    fn what_nobody_saw_is_missing_and_what_is_not_there_does_not_apply() {
        let facts = ["a".to_owned()];
        assert!(matches!(scored(&facts, None).component, Component::Missing { .. }));
        assert!(matches!(scored(&[], Some(&[])).component, Component::NotApplicable { .. }));
        let uses = [FactUse { fact: 1, asked: None, released: Some(1) }];
        assert!(matches!(scored(&facts, Some(&uses)).component, Component::NotApplicable { .. }));
    }
}
