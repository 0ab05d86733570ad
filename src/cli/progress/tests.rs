use std::collections::BTreeMap;

use super::status::ProgressStatus;
use super::*;
use crate::clock::Clock;
use crate::evidence::{Condition, FailedAttempt, TrialId, Usage};
use crate::money::{LongContext, Price};
use crate::record::{Asker, FORMAT_VERSION, ModelCall, Provenance};

fn begun(trials: u32) -> Entry {
    let price = Price { input: 1000.0, cached_input: None, output: 0.0, long_context: None::<LongContext> };
    let trials = (1..=trials).map(|number| TrialId {
        number,
        case: format!("case {number}"),
        model: "m".to_owned(),
        condition: Condition::WithFacts,
        repeat: 1,
    });
    Entry::RunStarted {
        version: FORMAT_VERSION,
        id: "id".to_owned(),
        at: "2026-01-01T00:00:00Z".parse().unwrap(),
        provenance: Box::new(Provenance {
            prices: [("judge".to_owned(), price)].into_iter().collect(),
            ..Provenance::default()
        }),
        job: None,
        templates: BTreeMap::new(),
        trials: trials.collect(),
    }
}

fn started(trial: u32) -> Entry {
    Entry::TrialStarted { trial, at: "2026-01-01T00:00:00Z".parse().unwrap(), case: None }
}

fn user_message(trial: u32) -> Entry {
    Entry::UserSaid { trial, turn: 1, text: "Hello".to_owned(), farewell: None, used_ms: None }
}

fn asked(trial: u32) -> Entry {
    let usage = Usage::from_counts(Some(1200), Some(34));
    let at = "2026-01-01T00:00:00Z".parse().unwrap();
    Entry::ModelAsked {
        trial,
        number: None,
        call: ModelCall { at, asker: Asker::Judge, model: "judge".to_owned(), usage },
        set_aside: None,
    }
}

fn finished(trial: u32, outcome: Outcome) -> Entry {
    Entry::TrialFinished { trial, at: "2026-01-01T00:00:00Z".parse().unwrap(), outcome, scorecard: None }
}

fn broken() -> Outcome {
    Outcome::Broken { error: "the graph is down".to_owned() }
}

fn progress(level: Level) -> Progress {
    Progress {
        level,
        ink: Ink::None,
        persona: String::new(),
        trials: PlannedTrials::default(),
        names: TrialNames::default(),
        label_width: 0,
        turns: BTreeMap::new(),
        status: ProgressStatus::default(),
        has_bar: level == Level::Failures,
        occurrences: HashMap::new(),
        waits: WaitLines::default(),
        since: Clock::system().start(),
        last_line_ms: 0.0,
        silence_ms: SILENCE_MS,
    }
}

#[test]
fn the_bar_says_how_far_the_run_is_what_it_took_and_what_it_waits_for() {
    let mut status = ProgressStatus::default();
    let bar =
        |status: &ProgressStatus, now_ms, width| status.bar(now_ms, width, Ink::None, |trial| format!("case {trial}"));
    assert_eq!(bar(&status, 2000.0, 80), ["2 s", "looking whether agent, graph and models are there"]);
    status.take(&begun(4), 2000.0);
    for (entry, now_ms) in [
        (started(1), 2000.0),
        (started(2), 2000.0),
        (user_message(1), 3000.0),
        (asked(2), 4000.0),
        (finished(2, Outcome::Graded), 9000.0),
        (started(3), 9000.0),
        (started(4), 9500.0),
    ] {
        status.take(&entry, now_ms);
    }
    status.has_failed();
    assert_eq!(
        bar(&status, 10_000.0, 100),
        [
            "━━━━━━━───────────────────────  1/4 · 1 failed · 10 s · about 30 s left · 1,234 tokens · $1.20",
            "waiting for agent 1, set-up 2 · 7 s: agent, case 1"
        ]
    );
    for width in 30..120 {
        for line in bar(&status, 10_000.0, width) {
            assert!(line.chars().count() < width, "{width}: {line}");
        }
    }
    for trial in [1, 3, 4] {
        status.take(&finished(trial, Outcome::Graded), 20_000.0);
    }
    assert_eq!(
        status.line(20_000.0, |_| String::new()),
        "4 of 4 done · 1 failed · 20 s · 1,234 tokens · $1.20 · ending what was started"
    );
}

#[test]
fn on_a_terminal_only_what_fails_has_a_line() {
    let mut progress = progress(Level::Failures);
    for entry in [begun(2), started(1), user_message(1), finished(1, Outcome::Graded)] {
        assert_eq!(progress.lines(&entry).filter(|_| entry != finished(1, Outcome::Graded)), None);
    }
    assert_eq!(progress.lines(&finished(2, broken())).as_deref(), Some("case 2 with facts  broken: the graph is down"));
    assert_eq!(progress.bar(80).len(), 2);
    progress.mute();
    assert!(progress.bar(80).is_empty() && progress.lines(&finished(2, broken())).is_none());
}

