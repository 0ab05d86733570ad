mod changes;

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;
use crate::clock::Clock;
use crate::evidence::{Event, EventKind, FailedTry, Function, ObjectContext, Resource, ToolCall, Transcript, Turn};

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
    let call = ToolCall { function: "remind".into(), args: json!({"city": "Bern", "days": [1, 2.5], "urgent": true}) };
    let turn = |number: u32, user: &str, agent: Option<&str>| Turn {
        agent: agent.map(str::to_owned),
        latency_ms: agent.map(|_| 120.4),
        ..Turn::begun(number, user.into())
    };
    let mut second = turn(2, "Remind me", Some("Done"));
    second.events = vec![
        EventKind::SystemPrompt { text: "be kind".into() }.into(),
        Event::with_raw(EventKind::FunctionCall(call), json!({"request": {"context": {"x": 1}}, "took": 5})),
        EventKind::FunctionResponse { output: json!("ok") }.into(),
    ];
    second.failures = vec![FailedTry::untimed("HTTP 500".into(), true)];
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
    evaluate(&ExpressionCheck { expression: script.into() }, "reminders", &evidence(), long())
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
fn absent_data_is_false_and_no_error() {
    assert_all(
        &[
            r#"objectContext.resources[9].name == "x""#,
            r#"objectContext.resources[9].name != "x""#,
            r#"objectContext.resources[-9].name == "x""#,
            "evaluation.functionCalls[5].args.city.size == 1",
            "evaluation.functionCalls[0].args.nothing.at.all > 1",
            "evaluation.functionCalls[0].args.nothing >= 0",
            "3 < evaluation.functionCalls[0].args.nothing",
            "evaluation.functionCalls[0].args.nothing",
            "evaluation.functionCalls[0].args.nothing[3].x == 1",
            "evaluation.functionCalls[0].args.nothing && true",
            "!evaluation.functionCalls[0].args.nothing",
            "evaluation.functionCalls[0].args.nothing + 1 == 1",
            r#"evaluation.functionCalls[0].args.nothing.contains("x")"#,
            r#"evaluation.functionCalls[0].args.nothing.any(|it| it == 1)"#,
            r#"evaluation.functionCalls[0].args["nothing"] == 1"#,
            "objectContext.resources[1].properties.phone == 0",
            "objectContext.resources.find(|r| r.name == \"nobody\").type == \"Person\"",
            "objectContext.functions[0].label == \"x\"",
            "objectContext.entities.any(|it| it.properties.tags.contains(\"z\"))",
        ],
        Score::ZERO,
    );
    assert_all(
        &[
            "objectContext.resources[9] == ()",
            "objectContext.resources[9].name == ()",
            "objectContext.resources[0].name != ()",
            "evaluation.functionCalls[0].args.nothing ?? true",
            "objectContext.resources?.size == 3",
            // One entity has no tags; the other one decides.
            "objectContext.resources.any(|it| it.properties.tags.contains(\"b\"))",
            "objectContext.resources.any(|it| it.properties.n > 2)",
            "objectContext.resources.none(|it| it.properties.n > 5)",
            "objectContext.resources[9].name.contains(\"x\") || true",
        ],
        Score::ONE,
    );
}

#[test]
fn absent_data_where_a_boolean_is_needed_is_not_guessed() {
    let component = run("objectContext.resources.any(|it| it.properties.done && true)");
    assert!(component.is_missing() && component.why().contains("it.properties.done == true"), "{component:?}");
    assert!(run("evaluation.functionCalls[0].args.nothing || true").is_missing());
}

#[test]
fn limits_and_type_errors_are_missing() {
    for (script, part) in [
        ("loop {}", "passed the limit of 1000000 operations"),
        ("let n = 0; while true { n += 1; } true", "passed the limit of 1000000 operations"),
        ("fn f(n) { f(n + 1) } f(0) == 1", "calls within calls"),
        ("let s = \"xxxxxxxx\"; loop { s += s; } true", "limit of memory"),
        ("let a = [1]; loop { a += a; } true", "limit of memory"),
        ("1 < \"a\"", "`<` can't compare the number 1 with the text \"a\""),
        ("true > false", "can't compare"),
        ("objectContext.resources < 3", "`<` can't compare the list"),
        ("objectContext.resources.size", "must be true or false, but it is 3"),
        ("evaluation.job", "must be true or false, but it is \"reminders\""),
        ("let f = 3; f.call(1) == 1", "expecting Fn"),
        ("objectContext.resources.any(|it| 1)", "must give true or false, not the number 1"),
        ("1 / 0 == 1", "zero"),
        ("throw \"stop\"", "stop"),
        ("let r = [objectContext.resources[0]]; r[0].nam == \"x\"", "a resource has no `nam`"),
    ] {
        let component = run(script);
        assert!(component.is_missing(), "{script}: {component:?}");
        assert!(component.why().contains(part), "{script}: {}", component.why());
    }
}

