//! What was already said and done is graded without an agent.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::eval_job;

/// Two cases of ADK: one calls a tool, one only talks.
fn dataset() -> Value {
    let turn = |say: &str, tools: Value, reply: &str| {
        json!({"user_content": {"parts": [{"text": say}]}, "intermediate_data": {"tool_uses": tools},
               "final_response": {"parts": [{"text": reply}]}})
    };
    json!({"eval_set_id": "shop", "eval_cases": [
        {"eval_id": "bestell-ñ", "conversation": [
            turn("Order two pens", json!([{"name": "order", "args": {"item": "pen", "count": 2}}]), "Two pens are ordered.")]},
        {"eval_id": "hello", "session_input": {"app_name": "shop", "user_id": "u"}, "conversation": [turn("Hello", json!([]), "Hello there.")]}]})
}

fn chat(id: &str, count: u32) -> Value {
    json!({"id": id, "messages": [{"role": "user", "content": "Order two pens"},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function",
            "function": {"name": "order", "arguments": format!("{{\"item\": \"pen\", \"count\": {count}}}")}}]},
        {"role": "tool", "tool_call_id": "1", "content": "ok"}, {"role": "assistant", "content": "Two pens are ordered."}]})
}

fn hello() -> Value {
    json!({"id": "hello", "messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello there."}]})
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn desk(recorded: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("shop.evalset.json"), dataset().to_string()).unwrap();
    fs::write(folder.path().join("log.jsonl"), recorded).unwrap();
    folder
}

fn typed(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = eval_job(folder).args(arguments).output().unwrap();
    let words = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(words).unwrap())
}

const GRADE: [&str; 5] = ["grade", "--dataset", "shop.evalset.json", "--actual", "log.jsonl"];

#[test]
fn recorded_conversations_are_graded_and_kept_like_a_run() {
    let desk = desk(&lines(&[hello(), chat("bestell-ñ", 2), chat("nobody", 2)]));
    let (status, words) = typed(desk.path(), &[&GRADE[..], &["-o", "out.json", "-o", "out.xml"]].concat());
    assert_eq!(status, Some(0), "{words}");
    assert!(words.contains("note: 1 recording without a case: nobody"), "{words}");
    assert!(words.contains("recorded in log.jsonl (a list of messages as OpenAI writes them)"), "{words}");
    let record: Value = serde_json::from_slice(&fs::read(desk.path().join("out.json")).unwrap()).unwrap();
    assert_eq!(record["provenance"]["recorded"], json!(["log.jsonl (a list of messages as OpenAI writes them)"]));
    let trial = &record["trials"][0];
    assert_eq!(
        (&trial["trial"]["case"], &trial["evidence"]["transcript"][0]["latencyMs"]),
        (&json!("bestell-ñ"), &Value::Null)
    );
    for arguments in [&["show"][..], &["list"], &["grade"], &["grade", "--weights", "response_match_score=0"]] {
        let (status, words) = typed(desk.path(), arguments);
        assert_eq!(status, Some(0), "{arguments:?}: {words}");
    }
    // Which tools the agent has is known only where somebody lists them.
    let (status, words) = typed(desk.path(), &["coverage", "--fail-under", "1"]);
    assert_eq!(status, Some(100), "{words}");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("only calls are known"), "{words}");
    assert!(words.contains("1 called; which tools the agent has is not known: --tools FILE lists them"), "{words}");
    assert!(words.contains("so 1 % is not (--fail-under); --tools FILE lists the tools"), "{words}");
    fs::write(desk.path().join("tools.yml"), "- order\n- cancel\n").unwrap();
    let (status, words) = typed(desk.path(), &["coverage", "--fail-under", "50", "--tools", "tools.yml"]);
    assert_eq!(status, Some(0), "{words}");
    assert!(words.contains("50.0 % covered") && words.contains("cancel · never called"), "{words}");
    // Its own run is a recording too, by its id, its folder, its journal and its record.
    let run = super::kept_run(desk.path()).unwrap();
    let name = run.file_name().unwrap().to_str().unwrap().to_owned();
    let journal = format!("runs/{name}/journal.ndjson");
    for actual in [name.rsplit('-').next().unwrap(), &format!("runs/{name}"), &journal, "out.json"] {
        let (status, words) = typed(desk.path(), &["grade", "--dataset", "shop.evalset.json", "--actual", actual]);
        assert_eq!(status, Some(0), "{actual}: {words}");
        assert!(!words.contains("note:"), "{actual}: {words}");
    }
}

