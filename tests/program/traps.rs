//! The rows of the table in docs/datasets.md that a recorded conversation can show: each in both modes.

use std::fs;

use serde_json::{Value, json};

use super::eval_job;

/// A case of trpc-agent-go beside what the agent said and did.
struct Trap {
    row: &'static str,
    /// The turns that are expected.
    expected: Value,
    metric: &'static str,
    criterion: Value,
    threshold: f64,
    /// Messages as OpenAI writes them.
    actual: Value,
    /// The exit status by default, and with `--dialect-strict`.
    status: (i32, i32),
}

impl Trap {
    fn graded(&self, mode: &[&str]) -> (Option<i32>, String) {
        let folder = tempfile::tempdir().unwrap();
        let case =
            json!({"evalId": "c", "conversation": self.expected, "sessionInput": {"appName": "a", "userId": "u"}});
        let metric = json!({"metricName": self.metric, "threshold": self.threshold, "criterion": self.criterion});
        for (name, file) in [
            ("s.evalset.json", json!({"evalSetId": "s", "evalCases": [case]})),
            ("s.metrics.json", json!([metric])),
            ("log.json", json!({"id": "c", "messages": self.actual})),
        ] {
            fs::write(folder.path().join(name), file.to_string()).unwrap();
        }
        let arguments = ["grade", "--dataset", "s.evalset.json", "--actual", "log.json"];
        let output = eval_job(folder.path()).args(arguments).args(mode).output().unwrap();
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    }
}

fn call(id: &str, args: Value) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "t", "arguments": args.to_string()}})
}

fn replied(reply: &str) -> Value {
    json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": reply}])
}

fn expected(reply: &str) -> Value {
    json!([{"userContent": {"content": "Hi"}, "finalResponse": {"content": reply}}])
}

fn traps() -> Vec<Trap> {
    let of_calls = "tool_trajectory_avg_score";
    let of_reply = "final_response_avg_score";
    let rows = |at: u32| json!({"rows": [{"id": 1, "at": at}]});
    let in_lists = |tree: &str| Trap {
        row: "onlyTree and ignoreTree do not reach into lists",
        expected: json!([{"userContent": {"content": "Hi"}, "tools": [{"id": "1", "name": "t", "arguments": rows(5)}]}]),
        metric: of_calls,
        criterion: json!({"toolTrajectory": {"defaultStrategy": {
            "name": {}, "arguments": {tree: {"rows": {if tree == "onlyTree" { "id" } else { "at" }: true}}}}}}),
        threshold: 1.0,
        actual: json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": [call("1", rows(6))]},
            {"role": "tool", "tool_call_id": "1", "content": "{}"}, {"role": "assistant", "content": "Done"}]),
        status: (0, 100),
    };
    let text = |row, wanted: &str, criterion: Value, reply: &str, status| Trap {
        row,
        expected: expected(wanted),
        metric: of_reply,
        criterion: json!({"finalResponse": criterion}),
        threshold: 1.0,
        actual: replied(reply),
        status,
    };
    // Sorted by their arguments, which do not count, the results are held against each other crosswise.
    let old_use = |id: &str, at: u32| json!({"id": id, "name": "t", "args": {"at": at}});
    let old_result = |id: &str, n: u32| json!({"id": id, "name": "t", "response": {"n": n}});
    vec![
        in_lists("ignoreTree"),
        in_lists("onlyTree"),
        text(
            "a pattern without case is lowercased",
            r"^\D+$",
            json!({"text": {"matchStrategy": "regex", "caseInsensitive": true}}),
            "Hello",
            (0, 100),
        ),
        text(
            "a pattern without case is lowercased",
            r"^\D+$",
            json!({"text": {"matchStrategy": "regex", "caseInsensitive": true}}),
            "123",
            (100, 0),
        ),
        text(
            "an `onlyTree` with an empty tree below a key wants that key there",
            r#"{"a": 1}"#,
            json!({"json": {"onlyTree": {"b": {}}}}),
            r#"{"a": 2}"#,
            (0, 100),
        ),
        text(
            "a ROUGE figure misses its threshold by less than 1e-9",
            "a b c",
            json!({"rouge": {"rougeType": "rouge1", "threshold": {"f1": 0.6666666669}}}),
            "a b d",
            (0, 100),
        ),
        text(
            "ROUGE knows English letters only",
            "добрый день",
            json!({"rouge": {"rougeType": "rouge1", "threshold": {"f1": 0.5}}}),
            "добрый день",
            (0, 100),
        ),
        Trap {
            row: "older files: without order, calls are sorted and compared in pairs",
            expected: json!([{
                "userContent": {"role": "user", "parts": [{"text": "Hi"}]},
                "intermediateData": {
                    "toolUses": [old_use("1", 1), old_use("2", 2)],
                    "toolResponses": [old_result("1", 1), old_result("2", 2)],
                },
            }]),
            metric: of_calls,
            criterion: json!({"toolTrajectory": {"orderInsensitive": true, "defaultStrategy": {
                "name": {}, "arguments": {"ignore": true}, "response": {}}}}),
            threshold: 1.0,
            actual: json!([{"role": "user", "content": "Hi"},
                {"role": "assistant", "tool_calls": [call("1", json!({"at": 3})), call("2", json!({"at": 4}))]},
                {"role": "tool", "tool_call_id": "1", "content": "{\"n\": 2}"},
                {"role": "tool", "tool_call_id": "2", "content": "{\"n\": 1}"}, {"role": "assistant", "content": "Done"}]),
            status: (0, 100),
        },
        Trap {
            row: "any reply contains an expected one that is empty",
            expected: json!([expected("")[0], expected("yes")[0]]),
            metric: of_reply,
            criterion: json!({"finalResponse": {"text": {"matchStrategy": "contains"}}}),
            threshold: 0.5,
            actual: json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"},
                {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "no"}]),
            status: (100, 0),
        },
    ]
}

