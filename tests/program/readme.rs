//! README and docs tell the truth: their commands run, their jobs are valid, their links lead somewhere, and the screenful is
//! what the first command prints.

use std::sync::{Arc, Mutex};

use super::{copy, eval_job, path_with_driver};
use crate::house::root;
use crate::servers::http::{Reply, Server};
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
    page("README.md")
}

/// A page by its path below the root.
pub(super) fn page(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The README and all pages of `docs`, by their paths.
fn pages() -> Vec<(String, String)> {
    let docs = std::fs::read_dir(root().join("docs")).unwrap();
    let docs = docs.map(|entry| format!("docs/{}", entry.unwrap().file_name().into_string().unwrap()));
    let mut paths: Vec<String> = docs.filter(|path| path.ends_with(".md")).chain(["README.md".to_owned()]).collect();
    paths.sort();
    assert!(paths.len() > 8, "{paths:?}");
    paths.into_iter().map(|path| (path.clone(), page(&path))).collect()
}

/// All jobs of all pages.
pub(super) fn jobs() -> Vec<String> {
    pages().iter().flat_map(|(_, text)| blocks(text, "yaml")).collect()
}

#[test]
fn every_job_is_valid() {
    let jobs = jobs();
    assert!(jobs.len() >= 5, "{}", jobs.len());
    for job in jobs {
        let folder = tempfile::tempdir().unwrap();
        // Where one of them starts its agent.
        std::fs::create_dir(folder.path().join("python-agent")).unwrap();
        std::fs::write(folder.path().join("job.yml"), &job).unwrap();
        // Scripted rules use no tools.
        let persona = if job.contains("tools:") { "openai/gpt-4.1-mini" } else { "scripted" };
        let output = eval_job(folder.path())
            .env("OPENAI_API_KEY", "sk-test")
            .args(["validate", "job.yml", "--evaluator-model", persona, "--scorer-model", "scripted"])
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
            .map(|line| {
                line.split_once(" in ").map_or(line, |(ran, _)| if line.starts_with("ran ") { ran } else { line })
            })
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let printed = without_times(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(without_times(&blocks(&readme(), "text")[0]), printed);
}

/// The screen of several jobs is the end of a golden one; that of two runs is compared with a real one in `compare.rs`. What
/// is shown anew needs a test, and its page a place here.
#[test]
fn the_summary_of_several_jobs_is_a_real_one() {
    let screens: Vec<_> =
        pages().iter().flat_map(|(path, text)| vec![path.clone(); blocks(text, "text").len()]).collect();
    assert_eq!(screens, ["README.md", "docs/compare.md", "docs/nightly.md", "docs/runs.md", "docs/scores.md"]);
    let without_id = |text: &str| {
        let line =
            |line: &str| line.split_once("show ").map_or(line.to_owned(), |(before, _)| format!("{before}show ID"));
        text.lines().map(line).collect::<Vec<_>>()
    };
    let shown = without_id(&blocks(&page("docs/runs.md"), "text")[0]);
    let printed = without_id(&page("tests/golden/jobs-several/stdout"));
    assert!(printed.ends_with(&shown), "{shown:?}");
}

#[test]
fn every_command_runs() {
    let (_agent, agent_address) = agent::start("good");
    let (_model, base) = model::start("good");
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("data"), &folder.path().join("data"));
    // The README's own job, at the address where this test's agent listens.
    let job = blocks(&readme(), "yaml").remove(0).replace("http://localhost:8081", &agent_address);
    let job = job.replace("minScore: 0.8", "minScore: 0");
    std::fs::create_dir_all(folder.path().join("eval/trains")).unwrap();
    std::fs::write(folder.path().join("eval/trains/booking.yml"), format!("tags: [smoke]\n{job}")).unwrap();
    std::fs::write(folder.path().join("job.yml"), job).unwrap();

    // What `scripts/model start` leaves; here with the fake model.
    let served = folder.path().join("target/model/served");
    std::fs::create_dir_all(&served).unwrap();
    let variables = "EVAL_JOB_EVALUATOR_MODEL=openai/smollm2\nEVAL_JOB_SCORER_MODEL=openai/smollm2\n";
    std::fs::write(served.join("env"), format!("{variables}EVAL_JOB_MIN_SCORE=1\n")).unwrap();

    let driver = root().join("target/peers/python");
    let mut ran = 0;
    let all: Vec<String> = pages().iter().flat_map(|(_, text)| blocks(text, "console")).collect();
    for block in all {
        for command in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
            let (command, comment) = command.split_once("   # ").unwrap_or((command, ""));
            // `status 100: why`, `status 0, 100 or 101`
            let words = comment.trim_start().strip_prefix("status ").unwrap_or("0").split([' ', ':', ',']);
            let statuses: Vec<i32> =
                words.map_while(|word| if matches!(word, "or" | "") { Some(-1) } else { word.parse().ok() }).collect();
            let Some(arguments) = arguments(command) else {
                let script = command.split(' ').next().unwrap_or_default();
                assert!(root().join(script).is_file(), "the README names `{command}`, which is not there");
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
                .env("EVAL_JOB_PRICES", root().join("tests/fixtures/prices.yml"))
                .output()
                .unwrap();
            let words = String::from_utf8_lossy(&output.stderr);
            let is_told = output.status.code().is_some_and(|status| statuses.contains(&status));
            assert!(is_told, "`{command}`: {:?} of {statuses:?}\n{words}", output.status);
            assert!(!output.stdout.is_empty(), "`{command}` prints nothing");
            if command.contains("run job.yml --model") {
                let ready = readme();
                let ready = ready.split('`').find(|span| span.starts_with("agent listens")).unwrap();
                assert!(words.contains(ready), "`{ready}` is not in\n{words}");
            }
            ran += 1;
        }
    }
    assert!(ran >= 8, "only {ran} commands were run");
}

/// What is typed after the program's name, if it is this program.
fn arguments(command: &str) -> Option<Vec<String>> {
    let command = command.trim_start_matches(|c: char| c.is_uppercase() || matches!(c, '_' | '=' | '…')).trim_start();
    let typed = command.strip_prefix("cargo run --release -- ").or_else(|| command.strip_prefix("eval-job "))?;
    Some(typed.split_whitespace().map(|word| word.trim_matches('\'').to_owned()).collect())
}

#[test]
fn every_command_within_the_text_is_one() {
    let mut seen = 0;
    for (path, text) in pages() {
        let spans = text.split('`').filter_map(|span| span.strip_prefix("eval-job "));
        for span in spans.filter(|span| !span.contains(['\n', '[', '…'])) {
            let output = eval_job(root()).args(span.split_whitespace()).arg("--help").output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{path}: `eval-job {span}` is no command");
            seen += 1;
        }
    }
    assert!(seen >= 3, "only {seen} commands were found");
}

#[test]
fn every_flag_and_variable_that_is_named_is_there() {
    let text: String = pages().into_iter().map(|(_, text)| text).collect();
    let help: String = [
        "run",
        "init",
        "validate",
        "show",
        "list",
        "grade",
        "audit",
        "coverage",
        "trend",
        "import",
        "generate",
        "cases list",
        "cases add",
        "export",
        "analyze",
        "label",
        "check",
        "compare",
        "calibrate",
        "cache list",
        "cache prune",
        "demo-agent",
        "graph serve",
    ]
    .iter()
    .map(|command| command.split(' '))
    .map(|command| String::from_utf8(eval_job(root()).args(command).arg("--help").output().unwrap().stdout).unwrap())
    .collect();
    for word in text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_'))) {
        if word.starts_with("--")
            && word.len() > 3
            && !["--release", "--path", "--bench", "--locked", "--git", "--features"].contains(&word)
        {
            assert!(help.contains(word), "`{word}` is not a flag");
        }
        if word.starts_with("EVAL_JOB_")
            && word.len() > "EVAL_JOB_".len()
            && !["EVAL_JOB_AGENT_API_KEY", "EVAL_JOB_REFERENCE_API_KEY", "EVAL_JOB_STARTED_BY"].contains(&word)
            && !word.starts_with("EVAL_JOB_TEST_")
        {
            assert!(help.contains(word), "`{word}` is not a variable");
        }
    }
}

/// The name by which GitHub links to a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn every_link_leads_somewhere() {
    let mut seen = 0;
    for (path, text) in pages() {
        let folder = root().join(&path).parent().unwrap().to_owned();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            if link.starts_with("http") {
                continue;
            }
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { root().join(&path) } else { folder.join(file) };
            assert!(target.exists(), "{path}: there is no {link}");
            if !place.is_empty() {
                let text = std::fs::read_to_string(&target).unwrap();
                let headings = text.lines().filter(|line| line.starts_with('#'));
                let mut anchors = headings.map(|line| anchor(line.trim_start_matches('#').trim()));
                assert!(anchors.any(|anchor| anchor == place), "{path}: {link} has no such heading");
            }
            seen += 1;
        }
    }
    assert!(seen > 30, "only {seen} links were found");
}