#[test]
fn what_the_agent_asked_for_is_scored_where_the_case_has_facts() {
    let job = "target: {user: u, chatbot: c}\nmetrics: [elicitation, text]\n\
               facts: [The order number is 4711-22, The user's name is Ada Byron]\n\
               cases: [{id: parcel, script: [{say: Where is my parcel?, expected: {reply: What is your order number?}}, It is 4711-22.]}]\n";
    let messages = [
        ("user", "Where is my parcel?"),
        ("assistant", "What is your order number?"),
        ("user", "It is 4711-22."),
        ("assistant", "Thank you, it is on its way."),
    ];
    let messages = messages.map(|(role, content)| json!({"role": role, "content": content}));
    let desk = desk(&lines(&[json!({"id": "parcel", "messages": messages})]));
    fs::write(desk.path().join("job.yml"), job).unwrap();
    let arguments = ["grade", "--dataset", "job.yml", "--actual", "log.jsonl", "-o", "out.json"];
    let (status, words) = typed(desk.path(), &arguments);
    assert_eq!(status, Some(0), "{words}");
    let record: Value = serde_json::from_slice(&fs::read(desk.path().join("out.json")).unwrap()).unwrap();
    let evidence = &record["trials"][0]["evidence"];
    assert_eq!(evidence["factUses"], json!([{"fact": 1, "asked": 1, "released": 2}, {"fact": 2}]), "{evidence:#}");
    let dimensions = record["trials"][0]["scorecard"]["dimensions"].as_array().unwrap();
    let elicitation = dimensions.iter().find(|dimension| dimension["name"] == "elicitation").unwrap();
    assert_eq!(elicitation["component"]["score"], json!(0.5), "{elicitation:#}");
}

#[test]
fn what_was_done_wrong_fails_and_what_is_missing_is_never_passed() {
    let wrong = desk(&lines(&[hello(), chat("bestell-ñ", 3)]));
    let (status, words) = typed(wrong.path(), &GRADE);
    assert_eq!(status, Some(100), "{words}");
    assert!(words.contains("count"), "{words}");
    let (status, words) = typed(wrong.path(), &[&GRADE[..], &["--filter", "hello"]].concat());
    assert_eq!(status, Some(0), "{words}");
    assert!(!words.contains("without a case"), "{words}");

    let one = desk(&lines(&[hello()]));
    let (status, words) = typed(one.path(), &GRADE);
    assert_eq!(status, Some(102), "{words}");
    assert!(words.contains("note: 1 case without a recording: bestell-ñ"), "{words}");
    assert!(words.contains("no conversation about this case was recorded"), "{words}");
}

#[test]
fn several_recordings_of_a_case_are_repeats_and_nameless_ones_are_taken_in_order() {
    let twice = desk(&lines(&[hello(), chat("bestell-ñ", 2), chat("bestell-ñ", 3)]));
    let (status, words) = typed(twice.path(), &[&GRADE[..], &["-o", "out.json"]].concat());
    assert_eq!(status, Some(100), "{words}");
    let record: Value = serde_json::from_slice(&fs::read(twice.path().join("out.json")).unwrap()).unwrap();
    let repeats: Vec<&Value> = record["trials"].as_array().unwrap().iter().map(|it| &it["trial"]["repeat"]).collect();
    assert_eq!(repeats, [1, 1, 2]);
    let nameless = |mut chat: Value| {
        chat.as_object_mut().unwrap().remove("id");
        chat
    };
    let in_order = desk(&lines(&[nameless(chat("", 2)), nameless(hello())]));
    let (status, words) = typed(in_order.path(), &GRADE);
    assert_eq!(status, Some(0), "{words}");
    assert!(words.contains("each is taken for the case in its place"), "{words}");
    let other_way = desk(&lines(&[nameless(hello()), nameless(chat("", 2))]));
    let (status, words) = typed(other_way.path(), &GRADE);
    assert_eq!(status, Some(102), "the agent is not blamed for another order: {words}");
    assert!(words.contains("the recording is of another conversation"), "{words}");
}

