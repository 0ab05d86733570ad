//! Tasks beside the assertions that verify them: what the judge says of a task can be compared with what really happened.

use crate::job::Case;
use crate::score::{Component, Dimension, Item, Score};

/// Notes on each task that assertions verify whether they hold.
pub(super) fn note(case: &Case, dimensions: &mut [Dimension]) {
    if case.tasks.iter().all(|task| task.verified_by.is_empty()) {
        return;
    }
    let assertions = dimensions.iter().find(|dimension| dimension.metric() == "assertions");
    let assertions = assertions.map(|it| it.items.clone()).unwrap_or_default();
    for tasks in dimensions.iter_mut().filter(|dimension| dimension.metric() == "tasks") {
        for (item, task) in tasks.items.iter_mut().zip(&case.tasks) {
            item.verified = verified(&task.verified_by, &assertions);
        }
    }
}

/// 1 if all of the named assertions hold, 0 if one does not; `None` where none of them is checked.
fn verified(names: &[String], assertions: &[Item]) -> Option<Component> {
    let is_checked =
        |item: &&Item| names.contains(&item.label) && !matches!(item.component, Component::NotApplicable { .. });
    let checked: Vec<&Item> = assertions.iter().filter(is_checked).collect();
    if checked.is_empty() {
        return None;
    }
    let broken = checked.iter().find(|item| item.component.score().is_some_and(|score| score < Score::ONE));
    let unknown = checked.iter().find(|item| item.component.is_missing());
    Some(match (broken, unknown) {
        (Some(item), _) => Component::scored(Score::ZERO, format!("{}: {}", item.label, item.component.why())),
        (None, Some(item)) => Component::missing(format!("{}: {}", item.label, item.component.why())),
        (None, None) => Component::scored(Score::ONE, format!("{} of {} hold", checked.len(), checked.len())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_verified_by_all_of_its_assertions() {
        let item = |label: &str, component| Item::new(label, component);
        let holds = || Component::scored(Score::ONE, "holds");
        let assertions = [
            item("a", holds()),
            item("b", Component::scored(Score::ZERO, "found 0")),
            item("c", Component::missing("the graph is down")),
            item("d", Component::not_applicable("only checked with facts")),
        ];
        let of = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            verified(&names, &assertions)
        };
        assert_eq!(of(&["a", "d"]), Some(Component::scored(Score::ONE, "1 of 1 hold")));
        assert_eq!(of(&["a", "b"]), Some(Component::scored(Score::ZERO, "b: found 0")));
        assert_eq!(of(&["c", "b"]).unwrap().score(), Some(Score::ZERO), "one that does not hold is enough");
        assert_eq!(of(&["a", "c"]), Some(Component::missing("c: the graph is down")));
        assert_eq!(of(&["d"]), None);
        assert_eq!(of(&[]), None);
    }
}
