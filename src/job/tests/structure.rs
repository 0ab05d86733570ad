//! Where the tree and the schema differ.

use super::*;

#[test]
fn an_unknown_key() {
    problems(
        &LEAST.replace("Criteria", "Critera"),
        r#"
job.yml:4:5: unknown key `acceptanceCritera`
  |
4 |     acceptanceCritera: a
  |     ^^^^^^^^^^^^^^^^^
  = expected one of: type, task, acceptanceCriteria, verifiedBy
  = help: did you mean `acceptanceCriteria`?
"#,
    );
    problems(
        &LEAST.replace("user: u", "usr: u"),
        r#"
job.yml:1:10: unknown key `usr`
  |
1 | target: {usr: u, chatbot: c}
  |          ^^^
  = expected one of: user, chatbot, embabel, demo, adk, openai, responses, a2a, trpc, watsonx, http, websocket, command, maxConcurrency, start
  = help: did you mean `user`?
"#,
    );
    problems(
        &LEAST.replace("chatbot: c", "chatbot: c, colour: red"),
        r#"
job.yml:1:31: unknown key `colour`
  |
1 | target: {user: u, chatbot: c, colour: red}
  |                               ^^^^^^
  = expected one of: user, chatbot, embabel, demo, adk, openai, responses, a2a, trpc, watsonx, http, websocket, command, maxConcurrency, start
"#,
    );
}

#[test]
fn of_two_keys_that_are_as_near_the_missing_one_is_suggested() {
    let text = rendered(&LEAST.replace("tasks:", "taks:"));
    assert!(text.contains("did you mean `tasks`?") && !text.contains("missing key"), "{text}");
}

#[test]
fn a_key_that_belongs_elsewhere() {
    problems(
        &least_and("model: gpt\n"),
        r#"
job.yml:6:1: unknown key `model`
  |
6 | model: gpt
  | ^^^^^
  = expected one of: name, description, tags, evaluator, scorer, target, reference, aspirationalAverage, timing, metrics, weights, maxTurns, greetings, seeds, setups, tasks, facts, expected, context, assertions, cases, conditions, repeat, graph, isolation, gate, limits
  = help: `model` belongs in `evaluator`, `scorer` or `limits`
"#,
    );
    problems(
        &least_and("evaluator:\n  maxTurns: 3\n"),
        r#"
job.yml:7:3: unknown key `maxTurns`
  |
7 |   maxTurns: 3
  |   ^^^^^^^^
  = expected one of: name, voice, prompt, temperature, signoff, model, allow, review, personas, tools, script
  = help: `maxTurns` belongs to the job itself, at the start of a line
"#,
    );
}

#[test]
fn missing_keys() {
    problems(
        "{}\n",
        r#"
job.yml:1:1: missing keys `target`, `tasks` and `facts` in the job file
  |
1 | {}
  | ^
  = help: write `facts: []` if there are none
"#,
    );
    problems(
        &LEAST.replace("facts: []\n", ""),
        r#"
job.yml:1:1: missing key `facts` in the job file
  |
1 | target: {user: u, chatbot: c}
  | ^^^^^^
  = help: write `facts: []` if there are none
"#,
    );
    problems(
        &LEAST.replace("user: u, ", ""),
        r#"
job.yml:1:1: missing key `user` in `target`
  |
1 | target: {chatbot: c}
  | ^^^^^^
"#,
    );
    problems(
        &LEAST.replace("- task: t\n    ", "- "),
        r#"
job.yml:3:5: missing key `task` in an entry of `tasks`
  |
3 |   - acceptanceCriteria: a
  |     ^^^^^^^^^^^^^^^^^^
"#,
    );
}

#[test]
fn a_secret_in_a_key_is_shown_nowhere() {
    const SECRET: &str = "hT5kWq9ZpLm3Xc7V";
    let long = "x".repeat(50);
    for more in [
        format!("start: {{command: x, env: {{OPENAI_API_KEY={SECRET}: }}}}"),
        format!("start: {{command: x, env: {{{SECRET}: [1]}}}}"),
        format!("start: {{command: x, env: {{? OPENAI_API_KEY={SECRET}\n: }}}}"),
        format!("start: {{command: x, env: {{\"A={long}{SECRET}\": }}}}"),
        format!("start: {{command: x, env: {{\"A=hunter\": 1, \"A=hunter\": {SECRET}1}}}}"),
        format!("http: {{say: {{headers: {{\"X-Key: {SECRET}\": 1}}}}}}"),
        format!("http: {{say: {{headers: {{\"X-Key {SECRET}\": {{}}}}}}}}"),
        format!("http: {{say: {{headers: {{X-Key:{SECRET}: 1}}}}}}"),
        format!("\"apiKey: {SECRET}\": 1"),
        format!("apiKey={SECRET}: 1"),
        format!("adk: {{\"apiKey = {SECRET}\": }}"),
    ] {
        let text = LEAST.replace("chatbot: c", &format!("chatbot: c, {more}"));
        let shown = rendered(&text);
        assert!(!shown.contains("hT5kWq9") && !shown.contains("hunter") && shown.contains("***"), "{shown}");
    }
}

#[test]
fn a_model_of_embeddings_is_behind_an_endpoint_or_in_a_folder() {
    let with = |embeddings: &str| rendered(&least_and(&format!("scorer: {{embeddings: {embeddings}}}\n")));
    for (embeddings, expected) in [
        ("{}", "this model of embeddings needs one of the keys `name` and `folder`"),
        ("{folder: ' '}", "`folder` is blank"),
        ("{name: openai/m, folder: f}", "`folder` is another kind of model of embeddings than `name` in line 6"),
        ("{folder: f, baseUrl: 'http://localhost:1'}", "`baseUrl` excludes `folder` in line 6"),
        ("{foldr: f}", "did you mean `folder`?"),
        ("{name: openai/m, rngSeed: 1}", "expected one of: name, folder, baseUrl, apiKeyEnv"),
        ("[f]", "`embeddings`: expected"),
    ] {
        let text = with(embeddings);
        assert!(text.contains(expected), "{embeddings}: {text}");
    }
}

#[test]
fn a_model_of_embeddings_is_written_as_it_is_read() {
    for (embeddings, expected) in [
        ("openai/m", Embeddings::Endpoint(Model::new(ModelName::openai("m")))),
        ("{folder: models/m}", Embeddings::Folder("models/m".to_owned())),
    ] {
        let text = least_and(&format!("scorer: {{embeddings: {embeddings}}}\n"));
        let job = load("jobs/job.yml", &text, &AllTemplates).unwrap();
        assert_eq!(job.judge.embeddings, Some(expected));
        let judge: Judge = serde_json::from_value(serde_json::to_value(&job.judge).unwrap()).unwrap();
        assert_eq!(judge, job.judge);
    }
}