#[test]
fn nothing_runs_past_its_deadline() {
    let resources = (0..4_000).map(|n| resource(&n.to_string(), &["Document"], json!({}))).collect();
    let context = ObjectContext { resources, ..ObjectContext::default() };
    let evidence = Evidence { object_context: Some(Observed::Seen(context)), ..evidence() };
    for script in [
        "objectContext.resources.all(|a| objectContext.resources.count(|b| b.name == a.name) == 1)",
        "objectContext.resources.any(|a| objectContext.resources.all(|b| objectContext.resources.none(|c| c.id == \"\")))",
        "objectContext.resources.map(|a| objectContext.resources.filter(|b| b.id == a.id)).size == 0",
        "objectContext.resources.find(|a| objectContext.resources.find(|b| b.id + \"x\" == a.id) != ()) != ()",
        "let r = objectContext.resources; r.sort(|a, b| if objectContext.resources.any(|c| c.id == \"\") { 1 } else { -1 }); r.size == 1",
        "let a = []; a.pad(100000, 1); let b = []; b.pad(100000, 2); b.push(1); a.push(2); a.containsAll(a + b)",
        "let r = objectContext.resources; r.reduce(|sum, x| sum + objectContext.resources.count(|y| y == x), 0) == 1",
        "false || objectContext.resources.all(|a| objectContext.resources.count(|b| b.id == a.id) == 1)",
    ] {
        let (clock, limit) = (Clock::system(), Duration::from_millis(200));
        let since = clock.start();
        let check = ExpressionCheck { expression: script.into() };
        let component = evaluate(&check, "j", &evidence, clock.deadline(limit));
        assert!(
            component.is_missing() && component.why().contains("took longer than 0.2 s; "),
            "{script}: {component:?}"
        );
        assert!(since.elapsed_ms() < 2_000.0, "{script}: {} ms", since.elapsed_ms());
    }
}

#[test]
fn an_absent_object_context_is_missing_only_where_it_is_used() {
    let mut evidence = evidence();
    let mut run = |context: Option<Observed<ObjectContext>>, script: &str| {
        evidence.object_context = context;
        evaluate(&ExpressionCheck { expression: script.into() }, "j", &evidence, long())
    };
    let failed = || Some(Observed::Failed("HTTP 404".to_owned()));
    let used = "evaluation.done && objectContext.resources.size == 0";
    assert_eq!(run(failed(), used), Component::missing("the object context could not be read: HTTP 404"));
    assert_eq!(run(None, used), Component::missing("the object context was never read"));
    let unused = "evaluation.done /* objectContext */ && \"objectContext\" != \"\"";
    assert_eq!(run(failed(), unused).score(), Some(Score::ONE));
    assert_eq!(run(None, unused).score(), Some(Score::ONE));
    assert!(uses_object_context("`${objectContext.resources.size}` == \"1\""));
    assert!(uses_object_context(used) && !uses_object_context(unused));
}

#[test]
fn wrong_names_are_problems_with_a_place() {
    for (script, line, column, message, help) in [
        ("objectContext.resorces.size == 1", 1, 15, "`objectContext` has no `resorces`", "did you mean `resources`?"),
        ("true\n  && evaluation.foo == 1", 2, 17, "`evaluation` has no `foo`", "it has `sessionId`, `model`"),
        (
            "objectContxt.resources.size == 1",
            1,
            1,
            "there is no variable `objectContxt`",
            "did you mean `objectContext`?",
        ),
        ("foo == 1", 1, 1, "there is no variable `foo`", "a script sees `objectContext`, `evaluation` and `changes`"),
        ("objectContext.entities.any(|it| it.typ == 1)", 1, 36, "a resource has no `typ`", "did you mean `type`?"),
        ("objectContext.entities[0].label == 1", 1, 27, "a resource has no `label`", "did you mean `labels`?"),
        ("objectContext.entities.first().nam == 1", 1, 32, "a resource has no `nam`", "did you mean `name`?"),
        ("objectContext.entities.filter(|e| e.name == \"x\")[0].nam == 1", 1, 53, "a resource has no `nam`", "`name`"),
        (
            "objectContext.entities.all(|e| e.name == \"x\" || objectContext.entitis.size == 1)",
            1,
            63,
            "no `entitis`",
            "`entities`",
        ),
        (
            "for m in evaluation.transcript { if m.text == \"x\" { return true; } } false",
            1,
            39,
            "a message of the transcript has no `text`",
            "it has `content`",
        ),
        ("let r = objectContext.resources[0]; r.nam == \"x\"", 1, 39, "a resource has no `nam`", "`name`"),
        ("objectContext[\"resorces\"].size == 1", 1, 15, "has no `resorces`", "`resources`"),
        (
            "evaluation.functionCalls[0].arguments.x == 1",
            1,
            29,
            "a function call has no `arguments`",
            "it has `function`, `args`",
        ),
        ("objectContext.entities.siz == 1", 1, 24, "a list has no `siz`", "did you mean `size`?"),
        ("objectContext.entities.exists(|it| true)", 1, 24, "there is no function `exists`", ""),
        ("objectContext.entities.anny(|it| true)", 1, 24, "there is no function `anny`", "did you mean `any`?"),
        ("frobnicate(1)", 1, 1, "there is no function `frobnicate`", ""),
        ("sleep(5) == ()", 1, 1, "there is no function `sleep`", "a script only computes"),
        ("() != evaluation.job", 1, 4, "`()` on the left of `!=`", "`… != ()`"),
        ("", 1, 1, "the expression is empty", "objectContext.resources.size == 1"),
        ("objectContext.resources.any(|r| it.type == 1)", 1, 33, "no variable `it`", "`|it| …`"),
    ] {
        let problem = compile_problem(script).unwrap_or_else(|| panic!("{script} has no problem"));
        assert!(problem.message.contains(message), "{script}: {problem:?}");
        assert!(problem.help.clone().unwrap_or_default().contains(help), "{script}: {problem:?}");
        assert_eq!((problem.line, problem.column), (line, column), "{script}: {problem:?}");
    }
}

