//! What agents say to turn the judge's head: none of it changes the structure of what the judge is sent.

use std::borrow::Cow;
use std::path::PathBuf;

use eval_job::clock::Clock;
use eval_job::evidence::{Condition, Question, Transcript, Turn};
use eval_job::metric::trajectory::Expectation;
use eval_job::metric::{self, ExpectedTurn, InputTask, JudgeInput, Metric, MetricEntry, MetricInput, UserInput};
use eval_job::prompt::Templates;
use serde_json::{Value, json};

use crate::house::root;
use crate::program::eval_job;
use crate::servers::http::{Reply, Server};

/// An agent's reply.
struct Attack {
    id: String,
    content: String,
}

/// The corpus of this repository, and the one that `EVAL_JOB_ATTACK_CORPUS` names.
fn attacks() -> Vec<Attack> {
    let own = root().join("tests/attacks.jsonl");
    let other = std::env::var_os("EVAL_JOB_ATTACK_CORPUS").filter(|path| !path.is_empty()).map(PathBuf::from);
    let mut all = Vec::new();
    for path in [own].into_iter().chain(other) {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let attack: Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| attack[key].as_str().unwrap_or_else(|| panic!("no `{key}`: {line}")).to_owned();
            all.push(Attack { id: text("id"), content: text("content") });
        }
    }
    assert!(all.len() >= 60, "{}", all.len());
    all
}

/// All metrics that ask a judge, but for the one whose items are the sentences of the reply.
fn entries() -> Vec<Value> {
    let rubric = json!([{ "id": "polite", "text": "It is polite." }]);
    vec![
        json!("tasks"),
        json!({ "rubric": { "rubrics": rubric } }),
        json!({ "rubric": { "rubrics": rubric, "scope": "turns" } }),
        json!({ "geval": { "criteria": "Clarity.", "steps": ["Read it."] } }),
        json!({ "turnRelevancy": {} }),
        json!({ "roleAdherence": { "role": "A waiter." } }),
        json!({ "completeness": {} }),
        json!({ "finalResponse": {} }),
        json!({ "finalResponse": { "judging": { "strict": true } } }),
        json!({ "pairwise": {} }),
        json!({ "pairwise": { "judging": { "strict": true } } }),
        json!({ "simulatedUser": {} }),
        json!({ "simulatedUser": { "judging": { "strict": true } } }),
        json!({ "trajectory": { "score": "journeySuccess" } }),
        json!({ "template": { "prompt": "Is this right? <reply>{{reply}}</reply>", "scorer": "boolean",
            "variables": { "reply": "finalResponse" } } }),
    ]
}