#[test]
fn a_recording_whose_user_says_other_things_is_graded_with_a_note_or_not_at_all() {
    let two = |first: &str, second: &str| {
        let messages = [first, second]
            .map(|text| [json!({"role": "user", "content": text}), json!({"role": "assistant", "content": "Yes."})]);
        json!({"id": "both", "messages": messages.concat()})
    };
    let job = "target: {user: u, chatbot: c}\nmetrics: [text]\n\
               cases: [{id: both, script: [{say: Hello, expected: {reply: Yes.}}, {say: Order two pens, expected: {reply: Yes.}}]}]\n";
    let short = json!({"id": "both", "messages": two("Hello", "")["messages"].as_array().unwrap()[..2]});
    for (recorded, expected, told) in [
        (two(" Hello", "Order  two\npens"), 0, ""),
        (
            two("Hello", "Order a pen"),
            0,
            "note: both: in turn 2 the recording's user says \"Order a pen\", and the case's \"Order two pens\"",
        ),
        (
            two("Good day", "Good night"),
            102,
            "note: both: the recording is of another conversation: in turn 1 the recording's user says \"Good day\", and the case's \"Hello\"; try",
        ),
        (short, 102, "the recording has 1 of the 2 messages of the case's user"),
    ] {
        let desk = desk(&lines(&[recorded]));
        fs::write(desk.path().join("job.yml"), job).unwrap();
        let (status, words) = typed(desk.path(), &["grade", "--dataset", "job.yml", "--actual", "log.jsonl"]);
        assert_eq!(status, Some(expected), "{words}");
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(told) && words.contains("says") == told.contains("in turn"), "{told}: {words}");
    }
}

