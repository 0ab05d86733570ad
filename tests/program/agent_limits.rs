//! An agent that refuses requests (429, or 503 with `Retry-After`): while other conversations are open nobody has failed, and
//! no wait is the agent's time; alone it is at fault after some patience.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use eval_job::evidence::FailedAttempt;
use eval_job::record::RunRecord;
use eval_job::score::Outcome;

use super::{at_once, eval_job};
use crate::edges::server::{Answer, Received, Server};

fn reply() -> Answer {
    Answer::json(200, r#"{"sessionId": "s", "message": {"content": "Certainly.", "role": "assistant"}, "events": []}"#)
}

/// An agent whose nth message is answered like this, where anything is wrong with it.
async fn agent(answer: impl Fn(usize) -> Option<Answer> + Send + Sync + 'static) -> Server {
    let heard = AtomicUsize::new(0);
    Server::start(move |_, request: &Received| match request.target.as_str() {
        "/api/v1/chat/sessions" => Answer::json(200, r#"{"sessionId": "s"}"#),
        _ => answer(heard.fetch_add(1, Ordering::SeqCst) + 1).unwrap_or_else(reply),
    })
    .await
}

struct Ran {
    status: Option<i32>,
    record: RunRecord,
    words: String,
    took: Duration,
}

impl Ran {
    fn refusals(&self) -> u32 {
        self.record.trials.iter().filter_map(|trial| trial.refusals).map(|refusals| refusals.requests).sum()
    }

    fn failures(&self) -> Vec<FailedAttempt> {
        let turns = self.record.trials.iter().filter_map(|trial| trial.evidence.as_ref());
        turns.flat_map(|evidence| &evidence.transcript.turns).flat_map(|turn| turn.failures.clone()).collect()
    }

    fn all(&self, is_so: impl Fn(&Outcome) -> bool) -> bool {
        self.record.trials.iter().all(|trial| trial.outcome.as_ref().is_some_and(&is_so))
    }
}

fn run(server: &Server, (target, limits): (&str, &str), args: &[&str]) -> Ran {
    let job = format!(
        "evaluator: {{script: [two, three]}}\nscorer: {{model: scripted}}\nfacts: []\nconditions: [withoutFacts, withFacts]\nisolation: user\n\
         target: {{user: u, chatbot: c, {target} embabel: {{baseUrl: \"{}\"}}}}\nlimits: {{turn: 5, {limits}}}\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n",
        server.url
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let began = Instant::now();
    let mut command = eval_job(folder.path());
    command.args(["run", "job.yml", "-v", "-o", "record.json"]).args(args);
    let output = tokio::task::block_in_place(|| command.output()).unwrap();
    let words = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let record = std::fs::read(folder.path().join("record.json")).unwrap_or_else(|_| panic!("no record: {words}"));
    let record = serde_json::from_slice(&record).unwrap();
    Ran { status: output.status.code(), record, words, took: began.elapsed() }
}

const TEN: &[&str] = &["-j", "10", "--model", "a,b,c,d,e"];

#[test]
fn an_agent_that_refuses_now_and_then_has_not_failed() {
    let agents = tokio::runtime::Runtime::new().unwrap();
    type Refuse = fn() -> Answer;
    let ways: [Refuse; 5] = [
        || Answer::json(429, ""),
        || Answer::json(429, "").with("retry-after", "1"),
        || Answer::json(503, "").with("retry-after", "0"),
        || Answer::json(429, "").with("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"),
        || Answer::json(429, "").with("retry-after", "-5"),
    ];
    at_once(ways.into_iter().enumerate(), |(nth, refuse)| {
        let server = agents.block_on(agent(move |number| (number % 6 == 3 && number < 16).then(refuse)));
        let ran = run(&server, ("", ""), TEN);
        assert!(ran.all(|outcome| *outcome == Outcome::Graded), "{nth}: {}", ran.words);
        assert_eq!(ran.refusals(), 3, "{nth}: {}", ran.words);
        assert_eq!(ran.failures(), [], "{nth}: none counts");
        assert!(ran.words.contains("The agent refused 3 requests (429) while up to "), "{nth}: {}", ran.words);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn max_concurrency_holds_whatever_the_flag_says() {
    let most = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let counted = most.clone();
    let server = agent(move |_| {
        let now = counted.0.fetch_add(1, Ordering::SeqCst) + 1;
        counted.1.fetch_max(now, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(20));
        counted.0.fetch_sub(1, Ordering::SeqCst);
        None
    })
    .await;
    let ran = run(&server, ("maxConcurrency: 2,", ""), TEN);
    assert!(ran.all(|outcome| *outcome == Outcome::Graded), "{}", ran.words);
    assert!(ran.words.contains("2 conversations at once, by target.maxConcurrency (-j 10)"), "{}", ran.words);
    assert!(most.1.load(Ordering::SeqCst) <= 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_that_a_lone_conversation_honours_is_no_failure_and_no_part_of_the_next_try() {
    let server = agent(|number| match number {
        2 => Some(Answer::json(429, "").with("retry-after", "2")),
        3 => Some(Answer::json(500, "oops")),
        _ => None,
    })
    .await;
    let ran = run(&server, ("", ""), &["-j", "1", "--condition", "with-facts"]);
    assert!(ran.all(|outcome| *outcome == Outcome::Graded), "{}", ran.words);
    let failures = ran.failures();
    // A limit that was honoured is no failure, of a lone conversation either.
    assert_eq!((failures.len(), ran.refusals()), (1, 1), "{failures:?}");
    assert!(failures[0].took_ms.unwrap() < 1900.0, "{failures:?}");
    assert!(ran.words.contains("The agent refused 1 request (429): conversations were slowed down"), "{}", ran.words);
    // Long waits are told while they last.
    assert!(ran.words.contains("waiting for the agent, which refuses requests (429), "), "{}", ran.words);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_refuses_several_for_ever_is_not_graded_and_one_that_refuses_a_lone_conversation_is() {
    let server = agent(|_| Some(Answer::json(429, ""))).await;
    let ran = run(&server, ("", ""), &["-j", "10"]);
    assert_eq!(ran.status, Some(102), "{}", ran.words);
    let is_broken =
        |outcome: &Outcome| matches!(outcome, Outcome::Broken { error } if error.contains("target.maxConcurrency"));
    assert!(ran.all(is_broken), "{}", ran.words);
    assert!(!ran.words.contains("agent failed"), "{}", ran.words);

    let server = agent(|_| Some(Answer::json(429, ""))).await;
    let ran = run(&server, ("", ""), &["-j", "1", "--condition", "with-facts"]);
    assert!(ran.all(|outcome| matches!(outcome, Outcome::AgentFailed { .. })), "{}", ran.words);
    assert!(ran.took > Duration::from_secs(10), "after {:?}", ran.took);
    let waited_ms: f64 = ran.failures().iter().filter_map(|failed| failed.waited_ms).sum();
    assert!(waited_ms > 20_000.0, "the waits are told: {:?}", ran.failures());
}

/// An agent that talks with one conversation at a time, from its session or its first message on until it has sent three.
async fn one_at_a_time(refuses_sessions: bool, refusal: fn() -> Answer) -> Server {
    #[derive(Default)]
    struct Talk {
        session: usize,
        messages: usize,
        opened: usize,
    }
    let talk = Mutex::new(Talk::default());
    Server::start(move |_, request: &Received| {
        let mut talk = talk.lock().unwrap();
        if request.target.ends_with("/sessions") {
            talk.opened += 1;
            if refuses_sessions && talk.session != 0 {
                return refusal();
            }
            if refuses_sessions {
                talk.session = talk.opened;
            }
            return Answer::json(200, format!(r#"{{"sessionId": "{}"}}"#, talk.opened));
        }
        let session = serde_json::from_str::<serde_json::Value>(&request.body).unwrap()["sessionId"].clone();
        let session = session.as_str().unwrap().parse().unwrap();
        if ![0, session].contains(&talk.session) {
            return refusal();
        }
        talk.session = session;
        talk.messages += 1;
        if talk.messages.is_multiple_of(3) {
            talk.session = 0;
        }
        let said = r#""message": {"content": "Certainly.", "role": "assistant"}, "events": []"#;
        Answer::json(200, format!(r#"{{"sessionId": "{session}", {said}}}"#))
    })
    .await
}

#[test]
fn conversations_take_turns_at_an_agent_that_serves_one_at_a_time() {
    // Servers that limit their connections say 503 and nothing else.
    let refusals: [fn() -> Answer; 5] = [
        || Answer::json(429, ""),
        || Answer::json(503, "").with("retry-after", "1"),
        || Answer::json(503, "busy"),
        || Answer::json(409, r#"{"error": "a conversation is in progress"}"#),
        || Answer::json(423, "").with("retry-after", "1"),
    ];
    let agents = tokio::runtime::Runtime::new().unwrap();
    let with_sessions = [(true, refusals[0]), (true, refusals[2])];
    let ways = refusals.map(|refusal| (false, refusal)).into_iter().chain(with_sessions);
    at_once(ways, |(refuses_sessions, refusal)| {
        let server = agents.block_on(one_at_a_time(refuses_sessions, refusal));
        // A conversation's own time has room for three messages, and none for the turns of the others.
        let ran = run(&server, ("", "trial: 8"), TEN);
        assert!(ran.all(|outcome| *outcome == Outcome::Graded), "{refuses_sessions}: {}", ran.words);
        assert_eq!(ran.failures(), [], "none counts");
        assert!(ran.refusals() >= 8, "{}", ran.words);
        assert!(ran.took < Duration::from_secs(60), "{:?}", ran.took);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn who_serves_nobody_has_failed_if_it_says_503_and_is_described_wrongly_if_it_says_409() {
    for (status, is_so) in [
        (503, (|outcome| matches!(outcome, Outcome::AgentFailed { .. })) as fn(&Outcome) -> bool),
        (
            409,
            |outcome| matches!(outcome, Outcome::Broken { error } if error.contains("the agent refuses the request")),
        ),
    ] {
        let server = agent(move |_| Some(Answer::json(status, "busy"))).await;
        let ran = run(&server, ("", ""), TEN);
        assert!(ran.all(is_so), "{status}: {}", ran.words);
        assert!(ran.took < Duration::from_secs(30), "{status}: {:?}", ran.took);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_whose_time_goes_by_in_such_waits_is_broken_and_keeps_what_was_said() {
    let refuse = |number| (number > 2).then(|| Answer::json(429, "").with("retry-after", "9999999"));
    let server = agent(refuse).await;
    let ran = run(&server, ("", "trial: 2"), &["-j", "10"]);
    assert_eq!(ran.status, Some(102), "{}", ran.words);
    assert!(ran.took < Duration::from_secs(20), "{:?}", ran.took);
    for trial in &ran.record.trials {
        let Some(Outcome::Broken { error }) = &trial.outcome else { panic!("{}", ran.words) };
        assert!(error.contains("limits.trial") && error.contains("target.maxConcurrency"), "{error}");
        assert!(!trial.evidence.as_ref().unwrap().transcript.turns.is_empty(), "{}", ran.words);
    }

    let server = agent(refuse).await;
    let ran = run(&server, ("", "time: 2"), &["-j", "10"]);
    assert!(ran.took < Duration::from_secs(20), "{:?}", ran.took);
    assert_eq!(ran.status, Some(102), "{}", ran.words);
    assert!(ran.words.contains("limits.time (2 s) ran out"), "{}", ran.words);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lone_conversation_whose_time_ends_in_a_wait_for_the_rate_limit_is_not_charged_to_the_agent() {
    let server = agent(|number| (number > 1).then(|| Answer::json(429, "").with("retry-after", "20"))).await;
    let ran = run(&server, ("", "trial: 2"), &["-j", "1", "--condition", "with-facts"]);
    assert_eq!(ran.status, Some(102), "{}", ran.words);
    let is_told = |outcome: &Outcome| matches!(outcome, Outcome::Broken { error } if error.contains("limits.trial") && error.contains("its rate limit"));
    assert!(ran.all(is_told), "{}", ran.words);
}

/// Of ten conversations at once, one finds out that a state is never shown.
#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_is_never_there_is_paid_for_in_one_conversation_however_many_are_held_at_once() {
    let server = Server::start(|_, request: &Received| match request.target.as_str() {
        "/api/v1/chat/sessions" => Answer::json(200, r#"{"sessionId": "s"}"#),
        "/api/v1/chat/messages" => reply(),
        _ => Answer::json(404, "{}"),
    })
    .await;
    let ran =
        run(&server, ("", "}\nassertions: [{expression: objectContext.entities.size == 0}]\ngate: {minScore: 0"), TEN);
    assert_eq!(ran.status, Some(102), "{}", ran.words);
    let held = |trial: &&eval_job::record::TrialRecord| {
        trial.evidence.as_ref().is_some_and(|evidence| !evidence.transcript.turns.is_empty())
    };
    assert_eq!(ran.record.trials.iter().filter(held).count(), 1, "{}", ran.words);
    assert_eq!(ran.record.trials.len(), 10);
}

/// A conversation in which the agent fails shows nothing of the state of others.
#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_the_agent_failed_has_no_others_given_up_for_their_state() {
    let (heard, sessions) = (Mutex::new(std::collections::BTreeMap::<String, usize>::new()), AtomicUsize::new(0));
    let server = Server::start(move |_, request: &Received| {
        let mut heard = heard.lock().unwrap();
        if request.target == "/api/v1/chat/sessions" {
            let number = sessions.fetch_add(1, Ordering::SeqCst) + 1;
            return Answer::json(200, format!(r#"{{"sessionId": "session-{number}"}}"#));
        }
        let id = (1..=9).map(|number| format!("session-{number}"));
        let id = id.into_iter().find(|id| request.target.contains(id) || request.body.contains(id)).unwrap();
        if request.target != "/api/v1/chat/messages" {
            let has_state = id != "session-1" && heard.contains_key(&id);
            let state = r#"{"context": null, "resources": [], "functions": []}"#;
            return if has_state { Answer::json(200, state) } else { Answer::json(404, "{}") };
        }
        let said = heard.entry(id.clone()).or_default();
        *said += 1;
        let answer = format!(r#"{{"sessionId": "{id}", "message": {{"content": "Certainly.", "role": "assistant"}}}}"#);
        if id == "session-1" && *said > 1 { Answer::json(500, "{}") } else { Answer::json(200, answer) }
    })
    .await;
    let expression = "}\nassertions: [{expression: objectContext.entities.size == 0}]\ngate: {minScore: 0";
    let ran = run(&server, ("", expression), &["-j", "1", "--repeat", "2"]);
    let outcomes: Vec<&Outcome> = ran.record.trials.iter().filter_map(|trial| trial.outcome.as_ref()).collect();
    assert!(matches!(outcomes[0], Outcome::AgentFailed { .. }), "{}", ran.words);
    assert!(outcomes[1..].iter().all(|outcome| matches!(outcome, Outcome::Graded)), "{outcomes:?} {}", ran.words);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_beyond_what_is_read_is_not_charged_to_the_agent_and_not_asked_for_again() {
    let long = format!(r#"{{"message": {{"content": "{}"}}}}"#, "x".repeat(9 << 20));
    let deep = format!(r#"{{"message": {{"content": "Hi"}}, "events": [{}1{}]}}"#, "[".repeat(120), "]".repeat(120));
    for (body, words) in [(long, "longer than 8 MiB"), (deep, "nested deeper than 100 levels")] {
        let server = agent(move |number| (number > 1).then(|| Answer::json(200, &body))).await;
        let ran = run(&server, ("", ""), &["-j", "1", "--condition", "with-facts"]);
        assert_eq!(ran.status, Some(102), "{}", ran.words);
        let is_told = |outcome: &Outcome| matches!(outcome, Outcome::Broken { error } if error.contains(words) && error.contains("docs/transports.md"));
        assert!(ran.all(is_told), "{}", ran.words);
        assert_eq!(server.count("/messages"), 2, "{words}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_beside_others_learn_from_each_other_that_the_agent_refuses_for_ever() {
    let server = agent(|_| Some(Answer::json(503, "").with("retry-after", "1"))).await;
    let models: Vec<String> = (0..20).map(|number| format!("m{number}")).collect();
    let ran = run(&server, ("", ""), &["-j", "10", "--model", &models.join(",")]);
    assert!(ran.took < Duration::from_secs(120), "after {:?}", ran.took);
    assert_eq!((ran.status, ran.record.trials.len()), (Some(102), 40), "{}", ran.words);
    let broken = ran.record.trials.iter().filter(|trial| matches!(trial.outcome, Some(Outcome::Broken { .. }))).count();
    assert!(broken >= 38, "{broken}: {}", ran.words);
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_count_while_a_session_is_opened_and_before_the_first() {
    let mut server = Server::start(|_, _| Answer::json(429, "").with("retry-after", "60")).await;
    let is_told = |outcome: &Outcome| matches!(outcome, Outcome::Broken { error } if error.contains("limits.trial") && error.contains("(429)"));
    for at_once in ["10", "1"] {
        let ran = run(&server, ("", "trial: 2"), &["-j", at_once]);
        assert!(ran.took < Duration::from_secs(20), "{:?}", ran.took);
        assert!(ran.status == Some(102) && ran.all(is_told), "{}", ran.words);
    }
    // A host that never answers: the look at what is there takes ten seconds.
    server.url = "http://192.0.2.1:9".to_owned();
    let ran = run(&server, ("", "time: 2"), &["-j", "10"]);
    assert!(ran.took < Duration::from_secs(9), "{:?}", ran.took);
    assert_eq!(ran.status, Some(102), "{}", ran.words);
}