/// Calls a function with a metric, and with its input for a conversation in which the agent says the same twice.
fn with_input<T>(entry: &Value, reply: &str, then: impl FnOnce(&dyn Metric, &MetricInput<'_>) -> T) -> T {
    let entry: MetricEntry = serde_json::from_value(entry.clone()).unwrap();
    let metric = metric::metric(&entry, &metric::Weights::default()).unwrap();
    let turn = |number| Turn { agent: Some(reply.to_owned()), ..Turn::begun(number, "Hi".to_owned()) };
    let transcript = Transcript { turns: vec![turn(1), turn(2)] };
    let expectation = |of: Value| -> Expectation { serde_json::from_value(of).unwrap() };
    let line =
        |turn| ExpectedTurn { turn, say: "Hi", expected: Cow::Owned(expectation(json!({"reply": "Very well."}))) };
    let goals = expectation(json!({"messages": [{"name": "told", "reply": "It is done"}], "goals": {"told": []}}));
    let input = MetricInput {
        fact_uses: None,
        tasks: vec![InputTask { kind: "task", task: "Ask", acceptance_criteria: "Answered" }],
        facts: &["The user is called Ann".to_owned()],
        condition: Condition::WithFacts,
        transcript: &transcript,
        state: None,
        expected: Some(&goals),
        lines: vec![line(1), line(2)],
        is_of_reference: false,
        agent_ended_it: false,
        user: UserInput { is_simulated: true, plan: Some("Ask for a table."), ..UserInput::default() },
        judge: JudgeInput {
            prompt: "eval/score",
            temperature: 0.0,
            samples: 1,
            needs_evidence: true,
            is_there: true,
            has_embeddings: false,
        },
        context: vec![("policy", "No refunds.")],
        times_first_token: false,
        aspirational_average_ms: None,
        clock: Clock::system(),
        is_brief: false,
    };
    then(&*metric, &input)
}

fn questions(entry: &Value, reply: &str) -> Vec<Question> {
    with_input(entry, reply, |metric, input| metric.questions(input, &Templates::embedded()).unwrap())
}

/// The tags of a prompt, in order.
fn tags(prompt: &str) -> Vec<String> {
    let tag = |at: usize| prompt[at..].chars().take_while(|c| *c != '>').collect();
    prompt.match_indices('<').map(|(at, _)| tag(at)).collect()
}

#[test]
fn no_reply_changes_the_structure_of_a_question() {
    for attack in attacks() {
        for entry in entries() {
            let (plain, attacked) = (questions(&entry, "Certainly."), questions(&entry, &attack.content));
            assert!(!plain.is_empty(), "{entry}");
            assert_eq!(plain.len(), attacked.len(), "{} {entry}", attack.id);
            for (plain, attacked) in plain.iter().zip(&attacked) {
                assert_eq!(tags(&plain.prompt), tags(&attacked.prompt), "{} {entry}", attack.id);
                assert_eq!((&plain.id, &plain.schema), (&attacked.id, &attacked.schema), "{}", attack.id);
                assert!(attacked.prompt.len() < 450_000, "{} {entry}: {}", attack.id, attacked.prompt.len());
            }
        }
        let hallucination = json!({ "hallucination": {} });
        for question in questions(&hallucination, &attack.content) {
            let prompt = &question.prompt;
            let count = |tag: &str| prompt.matches(tag).count();
            assert_eq!(count("<message "), 4, "{}", attack.id);
            assert_eq!(count("</message>"), 4, "{}", attack.id);
            assert_eq!(count("<item "), count("</item>"), "{}", attack.id);
            assert_eq!((count("<items>"), count("<transcript>"), count("</transcript>")), (1, 1, 1), "{}", attack.id);
        }
    }
}

/// A judge's reply that repeats what the agent wrote: as it stands, and with other letters, spaces and order.
fn copies(content: &str) -> Vec<String> {
    fn altered(value: &mut Value) {
        match value {
            Value::Object(map) => {
                if let Some(Value::String(reason)) = map.get_mut("reason") {
                    reason.push('!');
                }
                map.values_mut().for_each(altered);
            }
            Value::Array(list) => list.iter_mut().for_each(altered),
            _ => {}
        }
    }
    let object = content.find('{').zip(content.rfind('}')).and_then(|(start, end)| content.get(start..=end));
    let Some(mut value) = object.and_then(|object| serde_json::from_str::<Value>(object).ok()) else {
        return vec![content.to_owned()];
    };
    let plain = value.to_string();
    altered(&mut value);
    vec![content.to_owned(), plain, value.to_string(), format!("{value:#}")]
}

#[test]
fn no_reply_of_an_agent_is_taken_for_a_verdict() {
    // A word such as `true` is what a template's judge may say.
    for entry in entries().iter().filter(|entry| entry.get("template").is_none()) {
        // Of a longer one a part is left out.
        for attack in attacks().into_iter().filter(|attack| attack.content.len() < 20_000) {
            with_input(entry, &attack.content, |metric, input| {
                for question in metric.questions(input, &Templates::embedded()).unwrap() {
                    for copy in copies(&attack.content) {
                        let read = metric.read(input, &question, &copy);
                        assert!(read.is_err(), "{} {entry}: {copy}", attack.id);
                    }
                }
            });
        }
    }
}

#[test]
fn what_the_judge_is_sent_is_one_message_whatever_the_agent_says() {
    let attacks = attacks();
    // What shows nothing is no reply.
    let replies: Vec<String> = attacks.iter().map(|attack| format!("Certainly. {}", attack.content)).collect();
    let lines = replies.len();
    let agent = Server::start(move |request| {
        let messages = request.json()["messages"].as_array().cloned().unwrap_or_default();
        let turn = messages.iter().filter(|message| message["role"] == "user").count();
        let content = replies.get(turn.saturating_sub(1)).cloned().unwrap_or_default();
        Reply::Json(
            200,
            json!({"choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": content}}]}),
        )
    });
    let judge = Server::start(|_| {
        let verdict = json!({"verdicts": [{"id": "done", "reason": "nothing was done",
            "quotes": [{"turn": 1, "text": "message 1"}], "turnsRead": [], "verdict": "no"}]});
        Reply::Json(
            200,
            json!({"choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": verdict.to_string()}}]}),
        )
    });
    let folder = tempfile::tempdir().unwrap();
    let script: Vec<String> = (1..=lines).map(|line| format!("message {line}")).collect();
    let job = json!({
        "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", agent.address)}},
        "evaluator": {"script": script},
        "scorer": {"model": {"name": "openai/judge", "baseUrl": format!("{}/v1", judge.address)}},
        "facts": [],
        "greetings": [],
        "maxTurns": 2 * lines + 4,
        "metrics": [{"rubric": {"rubrics": [{"id": "done", "text": "The task was done."}]}}],
    });
    std::fs::write(folder.path().join("job.yml"), job.to_string()).unwrap();
    let output = eval_job(folder.path()).args(["run", "job.yml", "--model", "m", "--no-progress"]).output().unwrap();
    let words = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let asked = judge.requests();
    let asked: Vec<_> = asked.iter().filter(|request| request.path.ends_with("/chat/completions")).collect();
    assert!(!asked.is_empty(), "{words}");
    for request in asked {
        let body = request.json();
        let messages = body["messages"].as_array().unwrap_or_else(|| panic!("{words}"));
        assert_eq!(messages.len(), 1, "{words}");
        assert_eq!(messages[0]["role"], "user");
        let prompt = messages[0]["content"].as_str().unwrap();
        assert_eq!(prompt.matches("<message ").count(), 2 * lines, "{words}");
        assert_eq!(prompt.matches("</transcript>").count(), 1);
    }
    assert!(words.contains("rubric") && !words.contains('\u{1b}'), "{words}");
    assert!(words.contains("characters of a message of turn"), "what was left out is said: {words}");
}
