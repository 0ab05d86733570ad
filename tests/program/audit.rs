//! Agents that do nothing: what lets them pass is named, and what does not isn't.

use std::path::Path;

use serde_json::json;

use super::eval_job;
use crate::house::root;
use crate::servers::http::{Reply, Server};

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

fn shown(folder: &Path) -> (Option<i32>, String, String) {
    let output = eval_job(folder).arg("show").output().unwrap();
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

#[test]
fn an_assertion_that_the_embedded_graph_does_not_understand_is_not_passed() {
    let folder = tempfile::tempdir().unwrap();
    let assertions = "assertions:\n  - {name: foreign, cypher: \"CALL apoc.help('x') YIELD name RETURN count(name)\", expected: 7}\n  \
                      - {name: sound, cypher: \"MATCH (t:Trip) RETURN count(t)\", expected: 1}\nmetrics: [assertions]\n";
    std::fs::write(folder.path().join("job.yml"), format!("{TARGET}{assertions}")).unwrap();
    let (status, shown, _) = audit(folder.path(), &["job.yml"]);
    assert_eq!(status, Some(102), "{shown}");
    assert!(shown.contains("not audited: case job: assertion foreign: "), "{shown}");
    assert!(!shown.contains("sound"), "{shown}");
}

/// Everything holds before the first word.
const HELD: &str = "setups: [{cypher: \"CREATE (:City {name: 'Oslo'})\"}]\nassertions: [{name: a city, cypher: \"MATCH (c:City) \
                    RETURN count(c)\", expected: 1}]\nmetrics: [assertions]\n";

#[test]
fn what_held_before_is_not_laid_at_the_judges_door() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job.yml"), format!("{TARGET}{HELD}")).unwrap();
    let (status, shown, _) = audit(folder.path(), &["job.yml"]);
    assert_eq!(status, Some(0), "{shown}");
    assert!(shown.contains("not determined · what holds before the first word is not counted"), "{shown}");
    assert!(!shown.contains("the judge"), "{shown}");
    let (status, _, said) = audit(folder.path(), &["job.yml", "--max-trivial-score", "1"]);
    assert_eq!(status, Some(102), "{said}");
    assert!(said.contains("more than 1 (--max-trivial-score) was not determined: what holds before"), "{said}");
}

#[test]
fn of_several_jobs_the_highest_status_counts_and_each_that_gets_too_much_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("weak.yml"), format!("{TARGET}{WEAK}gate: {{maxTrivialScore: 0.5}}\n")).unwrap();
    std::fs::write(folder.path().join("held.yml"), format!("{TARGET}{HELD}gate: {{maxTrivialScore: 0.5}}\n")).unwrap();
    for files in [["weak.yml", "held.yml"], ["held.yml", "weak.yml"]] {
        let (status, _, said) = audit(folder.path(), &files);
        assert_eq!(status, Some(102), "{said}");
        assert!(said.contains("weak.yml: an agent that does nothing gets 0.60, more than 0.5 (gate."), "{said}");
        assert!(said.contains("held.yml: whether an agent that does nothing gets more than 0.5 (gate."), "{said}");
    }
    assert_eq!(audit(folder.path(), &["weak.yml"]).0, Some(100));
    let (status, _, said) = audit(folder.path(), &["weak.yml", "--max-trivial-score", "0.6"]);
    assert_eq!((status, said.as_str()), (Some(0), ""), "the flag goes before the gate");
}

#[test]
fn other_systems_cases_need_no_target() {
    let (status, shown, said) = audit(root(), &["data/eval/adk/reminders.evalset.json"]);
    assert_eq!(status, Some(0), "{shown}{said}");
    assert!(shown.contains("trivial-agent score"), "{shown}");
    let (both, ..) = audit(root(), &["data/eval/adk/reminders.evalset.json", "data/eval/agent.yml"]);
    assert_eq!(both, Some(0));
}

