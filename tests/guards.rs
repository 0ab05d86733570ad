//! What the guards find among turns that are labelled: recall and false alarms of each.

#![expect(clippy::print_stdout, reason = "the test prints the figures of each guard")]

use std::path::PathBuf;

use eval_job::conversation::guard::{GuardInput, KnownTexts, check, faults, is_off_task};
use eval_job::evidence::{Guard, Message, Role};
use serde_json::Value;

use crate::house::root;

/// A turn of a corpus, with what is wrong with it.
#[derive(serde::Deserialize)]
struct Labelled {
    id: String,
    condition: String,
    tasks: Vec<Value>,
    facts: Vec<Value>,
    signoff: String,
    transcript: Vec<Message>,
    turn: Judged,
    labels: Vec<String>,
}

/// The turn that is looked at: the next one, or the one in this place of the transcript.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Judged {
    Next(String),
    At(usize),
}

/// How a guard did on one corpus.
#[derive(Default)]
struct Figures {
    positives: usize,
    negatives: usize,
    missed: Vec<String>,
    false_alarms: Vec<String>,
}

impl Figures {
    fn recall(&self) -> f64 {
        1.0 - self.missed.len() as f64 / self.positives.max(1) as f64
    }

    fn false_alarm_rate(&self) -> f64 {
        self.false_alarms.len() as f64 / self.negatives.max(1) as f64
    }
}

/// A task or a fact is a text, or an object that has it.
fn text(entry: &Value) -> String {
    let of = |key: &str| entry[key].as_str().map(str::to_owned);
    entry.as_str().map(str::to_owned).or_else(|| of("task")).or_else(|| of("fact")).unwrap_or_else(|| entry.to_string())
}

/// Looks at a labelled turn with the guards.
fn looked_at<T>(labelled: &Labelled, look: impl FnOnce(&GuardInput<'_>) -> T) -> T {
    let (tasks, facts): (Vec<String>, Vec<String>) =
        (labelled.tasks.iter().map(text).collect(), labelled.facts.iter().map(text).collect());
    let tasks: Vec<&str> = tasks.iter().map(String::as_str).collect();
    let facts: Vec<&str> = facts.iter().map(String::as_str).collect();
    let (transcript, turn) = match &labelled.turn {
        Judged::Next(turn) => (&labelled.transcript[..], turn),
        Judged::At(place) => (&labelled.transcript[..*place], &labelled.transcript[*place].content),
    };
    look(&GuardInput {
        has_facts: labelled.condition == "with_facts",
        tasks: &tasks,
        facts: &facts,
        signoff: &labelled.signoff,
        transcript,
        turn,
        ..GuardInput::default()
    })
}

fn found(labelled: &Labelled) -> Vec<&'static str> {
    looked_at(labelled, |input| check(input).into_iter().map(|finding| finding.guard.as_str()).collect())
}

/// A line of a corpus. The other speaker may be called "agent", as in the docs, and the labels be written like a job's keys.
fn labelled(line: &str) -> serde_json::Result<Labelled> {
    let mut value: Value = serde_json::from_str(line)?;
    for role in value["transcript"].as_array_mut().into_iter().flatten().map(|message| &mut message["role"]) {
        if *role == "agent" {
            *role = Value::from("assistant");
        }
    }
    let mut labelled: Labelled = serde_json::from_value(value)?;
    for label in &mut labelled.labels {
        let snake =
            |c: char| if c.is_ascii_uppercase() { format!("_{}", c.to_ascii_lowercase()) } else { c.to_string() };
        *label = label.chars().map(snake).collect();
    }
    Ok(labelled)
}

#[test]
fn a_corpus_may_call_the_agent_and_the_guards_as_the_docs_do() {
    let line = r#"{"id": "a", "condition": "with_facts", "tasks": [], "facts": [], "signoff": "Bye",
        "transcript": [{"role": "agent", "content": "Hello"}], "turn": "Hi", "labels": ["inventedFact", "role_swap"]}"#;
    let read = labelled(line).unwrap();
    assert_eq!(read.labels, ["invented_fact", "role_swap"]);
    assert_eq!(read.transcript[0].role, Role::Assistant);
}

