//! Absent data, errors, and what takes too long.

use super::*;
use crate::clock::thread_time;

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
        let since = thread_time();
        let check = ExpressionCheck::new(script);
        let component = evaluate(&check, "j", &evidence, clock.deadline(limit));
        assert!(
            component.is_missing() && component.why().contains("took longer than 0.2 s; "),
            "{script}: {component:?}"
        );
        let worked = thread_time().zip(since).map(|(now, since)| now - since);
        assert!(worked.is_none_or(|worked| worked.as_secs() < 2), "{script}: {worked:?}");
    }
}

#[test]
fn an_absent_object_context_is_missing_only_where_it_is_used() {
    let mut evidence = evidence();
    let mut run = |context: Option<Observed<ObjectContext>>, script: &str| {
        evidence.object_context = context;
        evaluate(&ExpressionCheck::new(script), "j", &evidence, long())
    };
    let failed = || Some(Observed::Failed("HTTP 404".to_owned()));
    let used = "evaluation.done && objectContext.resources.size == 0";
    assert_eq!(run(failed(), used), Component::missing("the object context could not be read: HTTP 404"));
    assert_eq!(run(None, used), Component::missing("the object context was never read"));
    let unused = "evaluation.done /* objectContext */ && \"objectContext\" != \"\"";
    assert_eq!(run(failed(), unused).score(), Some(Score::ONE));
    assert_eq!(run(None, unused).score(), Some(Score::ONE));
    let uses = |script: &str| ExpressionCheck::new(script).uses_object_context();
    assert!(uses("`${objectContext.resources.size}` == \"1\""));
    assert!(uses(used) && !uses(unused));
}
