//! What people get wrong with other systems' files is told, and nothing passes by it.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::eval_job;

/// A turn of trpc-agent-go that expects a tool call.
const TRPC: &str = r#"{"evalSetId": "s", "evalCases": [{"evalId": "c", "conversation": [{"userContent": {"content": "add 2 and 3"},
    "tools": [{"name": "add", "arguments": {"a": 2}}]}], "sessionInput": {"appName": "math", "userId": "u"}}]}"#;

/// Two turns of ADK, of which the first expects no tool call.
const ADK: &str = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [
    {"user_content": {"parts": [{"text": "Hello"}]}, "final_response": {"parts": [{"text": "Hi"}]}},
    {"user_content": {"parts": [{"text": "Book"}]}, "intermediate_data": {"tool_uses": [{"name": "book", "args": {"to": "Rome"}}]}}]}]}"#;

/// The same, as it was said and done.
fn log(city: &str) -> String {
    let call = json!({"id": "1", "type": "function", "function": {"name": "book", "arguments": json!({"to": city}).to_string()}});
    let messages = json!([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"},
        {"role": "user", "content": "Book"}, {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "assistant", "content": "Booked."}]);
    json!({"id": "c", "messages": messages}).to_string() + "\n"
}

fn desk() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("trpc.evalset.json", TRPC), ("adk.evalset.json", ADK), ("log.jsonl", &log("Rome"))] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn typed(folder: &Path, line: &str) -> (Option<i32>, String) {
    let output = eval_job(folder).args(line.split(' ')).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

#[test]
fn an_agent_that_calls_nothing_fails_also_where_a_file_asks_for_no_metric() {
    let desk = desk();
    let (status, words) = typed(desk.path(), "run trpc.evalset.json --target demo");
    assert_eq!(status, Some(100), "{words}");
    assert!(words.contains("trajectory is below its threshold of 1"), "{words}");
}

#[test]
fn a_case_made_of_a_trace_fails_where_another_call_comes() {
    let desk = desk();
    assert_eq!(typed(desk.path(), "import --from-trace log.jsonl -o job.yml").0, Some(0));
    assert_eq!(typed(desk.path(), "grade --dataset job.yml --actual log.jsonl").0, Some(0));
    fs::write(desk.path().join("log.jsonl"), log("Oslo")).unwrap();
    let (status, words) = typed(desk.path(), "grade --dataset job.yml --actual log.jsonl");
    assert_eq!(status, Some(100), "{words}");
}

#[test]
fn a_threshold_that_no_score_reaches_is_refused() {
    let desk = desk();
    for (set, config, told) in [
        ("adk.evalset.json", r#"{"criteria": {"tool_trajectory_avg_score": 80}}"#, "never reaches 80"),
        ("adk.evalset.json", r#"{"criteria": {"response_match_score": {"threshold": 80}}}"#, "never reaches 80"),
        (
            "trpc.evalset.json",
            r#"[{"metricName": "tool_trajectory_avg_score", "threshold": 80}]"#,
            "no score reaches 80",
        ),
    ] {
        fs::write(desk.path().join("config.json"), config).unwrap();
        let (status, words) = typed(desk.path(), &format!("run {set} --config-file-path config.json --target demo"));
        assert_eq!(status, Some(2), "{words}");
        assert!(words.contains(told) && words.contains("80 percent is 0.8"), "{words}");
    }
}

#[test]
fn what_nothing_can_be_compared_with_is_refused_in_both_modes_and_before_the_agent_is_asked() {
    let desk = desk();
    let turn = |reply: &str| json!({"userContent": {"content": "Hello"}, "finalResponse": {"content": reply}});
    let case = |id: &str, replies: [&str; 2]| json!({"evalId": id, "conversation": replies.map(turn), "sessionInput": {"appName": "a", "userId": "u"}});
    let cases = [case("c", ["Hi", "[1]"]), case("d", ["Hi", "Hi (again"])];
    let set = format!("{:#}", json!({"evalSetId": "s", "evalCases": cases}));
    let line = set.lines().position(|line| line.contains("\"d\"")).unwrap();
    fs::write(desk.path().join("s.evalset.json"), &set).unwrap();
    let metric = |part: serde_json::Value| json!([{"metricName": "final_response_avg_score", "threshold": 1, "criterion": {"finalResponse": part}}]);
    for (part, told) in [
        (
            json!({"text": {"matchStrategy": "regex"}}),
            "case d, message 2: the expected reply \"Hi (again\" is no regular expression",
        ),
        (json!({"json": {}}), "case c, message 1: the expected reply \"Hi\" is no JSON: "),
        (
            json!({"json": {}, "text": {"matchStrategy": "contains"}}),
            "case d, message 2: the expected reply \"Hi (again\" is no JSON",
        ),
    ] {
        fs::write(desk.path().join("m.json"), metric(part).to_string()).unwrap();
        for command in ["run s.evalset.json --target demo", "grade --dataset s.evalset.json --actual log.jsonl"] {
            for mode in ["", " --dialect-strict"] {
                let (status, words) = typed(desk.path(), &format!("{command} --config-file-path m.json{mode}"));
                assert_eq!(status, Some(2), "{words}");
                assert!(
                    words.contains(told) && words.contains("s.evalset.json:") && words.contains("help: "),
                    "{words}"
                );
                let is_in_second = told.starts_with("case d");
                assert!(!is_in_second || words.contains(&format!("s.evalset.json:{line}")), "line {line} of {words}");
            }
        }
    }
}

#[test]
fn a_case_that_is_added_expects_as_few_calls_as_in_its_own_file() {
    let desk = desk();
    assert_eq!(typed(desk.path(), "import adk.evalset.json --target demo -o job.yml").0, Some(0));
    let (status, words) = typed(desk.path(), "cases add job.yml --from adk.evalset.json --id second");
    assert_eq!(status, Some(0), "{words}");
    let text = fs::read_to_string(desk.path().join("job.yml")).unwrap();
    assert_eq!(text.matches("calls: []").count(), 2, "{text}");
}

#[test]
fn a_table_has_the_scores_of_metrics_with_names_of_their_own() {
    let desk = desk();
    let (status, words) = typed(desk.path(), "grade --dataset adk.evalset.json --actual log.jsonl -o out.csv");
    assert_eq!(status, Some(0), "{words}");
    let table = fs::read_to_string(desk.path().join("out.csv")).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let column = rows[0].iter().position(|name| *name == "tool_trajectory_avg_score").unwrap();
    assert_eq!(rows[1][column], "1", "{table}");
}

#[test]
fn what_another_grading_turns_over_is_told_of_metrics_with_names_of_their_own() {
    let desk = desk();
    let job = |city: &str| {
        format!(
            "target: {{user: u, chatbot: c}}\nisolation: user\ngreetings: []\nmetrics: [{{name: the way, trajectory: {{}}, threshold: 1}}]\n\
             cases: [{{id: c, script: [Hello, Book], expected: {{calls: [{{tool: book, args: {{to: {city}}}}}]}}}}]\n"
        )
    };
    fs::write(desk.path().join("job.yml"), job("Rome")).unwrap();
    assert_eq!(typed(desk.path(), "grade --dataset job.yml --actual log.jsonl").0, Some(0));
    fs::write(desk.path().join("job.yml"), job("Oslo")).unwrap();
    let (status, words) = typed(desk.path(), "grade --job job.yml");
    assert_eq!(status, Some(100), "{words}");
    assert!(words.contains("the conversation: 1.00 → 0.00"), "{words}");
}

#[test]
fn where_embeddings_decide_and_nobody_asks_them_letters_do_not_stand_in() {
    let desk = desk();
    let job = "target: {user: u, chatbot: c}\nisolation: user\ngreetings: []\n\
        scorer: {embeddings: {name: openai/small, baseUrl: 'http://127.0.0.1:1/v1'}}\nmetrics: [{trajectory: {}, threshold: 1}]\n\
        cases: [{id: c, script: [Hello, Book], expected: {calls: [{tool: book, args: {to: the capital of Italy}, match: {to: fuzzy}}]}}]\n";
    fs::write(desk.path().join("job.yml"), job).unwrap();
    let (status, words) = typed(desk.path(), "grade --dataset job.yml --actual log.jsonl");
    assert_eq!(status, Some(102), "{words}");
    assert!(words.contains("--scorer-model MODEL asks one") && !words.contains("letters"), "{words}");
}

#[test]
fn mistakes_are_told_in_the_words_of_what_was_typed() {
    let desk = desk();
    fs::write(desk.path().join("none.json"), r#"{"eval_set_id": "s", "eval_cases": []}"#).unwrap();
    fs::write(desk.path().join("there.yml"), "").unwrap();
    let odd = "target: {user: u, chatbot: c, demo: {}}\ngreetings: []\nmetrics: [{rouge: {type: rougeX}}]\ncases: [{id: a, script: [Hi]}]\n";
    fs::write(desk.path().join("odd.yml"), odd).unwrap();
    for (line, told) in [
        ("run adk.evalset.json --target adk=localhost:8000", "as in adk=http://localhost:8000"),
        ("run none.json --target demo", "there are no cases in this file"),
        ("grade --dataset none.json --actual log.jsonl", "there are no cases in this file"),
        ("run gone.json --target demo", "gone.json: there is no such file and no such folder\nerror:"),
        ("run adk.evalset.json --target demo -o adx=out.json", "try: -o adk=out.json, or -o ./adx=out.json"),
        ("run adk.evalset.json --target demo -o adk=", "-o adk= has no path behind it"),
        ("import adk.evalset.json -o there.yml", "there.yml is there already"),
        ("run log.jsonl --target demo", "`eval-job import --from-trace FILE`"),
        ("validate odd.yml", "`type` can't be `rougeX`"),
    ] {
        let (status, words) = typed(desk.path(), line);
        assert_eq!(status, Some(2), "{line}: {words}");
        assert!(words.contains(told), "{line}: {words}");
    }
    for (line, told) in [
        ("import adk.evalset.json", "without --target nothing says where the agent is"),
        ("validate adk.evalset.json --target demo", "valid · s · 1 case · 2 lines"),
        ("import adk.evalset.json --target demo --expected-target openai", "nothing comes of --expected-target"),
    ] {
        let (status, words) = typed(desk.path(), line);
        assert_eq!(status, Some(0), "{line}: {words}");
        assert!(words.contains(told), "{line}: {words}");
    }
}

#[test]
fn flags_that_mean_nothing_for_a_file_are_named() {
    let desk = desk();
    let (status, words) =
        typed(desk.path(), "validate adk.evalset.json --target demo --any-value ANY --metric-set quickstart-13");
    assert_eq!(status, Some(0), "{words}");
    let told = "nothing comes of --any-value (for watsonx Orchestrate's files), --metric-set (for the Red Hat quickstart's files)";
    assert!(words.contains(told), "{words}");
    fs::write(
        desk.path().join("own.yml"),
        "target: {user: u, chatbot: c, demo: {}}\nevaluator: {script: [Hi]}\nscorer: {model: scripted}\nfacts: []\n",
    )
    .unwrap();
    let (_, words) = typed(desk.path(), "validate own.yml --session-file s.json --config-file-path c.json");
    let told =
        "nothing comes of --session-file (for ADK's files), --config-file-path (for ADK's and trpc-agent-go's files)";
    assert!(words.contains(told), "{words}");
}

#[test]
fn the_word_for_any_value_is_read_by_export_too() {
    let desk = desk();
    let case = r#"{"agent": "a", "story": "You look it up.", "starting_sentence": "Hi", "goals": {"get-1": []},
        "goal_details": [{"type": "tool_call", "name": "get-1", "tool_name": "get", "args": {"id": "ANY"}}]}"#;
    fs::write(desk.path().join("wx.json"), case).unwrap();
    let (status, words) = typed(desk.path(), "export wx.json --format watsonx --any-value ANY");
    assert_eq!(status, Some(0), "{words}");
    assert!(words.contains("<IGNORE>") && !words.contains("\"ANY\""), "{words}");
}
