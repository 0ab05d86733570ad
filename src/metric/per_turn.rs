//! Scores what the agent did in the turns of which something is expected, and in the whole conversation.

use super::MetricInput;
use super::trajectory::Expectation;
use crate::evidence::Turn;
use crate::score::{Component, Dimension, Item, Score, Weight, weighted_mean};

/// The dimension of a metric that compares with what is expected. `in_turn` scores one turn, `whole` is the score of the
/// conversation as a whole; `None` where nothing is expected that the metric is about.
pub(super) fn dimension(
    name: &str,
    weight: Weight,
    input: &MetricInput<'_>,
    in_turn: impl Fn(&Turn, &Expectation) -> Option<Component>,
    whole: Option<Component>,
) -> Dimension {
    let mut items: Vec<Item> = Vec::new();
    for line in &input.lines {
        let held = input.transcript.turns.iter().find(|turn| turn.number == line.turn);
        let component = match held {
            Some(turn) => in_turn(turn, &line.expected),
            // What would have been measured is known without the turn.
            None => in_turn(&Turn::begun(line.turn, String::new()), &line.expected).map(|_| never_held(input)),
        };
        let label = || format!("turn {} · {}", line.turn, line.say);
        items.extend(component.map(|component| item(label(), Some(line.turn), component)));
    }
    items.extend(whole.map(|component| item("the conversation".to_owned(), None, component)));
    let parts = items.iter().map(|item| (Weight::ONE, item.label.as_str(), &item.component));
    let component = match (weighted_mean(parts), items.as_slice()) {
        (_, []) => Component::not_applicable("the case expects nothing that it measures"),
        (_, [only]) => only.component.clone(),
        (Component::Scored { score, .. }, items) => {
            let whole = items.iter().filter(|item| item.component.score() == Some(Score::ONE)).count();
            Component::scored(score, format!("{whole} of {} as expected", items.len()))
        }
        (missing, _) => missing,
    };
    Dimension { items, ..Dimension::new(name, weight, component) }
}

/// The dimension of a metric that looks at the conversation as a whole: its one part tells why.
pub(super) fn single_part(name: &str, weight: Weight, label: &str, component: Component) -> Dimension {
    let items = match component {
        Component::NotApplicable { .. } => Vec::new(),
        _ => vec![item(label.to_owned(), None, component.clone())],
    };
    Dimension { items, ..Dimension::new(name, weight, component) }
}

fn never_held(input: &MetricInput<'_>) -> Component {
    match input.agent_ended_it {
        true => Component::scored(Score::ZERO, "the agent had failed before this turn"),
        false => Component::missing("the conversation ended before this turn"),
    }
}

fn item(label: String, turn: Option<u32>, component: Component) -> Item {
    Item { turn, ..Item::new(label, component) }
}
