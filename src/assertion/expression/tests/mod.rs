mod changes;
mod limits;
mod problems;

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;
use crate::clock::Clock;
use crate::evidence::{Event, EventKind, FailedAttempt, Function, ObjectContext, Resource, ToolCall, Transcript, Turn};

fn resource(name: &str, labels: &[&str], properties: Json) -> Resource {
    Resource {
        id: format!("id-{name}"),
        name: name.into(),
        description: name.into(),
        properties: properties.as_object().unwrap().clone(),
        labels: labels.iter().map(|label| (*label).to_owned()).collect(),
        aliases: vec!["alias".into()],
    }
}

fn evidence() -> Evidence {
    let call =
        ToolCall { function: "remind".into(), args: json!({"city": "Bern", "days": [1, 2.5], "urgent": true}).into() };
    let turn = |number: u32, user: &str, agent: Option<&str>| Turn {
        agent: agent.map(str::to_owned),
        latency_ms: agent.map(|_| 120.4),
        ..Turn::begun(number, user.into())
    };
    let mut second = turn(2, "Remind me", Some("Done"));
    second.events = vec![
        EventKind::SystemPrompt { text: "be kind".into() }.into(),
        Event::with_raw(EventKind::FunctionCall(call), json!({"request": {"context": {"x": 1}}, "took": 5})),
        EventKind::FunctionResponse { output: json!("ok").into() }.into(),
    ];
    second.failures = vec![FailedAttempt::untimed("HTTP 500".into(), true)];
    Evidence {
        session_id: "s1".into(),
        model: "demo".into(),
        transcript: Transcript { turns: vec![turn(1, "Hi", Some("Hello")), second, turn(3, "Bye", None)] },
        object_context: Some(Observed::Seen(ObjectContext {
            context: json!({"mood": "calm"}),
            resources: vec![
                resource("call Ann", &["DomainNode", "Reminder"], json!({"title": "call", "tags": ["a", "b"], "n": 3})),
                resource("Ann", &["Contact", "DomainNode"], json!({"type": "Person", "phone": null})),
                resource("manual", &["Document"], json!({"size": 7})),
            ],
            functions: vec![Function { name: "remind".into(), static_method: true, ..Function::default() }],
        })),
        ..Evidence::sample()
    }
}

fn long() -> Deadline {
    Clock::system().deadline(TIME_LIMIT)
}

fn run(script: &str) -> Component {
    evaluate(&ExpressionCheck::new(script), "reminders", &evidence(), long())
}

fn assert_all(scripts: &[&str], score: Score) {
    for script in scripts {
        assert_eq!(compile_problem(script), None, "{script}");
        let component = run(script);
        assert_eq!(component.score(), Some(score), "{script}: {component:?}");
    }
}

