//! What a run may spend: limits of money, tokens and time, and the tables of what it took.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::eval_job;
use crate::servers::http::{Reply, Server};
use crate::servers::{agent, model};

/// An agent, and a model that takes 21 tokens and says 7 at every call.
struct World {
    folder: tempfile::TempDir,
    _agent: Option<Server>,
    model: Server,
    base: String,
}

impl World {
    fn new(limits: &str) -> World {
        let (agent, address) = agent::start("good");
        let (model, base) = model::start("good");
        let folder = tempfile::tempdir().unwrap();
        let job = format!(
            "target: {{user: u, chatbot: c, embabel: {{baseUrl: {address}}}}}\nfacts: [\"F\"]\n\
             evaluator: {{model: {{name: openai/gpt-4.1-mini, maxTokens: 100}}}}\n\
             scorer: {{model: {{name: openai/gpt-4.1-mini, maxTokens: 100}}}}\n\
             tasks:\n  - {{task: Ask where the locker is, acceptanceCriteria: It is named}}\n{limits}"
        );
        std::fs::write(folder.path().join("job.yml"), job).unwrap();
        World { folder, _agent: agent, model, base }
    }

    fn command(&self) -> Command {
        let mut command = eval_job(self.folder.path());
        command.env("OPENAI_BASE_URL", &self.base).env("OPENAI_API_KEY", "sk-test");
        command.args(["run", "job.yml", "--rng-seed", "7", "-o", "run.json", "-o", "run.tokens.json"]);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command().args(args).output().unwrap()
    }

    fn json(&self, name: &str) -> Value {
        read(&self.folder.path().join(name))
    }
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// What was printed, without its line breaks.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_limit_that_is_reached_ends_the_run_incomplete_with_everything_kept() {
    let world = World::new("");
    // A first run tells how many bytes the requests have: what each may take is its bytes and 100 tokens.
    let whole = world.run(&[]);
    assert_eq!(whole.status.code(), Some(0), "{}", text(&whole.stderr));
    let requests = world.model.requests();
    let most = |request: &crate::servers::http::Request| request.body.len() as u64 + 100;
    let limit = 28 + most(&requests[1]);
    for flag in [vec![format!("--token-limit={limit}")], vec![]] {
        let before = world.model.requests().len();
        if flag.is_empty() {
            let job = world.folder.path().join("job.yml");
            let written = std::fs::read_to_string(&job).unwrap();
            std::fs::write(&job, format!("{written}limits: {{tokens: {limit}}}\n")).unwrap();
        }
        // What the judge has said before would cost nothing.
        let flags: Vec<&str> = flag.iter().map(String::as_str).chain(["--no-cache"]).collect();
        let output = world.run(&flags);
        assert_eq!(output.status.code(), Some(102), "{}", text(&output.stderr));
        assert_eq!(world.model.requests().len() - before, 2, "the third request does not fit");
        let record = world.json("run.json");
        assert_eq!(record["trials"][0]["calls"].as_array().unwrap().len(), 2);
        assert!(record["trials"][1]["startedAt"].is_null(), "no other conversation begins");
        assert!(record["trials"][0]["evidence"]["transcript"][0]["agent"].is_string());
        let why = record["limitReached"].as_str().unwrap();
        assert!(
            why.starts_with(&format!("limits.tokens ({limit}) is not enough for the next step: 56 are spent")),
            "{why}"
        );
        let stdout = text(&output.stdout);
        assert!(stdout.contains("1 of 2 conversations begun") && stdout.starts_with("incomplete"), "{stdout}");
    }
}

