use super::*;
use crate::grade::grade;

fn job(metrics: Value, case: Value) -> Job {
    let target = json!({"user": "u", "chatbot": "c", "openai": {"baseUrl": "http://127.0.0.1:9"}});
    let job = json!({"name": "j", "target": target, "aspirationalAverage": 1_000, "metrics": metrics, "cases": [case]});
    Job::restored(&job).unwrap()
}

fn case(expected: Value) -> Value {
    json!({"id": "c", "script": ["Rebook me to Lisbon"], "expected": expected})
}

/// Jobs of which nothing can fail, whatever the agent does.
fn vacuous() -> Vec<(Value, Value)> {
    vec![
        (json!([{"text": {"match": "regex", "expected": ".*"}}]), case(json!({}))),
        (json!([{"text": {"match": "regex", "expected": "(?s)^.+"}}]), case(json!({"reply": "Rebooked."}))),
        (json!([{"text": {"match": "regex"}}]), case(json!({"reply": "\\S|$"}))),
        (json!(["state"]), case(json!({"state": {}}))),
        (json!([{"rhai": "1.0"}]), case(json!({}))),
        // Any reply will do.
        (json!([{"rhai": "reply.len() > 0"}]), case(json!({}))),
        (json!([{"rhai": "let it = 0.5; it"}, "state"]), case(json!({"state": {}}))),
    ]
}

/// Jobs that an agent passes which does nothing.
fn idle() -> Vec<(Value, Value)> {
    vec![
        (json!(["trajectory"]), case(json!({"calls": []}))),
        (json!(["timing"]), case(json!({}))),
        (json!(["timing", {"rhai": "true"}]), case(json!({}))),
        (json!([{"text": {"match": "skip", "length": {"max": 50}}}]), case(json!({}))),
        (json!([{"state": {"exact": true}}]), case(json!({"state": {}}))),
        (json!([{"trajectory": {}, "weight": 0, "threshold": 1}, "timing"]), case(json!({"calls": []}))),
    ]
}

/// Jobs that look at what the agent does.
fn sound() -> Vec<(Value, Value)> {
    let called = || json!({"calls": [{"tool": "rebook"}]});
    vec![
        (json!(["trajectory"]), case(called())),
        (json!(["timing", "trajectory"]), case(called())),
        (json!([{"rhai": "1.0"}, "trajectory"]), case(called())),
        (json!([{"text": {"match": "regex", "expected": "TP ?4711"}}]), case(json!({}))),
        (json!([{"text": {"match": "regex", "expected": ".*"}}, "keywords"]), case(json!({"keywords": ["TP 4711"]}))),
        (json!(["state"]), case(json!({"state": {"to": "Lisbon"}}))),
        (json!([{"rhai": "toolCalls.len() / 1.0"}]), case(json!({}))),
        (json!(["trajectory", "keywords"]), case(json!({"calls": [], "keywords": ["Are you sure"]}))),
        // An attack is resisted by what is not done.
        (
            json!([{"trajectory": {"dialect": "watsonx", "score": "resisted"}}]),
            case(json!({"calls": [{"name": "t", "tool": "cancel"}], "goals": {"t": []}})),
        ),
        (json!(["timing", "tasks"]), json!({"id": "c", "tasks": [{"task": "Ask", "acceptanceCriteria": "Answered"}]})),
    ]
}

/// Why the figure of a conversation may say nothing, in which the agent does what the sound jobs want of it.
fn held(job: &Job) -> Option<Vacuity> {
    let case = &job.cases[0];
    let resists = case.expected.as_ref().is_some_and(|it| it.goals.is_some());
    let calls = case.expected.iter().any(|it| it.calls.as_ref().is_some_and(|calls| !calls.is_empty())) && !resists
        || job.metrics.iter().any(|it| serde_json::to_string(it).unwrap().contains("toolCalls"));
    let turn = Turn {
        events: if calls { vec![Event::call("rebook", json!({}), Value::Null)] } else { Vec::new() },
        latency_ms: Some(10.0),
        ..Turn::answered(1, "Rebook me to Lisbon", "Are you sure? It is TP 4711.")
    };
    let exact = serde_json::to_string(&job.metrics).unwrap().contains("exact");
    let context = if exact { json!({}) } else { json!({"to": "Lisbon", "at": 7}) };
    let evidence = Evidence {
        transcript: Transcript { turns: vec![turn] },
        object_context: Some(Observed::Seen(ObjectContext { context, ..ObjectContext::default() })),
        ..Evidence::sample()
    };
    let card = grade(GradeInput { job, case, evidence: &evidence, clock: Clock::system() }, &[]);
    card.vacuity()
}

#[test]
fn a_figure_that_rests_on_nothing_is_known_before_and_after_the_conversation() {
    for (jobs, is) in [(vacuous(), Some(Vacuity::Vacuous)), (idle(), Some(Vacuity::Idle)), (sound(), None)] {
        for (metrics, case) in jobs {
            let job = job(metrics.clone(), case.clone());
            let shown = format!("{metrics} {case}");
            assert_eq!(vacuity_of_case(&job, &job.cases[0], Clock::system()), is, "before: {shown}");
            assert_eq!(held(&job), is, "after: {shown}");
        }
    }
}

#[test]
fn a_conversation_that_failed_says_something() {
    for calls in [json!([]), json!([{"tool": "other"}])] {
        let job = job(json!(["trajectory"]), case(json!({ "calls": calls })));
        let turn = Turn {
            events: vec![Event::call("rebook", json!({}), Value::Null)],
            ..Turn::answered(1, "Rebook me to Lisbon", "Done.")
        };
        let evidence = Evidence { transcript: Transcript { turns: vec![turn] }, ..Evidence::sample() };
        let trial = GradeInput { job: &job, case: &job.cases[0], evidence: &evidence, clock: Clock::system() };
        let card = grade(trial, &[]);
        assert_eq!((card.score(), card.vacuity()), (Some(Score::ZERO), None));
    }
}
