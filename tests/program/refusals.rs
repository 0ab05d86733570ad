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
    (DEMO, RULES, "setups: [{cypher: 'CREATE (n:A) RETURN n n'}]\n", &[], &[], "setup 1 can't run"),
    (
        RUNNING,
        RULES,
        "isolation: user\nassertions: [{cypher: 'MATCH (n {u: $user}) WHERE n.x = RETURN m', expected: 1}]\n",
        &[],
        &[],
        "assertion 1 can't run: `RETURN` can't stand here",
    ),
    (
        RUNNING,
        RULES,
        "isolation: user\nassertions: [{cypher: 'MATCH (n {u: $user}) RETURN m', expected: 1}]\n",
        &[],
        &[],
        "assertion 1 can't run",
    ),
    (
        "target: {user: u, chatbot: c, http: {say: {url: '{{ baseUrl }}/chat', body: {}, reply: '$.x'}}}\n",
        RULES,
        "",
        &[],
        &[],
        "target.http.say: {{ baseUrl }} is where an agent listens that eval-job starts, and there is no target.start",
    ),
    (
        "target: {user: u, chatbot: c, websocket: {url: '{{ baseUrl }}/chat', reply: {text: '$.x'}}}\n",
        RULES,
        "",
        &[],
        &[],
        "target.websocket: {{ baseUrl }}",
    ),
    (
        "target: {user: u, chatbot: c, command: {command: cat, inheritEnv: ['A=B']}}\n",
        RULES,
        "",
        &[],
        &[],
        "target.command.inheritEnv: it holds names of eval-job's own variables, without a `=`",
    ),
    (
        "target: {user: u, chatbot: c, start: {command: cat, inheritEnv: [' A']}}\n",
        RULES,
        "",
        &[],
        &[],
        "target.start.inheritEnv: ` A` is no variable's name",
    ),
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
    let rest = "facts: []\nconditions: [withoutFacts, withFacts]\ntasks: [{task: t, acceptanceCriteria: a}]\n";
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

#[test]
fn a_program_that_is_not_there_is_told_by_both() {
    for (target, words) in [
        ("command: {command: no-such-program}", "target.command: the agent can't be started: there is no program"),
        ("start: {command: ./nowhere.sh}", "target.start: the agent can't be started: there is no program"),
        ("start: {command: cat, cwd: nowhere}", "there is no such folder"),
        ("command: {command: ./job.yml}", "`./job.yml` may not be executed"),
    ] {
        let target = format!("target: {{user: u, chatbot: c, {target}}}\n");
        let row: Row<'_> = (&target, RULES, "", &[], &[], words);
        for (command, place) in [("run", "error: "), ("validate", "broken · ")] {
            let output = typed(command, &row);
            let shown = [output.stdout.clone(), output.stderr.clone()].concat();
            let shown = String::from_utf8_lossy(&shown).split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(output.status.code(), Some(102), "{row:?}: {shown}");
            assert!(shown.contains(place) && shown.contains(words), "{row:?}: {shown}");
        }
    }
}

#[test]
fn a_variable_that_is_not_set_is_warned_of_by_both() {
    let target =
        "target: {user: u, chatbot: c, command: {command: no-such-program, inheritEnv: [NOBODY_SETS, PATH]}}\n";
    for command in ["run", "validate"] {
        let output = typed(command, &(target, RULES, "", &[], &[], ""));
        let shown = [output.stdout, output.stderr].concat();
        let words = "warning · target.command.inheritEnv: NOBODY_SETS is not set, so the agent starts without";
        assert!(String::from_utf8_lossy(&shown).contains(words), "{}", String::from_utf8_lossy(&shown));
    }
}
