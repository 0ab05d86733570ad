//! Whether the agent asked for the facts.
//!
//! Score: of the facts for which the agent had to ask, the share for which it did. A fact that the user told before the agent
//! could ask for it, or in answer to a question for whatever there is, or that the agent stated itself before it asked, says
//! nothing of that and is left out.

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
            Some(_) if scores.is_empty() => {
                Component::not_applicable("no fact had to be asked for: the user told it unasked or the agent knew it")
            }
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
        (_, Some(released)) if fact.was_told_first() => match fact.prompted {
            None => Component::not_applicable(format!("the user told it unasked in turn {released}")),
            Some(_) => {
                Component::not_applicable(format!("the user told it in turn {released}, asked for whatever there is"))
            }
        },
        _ if fact.is_known_to_agent() => Component::not_applicable(format!(
            "known to the agent, which stated it itself in turn {}",
            fact.stated.unwrap_or_default()
        )),
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
        let use_of = |fact, asked, released| FactUse { fact, asked, released, stated: None, prompted: None };
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
    fn what_a_question_for_whatever_there_is_brought_counts_neither_way() {
        let facts = ["a", "b"].map(str::to_owned);
        let prompted = FactUse { fact: 1, asked: None, released: Some(2), stated: None, prompted: Some(1) };
        let never = FactUse { fact: 2, asked: None, released: None, stated: None, prompted: None };
        let dimension = scored(&facts, Some(&[prompted, never]));
        assert_eq!(dimension.component.why(), "the agent asked for 0 of 1 facts");
        assert_eq!(dimension.items[0].component.why(), "the user told it in turn 2, asked for whatever there is");
    }

    #[test]
    fn what_nobody_saw_is_missing_and_what_is_not_there_does_not_apply() {
        let facts = ["a".to_owned()];
        assert!(matches!(scored(&facts, None).component, Component::Missing { .. }));
        assert!(matches!(scored(&[], Some(&[])).component, Component::NotApplicable { .. }));
        let uses = [FactUse { fact: 1, asked: None, released: Some(1), stated: None, prompted: None }];
        assert!(matches!(scored(&facts, Some(&uses)).component, Component::NotApplicable { .. }));
    }
    #[test]
    fn what_the_agent_stated_itself_before_it_asked_is_neither_asked_for_nor_missed() {
        let facts = ["a", "b", "c"].map(str::to_owned);
        let use_of =
            |fact, asked, stated| FactUse { fact, asked, released: None, stated: Some(stated), prompted: None };
        // A question that states the value; a statement alone; a statement after the question.
        let dimension = scored(&facts, Some(&[use_of(1, Some(2), 2), use_of(2, None, 1), use_of(3, Some(1), 2)]));
        assert_eq!(dimension.component.why(), "the agent asked for 1 of 1 facts");
        let whys: Vec<&str> = dimension.items.iter().map(|item| item.component.why()).collect();
        assert_eq!(
            whys,
            [
                "known to the agent, which stated it itself in turn 2",
                "known to the agent, which stated it itself in turn 1",
                "asked for in turn 1, not told"
            ]
        );
        assert!(matches!(
            scored(&facts[..1], Some(&[use_of(1, Some(2), 2)])).component,
            Component::NotApplicable { .. }
        ));
    }
}
