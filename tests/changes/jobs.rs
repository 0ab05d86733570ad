//! Jobs with `changes` assertions, on both backends.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use eval_job::evidence::{Observed, TrialId};
use eval_job::record::RunRecord;
use serde_json::json;

use crate::house::root;
use crate::program::eval_job;
use crate::servers::http::{Reply, Server};
use crate::servers::neo4j;

fn run(folder: &Path, job: &str, database: Option<&neo4j::Server>) -> (Option<i32>, RunRecord, String) {
    std::fs::write(folder.join("job.yml"), job).unwrap();
    let mut command = eval_job(folder);
    command.args(["run", "job.yml", "--no-progress", "-o", "record.json"]);
    if let Some(database) = database {
        database.tell(&mut command);
    }
    let output = command.output().unwrap();
    let record = std::fs::read(folder.join("record.json"))
        .unwrap_or_else(|_| panic!("{job}\nno record: {}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code(), serde_json::from_slice(&record).unwrap(), String::from_utf8(output.stdout).unwrap())
}

/// What each trial's assertions came to, and its changes as they are shown.
fn told(record: &RunRecord) -> Vec<(TrialId, Vec<String>, Vec<String>)> {
    record
        .trials
        .iter()
        .map(|trial| {
            let card = trial.scorecard.as_ref().unwrap();
            let assertions = card.dimension("assertions").unwrap();
            let assertions = assertions.items.iter().map(|item| format!("{:?}", item.component)).collect();
            let Some(Observed::Seen(changes)) = &trial.evidence.as_ref().unwrap().changes else {
                panic!("not watched")
            };
            let changes = changes.iter().map(|change| format!("{change} {}", change.when())).collect();
            (trial.trial.clone(), assertions, changes)
        })
        .collect()
}

#[tokio::test]
async fn the_same_job_comes_to_the_same_on_both_backends() {
    let test = "the_same_job_comes_to_the_same_on_both_backends";
    let Some(database) = neo4j::database(test).await else { return };
    for case in ["changes-hold", "changes-fail", "changes-window"] {
        let job = std::fs::read_to_string(root().join("tests/golden").join(case).join("job.yml")).unwrap();
        // Each conversation begins on an empty graph, as it does in the embedded one.
        let job = job.replace("setups:\n", "setups:\n  - cypher: MATCH (n) DETACH DELETE n\n");
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (embedded_status, embedded, _) = run(here.path(), &job, None);
        let on_neo4j = match job.contains("graph:\n") {
            true => job.replace("graph:\n", "graph:\n  neo4j: {}\n"),
            false => format!("{job}graph: {{neo4j: {{}}}}\n"),
        };
        let (status, record, _) = run(there.path(), &on_neo4j, Some(&database.server));
        assert_eq!(told(&record), told(&embedded), "{case}");
        assert_eq!(status, embedded_status, "{case}");
        assert!(told(&embedded).iter().all(|(_, assertions, changes)| !assertions.is_empty() && !changes.is_empty()));
    }
}

fn job(address: &str, more: &str) -> String {
    format!(
        "evaluator: {{script: [one, two]}}\nscorer: {{model: scripted}}\n\
         target: {{user: u, chatbot: c, embabel: {{baseUrl: \"{address}\"}}}}\ngreetings: [Hello]\nfacts: []\nconditions: [withoutFacts, withFacts]\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n{more}\n"
    )
}

/// An agent that does something with each message, and something else when somebody looks at its state.
fn agent(on_message: impl Fn(usize) + Send + Sync + 'static, on_look: impl Fn() + Send + Sync + 'static) -> Server {
    let messages = Arc::new(AtomicUsize::new(0));
    Server::start(move |request| match request.path.as_str() {
        "/api/v1/chat/sessions" => Reply::Json(200, json!({"sessionId": "s"})),
        path if path.to_ascii_lowercase().contains("objectcontexts") => {
            on_look();
            Reply::Json(200, json!({"context": null, "resources": [], "functions": []}))
        }
        _ => {
            on_message(messages.fetch_add(1, Ordering::SeqCst) % 3 + 1);
            Reply::Json(200, json!({"sessionId": "s", "message": {"content": "ok", "role": "assistant"}, "events": []}))
        }
    })
}

fn writer(uri: &neo4j::Server) -> impl Fn(&str) + Clone + Send + Sync + 'static {
    let (uri, username, password) = (uri.uri.clone(), uri.username.clone(), uri.password.clone());
    move |statement: &str| {
        let server = neo4j::Server { uri: uri.clone(), username: username.clone(), password: password.clone() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(server.write(statement));
    }
}

#[tokio::test]
async fn an_agent_of_ones_own_is_watched_turn_by_turn_and_after_its_last_reply() {
    let test = "an_agent_of_ones_own_is_watched_turn_by_turn_and_after_its_last_reply";
    let Some(database) = neo4j::database(test).await else { return };
    let (write, write_late) = (writer(&database.server), writer(&database.server));
    let agent = agent(
        move |turn| write(&format!("CREATE (:Turn {{number: {turn}}})")),
        move || write_late("MATCH (t:Turn {number: 3}) SET t.late = true"),
    );
    let more = "setups: [{cypher: MATCH (n) DETACH DELETE n}]\nassertions:\n  \
                - changes: {created: [{node: Turn, where: {number: {type: integer, min: 1, max: 3}}, count: 3}], changed: [{node: Turn}]}\n  \
                - changes: {created: any, changed: any, turn: {max: 3}}\n  \
                - expression: objectContext.resources.size == 0 && changes.changed[0].late\n";
    let folder = tempfile::tempdir().unwrap();
    let (status, record, _) = run(folder.path(), &job(&agent.address, more), Some(&database.server));
    assert_eq!(status, Some(0));
    for (_, assertions, changes) in told(&record) {
        let expected = [
            "(:Turn {number: 1}) in turn 1",
            "(:Turn {number: 2}) in turn 2",
            "(:Turn {number: 3}) in turn 3",
            "(:Turn {number: 3}) late: null → true after the reply of turn 3",
        ];
        assert_eq!(changes, expected);
        assert!(assertions[0].contains("created 3, changed 1, nothing else"), "{assertions:?}");
        assert!(assertions[1].contains("after the reply of turn 3, but only turns 1 to 3"), "{assertions:?}");
        assert!(assertions[2].contains("is true"), "{assertions:?}");
    }
    let shown = eval_job(folder.path()).args(["show", "-v"]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("   ~ (:Turn {number: 3}) late: null → true  after the reply\n"), "{shown}");
    // The journal adds up to the same as the record.
    let journal = crate::program::kept_run(folder.path()).unwrap();
    let journal = eval_job::store::folder::read_journal(&std::fs::read(journal.join("journal.ndjson")).unwrap());
    assert_eq!(told(&RunRecord::from_entries(journal.entries).unwrap()), told(&record));
}

#[tokio::test]
async fn a_graph_that_can_not_be_captured_breaks_nothing() {
    let Some(database) = neo4j::database("a_graph_that_can_not_be_captured_breaks_nothing").await else { return };
    database.server.write("UNWIND range(1, 300) AS x CREATE (:Old {x: x})-[:R]->(:Old)").await;
    let agent = agent(|_| {}, || {});
    let slow = "reduce(sum = 0, x IN range(1, 100000000) | sum + x) > n.x";
    for (watch, limits, reason) in [
        ("{maxNodes: 599}", "", "it has more nodes than graph.watch.maxNodes allows (599)"),
        (&format!("{{where: \"{slow}\"}}"), "limits: {query: 0.5}", "took longer than 0.5 s"),
        ("{}", "limits: {query: 0.000001}", "limits.query"),
        ("{where: n.x / 0 = 1}", "", "with graph.watch.where: "),
    ] {
        let more = format!(
            "graph: {{neo4j: {{}}, watch: {watch}}}\n{limits}\nassertions: [{{changes: {{}}}}, {{expression: evaluation.done}}]"
        );
        let folder = tempfile::tempdir().unwrap();
        let (status, record, page) = run(folder.path(), &job(&agent.address, &more), Some(&database.server));
        assert_eq!(status, Some(102), "{watch} {limits}");
        for trial in &record.trials {
            let evidence = trial.evidence.as_ref().unwrap();
            let Some(Observed::Failed(told)) = &evidence.changes else { panic!("{:?}", evidence.changes) };
            assert!(told.contains(reason), "{watch} {limits}: {told}");
            assert_eq!(evidence.transcript.turns.len(), 3);
        }
        // Both conversations have the same reason, but for a limit that is passed in either of two places.
        let lines = page.lines().filter(|line| line.starts_with("The graph could not be watched ("));
        assert!((1..=2).contains(&lines.count()), "{page}");
    }
    // As many as are allowed are watched.
    let more = "graph: {neo4j: {}, watch: {maxNodes: 600}}\nassertions: [{changes: {}, holdsBefore: true}]";
    let folder = tempfile::tempdir().unwrap();
    let (status, _, page) = run(folder.path(), &job(&agent.address, more), Some(&database.server));
    assert_eq!(status, Some(0), "{page}");
    assert!(page.contains("Passed: ") && page.contains("1 assertion (-v shows them)"), "{page}");
}
