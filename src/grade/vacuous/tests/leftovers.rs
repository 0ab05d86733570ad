//! Leftovers of other conversations in the graph or in the object context.

use super::*;

#[test]
fn where_others_left_it_a_log_that_the_agent_writes_shows_nothing() {
    let left = |may_be_left_over| ObservedState { may_be_left_over, ..state(Ok(1)) };
    let evidence = |left: ObservedState, labels: &[&str]| Evidence {
        before: Some(left),
        empty: Some(state(Ok(0))),
        queries: state(Ok(1)).queries,
        changes: changes(labels),
        ..Evidence::sample()
    };
    let check = CypherCheck { cypher: "MATCH (b:Booking) RETURN count(b) > 0".to_owned(), expected: 1.into() };
    let booked = assertion(AssertionCheck::Cypher(check));
    assert_eq!(worth(&booked, &evidence(left(true), &["Message"])).0, UNSHOWN);
    assert_eq!(worth(&booked, &evidence(left(true), &["Message", "Booking"])).0, "1");
    assert_eq!(worth(&booked, &evidence(left(false), &["Message"])).0, "1");
}

#[test]
fn an_agent_is_not_blamed_for_what_others_left() {
    let evidence = |left: bool, (before, after): (i64, i64)| Evidence {
        before: Some(ObservedState { may_be_left_over: left, ..state(Ok(before)) }),
        empty: Some(state(Ok(0))),
        queries: state(Ok(after)).queries,
        changes: changes(&["A"]),
        ..Evidence::sample()
    };
    let fails = || Component::scored(Score::ZERO, "expected 1");
    let weighed = |left, counts| weigh(&cypher(), input(&job(), &evidence(left, counts)), fails());
    let (component, vacuity) = weighed(true, (2, 3));
    assert!(component.is_missing() && component.why().contains("isolation: user"), "{component:?}");
    assert_eq!(vacuity, None);
    for (left, counts) in [(false, (2, 3)), (true, (2, 4)), (true, (2, 2)), (true, (0, 2)), (true, (1, 0))] {
        assert_eq!(weighed(left, counts), (fails(), None), "{left} {counts:?}");
    }
    let ending = Ending::AgentFailed { error: "500".to_owned() };
    let failed = Evidence { ending, ..evidence(true, (2, 3)) };
    assert_eq!(weigh(&cypher(), input(&job(), &failed), fails()), (fails(), None));
    // State that the agent itself shows.
    let resources = |ids: &[&str]| {
        let resources = ids.iter().map(|id| Resource { id: (*id).into(), ..Resource::default() }).collect();
        Some(Observed::Seen(ObjectContext { resources, ..ObjectContext::default() }))
    };
    let shown = |before: &[&str], after: &[&str]| {
        let before =
            ObservedState { may_be_left_over: true, object_context: resources(before), ..ObservedState::default() };
        let evidence = Evidence { before: Some(before), object_context: resources(after), ..Evidence::sample() };
        let one = expression("objectContext.resources.size == 1");
        weigh(&one, input(&job(), &evidence), fails()).0.is_missing()
    };
    assert!(shown(&["a", "b"], &["a", "b", "c"]));
    assert!(!shown(&["a", "b"], &["a", "b"]) && !shown(&["a"], &["a", "b", "c"]) && !shown(&[], &["a", "b"]));
}

#[test]
fn what_was_there_before_may_not_be_kept_apart() {
    let text = |text: &str| Value::String(text.to_owned());
    let state = |value: Value| {
        let table = Table { columns: vec!["x".to_owned()], rows: vec![vec![value]] };
        let result = Observed::Seen(table);
        ObservedState {
            queries: vec![QueryObservation { assertion: AssertionId::new("0"), result, sides: None }],
            ..ObservedState::default()
        }
    };
    let fails = || Component::scored(Score::ZERO, "expected Paris");
    let component = |cypher: &str, (empty, before, after): (Value, Value, Value), labels: &[&str]| {
        let evidence = Evidence {
            before: Some(ObservedState { may_be_left_over: true, ..state(before) }),
            empty: Some(state(empty)),
            queries: state(after).queries,
            changes: changes(labels),
            ..Evidence::sample()
        };
        let check = CypherCheck { cypher: cypher.to_owned(), expected: "Paris".into() };
        weigh(&assertion(AssertionCheck::Cypher(check)), input(&job(), &evidence), fails()).0
    };
    let latest = "MATCH (t:Train) RETURN max(t.from)";
    let rome = || (Value::Null, text("Rome"), text("Rome"));
    let missing = component(latest, rome(), &["Train"]);
    assert!(missing.is_missing() && missing.why().contains("can't be kept apart"), "{missing:?}");
    assert_eq!(component(latest, rome(), &[]), fails(), "nothing was done");
    assert_eq!(component(latest, rome(), &["Message"]), fails(), "nothing that it looks at has changed");
    assert_eq!(component(latest, (Value::Null, Value::Null, text("Oslo")), &["Train"]), fails(), "nothing was there");
    assert_eq!(component("MATCH (t:Train) RETURN t.from", rome(), &["Train"]), fails(), "rows are kept apart");
    let counted = component("MATCH (t:Train) RETURN toString(count(t))", (text("0"), text("1"), text("2")), &["Train"]);
    assert!(counted.is_missing());
}