/// Method and path, and the body where there is one.
type Requests = Vec<(String, Option<serde_json::Value>)>;

/// The documents of the protocol's page, in their order: requests, then what is replied.
#[test]
fn the_protocols_examples_are_what_is_sent_and_understood() {
    let text = page("docs/protocol.md");
    let replies: Vec<serde_json::Value> =
        blocks(&text, "json").iter().map(|reply| serde_json::from_str(reply).unwrap()).collect();
    let [session, message, context] = replies.try_into().unwrap();
    let asked: Requests = blocks(&text, "http")
        .iter()
        .map(|request| {
            let (head, body) = request.split_once("\n\n").unwrap_or((request, ""));
            let line = head.lines().next().unwrap().to_owned();
            (line, serde_json::from_str(body.trim()).ok())
        })
        .collect();

    let shown = session["sessionId"].as_str().unwrap().to_owned();
    let seen: Arc<Mutex<Requests>> = Arc::default();
    let log = seen.clone();
    let server = Server::start(move |request| {
        let line = format!("{} {}", request.method, request.path);
        log.lock().unwrap().push((line, serde_json::from_str(&request.body).ok()));
        Reply::Json(
            200,
            match request.path.rsplit('/').next() {
                Some("sessions") => session.clone(),
                Some("messages") => message.clone(),
                _ => context.clone(),
            },
        )
    });
    let folder = tempfile::tempdir().unwrap();
    let job = format!(
        "target: {{user: test-user, chatbot: travel-desk, embabel: {{baseUrl: \"{}\"}}}}\n\
         tasks: [{{task: Book, acceptanceCriteria: Booked}}]\nfacts: []\nmetrics: [assertions]\n\
         evaluator: {{script: [Book a train to Lyon]}}\ngreetings: []\nassertions:\n\
         - {{expression: objectContext.entities.count(|it| it.type == \"Train\") == 1, holdsBefore: true}}\n\
         - {{expression: 'evaluation.functionCalls.any(|it| it.function == \"findTrains\")'}}\n",
        server.address
    );
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let output = eval_job(folder.path()).args(["run", "job.yml", "--min-score", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let seen = seen.lock().unwrap();
    for (line, body) in asked {
        let line = line.replace("b6c0…", "b6c0%E2%80%A6");
        assert!(seen.iter().any(|(own, sent)| *own == line && *sent == body), "{line} {body:?} ({shown}): {seen:?}");
    }
}

/// The fences that are parts of files: assertions, prices and the workflow.
#[test]
fn every_part_of_a_file_is_taken_as_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("data"), &folder.path().join("data"));
    let job = "target: {user: u, chatbot: c, embabel: {}}\nisolation: user\nfacts: [f]\n\
               tasks: [{task: t, acceptanceCriteria: a}]\nevaluator: {model: openai/my-model}\nscorer: {model: scripted}\n";
    let (mut assertions, mut prices, mut workflows) = (0, 0, 0);
    // The workflow of docs/nightly.md is carried out elsewhere.
    for (path, text) in pages().into_iter().filter(|(path, _)| path != "docs/nightly.md") {
        for part in blocks(&text, "yml") {
            let mut command = eval_job(folder.path());
            command.env("OPENAI_API_KEY", "sk-test");
            if part.starts_with("- ") {
                std::fs::write(folder.path().join("job.yml"), format!("{job}assertions:\n{part}")).unwrap();
                command.args(["validate", "job.yml"]);
                assertions += 1;
            } else if part.starts_with("models:") {
                std::fs::write(folder.path().join("job.yml"), job).unwrap();
                std::fs::write(folder.path().join("prices.yml"), &part).unwrap();
                command.args(["validate", "job.yml", "--cost-limit", "1", "--prices", "prices.yml"]);
                prices += 1;
            } else {
                let typed = part.lines().find_map(|line| line.trim().strip_prefix("- run: eval-job ")).unwrap();
                let typed =
                    typed.replace("eval/agent.yml", "data/eval/agent.yml").replace("\"$GITHUB_STEP_SUMMARY\"", "step");
                command.env("GITHUB_STEP_SUMMARY", "step").args(typed.split(' '));
                workflows += 1;
            }
            let output = command.output().unwrap();
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{path}: {part}\n{told}");
        }
    }
    assert!(assertions >= 2 && prices == 1 && workflows == 1, "{assertions} {prices} {workflows}");
    for file in ["result.html", "junit.xml", "step"] {
        assert!(std::fs::metadata(folder.path().join(file)).is_ok_and(|it| it.len() > 100), "{file}");
    }
}
