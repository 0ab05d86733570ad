//! Problems that are reported before a script runs.

use super::*;

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
        (
            "(3..7).contains(evaluation.transcript.size)",
            "in Rhai: `(3..=7).contains(evaluation.transcript.size)`; where the end is meant to be left out: `range(3, 7)`",
        ),
        (
            "evaluation.transcript.size in 0..objectContext.resources.size",
            "in Rhai: `evaluation.transcript.size in 0..=objectContext.resources.size`; where the end is meant to be left out: \
             `range(0, objectContext.resources.size)`",
        ),
        ("\"job ${evaluation.job}\" == evaluation.job", "in Rhai: ``job ${evaluation.job}` == evaluation.job`"),
        ("evaluation.job == \"\"\"a b\"\"\"", "in Rhai: `evaluation.job == \"a b\"`"),
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
        "try { throw 1 } catch (e) { e == 1 } true",
        "objectContext.resources.index_of(|r| r.name == \"Ann\") == 1",
        "evaluation.job.split(\" \").len() == 1",
        "range(0, 3).contains(2)",
        "type_of(evaluation.job) == \"string\"",
    ] {
        assert_eq!(compile_problem(script), None, "{script}");
    }
}

#[test]
fn what_ends_with_no_truth_is_refused() {
    for (script, what) in [
        ("42", "a number"),
        ("-1.5", "a number"),
        ("\"x\"", "a text"),
        ("`x ${evaluation.done}`", "a text"),
        ("[true]", "a list"),
        ("#{a: true}", "a map"),
        ("()", "absent data"),
        ("let x = evaluation.done;", "an assignment"),
        ("evaluation.done; 1", "a number"),
    ] {
        let problem = compile_problem(script).unwrap_or_else(|| panic!("{script} was not refused"));
        assert!(problem.message.contains(what), "{script}: {problem}");
    }
    for script in ["true", "evaluation.done", "let x = 1; x == 1", "if evaluation.done { true } else { 0 == 1 }"] {
        assert_eq!(compile_problem(script), None, "{script}");
    }
}

#[test]
fn what_gives_no_truth_or_never_ends_is_known_before_the_conversation() {
    let evidence = Evidence { object_context: Some(Observed::Seen(ObjectContext::default())), ..Evidence::sample() };
    let why = |script: &str| {
        let check = ExpressionCheck::new(script);
        unusable(&check, "j", &evidence, Clock::system().deadline(Duration::MAX))
    };
    for (script, part) in [
        ("objectContext.resources.size", "must be true or false, but it is 0"),
        ("loop {}", "operations"),
        ("while objectContext.resources.isEmpty() {} true", "operations"),
        ("fn f(n) { f(n + 1) } f(0) == 1", "calls within calls"),
    ] {
        assert!(why(script).is_some_and(|why| why.contains(part)), "{script}: {:?}", why(script));
    }
    for script in [
        "objectContext.resources[0].properties.done",
        "objectContext.resources[0].properties.n > 1 && evaluation.transcript[1].content.len() > 2",
        "objectContext.context",
        "1 < \"two\"",
    ] {
        assert_eq!(why(script), None, "{script}");
    }
}

#[test]
fn what_can_only_have_no_value_is_refused() {
    for (script, part) in [
        ("return", "`return` of nothing"),
        ("let r = false; loop { r = true; break; }", "a loop"),
        ("let r = false; for x in [1, 2] { r = x == 1; }", "a loop"),
        ("let r = false; while !r { r = true; }", "a loop"),
        ("let r = false; do { r = true; } until r", "a loop"),
        ("try { throw \"x\" } catch { true }", "a `try`"),
        ("try { } catch { true }", "a `try`"),
    ] {
        let problem = compile_problem(script).map(|problem| problem.to_string());
        assert!(problem.as_ref().is_some_and(|problem| problem.contains(part)), "{script}: {problem:?}");
    }
    for script in [
        "return true",
        "loop { break true; }",
        // It never ends, and is stopped.
        "loop {}",
        "while true { evaluation.done; }",
        "for x in [1, 2] { if x == 1 { return true; } }",
        "if evaluation.done { return true; } loop { break; }",
        "try { evaluation.done } catch { true }",
        "try { if evaluation.done { throw 1 } else { true } } catch { true }",
        "let r = false; loop { r = true; break; } r",
    ] {
        assert_eq!(compile_problem(script), None, "{script}");
    }
}
