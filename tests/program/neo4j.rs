//! Jobs on a real Neo4j: Embabel's example job as it stands, and everything that can be wrong with a database.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use eval_job::evidence::{Condition, Observed};
use eval_job::record::{Entry, RunRecord, TrialRecord};
use eval_job::score::{Item, Outcome, Score, Vacuity};
use serde_json::json;

use super::eval_job;
use crate::house::root;
use crate::servers::http::{Reply, Server};
use crate::servers::{agent, model, neo4j};

/// `eval-job demo-agent` as a process of its own.
struct DemoAgent {
    child: Child,
    stderr: BufReader<ChildStderr>,
    address: String,
}

impl DemoAgent {
    fn start(database: &neo4j::Server, port: u16) -> DemoAgent {
        let mut command = eval_job(root());
        command.args(["demo-agent", "--port", &port.to_string()]).stderr(Stdio::piped());
        let mut child = database.tell(&mut command).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let address = line.split_once("listens at ").and_then(|(_, rest)| rest.split_once(';'));
        let Some((address, _)) = address else {
            let _ = child.wait();
            panic!("the demo agent could not be started; is port {port} free? It says: {line}");
        };
        let address = address.to_owned();
        DemoAgent { child, stderr, address }
    }

    /// Ctrl-C; returns the status and what else was said.
    fn interrupt(mut self) -> (Option<i32>, String) {
        assert!(Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap().success());
        let status = self.child.wait().unwrap().code();
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.stderr, &mut rest).unwrap();
        (status, rest)
    }
}

impl Drop for DemoAgent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(folder: &Path, database: &neo4j::Server, job: &str, env: &[(&str, &str)]) -> (Output, RunRecord) {
    std::fs::write(folder.join("job.yml"), job).unwrap();
    let mut command = eval_job(folder);
    command.args(["run", "job.yml", "--no-progress", "-o", "record.json"]);
    let output = database.tell(&mut command).envs(env.iter().copied()).output().unwrap();
    let record = std::fs::read(folder.join("record.json"))
        .unwrap_or_else(|_| panic!("{job}\nno record: {}", String::from_utf8_lossy(&output.stderr)));
    (output, serde_json::from_slice(&record).unwrap())
}

fn turns(trial: &TrialRecord) -> usize {
    trial.evidence.as_ref().map_or(0, |evidence| evidence.transcript.turns.len())
}

/// What could not be seen in the graph, in the order of the assertions.
fn failed_queries(trial: &TrialRecord) -> Vec<String> {
    let queries = trial.evidence.iter().flat_map(|evidence| &evidence.queries);
    queries
        .filter_map(|query| match &query.result {
            Observed::Failed(error) => Some(error.clone()),
            Observed::Seen(_) => None,
        })
        .collect()
}

/// The journal has each trial's end before the next one's beginning.
fn one_after_the_other(folder: &Path) -> bool {
    let run = super::kept_run(folder).unwrap();
    let journal = eval_job::store::folder::read_journal(&std::fs::read(run.join("journal.ndjson")).unwrap());
    let moments: Vec<(u32, bool)> = journal
        .entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::TrialStarted { trial, .. } => Some((*trial, false)),
            Entry::TrialFinished { trial, .. } => Some((*trial, true)),
            _ => None,
        })
        .collect();
    moments == [(1, false), (1, true), (2, false), (2, true)]
}

