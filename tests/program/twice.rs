//! Every job of the README and of `data/eval` runs twice in a row on a graph that lasts, with an agent that works, with one
//! that says the same and does nothing, and with one that does nothing: only the first ever passes.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;

use eval_job::graph::{Graph, Parameters, Value};
use eval_job::record::RunRecord;
use eval_job::score::{Component, Score, Vacuity};
use serde_json::json;

use super::graph_serve::Served;
use super::{copy, eval_job, path_with_driver, readme};
use crate::house::root;
use crate::servers::http::{Reply, Request, Server};
use crate::servers::neo4j;

/// Each twice, the one that leaves most behind first.
const AGENTS: [&str; 6] = ["works", "works", "lies", "lies", "nothing", "nothing"];

/// A graph that lasts, and the variables that lead to it.
pub(super) struct Lasting {
    _served: Served,
    pub(super) env: Vec<(String, String)>,
}

impl Lasting {
    pub(super) fn start() -> Lasting {
        let mut serve = eval_job(root());
        serve.args(["graph", "serve", "--port", "0"]);
        let served = Served::start(serve, 3, true);
        let env = served.lines.iter().filter_map(|line| line.split_once('='));
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Lasting { _served: served, env }
    }

    fn server(&self) -> neo4j::Server {
        let get = |name: &str| self.env.iter().find(|(own, _)| own == name).unwrap().1.clone();
        neo4j::Server { uri: get("NEO_URI"), username: get("NEO_USERNAME"), password: get("NEO_PASSWORD") }
    }
}

fn run(folder: &Path, job: &str, (env, more): (&[(String, String)], &[&str])) -> (Output, RunRecord) {
    std::fs::write(folder.join("job.yml"), job).unwrap();
    let output = eval_job(folder)
        .args(["run", "job.yml", "--no-progress", "-o", "record.json"])
        .args(more)
        .envs(env.iter().cloned())
        .output()
        .unwrap();
    let record = std::fs::read(folder.join("record.json"))
        .unwrap_or_else(|_| panic!("{job}\nno record: {}", String::from_utf8_lossy(&output.stderr)));
    (output, serde_json::from_slice(&record).unwrap())
}

/// Only an agent that works passes.
fn expect(output: &Output, agent: &str, what: &str) {
    let words = || {
        let (page, notes) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        format!("{what}, the agent that {agent}:\n{page}\n{notes}")
    };
    match agent {
        "works" => assert_eq!(output.status.code(), Some(0), "{}", words()),
        _ => assert!(matches!(output.status.code(), Some(100 | 102)), "{}", words()),
    }
}

/// An agent of Embabel's protocol that says OK, whatever it hears.
fn does_nothing() -> Server {
    Server::start(|request| match request.path.as_str() {
        "/api/v1/chat/sessions" => Reply::Json(200, json!({"sessionId": "s"})),
        "/api/v1/chat/messages" => said(request, "OK"),
        _ => Reply::Json(200, json!({"context": null, "resources": [], "functions": []})),
    })
}

fn said(request: &Request, text: &str) -> Reply {
    let session = &request.json()["sessionId"];
    Reply::Json(200, json!({"sessionId": session, "message": {"content": text, "role": "assistant"}, "events": []}))
}

/// The desk of the README's own job: it says what it does, and does it if it is the one that works.
fn travel_desk(agent: &'static str, graph: neo4j::Server) -> Server {
    let users: Mutex<HashMap<String, String>> = Mutex::default();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    Server::start(move |request| {
        let of = |session: &str| users.lock().unwrap().get(session).cloned().unwrap_or_default();
        let cypher = |statement: &str, user: String| {
            let parameters = Parameters::from([("user".to_owned(), Value::String(user))]);
            runtime.block_on(graph.graph().write(statement, &parameters)).unwrap()
        };
        match request.path.as_str() {
            "/api/v1/chat/sessions" => {
                let mut users = users.lock().unwrap();
                let session = format!("session-{}", users.len() + 1);
                users.insert(session.clone(), request.json()["user"].as_str().unwrap().to_owned());
                Reply::Json(200, json!({"sessionId": session}))
            }
            "/api/v1/chat/messages" => answer(agent, request, |statement| {
                cypher(statement, of(request.json()["sessionId"].as_str().unwrap()));
            }),
            path => {
                let user = of(path.rsplit('/').next().unwrap());
                let rows = cypher("MATCH (:User {id: $user})-[:BOOKED]->(t:Train) RETURN t.from", user).rows;
                let train = |number: usize| {
                    let labels = ["Train", "DomainNode"];
                    json!({"id": format!("{number}"), "labels": labels, "type": "Train", "properties": {"from": "Paris"}})
                };
                let trains: Vec<_> = (0..rows.len()).map(train).collect();
                Reply::Json(200, json!({"context": null, "resources": trains, "functions": []}))
            }
        }
    })
}

