//! Goals as a graph: each is reached, and after those that lead to it.

use std::collections::{BTreeMap, BTreeSet};

use super::align::Pairs;

/// Goals, and what comes after each.
pub type GoalGraph = BTreeMap<String, Vec<String>>;

/// An error of a graph of goals.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GoalError {
    /// Goals lead back to themselves.
    #[error("the goals lead in a circle: {}; take one of these edges away", .0.join(" → "))]
    Cycle(Vec<String>),
    /// A goal of the graph is no call and no message.
    #[error("goals: {name:?} is the name of no call and no message; {}", known(.names))]
    Unknown {
        /// The name.
        name: String,
        /// The names that there are.
        names: Vec<String>,
    },
    /// A call or a message has a name that is not in the graph.
    #[error("{0:?} is not among the goals; add it as `{0}: []`")]
    Orphan(String),
    /// Two calls or messages have the same name.
    #[error("{0:?} is the name of two goals; give each a name of its own")]
    Twice(String),
    /// A call has no name, so that no goal can be it.
    #[error("the call of {0} has no name; goals need one")]
    Nameless(String),
}

fn known(names: &[String]) -> String {
    if names.is_empty() { "there are none".to_owned() } else { format!("there are {}", names.join(", ")) }
}

/// Checks a graph against the names of the calls and messages that are its goals; `None` is a call without a name.
///
/// # Errors
/// All that is wrong with it.
pub fn check_goals(graph: &GoalGraph, names: &[(Option<&str>, &str)]) -> Result<(), Vec<GoalError>> {
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for (name, tool) in names {
        match name {
            None => wrong.push(GoalError::Nameless((*tool).to_owned())),
            Some(name) if !seen.insert(*name) => wrong.push(GoalError::Twice((*name).to_owned())),
            Some(_) => {}
        }
    }
    let nodes = nodes(graph);
    let all: Vec<String> = seen.iter().map(|name| (*name).to_owned()).collect();
    wrong.extend(
        nodes
            .iter()
            .filter(|node| !seen.contains(*node))
            .map(|node| GoalError::Unknown { name: (*node).to_owned(), names: all.clone() }),
    );
    wrong.extend(seen.iter().filter(|name| !nodes.contains(*name)).map(|name| GoalError::Orphan((*name).to_owned())));
    wrong.extend(cycle(graph).map(GoalError::Cycle));
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn nodes(graph: &GoalGraph) -> BTreeSet<&str> {
    graph.iter().flat_map(|(node, after)| after.iter().chain([node])).map(String::as_str).collect()
}

/// A circle of goals, if there is one.
fn cycle(graph: &GoalGraph) -> Option<Vec<String>> {
    let mut left: BTreeMap<&str, usize> = nodes(graph).into_iter().map(|node| (node, 0)).collect();
    for next in graph.values().flatten() {
        *left.entry(next).or_default() += 1;
    }
    // Take away what nothing leads to, until only circles and what hangs on them are left.
    while let Some(node) = left.iter().find(|(_, count)| **count == 0).map(|(node, _)| *node) {
        left.remove(node);
        for next in graph.get(node).into_iter().flatten() {
            if let Some(count) = left.get_mut(next.as_str()) {
                *count -= 1;
            }
        }
    }
    // Everything that is left has something left that leads to it: go backwards until a goal comes again.
    let mut path: Vec<&str> = vec![left.keys().next()?];
    loop {
        let current = *path.last()?;
        let before =
            left.keys().find(|node| graph.get(**node).is_some_and(|after| after.iter().any(|it| it == current)))?;
        if let Some(start) = path.iter().position(|node| node == before) {
            let mut circle: Vec<String> = path[start..].iter().rev().map(|node| (*node).to_owned()).collect();
            circle.rotate_right(1);
            circle.push(circle[0].clone());
            return Some(circle);
        }
        path.push(before);
    }
}

/// watsonx' own test: whether an order of goals reaches every one, each after those that lead to it. `strict` takes the last
/// time at which a goal came, otherwise any. An empty order never does.
pub fn is_topological_order(graph: &GoalGraph, order: &[&str], strict: bool) -> bool {
    if order.is_empty() {
        return false;
    }
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, node) in order.iter().enumerate() {
        let places = places.entry(node).or_default();
        if strict {
            places.clear();
        }
        places.push(at);
    }
    if !nodes(graph).iter().all(|node| places.contains_key(node)) {
        return false;
    }
    let edges = graph.iter().flat_map(|(node, after)| after.iter().map(move |next| (node.as_str(), next.as_str())));
    edges.into_iter().all(|(node, next)| places[node].first() < places[next].last())
}

