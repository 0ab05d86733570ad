//! The cases of files: listed, shown, added, removed.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::eval_job;

const SET: &str = "{\n  // mine\n  \"eval_set_id\": \"s\",\n  \"eval_cases\": [\n    {\n      \"eval_id\": \"a\",\n      \"conversation\": [{\"user_content\": {\"parts\": [{\"text\": \"A\"}]}, \"final_response\": {\"parts\": [{\"text\": \"B\"}]}}]\n    },\n    {\n      \"eval_id\": \"žluť\",\n      \"conversation\": [{\"user_content\": {\"parts\": [{\"text\": \"C\"}]}, \"intermediate_data\": {\"tool_uses\": [{\"name\": \"t\", \"args\": {\"x\": 1.50}}]}}]\n    }\n  ]\n}\n";

const JOB: &str = "# a job\ntarget: {user: u, chatbot: c, demo: {}}\nmetrics: [trajectory] # one\ncases:\n  - id: one # first\n    tags: [smoke]\n    script:\n      - {say: Hello, expected: {reply: Hi, calls: []}}\n  # the second\n  - id: two\n    script: [Bye]\n";

fn typed(folder: &Path, line: &[&str]) -> (Option<i32>, String, String) {
    let output = eval_job(folder).args(line).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn desk() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("set.json"), SET).unwrap();
    fs::write(folder.path().join("job.yml"), JOB).unwrap();
    folder
}

