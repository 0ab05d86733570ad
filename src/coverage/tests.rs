use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::*;
use crate::clock::Clock;
use crate::evidence::{
    AssertionId, Change, ChangeTime, Condition, Entity, Event, Evidence, Function, Judgement, Node, ObjectContext,
    Observed, QueryObservation, Table, Transcript, Turn, Value,
};
use crate::grade::{metric_input, questions};
use crate::job::Job;
use crate::prompt::Templates;

fn job(cases: Json) -> Job {
    let target = json!({"user": "u", "chatbot": "c", "demo": {}});
    Job::restored(&json!({"name": "j", "target": target, "cases": cases})).unwrap()
}

fn unjudged<'a>(job: &'a Job, condition: Condition, evidence: &'a Evidence) -> CoveredConversation<'a> {
    CoveredConversation { job, case: &job.cases[0], condition, evidence, judged: None }
}

/// A conversation in which the user says one thing after the other, and the agent makes a call in each turn.
fn talk(turns: &[(&str, &str)]) -> Evidence {
    let turn = |(number, (said, tool)): (u32, &(&str, &str))| Turn {
        events: vec![Event::call(*tool, json!({"a": 1}), Json::Null)],
        ..Turn::answered(number, said, "Yes")
    };
    Evidence { transcript: Transcript { turns: (1..).zip(turns).map(turn).collect() }, ..Evidence::sample() }
}

fn created(label: &str) -> Change {
    let node = Node { id: "1".into(), labels: vec![label.into()], properties: BTreeMap::default() };
    Change::Created { when: ChangeTime { turn: 1, late: false }, entity: Entity::Node(node) }
}

fn touched(suite: Suite) -> Vec<String> {
    let line = |(item, touch): (CoverageItem, CoverageHit)| {
        format!("{} {:?} {}: {}", if touch.is_covered { "+" } else { "-" }, item.subject, item.name, touch.why)
    };
    suite.into_coverage().items.into_iter().map(line).collect()
}

#[test]
fn a_tool_is_covered_where_it_was_called_wherever_it_is_known_from() {
    let job = job(json!([{"id": "c", "expected": {"calls": [{"tool": "find"}, {"tool": "book"}]}}]));
    let functions = vec![Function { name: "undo".into(), ..Function::default() }];
    let context = Some(Observed::Seen(ObjectContext { functions, ..ObjectContext::default() }));
    let mut suite = Suite::default();
    suite.knows_tools(["pay".to_owned(), "find".to_owned()]);
    suite.run(&job);
    let evidence = Evidence { object_context: context, ..talk(&[("Hi", "find"), ("More", "find"), ("Bye", "extra")]) };
    suite.conversation(unjudged(&job, Condition::WithoutFacts, &evidence));
    suite.conversation(unjudged(&job, Condition::WithoutFacts, &talk(&[("Hi", "find")])));
    assert_eq!(
        touched(suite),
        [
            "- Tool book: expected by a case, never called",
            "+ Tool extra: called in 1 conversation",
            "+ Tool find: expected by a case, called in 2 conversations",
            "- Tool pay: never called",
            "- Tool undo: never called",
        ]
    );
}

#[test]
fn a_label_is_covered_where_an_assertion_looks_at_it() {
    let mut cases = json!([{
        "id": "c",
        "setups": [{"cypher": "CREATE (:Prepared)-[:NEAR]->(:User {id: $user})"}],
        "assertions": [
            {"cypher": "MATCH (:User)-[:OWNS]->(t:Ticket) RETURN count(t) = 1", "expected": true},
            {"expression": "changes.created.all(|it| it.labels != ['Secret'])"},
        ],
    }]);
    let evidence = |labels: &[&str]| {
        let row = vec![Value::String("There".into()), Value::Bool(false)];
        let table = Observed::Seen(Table { columns: vec![], rows: vec![row] });
        Evidence {
            changes: Some(Observed::Seen(labels.iter().map(|label| created(label)).collect())),
            queries: vec![QueryObservation { assertion: AssertionId::labels(), result: table, sides: None }],
            ..talk(&[])
        }
    };
    let gathered = |cases: &Json| {
        let (job, mut suite) = (job(cases.clone()), Suite::default());
        suite.run(&job);
        suite.conversation(unjudged(&job, Condition::WithoutFacts, &evidence(&["Ticket", "Receipt", "Secret"])));
        touched(suite)
    };
    assert_eq!(
        gathered(&cases),
        [
            "- Label Prepared: prepared by a setup, no conversation changed it, no assertion looks at it",
            "- Label Receipt: changed in 1 conversation, no assertion looks at it",
            "+ Label Secret: changed in 1 conversation, an assertion looks at it",
            "- Label There: no conversation changed it, no assertion looks at it",
            "+ Label Ticket: changed in 1 conversation, an assertion looks at it",
            "+ Label User: prepared by a setup, no conversation changed it, an assertion looks at it",
            "- Relationship NEAR: prepared by a setup, no conversation changed it, no assertion looks at it",
            "+ Relationship OWNS: no conversation changed it, an assertion looks at it",
        ]
    );
    // Whatever else is created fails this one, so it looks at all that was.
    cases[0]["assertions"] = json!([{"changes": {"created": [{"node": "Ticket"}]}}]);
    let covered = gathered(&cases).into_iter().filter(|it| it.starts_with('+')).collect::<Vec<_>>().join("\n");
    assert!(["Receipt", "Secret", "Ticket"].iter().all(|it| covered.contains(it)), "{covered}");
    assert!(!covered.contains("Prepared"), "{covered}");
}

