//! The rows of the table in docs/datasets.md in which trpc-agent-go is unsound: each in both modes.

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
