//! What eval-job writes in other systems' formats, read by their own readers, untouched: Google ADK's managers, the models and
//! tools of IBM's evaluation framework, trpc-agent-go's managers. `scripts/peers` installs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::house::root;
use crate::program::eval_job;
use crate::transports::peer;

/// A folder with the run `orders`: cases that passed, failed, were broken off by the agent, not judged, cut off, not begun.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let kept = root().join("tests/fixtures/runs/orders");
    let run = fs::read_dir(kept).unwrap().next().unwrap().unwrap();
    let to = folder.path().join("runs").join(run.file_name());
    fs::create_dir_all(&to).unwrap();
    for file in fs::read_dir(run.path()).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
    folder
}

fn export(folder: &Path, arguments: &[&str]) -> String {
    let output = eval_job(folder).arg("export").args(arguments).output().unwrap();
    let words = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {words}");
    words
}

/// What a reader in Python makes of it.
fn read(python: &Path, reader: &str, arguments: &[&str], folder: &Path) -> Value {
    let program = root().join("tests/readers").join(reader);
    printed(Command::new(python).arg(program).args(arguments).current_dir(folder))
}

fn printed(command: &mut Command) -> Value {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}{error}", String::from_utf8_lossy(&output.stdout)))
}

/// The systems' own files that hold cases, of which some are written again.
const FILES: [&str; 6] = [
    "data/eval/adk/reminders.evalset.json",
    "tests/fixtures/datasets/adk/new_schema",
    "tests/fixtures/datasets/adk/legacy_list",
    "tests/fixtures/datasets/trpc/toolmock",
    "tests/fixtures/datasets/watsonx/evaluate",
    "tests/fixtures/datasets/redhat/conversations_config",
];

/// The files with cases in these folders.
fn files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left: Vec<PathBuf> = FILES.iter().map(|path| root().join(path)).collect();
    while let Some(path) = left.pop() {
        match fs::read_dir(&path) {
            Ok(entries) => left.extend(entries.map(|entry| entry.unwrap().path())),
            Err(_) if path.extension().is_some_and(|ending| ending == "json") => found.push(path),
            Err(_) => {}
        }
    }
    found.sort();
    found
}

/// Writes each file's cases in this format, each into a folder of its own; those that hold no cases are passed over.
fn exported(format: &str, folder: &Path) -> Vec<PathBuf> {
    let mut written = Vec::new();
    for (number, file) in files().iter().enumerate() {
        let to = folder.join(format!("{format}{number}"));
        let output = eval_job(folder)
            // Names of sets are the paths of their files, wherever this is checked out.
            .current_dir(root())
            .args([
                "export",
                &file.strip_prefix(root()).unwrap().display().to_string(),
                "--format",
                format,
                "-o",
                &to.display().to_string(),
            ])
            .output()
            .unwrap();
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            Some(0) if !words.contains("refuse") => written.push(to),
            Some(0) => {}
            status => assert!(status == Some(2), "{}: {status:?} {words}", file.display()),
        }
    }
    assert!(written.len() >= 8, "{written:?}");
    written
}

/// Whether a set for trpc-agent-go has a metric.
fn has_metrics(set: &Path) -> bool {
    let files = fs::read_dir(set).unwrap().map(|entry| entry.unwrap().path());
    let mut metrics = files.filter(|path| path.to_string_lossy().ends_with(".metrics.json"));
    metrics.all(|path| fs::read_to_string(path).unwrap().trim() != "[]")
}