#[tokio::test]
async fn embabels_example_job_runs_as_it_stands() {
    let Some(database) = neo4j::database("embabels_example_job_runs_as_it_stands").await else { return };
    let agent = DemoAgent::start(&database.server, 8081);
    let (_model, base) = model::start("first-person");
    let env = [("OPENAI_BASE_URL", base.as_str()), ("OPENAI_API_KEY", "sk-test")];
    let job = std::fs::read_to_string(root().join("tests/fixtures/job/embabel-readme.yml")).unwrap();
    // The agent's replies are fast, the judge gives 0.8, and all the rest is what the assertions say: (1 + 1.6 + 4) / 7.
    let both_hold = 6.6 / 7.0;

    // It has no setups: the second conversation finds the first one's reminder. That there are two of them is not the
    // doing of an agent that made one.
    let folder = tempfile::tempdir().unwrap();
    let (output, record) = run(folder.path(), &database.server, &job, &env);
    let page = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(102), "{page}");
    assert_eq!(composites(&record)[0], (Condition::WithoutFacts, both_hold));
    let items = &record.trials[1].scorecard.as_ref().unwrap().dimension("assertions").unwrap().items;
    for item in items {
        assert!(item.component.is_missing(), "{page}");
        assert!(item.component.why().contains("without what was there before the first word it would hold"), "{page}");
    }
    assert!(String::from_utf8_lossy(&output.stderr).contains("job.yml: warning · conversations share the graph"));
    assert!(one_after_the_other(folder.path()), "trials that share a database");
    let zones = "MATCH (r:Reminder) WITH r.timeZone AS zone ORDER BY zone RETURN collect(zone)";
    assert_eq!(database.server.value(zones).await, "['Australia/Sydney', 'UTC']", "it asked, and only one knew");

    // With a setup that empties the graph, which runs before each conversation, both hold.
    let folder = tempfile::tempdir().unwrap();
    let job = format!("{job}\nsetups:\n  - cypher: MATCH (n) DETACH DELETE n\n");
    let (output, record) = run(folder.path(), &database.server, &job, &env);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(composites(&record), [(Condition::WithoutFacts, both_hold), (Condition::WithFacts, both_hold)]);
    assert_eq!(database.server.value(zones).await, "['Australia/Sydney']");
    assert_eq!(agent.address, "http://127.0.0.1:8081");
}

/// Rounded, for the sum of weights is not exact.
fn composites(record: &RunRecord) -> Vec<(Condition, f64)> {
    let close = |score: f64| if (6.6 / 7.0 - score).abs() < 1e-9 { 6.6 / 7.0 } else { score };
    let figure = |trial: &TrialRecord| trial.score().map_or(f64::NAN, |score: Score| close(score.get()));
    record.trials.iter().map(|trial| (trial.trial.condition, figure(trial))).collect()
}

#[tokio::test]
async fn the_demo_agent_takes_a_free_port_and_ends_in_order() {
    let Some(database) = neo4j::database("the_demo_agent_takes_a_free_port_and_ends_in_order").await else { return };
    let agent = DemoAgent::start(&database.server, 0);
    let port: u16 = agent.address.rsplit(':').next().unwrap().parse().unwrap();
    assert_ne!(port, 0);
    let mut second = eval_job(root());
    second.args(["demo-agent", "--port", &port.to_string()]);
    let taken = database.server.tell(&mut second).output().unwrap();
    let words = String::from_utf8(taken.stderr).unwrap();
    assert_eq!(taken.status.code(), Some(1), "{words}");
    assert!(words.contains(&format!("nothing can listen at 127.0.0.1:{port}")) && words.contains("--port"), "{words}");
    assert_eq!(agent.interrupt(), (Some(0), String::new()));

    let mut locked_out = eval_job(root());
    database.server.tell(locked_out.args(["demo-agent", "--port", "0"])).env("NEO_PASSWORD", "s3cret");
    let output = locked_out.output().unwrap();
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(102), "{words}");
    assert!(words.contains("refuses the login") && !words.contains("s3cret"), "{words}");
}

/// A job whose agent is fine and whose lines are fixed: three turns a conversation.
fn job(agent_address: &str, more: &str) -> String {
    format!(
        "evaluator: {{script: [one, two]}}\nscorer: {{model: scripted}}\n\
         target: {{user: u, chatbot: c, embabel: {{baseUrl: \"{agent_address}\"}}}}\ngreetings: [Hello]\nfacts: []\nconditions: [withoutFacts, withFacts]\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n{more}\n"
    )
}

/// What is wrong, the rest of the job, the environment, and a part of the cause that must be told.
type Wrong<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a str);