fn answer(agent: &str, request: &Request, cypher: impl Fn(&str)) -> Reply {
    let text = request.json()["message"]["content"].as_str().unwrap_or_default().to_lowercase();
    if agent == "nothing" {
        return said(request, "OK");
    }
    if text.contains("train") && text.contains("book") {
        if agent == "works" {
            cypher("MERGE (u:User {id: $user}) CREATE (u)-[:BOOKED]->(:Train {from: 'Paris', to: 'Lyon'})");
        }
        return said(request, "I booked the train before noon: its time is 9:04 and its price, as named, is 29 euros.");
    }
    said(request, "The ride takes about two hours.")
}

/// The README's own job.
fn readmes_job() -> String {
    readme::blocks(&readme::readme(), "yaml").remove(0)
}

/// The job of the page on graphs whose agent has a Neo4j.
fn travel_job(address: &str) -> String {
    let jobs = readme::blocks(&readme::page("docs/graph.md"), "yaml");
    let job = jobs.into_iter().find(|job| job.contains("name: one booking")).unwrap();
    job.replace("http://localhost:8081", address)
}

const SCRIPTED: [&str; 4] = ["--evaluator-model", "scripted", "--scorer-model", "scripted"];

#[test]
fn the_readmes_own_job_is_passed_by_none_but_an_agent_that_works() {
    let lasting = Lasting::start();
    let folder = tempfile::tempdir().unwrap();
    for agent in AGENTS {
        let desk = travel_desk(agent, lasting.server());
        for job in [readmes_job().replace("http://localhost:8081", &desk.address), travel_job(&desk.address)] {
            let (output, record) = run(folder.path(), &job, (&lasting.env, &SCRIPTED));
            expect(&output, agent, "the README's own job");
            assert!(record.doubts().held_before().is_empty(), "each conversation has a user of its own");
            assert!(!String::from_utf8_lossy(&output.stderr).contains("warning"), "{output:?}");
        }
    }
}

#[test]
fn with_leftovers_that_nothing_clears_nobody_is_praised_or_blamed() {
    let lasting = Lasting::start();
    let folder = tempfile::tempdir().unwrap();
    for (nth, agent) in AGENTS.into_iter().enumerate() {
        let desk = travel_desk(agent, lasting.server());
        let job = travel_job(&desk.address).replace("isolation: user", "isolation: shared");
        let (output, record) = run(folder.path(), &job, (&lasting.env, &SCRIPTED));
        let (page, notes) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(notes.contains("job.yml: warning · conversations share the graph and no setup prepares it"), "{notes}");
        let bookings: Vec<&Component> = record
            .trials
            .iter()
            .map(|trial| &trial.scorecard.as_ref().unwrap().dimension("assertions").unwrap().items[0].component)
            .collect();
        if agent == "works" {
            assert_ne!(output.status.code(), Some(100), "{page}");
            // The first conversation of all finds nothing there.
            for (index, booking) in bookings.iter().enumerate() {
                let is_first = nth == 0 && index == 0;
                assert_eq!(booking.score(), is_first.then_some(Score::ONE), "{page}");
                assert!(is_first || booking.why().contains("without what was there before the first word"), "{page}");
            }
        } else {
            expect(&output, agent, "a shared graph");
            assert!(bookings.iter().all(|booking| booking.score() == Some(Score::ZERO)), "{page}");
        }
    }
}

/// What the issue is about: one booking is left over, and the next agent does nothing.
#[test]
fn what_was_left_over_is_not_shown_by_an_agent_that_does_nothing() {
    let lasting = Lasting::start();
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(
        lasting.server().write("CREATE (:User {id: 'test-user'})-[:BOOKED]->(:Train {from: 'Paris', to: 'Lyon'})"),
    );
    for (agent, gate) in [("lies", "warn"), ("nothing", "warn"), ("lies", "fail")] {
        let desk = travel_desk(agent, lasting.server());
        let job = travel_job(&desk.address)
            .replace("isolation: user", "isolation: shared")
            .replace("gate: {minScore: 0.8}", &format!("gate: {{minScore: 0.1, vacuous: {gate}}}"));
        let (output, record) = run(folder.path(), &job, (&lasting.env, &SCRIPTED));
        let page = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(if gate == "fail" { 100 } else { 102 }), "{page}");
        assert_eq!(record.doubts().held_before().len(), 2, "{page}");
        for trial in &record.trials {
            let item = &trial.scorecard.as_ref().unwrap().dimension("assertions").unwrap().items[0];
            let words = "held before the first word and nothing that it looks at has changed since: this conversation didn't show it";
            assert_eq!(item.component, Component::missing(words), "{page}");
            assert_eq!(item.vacuity, Some(Vacuity::HeldBefore));
        }
        assert!(page.contains("\n2 assertions held before the first word already. Where that is meant, say"), "{page}");
        let gated = "gate failed: 2 assertions held before the first word, and the job has gate.vacuous: fail\n";
        assert_eq!(page.contains(gated), gate == "fail", "{page}");
        // Whoever says that it is meant is believed.
        let meant = job
            .replace("expected: 1\n", "expected: 1\n    holdsBefore: true\n")
            .replace("    when: withFacts\n", "    when: withFacts\n    holdsBefore: true\n");
        let (output, record) = run(folder.path(), &meant, (&lasting.env, &SCRIPTED));
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
        assert!(record.doubts().held_before().is_empty());
    }
}

