//! A run that a limit or a full disk has stopped goes on: what was spent stays spent.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use serde_json::Value;

use super::resume::{Agent, Desk, finished};
use super::{eval_job, pasted_after, words};
use crate::servers::http::{Reply, Server};
use crate::servers::{agent, model};

/// The status of a command line in a folder, with models at an address, and what it printed.
fn typed(folder: &Path, base: &str, line: &str) -> (i32, String) {
    let mut command = eval_job(folder);
    command.env("OPENAI_BASE_URL", base).env("OPENAI_API_KEY", "sk-test");
    let output = command.args(line.split_whitespace()).output().unwrap();
    (output.status.code().unwrap(), words(&output))
}

#[test]
fn what_was_spent_before_counts_for_the_limits_and_is_shown() {
    let (_agent, address) = agent::start("good");
    let (model, base) = model::start("good");
    let folder = tempfile::tempdir().unwrap();
    let job = format!(
        "target: {{user: u, chatbot: c, embabel: {{baseUrl: {address}}}}}\nfacts: [\"F\"]\n\
         evaluator: {{model: {{name: openai/gpt-4.1-mini, maxTokens: 100}}}}\n\
         scorer: {{model: {{name: openai/gpt-4.1-mini, maxTokens: 100}}}}\n\
         tasks:\n  - {{task: Ask where the locker is, acceptanceCriteria: It is named}}\nrepeat: 4\n"
    );
    fs::write(folder.path().join("job.yml"), job).unwrap();
    let typed = |line: &str| typed(folder.path(), &base, line);
    let calls = || {
        let asked = |request: &&crate::servers::http::Request| request.body.contains("\"messages\"");
        model.requests().iter().filter(asked).count() as u64
    };
    let (status, printed) = typed("run job.yml --token-limit 5600 --no-progress");
    assert_eq!(status, 102, "{printed}");
    assert!(printed.contains("resume it, with a higher limit: eval-job run --token-limit HIGHER "), "{printed}");
    let before = calls();
    assert!(before > 8, "{before} calls: {printed}");
    let (status, printed) = typed("run --resume job.yml --token-limit 5600 --no-progress");
    assert_eq!(status, 102, "{printed}");
    assert!(printed.contains(&format!("{} are spent", calls() * 28)), "{} calls: {printed}", calls());
    assert!(calls() - before < 4, "no more than one conversation began: {printed}");
    let (status, printed) = typed("run --resume job.yml --no-progress -o run.json -o run.tokens.json");
    assert_eq!(status, 0, "{printed}");
    let record: Value = serde_json::from_slice(&fs::read(folder.path().join("run.json")).unwrap()).unwrap();
    assert_eq!(record["provenance"]["tokenLimit"], Value::Null);
    // Each call takes 21 tokens and 7 more.
    let row = printed.lines().find(|line| line.trim_start().starts_with("persona and judge")).unwrap();
    let numbers: Vec<&str> = row.split_whitespace().skip(3).collect();
    let [all, input, output] = [calls(), calls() * 21, calls() * 7].map(|number| number.to_string());
    assert_eq!(
        numbers[..3].iter().map(|it| it.replace(',', "")).collect::<Vec<_>>(),
        [all, input, output],
        "{printed}"
    );
}

#[test]
fn at_a_limit_that_leaves_nothing_for_the_next_step_a_resumption_sends_nothing_and_says_which_limit() {
    let (agent, address) = agent::start("good");
    let (agent, (model, base)) = (agent.unwrap(), model::start("good"));
    let folder = tempfile::tempdir().unwrap();
    let job = format!(
        "target: {{user: u, chatbot: c, embabel: {{baseUrl: {address}}}}}\nfacts: []\n\
         evaluator: {{model: {{name: openai/own, maxTokens: 100}}}}\nscorer: {{model: {{name: openai/own, maxTokens: 100}}}}\n\
         tasks:\n  - {{task: Ask where the locker is, acceptanceCriteria: It is named}}\nrepeat: 2\n"
    );
    fs::write(folder.path().join("job.yml"), job).unwrap();
    let typed = |line: &str| typed(folder.path(), &base, line);
    let sent = || {
        let messages = agent.requests().iter().filter(|request| request.path.ends_with("/messages")).count();
        (messages, model.requests().iter().filter(|request| request.body.contains("\"messages\"")).count())
    };
    let (status, printed) = typed("run job.yml --token-limit 300 --no-progress");
    assert_eq!((status, sent().1), (102, 0), "{printed}");
    let before = sent();
    assert!(before.0 > 0, "the opening was sent: {printed}");
    for limit in [300, 300, 320] {
        let (status, printed) = typed(&format!("run --resume job.yml --token-limit {limit} --no-progress"));
        assert_eq!((status, sent()), (102, before), "{limit}: {printed}");
        let told = format!("limits.tokens ({limit}) is less than one request can take");
        assert!(printed.contains(&told), "{told}: {printed}");
    }
    let (status, printed) = typed("run --resume job.yml --token-limit 900000 --no-progress");
    assert_eq!(status, 0, "{printed}");
}