#[test]
fn the_gate_is_asked_before_a_job_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let run = |job: &str, most: &str| {
        let text = format!("{TARGET}{job}gate: {{maxTrivialScore: {most}}}\n");
        std::fs::write(folder.path().join("job.yml"), text).unwrap();
        let output = eval_job(folder.path()).args(["run", "job.yml"]).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, said) = run(WEAK, "0.5");
    assert_eq!(status, Some(100), "{said}");
    assert!(said.contains("gets 0.60, and gate.maxTrivialScore allows 0.5, so nothing was run"), "{said}");
    assert!(said.contains("`eval-job audit job.yml` shows"), "{said}");
    let (status, said) = run(HELD, "0.5");
    assert_eq!(status, Some(102), "{said}");
    assert!(said.contains("(gate.maxTrivialScore), so nothing was run: what holds before the first word"), "{said}");
    assert!(!folder.path().join("runs").exists(), "nothing was run");
    let (_, said) = run(WEAK, "0.6");
    assert!(!said.contains("maxTrivialScore") && folder.path().join("runs").exists(), "{said}");
    let output = eval_job(folder.path()).args(["show", "--json"]).output().unwrap();
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["provenance"]["trivialScore"], 0.6, "{record:#}");
    let (_, shown, _) = shown(folder.path());
    assert!(shown.contains("audit    an agent that does nothing gets 0.60"), "{shown}");
}

/// Weak assertions and expectations, each with a sound one that looks much like it.
const PLANTED: [(&str, &str, &str); 17] = [
    (
        "at least none",
        r#"assertions: [{cypher: "MATCH (t:Trip) RETURN count(t) >= 0", expected: true}]"#,
        r#"assertions: [{cypher: "MATCH (t:Trip) RETURN count(t) >= 1", expected: true}]"#,
    ),
    (
        "at most one",
        r#"assertions: [{cypher: "MATCH (t:Trip) RETURN count(t) <= 1", expected: true}]"#,
        r#"assertions: [{cypher: "MATCH (t:Trip) RETURN count(t) = 1", expected: true}]"#,
    ),
    (
        "true",
        r#"assertions: [{expression: "true"}]"#,
        r#"assertions: [{expression: "evaluation.functionCalls.size > 0"}]"#,
    ),
    (
        "no graph",
        r#"assertions: [{cypher: "RETURN 1", expected: 1}]"#,
        r#"assertions: [{cypher: "MATCH (t:Trip) RETURN 1", expected: 1}]"#,
    ),
    (
        "of the setup",
        r#"assertions: [{cypher: "MATCH (c:City) RETURN c.name", expected: Oslo}]"#,
        r#"assertions: [{cypher: "MATCH (c:City)<-[:TO]-(:Trip) RETURN c.name", expected: Oslo}]"#,
    ),
    (
        "only forbids",
        "assertions: [{changes: {deleted: none}}]",
        "assertions: [{changes: {deleted: [{node: City, count: 1}]}}]",
    ),
    (
        "minimum 0",
        "assertions: [{changes: {created: [{node: Trip, count: {min: 0}}]}}]",
        "assertions: [{changes: {created: [{node: Trip, count: {min: 1}}]}}]",
    ),
    (
        "a word of the user's",
        r#"assertions: [{expression: "evaluation.transcript.any(|it| it.role == \"assistant\" && it.content.contains(\"Lisbon\"))"}]"#,
        r#"assertions: [{expression: "evaluation.transcript.any(|it| it.role == \"assistant\" && it.content.contains(\"TP 4711\"))"}]"#,
    ),
    (
        "a word of the graph's",
        r#"assertions: [{expression: "evaluation.transcript.any(|it| it.role == \"assistant\" && it.content.contains(\"Oslo\"))"}]"#,
        r#"assertions: [{expression: "evaluation.transcript.any(|it| it.role == \"assistant\" && it.content.contains(\"Bergen\"))"}]"#,
    ),
    (
        "says done",
        r#"assertions: [{expression: "evaluation.transcript.any(|it| it.role == \"assistant\" && it.content.contains(\"Done\"))"}]"#,
        r#"assertions: [{expression: "evaluation.transcript.any(|it| it.role == \"assistant\" && it.content.contains(\"Done: 7\"))"}]"#,
    ),
    (
        "any reply",
        r#"assertions: [{expression: "evaluation.transcript.any(|it| it.role == \"assistant\" && it.content.len() > 0)"}]"#,
        r#"assertions: [{expression: "evaluation.transcript.any(|it| it.role == \"assistant\" && it.content.len() > 0) && evaluation.functionCalls.size > 0"}]"#,
    ),
    (
        "no call",
        r#"assertions: [{expression: "evaluation.functionCalls.size == 0"}]"#,
        r#"assertions: [{expression: "evaluation.functionCalls.size == 1"}]"#,
    ),
    ("any text", "expected: {reply: \".*\"}", "expected: {reply: \"TP ?4711\"}"),
    ("any text but none", "expected: {reply: \"(?s)^.+\"}", "expected: {reply: \"^Rebooked\"}"),
    ("empty state", "expected: {state: {}}", "expected: {state: {to: Lisbon}}"),
    ("empty calls", "expected: {calls: []}", "expected: {calls: [{tool: rebook}]}"),
    ("keyword of the user's", "expected: {keywords: [Lisbon]}", "expected: {keywords: [TP 4711]}"),
];

