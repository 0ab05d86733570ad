//! Golden cases: a folder each under `tests/golden`, with `case.yml`, whatever files the case needs, and what the
//! program must print, to the letter. Each folder is a test of its name: `cargo test --test golden unknown-key`.
//! `EVAL_JOB_TEST_BLESS=1` writes what the program prints now; read the difference.

#![expect(clippy::unwrap_used, reason = "a test that can't go on must fail")]
#![expect(clippy::disallowed_methods, reason = "tests start processes, which have an environment and take time")]

mod golden_output;
#[expect(dead_code, reason = "golden cases need an agent and a model only")]
mod servers;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Trial};
use serde::Deserialize;

use crate::servers::{agent, model};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What the case shows.
    about: String,
    /// What is typed after `eval-job`.
    args: Vec<String>,
    /// The exit status.
    status: i32,
    /// How the agent behaves at the address that `AGENT` stands for in the job.
    #[serde(default)]
    agent: Option<String>,
    /// How the model behaves at `OPENAI_BASE_URL`.
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// The files that `-o` writes, each of which must be as it stands in the folder `outputs`: of a page its text.
    #[serde(default)]
    outputs: Vec<String>,
    /// The runs that are kept already: a folder of `tests/fixtures/runs`.
    #[serde(default)]
    kept: Option<String>,
    /// Whether `runs` may not be written to.
    #[serde(default)]
    runs_is_a_file: bool,
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Each case waits mostly for retries.
    arguments.test_threads = arguments.test_threads.or(Some(32));
    let bless = std::env::var_os("EVAL_JOB_TEST_BLESS").is_some();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut cases: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    let trials = cases.into_iter().map(|case| {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        Trial::test(name, move || check(&case, bless).map_err(Into::into))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn check(case_folder: &Path, bless: bool) -> Result<(), String> {
    let case: Case = serde_saphyr::from_str(&fs::read_to_string(case_folder.join("case.yml")).unwrap())
        .map_err(|error| format!("case.yml: {error}"))?;
    let folder = tempfile::tempdir().unwrap();
    let (_agent, agent_address) = case.agent.as_deref().map(agent::start).unzip();
    for entry in fs::read_dir(case_folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        if ["case.yml", "stdout", "stderr", "outputs"].contains(&file.as_str()) {
            continue;
        }
        if path.is_dir() {
            copy(&path, &folder.path().join(file));
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let bytes = match (&agent_address, String::from_utf8(bytes.clone())) {
            (Some(address), Ok(text)) => text.replace("AGENT", address).into_bytes(),
            _ => bytes,
        };
        fs::write(folder.path().join(file), bytes).unwrap();
    }
    if let Some(kept) = &case.kept {
        copy(&case_folder.join("../../fixtures/runs").join(kept), &folder.path().join("runs"));
    }
    if case.runs_is_a_file {
        fs::write(folder.path().join("runs"), "").unwrap();
    }
    // Nothing of this machine's environment that could change what it does.
    let mut command = Command::new(env!("CARGO_BIN_EXE_eval-job"));
    command.current_dir(folder.path()).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    // The fake models are not at their providers: only a file's prices hold for them.
    command.env("EVAL_JOB_PRICES", Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/prices.yml"));
    command.args(&case.args).envs(&case.env);
    let model = case.model.as_deref().map(model::start);
    if let Some((_, base)) = &model {
        command.env("OPENAI_BASE_URL", base).env("OPENAI_API_KEY", "sk-test");
    }
    let output = command.output().unwrap();
    let mut wrong = Vec::new();
    if output.status.code() != Some(case.status) {
        wrong.push(format!("status {:?}, expected {}", output.status.code(), case.status));
    }
    let mut printed: Vec<(String, String)> = [("stdout", output.stdout), ("stderr", output.stderr)]
        .map(|(stream, bytes)| (stream.to_owned(), normalised(&String::from_utf8(bytes).unwrap())))
        .into();
    for name in &case.outputs {
        let text = fs::read_to_string(folder.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        printed.push((format!("outputs/{name}"), golden_output::normalised(name, &text, folder.path())));
    }
    for (stream, printed) in printed {
        let golden = case_folder.join(&stream);
        if bless {
            fs::create_dir_all(golden.parent().unwrap()).unwrap();
            fs::write(&golden, &printed).unwrap();
        }
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        if printed != expected {
            wrong.push(format!("{stream} is\n{printed}\n…but should be\n{expected}"));
        }
        if printed.contains("sk-test") || printed.contains("s3cret") {
            wrong.push(format!("{stream} shows a secret"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{}\n{}", case.about, wrong.join("\n"))) }
}

/// Copies a folder with everything in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// What differs from run to run, replaced: ports, run ids, times, milliseconds.
fn normalised(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut line = line.replace(env!("CARGO_MANIFEST_DIR"), "ROOT");
        for command in ["eval-job show ", "eval-job grade ", "--retry-errors "] {
            if let Some((before, rest)) = line.split_once(command).filter(|(_, rest)| names_a_run(rest)) {
                line = format!("{before}{command}ID{}", rest.find(' ').map_or("", |end| &rest[end..]));
            }
        }
        let words: Vec<String> = line.split(' ').map(normalised_word).collect();
        let mut line = words.join(" ");
        for unit in ["ms", "ms):"] {
            line = without_number_before(&line, unit);
        }
        // Signs of life come when something takes its time.
        if line.contains(" done · ") || line.starts_with("looking whether ") {
            continue;
        }
        if let Some((before, _)) = line.split_once(" in ").filter(|_| line.starts_with("ran ")) {
            line = format!("{before} in TIME");
        }
        lines.push(line.trim_end().to_owned());
    }
    let mut text = lines.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    sorted_by_lane(&text)
}

/// Whether a text begins with the id of a run.
fn names_a_run(text: &str) -> bool {
    let id = text.split(' ').next().unwrap_or_default();
    id.len() == 6 && id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
}

fn normalised_word(word: &str) -> String {
    if let Some((before, port)) = word.split_once("127.0.0.1:") {
        let rest = port.trim_start_matches(|c: char| c.is_ascii_digit());
        return format!("{before}127.0.0.1:PORT{rest}");
    }
    // runs/20261120-214512-job-k3f9qz, runs/checks/20261120-214512-job-k3f9qz
    let is_stamp = |part: &str| part.len() == 8 && part.chars().all(|c| c.is_ascii_digit());
    let (folder, bare) = match word.strip_prefix("runs/checks/") {
        Some(bare) => ("runs/checks", bare),
        None => ("runs", word.trim_start_matches("runs/")),
    };
    if bare.split('-').next().is_some_and(is_stamp) && bare.matches('-').count() >= 3 {
        let job: Vec<&str> = bare.split('-').collect();
        return format!("{folder}/TIME-{}-ID", job[2..job.len() - 1].join("-"));
    }
    word.to_owned()
}

fn without_number_before(line: &str, unit: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let mut kept: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    for index in 1..words.len() {
        let number = words[index - 1].trim_start_matches('(');
        if words[index].trim_end_matches([',', '.', ';']) == unit && number.parse::<f64>().is_ok() {
            kept[index - 1] = words[index - 1].replace(number, "N");
        }
    }
    kept.join(" ")
}

/// Lanes run side by side, so their lines come in any order: sorted by condition, each lane's own order kept.
fn sorted_by_lane(text: &str) -> String {
    let is_progress = |line: &&str| line.starts_with("without facts  ") || line.starts_with("with facts     ");
    let (mut progress, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(is_progress);
    progress.sort_by_key(|line| line.starts_with("with facts "));
    let mut lines = progress;
    lines.extend(rest);
    if lines.is_empty() { String::new() } else { lines.join("\n") + "\n" }
}
