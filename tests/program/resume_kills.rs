//! A run that is killed again and again, and resumed each time, comes to what one comes to that nobody killed.

use std::collections::BTreeSet;
use std::process::Stdio;

use super::resume::{Agent, Desk, case_of, essence, finished, job};

const CASES: usize = 12;

/// The report of the run without the times in it.
fn report(desk: &Desk) -> String {
    let (_, printed) = desk.typed("show");
    let is_time = |word: &str| word.trim_matches(|c: char| c.is_ascii_digit() || ".,()".contains(c)).is_empty();
    let mut words: Vec<&str> = printed.split_whitespace().collect();
    for at in 1..words.len() {
        if ["s", "ms", "s,", "ms,", "s)", "ms)"].contains(&words[at]) && is_time(words[at - 1]) {
            words[at - 1] = "TIME";
            words[at] = words[at].trim_start_matches('m');
        }
    }
    words.join(" ").replace(&desk.id(), "ID").replace(&desk.run_folder().display().to_string(), "FOLDER")
}

/// The job, with conversations side by side.
fn desk(agent: &Agent) -> Desk {
    let desk = Desk::new(agent, CASES);
    desk.write("job.yml", &format!("{}isolation: user\n", job(agent, CASES)));
    desk
}

/// How long the journal of the only run is by now.
fn journal_length(desk: &Desk) -> usize {
    let journal = super::kept_run(desk.0.path()).and_then(|run| std::fs::metadata(run.join("journal.ndjson")).ok());
    journal.map_or(0, |journal| journal.len() as usize)
}

/// What the last line of a journal is about.
fn last_kind(journal: &[u8]) -> Option<String> {
    let last = journal.strip_suffix(b"\n")?.rsplit(|byte| *byte == b'\n').next()?;
    let entry: serde_json::Value = serde_json::from_slice(last).ok()?;
    entry["kind"].as_str().map(str::to_owned)
}

/// Kills the run at moments that are drawn, and resumes it until it ends; how often it was killed.
fn killed_and_resumed(agent: &Agent, desk: &Desk, seed: u64) -> usize {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut line = "run job.yml -j 3 --no-progress --rng-seed 11";
    for kills in 0.. {
        // A run that was killed within its first line was deleted.
        let is_begun = desk.0.path().join("runs").is_dir();
        let kept = if is_begun { desk.journal() } else { Vec::new() };
        let asked = agent.asked_since(0).len();
        let over = finished(&kept);
        let strike = kept.len() + rng.usize(1..20_000);
        let mut child = desk.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let ended = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if journal_length(desk) >= strike {
                child.kill().unwrap();
                // It can have ended before that.
                break Some(child.wait().unwrap()).filter(|status| status.code().is_some());
            }
            std::thread::yield_now();
        };
        let again: BTreeSet<String> = agent.asked_since(asked).iter().map(|message| case_of(message)).collect();
        assert!(again.is_disjoint(&over), "seed {seed}, after {kills} kills: {again:?} were over: {over:?}");
        let whole = kept.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        assert!(desk.journal().starts_with(&kept[..whole]), "seed {seed}, after {kills} kills");
        if let Some(status) = ended {
            // It had ended in the moment of the last kill: there is nothing to resume.
            let had_ended = last_kind(&kept) == Some("runFinished".to_owned());
            assert_eq!(status.code(), Some(if had_ended { 2 } else { 0 }), "seed {seed}, after {kills} kills");
            return kills;
        }
        // Nothing can be resumed that had not begun.
        if desk.journal().contains(&b'\n') {
            line = "run --resume job.yml -j 3 --no-progress";
        } else {
            line = "run job.yml -j 3 --no-progress --rng-seed 11";
            std::fs::remove_dir_all(desk.0.path().join("runs")).unwrap();
        }
    }
    unreachable!("it ends");
}

#[test]
fn a_run_that_is_killed_again_and_again_ends_like_one_that_is_not() {
    let agent = Agent::start();
    let whole = desk(&agent);
    assert_eq!(whole.typed("run job.yml -j 3 --no-progress --rng-seed 11").0, 0);
    let (expected, page) = (essence(&whole.record()), report(&whole));
    let mut kills = 0;
    for seed in 1..=4 {
        let agent = Agent::start();
        let desk = desk(&agent);
        let killed = killed_and_resumed(&agent, &desk, seed);
        kills += killed;
        // Three conversations are held at once: each kill costs their requests in flight, and nothing else.
        let asked = agent.asked_since(0).len();
        assert!(asked <= CASES * 3 + killed * 3, "seed {seed}: {asked} messages after {killed} kills");
        assert_eq!(essence(&desk.record()), expected, "seed {seed}");
        let own = report(&desk).replace(&agent.server.address, "ADDRESS");
        assert_eq!(own, page.replace(&whole_address(&page), "ADDRESS"), "seed {seed}");
        assert!(agent.asked_since(0).len() >= CASES * 3);
    }
    assert!(kills >= 8, "{kills} kills");
}

/// The agent's address in a report.
fn whole_address(page: &str) -> String {
    let at = page.find("http://127.0.0.1:").unwrap();
    page[at..].split_whitespace().next().unwrap().to_owned()
}
