//! `run --cassette-record` and `--cassette-replay`: a recorded run is replayed without anybody, and comes to the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::{eval_job, words};
use crate::house::root;
use crate::servers::http::{Reply, Server};
use crate::servers::{agent, all_turns, model};

const KEY: &str = "sk-canary-Zq8vKp2mXc7VhT5kW";
const AGENT_KEY: &str = "agent-canary-0a1b2c3d4e5f6";

/// A job with its servers, and what they were asked so far.
struct World {
    folder: tempfile::TempDir,
    servers: Vec<Server>,
    base: String,
}

impl World {
    fn new(behaviours: (&str, &str), more: &str) -> World {
        let (agent, address) = agent::start(behaviours.0);
        let (model, base) = model::start(behaviours.1);
        let servers = agent.into_iter().chain([model]).collect();
        let world = World { folder: tempfile::tempdir().unwrap(), servers, base };
        world.write(&format!(
            "name: Lockers\ntarget: {{user: u, chatbot: c, embabel: {{baseUrl: \"{address}\"}}}}\nfacts: [The locker is number 7]\n\
             tasks:\n  - {{task: Ask where the locker is, acceptanceCriteria: It is named}}\n  \
             - {{task: Ask when it opens, acceptanceCriteria: A time is named}}\n\
             assertions:\n  - {{name: a thing, expression: 'objectContext.entities.any(|it| it.name == \"thing\")'}}\n{more}"
        ));
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, job: &str) {
        fs::write(self.path("job.yml"), job).unwrap();
    }

    fn job(&self) -> String {
        fs::read_to_string(self.path("job.yml")).unwrap()
    }

