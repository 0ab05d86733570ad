//! ADK's own evaluation files, run with `eval-job run FILE --target adk=…` against `adk api_server`, beside `adk eval` on the
//! same agents: the same scores and the same verdicts. The agents are ADK's samples and one of our own, with scripted models.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use eval_job::record::RunRecord;
use serde::Deserialize;

use super::peer;
use crate::house::root;
use crate::program::eval_job;

/// The files that are run: the agent, the file below the fixtures or the agents, and the configuration where it is not the
/// one beside the file.
const FILES: [(&str, &str, &str); 14] = [
    ("traps", "traps/traps.evalset.json", "traps/exact.json"),
    ("traps", "traps/traps.evalset.json", "traps/in_order.json"),
    ("traps", "traps/traps.evalset.json", "traps/any_order.json"),
    ("traps", "traps/traps.evalset.json", "traps/names.json"),
    ("hello_world_agent", "new_schema/hello_world_agent/roll_die.test.json", ""),
    ("hello_world_agent", "legacy_list/hello_world_agent/roll_die.test.json", ""),
    ("home_automation_agent", "new_schema/home_automation_agent/simple_test.test.json", ""),
    ("home_automation_agent", "legacy_list/home_automation_agent/simple_test2.test.json", ""),
    ("home_automation_agent", "new_schema/home_automation_agent/test_files/dependent_tool_calls.test.json", ""),
    (
        "home_automation_agent",
        "new_schema/home_automation_agent/test_files/memorizing_past_events/eval_data.test.json",
        "",
    ),
    (
        "home_automation_agent",
        "new_schema/home_automation_agent/test_files/simple_multi_turn_conversation.test.json",
        "",
    ),
    ("home_automation_agent", "new_schema/home_automation_agent/test_files/simple_test.test.json", ""),
    ("ecommerce_customer_service_agent", "new_schema/ecommerce_customer_service_agent/order_query.test.json", ""),
    ("ecommerce_customer_service_agent", "legacy_list/ecommerce_customer_service_agent/order_query.test.json", ""),
];

/// The cases of `traps` whose scores differ by default, with the metric: ADK scores an expected reply that is empty or absent
/// with 0, and takes true for 1.
const SOUNDER: [(&str, &str); 3] = [
    ("empty reference", "response_match_score"),
    ("no reference", "response_match_score"),
    ("true is one", "tool_trajectory_avg_score"),
];

/// The files of which a turn expects no reply: that turn does not count by default.
const ROLL_DIE: [&str; 2] =
    ["new_schema/hello_world_agent/roll_die.test.json", "legacy_list/hello_world_agent/roll_die.test.json"];

/// The scores of a case: by metric, `None` where there is none, and whether it passed.
#[derive(Debug, Clone, PartialEq, Default)]
struct Case {
    scores: BTreeMap<String, Option<f64>>,
    passed: bool,
}

#[derive(Deserialize)]
struct Ran {
    cases: Vec<RanCase>,
    trouble: Option<String>,
}

#[derive(Deserialize)]
struct RanCase {
    id: String,
    status: u8,
    metrics: Vec<RanMetric>,
}

#[derive(Deserialize)]
struct RanMetric {
    name: String,
    score: Option<f64>,
    status: u8,
}

/// ADK's numbers of a status.
const PASSED: u8 = 1;
const INFORMATIONAL: u8 = 4;

/// What stands below the agents, or else below the fixtures of datasets.
fn place(agents: &Path, file: &str) -> PathBuf {
    let own = agents.join(file);
    if own.exists() { own } else { root().join("tests/fixtures/datasets/adk").join(file) }
}

/// The configuration that `adk eval` is given: it does not look beside the file by itself.
fn config(agents: &Path, file: &str, config: &str) -> PathBuf {
    match config {
        "" => place(agents, file).with_file_name("test_config.json"),
        config => place(agents, config),
    }
}

