//! In whichever order the conversations of a run end, its reports are the same.

use std::fs;
use std::path::Path;

use eval_job::record::{Asker, Entry};
use eval_job::store::folder::{Journal, read_journal};
use serde_json::{Value, json};

use super::{eval_job, kept_run, words};
use crate::servers::http::{Reply, Server};
use crate::servers::model;

/// The documents that a run is shown as.
const FILES: [&str; 6] = ["run.json", "page.html", "junit.xml", "summary.md", "table.csv", "run.tokens.json"];

/// Writes a journal of these entries into a folder of runs, and shows it as everything.
fn shown(at: &Path, name: &str, entries: &[Entry]) -> Vec<String> {
    let _ = fs::remove_dir_all(at.join("runs"));
    let run = at.join("runs").join(name);
    fs::create_dir_all(&run).unwrap();
    let journal = Journal::create(&run.join("journal.ndjson")).unwrap();
    entries.iter().for_each(|entry| drop(journal.append(entry).unwrap()));
    drop(journal);
    let mut command = eval_job(at);
    command.arg("show").args(FILES.iter().flat_map(|file| ["-o", file]));
    let output = command.output().unwrap();
    let terminal = words(&output);
    FILES.iter().map(|file| fs::read_to_string(at.join(file)).unwrap()).chain([terminal]).collect()
}

/// The entries in another order: those of a trial keep theirs, and so does what is about the whole run.
fn interleaved(entries: &[Entry], rng: &mut fastrand::Rng) -> Vec<Entry> {
    let last = entries.iter().rposition(|entry| entry.trial().is_some()).unwrap() + 1;
    let first = entries.iter().position(|entry| entry.trial().is_some()).unwrap();
    let mut trials: Vec<Vec<Entry>> = Vec::new();
    for entry in &entries[first..last] {
        let own = entry.trial().unwrap() as usize;
        trials.resize_with(trials.len().max(own), Vec::new);
        trials[own - 1].push(entry.clone());
    }
    for trial in &mut trials {
        shuffle_answers(trial, rng);
        trial.reverse();
    }
    let mut mixed = entries[..first].to_vec();
    while trials.iter().any(|trial| !trial.is_empty()) {
        let left: Vec<usize> = (0..trials.len()).filter(|at| !trials[*at].is_empty()).collect();
        mixed.extend(trials[*rng.choice(&left).unwrap()].pop());
    }
    mixed.extend_from_slice(&entries[last..]);
    mixed
}

/// Lets the judges of a conversation, who are asked at the same time, answer in another order.
fn shuffle_answers(trial: &mut [Entry], rng: &mut fastrand::Rng) {
    let is_answer = |entry: &Entry| match entry {
        Entry::Judged { .. } => true,
        Entry::ModelAsked { call, .. } => call.asker == Asker::Judge,
        _ => false,
    };
    let places: Vec<usize> = (0..trial.len()).filter(|place| is_answer(&trial[*place])).collect();
    let mut answers: Vec<Entry> = places.iter().map(|place| trial[*place].clone()).collect();
    rng.shuffle(&mut answers);
    places.into_iter().zip(answers).for_each(|(place, answer)| trial[place] = answer);
}

/// Gives a component that has a score another one.
fn rescore(component: Option<&mut Value>, rng: &mut fastrand::Rng) {
    if let Some(score) = component.and_then(|it| it.get_mut("score")).filter(|score| score.is_number()) {
        *score = json!(rng.f64());
    }
}

/// The entry with what varies from trial to trial: parts that a judge names, up to so many of each metric, figures that are missing, odd
/// times and tokens.
fn varied(entry: Entry, named: usize, rng: &mut fastrand::Rng) -> Entry {
    let mut value = serde_json::to_value(&entry).unwrap();
    if let Some(turn) = value.get_mut("turn").filter(|turn| turn.is_object()) {
        turn["latencyMs"] = json!(rng.f64() * 1e4);
        turn["spentMs"] = json!(rng.f64() * 1e4);
    }
    let dimensions = value.pointer_mut("/scorecard/dimensions").and_then(Value::as_array_mut);
    for dimension in dimensions.into_iter().flatten() {
        let Some(items) = dimension.get_mut("items").and_then(Value::as_array_mut) else { continue };
        let Some(item) = items.first().cloned() else { continue };
        for _ in 0..rng.usize(0..=named) {
            let mut other = item.clone();
            other["name"] = json!(format!("named {}", rng.usize(0..2 * named)));
            items.insert(rng.usize(0..=items.len()), other);
        }
        for item in items {
            rescore(item.get_mut("component"), rng);
        }
        rescore(dimension.get_mut("component"), rng);
    }
    rescore(value.pointer_mut("/scorecard/composite"), rng);
    serde_json::from_value(value).unwrap()
}

