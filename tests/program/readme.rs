//! The README tells the truth: its commands run, its jobs are valid, its screenful is what the first command prints.

use super::{copy, eval_job, path_with_driver};
use crate::house::root;
use crate::servers::{agent, model};

/// Fenced blocks of this language, with the indentation of their fence removed.
pub(super) fn blocks(readme: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}");
    let mut blocks = Vec::new();
    let mut lines = readme.lines();
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        if line.trim_start() == fence {
            let inner: Vec<&str> = lines
                .by_ref()
                .take_while(|line| line.trim() != "```")
                .map(|line| line.get(indent..).unwrap_or(""))
                .collect();
            blocks.push(inner.join("\n") + "\n");
        }
    }
    blocks
}

pub(super) fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).unwrap()
}

#[test]
fn every_job_is_valid() {
    let jobs = blocks(&readme(), "yaml");
    assert!(!jobs.is_empty());
    for job in jobs {
        let folder = tempfile::tempdir().unwrap();
        // Where one of them starts its agent.
        std::fs::create_dir(folder.path().join("python-agent")).unwrap();
        std::fs::write(folder.path().join("job.yml"), &job).unwrap();
        let output = eval_job(folder.path())
            .args(["validate", "job.yml", "--evaluator-model", "scripted", "--scorer-model", "scripted"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{job}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn its_screenful_is_what_the_first_command_prints() {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("data"), &folder.path().join("data"));
    let output = eval_job(folder.path()).args(["run", "data/eval/agent.yml"]).output().unwrap();
    let without_times = |text: &str| {
        text.lines()
            .map(|line| line.split_once(" ms on average").map_or(line, |(_, rest)| rest).to_owned())
            .collect::<Vec<_>>()
    };
    let printed = without_times(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(without_times(&blocks(&readme(), "text")[0]), printed);
}

#[test]
fn every_command_runs() {
    let (_agent, agent_address) = agent::start("good");
    let (_model, base) = model::start("good");
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("data"), &folder.path().join("data"));
    // The README's own job, at the address where this test's agent listens, without the parts that need Neo4j.
    let job = blocks(&readme(), "yaml").remove(0).replace("http://localhost:8081", &agent_address);
    let (before, rest) = job.split_once("  - name: one booking").unwrap();
    let (_, after) = rest.split_once("weight: 3\n").unwrap();
    let job = format!("{before}{after}").replace("minScore: 0.8", "minScore: 0");
    std::fs::write(folder.path().join("job.yml"), job).unwrap();

    let driver = root().join("target/peers/python");
    let mut ran = 0;
    for block in blocks(&readme(), "console") {
        for command in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
            let (command, comment) = command.split_once("   # ").unwrap_or((command, ""));
            let status = comment.strip_prefix("status ").map_or(0, |rest| rest[..3].parse().unwrap());
            let Some(arguments) = arguments(command) else {
                assert!(root().join(command).is_file(), "the README names `{command}`, which is not there");
                continue;
            };
            if arguments.iter().any(|argument| argument.contains("python-agent")) && !driver.is_dir() {
                // Said aloud by the test of that example.
                assert!(std::env::var_os("CI").is_none(), "Python's neo4j is missing: run scripts/peers");
                continue;
            }
            let output = eval_job(folder.path())
                .args(&arguments)
                .env("PATH", path_with_driver(folder.path(), &driver))
                .env("OPENAI_API_KEY", "sk-test")
                .env("OPENAI_BASE_URL", &base)
                .output()
                .unwrap();
            let words = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(status), "`{command}`\n{words}");
            assert!(!output.stdout.is_empty(), "`{command}` prints nothing");
            ran += 1;
        }
    }
    assert!(ran >= 8, "only {ran} commands were run");
}

/// What is typed after the program's name, if it is this program.
fn arguments(command: &str) -> Option<Vec<String>> {
    let command = command.trim_start_matches(|c: char| c.is_uppercase() || matches!(c, '_' | '=' | '…')).trim_start();
    let typed = command.strip_prefix("cargo run --release -- ").or_else(|| command.strip_prefix("eval-job "))?;
    Some(typed.split_whitespace().map(str::to_owned).collect())
}

#[test]
fn every_command_within_the_text_is_one() {
    let text = readme();
    let spans = text.split('`').skip(1).step_by(2).filter_map(|span| span.strip_prefix("eval-job "));
    let mut seen = 0;
    for span in spans.filter(|span| !span.contains('\n')) {
        let output = eval_job(root()).args(span.split_whitespace()).arg("--help").output().unwrap();
        assert_eq!(output.status.code(), Some(0), "`eval-job {span}` is no command");
        seen += 1;
    }
    assert!(seen >= 3, "only {seen} commands were found");
}

#[test]
fn every_flag_and_variable_that_the_readme_names_is_there() {
    let text = readme();
    let help: String = ["run", "validate", "show", "list", "grade", "demo-agent", "graph serve"]
        .iter()
        .map(|command| command.split(' '))
        .map(|command| {
            String::from_utf8(eval_job(root()).args(command).arg("--help").output().unwrap().stdout).unwrap()
        })
        .collect();
    for word in text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_'))) {
        if word.starts_with("--") && word.len() > 3 && !["--release", "--path", "--bench"].contains(&word) {
            assert!(help.contains(word), "`{word}` is not a flag");
        }
        if word.starts_with("EVAL_JOB_")
            && word.len() > "EVAL_JOB_".len()
            && !["EVAL_JOB_AGENT_API_KEY", "EVAL_JOB_STARTED_BY"].contains(&word)
            && !word.starts_with("EVAL_JOB_TEST_")
        {
            assert!(help.contains(word), "`{word}` is not a variable");
        }
    }
}
