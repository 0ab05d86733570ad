//! What judges said at temperature 0 is kept beside the runs, and not paid for twice.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{eval_job, words};
use crate::servers::http::{Reply, Server};
use crate::servers::{agent, model};

const JOB: &str = "name: Lockers\ntarget: {user: u, chatbot: c, embabel: {baseUrl: \"ADDRESS\"}}\n\
    tasks:\n  - {task: Ask where the locker is, acceptanceCriteria: It is named}\nfacts: []\n";

/// A job with its servers. The model tells what the judge is asked apart from what the persona is.
struct World {
    folder: tempfile::TempDir,
    _agent: Option<Server>,
    model: Server,
    base: String,
}

impl World {
    fn new(behaviour: &str) -> World {
        let (agent, address) = agent::start("good");
        let (model, base) = model::start(behaviour);
        let world = World { folder: tempfile::tempdir().unwrap(), _agent: agent, model, base };
        fs::write(world.path("job.yml"), JOB.replace("ADDRESS", &address)).unwrap();
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The status, and all that was printed, with its breaks taken out.
    fn typed(&self, line: &str) -> (i32, String) {
        let mut command = eval_job(self.folder.path());
        command.args(line.split_whitespace());
        command.env("OPENAI_BASE_URL", &self.base).env("OPENAI_API_KEY", "sk-canary-Zq8vKp2mXc7VhT5kW");
        let output = command.output().unwrap();
        (output.status.code().unwrap(), words(&output).split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Runs the job; how often the judge was asked, and what was printed.
    fn run(&self, flags: &str) -> (usize, String) {
        let before = self.judged();
        let (status, said) = self.typed(&format!("run job.yml --no-progress --rng-seed 5 -o run.json {flags}"));
        assert_eq!(status, 0, "{said}");
        (self.judged() - before, said)
    }

    /// How often the judge was asked so far.
    fn judged(&self) -> usize {
        let is_judged = |request: &&crate::servers::http::Request| request.body.contains("<transcript>");
        self.model.requests().iter().filter(is_judged).count()
    }

    fn record(&self) -> Value {
        serde_json::from_slice(&fs::read(self.path("run.json")).unwrap()).unwrap()
    }

    /// The files of the cache.
    fn entries(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.path("runs/cache")).into_iter().flatten();
        let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
        files.map(|file| file.unwrap().path()).collect()
    }
}

/// The judgements of a run, without whether they were kept and what they took.
fn verdicts(record: &Value) -> Vec<Value> {
    let trials = record["trials"].as_array().unwrap();
    trials.iter().flat_map(|trial| trial["judgements"].as_array().unwrap()).map(|it| it["reply"].clone()).collect()
}

#[test]
fn a_verdict_is_paid_for_once_marked_and_counted() {
    let world = World::new("good");
    let (asked, said) = world.run("");
    assert_eq!((asked, said.contains("from the cache")), (1, false), "{said}");
    let first = world.record();
    assert_eq!(world.entries().len(), 1);
    let (asked, said) = world.run("-o run.md -o run.html");
    assert_eq!(asked, 0);
    assert!(said.contains("1 of 1 verdict from the cache"), "{said}");
    for file in ["run.md", "run.html"] {
        assert!(fs::read_to_string(world.path(file)).unwrap().contains("from the cache"), "{file}");
    }
    let second = world.record();
    assert_eq!(verdicts(&first), verdicts(&second));
    let judgement = &second["trials"][0]["judgements"][0];
    assert_eq!((&judgement["isCached"], &judgement["usage"]["calls"]), (&true.into(), &0.into()));
    let calls = second["trials"][0]["calls"].as_array().unwrap();
    assert!(!calls.is_empty() && calls.iter().all(|call| call["asker"] == "persona"), "{calls:?}");
    // Every conversation of the run, said again.
    assert_eq!(first["trials"][0]["scorecard"], second["trials"][0]["scorecard"]);
}

#[test]
fn what_matters_asks_again() {
    let world = World::new("good");
    world.run("");
    assert_eq!(world.run("--no-cache").0, 1, "--no-cache");
    assert_eq!(world.run("--scorer-model openai/another").0, 1, "another model");
    let job = fs::read_to_string(world.path("job.yml")).unwrap();
    for (what, more) in [
        ("a temperature", "scorer: {temperature: 0.3}\n"),
        ("a seed", "scorer: {model: {name: openai/gpt-4.1-mini, rngSeed: 7}}\n"),
        ("a bound", "scorer: {model: {name: openai/gpt-4.1-mini, maxTokens: 700}}\n"),
    ] {
        fs::write(world.path("job.yml"), format!("{job}{more}")).unwrap();
        assert_eq!(world.run("").0, 1, "{what}");
    }
    assert_eq!(world.run("").0, 0, "a bound, once more");
    fs::write(world.path("job.yml"), format!("{job}scorer: {{temperature: 0.3}}\n")).unwrap();
    assert_eq!(world.run("").0, 1, "a temperature, once more");
    fs::write(world.path("job.yml"), job.replace("It is named", "It is named with its floor")).unwrap();
    assert_eq!(world.run("").0, 1, "other criteria");
}

#[test]
fn samples_and_repetitions_are_asked_afresh() {
    let world = World::new("good");
    assert_eq!(world.run("--repeat 3").0, 3);
    // The first repetition was kept, those after it were not, and are not taken from it.
    assert_eq!((world.entries().len(), world.run("--repeat 3").0), (1, 2));
    let job = fs::read_to_string(world.path("job.yml")).unwrap();
    fs::write(world.path("job.yml"), format!("{job}scorer: {{samples: 3}}\n")).unwrap();
    assert_eq!((world.run("").0, world.run("").0, world.entries().len()), (3, 3, 1));
}

#[test]
fn a_verdict_that_cannot_be_used_is_not_kept() {
    let world = World::new("judge-recovers");
    let (asked, _) = world.run("");
    assert_eq!((asked, world.entries().len()), (2, 1));
    // The first question is asked again, since its answer was useless, and the correction is kept.
    let (asked, said) = world.run("");
    assert_eq!(asked, 1);
    assert!(said.contains("1 of 1 verdict from the cache"), "{said}");
    assert_eq!(world.record()["trials"][0]["judgements"][0]["rejected"].as_array().unwrap().len(), 1);
    let world = World::new("judge-prose");
    let (status, _) = world.typed("run job.yml --no-progress");
    assert_eq!((status, world.entries().len()), (102, 0));
}

#[test]
fn a_damaged_entry_is_told_and_asked_again() {
    let world = World::new("good");
    world.run("");
    let entry = &world.entries()[0];
    let text = fs::read_to_string(entry).unwrap();
    fs::write(entry, text.replace("as asked", "as hoped")).unwrap();
    let (status, said) = world.typed("cache list");
    assert_eq!(status, 0);
    assert!(said.contains("1 kept verdict can't be used; eval-job cache prune removes"), "{said}");
    let (asked, said) = world.run("");
    assert_eq!(asked, 1);
    assert!(said.contains("note: the judge was asked again: the cache's runs/cache/"), "{said}");
    assert_eq!(world.run("").0, 0, "it was replaced");
}

#[cfg(unix)]
#[test]
fn a_cache_that_cannot_be_written_is_told_and_costs_nothing_else() {
    let world = World::new("good");
    fs::create_dir(world.path("runs")).unwrap();
    // Also root can't make a folder below a file.
    fs::write(world.path("runs/cache"), "").unwrap();
    let (asked, said) = world.run("");
    assert_eq!(asked, 1);
    assert!(said.contains("a verdict could not be kept in the cache runs/cache"), "{said}");
    let (status, said) = world.typed("cache list");
    assert_eq!(status, 1);
    assert!(said.contains("try: "), "{said}");
}

#[test]
fn grading_uses_it_and_checking_and_calibration_do_not() {
    let world = World::new("good");
    world.run("");
    let judge = "--scorer-model openai/gpt-4.1-mini";
    let before = world.judged();
    let (status, said) = world.typed(&format!("grade {judge}"));
    assert_eq!((status, world.judged() - before), (0, 0), "{said}");
    let (_, said) = world.typed(&format!("grade {judge} --no-cache"));
    assert!(world.judged() - before <= 1, "{said}");
    let before = world.judged();
    let (status, said) = world.typed("calibrate --repeat 2");
    assert_eq!((status, world.judged() - before), (0, 2), "{said}");
    let known = "known: bad\nconversation:\n  - {user: Where is it?}\n  - {agent: Hm.}\n";
    fs::write(world.path("bad.yml"), known).unwrap();
    let asked = |flags: &str| {
        let before = world.judged();
        let (status, said) = world.typed(&format!("check bad.yml --job job.yml --runs-dir other {flags}"));
        assert!(status == 0 || status == 100, "{said}");
        world.judged() - before
    };
    // It is the judge of today that is checked.
    assert_eq!((asked(""), asked("")), (1, 1));
}

#[test]
fn the_cache_is_listed_and_pruned() {
    let world = World::new("good");
    let (status, said) = world.typed("cache list");
    assert_eq!((status, said.as_str()), (0, "no verdict is kept in runs/cache"));
    assert_eq!(world.typed("cache list --json").1, "[]");
    world.run("");
    world.run("--scorer-model openai/another");
    let (_, said) = world.typed("cache list");
    assert!(said.contains(&format!("openai/another at {} 1 verdict · ", world.base.trim_end_matches('/'))), "{said}");
    let (_, json) = world.typed("cache list --json");
    let rows: Vec<Value> = serde_json::from_str(&json).unwrap();
    assert_eq!((rows.len(), &rows[0]["replies"], &rows[0]["model"]), (2, &1.into(), &"openai/another".into()));
    let (status, said) = world.typed("cache prune");
    assert_eq!(status, 0);
    assert!(
        said.contains("0 verdicts removed") && said.contains("2 verdicts left") && said.contains("--all"),
        "{said}"
    );
    assert!(world.typed("cache prune --older-than 1d").1.contains("2 verdicts left"));
    let (status, said) = world.typed("cache prune --older-than 99999999d");
    assert!(status == 0 && said.contains("0 verdicts removed"), "{said}");
    assert!(world.typed("cache prune --model another").1.contains("1 verdict removed"));
    assert!(world.typed("cache prune --max-size 0kB").1.contains("0 verdicts left"));
    assert_eq!(world.typed("cache prune --all --model x").0, 2);
    assert_eq!(world.typed("cache prune --max-size 7").0, 2);
    let (status, said) = world.typed("cache prune --older-than 30");
    assert!(status == 2 && said.contains("30d"), "a bare number may be meant as days: {said}");
    assert_eq!(world.entries(), Vec::<PathBuf>::new());
    // Runs are what they were, and nothing of the cache is one of them.
    assert_eq!(world.typed("list --json").1.matches("\"id\"").count(), 2);
}

#[test]
fn a_recording_has_the_verdicts_of_the_cache_and_replays_them_without_it() {
    let world = World::new("good");
    world.run("");
    let (asked, _) = world.run("--cassette-record tape");
    assert_eq!(asked, 0);
    let recorded = world.record();
    fs::remove_dir_all(world.path("runs/cache")).unwrap();
    let (asked, said) = world.run("--cassette-replay tape");
    assert_eq!(asked, 0);
    assert!(said.contains("1 of 1 verdict from the cache"), "{said}");
    assert_eq!(recorded["trials"][0]["judgements"], world.record()["trials"][0]["judgements"]);
    assert!(!world.path("runs/cache").exists(), "a replay keeps nothing");
}

#[test]
fn no_secret_of_a_conversation_is_in_the_cache() {
    const AGENT_KEY: &str = "agent-canary-0a1b2c3d4e5f6";
    let (server, address) = agent::start("good");
    let judge = Server::start(|request| match request.path.as_str() {
        "/v1/chat/completions" if request.body.contains("<transcript>") => {
            let verdict = format!(
                r#"{{"tasks": [{{"index": 1, "reason": "{AGENT_KEY}", "turnsRead": {0:?}, "score": 0.8}}], "tone": {{"reason": "polite", "turnsRead": {0:?}, "score": 0.9}}}}"#,
                crate::servers::all_turns()
            );
            let mut reply: Value = serde_json::from_str(include_str!("../fixtures/openai/reply-text.json")).unwrap();
            reply["choices"][0]["message"]["content"] = verdict.into();
            Reply::Json(200, reply)
        }
        _ => Reply::Json(400, serde_json::json!({"error": {"message": "no"}})),
    });
    let folder = tempfile::tempdir().unwrap();
    let job = format!("{}evaluator: {{script: [\"Where is it?\"]}}\n", JOB.replace("ADDRESS", &address));
    fs::write(folder.path().join("job.yml"), job).unwrap();
    let mut command = eval_job(folder.path());
    command.args(["run", "job.yml", "--no-progress"]).env("OPENAI_API_KEY", "sk-test");
    command.env("OPENAI_BASE_URL", format!("{}/v1", judge.address)).env("EVAL_JOB_AGENT_API_KEY", AGENT_KEY);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert!(!holds(&folder.path().join("runs"), AGENT_KEY));
    drop(server);
}

/// Whether a file below a folder has this text in it.
fn holds(folder: &Path, text: &str) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.into_iter().any(|path| match path.is_dir() {
        true => holds(&path, text),
        false => String::from_utf8_lossy(&fs::read(&path).unwrap()).contains(text),
    })
}