#[test]
fn the_turns_before_a_resume_are_counted() {
    let mut progress = progress(Level::Phases);
    progress.lines(&begun(1));
    for number in [4, 5] {
        let turn = Turn::answered(number, "Hello", "Hi");
        progress.lines(&Entry::TurnFinished { trial: 1, turn, resume_point: None });
    }
    let ended = Entry::ConversationEnded {
        trial: 1,
        ending: Ending::SignedOff { reason: None },
        object_context: None,
        queries: Vec::new(),
        changes: None,
        persona_usage: Usage::default(),
        persona_notes: Vec::new(),
        fact_uses: None,
    };
    assert_eq!(progress.lines(&ended).as_deref(), Some("with facts  5 turns, signed off; judging"));
}

#[test]
fn what_fails_again_and_again_is_reported_once_and_counted() {
    let mut progress = progress(Level::Failures);
    progress.lines(&begun(200));
    let lines: Vec<String> = (1..=120).filter_map(|trial| progress.lines(&finished(trial, broken()))).collect();
    let shown: Vec<&str> =
        lines.iter().filter_map(|line| line.split_once("broken: ")).map(|(_, error)| error).collect();
    let again = |times| format!("the same error again ({times} times by now)");
    assert_eq!(shown, ["the graph is down", "the graph is down", &again(10), &again(100)]);

    let retry = WaitReason::Retry { service: "the judge's model", error: "answered 500" };
    let words: Vec<String> = (0..10).filter_map(|_| progress.waiting(retry, Duration::ZERO)).collect();
    let first = "the judge's model: answered 500; trying again";
    assert_eq!(words, [first.to_owned(), format!("{first} (10 times by now)")]);
    let agents = WaitReason::Retry { service: WaitReason::AGENT, error: "answered 500" };
    assert_eq!(progress.waiting(agents, Duration::ZERO), None, "the reply reports it");
}

#[test]
fn waits_for_a_limit_have_one_line_in_a_log_and_are_counted_down_by_the_bar() {
    let wait = |progress: &mut Progress, reason, seconds| progress.waiting(reason, Duration::from_secs(seconds));
    let mut log = progress(Level::Phases);
    let words: Vec<String> = (1..=20).filter_map(|seconds| wait(&mut log, WaitReason::Agent, seconds)).collect();
    let agents = "waiting for the agent, which refuses requests (429)";
    assert_eq!(words, [format!("{agents}, 1 s"), format!("{agents}, 10 s (10 times by now)")]);
    assert_eq!(wait(&mut log, WaitReason::Model, 3).as_deref(), Some("waiting for the rate limit, 3 s"));

    let mut terminal = progress(Level::Failures);
    terminal.lines(&begun(1));
    terminal.lines(&started(1));
    terminal.lines(&user_message(1));
    assert_eq!(wait(&mut terminal, WaitReason::Agent, 30), None);
    assert_eq!(wait(&mut terminal, WaitReason::Model, 2), None, "the longest one is shown");
    assert_eq!(terminal.bar(100)[1], format!("{agents}, 30 s · waiting for agent 1"));
    let mut over = progress(Level::Failures);
    over.lines(&begun(1));
    over.lines(&started(1));
    assert_eq!(wait(&mut over, WaitReason::Agent, 0), None);
    assert_eq!(over.bar(100)[1], "waiting for set-up 1");
}

#[test]
fn a_log_that_is_silent_for_long_gets_signs_of_life_further_and_further_apart() {
    let mut progress = progress(Level::Phases);
    progress.lines(&begun(1));
    progress.lines(&started(1));
    assert_eq!(progress.heartbeat(), None);
    progress.last_line_ms -= SILENCE_MS;
    let words = progress.heartbeat().unwrap();
    assert!(words.starts_with("0 of 1 done · 0 s · waiting for set-up 1"), "{words}");
    progress.last_line_ms -= SILENCE_MS;
    assert_eq!(progress.heartbeat(), None, "twice as long");
    progress.last_line_ms -= SILENCE_MS;
    assert!(progress.heartbeat().is_some());
    progress.level = Level::Nothing;
    progress.last_line_ms -= 10.0 * LONGEST_SILENCE_MS;
    assert_eq!(progress.heartbeat(), None);
}

#[test]
fn a_log_has_a_line_a_phase() {
    let mut progress = progress(Level::Phases);
    let failed =
        Turn { failures: vec![FailedAttempt::untimed("HTTP 500".to_owned(), true)], ..Turn::begun(1, "a".to_owned()) };
    let words: Vec<String> = [
        begun(1),
        started(1),
        user_message(1),
        Entry::TurnFinished { trial: 1, turn: failed, resume_point: None },
        finished(1, Outcome::AgentFailed { error: "HTTP 500".to_owned() }),
    ]
    .iter()
    .filter_map(|entry| progress.lines(entry))
    .collect();
    assert_eq!(
        words,
        ["with facts  started", "with facts  try 1 failed: HTTP 500", "with facts  agent failed: HTTP 500"]
    );
}
