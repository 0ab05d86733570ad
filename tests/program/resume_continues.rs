//! A conversation that was cut off goes on where it was, if its agent can go on with it; else it says why it begins again.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use serde_json::{Value, json};

use super::{eval_job, kept_run, words};
use crate::servers::all_turns;
use crate::servers::http::{Reply, Server};

/// A key with which the persona's model is refused.
const WRONG_KEY: &str = "sk-wrong";

/// One endpoint for the models `agent`, `user` (the persona) and `judge`; one of their requests is never answered.
struct Desk {
    folder: tempfile::TempDir,
    server: Server,
    arrived: mpsc::Receiver<()>,
    /// Of which model, and which of its requests, counted from 1.
    silent: Arc<Mutex<(&'static str, usize)>>,
}

fn completion(content: &str) -> Reply {
    let mut reply: Value = serde_json::from_str(include_str!("../fixtures/openai/reply-text.json")).unwrap();
    reply["choices"][0]["message"]["content"] = content.into();
    Reply::Json(200, reply)
}

impl Desk {
    fn new(job: &str) -> Desk {
        let (sender, arrived) = mpsc::channel();
        let (sender, silent) = (Mutex::new(sender), Arc::new(Mutex::new(("", 0))));
        let (counts, unanswered) = ([const { AtomicUsize::new(0) }; 3], silent.clone());
        let server = Server::start(move |request| {
            let body = request.json();
            let model = body["model"].as_str().unwrap_or_default();
            let Some(place) = ["agent", "user", "judge"].iter().position(|it| *it == model) else {
                return Reply::Json(404, json!({}));
            };
            if model == "user" && request.header("authorization").is_some_and(|it| it.ends_with(WRONG_KEY)) {
                let error = json!({"message": "Incorrect API key provided", "type": "invalid_request_error"});
                return Reply::Json(401, json!({"error": error}));
            }
            let number = counts[place].fetch_add(1, Ordering::SeqCst) + 1;
            if *unanswered.lock().unwrap() == (["agent", "user", "judge"][place], number) {
                let _ = sender.lock().unwrap().send(());
                return Reply::Silence;
            }
            let replies = body["messages"].as_array().unwrap().iter().filter(|it| it["role"] == "assistant").count();
            match place {
                0 => completion(&format!("reply {}", replies + 1)),
                1 => {
                    let done = replies == 2;
                    let message = format!("Please do part {} of the work", replies + 1);
                    completion(&json!({"message": message, "done": done, "reason": ""}).to_string())
                }
                _ => {
                    let task = json!({"index": 1, "reason": "as asked", "turnsRead": all_turns(), "score": 1.0});
                    let tone = json!({"reason": "polite", "turnsRead": all_turns(), "score": 1.0});
                    completion(&json!({"tasks": [task], "tone": tone}).to_string())
                }
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let agent = format!("openai: {{baseUrl: {}/v1, streaming: false", server.address);
        let job = job.replace("AGENT+", &agent).replace("AGENT", &format!("{agent}}}"));
        std::fs::write(folder.path().join("job.yml"), job).unwrap();
        Desk { folder, server, arrived, silent }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = eval_job(self.folder.path());
        command.args(line.split_whitespace()).stdin(Stdio::null());
        command.env("OPENAI_BASE_URL", format!("{}/v1", self.server.address)).env("OPENAI_API_KEY", "sk-hush");
        command
    }

    fn killed_at(&self, model: &'static str, number: usize) {
        *self.silent.lock().unwrap() = (model, number);
        let run = "run job.yml --model agent --no-progress --no-cache";
        let mut child = self.command(run).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        self.arrived.recv().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        *self.silent.lock().unwrap() = ("", 0);
    }

    fn resumed(&self) -> String {
        let output = self.command("run --resume --model agent --no-progress --no-cache").output().unwrap();
        let printed = words(&output);
        assert_eq!(output.status.code(), Some(0), "{printed}");
        printed
    }

    fn asked(&self, model: &str) -> Vec<Value> {
        self.server.requests().iter().map(|it| it.json()).filter(|body| body["model"] == model).collect()
    }

    fn trial(&self) -> Value {
        let output = self.command("show --json").output().unwrap();
        let record: Value = serde_json::from_slice(&output.stdout).unwrap();
        record["trials"][0].clone()
    }
}

const LINES: &str = "greetings: []\nevaluator: {model: scripted}\nscorer: {model: scripted}\nfacts: []\nisolation: user\n\
                     target: {user: u, chatbot: c, AGENT}\n\
                     cases: [{id: a, script: [one, two, three], tasks: [{task: t, acceptanceCriteria: reply 3}]}]\n";

const PERSONA: &str = "greetings: []\nevaluator: {model: openai/user}\nscorer: {model: openai/judge}\nfacts: []\nisolation: user\n\
                       target: {user: u, chatbot: c, AGENT}\n\
                       tasks: [{task: Have the work done, acceptanceCriteria: it is done}]\n";

#[test]
fn a_history_that_is_ours_goes_on_with_the_message_that_was_on_its_way() {
    let desk = Desk::new(LINES);
    desk.killed_at("agent", 3);
    let printed = desk.resumed();
    assert!(printed.contains("1 to be run; 1 of them goes on where it was"), "{printed}");
    let asked = desk.asked("agent");
    assert_eq!(asked.len(), 4, "only the request that was on its way is made again");
    assert_eq!(asked[3]["messages"], asked[2]["messages"], "and it is the same");
    let trial = desk.trial();
    let said: Vec<&str> = trial["evidence"]["transcript"]
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| turn["agent"].as_str().unwrap())
        .collect();
    assert_eq!(said, ["reply 1", "reply 2", "reply 3"]);
    // What the agent did may be doubled: an assertion about its state that fails is missing then.
    let doubled = |turn: usize| trial["evidence"]["transcript"][turn]["maybeDelivered"].as_bool().unwrap_or_default();
    assert_eq!([doubled(0), doubled(1), doubled(2)], [false, false, true]);
    assert_eq!((trial["replaced"].as_array(), trial["continued"][0]["isSentAgain"].as_bool()), (None, Some(true)));
    let shown = words(&desk.command("show -v").output().unwrap());
    assert!(shown.contains("continued in the agent's session, stopped for "), "{shown}");
}

#[test]
fn a_persona_goes_on_and_no_message_of_its_own_is_asked_for_twice() {
    for (model, number, agent, user) in [("agent", 2, 4, 3), ("user", 3, 3, 4), ("agent", 3, 4, 3)] {
        let desk = Desk::new(PERSONA);
        desk.killed_at(model, number);
        desk.resumed();
        let asked = (desk.asked("agent").len(), desk.asked("user").len(), desk.asked("judge").len());
        assert_eq!(asked, (agent, user, 1), "{model} {number}");
        let trial = desk.trial();
        assert_eq!(trial["evidence"]["ending"]["kind"], "signedOff", "{model} {number}");
        assert_eq!(trial["evidence"]["transcript"].as_array().unwrap().len(), 3);
        let answered = if model == "user" { 3 } else { user };
        assert_eq!(trial["evidence"]["personaUsage"]["calls"], answered, "{model} {number}");
    }
}

#[test]
fn a_conversation_that_had_ended_is_only_judged() {
    let desk = Desk::new(PERSONA);
    desk.killed_at("judge", 1);
    desk.resumed();
    let asked = (desk.asked("agent").len(), desk.asked("user").len(), desk.asked("judge").len());
    assert_eq!(asked, (3, 3, 2));
    assert_eq!(desk.trial()["outcome"]["kind"], "graded");
}

#[test]
fn an_agent_that_can_not_go_on_is_named_and_its_conversation_begins_again() {
    let desk = Desk::new(&LINES.replace("AGENT", "AGENT+, tools: [{name: look, returns: none}]}"));
    desk.killed_at("agent", 3);
    let printed = desk.resumed();
    let told = "1 conversation that was cut off begins again: target.openai can't continue a session, as it is set up";
    assert!(printed.contains(told), "{printed}");
    assert_eq!(desk.asked("agent").len(), 6);
    assert_eq!(desk.trial()["replaced"].as_array().unwrap().len(), 1);
}

#[test]
fn a_conversation_that_is_not_kept_in_full_begins_again_with_what_was_really_said() {
    let link = "https://x.example/r?token=abcd1234efgh5678";
    let desk = Desk::new(&LINES.replace("[one, two, three]", &format!("[one, 'keep {link}', three]")));
    desk.killed_at("agent", 3);
    let printed = desk.resumed();
    assert!(printed.contains("begins again: what was said is not kept in full"), "{printed}");
    let asked = desk.asked("agent");
    let last = asked.last().unwrap().to_string();
    assert!(asked.len() == 6 && last.contains("token=abcd1234efgh5678") && !last.contains("***"), "{last}");
}

#[test]
fn a_persona_that_is_refused_takes_away_no_turn_that_was_held() {
    let desk = Desk::new(PERSONA);
    desk.killed_at("user", 3);
    let mut command = desk.command("run --resume --model agent --no-progress --no-cache");
    let output = command.env("OPENAI_API_KEY", WRONG_KEY).output().unwrap();
    assert_eq!(output.status.code(), Some(102), "{}", words(&output));
    assert_eq!(desk.asked("agent").len(), 2, "the agent is not spoken to again");
    let trial = desk.trial();
    assert_eq!((trial["outcome"]["kind"].as_str(), trial["replaced"].as_array()), (Some("broken"), None), "{trial}");
    assert_eq!(trial["evidence"]["transcript"].as_array().unwrap().len(), 2);
}

#[test]
fn what_a_torn_journal_may_lack_may_have_been_said_before() {
    let desk = Desk::new(PERSONA);
    desk.killed_at("user", 3);
    let journal = kept_run(desk.folder.path()).unwrap().join("journal.ndjson");
    let text = std::fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = lines.iter().position(|line| line.contains("\"turnFinished\"")).unwrap();
    // All that came after the first turn is lost, but for the beginning of a line.
    std::fs::write(&journal, format!("{}{}", lines[..=at].concat(), &lines[at + 1][..9])).unwrap();
    desk.resumed();
    let trial = desk.trial();
    let doubled = |turn: usize| trial["evidence"]["transcript"][turn]["maybeDelivered"].as_bool().unwrap_or_default();
    assert_eq!([doubled(0), doubled(1), doubled(2)], [false, true, false], "{trial}");
}