#[test]
fn what_is_true_scores_one() {
    assert_all(
        &[
            "objectContext.resources.size == 3",
            "evaluation.events.any(|it| it.request.context.x == 1 && it.took == 5)",
            r#"evaluation.events.any(|it| it.request.function.name == "remind" && it.request.arguments.city == "Bern")"#,
            "objectContext.resources.size() == 3 && objectContext.resources.len == 3",
            "objectContext.resources.len() == 3.0",
            "objectContext.entities.size == 2",
            r#"objectContext.entities.any(|it| it.type == "Reminder")"#,
            r#"objectContext.entities.any(|it| it.type == "Person")"#,
            r#"objectContext.resources.all(|r| r.name.size > 2)"#,
            r#"objectContext.resources.none(|r| r.type == "Task")"#,
            r#"objectContext.resources.count(|r| r.labels.contains("DomainNode")) == 2"#,
            r#"objectContext.resources.filter(|r| r.labels.contains("Document")).size == 1"#,
            r#"objectContext.resources.map(|r| r.name).contains("Ann")"#,
            r#"objectContext.resources.map(|r| r.name) == ["call Ann", "Ann", "manual"]"#,
            r#"objectContext.resources.find(|r| r.name == "Ann").id == "id-Ann""#,
            r#"objectContext.resources.first().name == "call Ann""#,
            r#"objectContext.resources.first.name == "call Ann""#,
            r#"objectContext.resources[-1].name == "manual""#,
            r#"objectContext.resources[0].properties.tags[1] == "b""#,
            r#"objectContext.resources[0].properties["title"] == "call""#,
            r#"objectContext.resources[0].properties.tags.size == 2"#,
            r#"objectContext.resources[0].properties.size == 3"#,
            r#"objectContext.resources[2].properties.size == 7"#,
            r#"objectContext.resources[0].properties.size() == 3"#,
            r#""title" in objectContext.resources[0].properties"#,
            r#""Reminder" in objectContext.resources[0].labels"#,
            r#"objectContext.resources[0].aliases == ["alias"]"#,
            r#"objectContext.resources[0].description.contains("Ann")"#,
            r#"objectContext.functions.any(|f| f.name == "remind" && f.staticMethod)"#,
            r#"objectContext.context.mood == "calm""#,
            r#"evaluation.functionCalls[0].function == "remind""#,
            r#"evaluation.functionCalls[0].args.city == "Bern""#,
            r#"evaluation.functionCalls[0].args.days == [1, 2.5]"#,
            r#"evaluation.functionCalls[0].args.urgent"#,
            r#"evaluation.functionCalls.isNotEmpty()"#,
            r#"evaluation.functionCalls.map(|it| it.function).contains("remind")"#,
            r#"evaluation.sessionId == "s1" && evaluation.model == "demo" && evaluation.job == "reminders""#,
            "evaluation.failureCount == 1 && evaluation.done",
            "evaluation.transcript.size == 5",
            r#"evaluation.transcript[0].role == "user" && evaluation.transcript[1].content == "Hello""#,
            "evaluation.transcript[1].timeTakenMillis == 120",
            "evaluation.transcript.all(|m| m.timeTakenMillis < 1000)",
            "evaluation.transcript[3].events.size == 3 && evaluation.events.len == 3",
            r#"evaluation.events.any(|e| e.systemPrompt == "be kind")"#,
            r#"evaluation.events.any(|e| e.request.function.name == "remind" && e.request.arguments.city == "Bern")"#,
            r#"evaluation.transcript.last().content.equals("Bye")"#,
            r#"let wanted = "Reminder"; objectContext.entities.any(|it| it.type == wanted)"#,
            "evaluation.transcript.all(|m| evaluation.transcript.size == 5 && evaluation.events.len == 3)",
            "objectContext.resources.any(|it| objectContext.entities.any(|e| e.name == it.name))",
            "let n = 0; for r in objectContext.resources { n += 1; } n == 3",
            "fn twice(n) { n * 2 } twice(2) == 4",
            "if evaluation.done { true } else { false }",
            r#"evaluation.transcript[0].content.to_upper() == "HI""#,
            r#"evaluation.transcript[0].content.lowercase().trim() == "hi""#,
            "1 == 1.0 && 1 < 1.5 && !(1 == \"1\") && true != 1",
            "9007199254740993 != 9007199254740992.0",
            "any(objectContext.resources, |r| r.name == \"Ann\")",
            "switch evaluation.job { \"reminders\" => true, _ => false }",
            r#"`${evaluation.job}!` == "reminders!""#,
            "print(\"x\"); debug(1); true",
            "#{a: [1, #{b: 2}]} == #{a: [1.0, #{b: 2}]}",
            "objectContext.resources[0] == objectContext.resources.first()",
            "objectContext.resources[0] != objectContext.resources[1]",
        ],
        Score::ONE,
    );
}