#[test]
fn an_edge_of_goals_is_covered_where_both_were_reached_in_order() {
    let call = |name: &str, args: Json| json!({"name": name, "tool": name, "args": args});
    let calls = json!([call("a", json!({"a": 1})), call("b", json!({"a": 1})), call("c", json!({"a": 2}))]);
    let goals = json!({"a": ["b", "c"], "b": [], "c": []});
    let job = job(json!([{"id": "c", "expected": {"calls": calls, "goals": goals}}]));
    let gathered = |conversations: &[Evidence]| {
        let mut suite = Suite::default();
        suite.run(&job);
        for it in conversations {
            suite.conversation(unjudged(&job, Condition::WithoutFacts, it));
        }
        touched(suite).into_iter().filter(|it| it.contains("GoalEdge")).collect::<Vec<_>>()
    };
    let wrong_way = talk(&[("1", "b"), ("2", "a")]);
    assert_eq!(
        gathered(std::slice::from_ref(&wrong_way))[0],
        "- GoalEdge a → b: both in order in 0 of 1, the first in 1, the second in 1"
    );
    let both = gathered(&[wrong_way, talk(&[("1", "a"), ("2", "b"), ("3", "c")])]);
    assert_eq!(both[0], "+ GoalEdge a → b: both in order in 1 of 2, the first in 2, the second in 2");
    assert_eq!(
        both[1], "- GoalEdge a → c: both in order in 0 of 2, the first in 2, the second in 0",
        "its arguments are others"
    );
}

/// The verdicts of a judge on the goal `confirmed`, one a turn: yes, no, or nothing that can be used (`?`).
fn judged(question: &str, says: &[&str]) -> Judgement {
    let verdict = |(turn, says): (usize, &&str)| {
        let text = if *says == "?" { "nobody said this" } else { "Yes" };
        json!({"id": format!("confirmed@{turn}"), "reason": "so", "quotes": [{"turn": turn, "text": text}], "turnsRead": [],
               "verdict": if *says == "?" { "yes" } else { says }})
    };
    let verdicts: Vec<Json> = (1..).zip(says).map(verdict).collect();
    Judgement::answered(question, Observed::Seen(json!({ "verdicts": verdicts }).to_string()))
}

#[test]
fn a_goal_that_a_judge_reads_is_covered_where_it_says_so() {
    let gathered = |message: Json, says: Option<&[&str]>| {
        let expected = json!({"calls": [{"name": "a", "tool": "a"}], "messages": [message], "goals": {"a": ["confirmed"], "confirmed": []}});
        let target = json!({"user": "u", "chatbot": "c", "openai": {"baseUrl": "http://127.0.0.1:9"}});
        let metrics = json!([{"trajectory": {"dialect": "watsonx", "score": "journeySuccess"}}]);
        let scorer = json!({"model": "openai/j"});
        let job = json!({"name": "j", "target": target, "scorer": scorer, "metrics": metrics, "cases": [{"id": "c", "expected": expected}]});
        let job = Job::restored(&job).unwrap();
        let evidence = talk(&[("1", "x"), ("2", "a"), ("3", "x")]);
        let input = metric_input(&job, &job.cases[0], &evidence, Clock::system());
        let asked = questions(&job, &input, &Templates::embedded()).unwrap();
        assert_eq!(asked.len(), 1, "{asked:?}");
        let judgements = [match says {
            Some(says) => judged(&asked[0].id, says),
            // About something else.
            None => judged("rubric-01020304", &["no"]),
        }];
        let mut suite = Suite::default();
        suite.run(&job);
        let judged = Some((&input, &judgements[..]));
        suite.conversation(CoveredConversation { judged, ..unjudged(&job, Condition::WithoutFacts, &evidence) });
        touched(suite).into_iter().find(|it| it.contains("GoalEdge")).unwrap()
    };
    let booked = || json!({"name": "confirmed", "reply": "It is booked"});
    let both = "+ GoalEdge a → confirmed: both in order in 1 of 1, the first in 1, the second in 1";
    assert_eq!(gathered(booked(), Some(&["no", "yes", "no"])), both);
    assert_eq!(gathered(booked(), Some(&["?", "yes", "?"])), both, "an open verdict elsewhere takes nothing back");
    let early = "- GoalEdge a → confirmed: both in order in 0 of 1, the first in 1, the second in 1";
    assert_eq!(gathered(booked(), Some(&["yes", "no", "no"])), early, "it was confirmed before the call");
    let never = "- GoalEdge a → confirmed: both in order in 0 of 1, the first in 1, the second in 0";
    for says in [&["no", "no", "no"], &["?", "?", "no"]] {
        assert_eq!(gathered(booked(), Some(says)), never, "{says:?}");
    }
    assert_eq!(gathered(booked(), None), never, "nobody was asked");
    // Then keywords tell, whatever judges say of other things.
    assert_eq!(gathered(json!({"name": "confirmed", "keywords": ["yes"]}), None), both);
}

