//! The seeds of persona and judge, with the built program: models that are compared meet the same user.

use serde_json::{Value, json};

use super::{eval_job, words};
use crate::servers::all_turns;
use crate::servers::http::{Reply, Request, Server};

fn says(content: &str) -> Reply {
    let message = json!({"role": "assistant", "content": content});
    Reply::Json(200, json!({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}))
}

fn is_question(request: &Request) -> bool {
    request.path.ends_with("/chat/completions")
}

/// Persona and judge on one endpoint each, and an agent.
struct Desk {
    folder: tempfile::TempDir,
    persona: Server,
    judge: Server,
    _agent: Server,
}

impl Desk {
    fn new(scorer: &Value) -> Desk {
        let persona = Server::start(|request| match is_question(request) {
            false => Reply::Json(200, json!({"data": []})),
            true if request.body.contains("<agent-reply>") => {
                says(&json!({"message": "Thanks, that was all.", "done": true, "reason": ""}).to_string())
            }
            true => says(&json!({"message": "When does the desk open?", "done": false, "reason": ""}).to_string()),
        });
        let judge = Server::start(|request| match is_question(request) {
            false => Reply::Json(200, json!({"data": []})),
            true => {
                let task = json!({"index": 1, "reason": "so", "turnsRead": all_turns(), "score": 0.8});
                let tone = json!({"reason": "fine", "turnsRead": all_turns(), "score": 1});
                says(&json!({"tasks": [task], "tone": tone}).to_string())
            }
        });
        let agent = Server::start(|_| says("The desk opens at nine o'clock."));
        let folder = tempfile::tempdir().unwrap();
        let model = |server: &Server| json!({"name": "openai/m", "baseUrl": format!("{}/v1", server.address)});
        let mut scorer = scorer.clone();
        scorer["model"] = model(&judge);
        let job = json!({
            "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", agent.address)}},
            "evaluator": {"model": model(&persona)},
            "scorer": scorer,
            "greetings": [],
            "facts": ["The user arrives early"],
            "tasks": [{"task": "Find out when the desk opens", "acceptanceCriteria": "The time is given"}],
        });
        std::fs::write(folder.path().join("job.yml"), job.to_string()).unwrap();
        Desk { folder, persona, judge, _agent: agent }
    }

    /// Holds the conversations one after the other; returns the seeds of the persona's first request in each, and those of the
    /// judge's.
    fn seeds(&self, rng_seed: &str) -> [Vec<Value>; 2] {
        let before = [&self.persona, &self.judge].map(|server| server.requests().len());
        let arguments = ["run", "job.yml", "--model", "a,b", "--repeat", "2", "-j", "1", "--rng-seed", rng_seed];
        let output = eval_job(self.folder.path()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        let asked = |server: &Server, before: usize| {
            let asked = server.requests().into_iter().skip(before).filter(is_question);
            let first = asked.filter(|request| !request.body.contains("<agent-reply>"));
            first.map(|request| request.json()["seed"].clone()).collect::<Vec<_>>()
        };
        [asked(&self.persona, before[0]), asked(&self.judge, before[1])]
    }
}

/// The conversations of a repetition come model by model, each without and with facts.
fn assert_alike_for_both_models(seeds: &[Value]) {
    assert_eq!(seeds.len(), 8, "{seeds:?}");
    assert!(seeds.iter().all(Value::is_u64), "{seeds:?}");
    for round in [&seeds[..4], &seeds[4..]] {
        assert_eq!(round[..2], round[2..], "model a and model b");
        assert_ne!(round[0], round[1], "without and with facts");
    }
    assert_ne!(seeds[..4], seeds[4..], "the second repetition");
}

#[test]
fn compared_models_meet_the_same_persona_and_judge_and_a_seed_brings_them_back() {
    let desk = Desk::new(&json!({"temperature": 0.7}));
    let [persona, judge] = desk.seeds("7");
    assert_alike_for_both_models(&persona);
    assert_alike_for_both_models(&judge);
    assert_ne!(persona, judge);
    assert_eq!(desk.seeds("7"), [persona.clone(), judge]);
    assert_ne!(desk.seeds("8")[0], persona);
}

#[test]
fn a_judge_at_temperature_0_is_sent_no_seed() {
    let [persona, judge] = Desk::new(&json!({})).seeds("7");
    assert_alike_for_both_models(&persona);
    assert_eq!(judge, vec![Value::Null; 8]);
}