#[test]
fn a_recording_that_can_not_be_read_is_told_with_its_place() {
    let good = lines(&[hello(), chat("bestell-ñ", 2)]);
    let cut = format!("{good}{}", &chat("x", 1).to_string()[..60]);
    let huge = json!({"id": "hello", "messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "x".repeat(3 << 20)}]});
    for (recorded, expected, told) in [
        (cut.clone(), 0, "log.jsonl:3: line 3 breaks off: it is left out"),
        (cut.clone() + "\n", 2, "log.jsonl:3:"),
        (good.replace("\"id\":\"hello\"", "\"id\" \"hello\""), 2, "log.jsonl:1:"),
        (String::new(), 2, "the file is empty"),
        ("[]".to_owned(), 2, "it is an empty list"),
        ("{\"a\": 1}".to_owned(), 2, "looked for"),
        (
            lines(&[json!({"id": "hello", "messages": []}), chat("bestell-ñ", 2)]),
            102,
            "nothing that an agent said is recorded in it",
        ),
        (lines(&[huge, chat("bestell-ñ", 2)]), 100, ""),
        (
            lines(&[
                json!({"id": "\u{1b}[31mhello\u{7}\n\u{202e}", "messages": hello()["messages"]}),
                chat("bestell-ñ", 2),
            ]),
            102,
            "1 recording without a case",
        ),
    ] {
        let desk = desk(&recorded);
        let (status, words) = typed(desk.path(), &GRADE);
        assert_eq!(status, Some(expected), "{words}");
        assert!(words.contains(told), "{told}: {words}");
        assert!(!words.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{words:?}");
    }
    let desk = desk(&good);
    for (arguments, told) in [
        (
            &["grade", "--dataset", "shop.evalset.json", "--actual", "no.json"][..],
            "there is no file no.json, and no run of that id",
        ),
        (&["grade", "--dataset", "no.json", "--actual", "log.jsonl"], "there is no file no.json"),
        (&["grade", "--dataset", "shop.evalset.json:nobody", "--actual", "log.jsonl"], "there is no case `nobody`"),
        (&["grade", "--dataset", "shop.evalset.json"], "--actual"),
        (&["grade", "--actual", "log.jsonl"], "--dataset"),
        (
            &["grade", "--dataset", "shop.evalset.json", "--actual", "shop.evalset.json"],
            "nothing that an agent said is recorded in it",
        ),
    ] {
        let (status, words) = typed(desk.path(), arguments);
        assert_eq!(status, Some(2), "{arguments:?}: {words}");
        assert!(words.contains(told), "{told}: {words}");
    }
}

#[test]
fn a_trace_becomes_a_case_that_the_trace_passes() {
    let desk = desk(&lines(&[hello(), chat("bestell-ñ", 2)]));
    let (status, words) =
        typed(desk.path(), &["import", "--from-trace", "log.jsonl", "-o", "job.yml", "--target", "demo"]);
    assert_eq!(status, Some(0), "{words}");
    let (status, words) =
        typed(desk.path(), &["grade", "--dataset", "job.yml", "--actual", "log.jsonl", "-o", "out.json"]);
    assert_eq!(status, Some(0), "{words}");
    let record: Value = serde_json::from_slice(&fs::read(desk.path().join("out.json")).unwrap()).unwrap();
    assert_eq!(record["figures"][0]["figure"]["score"], json!(1.0), "{}", record["figures"]);
    fs::write(desk.path().join("log.jsonl"), lines(&[hello(), chat("bestell-ñ", 3)])).unwrap();
    let (_, words) =
        typed(desk.path(), &["grade", "--dataset", "job.yml", "--actual", "log.jsonl", "--min-score", "1"]);
    assert!(words.contains("gate failed"), "{words}");
    let (status, words) = typed(desk.path(), &["validate", "job.yml"]);
    assert_eq!(status, Some(0), "{words}");
}

#[test]
fn what_only_a_judge_or_a_live_agent_can_tell_is_missing_with_the_reason() {
    let desk = desk(&lines(&[hello()]));
    let job = "target: {user: u, chatbot: c}\nevaluator: {model: scripted}\nscorer: {model: scripted}\n\
               facts: []\ntasks: [{task: Say hello, acceptanceCriteria: The agent says hello}]\n\
               cases: [{id: hello, script: [Hello]}]\n\
               assertions: [{name: exists, cypher: 'MATCH (n) RETURN count(n) > 0', expected: true}]\n";
    fs::write(desk.path().join("job.yml"), job).unwrap();
    let arguments = ["grade", "--dataset", "job.yml", "--actual", "log.jsonl"];
    let (status, words) = typed(desk.path(), &arguments);
    assert_eq!(status, Some(102), "{words}");
    assert!(words.contains("no judge was asked; --scorer-model MODEL asks one"), "{words}");
    let (_, words) = typed(desk.path(), &[&arguments[..], &["--scorer-model", "scripted"]].concat());
    assert!(!words.contains("Graded again") && !words.contains("the first verdict"), "there was none: {words}");
    assert!(words.contains("asking scripted about 1 conversation"), "{words}");
    assert!(words.contains("tasks") && !words.contains("no judge was asked"), "{words}");
}

#[test]
fn a_judge_that_can_not_be_asked_is_refused_before_anything_is_kept() {
    let desk = desk(&lines(&[hello(), chat("bestell-ñ", 2)]));
    let job = "target: {user: u, chatbot: c}\nfacts: []\nevaluator: {script: [Hello]}\n\
               cases: [{id: hello, tasks: [{task: t, acceptanceCriteria: a}]}]\n";
    fs::write(desk.path().join("job.yml"), job).unwrap();
    let arguments = ["grade", "--dataset", "job.yml", "--actual", "log.jsonl", "--scorer-model", "openai/gpt-4.1"];
    let (status, words) = typed(desk.path(), &arguments);
    assert_eq!(status, Some(2), "{words}");
    assert!(words.contains("OPENAI_API_KEY") && words.contains("job.yml"), "{words}");
    assert!(!desk.path().join("runs").exists(), "{words}");
    let mut command = eval_job(desk.path());
    command.env("OPENAI_API_KEY", "sk-none").env("OPENAI_BASE_URL", crate::servers::http::nobody());
    let output = command.args(arguments).output().unwrap();
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(102), "{words}");
    assert!(words.contains("the model of the judge is not reachable") && words.contains("OPENAI_BASE_URL"), "{words}");
    assert!(!desk.path().join("runs").exists(), "{words}");
}

#[test]
fn the_model_of_a_recording_is_the_one_that_it_names() {
    let named = |mut chat: Value, model: &str| {
        chat["model"] = model.into();
        chat
    };
    let recorded = lines(&[named(hello(), "gpt-4.1"), named(chat("bestell-ñ", 2), "gpt-5"), named(hello(), "gpt-5")]);
    let desk = desk(&recorded);
    let (status, words) = typed(desk.path(), &[&GRADE[..], &["-o", "out.json"]].concat());
    assert_eq!(status, Some(0), "{words}");
    let record: Value = serde_json::from_slice(&fs::read(desk.path().join("out.json")).unwrap()).unwrap();
    let of = |trial: &Value| format!("{} {}", trial["trial"]["case"], trial["trial"]["model"]).replace('"', "");
    let trials: Vec<String> = record["trials"].as_array().unwrap().iter().map(of).collect();
    assert_eq!(trials, ["bestell-ñ gpt-5", "hello gpt-4.1", "hello gpt-5"]);
}

#[test]
fn a_reason_that_several_metrics_share_is_shown_once() {
    let (desk, datasets) = (desk(""), crate::house::root().join("tests/fixtures/datasets/watsonx"));
    let dataset = datasets.join("evaluate/data_simple.json").display().to_string();
    let recorded = datasets.join("analysis/multi_run_example/messages/data_simple.run1.messages.json");
    let actual = recorded.display().to_string();
    let (_, words) = typed(desk.path(), &["grade", "--dataset", &dataset, "--actual", &actual]);
    assert_eq!(words.matches("0 of 2 expected calls were made").count(), 1, "{words}");
    assert_eq!(words.matches("as JourneySuccessMetric 1").count(), 2, "{words}");
}

#[test]
fn a_large_eval_set_is_read_some_cases_at_a_time_and_the_run_is_whole() {
    let reply = "word ".repeat(30_000);
    let case = |number: usize| {
        let turn = json!({"user_content": {"parts": [{"text": "Hello"}]}, "final_response": {"parts": [{"text": reply}]},
            "intermediate_data": {"tool_uses": [{"name": "t", "args": {"n": number}}]}});
        let mut case = json!({"eval_id": format!("case-{number}"), "conversation": [turn]});
        if number == 71 {
            case["oddity"] = json!(1);
        }
        case
    };
    let chat = |number: usize| {
        let call = json!({"id": "1", "type": "function", "function": {"name": "t", "arguments": json!({"n": number.min(70)}).to_string()}});
        json!({"id": format!("case-{number}"), "messages": [{"role": "user", "content": "Hello"},
            {"role": "assistant", "content": null, "tool_calls": [call]}, {"role": "assistant", "content": reply}]})
    };
    let cases: Vec<String> = (1..=72).map(|number| case(number).to_string()).collect();
    let folder = tempfile::tempdir().unwrap();
    let set =
        format!("\u{feff}/* a \" [ */ {{\"eval_set_id\": \"big\", \"eval_cases\": [\n{}\n]}}\n", cases.join(",\n"));
    assert!(set.len() > 9 << 20, "large enough");
    fs::write(folder.path().join("set.json"), &set).unwrap();
    fs::write(folder.path().join("test_config.json"), r#"{"criteria": {"tool_trajectory_avg_score": 1.0}}"#).unwrap();
    fs::write(
        folder.path().join("log.jsonl"),
        (1..=71).rev().map(|number| format!("{}\n", chat(number))).collect::<String>(),
    )
    .unwrap();
    let arguments = ["grade", "--dataset", "set.json", "--actual", "log.jsonl", "-o", "out.json"];
    let (status, words) = typed(folder.path(), &arguments);
    assert_eq!(status, Some(102), "{words}");
    assert!(words.contains("note: 1 case without a recording: case-72"), "{words}");
    // Also of a case that is read later than the first.
    assert!(words.contains("note: set.json:72: eval_cases[70]: unknown key `oddity`"), "{words}");
    let record: Value = serde_json::from_slice(&fs::read(folder.path().join("out.json")).unwrap()).unwrap();
    let trials = record["trials"].as_array().unwrap();
    let outcomes: Vec<&Value> = trials.iter().map(|trial| &trial["scorecard"]["composite"]["score"]).collect();
    assert!(outcomes[..70].iter().all(|score| **score == json!(1.0)), "{outcomes:?}");
    assert_eq!((trials.len(), outcomes[70].as_f64().unwrap() < 1.0, outcomes[71]), (72, true, &Value::Null));
    let (_, again) = typed(folder.path(), &["grade", "--filter", "nothing"]);
    assert!(again.contains("nothing came out otherwise\n  verdict: incomplete → incomplete"), "{again}");
    assert!(again.contains("note: without --dataset nothing comes of --filter"), "{again}");
    let (_, touched) = typed(folder.path(), &["coverage", "-v"]);
    assert!(touched.contains("1 run, 72 cases, 71 conversations"), "{touched}");
    assert!(touched.contains("t · expected by a case, called in 71 conversations"), "{touched}");
    // Its cases stand with its trials, and whoever looks at the run finds them there.
    let (_, analysis) = typed(folder.path(), &["analyze"]);
    assert!(analysis.contains("n: another value") && analysis.contains("expected 71, got 70"), "{analysis}");
    let (_, exported) = typed(folder.path(), &["export", "--format", "adk"]);
    assert!(exported.contains("\"expected_invocation\""), "expected sides are exported");
    let (_, covered) = typed(folder.path(), &["coverage", "-v"]);
    assert!(covered.contains("t · expected by a case, called in 71 conversations"), "{covered}");
    let twice = set.replace("case-72\"", "case-71\"");
    fs::write(folder.path().join("set.json"), twice).unwrap();
    let (status, words) = typed(folder.path(), &arguments);
    assert_eq!(status, Some(2), "{words}");
    assert!(words.contains("set.json:73:1: another case has the id `case-71` too"), "{words}");
}

#[test]
fn nothing_that_could_be_covered_is_no_share_of_it() {
    let desk = desk(&lines(&[hello()]));
    fs::write(desk.path().join("job.yml"), "target: {user: u, chatbot: c}\nmetrics: [text]\ncases: [{id: hello, script: [{say: Hello, expected: {reply: Hello there.}}]}]\n").unwrap();
    let (status, words) = typed(desk.path(), &["grade", "--dataset", "job.yml", "--actual", "log.jsonl"]);
    assert_eq!(status, Some(0), "{words}");
    let (status, words) = typed(desk.path(), &["coverage", "--fail-under", "50"]);
    assert_eq!(status, Some(100), "{words}");
    assert!(words.contains("nothing is known that could be covered, so 50 % is not"), "{words}");
    assert_eq!(typed(desk.path(), &["coverage", "--fail-under", "0"]).0, Some(0));
}
