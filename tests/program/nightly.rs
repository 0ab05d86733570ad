//! docs/nightly.md: its script and its workflow are carried out, as cron and GitHub Actions would.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::readme::{blocks, page};
use super::words;

const JOB: &str = "tags: [nightly]\ntarget: {user: u, chatbot: c, demo: {}}\nevaluator: {model: scripted}\n\
                   scorer: {model: scripted}\nfacts: []\ncases:\n";

/// A checked-out project with a suite of three cases in two jobs; the gate of one fails where `gate` is above 0.
fn project(gate: f64) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("eval")).unwrap();
    let case = |id: &str| {
        format!(
            "- {{id: {id}, tasks: [{{task: Ask for a reminder to call Bob, acceptanceCriteria: A reminder is created}}]}}\n"
        )
    };
    let zebra = "- {id: zebra, tasks: [{task: Ask for the price of a zebra, acceptanceCriteria: Seventeen zebras are named}]}\n";
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("eval/one.yml", &format!("gate: {{minScore: {gate}}}\n{JOB}{}{zebra}", case("a")));
    write("eval/two.yml", &format!("{JOB}{}", case("b")));
    write(".env", "OPENAI_API_KEY=sk-test\n");
    folder
}

/// Carries out a shell's line or script, with the built program on its path.
fn shell(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let programs = Path::new(env!("CARGO_BIN_EXE_eval-job")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([programs.to_path_buf()].into_iter().chain(std::env::split_paths(&path))).unwrap();
    let mut command = Command::new("sh");
    command.args(arguments).current_dir(folder).env_clear().env("PATH", path).env("GITHUB_STEP_SUMMARY", "summary");
    let output = command.output().unwrap();
    (output.status.code(), words(&output))
}

#[test]
fn the_script_tells_the_nights_apart() {
    let script = blocks(&page("docs/nightly.md"), "sh").remove(0);
    for (gate, status, told) in [(0.0, 0, ""), (0.9, 100, "a gate failed: reports/")] {
        let folder = project(gate);
        fs::write(folder.path().join("nightly.sh"), &script).unwrap();
        let (code, printed) = shell(folder.path(), &["nightly.sh"]);
        assert_eq!(code, Some(status), "{printed}");
        assert!(printed.starts_with(told) && printed.is_empty() == told.is_empty(), "{printed}");
        let reports: Vec<String> = fs::read_dir(folder.path().join("reports"))
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        assert!(
            ["html", "json", "txt"].iter().all(|ending| reports.iter().any(|it| it.ends_with(ending))),
            "{reports:?}"
        );
    }
    let folder = project(0.0);
    fs::write(folder.path().join("nightly.sh"), &script).unwrap();
    fs::write(folder.path().join("eval/two.yml"), "target: {}\n").unwrap();
    let (code, printed) = shell(folder.path(), &["nightly.sh"]);
    assert!(code == Some(2) && printed.starts_with("the night says nothing of the agent (2)"), "{printed}");
}

/// The command of a job's step that begins with `eval-job`, for one value of `matrix.part`.
fn eval_job_step(workflow: &Value, job: &str, part: u64) -> String {
    let steps = workflow["jobs"][job]["steps"].as_array().unwrap();
    let run = steps.iter().filter_map(|step| step["run"].as_str()).find(|run| run.starts_with("eval-job ")).unwrap();
    run.replace("${{ matrix.part }}", &part.to_string()).replace("${{ github.run_id }}", "12345678901")
}

#[test]
fn the_workflow_runs_its_parts_and_merges_them() {
    let text = blocks(&page("docs/nightly.md"), "yml").remove(0);
    let workflow: Value = serde_saphyr::from_str(&text).unwrap();
    assert!(workflow["jobs"]["merge"]["needs"] == "part" && workflow["on"]["schedule"][0]["cron"].is_string());
    let matrix = workflow["jobs"]["part"]["strategy"]["matrix"]["part"].as_array().unwrap();
    let artifact = &workflow["jobs"]["part"]["steps"].as_array().unwrap().last().unwrap()["with"]["path"];
    for (gate, expected) in [(0.0, 0), (0.9, 100)] {
        let merging = tempfile::tempdir().unwrap();
        for part in matrix {
            let part = part.as_u64().unwrap();
            let machine = project(gate);
            let (code, printed) = shell(machine.path(), &["-c", &eval_job_step(&workflow, "part", part)]);
            assert_eq!(code, Some(0), "part {part}: {printed}");
            let runs = machine.path().join(artifact.as_str().unwrap());
            if runs.is_dir() {
                super::copy(&runs, &merging.path().join(format!("parts/part-{part}")));
            }
        }
        let (code, printed) = shell(merging.path(), &["-c", &eval_job_step(&workflow, "merge", 0)]);
        assert_eq!(code, Some(expected), "{printed}");
        for file in ["result.html", "junit.xml", "result.json", "summary"] {
            assert!(fs::metadata(merging.path().join(file)).is_ok_and(|it| it.len() > 100), "{file}");
        }
    }
}