/// Prints the figures of a corpus and returns them, in the order of the guards.
fn measure(path: &std::path::Path) -> Vec<(Guard, Figures)> {
    let corpus = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut all: Vec<(Guard, Figures)> = Guard::ALL.into_iter().map(|guard| (guard, Figures::default())).collect();
    let mut lines = 0;
    let read = |line: &str| labelled(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let corpus: Vec<Labelled> = corpus.lines().filter(|line| !line.trim().is_empty()).map(read).collect();
    // Who wrote a corpus before there was a guard labelled nothing for it: there another fault, such as a falsified fact, may be
    // this one too, and only a turn without any fault says that it is found wrongly.
    let is_labelled_for = |guard: Guard| corpus.iter().any(|it| it.labels.iter().any(|label| label == guard.as_str()));
    let knows_withheld = is_labelled_for(Guard::WithheldFact);
    for labelled in &corpus {
        let found = found(labelled);
        lines += 1;
        for (guard, figures) in &mut all {
            let is_found = found.contains(&guard.as_str());
            let is_labelled = labelled.labels.iter().any(|label| label == guard.as_str());
            if *guard == Guard::WithheldFact && !knows_withheld && !labelled.labels.is_empty() {
                continue;
            }
            match is_labelled {
                true => figures.positives += 1,
                false => figures.negatives += 1,
            }
            match (is_labelled, is_found) {
                (true, false) => figures.missed.push(labelled.id.clone()),
                (false, true) => figures.false_alarms.push(labelled.id.clone()),
                _ => {}
            }
        }
    }
    println!("{}: {lines} turns", path.display());
    for (guard, figures) in &all {
        println!(
            "{:<16} {:>3} positives, recall {:>5.1} %, false alarms {:>4.1} %{}{}",
            guard.as_str(),
            figures.positives,
            figures.recall() * 100.0,
            figures.false_alarm_rate() * 100.0,
            named("; missed", &figures.missed),
            named("; false alarms", &figures.false_alarms),
        );
    }
    all
}

fn named(what: &str, ids: &[String]) -> String {
    if ids.is_empty() { String::new() } else { format!("{what}: {}", ids.join(" ")) }
}

/// The recall, in percent, that each guard has reached on the turns of a stranger.
fn reached(guard: Guard) -> f64 {
    match guard {
        Guard::SignoffInside | Guard::Empty | Guard::TooLong | Guard::ReasoningLeak | Guard::Restart => 100.0,
        Guard::RoleSwap => 98.0,
        // It passes what is unclear: a question about a task may have raised the next one in other words.
        Guard::EarlyEnd => 97.0,
        Guard::GoodbyeLoop | Guard::WrongLanguage => 96.0,
        Guard::WithheldFact | Guard::InventedFact | Guard::Repetition | Guard::FactLeak | Guard::TwoTasks => 95.0,
    }
}

/// The same on the turns of a stranger who had seen neither the guards nor what is known of them; half of the misses have been read.
fn reached_on_sixth(guard: Guard) -> f64 {
    match guard {
        // A user keeps a fact back in more words than any list has, and who tells another one instead has invented it.
        Guard::WithheldFact => 91.0,
        Guard::InventedFact => 90.0,
        Guard::EarlyEnd => 90.0,
        Guard::RoleSwap => 90.0,
        Guard::FactLeak | Guard::ReasoningLeak | Guard::GoodbyeLoop => 94.0,
        _ => 100.0,
    }
}

/// The same on the turns of another stranger, in 82 conversations; the misses in half of these have been read.
fn reached_on_eighth(guard: Guard) -> f64 {
    match guard {
        Guard::WithheldFact => 90.0,
        Guard::EarlyEnd | Guard::TwoTasks => 91.0,
        Guard::FactLeak | Guard::Restart => 92.0,
        Guard::InventedFact => 93.0,
        Guard::RoleSwap | Guard::WrongLanguage => 96.0,
        Guard::Repetition => 97.0,
        Guard::ReasoningLeak | Guard::GoodbyeLoop => 100.0,
        Guard::SignoffInside | Guard::Empty | Guard::TooLong => 100.0,
    }
}

/// The same on the turns of a third stranger, in 104 conversations and some twenty languages; the misses in half of these, and in some
/// of the other half, have been read.
fn reached_on_ninth(guard: Guard) -> f64 {
    match guard {
        Guard::InventedFact => 74.0,
        Guard::RoleSwap => 77.0,
        Guard::ReasoningLeak | Guard::WrongLanguage => 83.0,
        Guard::TwoTasks => 84.0,
        Guard::WithheldFact => 85.0,
        Guard::Repetition => 89.0,
        Guard::EarlyEnd | Guard::FactLeak => 90.0,
        Guard::SignoffInside => 91.0,
        Guard::GoodbyeLoop => 93.0,
        Guard::Restart => 94.0,
        Guard::Empty | Guard::TooLong => 100.0,
    }
}

#[test]
fn guards() {
    let other = std::env::var_os("EVAL_JOB_GUARD_CORPUS").filter(|path| !path.is_empty()).map(PathBuf::from);
    if let Some(other) = other {
        measure(&other);
    }
    for (guard, figures) in &measure(&root().join("tests/guards.jsonl")) {
        let name = guard.as_str();
        assert!(figures.recall() * 100.0 >= reached(*guard), "{name}: recall {}", figures.recall());
        assert!(figures.false_alarm_rate() <= 0.03, "{name}: false alarms {}", figures.false_alarm_rate());
    }
    // Another stranger's, of which the authors of the guards have read half of the misses.
    for (guard, figures) in &measure(&root().join("tests/guards-3.jsonl")) {
        let name = guard.as_str();
        assert!(figures.recall() >= 0.92, "{name}: recall {}", figures.recall());
        assert!(figures.false_alarm_rate() <= 0.03, "{name}: false alarms {}", figures.false_alarm_rate());
    }
    // Written without a look at the guards; its misses have been read since.
    for (guard, figures) in &measure(&root().join("tests/guards-4.jsonl")) {
        let name = guard.as_str();
        assert!(figures.recall() >= 0.92, "{name}: recall {}", figures.recall());
        assert!(figures.false_alarm_rate() <= 0.03, "{name}: false alarms {}", figures.false_alarm_rate());
    }
    // Written without a look at the guards or the other corpora, before the guards that its author then mended.
    for (guard, figures) in &measure(&root().join("tests/guards-5.jsonl")) {
        let name = guard.as_str();
        assert!(figures.recall() >= 0.95, "{name}: recall {}", figures.recall());
        assert!(figures.false_alarm_rate() <= 0.03, "{name}: false alarms {}", figures.false_alarm_rate());
    }
    for (guard, figures) in &measure(&root().join("tests/guards-6.jsonl")) {
        let name = guard.as_str();
        assert!(figures.recall() * 100.0 >= reached_on_sixth(*guard), "{name}: recall {}", figures.recall());
        assert!(figures.false_alarm_rate() <= 0.015, "{name}: false alarms {}", figures.false_alarm_rate());
    }
    // Written by the author of the rules for evasions, before them, in twenty languages: it guards against rules for one corpus.
    for (guard, figures) in &measure(&root().join("tests/guards-7.jsonl")) {
        let name = guard.as_str();
        let least = if *guard == Guard::WithheldFact { 0.94 } else { 0.89 };
        assert!(figures.positives == 0 || figures.recall() >= least, "{name}: recall {}", figures.recall());
        assert!(figures.false_alarm_rate() <= 0.02, "{name}: false alarms {}", figures.false_alarm_rate());
    }
    for (guard, figures) in &measure(&root().join("tests/guards-8.jsonl")) {
        let name = guard.as_str();
        assert!(figures.recall() * 100.0 >= reached_on_eighth(*guard), "{name}: recall {}", figures.recall());
        assert!(figures.false_alarm_rate() <= 0.02, "{name}: false alarms {}", figures.false_alarm_rate());
    }
    for (guard, figures) in &measure(&root().join("tests/guards-9.jsonl")) {
        let name = guard.as_str();
        assert!(figures.recall() * 100.0 >= reached_on_ninth(*guard), "{name}: recall {}", figures.recall());
        assert!(figures.false_alarm_rate() <= 0.02, "{name}: false alarms {}", figures.false_alarm_rate());
    }
    let all = measure(&root().join("tests/guards-2.jsonl"));
    for (guard, figures) in &all {
        let name = guard.as_str();
        assert!(figures.recall() >= 0.95, "{name}: recall {}", figures.recall());
        assert!(figures.false_alarm_rate() <= 0.03, "{name}: false alarms {}", figures.false_alarm_rate());
    }
}

/// A conversation that the persona ends, and whether that is certainly too early.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct End {
    id: String,
    tasks: Vec<String>,
    facts: Vec<String>,
    transcript: Vec<Message>,
    turn: String,
    is_early: bool,
}

