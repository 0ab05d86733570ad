use proptest::prelude::*;

use super::*;

fn graph(edges: &[(&str, &[&str])]) -> GoalGraph {
    edges.iter().map(|(node, after)| ((*node).to_owned(), after.iter().map(|it| (*it).to_owned()).collect())).collect()
}

#[test]
fn a_graph_that_can_not_be_is_refused() {
    let named = |names: &[&'static str]| names.iter().map(|name| (Some(*name), "t")).collect::<Vec<_>>();
    let check = |edges: &[(&str, &[&str])], names: &[&'static str]| check_goals(&graph(edges), &named(names));
    assert_eq!(check(&[("a", &["b"]), ("b", &[])], &["a", "b"]), Ok(()));
    let sentences =
        |result: Result<(), Vec<GoalError>>| result.unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        sentences(check(&[("a", &["b"]), ("b", &["c"]), ("c", &["a"]), ("d", &["a"])], &["a", "b", "c", "d"])),
        ["the goals lead in a circle: a → b → c → a; take one of these edges away"]
    );
    assert_eq!(
        sentences(check(&[("a", &["a"])], &["a"])),
        ["the goals lead in a circle: a → a; take one of these edges away"]
    );
    assert_eq!(
        sentences(check(&[("a", &["x"])], &["a", "b", "b"])),
        [
            "\"b\" is the name of two goals; give each a name of its own",
            "goals: \"x\" is the name of no call and no message; there are a, b",
            "\"b\" is not among the goals; add it as `b: []`",
        ]
    );
    let nameless = check_goals(&graph(&[]), &[(None, "search")]).unwrap_err();
    assert_eq!(nameless, [GoalError::Nameless("search".to_owned())]);
}

#[test]
fn watsonx_takes_the_last_time_or_any() {
    let chain = graph(&[("a", &["b"]), ("b", &[])]);
    for (order, strict, holds) in [
        (&["a", "b"][..], true, true),
        (&["b", "a"], true, false),
        (&["a", "b", "a"], true, false),
        (&["a", "b", "a"], false, true),
        (&["b", "a", "b"], true, true),
        (&["b", "a", "b"], false, true),
        (&["a"], true, false),
        (&[], true, false),
        (&["x", "a", "y", "b"], true, true),
    ] {
        assert_eq!(is_topological_order(&chain, order, strict), holds, "{order:?} {strict}");
    }
}

#[test]
fn a_call_that_serves_two_goals_goes_to_the_one_that_is_ready() {
    // The first call fits both; credited to `b` first, `a` would come too late.
    let nodes = [
        GoalNode { slots: vec![0, 1], before: vec![1], shares: false },
        GoalNode { slots: vec![0], before: vec![], shares: false },
    ];
    assert_eq!(in_order(&nodes, 2), Some(vec![Some(1), Some(0)]));
    let alike = vec![GoalNode { slots: (0..60).collect(), ..GoalNode::default() }; 60];
    assert!(in_order(&alike, 60).is_some());
    assert!(in_order(&alike, 59).is_none());
}

#[test]
fn messages_share_a_place() {
    let message = |before: &[usize]| GoalNode { slots: vec![1], before: before.to_vec(), shares: true };
    let call = GoalNode { slots: vec![0], ..GoalNode::default() };
    assert!(in_order(&[call.clone(), message(&[0]), message(&[0])], 2).is_some());
    assert!(in_order(&[GoalNode { before: vec![1], ..call }, message(&[])], 2).is_none());
}

/// All ways to give each goal a slot of its own.
fn by_trying(nodes: &[GoalNode], at: usize, used: &mut Vec<usize>) -> bool {
    let Some(node) = nodes.get(at) else {
        return nodes.iter().enumerate().all(|(at, node)| node.before.iter().all(|before| used[*before] < used[at]));
    };
    node.slots.iter().any(|slot| {
        if used.contains(slot) {
            return false;
        }
        used.push(*slot);
        let found = by_trying(nodes, at + 1, used);
        used.pop();
        found
    })
}

proptest! {
    #[test]
    fn the_search_finds_an_order_if_there_is_one(
        slots in proptest::collection::vec(proptest::collection::btree_set(0usize..6, 0..5), 1..5),
        edges in proptest::collection::vec((0usize..5, 0usize..5), 0..6),
    ) {
        let nodes: Vec<GoalNode> = slots.iter().enumerate().map(|(at, slots)| {
            let mut before: Vec<usize> = edges.iter().filter(|(from, to)| from < to && *to == at && *from < at).map(|(from, _)| *from).collect();
            before.dedup();
            GoalNode { slots: slots.iter().copied().collect(), before, shares: false }
        }).collect();
        let found = in_order(&nodes, 6);
        prop_assert_eq!(found.is_some(), by_trying(&nodes, 0, &mut Vec::new()));
        if let Some(pairs) = found {
            for (at, node) in nodes.iter().enumerate() {
                prop_assert!(node.slots.contains(&pairs[at].unwrap()));
                prop_assert!(node.before.iter().all(|before| pairs[*before] < pairs[at]));
            }
        }
    }

    #[test]
    fn an_order_of_all_goals_succeeds_exactly_where_it_is_topological(
        order in Just((0..5).collect::<Vec<usize>>()).prop_shuffle(),
        edges in proptest::collection::vec((0usize..5, 0usize..5), 0..8),
    ) {
        let names = ["a", "b", "c", "d", "e"];
        let edges: Vec<(usize, usize)> = edges.into_iter().filter(|(from, to)| from < to).collect();
        let graph: GoalGraph = (0..5).map(|at| {
            let after = edges.iter().filter(|(from, _)| *from == at).map(|(_, to)| names[*to].to_owned());
            (names[at].to_owned(), after.collect())
        }).collect();
        let place = |node: usize| order.iter().position(|it| *it == node).unwrap();
        let holds = edges.iter().all(|(from, to)| place(*from) < place(*to));
        let order: Vec<&str> = order.iter().map(|at| names[*at]).collect();
        for strict in [true, false] {
            prop_assert_eq!(is_topological_order(&graph, &order, strict), holds);
        }
    }
}