    /// The status, and all that was printed, with its breaks taken out.
    fn typed(&self, line: &str, has_keys: bool) -> (i32, String) {
        let mut command = eval_job(self.folder.path());
        command.args(line.split_whitespace());
        if has_keys {
            command.env("OPENAI_BASE_URL", &self.base).env("OPENAI_API_KEY", KEY);
            command.env("EVAL_JOB_AGENT_API_KEY", AGENT_KEY);
        }
        let output = command.output().unwrap();
        let text = words(&output);
        (output.status.code().unwrap(), text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn record(&self, flags: &str) -> (i32, String) {
        self.typed(&format!("run job.yml --no-progress -o recorded.json --cassette-record tape {flags}"), true)
    }

    /// Replays without keys, and sees that nobody was asked.
    fn replay(&self, flags: &str) -> (i32, String) {
        let connections = || self.servers.iter().map(Server::connections).collect::<Vec<_>>();
        let before = connections();
        let replay = format!("run job.yml --no-progress -o replayed.json --cassette-replay tape {flags}");
        let replayed = self.typed(&replay, false);
        assert_eq!(connections(), before, "{}", replayed.1);
        replayed
    }

    /// Records and replays; both come to the same, byte by byte.
    fn twice(&self, flags: &str) -> String {
        let (status, recorded) = self.record(flags);
        let (replayed_status, replayed) = self.replay(flags);
        assert_eq!(status, replayed_status, "{recorded}\n{replayed}");
        assert!(replayed.contains("no requests are made") && !replayed.contains("note: "), "{replayed}");
        assert_same(&self.path("recorded.json"), &self.path("replayed.json"));
        recorded
    }

    /// The files of the recording, by their names.
    fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> =
            fs::read_dir(self.path("tape/Lockers")).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    /// The only file of a conversation.
    fn tape(&self) -> PathBuf {
        let mut files = self.files();
        files.retain(|file| !file.ends_with("run.jsonl"));
        assert_eq!(files.len(), 1, "{files:?}");
        files.remove(0)
    }
}

/// Two records are the same, byte by byte, but for the run's id and what is marked as time.
pub fn assert_same(one: &Path, other: &Path) {
    let text = |path: &Path| {
        let record: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        format!("{:#}", without_time(record))
    };
    let (one, other) = (text(one), text(other));
    let different = one.lines().zip(other.lines()).find(|(one, other)| one != other);
    assert!(one == other, "{different:#?}");
}

fn without_time(value: Value) -> Value {
    match value {
        Value::Object(entries) => {
            let is_time = |key: &str| ["at", "startedAt", "finishedAt"].contains(&key);
            let left = entries.into_iter().filter(|(key, _)| !is_time(key));
            let is_run = |entries: &serde_json::Map<String, Value>| entries.contains_key("provenance");
            let mut left: serde_json::Map<String, Value> =
                left.map(|(key, value)| (key, without_time(value))).collect();
            if is_run(&left) {
                left.remove("id");
                let replayed = left.get_mut("provenance").and_then(Value::as_object_mut);
                replayed.into_iter().for_each(|provenance| drop(provenance.shift_remove("replayed")));
            }
            Value::Object(left)
        }
        Value::Array(items) => items.into_iter().map(without_time).collect(),
        other => other,
    }
}

#[test]
fn a_replay_is_beside_the_baseline_as_its_recording_was_and_is_no_night() {
    let world = World::new(("good", "good"), "");
    assert_eq!(world.typed("run job.yml --no-progress --repeat 2", true).0, 0);
    assert_eq!(world.typed("baseline set main", true).0, 0);
    let flags = "--repeat 2 --baseline main";
    let (status, recorded) = world.record(flags);
    assert!(recorded.contains("baseline main"), "{recorded}");
    // Where it is replayed there is no baseline.
    let (replayed_status, replayed) = world.replay(&format!("{flags} --runs-dir elsewhere"));
    assert_eq!(status, replayed_status, "{recorded}\n{replayed}");
    assert_same(&world.path("recorded.json"), &world.path("replayed.json"));
    let (_, shown) = world.typed("show --json --runs-dir elsewhere", false);
    assert!(shown.contains("\"replayed\""), "{shown}");
    let (_, trend) = world.typed("trend --json --runs-dir elsewhere", false);
    assert!(trend.contains("\"noNights\"") && trend.contains("\"nightsInAll\": 0"), "{trend}");
}

#[test]
fn a_recorded_run_is_replayed_without_agent_models_and_keys() {
    let world = World::new(("stumbles", "good"), "");
    let flags = "--model small,large --repeat 2 -j 4";
    world.twice(flags);
    let record: Value = serde_json::from_slice(&fs::read(world.path("replayed.json")).unwrap()).unwrap();
    let trials = record["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 8);
    let turns = trials.iter().flat_map(|trial| trial["evidence"]["transcript"].as_array().unwrap());
    let failures: Vec<&Value> = turns.flat_map(|turn| turn["failures"].as_array().into_iter().flatten()).collect();
    assert!(failures.len() == 1 && failures[0]["waitedMs"].as_f64().unwrap() > 10.0, "{failures:?}");
    // One after the other it is the same, too.
    world.replay(&flags.replace("-j 4", "-j 1"));
    assert_same(&world.path("recorded.json"), &world.path("replayed.json"));
    // A part of it is replayed, and the rest told.
    let (_, said) = world.replay("--model large");
    assert!(said.contains("note: 6 recorded conversations not used: "), "{said}");
    #[cfg(unix)]
    for file in world.files() {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{}", file.display());
    }
}

#[test]
fn a_replay_is_not_gone_on_with_by_the_agent_of_today() {
    let world = World::new(("good", "good"), "");
    world.twice("");
    let connections = || world.servers.iter().map(Server::connections).collect::<Vec<_>>();
    let before = connections();
    for flag in ["--resume", "--retry-errors"] {
        let replayed: Value = serde_json::from_slice(&fs::read(world.path("replayed.json")).unwrap()).unwrap();
        let id = replayed["id"].as_str().unwrap();
        let (status, printed) = world.typed(&format!("run job.yml {flag} {id}"), true);
        assert!(status == 2 && printed.contains("is the replay of a recording"), "{printed}");
        assert!(printed.contains("try: record again: eval-job run, with --cassette-record"), "{printed}");
    }
    assert_eq!(connections(), before);
}

#[test]
fn failures_are_replayed_as_what_they_were() {
    for (agent, model, more) in [
        ("good", "judge-prose", ""),
        ("good", "judge-recovers", ""),
        ("good", "judge-down", ""),
        ("good", "judge-silent", "limits: {trial: 1.5}\n"),
        ("good", "persona-down", ""),
        ("good", "persona-never-ends", ""),
        ("good", "leaves-at-once", ""),
        ("good", "silent", "limits: {trial: 1.5}\n"),
        ("silent", "good", "limits: {trial: 1.5, turn: 0.4}\n"),
        ("silent", "good", "limits: {trial: 0.6}\n"),
        ("message-500", "good", "limits: {trial: 2}\n"),
        ("session-500", "good", ""),
        ("session-401", "good", ""),
        ("state-500", "good", ""),
        ("message-401", "good", ""),
        ("half-json", "good", ""),
        (
            "good",
            "good",
            "limits: {tokens: 100}\nscorer: {model: {name: openai/m, maxTokens: 30}}\nevaluator: {model: {name: openai/m, maxTokens: 30}}\n",
        ),
    ] {
        let world = World::new((agent, model), more);
        world.twice("--condition with-facts");
    }
}

#[test]
fn a_limit_of_the_run_ends_the_replay_where_it_ended_the_run() {
    let limits = "limits: {tokens: 260}\nscorer: {model: {name: openai/m, maxTokens: 30}}\nevaluator: {model: {name: openai/m, maxTokens: 30}}\n";
    let world = World::new(("good", "good"), limits);
    let said = world.twice("--repeat 20 -j 1");
    assert!(said.contains("limits.tokens"), "{said}");
}

#[test]
fn a_run_that_its_time_limit_cut_off_is_replayed_up_to_there() {
    for (agent, model) in [("good", "judge-silent"), ("silent", "good"), ("good", "silent")] {
        let world = World::new((agent, model), "limits: {trial: 300, turn: 200}\n");
        let said = world.twice("--condition with-facts --repeat 3 -j 2 --time-limit 2.5");
        assert!(said.contains("limits.time"), "{said}");
        let record: Value = serde_json::from_slice(&fs::read(world.path("replayed.json")).unwrap()).unwrap();
        let trials = record["trials"].as_array().unwrap();
        assert!(trials.iter().all(|trial| trial["outcome"].is_null()), "{said}");
        assert!(!trials[0]["startedAt"].is_null() && trials[2]["startedAt"].is_null(), "{record:#}");
    }
}

/// A job with a panel of which the first judge answers last, where `is_recorded`; `is_silent`: not at all.
fn with_panel(is_recorded: Arc<AtomicBool>, is_silent: bool) -> World {
    let (agent, address) = agent::start("good");
    let has_answered = Arc::new(AtomicBool::new(false));
    let judges = Server::start(move |request| {
        let judge = request.json()["model"].as_str().unwrap_or_default().to_owned();
        if judge == "first" && is_silent {
            return Reply::Silence;
        }
        while judge == "first" && is_recorded.load(Ordering::SeqCst) && !has_answered.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        let answer = model::answer("good", request);
        has_answered.fetch_or(judge == "second", Ordering::SeqCst);
        answer
    });
    let base = format!("{}/v1", judges.address);
    let servers = agent.into_iter().chain([judges]).collect();
    let world = World { folder: tempfile::tempdir().unwrap(), servers, base };
    world.write(&format!(
        "name: Lockers\ntarget: {{user: u, chatbot: c, embabel: {{baseUrl: \"{address}\"}}}}\nfacts: []\n\
         evaluator: {{script: [Where is it?]}}\nscorer: {{model: [openai/first, openai/second]}}\nmetrics: [tasks]\n\
         limits: {{trial: 300}}\ntasks: [{{task: Ask where the locker is, acceptanceCriteria: It is named}}]\n"
    ));
    world
}

#[test]
fn the_calls_of_a_panel_are_in_one_order_whoever_answers_first() {
    let world = with_panel(Arc::new(AtomicBool::new(true)), false);
    world.twice("");
    let record: Value = serde_json::from_slice(&fs::read(world.path("recorded.json")).unwrap()).unwrap();
    assert_eq!(record["trials"][0]["calls"].as_array().map(Vec::len), Some(2));
}

#[test]
fn what_a_panel_had_answered_when_the_time_was_up_is_in_the_replay() {
    let world = with_panel(Arc::new(AtomicBool::new(false)), true);
    let said = world.twice("--time-limit 2.5");
    let record: Value = serde_json::from_slice(&fs::read(world.path("replayed.json")).unwrap()).unwrap();
    let judgements = record["trials"][0]["judgements"].as_array().unwrap();
    assert!(judgements.len() == 1 && judgements[0]["judge"] == "openai/second", "{said}\n{judgements:#?}");
}

#[test]
fn no_secret_is_in_a_recording() {
    let (model, base) = model::start("good");
    let agent = Server::start(|request| {
        let key = request.header("authorization").unwrap_or_default().to_owned();
        match request.path.as_str() {
            "/api/v1/chat/sessions" => Reply::Json(200, json!({"sessionId": "s"})),
            "/api/v1/chat/messages" => Reply::Json(
                200,
                json!({"sessionId": "s", "message": {"content": format!("You sent {key} and {KEY}"), "role": "assistant"},
                       "events": [{"said": key}]}),
            ),
            _ => Reply::Json(200, json!({"context": key, "resources": [], "functions": []})),
        }
    });
    let world = World { folder: tempfile::tempdir().unwrap(), base, servers: vec![model] };
    world.write(&format!(
        "name: Lockers\ntarget: {{user: u, chatbot: c, embabel: {{baseUrl: \"{}\"}}}}\nfacts: []\n\
         tasks: [{{task: Ask where the locker is, acceptanceCriteria: It is named}}]\n\
         assertions: [{{expression: objectContext.entities.size == 0, holdsBefore: true}}]\n",
        agent.address
    ));
    world.twice("");
    let said = world.files().iter().map(|file| fs::read_to_string(file).unwrap()).collect::<String>();
    assert!(said.contains("You sent") && !said.contains(KEY) && !said.contains(AGENT_KEY), "{said}");
    assert!(!said.contains(&KEY[5..]) && !said.contains(&AGENT_KEY[6..]), "{said}");
}

#[test]
fn what_is_not_recorded_is_told_with_the_nearest_and_nothing_is_asked() {
    let world = World::new(("good", "good"), "");
    world.record("--repeat 2");
    let job = world.job();
    world.write(&job.replace("Ask when it opens", "Ask when it closes"));
    let (status, said) = world.replay("--repeat 2");
    assert_eq!(status, 102, "{said}");
    assert!(said.contains("the job is not the one that was recorded"), "{said}");
    assert!(said.contains("this request to the persona is not recorded; the nearest one, tape/Lockers/"), "{said}");
    assert!(said.contains("differs first in messages[0].content: recorded"), "{said}");
    assert!(said.contains("Ask when it opens") && said.contains("Ask when it closes"), "{said}");
    assert!(said.contains("not used, in "), "{said}");
    // Another criterion changes what the judge is asked, and nothing of the conversation.
    world.write(&job.replace("A time is named", "An hour is named"));
    let (status, said) = world.replay("--repeat 2");
    assert!(status == 102 && said.contains("this request to the judge is not recorded"), "{said}");
    // Another gate changes nothing that is asked.
    world.write(&format!("{job}gate: {{minScore: 0.99}}\n"));
    assert_eq!(world.replay("--repeat 2").0, 100);
    world.write(&job);
    let (status, said) = world.replay("--repeat 3");
    assert!(status == 102 && said.contains("is not recorded: there is no file tape/Lockers/"), "{said}");
    let (status, said) = world.replay("--repeat 2 --rng-seed 5");
    assert!(status == 102 && said.contains("differs first in"), "{said}");
}

#[test]
fn a_line_that_was_taken_out_is_missed() {
    let world = World::new(("good", "good"), "");
    world.record("--condition with-facts");
    let (tape, mut missed) = (world.tape(), 0);
    let text = fs::read_to_string(&tape).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for left_out in lines.iter().filter(|line| line.contains(r#""kind":"exchange""#)) {
        let rest: Vec<&str> = lines.iter().filter(|line| line != &left_out).copied().collect();
        fs::write(&tape, rest.join("\n") + "\n").unwrap();
        let (status, said) = world.replay("--condition with-facts");
        assert_eq!(status, 102, "{left_out}\n{said}");
        assert!(
            said.contains("recorded in") || said.contains("is not recorded") || said.contains("and made once more"),
            "{said}"
        );
        missed += 1;
    }
    assert!(missed > 8, "{text}");
}

#[test]
fn a_damaged_recording_is_told_line_by_line() {
    let world = World::new(("good", "good"), "");
    world.record("--condition with-facts");
    let tape = world.tape();
    let text = fs::read_to_string(&tape).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for cut in 0..lines.len() {
        fs::write(&tape, lines[..cut].join("\n")).unwrap();
        let (status, said) = world.replay("--condition with-facts");
        let place = format!(".jsonl:{}: ", cut.max(1));
        assert!(status == 102 && said.contains(&place) && said.contains("record again"), "{cut}: {said}");
    }
    for (at, garbage) in [(1, "nonsense"), (4, "{}"), (4, "{\"kind\":\"exchange\"}"), (lines.len(), "\u{0}")] {
        let mut damaged = lines.clone();
        damaged.insert(at, garbage);
        fs::write(&tape, damaged.join("\n")).unwrap();
        let (status, said) = world.replay("--condition with-facts");
        let place = format!(".jsonl:{}: this is no line of a recording", at + 1);
        assert!(status == 102 && said.contains(&place), "{garbage}: {said}");
    }
    // Half a line, as a full disk leaves it.
    fs::write(&tape, &text[..text.len() - 5]).unwrap();
    assert!(world.replay("--condition with-facts").1.contains("this is no line of a recording"));
    let run = world.path("tape/Lockers/run.jsonl");
    let header = fs::read_to_string(&run).unwrap();
    for (damaged, part) in [
        (String::new(), "run.jsonl:1: this is no line of a recording"),
        (
            header.replace(r#""version":1"#, r#""version":9"#),
            "is of version 9 of the format, and this eval-job reads up to version 1",
        ),
        (lines[0].to_owned(), "the first line is not that of a recorded run"),
    ] {
        fs::write(&run, damaged).unwrap();
        let (status, said) = world.replay("--condition with-facts");
        assert!(status == 2 && said.contains(part) && said.contains("try: "), "{said}");
    }
    fs::remove_file(&run).unwrap();
    let (status, said) = world.replay("--condition with-facts");
    assert!(status == 2 && said.contains("there is no recording in tape/Lockers"), "{said}");
}

#[test]
fn what_cannot_be_recorded_is_refused_before_anybody_is_asked() {
    let world = World::new(("good", "good"), "");
    world.record("--condition with-facts");
    let asked = || world.servers.iter().map(Server::connections).sum::<usize>();
    let before = asked();
    let (status, said) = world.record("");
    assert!(status == 2 && said.contains("there is a recording in tape/Lockers already"), "{said}");
    let (status, said) = world.record("--cassette-replay tape");
    assert!(status == 2 && said.contains("cannot be used with"), "{said}");
    fs::write(world.path("file"), "").unwrap();
    for folder in ["file", "/proc/1/tape"] {
        let (status, said) = world.typed(&format!("run job.yml --cassette-record {folder}"), true);
        assert!(status == 2 && said.contains("error: "), "{said}");
    }
    assert_eq!(asked(), before);
    // The variables are the flags' twins.
    let mut command = eval_job(world.folder.path());
    command.args(["run", "job.yml", "--condition", "with-facts"]).env("EVAL_JOB_CASSETTE_REPLAY", "tape");
    assert!(words(&command.output().unwrap()).contains("replayed from tape/Lockers"));
    command.env("EVAL_JOB_CASSETTE_RECORD", "other");
    assert_eq!(command.output().unwrap().status.code(), Some(2));
}

#[test]
fn jobs_of_one_name_are_replayed_in_any_order() {
    let world = World::new(("good", "good"), "");
    let other = world.job().replace("Ask when it opens", "Ask when it closes");
    fs::write(world.path("other.yml"), other).unwrap();
    let flags = "--no-progress --condition with-facts";
    let (status, said) = world.typed(&format!("run job.yml other.yml {flags} --cassette-record tape"), true);
    assert!(world.path("tape/Lockers-2").is_dir(), "{said}");
    let replay = |files: &str| world.typed(&format!("run {files} {flags} --cassette-replay tape"), false);
    for files in ["job.yml other.yml", "other.yml job.yml"] {
        let (again, said) = replay(files);
        assert_eq!(again, status, "{said}");
        assert!(!said.contains("not recorded") && !said.contains("not used"), "{said}");
    }
    let (again, said) = replay("other.yml");
    assert!(again == status && said.contains("replayed from tape/Lockers-2"), "{said}");
}

#[test]
fn graph_seeds_and_setups_are_replayed_without_the_demo_agent() {
    let world = World { folder: tempfile::tempdir().unwrap(), servers: Vec::new(), base: String::new() };
    let scripted = "evaluator: {model: scripted}\nscorer: {model: scripted}\n";
    world.write(&format!(
        "name: Lockers\ntarget: {{user: u, chatbot: c, demo: {{}}}}\n{scripted}facts: []\nseeds: [{{text: My time zone is Europe/Rome.}}]\n\
         setups: [{{cypher: 'CREATE (:Zebra {{of: $trial}})'}}]\n\
         tasks: [{{task: Ask for a reminder to call Bob tomorrow at nine, acceptanceCriteria: A reminder to call Bob is created}}]\n\
         assertions:\n  - {{cypher: 'MATCH (r:Reminder) RETURN count(r)', expected: 1}}\n  - {{cypher: 'MATCH (z:Zebra) RETURN count(z)', expected: 1, holdsBefore: true}}\n  \
         - {{cypher: 'MATCH (n:Nothing) RETURN count(n)', expected: 0}}\n"
    ));
    let said = world.twice("--model demo-careful,demo-sloppy --repeat 2");
    assert!(said.contains("reminder") || said.contains("Reminder"), "{said}");
}

#[test]
fn a_started_agent_is_not_started_again() {
    let world = World { folder: tempfile::tempdir().unwrap(), servers: Vec::new(), base: String::new() };
    fs::copy(root().join("tests/isolation/agents/agent.py"), world.path("agent.py")).unwrap();
    world.write(
        "name: Lockers\ntarget: {user: u, chatbot: c, start: {command: python3, args: [agent.py, good, diary]}}\n\
         evaluator: {script: [one, two]}\nscorer: {model: scripted}\nfacts: []\n\
         tasks: [{task: Ask for anything, acceptanceCriteria: Anything is said}]\n",
    );
    let (status, said) = world.record("");
    fs::remove_file(world.path("agent.py")).unwrap();
    let (replayed, again) = world.replay("");
    assert_eq!(status, replayed, "{said}\n{again}");
    assert_same(&world.path("recorded.json"), &world.path("replayed.json"));
    let record = fs::read_to_string(world.path("replayed.json")).unwrap();
    assert!(record.contains("listening on "), "{record}");
    let diary = fs::read_to_string(world.path("diary")).unwrap();
    assert_eq!(diary.lines().filter(|line| line.starts_with("pid ")).count(), 1, "{diary}");
}

#[test]
fn one_case_of_a_recording_is_replayed_alone() {
    let world = World::new(("good", "good"), "isolation: user\ncases: [{id: first}, {id: second}]\n");
    let (status, recorded) = world.record("--condition with-facts");
    assert_eq!(status, 0, "{recorded}");
    let (status, replayed) = world.replay("--condition with-facts --filter second");
    assert_eq!(status, 0, "{replayed}");
}

/// A job whose judge writes steps and is checked against known conversations, before the agent is spoken to.
fn with_steps_and_canaries() -> World {
    let says = |content: &str| {
        let message = json!({"role": "assistant", "content": content});
        let usage = json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120});
        Reply::Json(
            200,
            json!({"choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": usage}),
        )
    };
    let judge = Server::start(move |request| {
        if request.body.contains("<criterion>") {
            return says(r#"{"steps": ["Look at the greeting."]}"#);
        }
        if request.body.contains("Look at the greeting.") {
            let quote = json!([{"turn": 1, "text": "is booked"}]);
            let verdict = json!({"id": "1", "reason": "so", "quotes": quote, "turnsRead": all_turns(), "score": 8});
            return says(&json!({ "verdicts": [verdict] }).to_string());
        }
        let is_booked = request.body.split("<transcript>").last().is_some_and(|said| said.contains("is booked"));
        let score = if is_booked { 0.9 } else { 0.1 };
        let task = json!({"index": 1, "reason": "so", "turnsRead": all_turns(), "score": score});
        let tone = json!({"reason": "so", "turnsRead": all_turns(), "score": 1});
        says(&json!({"tasks": [task], "tone": tone}).to_string())
    });
    let agent = Server::start(move |_| says("Your table is booked."));
    let folder = tempfile::tempdir().unwrap();
    let known = folder.path().join("known");
    fs::create_dir(&known).unwrap();
    for (name, fails, reply) in [("bad", "[tasks]", "We are closed."), ("good", "[]", "Your table is booked.")] {
        let conversation =
            format!("known: {name}\nfails: {fails}\nconversation:\n  - user: A table, please\n  - agent: {reply}\n");
        fs::write(known.join(format!("{name}.yml")), conversation).unwrap();
    }
    let job = json!({
        "name": "Lockers",
        "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", agent.address)}},
        "evaluator": {"script": ["A table for two"]},
        "scorer": {"model": {"name": "openai/j", "baseUrl": format!("{}/v1", judge.address)}},
        "facts": [],
        "greetings": [],
        "tasks": [{"task": "Ask for a table", "acceptanceCriteria": "A table is booked"}],
        "metrics": [{"tasks": {}}, {"geval": {"criteria": "It is polite.", "generateSteps": true}, "name": "politeness"}],
        "gate": {"canaries": "known"},
    });
    fs::write(folder.path().join("job.yml"), job.to_string()).unwrap();
    World { folder, servers: vec![agent, judge], base: String::new() }
}

#[test]
fn steps_and_known_conversations_are_replayed_before_the_run() {
    let world = with_steps_and_canaries();
    let said = world.twice("");
    assert!(said.contains("wrote steps for") && said.contains("the judge tells 2 known conversations apart"), "{said}");
    for folder in ["steps", "canaries"] {
        assert!(world.path(&format!("tape/Lockers/{folder}/run.jsonl")).is_file());
    }
    let job = world.job();
    fs::write(world.path("job.yml"), job.replace("It is polite.", "It is rude.")).unwrap();
    let (status, said) = world.replay("");
    assert!(status == 102 && said.contains("this request to the judge is not recorded"), "{said}");
}

#[test]
fn conversations_that_were_refused_together_are_replayed() {
    let (model, base) = model::start("good");
    let turns = std::sync::atomic::AtomicUsize::new(0);
    // Every third message is one too many.
    let agent = Server::start(move |request| match request.path.as_str() {
        "/api/v1/chat/sessions" => Reply::Json(200, json!({"sessionId": format!("s-{}", request.body.len())})),
        "/api/v1/chat/messages" if turns.fetch_add(1, std::sync::atomic::Ordering::SeqCst) % 3 == 1 => {
            Reply::Json(429, json!({"error": "slow down"}))
        }
        "/api/v1/chat/messages" => Reply::Json(
            200,
            json!({"sessionId": "s", "message": {"content": "It is there.", "role": "assistant"}, "events": []}),
        ),
        _ => Reply::Json(404, json!({})),
    });
    let world = World { folder: tempfile::tempdir().unwrap(), base, servers: vec![model] };
    world.write(&format!(
        "name: Lockers\ntarget: {{user: u, chatbot: c, embabel: {{baseUrl: \"{}\"}}}}\nfacts: [The locker is number 7]\nisolation: user\n\
         tasks: [{{task: Ask where the locker is, acceptanceCriteria: It is named}}]\n",
        agent.address
    ));
    world.twice("--repeat 2 -j 4");
}
