//! Agents that are started: whatever they do, the run goes on, and it is told what they did.

use std::net::TcpListener;
use std::time::Instant;

use eval_job::evidence::Ending;
use eval_job::score::Outcome;

use super::{broken, diary, job, nothing_is_left, run};
use crate::program::eval_job;

#[test]
fn each_conversation_has_a_process_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let (output, record) = run(folder.path(), &job("good", "", ""), &[], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(record.provenance.isolation, "process");
    nothing_is_left(folder.path(), 2);
    let sessions: Vec<&str> =
        record.trials.iter().map(|trial| trial.evidence.as_ref().unwrap().session_id.as_str()).collect();
    assert_ne!(sessions[0], sessions[1]);
    for trial in &record.trials {
        assert_eq!(trial.outcome, Some(Outcome::Graded));
        let printed = &trial.agent_output.as_ref().unwrap().beginning;
        assert!(printed.starts_with("listening on "), "{printed}");
    }
}

#[test]
fn a_shared_process_serves_the_whole_run() {
    for more in ["isolation: shared", "isolation: user"] {
        let folder = tempfile::tempdir().unwrap();
        let (_, record) = run(folder.path(), &job("good", "", more), &[], &[]);
        let outcomes: Vec<_> = record.trials.iter().map(|trial| trial.outcome.clone()).collect();
        assert!(outcomes.iter().all(|outcome| *outcome == Some(Outcome::Graded)), "{more}: {outcomes:?}");
        nothing_is_left(folder.path(), 1);
    }
}

#[test]
fn each_way_of_being_ready_is_waited_for() {
    for ready in ["http: /health", "log: '^listening on [0-9]+$'", "port: auto", "within: 20"] {
        let folder = tempfile::tempdir().unwrap();
        let start = format!("    ready: {{{ready}}}");
        let (_, record) = run(folder.path(), &job("good", &start, ""), &["--condition", "with-facts"], &[]);
        assert_eq!(record.trials[0].outcome, Some(Outcome::Graded), "{ready}");
    }
}