#[test]
fn two_leftovers_are_seen_where_the_query_says_the_same_of_none() {
    let query = "MATCH (t:Train) RETURN CASE WHEN count(t) = 1 THEN 'ok' ELSE 'no' END";
    let check = CypherCheck { cypher: query.to_owned(), expected: "ok".into() };
    let booked = assertion(AssertionCheck::Cypher(check));
    let seen = |counted: i64| {
        let table = |value| Table { columns: vec!["x".to_owned()], rows: vec![vec![value]] };
        let word = if counted == 1 { "ok" } else { "no" };
        let result = Observed::Seen(table(Value::String(word.to_owned())));
        let sides = Some(table(Value::Int(counted)));
        vec![QueryObservation { assertion: AssertionId::new("0"), result, sides }]
    };
    let is_excused = |before: i64, after: i64, labels: &[&str]| {
        let evidence = Evidence {
            before: Some(ObservedState { may_be_left_over: true, queries: seen(before), ..ObservedState::default() }),
            empty: Some(ObservedState { queries: seen(0), ..ObservedState::default() }),
            queries: seen(after),
            changes: changes(labels),
            ..Evidence::sample()
        };
        let fails = Component::scored(Score::ZERO, "expected ok");
        weigh(&booked, input(&job(), &evidence), fails).0.is_missing()
    };
    assert!(is_excused(2, 3, &["Train"]) && is_excused(1, 2, &["Train"]));
    assert!(!is_excused(0, 2, &["Train"]), "nothing was there, and it was done twice");
    assert!(!is_excused(2, 2, &["Message"]), "nothing was done");
}

#[test]
fn what_others_left_is_not_shown_by_a_conversation_that_is_looked_at_too() {
    let context = |ids: &[&str]| {
        let resources = ids.iter().map(|id| Resource { id: (*id).into(), ..Resource::default() }).collect();
        Some(Observed::Seen(ObjectContext { resources, ..ObjectContext::default() }))
    };
    let script = expression("objectContext.resources.size > 0 && evaluation.transcript.size > 0");
    let worth_of = |left: bool, before: &[&str], after: &[&str]| {
        let before =
            ObservedState { may_be_left_over: left, object_context: context(before), ..ObservedState::default() };
        let transcript = Transcript { turns: vec![Turn::answered(1, "hi", "ok")] };
        worth(
            &script,
            &Evidence { before: Some(before), object_context: context(after), transcript, ..Evidence::sample() },
        )
    };
    assert_eq!(worth_of(true, &["old"], &["old"]), (UNSHOWN.to_owned(), Some(Vacuity::HeldBefore)));
    assert_eq!(worth_of(true, &["old"], &["old", "new"]).0, "1");
    assert_eq!(worth_of(true, &[], &["new"]).0, "1");
    assert_eq!(worth_of(false, &["old"], &["old"]).0, "1", "a setup prepared it");
}

#[test]
fn an_assertion_that_fails_only_for_what_was_there_is_the_fault_of_nobody_here() {
    let bools = |values: &[bool]| Table {
        columns: vec!["x".to_owned()],
        rows: values.iter().map(|value| vec![Value::Bool(*value)]).collect(),
    };
    let seen = |table: &Table, sides: Option<Table>| {
        let result = Observed::Seen(table.clone());
        vec![QueryObservation { assertion: AssertionId::new("0"), result, sides }]
    };
    let is_excused = |cypher: &str, (empty, before, after): (Option<&Table>, &Table, &Table), counted: Option<i64>| {
        let counted = counted.map(|count| Table { columns: vec![], rows: vec![vec![Value::Int(count)]] });
        let before = seen(before, counted);
        let empty = match empty {
            Some(empty) => seen(empty, None),
            None => Vec::new(),
        };
        let evidence = |graph_is_empty: bool| Evidence {
            before: Some(ObservedState {
                may_be_left_over: true,
                graph_is_empty,
                queries: before.clone(),
                ..ObservedState::default()
            }),
            empty: Some(ObservedState { queries: empty.clone(), ..ObservedState::default() }),
            queries: seen(after, None),
            changes: changes(&["Train"]),
            ..Evidence::sample()
        };
        let check = CypherCheck { cypher: cypher.to_owned(), expected: true.into() };
        let booked = assertion(AssertionCheck::Cypher(check));
        let fails = Component::scored(Score::ZERO, "expected true");
        let weighed = |evidence: Evidence| weigh(&booked, input(&job(), &evidence), fails.clone()).0.is_missing();
        assert!(!weighed(evidence(true)), "{cypher}: nothing was there");
        weighed(evidence(false))
    };
    let (yes, no, none) = (bools(&[true]), bools(&[false]), bools(&[]));
    let absent = "OPTIONAL MATCH (t:Train {from: 'Rome'}) RETURN t IS NULL";
    assert!(is_excused(absent, (Some(&yes), &no, &no), None), "it was there before");
    assert!(!is_excused(absent, (Some(&yes), &no, &bools(&[false, false])), None), "it came to be once more");
    let present = "OPTIONAL MATCH (t:Train {from: 'Rome'}) RETURN t IS NOT NULL";
    assert!(!is_excused(present, (Some(&no), &no, &no), None), "nothing came to be");
    let mean = "MATCH (t:Train) RETURN sum(t.price) / count(t)";
    assert!(is_excused(mean, (None, &no, &no), None), "a mean of nothing is an error, and one of old and new is mixed");
    let condition = "MATCH (u:User) WHERE COUNT { (u)-->(:Train) } = 1 RETURN true";
    assert!(is_excused(condition, (Some(&none), &none, &none), Some(2)));
    assert!(!is_excused(condition, (Some(&none), &none, &none), Some(0)), "nothing was there, and two came to be");
}