#[test]
fn what_trpc_agent_go_does_unsoundly_is_done_only_where_it_is_asked_for() {
    for trap in traps() {
        let ((default, told), (strict, told_strict)) = (trap.graded(&[]), trap.graded(&["--dialect-strict"]));
        let statuses = (default.unwrap(), strict.unwrap());
        assert_eq!(statuses, trap.status, "{}\n{told}\n{told_strict}", trap.row);
    }
}

/// A case of another system's beside what the agent said and did, as files.
struct TrapFiles {
    row: &'static str,
    /// Their names and texts; the first one holds the cases, `log.json` or `c.messages.json` is what was recorded.
    files: Vec<(&'static str, String)>,
    actual: &'static str,
    /// The exit status by default, and with `--dialect-strict`.
    status: (i32, i32),
}

impl TrapFiles {
    fn graded(&self, mode: &[&str]) -> (Option<i32>, String) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in &self.files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let arguments = ["grade", "--dataset", self.files[0].0, "--actual", self.actual];
        let output = eval_job(folder.path()).args(arguments).args(mode).output().unwrap();
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    }
}

#[track_caller]
fn hold(traps: Vec<TrapFiles>) {
    let mut wrong = Vec::new();
    for trap in traps {
        let ((default, told), (strict, told_strict)) = (trap.graded(&[]), trap.graded(&["--dialect-strict"]));
        let statuses = (default.unwrap(), strict.unwrap());
        if statuses != trap.status {
            wrong.push(format!("{}: {statuses:?}, not {:?}\n{told}\n{told_strict}", trap.row, trap.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What a user and an agent said, with one call of `t` before the reply where there are arguments.
fn talk(args: Option<&str>, reply: &str) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Hi"})];
    if let Some(args) = args {
        let function = json!({"name": "t", "arguments": args});
        messages
            .push(json!({"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]}));
        messages.push(json!({"role": "tool", "tool_call_id": "1", "content": "{}"}));
    }
    messages.push(json!({"role": "assistant", "content": reply}));
    json!(messages)
}

fn adk_turn(reply: Option<&str>, args: Option<&Value>) -> Value {
    let content = |role: &str, text: &str| json!({"role": role, "parts": [{"text": text}]});
    let mut turn = json!({"user_content": content("user", "Hi")});
    if let Some(reply) = reply {
        turn["final_response"] = content("model", reply);
    }
    if let Some(args) = args {
        turn["intermediate_data"] = json!({"tool_uses": [{"name": "t", "args": args}]});
    }
    turn
}

fn adk(row: &'static str, (set, criteria): (String, Value), actual: &Value, status: (i32, i32)) -> TrapFiles {
    let files = vec![
        ("s.evalset.json", set),
        ("test_config.json", json!({"criteria": criteria}).to_string()),
        ("log.json", json!({"id": "c", "messages": actual}).to_string()),
    ];
    TrapFiles { row, files, actual: "log.json", status }
}

fn adk_set(turns: &[Value]) -> String {
    json!({"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": turns}]}).to_string()
}

#[test]
fn what_adk_does_unsoundly_is_done_only_where_it_is_asked_for() {
    let replies = json!({"response_match_score": 0.8});
    let calls = json!({"tool_trajectory_avg_score": 1.0});
    let two = json!([talk(None, "Hello")[0], talk(None, "Hello")[1], talk(None, "x")[0], talk(None, "x")[1]]);
    let half = adk_set(&[adk_turn(Some("Hello"), None), adk_turn(None, None)]);
    let one = adk_set(&[adk_turn(Some("Hello"), None)]);
    let called = |args: Value| adk_set(&[adk_turn(Some("Hello"), Some(&args))]);
    let long = called(json!({"n": 0})).replace("\"n\":0", "\"n\":12345678901234567890123");
    let long_call = talk(Some("{\"n\": 12345678901234567890124}"), "Hello");
    let hello = talk(None, "Hello");
    let camel = one.replace("eval_set_id", "evalSetId").replace("eval_cases", "evalCases");
    let commented = format!("// a set\n{}", one.replace("}]}]}", "}],}]}"));
    hold(vec![
        adk("a turn of which no reply is expected", (half, replies.clone()), &two, (0, 100)),
        adk("true and 1", (called(json!({"n": true})), calls.clone()), &talk(Some("{\"n\": 1}"), "x"), (100, 0)),
        adk("false and 0", (called(json!({"n": 0})), calls.clone()), &talk(Some("{\"n\": false}"), "x"), (100, 0)),
        adk(
            "a metric that can't be computed",
            (one.clone(), json!({"response_match_score": 0.8, "safety_v1": 0.5})),
            &hello,
            (102, 102),
        ),
        adk("camelCase at the top", (camel, replies.clone()), &hello, (0, 0)),
        adk("comments and commas", (commented, replies), &hello, (0, 0)),
        adk(
            "num_samples: 0",
            (
                one.clone(),
                json!({"final_response_match_v2": {"threshold": 0.5, "judge_model_options": {"num_samples": 0}}}),
            ),
            &hello,
            (2, 2),
        ),
        adk("a metric that it does not know", (one.clone(), json!({"no_such_metric": 0.5})), &hello, (2, 2)),
        adk("a threshold above the highest score", (one, json!({"response_match_score": 80})), &hello, (2, 2)),
        adk("whole numbers of any length", (long, calls), &long_call, (102, 102)),
    ]);
}

fn trpc(row: &'static str, (turns, metric): (Value, Value), actual: &Value, status: (i32, i32)) -> TrapFiles {
    let case = json!({"evalId": "c", "conversation": turns, "sessionInput": {"appName": "a", "userId": "u"}});
    let files = vec![
        ("s.evalset.json", json!({"evalSetId": "s", "evalCases": [case]}).to_string()),
        ("s.metrics.json", json!([metric]).to_string()),
        ("log.json", json!({"id": "c", "messages": actual}).to_string()),
    ];
    TrapFiles { row, files, actual: "log.json", status }
}

#[test]
fn what_trpc_agent_go_leaves_open_is_refused_or_missing() {
    let reply = |criterion: Value| json!({"metricName": "final_response_avg_score", "threshold": 1.0, "criterion": {"finalResponse": criterion}});
    let of_calls = json!({"metricName": "tool_trajectory_avg_score", "threshold": 1.0,
        "criterion": {"toolTrajectory": {"defaultStrategy": {"name": {}, "arguments": {}}}}});
    let exact = || reply(json!({"text": {"matchStrategy": "exact"}}));
    let hello = talk(None, "Hello");
    let two_calls = json!([{"role": "user", "content": "Hi"},
        {"role": "assistant", "tool_calls": [call("1", json!({"at": 2})), call("2", json!({"at": 1}))]},
        {"role": "tool", "tool_call_id": "1", "content": "{}"}, {"role": "tool", "tool_call_id": "2", "content": "{}"},
        {"role": "assistant", "content": "Done"}]);
    let new_use = |at: u32| json!({"id": at.to_string(), "name": "t", "arguments": {"at": at}});
    let old_use = |at: u32| json!({"id": at.to_string(), "name": "t", "args": {"at": at}});
    let old_result = |at: u32| json!({"id": at.to_string(), "name": "t", "response": {}});
    let newer = json!([{"userContent": {"role": "user", "content": "Hi"}, "tools": [new_use(1), new_use(2)]}]);
    let older = json!([{"userContent": {"role": "user", "parts": [{"text": "Hi"}]}, "intermediateData": {
        "toolUses": [old_use(1), old_use(2)], "toolResponses": [old_result(1), old_result(2)]}}]);
    let left_out = json!([{"userContent": {"role": "user", "content": "Hi"}}]);
    let no_threshold = json!({"metricName": "final_response_avg_score", "criterion": {"finalResponse": {"text": {"matchStrategy": "exact"}}}});
    let unknown = json!({"metricName": "mine", "evaluatorName": "my_own", "threshold": 0.5, "criterion": {}});
    let only = reply(json!({"json": {"onlyTree": {"gone": true}}}));
    let pattern = reply(json!({"text": {"matchStrategy": "regex"}}));
    hold(vec![
        trpc("a threshold that is left out", (expected("Hello"), no_threshold), &hello, (2, 2)),
        trpc("an evaluator that is not registered", (expected("Hello"), unknown), &hello, (102, 102)),
        trpc("calls have no order in newer files", (newer, of_calls.clone()), &two_calls, (0, 0)),
        trpc("calls have an order in older files", (older, of_calls), &two_calls, (100, 100)),
        trpc("onlyTree that neither has", (expected("{\"a\": 1}"), only), &talk(None, "{\"a\": 1}"), (102, 100)),
        trpc(
            "a turn whose expected reply is left out",
            (json!([expected("Hello")[0], left_out[0]]), exact()),
            &json!([hello[0], hello[1], hello[0], hello[1]]),
            (0, 0),
        ),
        trpc(
            "a criterion that ignores everything",
            (expected("Hello"), reply(json!({"text": {"ignore": true}}))),
            &hello,
            (102, 102),
        ),
        trpc("an expected text that is no pattern", (expected("(a"), pattern), &hello, (2, 2)),
    ]);
}

fn watsonx(row: &'static str, (expected, rule): (Value, Option<&str>), actual: Value, status: (i32, i32)) -> TrapFiles {
    let mut goal = json!({"type": "tool_call", "name": "g", "tool_name": "t", "args": {"n": expected}});
    if let Some(rule) = rule {
        goal["arg_matching"] = json!({"n": rule});
    }
    let case =
        json!({"agent": "a", "story": "s", "starting_sentence": "Hi", "goals": {"g": []}, "goal_details": [goal]});
    let content = json!({"type": "tool_call", "name": "t", "args": {"n": actual}, "id": "1"}).to_string();
    let messages = json!([
        {"role": "user", "content": "Hi", "type": "text"},
        {"role": "assistant", "content": content, "type": "tool_call"},
        {"role": "assistant", "content": "Done", "type": "text"},
    ]);
    let files = vec![("c.json", case.to_string()), ("c.messages.json", messages.to_string())];
    TrapFiles { row, files, actual: "c.messages.json", status }
}

/// A goal beside two calls of one message.
fn two_in_one_message(n: u32, status: (i32, i32)) -> TrapFiles {
    let trap = watsonx("of several calls in one message", (json!(n), None), json!(0), status);
    let call = |n: u32| json!({"id": n.to_string(), "name": "t", "args": {"n": n}});
    let messages = json!([
        {"role": "user", "content": "Hi", "type": "text"},
        {"role": "assistant", "content": "", "type": "tool_call", "tool_calls": [call(1), call(2)]},
        {"role": "assistant", "content": "Done", "type": "text"},
    ]);
    let [case, _] = <[_; 2]>::try_from(trap.files).unwrap();
    TrapFiles { files: vec![case, ("c.messages.json", messages.to_string())], ..trap }
}

/// A goal with an argument within another one, beside a call with one whose name has a dot.
fn dotted(status: (i32, i32)) -> TrapFiles {
    let trap = watsonx("a dotted argument fits a nested one", (json!({"a": 1}), None), json!(0), status);
    let rename = |(name, text): (&'static str, String)| (name, text.replace("\\\"n\\\":0", "\\\"n.a\\\":1"));
    TrapFiles { files: trap.files.into_iter().map(rename).collect(), ..trap }
}

#[test]
fn what_watsonx_orchestrate_does_unsoundly_is_done_only_where_it_is_asked_for() {
    hold(vec![
        watsonx("007 is 7", (json!("007"), None), json!("7"), (100, 0)),
        watsonx("nothing is None", (json!(null), None), json!("None"), (100, 0)),
        watsonx("1_000 is 1000", (json!("1_000"), None), json!(1000), (100, 0)),
        watsonx("an expected {} within the arguments", (json!({}), None), json!("x"), (100, 0)),
        two_in_one_message(1, (0, 0)),
        two_in_one_message(2, (0, 100)),
        watsonx("long numbers lose digits", (json!("9007199254740993"), None), json!("9007199254740992"), (100, 0)),
        dotted((100, 0)),
        watsonx("the word for any value", (json!("<IGNORE>"), None), json!("x"), (0, 0)),
        watsonx("another word for any value", (json!("ANY"), None), json!("x"), (100, 100)),
        watsonx("true is not True", (json!(true), None), json!("True"), (0, 100)),
        watsonx("optional compares type and case", (json!("Five"), Some("optional")), json!("five"), (0, 100)),
        watsonx("fuzzy takes 0.8 of 100", (json!("Lisbon"), Some("fuzzy")), json!("Oslo airport"), (100, 0)),
        watsonx("what is the same is so in both", (json!("Lisbon"), None), json!("lisbon"), (0, 0)),
    ]);
}

#[test]
fn the_word_for_any_value_is_another_one_where_watsonx_orchestrate_s_variable_or_the_flag_says_so() {
    let trap = watsonx("another word", (json!("ANY"), None), json!("x"), (0, 0));
    for mode in [[].as_slice(), &["--dialect-strict"]] {
        let word = [&["--any-value", "ANY"], mode].concat();
        let (status, told) = trap.graded(&word);
        assert_eq!(status, Some(0), "{told}");
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in &trap.files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let mut command = eval_job(folder.path());
    command.args(["grade", "--dataset", "c.json", "--actual", "c.messages.json"]);
    let output = command.env("RESERVED_KEYWORD_FOR_GROUND_TRUTH_ARGS", "ANY").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The result of a run of ADK, whose session ended in a state, beside a set that expects another one.
#[test]
fn the_final_state_of_adk_s_sessions_is_compared_by_default_alone() {
    let turn = adk_turn(Some("Hello"), None);
    let case = json!({"eval_id": "c", "conversation": [turn], "final_session_state": {"k": 1}});
    let of = |state: u32, status: (i32, i32)| {
        let result = json!({"eval_id": "c", "session_details": {"state": {"k": state}},
            "eval_metric_result_per_invocation": [{"actual_invocation": turn}]});
        let set = json!({"eval_set_id": "s", "eval_cases": [case]});
        let result = json!({"eval_set_result_id": "r", "eval_set_id": "s", "eval_case_results": [result]});
        let files = vec![
            ("s.evalset.json", set.to_string()),
            ("test_config.json", json!({"criteria": {"response_match_score": 0.8}}).to_string()),
            ("r.evalset_result.json", result.to_string()),
        ];
        TrapFiles { row: "final_session_state", files, actual: "r.evalset_result.json", status }
    };
    hold(vec![of(1, (0, 0)), of(2, (100, 0))]);
}

#[test]
fn a_rubric_of_adk_without_a_type_is_judged_by_no_metric_only_where_that_is_asked_for() {
    let mut turn = adk_turn(Some("Hello"), None);
    turn["rubrics"] = json!([{"rubric_id": "r", "rubric_content": {"text_property": "It greets"}}]);
    let criteria = json!({"rubric_based_final_response_quality_v1": 0.5});
    let trap = adk("a rubric without a type", (adk_set(&[turn]), criteria), &talk(None, "Hello"), (102, 102));
    let nobody = "it judges by rubrics, and neither the metric nor a case has any for it";
    for (mode, is_told) in [([].as_slice(), false), (&["--dialect-strict"], true)] {
        let (status, told) = trap.graded(mode);
        // Nobody judges here.
        assert_eq!(status, Some(102), "{told}");
        assert_eq!(told.contains(nobody), is_told, "{told}");
    }
}
