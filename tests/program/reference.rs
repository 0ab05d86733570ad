//! The reference agent: whatever goes wrong with it is never the agent's fault, and what it takes is counted.

use std::path::Path;
use std::process::Output;

use eval_job::evidence::{Ending, Transcript};
use eval_job::record::TrialRecord;
use eval_job::score::Outcome;
use serde_json::json;

use super::eval_job;
use crate::servers::http::{Reply, Request, Server, nobody};

/// An endpoint of chat completions: the reply to each request, by how many came before.
fn model(answer: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Server {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    Server::start(move |_: &Request| answer(asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst)))
}

/// A reply that took so many tokens.
fn says(text: &str, tokens: u64) -> Reply {
    let choice = json!({"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"});
    let usage = json!({"prompt_tokens": tokens, "completion_tokens": 0, "total_tokens": tokens});
    let reply = json!({"id": "r", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice],
        "usage": usage});
    Reply::Json(200, reply)
}

/// A conversation of two messages whose replies the reference agent at this address is expected to give.
struct World {
    folder: tempfile::TempDir,
    agent: Server,
}

impl World {
    fn new(reference: &str, limits: &str) -> World {
        World::with_part("follows", reference, limits)
    }

    fn with_part(part: &str, reference: &str, limits: &str) -> World {
        let (folder, agent) = (tempfile::tempdir().unwrap(), model(|_| says("Yes", 1)));
        let target = |address: &str| format!("{{user: u, chatbot: c, openai: {{baseUrl: \"{address}/v1\"}}}}");
        let job = format!(
            "target: {}\nreference: {}\ngreetings: []\nisolation: user\nmetrics: [{{rouge: {{}}}}]\n\
             limits: {{{limits}}}\nevaluator: {{script: [{{say: Hello}}, {{say: Goodbye}}]}}\n\
             cases: [{{id: c, reference: {part}}}]\n",
            target(&agent.address),
            target(reference)
        );
        std::fs::write(folder.path().join("job.yml"), job).unwrap();
        World { folder, agent }
    }

    fn run(&self) -> (Output, TrialRecord) {
        let mut command = eval_job(self.folder.path());
        command.env("OPENAI_API_KEY", "sk-none").args(["run", "job.yml", "--no-progress", "-v", "-o", "record.json"]);
        let output = command.output().unwrap();
        (output.clone(), record(self.folder.path(), &output))
    }
}

fn record(folder: &Path, output: &Output) -> TrialRecord {
    let record = std::fs::read(folder.join("record.json")).unwrap_or_else(|_| panic!("{}", text(output)));
    let record: eval_job::record::RunRecord = serde_json::from_slice(&record).unwrap();
    record.trials.into_iter().next().unwrap()
}

/// What was printed, without its line breaks.
fn text(output: &Output) -> String {
    let printed = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&printed).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn reference(trial: &TrialRecord) -> &Transcript {
    trial.evidence.as_ref().unwrap().reference.as_ref().unwrap()
}

/// The trial is broken for a reason with this in it, and the conversation with the agent is kept whole.
fn assert_broken(output: &Output, trial: &TrialRecord, why: &str) {
    assert_eq!(output.status.code(), Some(102), "{}", text(output));
    let Some(Outcome::Broken { error }) = &trial.outcome else { panic!("{:?}", trial.outcome) };
    assert!(error.contains(why), "{error}");
    let evidence = trial.evidence.as_ref().unwrap();
    assert_eq!(evidence.transcript.turns.len(), 2);
    assert_eq!(evidence.ending, Ending::ScriptEnded, "{}", text(output));
    assert!(trial.scorecard.is_none());
}

#[test]
fn one_that_is_down_is_named_with_what_to_try() {
    let world = World::new(&nobody(), "");
    let (output, trial) = world.run();
    assert_broken(&output, &trial, "the reference agent: ");
    let error = trial.outcome.as_ref().unwrap().error().unwrap().to_owned();
    assert!(error.contains("reference.openai.baseUrl"), "{error}");
    assert!(!error.contains("target."), "{error}");
    let failed = &reference(&trial).turns[0];
    assert!(failed.agent.is_none() && failed.failures.len() == 4, "{failed:?}");
}