#[test]
fn the_demo_jobs_are_passed_by_none_but_an_agent_that_works() {
    let lasting = Lasting::start();
    let mut demo = eval_job(root());
    demo.args(["demo-agent", "--port", "0"]).envs(lasting.env.iter().cloned());
    let demo = Served::start(demo, 1, false);
    let demo = demo.lines[0].split_once("listens at ").unwrap().1.split(';').next().map(str::to_owned).unwrap();
    let nothing = does_nothing();
    let folder = tempfile::tempdir().unwrap();
    let mut jobs: Vec<(String, String)> = ["agent", "memory", "rescheduling"]
        .map(|name| (name.to_owned(), std::fs::read_to_string(root().join(format!("data/eval/{name}.yml"))).unwrap()))
        .into();
    let in_readme = readme::jobs().into_iter().filter(|job| job.contains("demo: {}"));
    jobs.extend(
        in_readme.zip(1..).map(|(job, number)| (format!("the README's job {number} with the demo agent"), job)),
    );
    for (name, job) in jobs {
        for agent in AGENTS {
            let model = if agent == "lies" { "demo-sloppy" } else { "demo-careful" };
            let more = [&["--model", model], SCRIPTED.as_slice()].concat();
            // As it stands, with a graph for each conversation ...
            if agent != "nothing" {
                let (output, _) = run(folder.path(), &job, (&[], &more));
                expect(&output, agent, &name);
            }
            // ... and with an agent that is running already, as if it were one's own, on a graph that lasts.
            let address = if agent == "nothing" { &nothing.address } else { &demo };
            let job = job.replace("demo: {}", &format!("embabel: {{baseUrl: \"{address}\"}}"));
            let (output, _) = run(folder.path(), &job, (&lasting.env, &more));
            expect(&output, agent, &format!("{name}, at {address}"));
        }
    }
}

#[test]
fn the_jobs_whose_agent_is_started_are_passed_by_none_but_one_that_works() {
    let driver = root().join("target/peers/python");
    if !driver.join("neo4j").exists() {
        assert!(std::env::var_os("CI").is_none(), "Python's neo4j is missing: run scripts/peers");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = path_with_driver(folder.path(), &driver);
    let env = [("PATH".to_owned(), path.into_string().unwrap())];
    copy(&root().join("data/eval/python-agent"), &folder.path().join("python-agent"));
    let own = std::fs::read_to_string(root().join("data/eval/python-agent/agent.py")).unwrap();
    let started = readme::jobs().into_iter().find(|job| job.contains("python3")).unwrap();
    let example = std::fs::read_to_string(root().join("data/eval/python-agent.yml")).unwrap();
    for (name, job) in [("the README's started agent", started), ("python-agent", example)] {
        for agent in AGENTS {
            let program = match agent {
                "works" => own.clone(),
                "lies" => own.replace("records = self.query(cypher, **arguments)", "records = []"),
                _ => own.replace("        self.events = []\n        if", "        return \"OK\"\n        if"),
            };
            assert_eq!(program == own, agent == "works");
            std::fs::write(folder.path().join("python-agent/agent.py"), program).unwrap();
            let (output, _) = run(folder.path(), &job, (&env, &SCRIPTED));
            expect(&output, agent, name);
        }
    }
}

/// Nothing in the examples leaves the next conversation what the last one did.
#[test]
fn no_example_is_warned_of() {
    let mut jobs = readme::jobs();
    for entry in std::fs::read_dir(root().join("data/eval")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "yml") {
            jobs.push(std::fs::read_to_string(path).unwrap());
        }
    }
    let folder = tempfile::tempdir().unwrap();
    // Where the examples start their agent.
    std::fs::create_dir(folder.path().join("python-agent")).unwrap();
    let validate = |job: &str| {
        std::fs::write(folder.path().join("job.yml"), job).unwrap();
        let mut command: Command = eval_job(folder.path());
        let output = command.args(["validate", "job.yml"]).env("OPENAI_API_KEY", "any").output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{job}\n{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for job in &jobs {
        assert!(!validate(job).contains("warning"), "{job}");
        assert!(job.contains("setups:") || job.contains("isolation:"), "it leaves something behind:\n{job}");
    }
    let shared = travel_job("http://localhost:8081").replace("isolation: user", "isolation: shared");
    assert!(validate(&shared).contains("job.yml: warning · conversations share the graph"), "{}", validate(&shared));
}
