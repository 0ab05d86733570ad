//! What leaves the program: to whom which words go, and to whom nothing goes.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use super::eval_job;
use crate::servers::http::{Request, Server};
use crate::servers::{agent, model};

const FACTS: &str = "facts: [\"The user's locker is CANARY-1\", \"The user's shelf is CANARY-2\"]";

fn job(agent_address: &str, facts: &str) -> String {
    format!(
        "target: {{user: u, chatbot: c, embabel: {{baseUrl: {agent_address}}}}}\n{facts}\n\
         tasks:\n  - {{task: Ask where the locker is, acceptanceCriteria: It is named}}\n  \
         - {{task: Ask for a key, acceptanceCriteria: It is promised}}\n"
    )
}

fn run(folder: &Path, job: &str, base: &str, args: &[&str]) -> Output {
    std::fs::write(folder.join("job.yml"), job).unwrap();
    eval_job(folder)
        .args(["run", "job.yml", "--rng-seed", "7"])
        .args(args)
        .env("OPENAI_BASE_URL", base)
        .env("OPENAI_API_KEY", "sk-s3cret")
        .output()
        .unwrap()
}

/// The bodies of the persona's requests and those of the judge's.
fn bodies(server: &Server) -> (Vec<String>, Vec<String>) {
    server
        .requests()
        .iter()
        .map(|request: &Request| request.body.clone())
        .partition(|body| !body.contains("<transcript>"))
}

#[test]
fn without_facts_the_persona_and_the_agent_never_hear_of_them() {
    let (agent, agent_address) = agent::start("good");
    let (model, base) = model::start("good");
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &job(&agent_address, FACTS), &base, &["--condition", "without-facts"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let (persona, judge) = bodies(&model);
    assert!(persona.len() >= 3 && judge.len() == 1);
    assert!(persona.iter().all(|body| !body.contains("CANARY")));
    assert!(judge[0].contains("CANARY-1") && judge[0].contains("CANARY-2"), "the judge knows the truth");
    assert!(agent.unwrap().requests().iter().all(|request| !request.body.contains("CANARY")));
}

#[test]
fn without_facts_the_personas_requests_are_those_of_a_job_that_has_none() {
    let mut all = Vec::new();
    for facts in [FACTS, "facts: []"] {
        let (_agent, agent_address) = agent::start("good");
        let (model, base) = model::start("good");
        let folder = tempfile::tempdir().unwrap();
        let output = run(folder.path(), &job(&agent_address, facts), &base, &["--condition", "without-facts"]);
        assert_eq!(output.status.code(), Some(0));
        all.push(bodies(&model).0);
    }
    assert!(!all[0].is_empty());
    assert_eq!(all[0], all[1]);
}

#[test]
fn with_facts_the_persona_has_them_and_its_requests_only_grow() {
    let (_agent, agent_address) = agent::start("good");
    let (model, base) = model::start("good");
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &job(&agent_address, FACTS), &base, &["--condition", "with-facts"]);
    assert_eq!(output.status.code(), Some(0));
    let (persona, _) = bodies(&model);
    assert!(persona.iter().all(|body| body.contains("CANARY-1")));
    let messages: Vec<Vec<Value>> = persona
        .iter()
        .map(|body| serde_json::from_str::<Value>(body).unwrap()["messages"].as_array().unwrap().clone())
        .collect();
    for pair in messages.windows(2) {
        assert_eq!(pair[0], pair[1][..pair[0].len()], "what was said stays as it was, so that prompt caches hit");
    }
}

#[test]
fn a_key_goes_to_its_endpoint_and_nowhere_else() {
    let (agent, agent_address) = agent::start("good");
    let (model, base) = model::start("good");
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &job(&agent_address, FACTS), &base, &["-v", "-o", "record.json"]);
    assert!(model.requests().iter().all(|request| request.header("authorization") == Some("Bearer sk-s3cret")));
    assert!(agent.unwrap().requests().iter().all(|request| !format!("{request:?}").contains("s3cret")));
    let mut kept = [output.stdout, output.stderr, std::fs::read(folder.path().join("record.json")).unwrap()].concat();
    for file in crate::house::files(&folder.path().join("runs"), "ndjson") {
        kept.extend(std::fs::read(file).unwrap());
    }
    assert!(!String::from_utf8_lossy(&kept).contains("s3cret"));
}

#[test]
fn the_environments_database_never_replaces_the_graph_that_a_job_uses() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let uri = format!("bolt://{}", listener.local_addr().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let job = crate::house::root().join("data/eval/agent.yml");
    let output =
        eval_job(folder.path()).arg("run").arg(job).env("NEO_URI", uri).env("NEO_PASSWORD", "x").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(listener.accept().map(|_| ()).unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "someone connected");
}