#[test]
fn kotlin_is_a_problem_that_tells_the_rhai_spelling() {
    for (script, help) in [
        (
            r#"objectContext.entities.any { it.type == "Reminder" }"#,
            r#"in Rhai: `objectContext.entities.any(|it| it.type == "Reminder")`"#,
        ),
        ("evaluation.functionCalls.size === 1", "in Rhai: `evaluation.functionCalls.size == 1`"),
        ("objectContext.entities.first()!!.name == \"x\"", "in Rhai: `objectContext.entities.first().name == \"x\"`"),
        ("objectContext.context != null", "in Rhai: `objectContext.context != ()`"),
        (
            "evaluation.transcript.size in 1..6",
            "in Rhai: `evaluation.transcript.size in 1..=6`; where the end is meant to be left out: `range(1, 6)`",
        ),
        ("evaluation.transcript.size in 1 until 6", "in Rhai: `evaluation.transcript.size in range(1, 6)`"),
        ("evaluation.transcript.size in 6 downTo 1", "in Rhai: `evaluation.transcript.size in 1..=6`"),
        ("evaluation.job in listOf(\"a\")", "in Rhai: `evaluation.job in [\"a\"]`"),
        (
            "objectContext.entities.any { it.typ == \"x\" }",
            "near Rhai: `objectContext.entities.any(|it| it.typ == \"x\")`",
        ),
    ] {
        let problem = compile_problem(script).unwrap_or_else(|| panic!("{script} has no problem"));
        assert_eq!(problem.help.as_deref(), Some(help), "{script}");
        assert!(run(script).is_missing(), "{script}");
    }
    let lambda = compile_problem(r#"objectContext.entities.any { it.type == "Reminder" }"#).unwrap();
    assert_eq!((lambda.line, lambda.column), (1, 28));
    assert_eq!(lambda.message, "a Kotlin lambda is not Rhai");
}

#[test]
fn syntax_errors_have_a_place() {
    for script in
        ["objectContext.", "1 +", "(1 == 1", "\"open", "import \"x\" as y; true", "eval(\"true\")", "a b c", "}"]
    {
        let problem = compile_problem(script).unwrap_or_else(|| panic!("{script} has no problem"));
        assert!(problem.line == 1 && problem.column >= 1 && !problem.message.is_empty(), "{problem:?}");
    }
}

#[test]
fn legal_scripts_have_no_problem() {
    for script in [
        "objectContext.resources.any(|it| it.properties.anything.goes.here == 1)",
        "evaluation.functionCalls[0].args.city.length == 4",
        "let m = #{resorces: 1}; m.resorces == 1",
        "let x = objectContext.resources; x = #{foo: 1}; x.foo == 1",
        "objectContext.context.whatever[3].x == ()",
        "evaluation.events[0].request.function.name == \"x\"",
        "[1, 2].map(|x| x + 1).reduce(|sum, x| sum + x) == 5",
        "let f = |r| r.name; f.call(objectContext.resources[0]) == \"x\"",
        "fn named(r, n) { r.name == n } named(objectContext.resources[0], \"x\")",
        "objectContext.resources.map(|r| r.properties).any(|p| p.foo == 1)",
        "objectContext.resources.sort(|a, b| a.name.len - b.name.len); true",
        "let names = []; for (r, i) in objectContext.resources { names.push(`${r.name} ${i}`); } names.len() == 3",
        "try { throw 1 } catch (e) { e == 1 }",
        "objectContext.resources.index_of(|r| r.name == \"Ann\") == 1",
        "evaluation.job.split(\" \").len() == 1",
        "range(0, 3).contains(2)",
        "type_of(evaluation.job) == \"string\"",
    ] {
        assert_eq!(compile_problem(script), None, "{script}");
    }
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
