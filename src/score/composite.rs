//! The one formula.
//!
//! Embabel's, where all dimensions are there:
//! `overall = max(0, (timing + 2 × tasks + 4 × assertions) / 7 − penalty)`, `penalty = min(0.3 × failures, 0.5)`.
//! A dimension that a job does not use leaves numerator and denominator; one that is missing makes the composite
//! missing.

use super::{Component, Dimension, Score, Weight};

/// What is subtracted for failed tries: 0.3 each, 0.5 at the most.
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
        return Component::not_applicable("nothing to weigh");
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
    let counted: Vec<String> = dimensions
        .iter()
        .filter(|dimension| dimension.weight > Weight::ZERO)
        .filter_map(|dimension| {
            Some(format!("{} × {}", dimension.weight.get(), dimension.name))
                .filter(|_| dimension.component.score().is_some())
        })
        .collect();
    let weights: f64 = dimensions
        .iter()
        .filter(|dimension| dimension.component.score().is_some())
        .map(|dimension| dimension.weight.get())
        .sum();
    let mut why = format!("({}) / {weights}", counted.join(" + "));
    if penalty > 0.0 {
        why.push_str(&format!(
            " − {penalty} for {failure_count} failed {}",
            if failure_count == 1 { "try" } else { "tries" }
        ));
    }
    Component::scored(Score::clamped((score.get() - penalty).max(0.0)), why)
}

/// The job's figure: the mean of its trials' figures, and only if every trial has one.
pub fn mean_of_conditions<'a>(composites: impl IntoIterator<Item = (&'a str, &'a Component)>) -> Component {
    let composites: Vec<_> = composites.into_iter().collect();
    match weighted_mean(composites.iter().map(|(label, component)| (Weight::ONE, *label, *component))) {
        Component::Scored { score, .. } => {
            let labels: Vec<&str> = composites.iter().map(|(label, _)| *label).collect();
            Component::scored(score, format!("mean of {}", labels.join(" and ")))
        }
        other => other,
    }
}
