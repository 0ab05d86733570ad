//! The files of `-o`: what each format says of a run, and that nothing an agent says is more than words in any of them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::eval_job;
use crate::servers::http::{Reply, Server};

/// What a user and an agent say to break a page.
pub const ATTACKS: [&str; 14] = [
    "<img src=x onerror=\"window.attacked=true\">",
    "<script>window.attacked=true</script>",
    "</p></div></li></ol></details><script>window.attacked=true</script>",
    "<svg onload=window.attacked=true><svg/onload=window.attacked=true>",
    "<iframe srcdoc='<script>parent.attacked=true</script>'></iframe>",
    "<a href=\"javascript:window.attacked=true\">click</a> <base href=//x.test/>",
    "\" onmouseover=\"window.attacked=true\" autofocus onfocus=window.attacked=true x=\"",
    "' onclick='window.attacked=true' style='background:url(http://x.test/)",
    "<style>@import 'http://x.test/x.css'; * { display: none }</style>",
    "<meta http-equiv=refresh content=\"0;url=http://x.test/\"> <link rel=stylesheet href=//x.test/>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.attacked=true></style></mglyph></table></mtext></math>",
    "{{ 7*7 }}{% raw %}<b>{% endraw %} ${window.attacked=true} <!-- --> ]]> &lt;b&gt; &#60;i&#62;",
    "<details open ontoggle=window.attacked=true> <form action=//x.test/><input autofocus onfocus=window.attacked=true>",
    "| a | b | ``` ~~~ [x](http://x.test/) ![y](http://x.test/y.png) @everyone =1+1 [[ATTACHMENT|/etc/passwd]]",
];

/// A run in this folder in which user, agent, tasks, assertions, models and cases say [`ATTACKS`]; it fails its gate.
pub fn hostile_run(folder: &Path, flags: &[&str]) -> String {
    let server = Server::start(|request| {
        let said = request.json()["messages"].as_array().map_or(0, |messages| messages.len() / 2);
        let attack = ATTACKS[said % ATTACKS.len()];
        let call = json!([{"id": "c", "type": "function", "function": {"name": attack, "arguments": json!({attack: attack}).to_string()}}]);
        let message =
            match request.json()["messages"].as_array().and_then(|all| all.last()).map(|last| last["role"] == "tool") {
                Some(false) if said == 2 => json!({"role": "assistant", "content": null, "tool_calls": call}),
                _ => json!({"role": "assistant", "content": format!("{attack}\u{1b}[31m\u{202e}\u{0}")}),
            };
        Reply::Json(
            200,
            json!({"choices": [{"message": message}], "usage": {"prompt_tokens": 40, "completion_tokens": 2}}),
        )
    });
    let job = json!({
        "name": ATTACKS[1],
        "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", server.address)}},
        "evaluator": {"script": ATTACKS, "name": ATTACKS[0]},
        "scorer": {"model": "scripted"},
        "gate": {"minScore": 0.99},
        "maxTurns": 60,
        "cases": [
            {"id": ATTACKS[3], "tasks": [{"task": ATTACKS[2], "acceptanceCriteria": "Seventeen zebras"}],
             "assertions": [{"name": ATTACKS[13], "expression": "evaluation.transcript.size < 2"}]},
            {"id": "=2+3", "script": ["hello"], "tasks": [{"task": "Say hello", "acceptanceCriteria": "Seventeen zebras"}]},
        ],
    });
    fs::write(folder.join("job.yml"), job.to_string()).unwrap();
    let output = eval_job(folder)
        .args(["run", "job.yml", "--no-progress", "--model", ATTACKS[4]])
        .args(flags)
        .env("EVAL_JOB_VERBOSE", "")
        .output()
        .unwrap();
    let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(100), "{printed}");
    printed
}

/// An element of XML: its name, its attributes, and the text directly in it.
type Element = (String, Vec<(String, String)>, String);

/// A reader of XML that knows elements, attributes and texts and refuses everything else: (path of elements, attributes, text).
fn xml(text: &str) -> Vec<Element> {
    let mut rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").unwrap();
    let (mut open, mut found): (Vec<String>, Vec<Element>) = (Vec::new(), Vec::new());
    let mut places: Vec<usize> = Vec::new();
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        assert!(!before.contains(['>', '"']) && before.chars().all(|c| c == '\n' || c >= ' '), "{before}");
        if let Some(place) = places.last() {
            found[*place].2.push_str(before);
        }
        let (inside, after) = tag[1..].split_once('>').unwrap();
        rest = after;
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            places.pop();
            continue;
        }
        let is_empty = inside.ends_with('/');
        let (name, mut attributes) = inside.trim_end_matches('/').split_once(' ').unwrap_or((inside, ""));
        let mut pairs = Vec::new();
        while let Some((name, value)) = attributes.split_once("=\"") {
            let (value, next) = value.split_once('"').unwrap();
            pairs.push((name.trim().to_owned(), value.to_owned()));
            attributes = next;
        }
        assert_eq!(attributes.trim(), "", "{inside}");
        open.push(name.to_owned());
        places.push(found.len());
        found.push((open.join("/"), pairs, String::new()));
        if is_empty {
            open.pop();
            places.pop();
        }
    }
    assert!(open.is_empty(), "{open:?}");
    found
}