#[test]
fn a_resumption_asks_as_soon_as_the_request_fits_that_did_not_and_not_before() {
    let (_agent, address) = agent::start("good");
    let (model, base) = model::start("good");
    let folder = tempfile::tempdir().unwrap();
    let own = "{name: openai/own, maxTokens: 100}";
    let job = format!(
        "target: {{user: u, chatbot: c, embabel: {{baseUrl: {address}}}}}\nfacts: []\n\
         evaluator: {{model: {own}}}\nscorer: {{model: {own}}}\n\
         tasks:\n  - {{task: Ask where the locker is, acceptanceCriteria: It is named}}\n"
    );
    fs::write(folder.path().join("job.yml"), job).unwrap();
    fs::write(folder.path().join("prices.yml"), "models: {openai/own: {input: 1, output: 1}}\n").unwrap();
    let asked = || model.requests().iter().filter(|request| request.body.contains("\"messages\"")).count();
    for (flag, unit, first) in [("--token-limit", "tokens", "300"), ("--cost-limit", "dollars", "0.0001")] {
        let typed = |line: &str, limit: &str| {
            let (status, printed) = typed(
                folder.path(),
                &base,
                &format!("{line} {flag} {limit} --prices prices.yml --no-progress --rng-seed 5"),
            );
            assert_eq!(status, 102, "{limit}: {printed}");
        };
        let before = asked();
        typed("run job.yml", first);
        let kept = || {
            let runs = fs::read_dir(folder.path().join("runs")).unwrap().map(|it| it.unwrap().path());
            let newest = runs.filter(|it| it.join("journal.ndjson").is_file()).max().unwrap();
            let journal = fs::read_to_string(newest.join("journal.ndjson")).unwrap();
            let entries = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let wanted = entries.filter(|it| it["kind"] == "limitReached").map(|it| it["wanted"][unit].clone());
            wanted.collect::<Vec<_>>()
        };
        let wanted = kept()[0].as_f64().unwrap();
        let smallest = if unit == "tokens" { 1.0 } else { 1e-6 };
        typed("run --resume job.yml", &format!("{:.6}", wanted - smallest).replace(".000000", ""));
        assert_eq!((asked(), kept()[1].as_f64()), (before, Some(wanted)), "{unit}");
        typed("run --resume job.yml", &format!("{wanted:.6}").replace(".000000", ""));
        assert_eq!(asked(), before + 1, "{unit}: {wanted} fits");
    }
}

