//! Whatever `run` refuses, `validate` refuses, in the same words: one table over both.

use std::fs;
use std::process::Output;

use super::eval_job;

const DEMO: &str = "target: {user: u, chatbot: c, demo: {}}\n";
const RUNNING: &str = "target: {user: u, chatbot: c, embabel: {baseUrl: 'http://127.0.0.1:1'}}\n";
const RULES: &str = "evaluator: {model: scripted}\nscorer: {model: scripted}\n";
const MODELS: &str = "evaluator: {model: openai/gpt-4.1-mini}\nscorer: {model: scripted}\n";

/// What is refused: the target, the models, the rest of the job, the flags, the variables, and a part of the words.
type Row<'a> = (&'a str, &'a str, &'a str, &'a [&'a str], &'a [(&'a str, &'a str)], &'a str);

const TABLE: &[Row<'_>] = &[
    // load
    (DEMO, RULES, "tsks: []\n", &[], &[], "unknown key"),
    (DEMO, RULES, "assertions: [{expression: 'objectContext.resorces.size == 1'}]\n", &[], &[], "resorces"),
    (DEMO, RULES, "assertions: [{cypher: 'RETURN $usr', expected: 1}]\n", &[], &[], "did you mean `$user`?"),
    (DEMO, RULES, "assertions: [{cypher: 'CREATE (n) RETURN 1', expected: 1}]\n", &[], &[], "only reads"),
    (DEMO, RULES, "setups: [{cypher: 'CREATE (n'}]\n", &[], &[], "never closed"),
    (DEMO, RULES, "", &["--prompts", "nowhere"], &[], "there is no folder nowhere"),
    // flags
    (DEMO, RULES, "", &["--prices", "nowhere.yml"], &[], "there is no file nowhere.yml"),
    (DEMO, RULES, "", &["--model", "other"], &[], "no model `other`"),
    (DEMO, RULES, "", &["--model", "demo-careful,demo-careful"], &[], "named twice"),
    (DEMO, RULES, "", &["--evaluator-model", "openai/x"], &[], "OPENAI_API_KEY is not set"),
    (DEMO, RULES, "", &["--scorer-model", "anthropic/x"], &[], "ANTHROPIC_API_KEY is not set"),
    (
        DEMO,
        MODELS,
        "",
        &["--evaluator-model", "openai/nobody-knows", "--cost-limit", "1"],
        KEY,
        "limits.cost can't be kept",
    ),
    // plan
    (DEMO, MODELS, "", &[], &[], "OPENAI_API_KEY is not set"),
    (DEMO, MODELS, "", &[], &[("OPENAI_API_KEY", "sk-test"), ("OPENAI_BASE_URL", "nonsense")], "OPENAI_BASE_URL"),
    (DEMO, RULES, "graph: {neo4j: {uri: nonsense}}\n", &[], &[], "graph.neo4j.uri"),
    (DEMO, RULES, "graph: {neo4j: {}}\n", &[], &[("NEO_URI", "nonsense")], "NEO_URI"),
    (DEMO, RULES, "graph: {embedded: {bolt: auto}}\n", &[], &[], "graph.embedded.bolt is a door"),
    (DEMO, RULES, "assertions: [{cypher: 'MATCH (n) RETURN m', expected: 1}]\n", &[], &[], "assertion 1 can't run"),
    (DEMO, RULES, "setups: [{cypher: 'CREATE (n:A) RETRN n'}]\n", &[], &[], "setup 1 can't run"),
    (RUNNING, RULES, "isolation: process\n", &[], &[], "isolation: process needs"),
    (
        RUNNING,
        RULES,
        "isolation: user\nassertions: [{cypher: MATCH (n) RETURN n, expected: 1}]\n",
        &[],
        &[],
        "all users",
    ),
    (
        RUNNING,
        RULES,
        "graph: {embedded: {}}\nassertions: [{cypher: RETURN 1, expected: 1}]\n",
        &[],
        &[],
        "can't write to",
    ),
    (RUNNING, RULES, "timing: {on: firstToken}\n", &[], &[], "firstToken"),
    (
        "target: {user: u, chatbot: c, command: {command: cat}}\n",
        RULES,
        "assertions: [{expression: 'objectContext.resources.size == 1'}]\n",
        &[],
        &[],
        "`objectContext`",
    ),
    (
        "target: {user: u, chatbot: c, http: {say: {url: 'nonsense', body: {}, reply: '$.x'}}}\n",
        RULES,
        "",
        &[],
        &[],
        "target.http.say.url",
    ),
];

const KEY: &[(&str, &str)] = &[("OPENAI_API_KEY", "sk-test")];

fn typed(command: &str, row: &Row<'_>) -> Output {
    let (target, models, more, flags, variables, _) = row;
    let folder = tempfile::tempdir().unwrap();
    let rest = "facts: []\ntasks: [{task: t, acceptanceCriteria: a}]\n";
    let rest = if more.contains("assertions:") { rest.to_owned() } else { format!("{rest}assertions: []\n") };
    fs::write(folder.path().join("job.yml"), format!("{target}{models}{rest}{more}")).unwrap();
    let mut program = eval_job(folder.path());
    program.arg(command).arg("job.yml").args(*flags).envs(variables.iter().copied());
    program.output().unwrap()
}

#[test]
fn what_run_refuses_validate_refuses_in_the_same_words() {
    for row in TABLE {
        let (run, validate) = (typed("run", row), typed("validate", row));
        let words = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(run.status.code(), Some(2), "{row:?}: {}", words(&run));
        assert_eq!(validate.status.code(), Some(2), "{row:?}: {}", words(&validate));
        assert_eq!(words(&run), words(&validate), "{row:?}");
        assert!(words(&run).contains(row.5), "{row:?}: {}", words(&run));
        assert!(run.stdout.is_empty() && validate.stdout.is_empty(), "{row:?}");
    }
}