fn ids(folder: &Path, file: &str) -> Vec<String> {
    let (status, listed, words) = typed(folder, &["cases", "list", file, "--json"]);
    assert_eq!(status, Some(0), "{words}");
    let rows: Vec<Value> = serde_json::from_str(&listed).unwrap();
    rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn cases_are_listed_and_shown_as_they_are_written() {
    let desk = desk();
    let (status, listed, _) = typed(desk.path(), &["cases", "list", "job.yml"]);
    assert_eq!(
        (status, listed.as_str()),
        (Some(0), "one  1 turn     1 reply  [smoke]\ntwo  1 turn     expects nothing\n")
    );
    let (_, listed, _) = typed(desk.path(), &["cases", "list", "set.json"]);
    assert_eq!(listed, "a     1 turn     1 reply\nžluť  1 turn     1 call\n");
    let (_, listed, _) = typed(desk.path(), &["cases", "list", "set.json", "--json"]);
    let rows: Vec<Value> = serde_json::from_str(&listed).unwrap();
    assert_eq!((&rows[1]["expected"]["calls"], &rows[1]["kind"]), (&json!(1), &json!("script")));
    let (_, shown, _) = typed(desk.path(), &["cases", "show", "job.yml", "one"]);
    assert_eq!(shown, "id: one # first\ntags: [smoke]\nscript:\n  - {say: Hello, expected: {reply: Hi, calls: []}}\n");
    let (_, shown, _) = typed(desk.path(), &["cases", "show", "set.json", "žluť"]);
    assert!(shown.starts_with("{\n  \"eval_id\": \"žluť\",\n") && shown.contains("1.50"), "{shown}");
    let (_, shown, _) = typed(desk.path(), &["cases", "show", "set.json", "a", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&shown).unwrap()["id"], "a");
    for (line, told) in [
        (["cases", "show", "set.json", "aa"], "set.json has no case `aa`\n  try: a\n"),
        (["cases", "show", "no.yml", "a"], "there is no file no.yml"),
        (["cases", "remove", "job.yml", "tow"], "job.yml has no case `tow`\n  try: two\n"),
        (["cases", "remove", "no.yml", "two"], "there is no file no.yml"),
    ] {
        let (status, _, words) = typed(desk.path(), &line);
        assert_eq!(status, Some(2), "{words}");
        assert!(words.contains(told), "{told}: {words}");
    }
}

#[test]
fn all_cases_of_a_folder_are_listed_with_their_files() {
    let desk = desk();
    fs::create_dir(desk.path().join("more")).unwrap();
    fs::write(desk.path().join("more/job.yml"), JOB.replace("id: one", "id: three")).unwrap();
    let (status, listed, words) = typed(desk.path(), &["cases", "list", "."]);
    assert_eq!(status, Some(0), "{words}");
    let expected = "./job.yml\n  one    1 turn     1 reply  [smoke]\n  two    1 turn     expects nothing\n\
                    ./more/job.yml\n  three  1 turn     1 reply  [smoke]\n  two    1 turn     expects nothing\n\
                    ./set.json\n  a      1 turn     1 reply\n  žluť   1 turn     1 call\n";
    assert_eq!(listed, expected);
    let (_, listed, _) = typed(desk.path(), &["cases", "list", ".", "--json"]);
    let rows: Vec<Value> = serde_json::from_str(&listed).unwrap();
    assert_eq!((&rows[2]["file"], &rows[2]["id"]), (&json!("./more/job.yml"), &json!("three")));
    let (_, shown, _) = typed(desk.path(), &["cases", "show", ".", "three"]);
    assert!(shown.starts_with("id: three # first\n"), "{shown}");
    let (status, _, words) = typed(desk.path(), &["cases", "show", ".", "two"]);
    assert_eq!(status, Some(2), "{words}");
    assert!(words.contains("several files of . have a case `two`\n  try: ./job.yml or ./more/job.yml"), "{words}");
    // A folder of jobs alone, one of neither, and one with a file that is wrong.
    let (status, listed, _) = typed(desk.path(), &["cases", "list", "more"]);
    assert_eq!((status, listed.lines().next()), (Some(0), Some("more/job.yml")));
    fs::create_dir(desk.path().join("empty")).unwrap();
    let (status, _, words) = typed(desk.path(), &["cases", "list", "empty"]);
    assert_eq!(status, Some(2), "{words}");
    fs::write(desk.path().join("more/wrong.yml"), "target: 1\n").unwrap();
    let (status, _, words) = typed(desk.path(), &["cases", "list", "."]);
    assert_eq!(status, Some(2), "{words}");
    assert!(words.contains("more/wrong.yml:1:9"), "{words}");
}

#[test]
fn cases_are_removed_and_added_and_all_else_stays() {
    let desk = desk();
    let read = |name: &str| fs::read_to_string(desk.path().join(name)).unwrap();
    let done = |line: &[&str]| {
        let (status, _, words) = typed(desk.path(), line);
        assert_eq!(status, Some(0), "{line:?}: {words}");
        words
    };
    let words = done(&["cases", "remove", "job.yml", "two"]);
    assert!(words.contains("removed two from job.yml: 1 case left"), "{words}");
    assert_eq!(read("job.yml"), JOB.replace("  - id: two\n    script: [Bye]\n", ""));
    done(&["cases", "remove", "set.json", "a"]);
    assert_eq!(ids(desk.path(), "set.json"), ["žluť"]);
    assert!(read("set.json").contains("// mine") && read("set.json").contains("1.50"));

    fs::write(desk.path().join("old.json"), SET).unwrap();
    done(&["cases", "add", "set.json", "--from", "old.json:a"]);
    assert_eq!(ids(desk.path(), "set.json"), ["žluť", "a"]);
    done(&["cases", "add", "job.yml", "--from", "set.json"]);
    assert_eq!(ids(desk.path(), "job.yml"), ["one", "žluť", "a"]);
    fs::write(desk.path().join("old.yml"), JOB).unwrap();
    done(&["cases", "add", "job.yml", "--from", "old.yml:two", "--id", "three"]);
    assert_eq!(ids(desk.path(), "job.yml"), ["one", "žluť", "a", "three"]);
    assert!(read("job.yml").contains("one # first") && read("job.yml").contains("# one\n"), "{}", read("job.yml"));
    assert_eq!(typed(desk.path(), &["validate", "job.yml"]).0, Some(0));

    let log = json!({"id": "logged", "messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]});
    fs::write(desk.path().join("log.json"), log.to_string()).unwrap();
    done(&["cases", "add", "job.yml", "--from-trace", "log.json"]);
    done(&["cases", "add", "set.json", "--from-trace", "log.json"]);
    assert_eq!(ids(desk.path(), "job.yml").last().unwrap(), "logged");
    assert_eq!(ids(desk.path(), "set.json").last().unwrap(), "logged");
    let (status, _, words) = typed(desk.path(), &["cases", "add", "job.yml", "--from-trace", "log.json"]);
    assert_eq!(status, Some(2), "{words}");
    assert!(words.contains("job.yml has a case `logged` already"), "{words}");
    assert!(!desk.path().join("job.yml.partial").exists());
}

#[test]
fn what_can_not_be_changed_is_told_and_left_as_it_is() {
    let desk = desk();
    fs::write(desk.path().join("one.yml"), "target: {user: u, chatbot: c, demo: {}}\nevaluator: {script: [Hello]}\n")
        .unwrap();
    fs::write(
        desk.path().join("flow.yml"),
        "target: {user: u, chatbot: c, demo: {}}\ncases: [{id: a, script: [b]}, {id: c, script: [d]}]\n",
    )
    .unwrap();
    fs::write(
        desk.path().join("only.yml"),
        "target: {user: u, chatbot: c, demo: {}}\ncases:\n- {id: a, script: [b]}\n",
    )
    .unwrap();
    for (line, told) in [
        (&["cases", "remove", "one.yml", "x"][..], "it has no `cases`"),
        (&["cases", "remove", "flow.yml", "a"], "stand in brackets"),
        (&["cases", "remove", "only.yml", "a"], "this is the only case of the job"),
        (&["cases", "add", "set.json", "--from", "job.yml"], "can't be written into an eval set of Google ADK yet"),
        (&["cases", "add", "job.yml", "--from", "job.yml", "--id", "x"], "--id names one case, and there are 2"),
        (&["cases", "add", "job.yml", "--from", "no.yml"], "no.yml"),
        (&["cases", "add", "job.yml"], "--from"),
    ] {
        let (status, _, words) = typed(desk.path(), line);
        assert_eq!(status, Some(2), "{line:?}: {words}");
        assert!(words.contains(told), "{told}: {words}");
    }
    assert_eq!(fs::read_to_string(desk.path().join("job.yml")).unwrap(), JOB);
    assert_eq!(fs::read_to_string(desk.path().join("set.json")).unwrap(), SET);
}

#[test]
fn a_case_of_another_system_keeps_what_the_file_can_say_and_the_rest_is_told() {
    let desk = desk();
    let tool = json!({"id": "1", "name": "find", "arguments": {"q": 1}, "result": {"rows": 2}});
    let mocked = json!({"userContent": {"role": "user", "content": "Find it"}, "tools": [tool],
        "toolMock": {"actual": [{"name": "find", "result": {"rows": 2}}]}});
    let set = json!({"evalSetId": "t", "evalCases": [{"evalId": "found", "conversation": [mocked]}]});
    fs::write(desk.path().join("trpc.json"), set.to_string()).unwrap();
    let (status, _, words) = typed(desk.path(), &["cases", "add", "set.json", "--from", "trpc.json:found"]);
    assert_eq!(status, Some(0), "{words}");
    assert!(
        words.contains("ADK's files have no place for answers of tools that are not to be called: found"),
        "{words}"
    );
    let (_, shown, _) = typed(desk.path(), &["cases", "show", "set.json", "found"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let data = &shown["conversation"][0]["intermediate_data"];
    assert_eq!(data["tool_uses"], json!([{"id": "1", "name": "find", "args": {"q": 1}}]));
    assert_eq!(data["tool_responses"], json!([{"id": "1", "name": "find", "response": {"rows": 2}}]));
}

#[test]
fn a_case_brings_what_its_job_says_for_all_cases() {
    let desk = desk();
    let other = "target: {user: u, chatbot: c, demo: {}}\nfacts: [The shop is closed]\ncases:\n  - id: aliased # kept\n    script: &lines [Hello, Bye]\n  - id: own\n    script: *lines\n";
    fs::write(desk.path().join("other.yml"), other).unwrap();
    let (status, _, words) = typed(desk.path(), &["cases", "add", "job.yml", "--from", "other.yml:own"]);
    assert_eq!(status, Some(0), "{words}");
    let told = "own has in it now what its job says for all cases: `facts`";
    assert!(words.contains(told), "{words}");
    let (_, shown, _) = typed(desk.path(), &["cases", "show", "job.yml", "own", "--json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(
        (&shown["facts"], shown["script"].as_array().unwrap().len()),
        (&json!(["The shop is closed"]), 2),
        "{shown}"
    );
    // A job that says the same for all its cases needs no word in the case.
    fs::write(desk.path().join("same.yml"), other.replace("aliased", "a").replace("own", "b")).unwrap();
    let (status, _, words) = typed(desk.path(), &["cases", "add", "same.yml", "--from", "other.yml:aliased"]);
    assert_eq!(status, Some(0), "{words}");
    assert!(!words.contains("for all cases"), "{words}");
    assert_eq!(typed(desk.path(), &["validate", "job.yml"]).0, Some(0));
}

#[test]
fn sets_with_different_metrics_are_exported_into_folders_of_their_own() {
    let desk = desk();
    for (folder, config) in [
        ("a", r#"{"criteria": {"tool_trajectory_avg_score": 1.0}}"#),
        ("b", r#"{"criteria": {"response_match_score": 0.5}}"#),
    ] {
        fs::create_dir_all(desk.path().join("sets").join(folder)).unwrap();
        let set = SET.replace("\"s\"", &format!("\"{folder}\""));
        fs::write(desk.path().join(format!("sets/{folder}/{folder}.evalset.json")), set).unwrap();
        fs::write(desk.path().join(format!("sets/{folder}/test_config.json")), config).unwrap();
    }
    let (status, _, words) = typed(desk.path(), &["export", "sets", "--format", "adk", "-o", "out"]);
    assert_eq!(status, Some(0), "{words}");
    let config = |set: &str| fs::read_to_string(desk.path().join(format!("out/{set}/test_config.json"))).unwrap();
    assert!(config("a").contains("tool_trajectory_avg_score") && !config("a").contains("response_match_score"));
    assert!(config("b").contains("response_match_score"), "{words}");
    assert!(desk.path().join("out/a/a.evalset.json").is_file(), "{words}");
}

#[cfg(target_os = "linux")]
#[test]
fn where_there_is_no_room_that_is_said_and_what_to_try() {
    let desk = desk();
    std::os::unix::fs::symlink("/dev/full", desk.path().join("full.json")).unwrap();
    for line in [
        &["export", "job.yml", "--format", "adk", "-o", "full.json"][..],
        &["run", "job.yml", "--no-progress", "-o", "adk=full.json"],
    ] {
        let (status, _, words) = typed(desk.path(), line);
        assert_ne!(status, Some(0), "{line:?}: {words}");
        let told =
            "error: full.json can't be written: No space left on device (os error 28)\n  try: free some space there";
        assert!(words.contains(told), "{line:?}: {words}");
    }
}

/// As on a full disk: no file grows beyond 4 KB.
#[cfg(unix)]
#[test]
fn on_a_full_disk_nothing_is_left_half_written() {
    let desk = desk();
    let many: Vec<Value> = (0..200)
        .map(|n| json!({"eval_id": format!("n{n}"), "conversation": [{"user_content": {"parts": [{"text": "A"}]}}]}))
        .collect();
    fs::write(desk.path().join("many.json"), json!({"eval_set_id": "m", "eval_cases": many}).to_string()).unwrap();
    fs::create_dir(desk.path().join("out")).unwrap();
    for arguments in [
        "import many.json -o out/job.yml",
        "export many.json --format adk -o out/set.json",
        "cases add set.json --from many.json",
    ] {
        let line = format!("trap '' XFSZ; ulimit -f 4; exec {} {arguments}", env!("CARGO_BIN_EXE_eval-job"));
        let output = std::process::Command::new("sh").args(["-c", &line]).current_dir(desk.path()).output().unwrap();
        let words = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), words.matches("error: ").count()), (Some(1), 1), "{arguments}: {words}");
        let left = fs::read_dir(desk.path().join("out")).unwrap().count();
        assert_eq!(left, 0, "{arguments}: {words}");
    }
    assert_eq!(fs::read_to_string(desk.path().join("set.json")).unwrap(), SET);
    assert_eq!(fs::read_dir(desk.path()).unwrap().count(), 4);
}

#[test]
fn a_run_becomes_a_job_with_its_own_target_and_is_written_into_folders_that_are_made() {
    let desk = tempfile::tempdir().unwrap();
    let job =
        "target: {user: u, chatbot: c, demo: {}}\nevaluator: {script: [Hello]}\nscorer: {model: scripted}\nfacts: []\n";
    fs::write(desk.path().join("job.yml"), format!("{job}assertions: [{{expression: 'true'}}]\n")).unwrap();
    let (_, _, words) = typed(desk.path(), &["run", "job.yml"]);
    let id = words.rsplit_once("eval-job show ").map(|(_, rest)| rest.split_whitespace().next().unwrap()).unwrap();
    let (status, text, words) = typed(desk.path(), &["import", "--from-trace", id]);
    assert_eq!(status, Some(0), "{words}");
    assert!(text.contains("demo: {}") && !words.contains("without --target"), "{text}{words}");
    let (status, text, _) = typed(desk.path(), &["import", "--from-trace", id, "--target", "adk=http://localhost:1"]);
    assert!(status == Some(0) && text.contains("adk:") && !text.contains("demo:"), "{text}");
    for (format, file) in [("otlp", "out/deep/spans.json"), ("adk", "out/other/a.json")] {
        let (status, _, words) = typed(desk.path(), &["export", id, "--format", format, "-o", file]);
        assert_eq!(status, Some(0), "{words}");
        assert!(desk.path().join(file).is_file(), "{file}");
    }
    let (status, _, words) = typed(desk.path(), &["export", id, "--format", "otlp", "-o", "job.yml/spans.json"]);
    assert!(status == Some(2) && words.contains("job.yml is a file, not a folder"), "{status:?} {words}");
}