#[test]
fn adk_reads_results() {
    let Some(python) = peer("adk", "python") else { return };
    let folder = folder();
    let history = folder.path().join("agents/shop/.adk/eval_history");
    fs::create_dir_all(&history).unwrap();
    export(folder.path(), &["--format", "adk", "-o", &history.display().to_string()]);
    let cases = read(&python, "adk.py", &["results", "agents", "shop"], folder.path());
    let statuses: Vec<(&str, &str)> = cases
        .as_array()
        .unwrap()
        .iter()
        .map(|case| (case["case"].as_str().unwrap(), case["status"].as_str().unwrap()))
        .collect();
    let of =
        |name: &str| statuses.iter().filter(|(case, _)| *case == name).map(|(_, status)| *status).collect::<Vec<_>>();
    assert_eq!(of("find"), ["PASSED", "NOT_EVALUATED"], "{statuses:?}");
    assert_eq!(of("../refund me"), ["FAILED", "NOT_EVALUATED"]);
    assert_eq!(of("crash"), ["FAILED", "NOT_EVALUATED"], "{statuses:?}");
    assert_eq!((of("judged"), of("slow")), (vec!["NOT_EVALUATED"; 2], vec!["NOT_EVALUATED"; 2]));
    let find = &cases[0];
    assert_eq!(find["metrics"]["trajectory"], json!(["PASSED", 1.0, 1.0]));
    let criterion = &find["criteria"]["trajectory"];
    let of = |key: &str| &criterion[key];
    assert_eq!((of("threshold"), of("match_type"), of("ignore_args")), (&json!(1.0), &json!(0), &json!(false)));
    assert_eq!(find["turns"][1]["calls"], json!([["find_order", {"id": 7}]]));
    assert_eq!(find["turns"][1]["expected"], json!([["find_order", {"id": 7}]]));
    assert_eq!(find["turns"][1]["results"], json!([{"id": 7, "state": "shipped"}]));
}

#[test]
fn adk_reads_cases_of_all_systems() {
    let Some(python) = peer("adk", "python") else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut arguments, mut counts) = (vec!["cases".to_owned()], Vec::new());
    for written in exported("adk", folder.path()) {
        let sets = fs::read_dir(&written).unwrap().map(|entry| entry.unwrap().path());
        for set in sets.filter(|path| path.display().to_string().ends_with(".evalset.json")) {
            let text: Value = serde_json::from_str(&fs::read_to_string(&set).unwrap()).unwrap();
            counts.push(text["eval_cases"].as_array().unwrap().len());
            arguments.push(set.display().to_string());
            arguments.push(written.join("test_config.json").display().to_string());
        }
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let read = read(&python, "adk.py", &arguments, folder.path());
    let found: Vec<usize> = read.as_array().unwrap().iter().map(|set| set["cases"].as_array().unwrap().len()).collect();
    assert_eq!(found, counts);
}

