//! Checks of the graph of goals: every node is a goal and every goal a node, nothing comes twice, and no goal comes before
//! itself.

use std::collections::{BTreeMap, BTreeSet};

use super::goals::Detail;
use crate::dataset::cursor::Cursor;

/// The edges of a graph, after its errors were reported.
pub(super) fn check_graph<'a>(goals: Cursor<'a>, details: &[Detail<'a>]) -> Vec<(String, String)> {
    let mut names: BTreeMap<&str, Cursor<'_>> = BTreeMap::new();
    for (goal, place) in details {
        if names.insert(&goal.name, *place).is_some() {
            place.error(format!("a goal `{}` is here already", goal.name));
        }
    }
    if goals.map().is_none() {
        return Vec::new();
    }
    let mut edges: Vec<(String, String, Cursor<'a>)> = Vec::new();
    let mut nodes: BTreeSet<&str> = BTreeSet::new();
    let mut keys: BTreeSet<&str> = BTreeSet::new();
    let unknown = |name: &str, place: Cursor<'_>| {
        if names.contains_key(name) {
            return;
        }
        let near = place.nearest(name, names.keys().copied());
        let help =
            near.map_or_else(|| "describe it in `goal_details`".to_owned(), |near| format!("did you mean `{near}`?"));
        place.error_with(format!("`{name}` is no goal: nothing in `goal_details` has that name"), help);
    };
    for entry in goals.node.entries() {
        let children = goals.at(&entry.value);
        if !keys.insert(&entry.key) {
            children.error(format!("the goal `{}` is in the graph already", entry.key));
        }
        nodes.insert(&entry.key);
        unknown(&entry.key, children);
        let mut seen = BTreeSet::new();
        for child in if children.is_null() { Vec::new() } else { children.items() } {
            let Some(name) = child.text() else { continue };
            if !seen.insert(name) {
                child.error(format!("`{name}` is in this list already"));
            }
            nodes.insert(name);
            unknown(name, child);
            edges.push((entry.key.to_string(), name.to_owned(), child));
        }
    }
    for (goal, place) in details {
        if !nodes.contains(goal.name.as_str()) {
            place.error_with(
                format!("the goal `{}` is not in the graph `goals`: it could never be reached in order", goal.name),
                format!("add it to `goals`, at least as `\"{}\": []`", goal.name),
            );
        }
    }
    if let Some((path, place)) = cycle(&edges) {
        place.error_with(format!("these goals go round in a circle: {path}"), "none of them can come first");
    }
    edges.into_iter().map(|(from, to, _)| (from, to)).collect()
}

/// A circle, and the edge that closes it.
fn cycle<'a>(edges: &[(String, String, Cursor<'a>)]) -> Option<(String, Cursor<'a>)> {
    let mut next: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, (from, ..)) in edges.iter().enumerate() {
        next.entry(from).or_default().push(index);
    }
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for start in next.keys() {
        // Depth first, with a path of its own: a graph of goals can be deep.
        let mut path: Vec<(&str, usize)> = vec![(start, 0)];
        while let Some((node, at)) = path.last().copied() {
            let edge = next.get(node).and_then(|edges| edges.get(at)).copied();
            let Some(edge) = edge.filter(|_| !done.contains(node)) else {
                done.insert(node);
                path.pop();
                continue;
            };
            if let Some(last) = path.last_mut() {
                last.1 += 1;
            }
            let to = edges[edge].1.as_str();
            if let Some(begin) = path.iter().position(|(on_path, _)| *on_path == to) {
                let names: Vec<&str> = path[begin..].iter().map(|(name, _)| *name).chain([to]).collect();
                return Some((names.join(" → "), edges[edge].2));
            }
            path.push((to, 0));
        }
    }
    None
}
