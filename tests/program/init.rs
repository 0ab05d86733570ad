//! `eval-job init`: for each way of reaching an agent, a job that is valid and that runs.

use std::path::Path;
use std::process::Output;

use super::eval_job;
use crate::house::root;
use crate::servers::{agent, model};

const TARGETS: [&str; 11] =
    ["embabel", "openai", "responses", "http", "websocket", "command", "adk", "a2a", "trpc", "watsonx", "start"];

fn init(folder: &Path, more: &[&str]) -> Output {
    eval_job(folder).arg("init").args(more).output().unwrap()
}

fn job(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("data/eval/agent.yml")).unwrap()
}

#[test]
fn every_target_gets_a_valid_job_with_its_schema() {
    for target in TARGETS {
        let folder = tempfile::tempdir().unwrap();
        let output = init(folder.path(), &["--target", target]);
        assert_eq!(output.status.code(), Some(0), "{target}: {output:?}");
        let output = eval_job(folder.path()).arg("validate").env("OPENAI_API_KEY", "any").output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{target}: {output:?}");
        assert!(!shown.contains("warning"), "{target}: {shown}");
        assert!(job(folder.path()).starts_with("# yaml-language-server: $schema=job.schema.json\n"), "{target}");
        let schema = std::fs::read(folder.path().join("data/eval/job.schema.json")).unwrap();
        assert!(serde_json::from_slice::<serde_json::Value>(&schema).unwrap()["properties"]["target"].is_object());
        assert!(folder.path().join(".env.example").is_file());
        let workflow = std::fs::read_to_string(folder.path().join(".github/workflows/agent-eval.yml")).unwrap();
        let outputs = "-o result.html -o junit.xml -o result.json -o \"$GITHUB_STEP_SUMMARY\"";
        assert!(workflow.contains(outputs) && workflow.contains("result.*\\njunit.xml"), "{workflow}");
    }
    let help = String::from_utf8(eval_job(root()).args(["init", "--help"]).output().unwrap().stdout).unwrap();
    assert!(TARGETS.iter().all(|target| help.contains(target)), "{help}");
}

#[test]
fn the_job_runs_against_an_agent_and_models() {
    let (_agent, address) = agent::start("good");
    let (_model, base) = model::start("good");
    let program = r#"args: [-uc, "import sys\nfor line in sys.stdin: print('I book trains.\\n:DONE')"]"#;
    for (target, from, to) in [
        ("embabel", "http://localhost:8081", address.as_str()),
        ("openai", "http://localhost:11434/v1", base.as_str()),
        ("command", "args: [my_agent.py]", program),
    ] {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(init(folder.path(), &["--target", target]).status.code(), Some(0));
        let own = job(folder.path());
        let changed = own.replace(from, to);
        assert_ne!(own, changed, "{target}");
        std::fs::write(folder.path().join("data/eval/agent.yml"), changed).unwrap();
        let output = eval_job(folder.path())
            .arg("run")
            .envs([("OPENAI_API_KEY", "sk-test"), ("OPENAI_BASE_URL", &base)])
            .output()
            .unwrap();
        assert!(matches!(output.status.code(), Some(0 | 100)), "{target}: {output:?}");
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(shown.contains("Score"), "{target}: {shown}");
    }
}

#[test]
fn what_is_there_already_is_replaced_only_when_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(".env.example"), "mine").unwrap();
    let output = init(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("there already: .env.example; nothing was written"));
    assert!(!folder.path().join("data").exists());
    let output = init(folder.path(), &["--force"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_ne!(std::fs::read_to_string(folder.path().join(".env.example")).unwrap(), "mine");

    // In another folder, and where none can be written.
    let other = folder.path().join("a/b");
    assert_eq!(init(folder.path(), &[other.to_str().unwrap()]).status.code(), Some(0));
    assert!(job(&other).contains("name: My agent"));
    let output = init(folder.path(), &["/dev/null/x"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