#[test]
fn every_planted_weakness_is_found_and_no_sound_neighbour_is_accused() {
    let folder = tempfile::tempdir().unwrap();
    let job = |of: fn(&(&'static str, &'static str, &'static str)) -> &'static str| {
        let case = |(number, planted): (usize, &_)| format!("  - id: case-{number}.\n    {}\n", of(planted));
        let cases: String = PLANTED.iter().enumerate().map(case).collect();
        let metrics = "metrics: [assertions, trajectory, keywords, {text: {match: regex}}, state]\n";
        format!("{TARGET}{metrics}setups: [{{cypher: \"CREATE (:City {{name: 'Oslo'}})\"}}]\ncases:\n{cases}")
    };
    std::fs::write(folder.path().join("weak.yml"), job(|planted| planted.1)).unwrap();
    std::fs::write(folder.path().join("sound.yml"), job(|planted| planted.2)).unwrap();
    let (status, shown, said) = audit(folder.path(), &["weak.yml"]);
    assert_eq!(status, Some(0), "{shown}{said}");
    for (number, (name, ..)) in PLANTED.iter().enumerate() {
        let is_found = shown.lines().any(|line| line.contains('✗') && line.contains(&format!("(case case-{number}.)")));
        assert!(is_found, "{name}\n{shown}");
    }
    let (status, shown, said) = audit(folder.path(), &["sound.yml", "--max-trivial-score", "0"]);
    assert_eq!(status, Some(0), "{shown}{said}");
    assert!(shown.contains("trivial-agent score 0.00") && !shown.contains('✗'), "{shown}");
}

#[test]
fn timing_alone_and_a_script_that_is_a_constant_are_found() {
    let folder = tempfile::tempdir().unwrap();
    for (planted, sentence) in [
        ("metrics: [timing]\naspirationalAverage: 60000\n", "timing, all of it (case job) is all that counts"),
        ("metrics: [{rhai: \"1.0\"}]\n", "rhai: 1.0 (case job) lets null, echo, yes, list pass"),
    ] {
        std::fs::write(folder.path().join("job.yml"), format!("{TARGET}{planted}")).unwrap();
        let (status, shown, said) = audit(folder.path(), &["job.yml", "--max-trivial-score", "0.9"]);
        assert_eq!(status, Some(100), "{shown}{said}");
        assert!(shown.contains("trivial-agent score 1.00") && shown.contains(sentence), "{shown}");
    }
}

/// What a job expects, its metrics, and what is said of it before and after its run.
const RESTS_ON: [(&str, &str, Option<[&str; 2]>); 6] = [
    (
        "expected: {calls: []}",
        "[trajectory]",
        Some([
            "warning · an agent that does nothing passes `job`: `eval-job audit` names what lets it pass",
            "passed without a check: 1.00, the gate is 0.50, and an agent that does nothing gets no less",
        ]),
    ),
    (
        "expected: {reply: \".*\"}",
        "[{text: {match: regex}}]",
        Some([
            "warning · nothing that counts in `job` can fail, whatever the agent does: say what is `expected` there",
            "and nothing that counts could have failed; gate.vacuous: fail makes that fail",
        ]),
    ),
    (
        "aspirationalAverage: 60000",
        "[timing]",
        Some(["warning · an agent that does nothing passes `job`", "and an agent that does nothing gets no less"]),
    ),
    (
        "name: job",
        "[{rhai: \"1.0\"}]",
        Some(["warning · nothing that counts in `job` can fail", "In 1 case nothing that counts could have failed"]),
    ),
    ("expected: {calls: [], keywords: [TP 4711]}", "[trajectory, keywords]", None),
    (
        "aspirationalAverage: 60000",
        "[timing, {rhai: \"if reply.contains(\\\"TP 4711\\\") { 1.0 } else { 0.0 }\"}]",
        None,
    ),
];

#[test]
fn a_verdict_that_rests_on_nothing_is_warned_of_before_and_after() {
    let folder = tempfile::tempdir().unwrap();
    let agent = Server::start(|_| {
        let message = json!({"role": "assistant", "content": "You fly with TP 4711."});
        Reply::Json(200, json!({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}))
    });
    for (expected, metrics, words) in RESTS_ON {
        let job = format!(
            "target: {{user: u, chatbot: c, openai: {{baseUrl: \"{}/v1\"}}}}\nfacts: []\ngreetings: []\n\
             evaluator: {{script: [Please rebook me to Lisbon]}}\n{expected}\nmetrics: {metrics}\n",
            agent.address
        );
        std::fs::write(folder.path().join("job.yml"), &job).unwrap();
        let said = |arguments: &[&str]| {
            let output = eval_job(folder.path()).args(arguments).output().unwrap();
            let words = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
            (output.status.code(), words.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        let (_, before) = said(&["validate", "job.yml"]);
        let run = ["run", "job.yml", "--model", "m", "--min-score", "0.5", "--no-progress"];
        let (status, after) = said(&run);
        assert_eq!(status, Some(0), "{after}");
        match words {
            Some([warning, verdict]) => {
                assert!(before.contains(warning) && after.contains(warning), "{before}\n{after}");
                assert!(after.contains(verdict) && after.contains("passed without a check"), "{after}");
            }
            None => {
                assert!(!before.contains("warning"), "{before}");
                assert!(!after.contains("does nothing") && !after.contains("without a check"), "{after}");
            }
        }
        // What could not have failed fails where the job wants that, and what an agent passes that does nothing doesn't.
        std::fs::write(folder.path().join("job.yml"), format!("{job}gate: {{vacuous: fail}}\n")).unwrap();
        let is_vacuous = words.is_some_and(|[warning, _]| warning.contains("can fail"));
        let (status, after) = said(&run);
        assert_eq!(status, Some(if is_vacuous { 100 } else { 0 }), "{after}");
    }
}

#[test]
fn a_task_that_nothing_but_a_judge_sees_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let job = format!("{TARGET}tasks: [{{task: Ask, acceptanceCriteria: Answered}}]\nmetrics: [tasks]\n");
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let (status, shown, _) = audit(folder.path(), &["job.yml", "--max-trivial-score", "0"]);
    assert_eq!(status, Some(102), "{shown}");
    assert!(shown.contains("not determined · nothing could be scored without the judge"), "{shown}");
    assert!(shown.contains("not determined without the judge: tasks"), "{shown}");
}

#[test]
fn a_run_is_told_from_a_job_by_its_id_or_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let kept = root().join("tests/fixtures/runs/mutants");
    let run = std::fs::read_dir(&kept).unwrap().next().unwrap().unwrap().path();
    std::fs::write(folder.path().join("held.yml"), format!("{TARGET}{HELD}")).unwrap();
    let (status, shown, said) = audit(folder.path(), &[run.to_str().unwrap()]);
    assert_eq!(status, Some(0), "{shown}{said}");
    assert!(shown.contains("mutation score 0.") && !shown.contains("trivial-agent"), "{shown}");
    let kept = kept.to_str().unwrap();
    let (_, json, _) = audit(folder.path(), &["4ebg27", "--runs-dir", kept, "held.yml", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json[0]["run"], &json[1]["job"]), (&"4ebg27".into(), &"held".into()));
    assert!(json[0]["noticed"].as_u64().unwrap() < json[0]["mutants"].as_u64().unwrap(), "{json}");
    assert_eq!(json[0]["trials"][0]["missed"][0]["kind"], "doubled");
    assert_eq!(audit(folder.path(), &["nothing"]).0, Some(2));
}

#[test]
fn a_run_is_held_to_the_limit_of_what_agents_get_that_do_nothing_too() {
    let folder = tempfile::tempdir().unwrap();
    let kept = root().join("tests/fixtures/runs/mutants");
    let run = std::fs::read_dir(&kept).unwrap().next().unwrap().unwrap().path();
    let run = run.to_str().unwrap();
    let (_, json, said) = audit(folder.path(), &[run, "--max-trivial-score", "1", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let score = json[0]["score"].as_f64().unwrap_or_else(|| panic!("{json:#}{said}"));
    assert!(json[0]["mutants"].as_u64().unwrap() > 0, "{json:#}");
    let below = format!("{}", score - 0.001);
    let (status, shown, said) = audit(folder.path(), &[run, "--max-trivial-score", &below]);
    assert_eq!(status, Some(100), "{shown}{said}");
    assert!(shown.contains("mutation score") && shown.contains("trivial-agent score"), "{shown}");
    assert!(said.contains(&format!("more than {below} (--max-trivial-score)")), "{said}");
}

#[test]
fn a_run_that_can_not_be_read_does_not_end_the_audit_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let kept = root().join("tests/fixtures/runs/mutants");
    let run = std::fs::read_dir(&kept).unwrap().next().unwrap().unwrap().path();
    let broken = folder.path().join("20260101-000000-broken-aaaaaa");
    std::fs::create_dir(&broken).unwrap();
    std::fs::write(broken.join("journal.ndjson"), "").unwrap();
    let (status, json, said) = audit(folder.path(), &[broken.to_str().unwrap(), run.to_str().unwrap(), "--json"]);
    assert_eq!(status, Some(1), "{said}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["run"], "20260101-000000-broken-aaaaaa", "{json:#}");
    assert!(json[0]["error"].as_str().unwrap().contains("the journal is empty"), "{json:#}");
    assert!(json[1]["mutants"].as_u64().unwrap() > 0, "{json:#}");
}

#[test]
fn a_score_just_above_its_limit_does_not_look_like_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("weak.yml"), format!("{TARGET}{WEAK}")).unwrap();
    let (status, _, said) = audit(folder.path(), &["weak.yml", "--max-trivial-score", "0.599"]);
    assert_eq!(status, Some(100));
    assert!(said.contains("gets 0.600, more than 0.599 (--max-trivial-score)"), "{said}");
}

#[test]
fn the_limit_of_a_runs_own_job_holds_for_its_audit() {
    let folder = tempfile::tempdir().unwrap();
    let job = "target: {user: u, chatbot: c, demo: {}}\nfacts: []\nevaluator: {script: [Please remind me to call Bob]}\n\
               assertions: [{name: a reminder is there, cypher: \"MATCH (r:Reminder) RETURN count(r)\", expected: 1}]\n\
               metrics: [{assertions: {}}]\ngate: {maxTrivialScore: 1}\n";
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let output = eval_job(folder.path()).args(["run", "job.yml", "--no-progress"]).output().unwrap();
    let run = super::kept_run(folder.path()).unwrap_or_else(|| panic!("{output:?}"));
    let (_, json, said) = audit(folder.path(), &[run.to_str().unwrap(), "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert!(json[0]["audit"]["agents"].is_array(), "{json:#}");
}
