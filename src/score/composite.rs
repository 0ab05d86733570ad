//! The one formula.
//!
//! Embabel's, where all dimensions are there:
//! `overall = max(0, (timing + 2 × tasks + 4 × assertions) / 7 − penalty)`, `penalty = min(0.3 × failures, 0.5)`.
//! A dimension that a job does not use leaves numerator and denominator; one that is missing makes the composite
//! missing.

use super::{Component, Dimension, Score, Weight};

/// The penalty for failed tries: 0.3 each, 0.5 at most.
pub fn penalty(failure_count: u32) -> f64 {
    (0.3 * f64::from(failure_count)).min(0.5)
}

/// The weighted mean of the parts that are scored: `NotApplicable` parts leave it, a `Missing` part of a weight above 0
/// makes it missing, and nothing left to weigh makes it not applicable.
pub fn weighted_mean<'a>(parts: impl IntoIterator<Item = (Weight, &'a str, &'a Component)>) -> Component {
    let (mut sum, mut weights) = (0.0, 0.0);
    let mut missing = Vec::new();
    for (weight, label, component) in parts {
        match component {
            _ if weight == Weight::ZERO => {}
            Component::Scored { score, .. } => {
                sum += score.get() * weight.get();
                weights += weight.get();
            }
            Component::NotApplicable { .. } => {}
            Component::Missing { error } => missing.push(format!("{label}: {error}")),
        }
    }
    if !missing.is_empty() {
        return Component::missing(missing.join("; "));
    }
    if weights == 0.0 {
        return Component::not_applicable("nothing that counts was measured");
    }
    Component::scored(Score::clamped(sum / weights), format!("weighted mean, weights add up to {weights}"))
}

/// A trial's figure: the weighted mean of its dimensions, less the penalty, 0 at the least.
pub fn composite(dimensions: &[Dimension], failure_count: u32) -> Component {
    let mean = weighted_mean(
        dimensions.iter().map(|dimension| (dimension.weight, dimension.name.as_str(), &dimension.component)),
    );
    let Component::Scored { score, .. } = mean else { return mean };
    let penalty = penalty(failure_count);
    let counted: Vec<&Dimension> = dimensions
        .iter()
        .filter(|dimension| dimension.weight > Weight::ZERO && dimension.component.score().is_some())
        .collect();
    let terms: Vec<String> =
        counted.iter().map(|dimension| format!("{} × {}", dimension.weight.get(), dimension.name)).collect();
    let weights: f64 = counted.iter().map(|dimension| dimension.weight.get()).sum();
    let mut why = format!("({}) / {weights}", terms.join(" + "));
    if penalty > 0.0 {
        why.push_str(&format!(
            " − {penalty} for {failure_count} failed {}",
            if failure_count == 1 { "try" } else { "tries" }
        ));
    }
    Component::scored(Score::clamped(score.get() - penalty), why)
}

/// The mean of figures of one kind, `cases`, and only if each has one.
pub fn mean_of<'a>(kind: &str, figures: impl IntoIterator<Item = (&'a str, &'a Component)>) -> Component {
    let figures: Vec<_> = figures.into_iter().collect();
    match weighted_mean(figures.iter().map(|(label, component)| (Weight::ONE, *label, *component))) {
        Component::Scored { score, .. } => Component::scored(score, format!("mean of {} {kind}", figures.len())),
        other => other,
    }
}