#[tokio::test]
async fn what_is_wrong_with_a_database_is_never_the_agents_fault() {
    let test = "what_is_wrong_with_a_database_is_never_the_agents_fault";
    let Some(database) = neo4j::database(test).await else { return };
    let (_agent, address) = agent::start("good");
    let one = "assertions: [{cypher: RETURN 1, expected: 1}]";
    let setup = "setups: [{cypher: 'CREATE (:Never)'}]";
    let slow = "UNWIND range(1, 1000000000) AS x WITH x WHERE x % 7 = 0 RETURN count(x)";
    let slow_setup = format!("limits: {{query: 0.5}}\nsetups: [{{cypher: '{slow}'}}]");
    let slow_query = format!("limits: {{query: 0.5}}\nassertions: [{{cypher: '{slow}', expected: 1}}]");
    let wrong_database = |rest: &str| format!("graph: {{neo4j: {{database: nope}}}}\n{rest}");
    let scheme = |scheme: &str| database.server.uri.replace("bolt://", &format!("{scheme}://"));
    let (trusted, any) = (scheme("bolt+s"), scheme("neo4j+ssc"));

    // Most are found before the first word; a setup that is slow only by running it.
    let broken: [Wrong; 9] = [
        ("wrong password", setup, &[("NEO_PASSWORD", "s3cret")], "refuses the login"),
        ("wrong database", &wrong_database(setup), &[], "Graph not found: nope"),
        ("a setup past its limit", &slow_setup, &[], "took longer than 0.5 s"),
        ("half a setup", "setups: [{cypher: 'CREATE (:Never); CREATE (:Never {x: 1 / 0})'}]", &[], "Statement 2 of 2"),
        ("TLS, trusted", setup, &[("NEO_URI", &trusted)], "is the scheme (bolt, bolt+s) right?"),
        ("TLS, any", setup, &[("NEO_URI", &any)], "is the scheme (bolt, bolt+s) right?"),
        ("wrong password, no setup", one, &[("NEO_PASSWORD", "s3cret")], "refuses the login"),
        ("wrong database, no setup", &wrong_database(one), &[], "Graph not found: nope"),
        ("TLS, no setup", one, &[("NEO_URI", &trusted)], "is the scheme (bolt, bolt+s) right?"),
    ];
    for (what, more, env, cause) in broken {
        let folder = tempfile::tempdir().unwrap();
        let (output, record) = run(folder.path(), &database.server, &job(&address, more), env);
        assert_eq!(output.status.code(), Some(102), "{what}");
        for trial in &record.trials {
            let Some(Outcome::Broken { error }) = &trial.outcome else { panic!("{what}: {:?}", trial.outcome) };
            assert!(error.contains(cause), "{what}: {error}");
            assert_eq!(turns(trial), 0, "{what}: nothing was said and nothing paid");
        }
        no_secret(&output, what);
    }
    assert_eq!(database.server.value("MATCH (n) RETURN count(n)").await, "0", "a setup is all or nothing");

    for statement in ["CREATE (:Never)", "RETUR 1", "RETURN n.x", "RETURN $nope"] {
        let folder = tempfile::tempdir().unwrap();
        let more = format!("assertions: [{{cypher: '{statement}', expected: 1}}]");
        std::fs::write(folder.path().join("job.yml"), job(&address, &more)).unwrap();
        let output = database.server.tell(eval_job(folder.path()).args(["run", "job.yml"])).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{statement}: {}", String::from_utf8_lossy(&output.stderr));
    }

    let broken: [Wrong; 2] = [
        ("a query past its limit", &slow_query, &[], "took longer than 0.5 s"),
        (
            "a million rows",
            "assertions: [{cypher: 'UNWIND range(1, 1000000) AS x RETURN x', expected: 1}]",
            &[],
            "more than 100000 rows",
        ),
    ];
    for (what, more, env, cause) in broken {
        let folder = tempfile::tempdir().unwrap();
        let (output, record) = run(folder.path(), &database.server, &job(&address, more), env);
        assert_eq!(output.status.code(), Some(102), "{what}");
        for trial in &record.trials {
            let Some(Outcome::Broken { error }) = &trial.outcome else { panic!("{what}: {:?}", trial.outcome) };
            assert!(error.contains(cause) && error.contains("before the first word"), "{what}: {error}");
            assert_eq!((turns(trial), trial.score()), (0, None), "{what}: no conversation is paid for");
        }
        no_secret(&output, what);
    }
    assert_eq!(database.server.value("MATCH (n) RETURN count(n)").await, "0", "an assertion writes nothing");
}