#[test]
fn reports_are_the_same_in_whichever_order_conversations_end() {
    let agent = Server::start(|_| {
        let message = json!({"role": "assistant", "content": "Locker 7."});
        let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
        let usage = json!({"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14});
        Reply::Json(
            200,
            json!({"id": "r", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [choice], "usage": usage}),
        )
    });
    let judges = Server::start(|request| {
        let judge = request.json()["model"].as_str().unwrap_or_default().to_owned();
        // One of the panel can't judge one of the cases.
        let is_lost = judge == "b" && request.body.contains("opens");
        model::answer(if is_lost { "judge-prose" } else { "good" }, request)
    });
    let folder = tempfile::tempdir().unwrap();
    let judge = |name: &str| format!("{{name: openai/{name}, baseUrl: '{}/v1'}}", judges.address);
    let job = format!(
        "name: Lockers\ntarget: {{user: u, chatbot: c, openai: {{baseUrl: '{}/v1'}}}}\nevaluator: {{model: scripted}}\n\
         scorer: {{model: [{}, {}, {}]}}\nfacts: []\nisolation: user\ngate: {{minScore: 0.5, maxFlake: 0.2}}\nrepeat: 3\ncases:\n\
         - {{id: where, script: [Where is it?], tasks: [{{task: Ask where the locker is, acceptanceCriteria: named}}, {{task: Again, acceptanceCriteria: named}}]}}\n\
         - {{id: when, script: [When is it open?], tasks: [{{task: Ask when it opens, acceptanceCriteria: named}}]}}\n\
         - {{id: hard, script: [A hard one], tasks: [{{task: Ask, acceptanceCriteria: named}}]}}\n",
        agent.address,
        judge("c"),
        judge("a"),
        judge("b")
    );
    fs::write(folder.path().join("job.yml"), job).unwrap();
    let mut command = eval_job(folder.path());
    command.env("OPENAI_API_KEY", "sk-test").args([
        "run",
        "job.yml",
        "--model",
        "large,small",
        "-j",
        "4",
        "--no-progress",
    ]);
    let output = command.output().unwrap();
    let run = kept_run(folder.path()).unwrap_or_else(|| panic!("{}", words(&output)));
    let name = run.file_name().unwrap().to_str().unwrap().to_owned();
    let entries = read_journal(&fs::read(run.join("journal.ndjson")).unwrap()).entries;
    let over = entries.iter().filter(|entry| matches!(entry, Entry::TrialFinished { .. })).count();
    assert_eq!(over, 18, "{}", words(&output));
    // More parts than are told apart, too.
    for named in [3, 300] {
        let mut rng = fastrand::Rng::with_seed(11);
        let entries: Vec<Entry> = entries.iter().map(|entry| varied(entry.clone(), named, &mut rng)).collect();
        let expected = shown(folder.path(), &name, &entries);
        let document: Value = serde_json::from_str(&expected[0]).unwrap();
        assert_eq!(document["trials"].as_array().unwrap().len(), 18);
        for order in 0..if named > 3 { 3 } else { 8 } {
            let mixed = interleaved(&entries, &mut rng);
            assert_ne!(mixed, entries);
            let others = shown(folder.path(), &name, &mixed);
            for ((one, other), file) in expected.iter().zip(&others).zip(FILES.iter().chain(&["terminal"])) {
                let different = one.lines().zip(other.lines()).find(|(one, other)| one != other);
                assert!(one == other, "{named} named, order {order}, {file}: {different:#?}");
            }
        }
    }
}