/// A case's figure: the mean of its conditions' figures, and only if each has one.
pub fn mean_of_conditions<'a>(composites: impl IntoIterator<Item = (&'a str, &'a Component)>) -> Component {
    let composites: Vec<_> = composites.into_iter().collect();
    match weighted_mean(composites.iter().map(|(label, component)| (Weight::ONE, *label, *component))) {
        Component::Scored { score, .. } => {
            let labels: Vec<&str> = composites.iter().map(|(label, _)| *label).collect();
            let why = match labels.as_slice() {
                [only] => format!("{only} only"),
                labels => format!("mean of {}", labels.join(" and ")),
            };
            Component::scored(score, why)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn dimension(name: &str, weight: f64, component: Component) -> Dimension {
        Dimension::new(name, Weight::new(weight).unwrap(), component)
    }

    fn scored(score: f64) -> Component {
        Component::scored(Score::new(score).unwrap(), "")
    }

    fn embabel(timing: Component, tasks: Component, assertions: Component) -> Vec<Dimension> {
        vec![dimension("timing", 1.0, timing), dimension("tasks", 2.0, tasks), dimension("assertions", 4.0, assertions)]
    }

    #[test]
    fn with_every_dimension_it_is_embabels_formula() {
        let composite = composite(&embabel(scored(0.5), scored(0.8), scored(0.75)), 1);
        let expected = (0.5 + 2.0 * 0.8 + 4.0 * 0.75) / 7.0 - 0.3;
        assert!((composite.score().unwrap().get() - expected).abs() < 1e-12);
        assert_eq!(composite.why(), "(1 × timing + 2 × tasks + 4 × assertions) / 7 − 0.3 for 1 failed try");
    }

    #[test]
    fn an_absent_dimension_leaves_the_weighting_and_the_words_say_so() {
        let composite =
            composite(&embabel(Component::not_applicable(""), scored(0.5), Component::not_applicable("")), 0);
        assert_eq!(composite.score(), Score::new(0.5));
        assert_eq!(composite.why(), "(2 × tasks) / 2");
    }

    #[test]
    fn a_missing_part_makes_the_whole_missing_and_is_named() {
        let composite = composite(&embabel(scored(1.0), scored(1.0), Component::missing("the graph is down")), 0);
        assert_eq!(composite, Component::missing("assertions: the graph is down"));
    }

    #[test]
    fn what_weighs_nothing_changes_nothing_even_if_it_is_missing() {
        let mut dimensions = embabel(scored(1.0), scored(0.5), scored(0.25));
        let before = composite(&dimensions, 0);
        dimensions.push(dimension("tone", 0.0, Component::missing("the judge said nothing of it")));
        assert_eq!(composite(&dimensions, 0), before);
    }

    #[test]
    fn the_jobs_figure_needs_both_conditions() {
        let (one, half, none) = (scored(1.0), scored(0.5), Component::missing("broken: agent down"));
        let both = mean_of_conditions([("without facts", &one), ("with facts", &half)]);
        assert_eq!(both.score(), Score::new(0.75));
        let lacking = mean_of_conditions([("without facts", &one), ("with facts", &none)]);
        assert_eq!(lacking, Component::missing("with facts: broken: agent down"));
    }

    fn component() -> impl Strategy<Value = Component> {
        prop_oneof![
            6 => (0.0..=1.0f64).prop_map(scored),
            1 => Just(Component::not_applicable("not used")),
            1 => Just(Component::missing("down")),
        ]
    }

    proptest! {
        #[test]
        fn a_composite_is_a_score_or_says_why_not(
            parts in proptest::collection::vec((0.0..1e6f64, component()), 0..8),
            failures in 0u32..50,
        ) {
            let dimensions: Vec<Dimension> =
                parts.into_iter().map(|(weight, component)| dimension("d", weight, component)).collect();
            let counted_missing = dimensions.iter().any(|d| d.weight > Weight::ZERO && d.component.is_missing());
            let composite = composite(&dimensions, failures);
            prop_assert_eq!(composite.is_missing(), counted_missing);
            if let Some(score) = composite.score() {
                prop_assert!((0.0..=1.0).contains(&score.get()));
            }
        }

        #[test]
        fn a_better_part_never_makes_a_worse_whole(
            timing in 0.0..=1.0f64, tasks in 0.0..=1.0f64, low in 0.0..=1.0f64, high in 0.0..=1.0f64, failures in 0u32..5,
        ) {
            let (low, high) = (low.min(high), low.max(high));
            let with = |assertions: f64| composite(&embabel(scored(timing), scored(tasks), scored(assertions)), failures);
            prop_assert!(with(low).score() <= with(high).score());
        }

        #[test]
        fn a_penalty_grows_to_a_half(failures in 0u32..1000) {
            prop_assert!((0.0..=0.5).contains(&penalty(failures)));
            prop_assert!(penalty(failures) <= penalty(failures + 1));
        }

        #[test]
        fn a_mean_lies_between_its_parts(parts in proptest::collection::vec((0.001..1e3f64, 0.0..=1.0f64), 1..8)) {
            let components: Vec<(Weight, Component)> =
                parts.iter().map(|(weight, score)| (Weight::new(*weight).unwrap(), scored(*score))).collect();
            let mean = weighted_mean(components.iter().map(|(weight, component)| (*weight, "p", component)));
            let mean = mean.score().unwrap().get();
            let (low, high) = parts.iter().fold((1.0f64, 0.0f64), |(low, high), (_, s)| (low.min(*s), high.max(*s)));
            prop_assert!(low - 1e-9 <= mean && mean <= high + 1e-9);
        }
    }
}