fn no_secret(output: &Output, what: &str) {
    let shown = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!shown.contains("s3cret"), "{what}: {shown}");
}

#[tokio::test]
async fn null_is_a_value_and_a_column_that_is_not_there_is_the_jobs_fault() {
    let test = "null_is_a_value_and_a_column_that_is_not_there_is_the_jobs_fault";
    let Some(database) = neo4j::database(test).await else { return };
    let (_agent, address) = agent::start("good");
    let more = "assertions:\n  \
                - {cypher: OPTIONAL MATCH (r:Reminder) RETURN r.title, expected: null, holdsBefore: true}\n  \
                - {cypher: 'MATCH (r:Reminder) RETURN r.title', expected: [], holdsBefore: true}\n  \
                - {cypher: 'RETURN 1 AS a, null AS b', expected: {a: 1, b: null}, holdsBefore: true}\n";
    let folder = tempfile::tempdir().unwrap();
    let (output, record) = run(folder.path(), &database.server, &job(&address, more), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    // Nothing of the task was done, and every assertion holds: 4 of 6 weights.
    assert!(
        record.trials.iter().all(|trial| trial.score().is_some_and(|score| (score.get() - 4.0 / 6.0).abs() < 1e-9))
    );

    let more = "assertions: [{cypher: RETURN 1 AS a, expected: {a: 1, b: 2}}]";
    let folder = tempfile::tempdir().unwrap();
    let (output, record) = run(folder.path(), &database.server, &job(&address, more), &[]);
    assert_eq!(output.status.code(), Some(102));
    assert!(record.trials.iter().all(|trial| trial.score().is_none()));
    let page = String::from_utf8(output.stdout).unwrap();
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("broken: assertion 1 (`RETURN 1 AS a`) can't be evaluated: `expected` names the"), "{page}");
}