/// Runs a job; its folder and the run's own.
fn kept_run() -> (tempfile::TempDir, PathBuf) {
    let (_agent, agent_address) = agent::start("good");
    let (_model, base) = model::start("good");
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &job(&agent_address, FACTS), &base, &["-o", "record.json"]);
    let run = super::kept_run(folder.path()).unwrap();
    (folder, run)
}

#[test]
fn the_record_is_what_the_journal_adds_up_to() {
    let (folder, run) = kept_run();
    let journal = eval_job::store::folder::read_journal(&std::fs::read(run.join("journal.ndjson")).unwrap());
    let folded = eval_job::record::RunRecord::from_entries(journal.entries).unwrap();
    let written = std::fs::read(folder.path().join("record.json")).unwrap();
    let mut document: eval_job::record::RunRecord = serde_json::from_slice(&written).unwrap();
    let questions = document.trials.iter_mut().flat_map(|trial| &mut trial.questions);
    let prompts = questions.filter_map(|question| question.prompt.take());
    assert_eq!(prompts.count(), 2, "the document has the prompts, which the journal's other lines give back");
    assert_eq!(folded, document);
    let summary: Value = serde_json::from_slice(&std::fs::read(run.join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["verdict"], "passed");
    assert_eq!(summary["figures"][0]["cases"][0]["conditions"][1]["n"], 1);
    assert!(summary.get("trials").is_none());
    let list = || eval_job(folder.path()).arg("list").output().unwrap().stdout;
    let listed = list();
    std::fs::remove_file(run.join("summary.json")).unwrap();
    assert_eq!(list(), listed, "without it the journal is read");
}

#[test]
fn show_says_which_line_of_the_journal_is_not_what_was_written() {
    let (folder, run) = kept_run();
    let path = run.join("journal.ndjson");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let shown = |lines: &[&str]| {
        std::fs::write(&path, lines.concat()).unwrap();
        let output = eval_job(folder.path()).arg("show").output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(shown(&lines), (Some(0), String::new()));
    let scored = lines.iter().position(|line| line.contains("trialFinished")).unwrap();
    let better = lines[scored].replacen("0.", "1.", 1);
    let altered = [&lines[..scored], &[better.as_str()], &lines[scored + 1..]].concat();
    let (status, words) = shown(&altered);
    assert_eq!(status, Some(102));
    assert!(words.contains(&format!("line {} of the journal is damaged (it was altered", scored + 1)), "{words}");
    let (status, words) = shown(&[&lines[..4], &lines[5..]].concat());
    assert_eq!(status, Some(102));
    assert!(words.contains("line 5 of the journal is damaged (entry 5 was deleted before it)"), "{words}");
    // The first line, altered but readable; no JSON any more; and deleted.
    let beginning = lines[0].replacen("\"jobFile\":\"", "\"jobFile\":\"x", 1);
    let (status, words) = shown(&[&[beginning.as_str()], &lines[1..]].concat());
    assert_eq!(status, Some(102), "{words}");
    assert!(words.contains("line 1 of the journal is damaged (it was altered"), "{words}");
    for rest in [[&["{nonsense\n"], &lines[1..]].concat(), lines[1..].to_vec()] {
        let (status, words) = shown(&rest);
        assert_eq!(status, Some(102), "{words}");
        assert!(words.contains("line 1 of the journal is damaged") && words.contains("isn't known"), "{words}");
        let output = eval_job(folder.path()).args(["show", "-v"]).output().unwrap();
        let page = String::from_utf8(output.stdout).unwrap();
        assert!(page.contains("agent ("), "the conversations are shown: {page}");
    }
    let (status, words) = shown(&lines[..lines.len() - 1]);
    assert_eq!(status, Some(102));
    assert!(words.contains(&format!("and had {} when the run ended", lines.len())), "{words}");
}

#[test]
fn a_journal_of_format_1_reads_as_it_did_when_it_was_written() {
    let bytes = std::fs::read(crate::house::root().join("tests/fixtures/runs/format-1.ndjson")).unwrap();
    let journal = eval_job::store::folder::read_journal(&bytes);
    assert_eq!((journal.cut_off, journal.damaged), (0, None));
    let record = eval_job::record::RunRecord::from_entries(journal.entries).unwrap();
    assert_eq!((record.version, record.is_readable(), record.provenance.job.as_str()), (1, true, "Address book"));
    assert_eq!(record.verdict.label(), "passed");
    let composites: Vec<String> =
        record.trials.iter().map(|trial| eval_job::report::two_decimals(trial.score().unwrap().get())).collect();
    assert_eq!(composites, ["0.86", "1.00"]);
    let turns: Vec<usize> =
        record.trials.iter().map(|trial| trial.evidence.as_ref().unwrap().transcript.turns.len()).collect();
    assert!(turns.iter().all(|turns| *turns >= 5), "{turns:?}");
}
