//! `compare OLD NEW --bridge`: the older run is judged again by the job of the newer one, from what is kept of it.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use super::worth::Desk;
use super::{eval_job, words};
use crate::servers::all_turns;
use crate::servers::http::{Reply, Server};

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn other_weights_need_nobody_and_what_the_conversations_were_held_by_is_refused() {
    let desk = Desk::new(&[("main", 0.6)]);
    let job = desk.job(6).replace("metrics: [", "weights: {timing: 1}\nmetrics: [timing, ");
    desk.write("job.yml", &job);
    let old = desk.night("--model main");
    desk.write("job.yml", &job.replace("timing: 1}", "timing: 0}"));
    let new = desk.night("--model main");

    let (status, told) = desk.typed(&format!("compare {old} {new}"));
    assert_eq!(status, 2, "{told}");
    assert!(told.contains("weights.timing: 1.0 and 0.0") && told.contains("try: --bridge, which judges"), "{told}");

    // The older run is judged again, whichever is named first.
    for (first, second, older) in [(&old, &new, "first"), (&new, &old, "second")] {
        let output =
            eval_job(desk.folder.path()).args(["compare", first, second, "--bridge", "--json"]).output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", words(&output)));
        let expected = json!({"run": old, "by": new, "asked": 0, "withoutScore": 0});
        assert_eq!(found["bridge"], expected, "{found:#}");
        let score = &found["comparisons"][0]["scores"][0];
        let worth = found["comparisons"][0]["scores"].as_array().unwrap().iter().find(|it| it["subject"] == "worth");
        let (own, by_worth) = (score[older].as_f64().unwrap(), worth.unwrap()[older].as_f64().unwrap());
        assert!((own - by_worth).abs() < 1e-9, "timing counts for nothing by the newer job: {score:#}");
    }
    let (_, told) = desk.typed(&format!("compare {old} {new} --bridge"));
    let sentence =
        format!("The scores of {old} are those that it has by the job of {new}, not those of its own night.");
    assert!(flat(&told).contains(&sentence), "{told}");
    assert!(told.contains(&format!("run {old} is judged again by the job of run {new}: nobody was asked")), "{told}");

    let refused = |line: &str, told: &str| {
        let (status, words) = desk.typed(line);
        assert!(status == 2 && flat(&words).contains(told), "{words}");
    };
    refused("compare --bridge", "--bridge judges the older of two runs again, and one is named");
    refused(&format!("compare {old} {new} {new} --bridge"), "are the same run");
    desk.write("job.yml", &job.replace("timing: 1}", "timing: 0}\nmaxTurns: 7").replace("'2'", "'1'"));
    let other = desk.night("--model main");
    refused(
        &format!("compare {old} {other} --bridge"),
        "maxTurns: 20 and 7 case c2 (script): one text and another try: hold both",
    );
    let (_, told) = desk.typed(&format!("compare {old} {other} --bridge"));
    assert!(!told.contains("weights.timing"), "what a bridge would mend is not in the way: {told}");
    // Cases that only one of them has are left out of both.
    desk.write("job.yml", &desk.job(8).replace("metrics: [", "weights: {timing: 0}\nmetrics: [timing, "));
    let larger = desk.night("--model main");
    desk.write("job.yml", &job);
    let smaller = desk.night("--model main");
    let output =
        eval_job(desk.folder.path()).args(["compare", &larger, &smaller, "--bridge", "--json"]).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", words(&output)));
    assert_eq!((&found["bridge"]["run"], &found["bridge"]["withoutScore"]), (&json!(larger), &json!(0)), "{found:#}");
    assert_eq!(found["comparisons"][0]["leftOut"]["onlyFirst"], json!(["c6", "c7"]), "{found:#}");
    // Alike runs need no bridge.
    desk.write("job.yml", &job);
    let alike = desk.night("--model main");
    let (status, told) = desk.typed(&format!("compare {old} {alike} --bridge"));
    assert!((status == 0 || status == 101) && !told.contains("is judged again"), "{told}");
}

/// Judges of different minds, and how often each was asked.
fn judges() -> (Server, Arc<AtomicU32>, Arc<AtomicU32>) {
    let (strict, lenient) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let counts = (strict.clone(), lenient.clone());
    let server = Server::start(move |request| {
        let asked = request.json();
        let (count, score) = if asked["model"] == "strict" { (&counts.0, 0.2) } else { (&counts.1, 0.9) };
        count.fetch_add(1, Ordering::SeqCst);
        let verdict = json!({"reason": "so", "turnsRead": all_turns(), "score": score});
        let mut task = verdict.clone();
        task["index"] = 1.into();
        let mut reply: Value = serde_json::from_str(include_str!("../fixtures/openai/reply-text.json")).unwrap();
        reply["choices"][0]["message"]["content"] = json!({"tasks": [task], "tone": verdict}).to_string().into();
        Reply::Json(200, reply)
    });
    (server, strict, lenient)
}

