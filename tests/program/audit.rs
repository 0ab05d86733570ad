//! Agents that do nothing: what lets them pass is named, and what does not isn't.

use std::path::Path;

use super::eval_job;
use crate::house::root;

/// Every address in it is nobody's: an audit contacts nothing.
const TARGET: &str = "target: {user: u, chatbot: c, embabel: {baseUrl: \"http://127.0.0.1:9\"}}\n\
                      graph: {neo4j: {uri: \"bolt://127.0.0.1:9\"}}\nfacts: []\n\
                      evaluator: {script: [Please rebook me to Lisbon]}\n";

const WEAK: &str = r#"setups: [{cypher: "CREATE (:City {name: 'Oslo'})"}]
tasks: [{task: Ask for a trip to Lisbon, acceptanceCriteria: It is rebooked}]
assertions:
  - {name: counts nothing, cypher: "MATCH (n:Trip) RETURN count(n) >= 0", expected: true}
  - {name: names Lisbon, expression: "evaluation.transcript.any(|it| it.role == \"assistant\" && it.content.contains(\"Lisbon\"))"}
  - {name: says done, expression: "evaluation.transcript.any(|it| it.role == \"assistant\" && it.content.contains(\"Done\"))"}
  - {name: names Oslo, expression: "evaluation.transcript.any(|it| it.role == \"assistant\" && it.content.contains(\"Oslo\"))"}
  - {name: no tool is called, expression: "evaluation.functionCalls.size == 0"}
  - {name: a city is there, cypher: "MATCH (c:City) RETURN count(c)", expected: 1}
  - {name: a trip is there, cypher: "MATCH (b:Trip {to: 'Lisbon'}) RETURN count(b)", expected: 1}
metrics: [{timing: {}, weight: 9}, {assertions: {}, weight: 1}]
"#;

fn audit(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = eval_job(folder).arg("audit").args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn what_lets_agents_pass_that_do_nothing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("weak.yml"), format!("{TARGET}{WEAK}")).unwrap();
    let (status, shown, said) = audit(folder.path(), &["weak.yml"]);
    assert_eq!(status, Some(0), "{shown}{said}");
    for line in [
        "score 0.60 · null 0.20 · echo 0.40 · yes 0.40 · list 0.60 ·",
        "assertion counts nothing (case weak) holds before the first word",
        "assertion no tool is called (case weak) holds before the first word",
        "assertion a city is there (case weak) holds before the first word",
        "assertion names Lisbon (case weak) lets echo, list pass",
        "assertion says done (case weak) lets yes pass",
        "assertion names Oslo (case weak) lets list pass",
        "timing has 90 % of the weights",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    assert!(!shown.contains("a trip is there"), "{shown}");
    let (status, _, said) = audit(folder.path(), &["weak.yml", "--max-trivial-score", "0.2"]);
    assert_eq!(status, Some(100));
    assert!(said.contains("more than 0.2 (--max-trivial-score)"), "{said}");
    assert_eq!(audit(folder.path(), &["weak.yml", "--max-trivial-score", "0.6"]).0, Some(0));
    let (_, json, _) = audit(folder.path(), &["weak.yml", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["audit"]["agents"][3]["agent"], "list");
    assert!(!folder.path().join("runs").exists(), "an audit keeps nothing");
}

#[test]
fn a_job_that_only_a_good_agent_passes_is_not_accused() {
    for job in ["agent", "rescheduling", "python-agent"] {
        let (status, shown, said) = audit(root(), &[&format!("data/eval/{job}.yml"), "--max-trivial-score", "0"]);
        assert_eq!(status, Some(0), "{shown}{said}");
        assert!(shown.contains("trivial-agent score 0.00") && !shown.contains('✗'), "{shown}");
    }
}

#[test]
fn what_the_embedded_graph_does_not_understand_is_not_passed() {
    let folder = tempfile::tempdir().unwrap();
    let setup = "setups: [{cypher: \"CALL apoc.help('x') YIELD name RETURN name\"}]\n\
                 tasks: [{task: Ask, acceptanceCriteria: Answered}]\n";
    std::fs::write(folder.path().join("job.yml"), format!("{TARGET}{setup}")).unwrap();
    let (status, shown, _) = audit(folder.path(), &["job.yml"]);
    assert_eq!(status, Some(102), "{shown}");
    assert!(shown.contains("not audited: case job: setup 1: The procedure apoc.help() is not in"), "{shown}");
}