#[test]
fn an_agent_that_never_gets_ready_breaks_the_trial_and_is_ended() {
    for (ready, waited) in [
        ("within: 0.3", "nothing listened at 127.0.0.1:"),
        ("http: /health, within: 0.3", "/health never answered with a status from 200 to 299"),
        ("log: up and running, within: 0.3", "it printed no line with /up and running/"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let start = format!("    ready: {{{ready}}}");
        let (output, record) = run(folder.path(), &job("never", &start, ""), &["--condition", "with-facts"], &[]);
        assert_eq!(output.status.code(), Some(102));
        let error = broken(&record.trials[0]);
        assert!(
            error.contains("not ready within 0.3 s (target.start.ready.within)") && error.contains(waited),
            "{error}"
        );
        assert!(record.trials[0].evidence.is_none());
    }
}

#[test]
fn an_agent_that_dies_at_start_is_told_with_its_last_words() {
    let folder = tempfile::tempdir().unwrap();
    let since = Instant::now();
    let (output, record) = run(folder.path(), &job("dies", "    ready: {within: 60}", ""), &[], &[]);
    assert!(since.elapsed().as_secs() < 30, "its end was not noticed");
    let error = broken(&record.trials[0]);
    assert!(error.contains("the agent's process ended (exit status 1) before it was ready"), "{error}");
    // Of two streams the order is not known.
    assert!(error.contains("reading the settings\n") || error.contains("\nreading the settings"), "{error}");
    assert!(error.contains("Traceback: no such model"), "{error}");
    let printed = record.trials[0].agent_output.as_ref().unwrap();
    assert!(printed.beginning.contains("gpt-0"), "{printed:?}");
    // Line by line, as it was printed, and it steers no terminal.
    assert!(String::from_utf8_lossy(&output.stdout).contains("\n  | Traceback: no such model "));
    let shown = eval_job(folder.path()).args(["show", "-v"]).output().unwrap().stdout;
    for page in [output.stdout, shown] {
        let page = String::from_utf8(page).unwrap();
        assert!(page.contains("no such model") && !page.contains(['\u{1b}', '\u{7}']), "{page}");
    }
}

#[test]
fn an_agent_that_dies_in_mid_conversation_is_graded_on_what_there_is() {
    for (more, processes) in [("", 2), ("isolation: shared", 2)] {
        let folder = tempfile::tempdir().unwrap();
        let (output, record) = run(folder.path(), &job("dies-in-turn-2", "", more), &[], &[]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
        for trial in &record.trials {
            let error = "the agent's process ended (exit status 1) in turn 2".to_owned();
            let evidence = trial.evidence.as_ref().unwrap();
            assert_eq!(trial.outcome, Some(Outcome::AgentFailed { error: error.clone() }));
            assert_eq!(evidence.ending, Ending::AgentFailed { error: error.clone() });
            assert_eq!(evidence.transcript.turns.len(), 2);
            assert_eq!(evidence.transcript.turns[1].failures.last().unwrap().error, error);
            assert!(trial.agent_output.as_ref().unwrap().beginning.contains("out of memory\n"));
        }
        // One agent for the run was started again.
        nothing_is_left(folder.path(), processes);
    }
}

#[test]
fn an_agent_that_dies_when_it_is_asked_for_a_session_is_told_so() {
    for (more, while_what) in [
        ("", "the agent's process ended (exit status 7) when it was asked for a session"),
        ("seeds: [{text: a}]", "the agent's process ended (exit status 7) while it was given its seeds"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (output, record) = run(folder.path(), &job("dies-when-asked", "", more), &[], &[]);
        assert_eq!(output.status.code(), Some(102));
        for trial in &record.trials {
            assert_eq!(broken(trial), while_what);
        }
        let live = eval_job(folder.path()).args(["validate", "--live", "job.yml"]).output().unwrap();
        let words = String::from_utf8(live.stdout).unwrap();
        assert_eq!(live.status.code(), Some(102));
        assert!(words.contains("broken · the agent's process ended (exit status 7) when it was asked"), "{words}");
        nothing_is_left(folder.path(), 3);
    }
}

#[test]
fn a_look_without_a_word_leaves_no_process_behind() {
    for (behaviour, more, processes, status) in [
        ("good", "", 2, 0),
        ("good", "isolation: shared", 1, 0),
        ("stubborn", "", 4, 0),
        ("dies", "", 1, 102),
        ("never", "", 1, 102),
        ("good", "setups: [{cypher: 'CREATE (:A), (:B)'}]\ngraph: {watch: {maxNodes: 1}}", 2, 0),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let start = "    stop: {within: 0.3}\n    ready: {within: 3}";
        std::fs::write(folder.path().join("job.yml"), job(behaviour, start, more)).unwrap();
        let live = eval_job(folder.path()).args(["validate", "--live", "job.yml"]).output().unwrap();
        let words = String::from_utf8(live.stdout).unwrap();
        assert_eq!(live.status.code(), Some(status), "{behaviour} {more}: {words}");
        assert_eq!(words.contains("live · the agent opened a session"), status == 0, "{words}");
        assert_eq!(words.contains("not watched · the graph could not be watched"), more.contains("watch"), "{words}");
        assert!(!diary(folder.path()).iter().any(|line| line.starts_with("message")), "without a word");
        assert!(!folder.path().join("runs").exists(), "nothing is kept");
        nothing_is_left(folder.path(), processes);
    }
}

#[test]
fn a_hundred_megabytes_neither_block_nor_grow() {
    let folder = tempfile::tempdir().unwrap();
    let (_, record) = run(folder.path(), &job("loud", "", ""), &["--condition", "with-facts"], &[]);
    let trial = &record.trials[0];
    assert_eq!(trial.outcome, Some(Outcome::Graded));
    let printed = trial.agent_output.as_ref().unwrap();
    // A character that a cut goes through is left out.
    let kept = printed.beginning.len() + printed.end.len();
    assert!(((32 << 10) - 6..=32 << 10).contains(&kept), "{kept}");
    assert!(printed.dropped_bytes > 99 << 20, "{}", printed.dropped_bytes);
    assert!(printed.end.contains("\nlistening on "));
    let shown = eval_job(folder.path()).args(["show", "-v"]).output().unwrap().stdout;
    assert!(shown.len() < 64 << 10);
}

#[test]
fn an_agent_whose_port_was_taken_meanwhile_is_given_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let (_, record) = run(folder.path(), &job("taken-once", "", ""), &["--condition", "with-facts"], &[]);
    assert_eq!(record.trials[0].outcome, Some(Outcome::Graded));
    nothing_is_left(folder.path(), 2);

    let folder = tempfile::tempdir().unwrap();
    let (_, record) = run(folder.path(), &job("taken", "", ""), &["--condition", "with-facts"], &[]);
    assert!(broken(&record.trials[0]).contains("address already in use"));
    nothing_is_left(folder.path(), 3);
}

#[test]
fn a_fixed_port_that_is_taken_is_told_and_nobody_there_is_taken_for_the_agent() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let folder = tempfile::tempdir().unwrap();
    let start = format!("    ready: {{port: {port}}}");
    let (_, record) = run(folder.path(), &job("good", &start, ""), &[], &[]);
    let error = broken(&record.trials[0]);
    assert!(error.contains(&format!("something listens at 127.0.0.1:{port} already")), "{error}");
    assert_eq!(diary(folder.path()), Vec::<String>::new());

    let more = format!("graph: {{embedded: {{bolt: {port}}}}}");
    let (_, record) = run(folder.path(), &job("good", "", &more), &[], &[]);
    let error = broken(&record.trials[1]);
    assert!(
        error.starts_with("the graph: The Bolt server could not listen") && error.contains("another port"),
        "{error}"
    );

    // Free again, all trials use them one after the other.
    drop(taken);
    let (_, record) = run(folder.path(), &job("good", &start, ""), &[], &[]);
    assert!(record.trials.iter().all(|trial| trial.outcome == Some(Outcome::Graded)));
    let (_, record) = run(folder.path(), &job("good", "", &more), &[], &[]);
    assert!(record.trials.iter().all(|trial| trial.outcome == Some(Outcome::Graded)));
}

#[test]
fn what_can_not_be_started_is_told_with_what_to_try() {
    let of = |command: &str, more: &str| {
        job("good", "", "").replace("command: python3", &format!("command: {command}\n{more}"))
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("script"), "#!/bin/sh\n").unwrap();
    for (command, more, words) in [
        ("no-such-program", "", "there is no program `no-such-program`"),
        ("./nowhere", "", "there is no program `./nowhere`"),
        ("./script", "", "`./script` may not be executed; chmod +x"),
        ("python3", "    cwd: nowhere", "there is no such folder; target.start.cwd"),
    ] {
        let (output, record) = run(folder.path(), &of(command, more), &[], &[]);
        assert_eq!(output.status.code(), Some(102));
        let error = broken(&record.trials[0]);
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn no_secret_is_kept_of_what_an_agent_prints() {
    let folder = tempfile::tempdir().unwrap();
    let start = "    env: {MY_API_TOKEN: tok-s3cret, MODE: plain, PORT: '1', NEO_PASSWORD: mine}\n    inheritEnv: [OPENAI_API_KEY]";
    let env = [("OPENAI_API_KEY", "sk-s3cret")];
    let (_, record) = run(folder.path(), &job("tells", start, ""), &["--condition", "with-facts"], &env);
    let printed = &record.trials[0].agent_output.as_ref().unwrap().beginning;
    assert!(printed.starts_with("*** *** *** plain\n"), "{printed}");
    let journal = crate::program::kept_run(folder.path()).unwrap();
    let journal = std::fs::read_to_string(journal.join("journal.ndjson")).unwrap();
    assert!(!journal.contains("s3cret"), "{journal}");
}

#[test]
fn an_agent_that_ignores_the_signal_is_killed_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let start = "    stop: {within: 0.3}";
    let (_, record) = run(folder.path(), &job("stubborn", start, ""), &["--condition", "with-facts"], &[]);
    assert_eq!(record.trials[0].outcome, Some(Outcome::Graded));
    assert!(diary(folder.path()).contains(&"asked 15".to_owned()), "it was asked first");
    nothing_is_left(folder.path(), 2);
}