#[test]
fn watsonx_reads_results_and_says_what_went_wrong() {
    let Some(python) = peer("watsonx", "python") else { return };
    let folder = folder();
    let table = export(folder.path(), &["--format", "watsonx", "-o", "results"]);
    assert!(table.contains("Summary (Average)") && !table.contains("NaN"), "{table}");
    let results = fs::read_dir(folder.path().join("results")).unwrap().next().unwrap().unwrap().path();
    let read = read(&python, "watsonx.py", &["results", &results.display().to_string()], folder.path());
    let rows = read[0]["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &read[0]["csv"]), (10, &json!(10)));
    let row = |case: &str, place: usize| rows.iter().filter(|row| row["case"] == case).nth(place).unwrap();
    assert_eq!((&row("find", 0)["success"], &row("find", 0)["failed"]), (&json!(true), &json!(false)));
    assert_eq!(row("find", 1)["error"], "1", "it was not begun");
    let refund = row("refund_me", 0);
    let reason = json!([{"reason": "irrelevant tool call"}, {"reason": "runtime error"}]);
    assert_eq!((&refund["reasons"], &refund["missed"]), (&reason, &json!(["refund"])), "{refund}");
    assert_eq!((&row("judged", 0)["success"], &row("judged", 0)["error"]), (&json!(false), &json!("1")));
}

#[test]
fn watsonx_reads_cases_of_all_systems() {
    let Some(python) = peer("watsonx", "python") else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut arguments, mut counts) = (vec!["cases".to_owned()], Vec::new());
    for written in exported("watsonx", folder.path()) {
        counts.push(fs::read_dir(&written).unwrap().count());
        arguments.push(written.display().to_string());
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let read = read(&python, "watsonx.py", &arguments, folder.path());
    let found: Vec<usize> = read.as_array().unwrap().iter().map(|cases| cases.as_array().unwrap().len()).collect();
    assert_eq!(found, counts);
}

/// What trpc-agent-go's own readers make of what we write. Not every module proxy serves its module, so what they made of it is
/// kept in tests/readers/trpc/read.json, with a digest of what they read: as long as we write the same, that holds.
struct TrpcReader {
    /// The program of tests/readers/trpc, where `scripts/peers` could build it.
    program: Option<PathBuf>,
    /// What was read, in order.
    written: Sha256,
    answers: Vec<Value>,
}

const READ_BY_TRPC: &str = "tests/readers/trpc/read.json";

impl TrpcReader {
    fn new() -> TrpcReader {
        let program = Some(root().join("target/peers/trpc/reader")).filter(|program| program.exists());
        TrpcReader { program, written: Sha256::new(), answers: Vec::new() }
    }

    /// What the reader makes of the app `shop` in this folder.
    fn read(&mut self, what: &str, base: &Path) {
        let mut files: Vec<PathBuf> =
            fs::read_dir(base.join("shop")).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files {
            self.written.update(file.file_name().unwrap().as_encoded_bytes());
            self.written.update(fs::read(file).unwrap());
        }
        if let Some(program) = &self.program {
            let answer = printed(Command::new(program).args([what, &base.display().to_string(), "shop"]));
            self.answers.push(answer);
        }
    }

    /// The answers: given now, or kept from a machine on which the reader could be built.
    fn answers(self) -> Vec<Value> {
        let digest: String = self.written.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let kept = root().join(READ_BY_TRPC);
        if self.program.is_some() && std::env::var_os("EVAL_JOB_TEST_BLESS").is_some() {
            let read = json!({ "written": digest, "answers": self.answers });
            fs::write(&kept, format!("{read}\n")).unwrap();
        }
        let known: Value = serde_json::from_slice(&fs::read(&kept).unwrap()).unwrap();
        let changed =
            "what is written for trpc-agent-go has changed since its readers read it: see tests/readers/trpc/README.md";
        assert_eq!(known["written"], digest.as_str(), "{changed}");
        if self.program.is_some() {
            return self.answers;
        }
        known["answers"].as_array().unwrap().clone()
    }
}

#[test]
fn trpc_reads_results_and_cases() {
    let mut reader = TrpcReader::new();
    let folder = folder();
    fs::create_dir_all(folder.path().join("results/shop")).unwrap();
    export(folder.path(), &["--format", "trpc", "-o", "results/shop/"]);
    reader.read("results", &folder.path().join("results"));
    // The program has not been given sets without a metric: its module can't be had where they are written since.
    let sets = exported("trpc", folder.path()).into_iter().filter(|written| has_metrics(written));
    for (number, written) in sets.enumerate() {
        let app = folder.path().join(format!("sets{number}"));
        fs::create_dir_all(&app).unwrap();
        fs::rename(&written, app.join("shop")).unwrap();
        reader.read("cases", &app);
    }
    let answers = reader.answers();
    let (_, result) = answers[0].as_object().unwrap().iter().next().unwrap();
    let summary = &result["summary"];
    assert_eq!((&summary["overallStatus"], &summary["numRuns"]), (&json!("failed"), &json!(2)), "{summary}");
    assert_eq!(result["evalCaseResults"].as_array().unwrap().len(), 10);
    assert_eq!(result["evalCaseResults"][0]["finalEvalStatus"], "passed");
    assert!(!result.to_string().contains("\"unknown\""));
    assert!(answers.len() > 8, "{}", answers.len());
    for read in &answers[1..] {
        let sets = read.as_object().unwrap();
        assert!(!sets.is_empty() && sets.values().all(|set| !set["set"]["evalCases"].as_array().unwrap().is_empty()));
    }
}