#[test]
fn the_reason_shows_the_sides() {
    for (script, why) in [
        ("objectContext.resources.size == 1", "objectContext.resources.size == 1: the left side is 3"),
        ("evaluation.done && evaluation.failureCount == 0", "evaluation.failureCount == 0: the left side is 1"),
        (
            "objectContext.entities.size == objectContext.resources.size",
            "objectContext.entities.size == objectContext.resources.size: the left side is 2, the right side is 3",
        ),
        (
            "evaluation.functionCalls[7].args.city == \"Bern\"",
            "evaluation.functionCalls[7].args.city == \"Bern\": the left side is ()",
        ),
        (
            "objectContext.entities.any(|it| it.type == \"X\")",
            "objectContext.entities.any(|it| it.type == \"X\") is false: objectContext.entities has 2 items; `it.type` was \"Reminder\", \"Person\"",
        ),
        (
            "evaluation.events.filter(|e| e.nothing == 1).any(|e| e.x == 1)",
            "evaluation.events.filter(|e| e.nothing == 1).any(|e| e.x == 1) is false: evaluation.events has 3 items; `e.nothing` was absent in 3 of 3",
        ),
        (
            "evaluation.functionCalls.filter(|c| c.function == \"x\").any(|c| c.args.y)",
            "evaluation.functionCalls.filter(|c| c.function == \"x\").any(|c| c.args.y) is false: evaluation.functionCalls has 1 item; `c.function` was \"remind\"",
        ),
        (
            "objectContext.context.list.any(|it| it == 1)",
            "objectContext.context.list.any(|it| it == 1) is false: objectContext.context.list is absent",
        ),
        (
            "objectContext.resources.all(|it| it.properties.tags.contains(\"a\"))",
            "objectContext.resources.all(|it| it.properties.tags.contains(\"a\")) is false: objectContext.resources has 3 items, 2 of them don't fit; `it.properties.tags` was absent in 2 of 2",
        ),
        (
            "!objectContext.resources.any(|it| it.name == \"Ann\")",
            "!objectContext.resources.any(|it| it.name == \"Ann\") is false: objectContext.resources has 3 items, 1 of them fit; `it.name` was \"Ann\"",
        ),
        (
            "objectContext.resources.count(|it| it.type == \"X\") == 1",
            "objectContext.resources.count(|it| it.type == \"X\") == 1: the left side is 0; objectContext.resources has 3 items; `it.type` was \"Reminder\", \"Person\", \"Document\"",
        ),
        (
            "evaluation.transcript[1].content.contains(\"Bye\")",
            "evaluation.transcript[1].content.contains(\"Bye\") is false: evaluation.transcript[1].content is \"Hello\"",
        ),
        ("false || 1 == 2", "false || 1 == 2 is false"),
        (
            "evaluation.failureCount == \"1\"",
            "evaluation.failureCount == \"1\": the left side is 1; 1 is a number and \"1\" a text, which are never equal",
        ),
        (
            "evaluation.functionCalls.any(|it| it.args.days[1] == \"2.5\")",
            "evaluation.functionCalls.any(|it| it.args.days[1] == \"2.5\") is false: evaluation.functionCalls has 1 item; `it.args.days` was [1, 2.5]; 2.5 is a number and \"2.5\" a text, which are never equal",
        ),
        ("let x = 1; x == 2", "let x = 1; x == 2 is false"),
    ] {
        assert_eq!(run(script), Component::scored(Score::ZERO, why), "{script}");
    }
    assert_eq!(run("evaluation.done").why(), "is true");
}

#[test]
fn scripts_run_at_the_same_time() {
    let threads: Vec<_> = (0..8)
        .map(|_| std::thread::spawn(|| run("objectContext.entities.any(|it| it.type == \"Reminder\")").score()))
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), Some(Score::ONE));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_text_gets_an_answer(script in "[a-z0-9(){}\\[\\]\"'.,|&*é!=?:<> ;-]{0,40}") {
        let problem = compile_problem(&script);
        let component = run(&script);
        prop_assert!(problem.is_none() || component.is_missing());
    }

    #[test]
    fn property_names_of_data_are_free(name in "[a-z]{1,8}x") {
        let script = format!("objectContext.resources[0].properties.{name} == 1");
        prop_assert_eq!(compile_problem(&script), None);
        prop_assert_eq!(run(&script).score(), Some(Score::ZERO));
    }
}