#[test]
fn a_fact_is_covered_where_a_persona_that_knew_it_mentioned_it() {
    let facts = json!(["Your dog is called Rex", "You were born in Rome"]);
    let job = job(json!([{"id": "c", "facts": facts}]));
    let mut suite = Suite::default();
    suite.run(&job);
    suite.conversation(unjudged(&job, Condition::WithoutFacts, &talk(&[("I was born in Rome", "x")])));
    suite.conversation(unjudged(&job, Condition::WithFacts, &talk(&[("Hi", "x"), ("Feed Rex, the dog", "x")])));
    suite.conversation(unjudged(&job, Condition::WithFacts, &talk(&[("I love Italy", "x")])));
    let facts: Vec<String> = touched(suite).into_iter().filter(|it| it.contains("Fact")).collect();
    assert_eq!(
        facts,
        ["- Fact You were born in Rome: mentioned in 0 of 2", "+ Fact Your dog is called Rex: mentioned in 1 of 2"]
    );
}

#[test]
fn a_difference_names_what_is_touched_no_more_and_what_is_new() {
    let job = job(json!([{"id": "c"}]));
    let gathered = |tools: &[&str]| {
        let mut suite = Suite::default();
        suite.knows_tools(["known".to_owned()]);
        suite.run(&job);
        let turns: Vec<(&str, &str)> = tools.iter().map(|tool| ("Hi", *tool)).collect();
        suite.conversation(unjudged(&job, Condition::WithoutFacts, &talk(&turns)));
        suite.into_coverage()
    };
    let (before, now) = (gathered(&["known", "gone"]), gathered(&["new", "gone"]));
    let names = |items: &[CoverageItem]| items.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    let found = difference(&before, &now);
    assert_eq!((names(&found.lost), names(&found.gained)), (vec!["known".to_owned()], vec!["new".to_owned()]));
    assert_eq!(difference(&now, &now), CoverageDifference::default());
    assert_eq!((now.counts(CoverageSubject::Tool), now.share()), ((2, 3), Some(2.0 / 3.0)));
    assert_eq!(Suite::default().into_coverage().share(), None);
    let mut unlisted = Suite::default();
    unlisted.conversation(unjudged(&job, Condition::WithoutFacts, &talk(&[("Hi", "new")])));
    let unlisted = unlisted.into_coverage();
    assert_eq!((unlisted.share(), unlisted.is_unlisted(CoverageSubject::Tool)), (None, true), "only calls are known");
}

#[test]
fn what_was_never_held_covers_nothing() {
    let assertions = json!([
        {"name": "one", "cypher": "MATCH (r:Reminder) RETURN count(r)", "expected": 1},
        {"name": "two", "expression": "evaluation.graph.labels.contains(\"Person\")"},
    ]);
    let job = job(json!([{"id": "c", "setups": [{"cypher": "CREATE (:Person)"}], "assertions": assertions}]));
    let mut suite = Suite::default();
    suite.run(&job);
    assert_eq!(suite.into_coverage().share(), Some(0.0));
    let mut suite = Suite::default();
    suite.run(&job);
    suite.conversation(unjudged(&job, Condition::WithoutFacts, &talk(&[("Hi", "find")])));
    let coverage = suite.into_coverage();
    assert!(coverage.items.values().all(|touch| touch.is_covered), "{coverage:?}");
}