#[test]
fn one_that_fails_once_is_asked_again_and_the_failure_is_kept() {
    let server = model(|nth| match nth {
        0 => Reply::Json(500, json!({"error": {"message": "overloaded"}})),
        _ => says("Yes", 1),
    });
    let (output, trial) = World::new(&server.address, "").run();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let turns = &reference(&trial).turns;
    assert_eq!(turns.iter().map(|turn| turn.failures.len()).collect::<Vec<_>>(), [1, 0]);
    assert!(turns[0].failures[0].error.contains("overloaded"), "{turns:?}");
    assert!(turns[0].maybe_delivered && turns.iter().all(|turn| turn.spent_ms.is_some()), "{turns:?}");
}

#[test]
fn one_that_hangs_is_waited_for_within_the_limits_and_named() {
    let server = model(|_| Reply::Silence);
    let (output, trial) = World::new(&server.address, "turn: 30, trial: 1").run();
    assert_broken(&output, &trial, "(limits.trial) ran out while the reference agent's reply was awaited");
    let server = model(|_| Reply::Silence);
    let (output, trial) = World::new(&server.address, "turn: 0.1").run();
    assert_broken(&output, &trial, "the reference agent: ");
    assert!(reference(&trial).turns[0].failures.iter().all(|failed| failed.maybe_received), "{trial:?}");
}

#[test]
fn what_it_takes_is_counted_and_ends_the_run_where_it_is_too_much() {
    let server = model(|_| says("Yes", 1000));
    let world = World::new(&server.address, "tokens: 500");
    let (output, trial) = world.run();
    assert_broken(&output, &trial, "limits.tokens (500) is used up: 1002 are spent");
    assert_eq!((world.agent.requests().len(), server.requests().len()), (2, 1));
    assert_eq!(reference(&trial).turns.len(), 1);
    assert!(text(&output).contains("reference agent 1 1,000"), "{}", text(&output));
}

#[test]
fn one_that_leads_and_fails_is_nobodys_score() {
    let server = model(|nth| if nth == 0 { says("Yes", 1) } else { Reply::Json(400, json!({"error": "no"})) });
    let world = World::with_part("leads", &server.address, "");
    let (output, trial) = world.run();
    assert_eq!(output.status.code(), Some(102), "{}", text(&output));
    let error = trial.outcome.as_ref().unwrap().error().unwrap().to_owned();
    assert!(error.starts_with("the reference agent: ") && error.contains("400"), "{error}");
    let kept: Vec<bool> = reference(&trial).turns.iter().map(|turn| turn.agent.is_some()).collect();
    assert_eq!(kept, [true, false]);
    assert!(world.agent.requests().is_empty());
}

#[test]
fn one_that_refuses_requests_slows_itself_down_and_not_the_agent() {
    let server = model(|nth| if nth == 0 { Reply::Json(429, json!({"error": "later"})) } else { says("Yes", 1) });
    let (output, trial) = World::new(&server.address, "").run();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(trial.refusals.is_none(), "{:?}", trial.refusals);
}

#[test]
fn the_agents_key_is_not_the_reference_agents() {
    let other = model(|_| says("No", 1));
    let world = World::new(&other.address, "");
    let run = |variables: &[(&str, &str)]| {
        let mut command = eval_job(world.folder.path());
        command.env("OPENAI_API_KEY", "sk-none").envs(variables.iter().copied());
        command.args(["run", "job.yml", "--no-progress"]).output().unwrap()
    };
    let keys = |server: &Server| -> Vec<String> {
        let chats = server.requests().into_iter().filter(|it| it.path.ends_with("/chat/completions"));
        chats.map(|it| it.header("authorization").unwrap_or_default().to_owned()).collect()
    };
    run(&[("EVAL_JOB_AGENT_API_KEY", "key-of-the-agent-1")]);
    assert_eq!(keys(&world.agent), ["Bearer key-of-the-agent-1"; 2]);
    assert_eq!(keys(&other), [""; 2]);
    run(&[("EVAL_JOB_AGENT_API_KEY", "key-of-the-agent-1"), ("EVAL_JOB_REFERENCE_API_KEY", "key-of-the-other-2")]);
    assert_eq!(keys(&other)[2..], ["Bearer key-of-the-other-2"; 2]);
}