fn typed(folder: &Path, server: &Server, line: &str, key: Option<&str>) -> (i32, String) {
    let mut command = eval_job(folder);
    command.args(line.split(' '));
    if let Some(key) = key {
        command.env("OPENAI_BASE_URL", format!("{}/v1", server.address)).env("OPENAI_API_KEY", key);
    }
    let output = command.output().unwrap();
    (output.status.code().unwrap(), words(&output))
}

fn ids(folder: &Path, server: &Server) -> Vec<String> {
    let listed: Value = serde_json::from_str(&typed(folder, server, "list --json", None).1).unwrap();
    listed.as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn another_judge_is_asked_once_about_the_older_run_and_its_answers_are_kept() {
    let (server, strict, lenient) = judges();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cases: String = (1..=3)
        .map(|case| {
            format!(
                "  - {{id: c{case}, tasks: [{{task: Ask for a reminder to call Bob {case}, acceptanceCriteria: It is there}}]}}\n"
            )
        })
        .collect();
    let job = |judge: &str, criteria: &str| {
        let text = format!(
            "target: {{user: u, chatbot: c, demo: {{}}}}\nevaluator: {{model: scripted}}\nscorer: {{model: openai/{judge}, temperature: 0.7}}\n\
             facts: []\ncases:\n{}",
            cases.replace("It is there", criteria)
        );
        fs::write(folder.join("job.yml"), text).unwrap();
    };
    let key = Some("sk-hush");
    job("strict", "It is there");
    assert_eq!(typed(folder, &server, "run job.yml --no-progress", key).0, 0);
    job("lenient", "It is in the graph");
    assert_eq!(typed(folder, &server, "run job.yml --no-progress", key).0, 0);
    let mut runs = ids(folder, &server);
    runs.sort_by_key(|id| {
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let names: Vec<String> = fs::read_dir(folder.join("runs")).unwrap().map(|it| name(it.unwrap())).collect();
        let own = names.into_iter().find(|name| name.ends_with(id)).unwrap();
        let summary = fs::read_to_string(folder.join("runs").join(own).join("summary.json")).unwrap();
        serde_json::from_str::<Value>(&summary).unwrap()["startedAt"].as_str().unwrap().to_owned()
    });
    let (old, new) = (&runs[0], &runs[1]);
    let (strict_before, lenient_before) = (strict.load(Ordering::SeqCst), lenient.load(Ordering::SeqCst));
    assert_eq!((strict_before, lenient_before), (3, 3));

    let (status, told) = typed(folder, &server, &format!("compare {old} {new}"), key);
    assert!(
        status == 2 && told.contains("scorer.model") && told.contains("case c1") && told.contains("--bridge"),
        "{told}"
    );
    // Without a key nothing is asked and nothing is kept.
    let (status, told) = typed(folder, &server, &format!("compare {old} {new} --bridge"), None);
    assert!(status == 2 && told.contains("OPENAI_API_KEY"), "{told}");
    assert_eq!(lenient.load(Ordering::SeqCst), 3);

    // A limit is no score of 0, and what was not asked is asked the next time.
    let (status, told) = typed(folder, &server, &format!("compare {old} {new} --bridge --token-limit 20"), key);
    assert!(status == 102 && flat(&told).contains("was not asked to the end: limits.tokens (20)"), "{told}");
    assert!(flat(&told).contains("3 conversations of it without a score that way: limits.tokens (20)"), "{told}");
    assert_eq!(lenient.load(Ordering::SeqCst), 3);

    let (status, told) = typed(folder, &server, &format!("compare {old} {new} --bridge"), key);
    assert!(status == 0 || status == 101, "{told}");
    assert!(told.contains(": openai/lenient was asked about 3 conversations; kept in "), "{told}");
    assert!(flat(&told).contains("score 0.90 0.90 ±0.000"), "both have the lenient judge's score: {told}");
    assert_eq!((strict.load(Ordering::SeqCst), lenient.load(Ordering::SeqCst)), (3, 6));
    let grading = fs::read_dir(folder.join("runs")).unwrap().map(|entry| entry.unwrap().path());
    let grading = grading.filter(|path| path.to_string_lossy().ends_with(&**old)).map(|path| path.join("grade-2.json"));
    let verdict = fs::read_to_string(grading.last().unwrap()).unwrap();
    assert!(verdict.contains("openai/lenient") && !verdict.contains("sk-hush"), "{verdict}");

    // What was paid for is used again, without a key.
    let (status, told) = typed(folder, &server, &format!("compare {new} {old} --bridge"), None);
    assert!((status == 0 || status == 101) && told.contains("nobody was asked"), "{told}");
    assert_eq!(lenient.load(Ordering::SeqCst), 6);
    // The first verdict stands.
    let (_, shown) = typed(folder, &server, &format!("show {old}"), None);
    assert!(shown.contains("openai/strict"), "{shown}");
}