#[test]
fn a_request_that_was_on_its_way_at_a_kill_counts_as_spent() {
    let agent = Agent::start();
    let desk = Desk::new(&agent, 1);
    let (sender, arrived) = mpsc::channel();
    let (sender, is_silent) = (Mutex::new(sender), Arc::new(AtomicBool::new(true)));
    let silent = is_silent.clone();
    let judge = Server::start(move |request| {
        if silent.load(Ordering::SeqCst) && request.body.contains("\"messages\"") {
            let _ = sender.lock().unwrap().send(request.body.len() as u64);
            return Reply::Silence;
        }
        model::answer("good", request)
    });
    let scorer = format!("{{name: openai/gpt-4.1-mini, maxTokens: 100, baseUrl: \"{}/v1\"}}", judge.address);
    let job =
        super::resume::job(&agent, 1).replace("scorer: {model: scripted}", &format!("scorer: {{model: {scorer}}}"));
    desk.write("job.yml", &job);
    let command = |line: &str| {
        let mut command = desk.command(line);
        command.env("OPENAI_API_KEY", "sk-test");
        command
    };
    let typed = |line: &str| {
        let output = command(line).output().unwrap();
        (output.status.code().unwrap(), words(&output))
    };
    let mut most = 0;
    for (kills, line) in ["run job.yml --token-limit 90000", "run --resume job.yml --token-limit 90000"]
        .iter()
        .zip(1..)
        .map(|(line, kills)| (kills, line))
    {
        let mut child = command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        most += arrived.recv().unwrap() + 100;
        child.kill().unwrap();
        child.wait().unwrap();
        let calls = desk.record()["trials"][0]["calls"].clone();
        assert_eq!(calls.as_array().map(Vec::len), Some(kills), "{calls}");
        assert_eq!(
            (&calls[0]["asker"], &calls[0]["usage"]["unreportedCalls"]),
            (&"judge".into(), &1.into()),
            "{calls}"
        );
    }
    is_silent.store(false, Ordering::SeqCst);
    // Nobody knew a price when they were sent: each token costs the dearer one of today.
    desk.write("prices.yml", "models: {openai/gpt-4.1-mini: {input: 1, output: 1000}}\n");
    let asked = judge.requests().len();
    let (status, printed) = typed("run --resume job.yml --no-progress --cost-limit 0.5 --prices prices.yml");
    assert_eq!((status, judge.requests().len()), (102, asked), "{printed}");
    let told = format!("limits.cost ($0.50) is used up: ${:.2} is spent", most as f64 / 1000.0);
    assert!(printed.contains(&told), "{told}: {printed}");
    let limit = most + 50;
    let (status, printed) = typed(&format!("run --resume job.yml --no-progress --token-limit {limit}"));
    assert_eq!(status, 102, "{printed}");
    let told = format!("limits.tokens ({limit}) is not enough for the next step: {most} are spent");
    assert!(printed.contains(&told), "{told}: {printed}");
    let (status, printed) = typed("run --resume job.yml --no-progress --token-limit 90000 -o run.json");
    assert_eq!(status, 0, "{printed}");
    let record: Value = serde_json::from_slice(&fs::read(desk.0.path().join("run.json")).unwrap()).unwrap();
    let unknown =
        record["trials"][0]["calls"].as_array().unwrap().iter().filter(|call| call["usage"]["unreportedCalls"] == 1);
    assert_eq!(unknown.count(), 2, "{}", record["trials"][0]["calls"]);
}

#[test]
fn what_was_spent_without_prices_counts_and_is_shown_by_those_of_the_resumption() {
    let (_agent, address) = agent::start("good");
    let (_model, base) = model::start("good");
    let folder = tempfile::tempdir().unwrap();
    let job = format!(
        "target: {{user: u, chatbot: c, embabel: {{baseUrl: {address}}}}}\nfacts: [\"F\"]\n\
         evaluator: {{model: {{name: openai/own, maxTokens: 100}}}}\nscorer: {{model: {{name: openai/own, maxTokens: 100}}}}\n\
         tasks:\n  - {{task: Ask where the locker is, acceptanceCriteria: It is named}}\nrepeat: 4\n"
    );
    fs::write(folder.path().join("job.yml"), job).unwrap();
    fs::write(folder.path().join("prices.yml"), "models: {openai/own: {input: 1000, output: 1000}}\n").unwrap();
    let typed = |line: &str| typed(folder.path(), &base, line);
    let (status, printed) = typed("run job.yml --token-limit 5600 --no-progress -o before.tokens.json");
    assert_eq!(status, 102, "{printed}");
    let (status, printed) =
        typed("run --resume job.yml --cost-limit 0.1 --prices prices.yml --no-progress -o run.json");
    assert_eq!(status, 102, "{printed}");
    assert!(printed.contains("limits.cost ($0.10) is used up: $0."), "{printed}");
    // A thousand dollars a million: each call takes 28 tokens, which are 2.8 cents.
    let spent = printed.split("is used up: $").nth(1).and_then(|text| text.split(' ').next()).unwrap();
    let row = printed.lines().find(|line| line.trim_start().starts_with("persona and judge")).unwrap();
    assert!(row.contains(&format!("${spent}")), "the table says so, too: {printed}");
    let record: Value = serde_json::from_slice(&fs::read(folder.path().join("run.json")).unwrap()).unwrap();
    assert_eq!(record["provenance"]["prices"]["openai/own"]["input"], 1000.0, "{}", record["provenance"]);
}