#[test]
fn a_neo4j_that_is_killed_in_mid_run_takes_no_evidence_with_it() {
    let test = "a_neo4j_that_is_killed_in_mid_run_takes_no_evidence_with_it";
    let Some(mortal) = neo4j::Mortal::start(test) else { return };
    let (kill, messages) = (mortal.killer(), Arc::new(AtomicUsize::new(0)));
    let agent = Server::start(move |request| match request.path.as_str() {
        "/api/v1/chat/sessions" => Reply::Json(200, json!({"sessionId": "s"})),
        _ => {
            let number = messages.fetch_add(1, Ordering::SeqCst) + 1;
            if number == 2 {
                kill();
            }
            let text = format!("reply {number}");
            Reply::Json(200, json!({"sessionId": "s", "message": {"content": text, "role": "assistant"}, "events": []}))
        }
    });
    let more = "setups: [{cypher: 'MERGE (:Ready)'}]\nassertions:\n  \
                - {cypher: 'MATCH (n:Ready) RETURN count(n)', expected: 1}\n  - {expression: evaluation.done}\n";
    let folder = tempfile::tempdir().unwrap();
    let (output, record) = run(folder.path(), &mortal.server, &job(&agent.address, more), &[]);
    assert_eq!(output.status.code(), Some(102), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(one_after_the_other(folder.path()));
    let [first, second] = record.trials.as_slice() else { panic!("{} trials", record.trials.len()) };

    assert_eq!(first.outcome, Some(Outcome::Graded), "the agent did nothing wrong");
    assert_eq!((turns(first), first.score()), (3, None));
    let failed = failed_queries(first);
    assert!(failed.len() == 1 && failed[0].contains("can't be reached"), "{failed:?}");
    let scorecard = first.scorecard.as_ref().unwrap();
    assert!(format!("{scorecard:?}").contains("can't be reached"), "the cause is told");

    let Some(Outcome::Broken { error }) = &second.outcome else { panic!("{:?}", second.outcome) };
    assert!(error.contains("setup 1") && error.contains("can't be reached"), "{error}");
    let shown = eval_job(folder.path()).args(["show", "-v"]).output().unwrap();
    assert_eq!(shown.status.code(), Some(102));
    assert!(String::from_utf8(shown.stdout).unwrap().contains("reply 3"), "all that was said is kept");
}

/// Why each failed try of a trial does not count; an empty text where it does.
fn excuses(trial: &TrialRecord) -> Vec<String> {
    let turns = trial.evidence.iter().flat_map(|evidence| &evidence.transcript.turns);
    turns.flat_map(|turn| &turn.failures).map(|failed| failed.excuse.clone().unwrap_or_default()).collect()
}

#[test]
fn a_try_that_failed_while_neo4j_was_down_does_not_count() {
    let Some(mortal) = neo4j::Mortal::start("a_try_that_failed_while_neo4j_was_down_does_not_count") else {
        return;
    };
    let (kill, revive, messages) = (mortal.killer(), mortal.reviver(), Arc::new(AtomicUsize::new(0)));
    let agent = Server::start(move |request| match request.path.as_str() {
        "/api/v1/chat/sessions" => Reply::Json(200, json!({"sessionId": "s"})),
        _ => {
            let number = messages.fetch_add(1, Ordering::SeqCst) + 1;
            match number {
                2 => kill(),
                // It is down still.
                3 => {}
                _ => {
                    if number == 4 {
                        revive();
                    }
                    let message = json!({"content": format!("reply {number}"), "role": "assistant"});
                    return Reply::Json(200, json!({"sessionId": "s", "message": message, "events": []}));
                }
            }
            Reply::Json(500, json!({"error": "no connection to the graph"}))
        }
    });
    let more = "setups: [{cypher: 'MERGE (:Ready)'}]\nlimits: {turn: 300, trial: 1200}\n";
    let folder = tempfile::tempdir().unwrap();
    let (output, record) = run(folder.path(), &mortal.server, &job(&agent.address, more), &[]);
    let words = String::from_utf8_lossy(&output.stderr);
    let first = &record.trials[0];
    assert_eq!(first.outcome, Some(Outcome::Graded), "{words}");
    let excuses = excuses(first);
    assert_eq!(excuses.len(), 2, "{excuses:?}");
    assert!(excuses.iter().all(|excuse| excuse.contains("can't be reached")), "{excuses:?}");
    assert_eq!(first.scorecard.as_ref().unwrap().failure_count, 0);
    let shown = eval_job(folder.path()).args(["show", "-v"]).output().unwrap();
    assert!(String::from_utf8(shown.stdout).unwrap().contains("it does not count: "));
}

#[test]
fn a_try_while_neo4j_was_started_again_does_not_count() {
    let Some(mortal) = neo4j::Mortal::start("a_try_while_neo4j_was_started_again_does_not_count") else { return };
    let (kill, revive, messages) = (mortal.killer(), mortal.reviver(), Arc::new(AtomicUsize::new(0)));
    let agent = Server::start(move |request| match request.path.as_str() {
        "/api/v1/chat/sessions" => Reply::Json(200, json!({"sessionId": "s"})),
        _ => {
            let number = messages.fetch_add(1, Ordering::SeqCst) + 1;
            if number == 2 {
                // When the failure is looked at, the graph answers as ever.
                kill();
                revive();
                return Reply::Json(500, json!({"error": "the transaction was lost"}));
            }
            let message = json!({"content": format!("reply {number}"), "role": "assistant"});
            Reply::Json(200, json!({"sessionId": "s", "message": message, "events": []}))
        }
    });
    let more = "setups: [{cypher: 'MERGE (:Ready)'}]\nlimits: {turn: 300, trial: 1200}\n";
    let folder = tempfile::tempdir().unwrap();
    let (output, record) = run(folder.path(), &mortal.server, &job(&agent.address, more), &[]);
    let first = &record.trials[0];
    assert_eq!(first.outcome, Some(Outcome::Graded), "{}", String::from_utf8_lossy(&output.stderr));
    let excuses = excuses(first);
    // Bolt answers before the database is available, and on a busy machine it may not answer in time: what is told
    // then is that, and not the uptime.
    assert!(excuses.len() == 1 && excuses[0].contains("Neo4j"), "{excuses:?}");
    assert_eq!(first.scorecard.as_ref().unwrap().failure_count, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_that_somebody_else_holds_is_not_the_agents_failure() {
    let Some(database) = neo4j::database("a_lock_that_somebody_else_holds_is_not_the_agents_failure").await else {
        return;
    };
    database.server.write("CREATE (:Ready)").await;
    let driver = neo4rs::Graph::new(&database.server.uri, &database.server.username, &database.server.password);
    let mut holder = driver.unwrap().start_txn().await.unwrap();
    holder.run("MATCH (n:Ready) SET n.held = true").await.unwrap();

    // The agent gives up after a while, and says so.
    // Let go of in the end: what it began ends with its connections.
    let graph = Arc::new(Mutex::new(Some(Arc::new(database.server.graph_with(std::time::Duration::from_secs(2))))));
    let writer = graph.clone();
    let runtime = tokio::runtime::Handle::current();
    let agent = Server::start(move |request| match request.path.as_str() {
        "/api/v1/chat/sessions" => Reply::Json(200, json!({"sessionId": "s"})),
        _ => {
            let graph = writer.lock().unwrap().clone().unwrap();
            let none = eval_job::graph::Parameters::new();
            let write = eval_job::graph::Graph::write(graph.as_ref(), "MATCH (n:Ready) SET n.mine = true", &none);
            let error = runtime.block_on(write).unwrap_err();
            Reply::Json(500, json!({"error": error.message}))
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let more = "setups: [{cypher: 'RETURN 1'}]\n";
    let (output, record) = run(folder.path(), &database.server, &job(&agent.address, more), &[]);
    drop(graph.lock().unwrap().take());
    holder.rollback().await.unwrap();
    assert_eq!(output.status.code(), Some(102), "{}", String::from_utf8_lossy(&output.stderr));
    for trial in &record.trials {
        let Some(Outcome::Broken { error }) = &trial.outcome else { panic!("{:?}", trial.outcome) };
        assert!(error.contains("the agent failed (") && error.contains("lock"), "{error}");
        let excuses = excuses(trial);
        assert!(excuses.iter().all(|excuse| excuse.contains("transaction")), "{excuses:?}");
    }
}

/// What is known about whether each of a trial's assertions can fail.
fn vacuity(trial: &TrialRecord) -> Vec<Option<Vacuity>> {
    let card = trial.scorecard.as_ref().unwrap();
    card.dimension("assertions").unwrap().items.iter().map(|item| item.vacuity.clone()).collect()
}

#[tokio::test]
async fn what_held_before_is_told_and_what_the_embedded_graph_can_not_run_is_never_called_vacuous() {
    let test = "what_held_before_is_told_and_what_the_embedded_graph_can_not_run_is_never_called_vacuous";
    let Some(database) = neo4j::database(test).await else { return };
    database.server.write("CREATE (:Kept)").await;
    let (_agent, address) = agent::start("good");
    let more = "gate: {vacuous: warn}\nassertions:\n  \
                - {cypher: 'MATCH (n:Never) WITH count(n) AS c RETURN reduce(s = 0, x IN [c] | s + x)', expected: 0}\n  \
                - {cypher: 'MATCH (n:Kept) RETURN count(n)', expected: 1}\n";
    let folder = tempfile::tempdir().unwrap();
    let (output, record) = run(folder.path(), &database.server, &job(&address, more), &[]);
    let page = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(102), "nothing was shown: {page}");
    assert!(page.contains("\n2 assertions held before the first word already. "), "{page}");
    for trial in &record.trials {
        assert_eq!(vacuity(trial), [Some(Vacuity::HeldBefore), Some(Vacuity::HeldBefore)]);
    }

    // The one beside it holds wherever one looks.
    let more = more.replace("warn", "fail") + "  - {cypher: 'MATCH (n:Never) RETURN count(n)', expected: 0}\n";
    let (output, record) = run(folder.path(), &database.server, &job(&address, &more), &[]);
    let page = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(100), "{page}");
    assert!(page.contains("gate failed: 1 vacuous assertion and 2 that held before the first word, and "), "{page}");
    assert_eq!((record.doubts().vacuous().len(), record.doubts().held_before().len()), (1, 2));
    let mut live = eval_job(folder.path());
    let live = database.server.tell(live.args(["validate", "--live", "job.yml"])).output().unwrap();
    let words = String::from_utf8(live.stdout).unwrap();
    assert_eq!(live.status.code(), Some(100), "{words}");
    for told in ["holds before · assertion 1 (", "holds before · assertion 2 (", "vacuous · assertion 3 ("] {
        assert!(words.contains(told), "{words}");
    }
}

#[tokio::test]
async fn every_kind_of_assertion_comes_to_the_same_on_both_backends() {
    let test = "every_kind_of_assertion_comes_to_the_same_on_both_backends";
    let Some(database) = neo4j::database(test).await else { return };
    let job = r#"
evaluator: {script: [Remind me to call Bob on 7 March 2031 at 9:00, "Thanks, bye."]}
scorer: {model: scripted}
greetings: [Hello]
tasks: [{task: Ask for a reminder to call Bob, acceptanceCriteria: A reminder to call Bob is created}]
facts: []
conditions: [withoutFacts, withFacts]
target: {user: u, chatbot: demo, demo: {}}
setups: [{cypher: "MATCH (n) DETACH DELETE n; CREATE (:User {id: $user, timeZone: 'UTC'})-[:HAS_REMINDER]->(:Reminder {title: 'Feed Eve', at: '1'})"}]
assertions:
  - {cypher: "MATCH (:User {id: $user})-[:HAS_REMINDER]->(r) RETURN r.title, r.at ORDER BY r.title", expected: [[Call Bob, "2031-03-07T09:00:00+00:00"], [Feed Eve, "1"]]}
  - {cypher: "MATCH (r:Reminder) RETURN count(r)", expected: 7}
  - {cypher: "MATCH (r:Reminder {title: 'Feed Eve'}) RETURN r.at", expected: "1"}
  - {cypher: "MATCH (n:Note) RETURN count(n)", expected: 0}
  - {cypher: "MATCH (n:Note) RETURN count(n)", expected: 0, holdsBefore: true}
  - {expression: "changes.created.size == 2 && changes.created.all(|it| it.turn == 2)"}
  - {expression: "evaluation.functionCalls.size == 7"}
  - {expression: "objectContext.resources.size >= 0"}
  - {changes: {created: [{node: Reminder, where: {title: Call Bob}, count: 1}, {relationship: HAS_REMINDER, count: 1}], turn: 2}}
  - {changes: {}}
  - {changes: {created: any, deleted: any, changed: any}}
"#;
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (_, embedded) = run(here.path(), &database.server, job, &[]);
    assert_eq!(embedded.provenance.graph.as_deref(), Some("embedded"));
    let (_, on_neo4j) = run(there.path(), &database.server, &format!("{job}graph: {{neo4j: {{}}}}\n"), &[]);
    assert_eq!(on_neo4j.provenance.graph.as_deref(), Some("neo4j"));
    for (one, other) in embedded.trials.iter().zip(&on_neo4j.trials) {
        assert_eq!(one.scorecard, other.scorecard);
        let card = one.scorecard.as_ref().unwrap();
        let items = &card.dimension("assertions").unwrap().items;
        let holds: Vec<bool> = items.iter().map(|item| item.component.score() == Some(Score::ONE)).collect();
        assert_eq!(holds, [true, false, true, true, true, true, false, true, true, false, true], "{items:?}");
    }
    assert_eq!(embedded.doubts().vacuous(), on_neo4j.doubts().vacuous());
    let labels: Vec<&str> = vacuous(&embedded).iter().map(|item| item.label.as_str()).collect();
    let nothing = "created anything; deleted anything; changed anything";
    assert_eq!(labels, ["MATCH (n:Note) RETURN count(n)", "objectContext.resources.size >= 0", nothing]);
}

/// The items of a run's vacuous assertions, as its first trial has them.
fn vacuous(record: &RunRecord) -> Vec<&Item> {
    let doubts = record.doubts();
    let keys = doubts.vacuous();
    let card = record.trials[0].scorecard.as_ref().unwrap();
    let items = &card.dimension("assertions").unwrap().items;
    items.iter().filter(|item| keys.iter().any(|(_, key)| *key == item.key())).collect()
}