/// `adk eval` on all files, in one process.
fn adk_eval(python: &Path, extras: &Path, agents: &Path) -> Vec<Ran> {
    let paths = std::env::join_paths([extras, agents]).unwrap();
    let mut command = Command::new(python);
    command.arg(agents.join("scores.py")).arg(agents).env("PYTHONPATH", paths);
    let mut scores = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdin = scores.stdin.take().unwrap();
    for (agent, file, chosen) in FILES {
        writeln!(stdin, "{agent}\t{}\t{}", place(agents, file).display(), config(agents, file, chosen).display())
            .unwrap();
    }
    drop(stdin);
    let output = scores.wait_with_output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let results = lines.lines().filter_map(|line| line.strip_prefix("RESULT"));
    results.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// `adk api_server`, which ends with the test.
struct ApiServer {
    process: Child,
    address: String,
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn api_server(adk: &Path, agents: &Path) -> ApiServer {
    let mut command = Command::new(adk);
    command.args(["api_server", "--host", "127.0.0.1", "--port", "0"]);
    command.args(["--session_service_uri", "memory://", "--artifact_service_uri", "memory://"]).arg(agents);
    command.env("PYTHONPATH", agents).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
    let said = lines.by_ref().map_while(Result::ok);
    let address = said.filter_map(|line| {
        let (_, rest) = line.split_once("Uvicorn running on ")?;
        rest.split_whitespace().next().map(str::to_owned)
    });
    let address = { address }.next().unwrap();
    // Whatever it says later must not fill the pipe.
    std::thread::spawn(move || lines.for_each(drop));
    ApiServer { process, address }
}

/// What eval-job makes of a file.
fn ours(folder: &Path, agents: &Path, server: &ApiServer, at: usize, strict: bool) -> BTreeMap<String, Case> {
    let (agent, file, chosen) = FILES[at];
    let mut command = eval_job(folder);
    command.arg("run").arg(place(agents, file));
    command.arg("--target").arg(format!("adk={},app={agent}", server.address));
    command.args(["-o", "record.json", "--no-progress"]);
    if !chosen.is_empty() {
        command.arg("--config-file-path").arg(config(agents, file, chosen));
    }
    if strict {
        command.arg("--dialect-strict");
    }
    let _ = std::fs::remove_file(folder.join("record.json"));
    let output = command.output().unwrap();
    let record = std::fs::read(folder.join("record.json"))
        .unwrap_or_else(|_| panic!("{file}: {}", String::from_utf8_lossy(&output.stderr)));
    let record: RunRecord = serde_json::from_slice(&record).unwrap();
    let cases = record.trials.iter().map(|trial| {
        let card = trial.scorecard.as_ref().unwrap_or_else(|| panic!("{file}: {:?}", trial.outcome));
        let with_threshold = card.dimensions.iter().filter(|it| it.threshold.is_some());
        let scores: BTreeMap<String, Option<f64>> =
            with_threshold.clone().map(|it| (it.name.clone(), it.component.score().map(|score| score.get()))).collect();
        let passed = with_threshold.clone().all(|it| it.component.score() >= it.threshold);
        (trial.trial.case.clone(), Case { scores, passed })
    });
    cases.collect()
}

fn is_close(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() < 1e-9,
        _ => one == other,
    }
}

#[test]
fn files_of_adk_have_the_scores_and_verdicts_of_adk_eval() {
    let (Some(python), Some(adk)) = (peer("adk", "python"), peer("adk", "adk")) else { return };
    let extras = root().join("target/peers/adk-eval");
    if !extras.exists() {
        assert!(std::env::var_os("CI").is_none(), "{} is missing: run scripts/peers", extras.display());
        let _ = writeln!(std::io::stderr(), "SKIPPED: {} is not there. Run scripts/peers.", extras.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let agents = folder.path().join("agents");
    copy(&root().join("tests/transports/peers/adk_eval"), &agents);
    let server = api_server(&adk, &agents);
    let theirs = adk_eval(&python, &extras, &agents);
    assert_eq!(theirs.len(), FILES.len());
    let (mut compared, mut wrong) = (0, Vec::new());
    for (at, ran) in theirs.into_iter().enumerate() {
        assert!(ran.trouble.is_none(), "{:?}: {}", FILES[at], ran.trouble.unwrap_or_default());
        let strict = ours(folder.path(), &agents, &server, at, true);
        let default = ours(folder.path(), &agents, &server, at, false);
        assert_eq!((strict.len(), default.len()), (ran.cases.len(), ran.cases.len()), "{:?}", FILES[at]);
        for RanCase { id, status, metrics } in ran.cases {
            // An old file's case is named by its path, of which a job's case keeps the end.
            let of =
                |cases: &BTreeMap<String, Case>| cases.iter().find(|(own, _)| id.ends_with(*own)).unwrap().1.clone();
            let scored: BTreeMap<String, Option<f64>> =
                metrics.iter().filter(|it| it.status != INFORMATIONAL).map(|it| (it.name.clone(), it.score)).collect();
            let compares_args = FILES[at].2 != "traps/names.json";
            let is_sounder =
                |case: &str, name: &str| SOUNDER.contains(&(case, name)) && (compares_args || case != "true is one");
            let without_reply = ROLL_DIE.contains(&FILES[at].1);
            for (mode, own) in [("strict", of(&strict)), ("default", of(&default))] {
                let is_known = |name: &str| {
                    mode == "default" && (is_sounder(&id, name) || without_reply && name == "response_match_score")
                };
                for (name, score) in &scored {
                    compared += 1;
                    let own = own.scores.get(name).copied().flatten();
                    if is_close(own, *score) == is_known(name) {
                        wrong.push(format!("{mode} {:?} {id} {name}: {own:?}, ADK {score:?}", FILES[at]));
                    }
                }
                let differs = mode == "default" && (without_reply || SOUNDER.iter().any(|(case, _)| *case == id));
                if own.passed != (status == PASSED) && !differs {
                    wrong.push(format!("{mode} {:?} {id}: passed {}, ADK's status {status}", FILES[at], own.passed));
                }
            }
        }
    }
    assert!(compared > 400, "{compared}");
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}