/// The elements of a JUnit file (`junit.rs` runs it against its schema), whose counts must be true.
fn checked(text: &str) -> Vec<Element> {
    let found = xml(text);
    let count = |ending: &str| found.iter().filter(|(path, _, _)| path.ends_with(ending)).count().to_string();
    let counts = [count("/testcase"), count("/failure"), count("/error")];
    assert_eq!(found[0].1[1..4].iter().map(|(_, value)| value.clone()).collect::<Vec<_>>(), counts);
    found
}

#[test]
fn nothing_hostile_is_more_than_words_in_any_format() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["a.json", "a.xml", "a.md", "a.csv", "a.html"];
    let flags: Vec<&str> = names.iter().flat_map(|name| ["-o", name]).collect();
    hostile_run(folder.path(), &flags);
    let [record, junit, markdown, csv, html] = names.map(|name| fs::read_to_string(folder.path().join(name)).unwrap());
    assert!(serde_json::from_str::<Value>(&record).unwrap()["trials"].is_array());
    let found = checked(&junit);
    let out = found.iter().find(|(path, _, _)| path.ends_with("system-out")).unwrap();
    assert!(
        out.2.contains("&lt;script&gt;window.attacked=true&lt;/script&gt;")
            && out.2.contains("\\u{1b}[31m\\u{202e}\\u{0}")
    );
    assert!(!junit.contains("[[ATTACHMENT") && junit.contains("[ [ATTACHMENT"));
    assert_eq!(found.iter().filter(|(path, _, _)| path.ends_with("/failure")).count(), 3, "{junit}");
    for line in markdown.lines() {
        let bare = ["<details><summary><b>", "</b>", "</summary>", "</details>"]
            .iter()
            .fold(line.to_owned(), |line, tag| line.replacen(tag, "", 1));
        assert!(!bare.contains(['<', '[', '!']) && !bare.contains("://"), "{line}");
        assert!(line.starts_with('|') || !bare.contains('|'), "{line}");
    }
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 3);
    assert!(rows[2].contains(",\"'=2+3\","), "{csv}");
    assert!(!html.contains("<script") && !html.contains("<img") && html.contains("&lt;script&gt;window.attacked=true"));
    assert!(html.contains("&#x27;") && !html.contains("onmouseover=\"window"));
}

const DEMO: &str = "target: {user: u, chatbot: c, demo: {}}\nevaluator: {model: scripted}\nscorer: {model: scripted}\nfacts: []\n\
                    tasks: [{task: Ask for a reminder to call Bob, acceptanceCriteria: A reminder to call Bob is created}]\n";

#[test]
fn a_report_of_several_jobs_is_one_document_in_each_format() {
    let folder = tempfile::tempdir().unwrap();
    let gone = DEMO.replace("demo: {}", "embabel: {baseUrl: 'http://127.0.0.1:9'}");
    fs::write(folder.path().join("a.yml"), DEMO).unwrap();
    fs::write(folder.path().join("b.yml"), gone).unwrap();
    let summary = folder.path().join("step_summary_1");
    fs::write(&summary, "before\n").unwrap();
    let output = eval_job(folder.path())
        .args(["run", ".", "--no-progress", "-o", "a.xml", "-o", "a.csv", "-o", "a.html", "-o"])
        .arg(&summary)
        .env("GITHUB_STEP_SUMMARY", &summary)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(102), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let found = checked(&read("a.xml"));
    let suites: Vec<&str> =
        found.iter().filter(|(path, _, _)| path == "testsuites/testsuite").map(|(_, it, _)| it[0].1.as_str()).collect();
    assert_eq!(suites, ["a", "b"]);
    let errors: Vec<&str> =
        found.iter().filter(|(path, _, _)| path.ends_with("/error")).map(|(_, it, _)| it[0].1.as_str()).collect();
    assert_eq!(errors, ["incomplete", "broken"], "somebody else's fault is an error");
    assert!(!found.iter().any(|(path, _, _)| path.ends_with("/failure")));
    let summary = fs::read_to_string(summary).unwrap();
    assert!(summary.starts_with("before\n# 1 without a gate, 1 incomplete\n"), "{summary}");
    assert_eq!(read("a.csv").lines().count(), 3);
    let html = read("a.html");
    assert!(html.contains("<h1>1 without a gate, 1 incomplete</h1>") && html.contains("href=\"#r2\""), "{html}");
    assert_eq!(html.matches("<h1").count(), 1);
}

#[test]
fn runs_that_are_graded_again_are_in_one_file_together() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in ["a.yml", "b.yml"] {
        fs::write(folder.join(name), DEMO).unwrap();
        assert!(eval_job(folder).args(["run", name, "--no-progress"]).output().unwrap().status.success());
    }
    let runs = fs::read_dir(folder.join("runs")).unwrap();
    let mut runs: Vec<String> = runs.map(|run| run.unwrap().file_name().into_string().unwrap()).collect();
    runs.retain(|run| run != "cache");
    runs.sort_by_key(|run| run.contains("-b-"));
    let ids: Vec<&str> = runs.iter().map(|run| run.rsplit('-').next().unwrap()).collect();
    let output = eval_job(folder).arg("grade").args(&ids).args(["-o", "all.json", "-o", "all.csv"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let all: Value = serde_json::from_str(&fs::read_to_string(folder.join("all.json")).unwrap()).unwrap();
    let found: Vec<&str> = all["runs"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()).collect();
    assert_eq!(found, ids);
    assert_eq!(fs::read_to_string(folder.join("all.csv")).unwrap().lines().count(), 3);
}