#[test]
fn an_end_is_early_only_where_that_is_certain() {
    let mut wrong = Vec::new();
    let read = |name: &str| std::fs::read_to_string(root().join("tests").join(name)).unwrap();
    let ends = [read("early-ends.jsonl"), read("early-ends-2.jsonl")].concat();
    for line in ends.lines() {
        let end: End = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let tasks: Vec<&str> = end.tasks.iter().map(String::as_str).collect();
        let facts: Vec<&str> = end.facts.iter().map(String::as_str).collect();
        let found = check(&GuardInput {
            has_facts: !facts.is_empty(),
            tasks: &tasks,
            facts: &facts,
            signoff: "So Long, and Thanks for All the Fish",
            transcript: &end.transcript,
            turn: &end.turn,
            ..GuardInput::default()
        });
        if found.iter().any(|finding| finding.guard == Guard::EarlyEnd) != end.is_early {
            wrong.push(format!("{}: {found:?}", end.id));
        }
    }
    assert!(ends.lines().count() >= 90, "{}", ends.lines().count());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What a turn does with a fact that the agent asks for.
#[derive(serde::Deserialize)]
struct AskedFact {
    id: String,
    tasks: Vec<String>,
    facts: Vec<String>,
    transcript: Vec<Message>,
    turn: String,
    labels: Vec<String>,
}

#[test]
fn a_fact_that_is_asked_for_is_told_and_neither_kept_back_nor_falsified_nor_walked_away_from() {
    let mut wrong = Vec::new();
    for line in std::fs::read_to_string(root().join("tests/withheld-facts.jsonl")).unwrap().lines() {
        let asked: AskedFact = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let tasks: Vec<&str> = asked.tasks.iter().map(String::as_str).collect();
        let facts: Vec<&str> = asked.facts.iter().map(String::as_str).collect();
        let found = |has_facts: bool| -> Vec<&'static str> {
            let input = GuardInput {
                has_facts,
                tasks: &tasks,
                facts: &facts,
                signoff: "So Long, and Thanks for All the Fish",
                transcript: &asked.transcript,
                turn: &asked.turn,
                ..GuardInput::default()
            };
            // Each fault once: what is falsified or walked away from is kept back too.
            faults(&input, &mut KnownTexts::default()).into_iter().map(|finding| finding.guard.as_str()).collect()
        };
        let with_facts = found(true);
        if with_facts != asked.labels {
            wrong.push(format!("{}: {with_facts:?}", asked.id));
        }
        // Who does not know a fact may say so.
        if found(false).contains(&"withheld_fact") {
            wrong.push(format!("{} without facts", asked.id));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A turn in which nothing is wrong: what strangers found blamed, and what is near to that.
#[derive(serde::Deserialize)]
struct GoodTurn {
    id: String,
    tasks: Vec<String>,
    facts: Vec<String>,
    transcript: Vec<Message>,
    turn: String,
}

#[test]
fn nothing_is_wrong_with_a_good_turn() {
    let mut wrong = Vec::new();
    for line in std::fs::read_to_string(root().join("tests/good-turns.jsonl")).unwrap().lines() {
        let good: GoodTurn = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let tasks: Vec<&str> = good.tasks.iter().map(String::as_str).collect();
        let facts: Vec<&str> = good.facts.iter().map(String::as_str).collect();
        let found = check(&GuardInput {
            has_facts: !facts.is_empty(),
            tasks: &tasks,
            facts: &facts,
            signoff: "So Long, and Thanks for All the Fish",
            transcript: &good.transcript,
            turn: &good.turn,
            ..GuardInput::default()
        });
        if !found.is_empty() {
            wrong.push(format!("{}: {found:?}", good.id));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A turn in which something is wrong, as strangers and small models wrote it, and what is near to that.
#[derive(serde::Deserialize)]
struct FaultyTurn {
    #[serde(flatten)]
    turn: GoodTurn,
    labels: Vec<String>,
}

#[test]
fn what_is_wrong_with_a_faulty_turn_is_found() {
    let mut wrong = Vec::new();
    for line in std::fs::read_to_string(root().join("tests/faulty-turns.jsonl")).unwrap().lines() {
        let FaultyTurn { turn, labels } = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let tasks: Vec<&str> = turn.tasks.iter().map(String::as_str).collect();
        let facts: Vec<&str> = turn.facts.iter().map(String::as_str).collect();
        let found = check(&GuardInput {
            has_facts: true,
            tasks: &tasks,
            facts: &facts,
            signoff: "So Long, and Thanks for All the Fish",
            transcript: &turn.transcript,
            turn: &turn.turn,
            ..GuardInput::default()
        });
        if !labels.iter().all(|label| found.iter().any(|finding| finding.guard.as_str() == label)) {
            wrong.push(format!("{}: {found:?}", turn.id));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_conversation_of_a_corpus_is_called_off_task_where_nothing_is_wrong_with_it() {
    let mut looked_at = 0;
    for name in ["guards.jsonl", "guards-2.jsonl", "guards-3.jsonl", "guards-4.jsonl"] {
        for line in std::fs::read_to_string(root().join("tests").join(name)).unwrap().lines() {
            let labelled: Labelled = serde_json::from_str(line).unwrap();
            let said = |role: Role| labelled.transcript.iter().filter(move |it| it.role == role).map(|it| &*it.content);
            let users: Vec<&str> = said(Role::User).collect();
            if !labelled.labels.is_empty() || users.len() < 3 {
                continue;
            }
            let subjects: Vec<String> = labelled.tasks.iter().chain(&labelled.facts).map(text).collect();
            let subjects: Vec<&str> = subjects.iter().map(String::as_str).collect();
            let agents: Vec<&str> = said(Role::Assistant).collect();
            assert!(!is_off_task(&subjects, &users, &agents), "{name}: {}: {users:?}", labelled.id);
            looked_at += 1;
        }
    }
    assert!(looked_at >= 50, "{looked_at}");
}

#[test]
fn texts_that_are_kept_from_turn_to_turn_change_no_finding() {
    let corpus = std::fs::read_to_string(root().join("tests/guards.jsonl")).unwrap();
    let mut known = KnownTexts::default();
    for line in corpus.lines().filter(|line| !line.trim().is_empty()) {
        let labelled: Labelled = serde_json::from_str(line).unwrap();
        let (kept, fresh) =
            looked_at(&labelled, |input| (faults(input, &mut known), faults(input, &mut KnownTexts::default())));
        assert_eq!(kept, fresh, "{}", labelled.id);
    }
}