/// Holds the job where no file may get longer than so many blocks.
fn with_small_files(desk: &Desk, blocks: u32) -> (Option<i32>, String) {
    let program = env!("CARGO_BIN_EXE_eval-job");
    let line = format!("trap '' XFSZ; ulimit -f {blocks}; exec {program} run job.yml --no-progress -j 1");
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", &line]).current_dir(desk.0.path()).output().unwrap();
    (output.status.code(), words(&output))
}

#[test]
fn after_a_journal_that_could_not_be_written_any_further_it_goes_on() {
    for blocks in [36, 54, 72] {
        let agent = Agent::start();
        let desk = Desk::new(&agent, 12);
        let (status, printed) = with_small_files(&desk, blocks);
        assert_eq!(status, Some(1), "{blocks}: {printed}");
        assert!(printed.contains("nothing goes on that can't be kept; what was kept: eval-job show "), "{printed}");
        let (before, asked) = (desk.journal(), agent.asked_since(0).len());
        assert_ne!(before.last(), Some(&b'\n'), "{blocks}: it was cut off within a line");
        let over = finished(&before);
        let (status, printed) = pasted_after(desk.0.path(), &printed, "try: once it can be written, ");
        assert_eq!(status, Some(0), "{blocks}: {printed}");
        let again = agent.asked_since(asked);
        assert!(again.iter().all(|message| !over.contains(&super::resume::case_of(message))), "{blocks}: {again:?}");
        assert_eq!(desk.record()["verdict"], "passed", "{blocks}");
    }
}

/// Tells of a test that only an administrator can run, also where the output of tests is not shown.
fn told_left_out(test: &str, why: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "left out: {test}: {why}");
}

/// A small disk of its own at this folder, where one may be mounted.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    fn mount(folder: &std::path::Path, kilobytes: u32) -> Option<SmallDisk> {
        fs::create_dir(folder).unwrap();
        let size = format!("size={kilobytes}k");
        let output = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "none"]).arg(folder).output().ok()?;
        output.status.success().then(|| SmallDisk(folder.to_path_buf()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).output();
    }
}

#[test]
fn after_a_full_disk_it_goes_on_once_there_is_room() {
    let agent = Agent::start();
    let desk = Desk::new(&agent, 12);
    let Some(disk) = SmallDisk::mount(&desk.0.path().join("runs"), 48) else {
        // A file that may not grow is tried everywhere, above.
        return told_left_out("after_a_full_disk_it_goes_on_once_there_is_room", "it needs the right to mount a tmpfs");
    };
    let ballast = disk.0.join("ballast");
    fs::write(&ballast, vec![0; 32 << 10]).unwrap();
    let (status, printed) = desk.typed("run job.yml --no-progress -j 1");
    assert_eq!(status, 1, "{printed}");
    assert!(printed.contains("No space left on device"), "{printed}");
    assert!(printed.contains("\n  try: free some space there, then eval-job run "), "{printed}");
    let asked = agent.asked_since(0).len();
    let journal = || {
        let run = fs::read_dir(&disk.0).unwrap().map(|it| it.unwrap().path().join("journal.ndjson"));
        fs::read(run.into_iter().find(|journal| journal.is_file()).unwrap()).unwrap()
    };
    let over = finished(&journal());
    fs::remove_file(&ballast).unwrap();
    let remounted = Command::new("mount").args(["-o", "remount,size=1m"]).arg(&disk.0).status().unwrap();
    assert!(remounted.success());
    let (status, printed) = pasted_after(desk.0.path(), &printed, "free some space there, then ");
    assert_eq!(status, Some(0), "{printed}");
    let again = agent.asked_since(asked);
    assert!(again.iter().all(|message| !over.contains(&super::resume::case_of(message))), "{again:?}");
    assert_eq!(desk.record()["verdict"], "passed");
}