#[test]
fn money_is_counted_by_the_prices_of_a_file_before_the_embedded_ones() {
    let world = World::new("");
    let prices = "models:\n  openai/gpt-4.1-mini: {input: 100000, output: 200000}\n";
    std::fs::write(world.folder.path().join("prices.yml"), prices).unwrap();
    // Each call costs 3.50 dollars then: 21 × 0.1 + 7 × 0.2.
    let output = world.run(&["--prices", "prices.yml"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let stdout = text(&output.stdout);
    let calls = world.model.requests().len();
    assert!(stdout.contains(&format!("${:.2}", 3.5 * calls as f64)), "{stdout}");
    let output = world.run(&["--prices", "prices.yml", "--cost-limit", "5"]);
    assert_eq!(output.status.code(), Some(102));
    assert!(
        text(&output.stdout).contains("limits.cost ($5.00) is less than one request can cost ($"),
        "{}",
        text(&output.stdout)
    );
    assert_eq!(world.model.requests().len(), calls, "not even the first request fits");
}

#[test]
fn what_has_no_price_is_refused_before_anything_is_asked() {
    let world = World::new("limits: {cost: 1}\n");
    let output = world.run(&["--evaluator-model", "openai/nobody-knows", "--scorer-model", "openai/nobody-knows"]);
    assert_eq!(output.status.code(), Some(2));
    let stderr = text(&output.stderr);
    assert!(
        stderr.contains("limits.cost can't be kept: what openai/nobody-knows costs is not known, the model of the persona and the judge"),
        "{stderr}"
    );
    assert!(stderr.contains("--prices FILE") && stderr.contains("limits: {tokens: 200000}"), "{stderr}");
    std::fs::write(world.folder.path().join("prices.yml"), "models: {x: {input: 1}}").unwrap();
    let output = world.run(&["--prices", "prices.yml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("prices.yml") && text(&output.stderr).contains("output"),
        "{}",
        text(&output.stderr)
    );
    assert!(world.model.requests().is_empty());
}

#[test]
fn a_run_that_takes_too_long_is_cut_off_and_kept() {
    let (_agent, address) = agent::start("silent");
    let world = World::new("");
    let job = world.folder.path().join("job.yml");
    let written = std::fs::read_to_string(&job).unwrap();
    let at = written.find("http://").unwrap();
    let end = at + written[at..].find('}').unwrap();
    std::fs::write(&job, format!("{}{address}{}", &written[..at], &written[end..])).unwrap();
    let output = world.run(&["--time-limit", "2"]);
    assert_eq!(output.status.code(), Some(102), "{}", text(&output.stderr));
    let stdout = text(&output.stdout);
    assert!(stdout.contains("stopped: limits.time (2 s) ran out; 1 of 2 conversations begun"), "{stdout}");
    assert!(stdout.contains("cut off; 0 turns kept, one message was on its way"), "{stdout}");
}

#[test]
fn a_time_limit_leaves_the_conversations_that_are_compared_in_step() {
    let slow = Server::start(|request| {
        if request.path.ends_with("/messages") {
            std::thread::sleep(Duration::from_millis(250));
        }
        Reply::Json(200, json!({"sessionId": "s", "message": {"role": "assistant", "content": "Done"}, "events": []}))
    });
    let folder = tempfile::tempdir().unwrap();
    let job = format!(
        "target: {{user: u, chatbot: c, embabel: {{baseUrl: '{}'}}}}\nevaluator: {{script: [one]}}\nscorer: {{model: scripted}}\n\
         facts: []\ntasks: [{{task: t, acceptanceCriteria: Done}}]\n",
        slow.address
    );
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let ran = |args: &[&str]| {
        let args = [&["run", "job.yml", "--model", "a,b", "--repeat", "3", "-o", "run.json"], args].concat();
        let output = eval_job(folder.path()).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(102), "{}", text(&output.stderr));
        let record = read(&folder.path().join("run.json"));
        let held = record["trials"].as_array().unwrap().iter().filter(|trial| trial["outcome"].is_object());
        (text(&output.stdout), held.map(|trial| trial["trial"]["model"].to_string()).collect::<Vec<_>>())
    };
    // Room for one conversation more, and not for two.
    let (told, models) = ran(&["--time-limit", "1.9"]);
    assert!(told.contains("no room for the next 2 conversations, which are compared with each other"), "{told}");
    assert_eq!(models, ["\"a\"", "\"b\""]);
}

#[test]
fn conversations_in_flight_when_the_time_is_up_are_cut_off_and_go_on_later() {
    let is_silent = Arc::new(AtomicBool::new(true));
    let silent = is_silent.clone();
    let agent = Server::start(move |request| {
        let said = request.json()["message"]["content"].as_str().unwrap_or_default().to_owned();
        // The second case is never answered in its second turn, whichever model is asked.
        if silent.load(Ordering::SeqCst) && said == "case 2, line 2" {
            return Reply::Silence;
        }
        let message = json!({"role": "assistant", "content": format!("reply to {said}")});
        Reply::Json(200, json!({"sessionId": "s", "message": message, "events": []}))
    });
    let folder = tempfile::tempdir().unwrap();
    let case = |number: u32| {
        format!(
            "- {{id: c{number}, script: [\"case {number}, line 1\", \"case {number}, line 2\"], \
             tasks: [{{task: t, acceptanceCriteria: 'reply to case {number}'}}]}}\n"
        )
    };
    let job = format!(
        "target: {{user: u, chatbot: c, embabel: {{baseUrl: '{}'}}}}\nevaluator: {{model: scripted}}\nscorer: {{model: scripted}}\n\
         greetings: []\nfacts: []\nisolation: user\ncases:\n{}",
        agent.address,
        (1..=3).map(case).collect::<String>()
    );
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let ran = |line: &str| {
        let output = eval_job(folder.path()).args(line.split_whitespace()).output().unwrap();
        (output.status.code(), format!("{}{}", text(&output.stdout), text(&output.stderr)))
    };
    let (status, told) = ran("run job.yml --model a,b -j 2 --time-limit 2 --no-progress -o run.json");
    assert_eq!(status, Some(102), "{told}");
    assert!(told.contains("stopped: limits.time (2 s) ran out; 4 of 6 conversations begun"), "{told}");
    let record = read(&folder.path().join("run.json"));
    let trials = record["trials"].as_array().unwrap();
    for trial in trials {
        let turns = trial["evidence"]["transcript"].as_array().map_or(0, Vec::len);
        // Whoever was waited for is not to blame, and nothing is scored.
        let (kept, is_over) = match trial["trial"]["case"].as_str().unwrap() {
            "c1" => (2, true),
            "c2" => (1, false),
            _ => (0, false),
        };
        assert_eq!((turns, trial["outcome"].is_object()), (kept, is_over), "{trial}");
        assert_eq!(trial["pending"].as_str().is_some(), kept == 1, "{trial}");
    }
    let before = agent.requests().iter().filter(|request| request.path.ends_with("/messages")).count();
    is_silent.store(false, Ordering::SeqCst);
    let (status, told) = ran("run --resume job.yml --model a,b -j 2 --no-progress -o run.json");
    // The agent keeps its sessions, and may have had both messages before.
    assert_eq!(status, Some(102), "{told}");
    assert!(told.contains("2 of 6 conversations kept, 4 to be run; 2 of them go on where they were"), "{told}");
    let after = agent.requests().iter().filter(|request| request.path.ends_with("/messages")).count();
    assert_eq!(after - before, 6, "two second turns, and two conversations of two turns");
    let record = read(&folder.path().join("run.json"));
    assert!(
        record["trials"].as_array().unwrap().iter().all(|trial| trial["outcome"]["kind"] == "graded"),
        "{record:#}"
    );
}

#[test]
fn the_token_file_has_the_shape_that_red_hats_tools_read_and_null_for_what_is_unknown() {
    let world = World::new("");
    assert_eq!(world.run(&[]).status.code(), Some(0));
    let calls = world.model.requests().len() as u64;
    let file = world.json("run.tokens.json");
    let evaluation = &file["evaluation_tokens"];
    assert_eq!(evaluation["total_input_tokens"], 21 * calls);
    assert_eq!(evaluation["total_output_tokens"], 7 * calls);
    assert_eq!((&evaluation["call_count"], &evaluation["max_total_tokens"]), (&calls.into(), &28.into()));
    // Embabel's protocol does not tell the agent's own.
    for key in ["input", "output", "total", "calls", "max_input", "max_output", "max_total"] {
        assert!(file["app_tokens"][key].is_null(), "{key}: {}", file["app_tokens"]);
    }
    assert!(file["summary"]["total_tokens"].is_null() && file["summary"]["call_count"].is_null());
    assert_eq!(file["scripts"]["judging"]["app_tokens"]["total"], 0, "in judging the agent takes nothing");
    assert_eq!(file["scripts"]["judging"]["summary"]["call_count"], 2);
    let detailed = file["detailed_calls"].as_array().unwrap();
    assert_eq!(detailed.len() as u64, calls);
    assert_eq!((&detailed[0]["total_tokens"], &detailed[0]["model"]), (&28.into(), &"openai/gpt-4.1-mini".into()));
}

#[test]
fn whatever_the_limit_what_begins_is_a_beginning_of_the_plan() {
    let (model, base) = model::start("good");
    let folder = tempfile::tempdir().unwrap();
    let own = "{model: {name: openai/gpt-4.1-mini, maxTokens: 10}}";
    let job = format!(
        "target: {{user: u, chatbot: c, demo: {{}}}}\nevaluator: {own}\nscorer: {own}\nfacts: [\"F\"]\n\
         tasks:\n  - {{task: Ask where the locker is, acceptanceCriteria: It is named}}\n"
    );
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let mut begun_of = std::collections::BTreeSet::new();
    let limits = [1_000, 4_000, 4_100, 4_200, 7_000, 100_000];
    for (limit, at_once) in limits.into_iter().flat_map(|limit| [(limit, "1"), (limit, "3")]) {
        let mut command = eval_job(folder.path());
        command.env("OPENAI_BASE_URL", &base).env("OPENAI_API_KEY", "sk-test");
        command.args(["run", "job.yml", "--model", "demo-careful,demo-sloppy", "-j", at_once, "-o", "run.json"]);
        let output = command.arg(format!("--token-limit={limit}")).output().unwrap();
        let record = read(&folder.path().join("run.json"));
        let trials = record["trials"].as_array().unwrap();
        let begun = trials.iter().take_while(|trial| !trial["startedAt"].is_null()).count();
        assert!(trials[begun..].iter().all(|trial| trial["startedAt"].is_null()), "{limit}: a later one overtook");
        let spent: u64 = trials
            .iter()
            .flat_map(|trial| trial["calls"].as_array().cloned().unwrap_or_default())
            .map(|call| {
                call["usage"]["inputTokens"].as_u64().unwrap() + call["usage"]["outputTokens"].as_u64().unwrap()
            })
            .sum();
        assert!(spent <= limit, "{spent} of {limit}");
        let whole = trials.iter().all(|trial| trial["outcome"]["kind"] == "graded");
        assert_eq!(output.status.code(), Some(if whole { 0 } else { 102 }), "{}", text(&output.stdout));
        begun_of.insert(begun);
    }
    assert!(begun_of.len() > 1 && begun_of.contains(&4), "{begun_of:?}");
    assert!(!model.requests().is_empty());
}

#[test]
fn a_request_that_nobody_waits_for_any_more_is_in_the_record_as_unknown() {
    let world = World::new("");
    let (_model, base) = model::start("silent");
    let mut command = world.command();
    let output = command.env("OPENAI_BASE_URL", &base).args(["--time-limit", "3"]).output().unwrap();
    assert_eq!(output.status.code(), Some(102), "{}", text(&output.stderr));
    let usage = &world.json("run.json")["trials"][0]["calls"][0]["usage"];
    assert_eq!((&usage["calls"], &usage["unreportedCalls"]), (&1.into(), &1.into()), "{usage}");
    let evaluation = &world.json("run.tokens.json")["evaluation_tokens"];
    assert!(evaluation["total_tokens"].is_null(), "{evaluation}");
}

#[test]
fn a_limit_that_can_not_count_the_agent_says_so() {
    let world = World::new("limits: {cost: 1}\n");
    let prices = crate::house::root().join("tests/fixtures/prices.yml");
    let output = world.run(&["--prices", prices.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let stdout = text(&output.stdout);
    assert!(stdout.contains("limits.cost holds for persona and judge only"), "{stdout}");
}

#[test]
fn a_providers_price_does_not_hold_at_another_address() {
    let world = World::new("");
    let output = world.run(&[]);
    let stdout = text(&output.stdout);
    assert!(output.status.code() == Some(0) && stdout.contains("unknown") && !stdout.contains('$'), "{stdout}");
    let output = world.run(&["--cost-limit", "1"]);
    let stderr = text(&output.stderr);
    let words = "what openai/gpt-4.1-mini costs there is not known, the model of the persona and the judge";
    assert!(output.status.code() == Some(2) && stderr.contains(words), "{stderr}");
}