/// A goal within the search: which slots of the conversation may reach it, and what must be reached before.
#[derive(Debug, Clone, Default)]
pub(super) struct GoalNode {
    /// The slots, in order.
    pub(super) slots: Vec<usize>,
    /// Goals that must be reached before.
    pub(super) before: Vec<usize>,
    /// Whether a slot that reaches it may reach others too: messages may, calls not.
    pub(super) shares: bool,
}

/// The most states that the search keeps at a time.
const MOST_STATES: usize = 4_096;

/// Slots for all goals such that every goal comes after those that lead to it, if there are any.
///
/// It goes along the conversation and keeps the sets of goals that can have been reached. To reach a goal sooner is never worse,
/// so a slot is only left unused where no goal that it could reach is ready; where several are, each is tried.
pub(super) fn in_order(nodes: &[GoalNode], slots: usize) -> Option<Pairs> {
    let words = nodes.len().div_ceil(64);
    let has = |set: &[u64], node: usize| set[node / 64] & (1 << (node % 64)) != 0;
    type State = (Vec<u64>, Pairs);
    let mut states: Vec<State> = vec![(vec![0; words], vec![None; nodes.len()])];
    let mut may_at: Vec<Vec<usize>> = vec![Vec::new(); slots];
    for (at, node) in nodes.iter().enumerate() {
        node.slots.iter().filter(|slot| **slot < slots).for_each(|slot| may_at[*slot].push(at));
    }
    for (slot, may) in may_at.into_iter().enumerate() {
        if may.is_empty() {
            continue;
        }
        let mut next: BTreeMap<Vec<u64>, Pairs> = BTreeMap::new();
        for (mut set, mut pairs) in states {
            // What shares its slot is reached beside the others.
            let ready = |set: &[u64], node: usize| !has(set, node) && nodes[node].before.iter().all(|it| has(set, *it));
            for node in may.iter().copied().filter(|node| nodes[*node].shares) {
                if ready(&set, node) {
                    set[node / 64] |= 1 << (node % 64);
                    pairs[node] = Some(slot);
                }
            }
            let mut tried: Vec<usize> = Vec::new();
            for node in may.iter().copied().filter(|node| !nodes[*node].shares) {
                let is_alike = |other: &usize| {
                    let (a, b) = (&nodes[*other], &nodes[node]);
                    a.slots == b.slots && a.before == b.before && leads_alike(nodes, *other, node)
                };
                if ready(&set, node) && !tried.iter().any(is_alike) {
                    tried.push(node);
                }
            }
            let last = tried.pop();
            for node in tried {
                let (mut set, mut pairs) = (set.clone(), pairs.clone());
                set[node / 64] |= 1 << (node % 64);
                pairs[node] = Some(slot);
                next.entry(set).or_insert(pairs);
            }
            if let Some(node) = last {
                set[node / 64] |= 1 << (node % 64);
                pairs[node] = Some(slot);
            }
            next.entry(set).or_insert(pairs);
        }
        states = next.into_iter().collect();
        if states.len() > MOST_STATES {
            // Those that have come furthest.
            states.sort_by_key(|(set, _)| std::cmp::Reverse(set.iter().map(|bits| bits.count_ones()).sum::<u32>()));
            states.truncate(MOST_STATES);
        }
    }
    states.into_iter().map(|(_, pairs)| pairs).find(|pairs| pairs.iter().all(Option::is_some))
}

/// Whether two goals lead to the same ones, so that either may stand for the other.
fn leads_alike(nodes: &[GoalNode], a: usize, b: usize) -> bool {
    nodes.iter().all(|node| node.before.contains(&a) == node.before.contains(&b))
}

#[cfg(test)]
mod tests;
