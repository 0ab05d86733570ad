//! Checks beyond the schema: models and templates, reported beside structural problems.

use super::*;

/// Only the templates of this name are there, and only for the persona.
struct OneTemplate(&'static str);

impl TemplateCheck for OneTemplate {
    fn problem(&self, name: &str, kind: PromptRole) -> Option<TemplateProblem> {
        (name != self.0 && kind == PromptRole::Persona).then(|| format!("there is no template `{name}`").into())
    }
}

#[track_caller]
fn with_one_template(template: &'static str, text: &str, expected: &str) {
    let problems = load("job.yml", text, &OneTemplate(template)).expect_err("a template is missing");
    assert_eq!(render_problems(&problems), expected[1..]);
}

/// There is one folder of texts.
struct OneFolder;

impl TemplateCheck for OneFolder {
    fn problem(&self, _: &str, _: PromptRole) -> Option<TemplateProblem> {
        None
    }

    fn context(&self, path: &str) -> Result<Vec<ContextText>, ContextFileError> {
        let text = |name: &str| ContextText { name: format!("{path}/{name}"), text: format!("the text of {name}") };
        if path == "rules" {
            Ok(vec![text("a.md"), text("b.md")])
        } else {
            Err(ContextFileError::File { path: path.to_owned(), source: std::io::Error::other("it is not there") })
        }
    }
}

#[test]
fn texts_for_judges_come_from_files_and_have_a_name() {
    let yaml = least_and(
        "context: [{text: one}, {file: rules}, {name: last, text: three}]\n\
         cases: [{id: a, context: [{file: rules}]}, {id: b}]\n",
    );
    let job = load("job.yml", &yaml, &OneFolder).unwrap();
    let names = |case: usize| job.cases[case].context.iter().map(|it| it.name.as_str()).collect::<Vec<_>>();
    assert_eq!(names(0), ["text 1", "rules/a.md", "rules/b.md", "last", "rules/a.md", "rules/b.md"]);
    assert_eq!(names(1), names(0)[..4]);
    assert_eq!(job.cases[1].context[2].text, "the text of b.md");
    let other = load("job.yml", &least_and("context: [{text: one}]\n"), &OneFolder).unwrap();
    assert_ne!(job.digest, other.digest);
    let problems = load("job.yml", &least_and("context: [{file: ruls}]\n"), &OneFolder).expect_err("it is not there");
    assert_eq!(
        render_problems(&problems),
        "
job.yml:6:18: ruls can't be read: it is not there
  |
6 | context: [{file: ruls}]
  |                  ^^^^
  = help: the path of a text file, or of a folder with .txt, .md or .json files, from the job's folder
"[1..]
    );
}

#[test]
fn a_text_for_judges_is_written_or_read() {
    problems(
        &least_and("context: [{name: a}, {text: a, file: b}, {name: a, file: b}]\n"),
        "
job.yml:6:12: this context text needs one of the keys `text` and `file`
  |
6 | context: [{name: a}, {text: a, file: b}, {name: a, file: b}]
  |            ^^^^

job.yml:6:32: `file` is another kind of context text than `text` in line 6
  |
6 | context: [{name: a}, {text: a, file: b}, {name: a, file: b}]
  |                                ^^^^
  = help: make two context texts of it, one with `text` and one with `file`

job.yml:6:52: `file` excludes `name` in line 6
  |
6 | context: [{name: a}, {text: a, file: b}, {name: a, file: b}]
  |                                                    ^^^^
  = help: keep one of the two
",
    );
}

#[test]
fn a_template_that_is_not_there() {
    with_one_template(
        "eval/socrates",
        &least_and("evaluator:\n  prompt: eval/plato\n"),
        "
job.yml:7:11: there is no template `eval/plato`
  |
7 |   prompt: eval/plato
  |           ^^^^^^^^^^
",
    );
}

#[test]
fn a_default_template_is_checked_too() {
    let nowhere = "
job.yml:1:1: there is no template `eval/socrates`
  |
1 | target: {user: u, chatbot: c}
  | ^^^^^^
";
    with_one_template("eval/other", LEAST, nowhere);
    let at_its_key = "
job.yml:6:1: there is no template `eval/socrates`
  |
6 | evaluator: {name: Ada}
  | ^^^^^^^^^
";
    with_one_template("eval/other", &least_and("evaluator: {name: Ada}\n"), at_its_key);
}

#[test]
fn a_model_of_an_unknown_provider() {
    problems(
        &least_and("evaluator: {model: acme/large}\nscorer: {model: ' gpt'}\n"),
        "
job.yml:6:20: `acme` is not a provider; there are `openai/MODEL`, `anthropic/MODEL`, `gemini/MODEL`, `watsonx/MODEL` and `scripted`; `openai/MODEL` is right for every OpenAI-compatible endpoint
  |
6 | evaluator: {model: acme/large}
  |                    ^^^^^^^^^^

job.yml:7:17: a model's name is empty or has spaces around it
  |
7 | scorer: {model: ' gpt'}
  |                 ^^^^^^
",
    );
}

#[test]
fn a_reviewer_of_an_unknown_provider() {
    problems(
        &least_and("evaluator: {review: {model: acme/large}}\n"),
        "
job.yml:6:29: `acme` is not a provider; there are `openai/MODEL`, `anthropic/MODEL`, `gemini/MODEL`, `watsonx/MODEL` and `scripted`; `openai/MODEL` is right for every OpenAI-compatible endpoint
  |
6 | evaluator: {review: {model: acme/large}}
  |                             ^^^^^^^^^^
",
    );
}

#[test]
fn a_structural_problem_hides_nothing_else() {
    with_one_template(
        "eval/socrates",
        &least_and("maxTurn: 3\nevaluator: {prompt: eval/plato, temperature: x}\nscorer: {model: a/b}\n"),
        "
job.yml:6:1: unknown key `maxTurn`
  |
6 | maxTurn: 3
  | ^^^^^^^
  = expected one of: name, description, tags, evaluator, scorer, target, reference, aspirationalAverage, timing, metrics, weights, maxTurns, greetings, seeds, setups, tasks, facts, expected, context, assertions, cases, conditions, repeat, graph, isolation, gate, limits
  = help: did you mean `maxTurns`?

job.yml:7:21: there is no template `eval/plato`
  |
7 | evaluator: {prompt: eval/plato, temperature: x}
  |                     ^^^^^^^^^^

job.yml:7:46: `temperature`: expected a number, found the string \"x\"
  |
7 | evaluator: {prompt: eval/plato, temperature: x}
  |                                              ^

job.yml:8:17: `a` is not a provider; there are `openai/MODEL`, `anthropic/MODEL`, `gemini/MODEL`, `watsonx/MODEL` and `scripted`; `openai/MODEL` is right for every OpenAI-compatible endpoint
  |
8 | scorer: {model: a/b}
  |                 ^^^
",
    );
}

#[test]
fn an_alias_bomb_ends_fast() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let inner = vec![format!("*a{}", level - 1); 10].join(", ");
        text += &format!("a{level}: &a{level} [{inner}]\n");
    }
    let rendered = rendered(&text);
    let (first, rest) = rendered.split_once('\n').unwrap();
    assert_eq!(first, "job.yml:5:10: the aliases (`*name`) of this file unfold to far more than a job can hold");
    assert!(rest.ends_with("help: write the values out, or use fewer aliases within aliases\n"), "{rest}");
}

#[test]
fn as_many_values_as_are_written_out_are_read_and_few_more_by_aliases() {
    let tags: Vec<String> = (0..101_000).map(|number| format!("t{number}")).collect();
    assert_eq!(rendered(&least_and(&format!("tags: [{}]\n", tags.join(", ")))), "no problems");
    let aliased = |aliases: usize| {
        format!("a: &a [{}]\nb: [{}]\nc: [{}]\n", "x, ".repeat(1000), "y, ".repeat(1000), "*a, ".repeat(aliases))
    };
    for (aliases, is_too_much) in [(15, false), (25, true)] {
        let said = rendered(&aliased(aliases));
        assert_eq!(said.contains("unfold to far more than a job can hold"), is_too_much, "{aliases}: {said:.300}");
    }
}

#[test]
fn a_file_that_is_far_too_deep_or_too_large_ends_fast() {
    let long = 1_000_000;
    let texts = [
        "[".repeat(long),
        "a: ".repeat(long),
        "- ".repeat(long),
        "{a: ".repeat(long),
        "x".repeat(long),
        // A build without optimisation takes long for each value.
        format!("tags: [{}]", "x, ".repeat(long / 10)),
        "a:\n".repeat(long / 10),
    ];
    // As much as a program's first thread has; a test has less, and a build without optimisation needs more.
    let reader = std::thread::Builder::new().stack_size(8 << 20).spawn(move || texts.map(|text| rendered(&text)));
    for rendered in reader.unwrap().join().unwrap() {
        assert!(rendered.starts_with("job.yml:"), "{rendered}");
        assert!(rendered.len() < 2_000, "{} bytes", rendered.len());
    }
}

#[test]
fn only_a_hundred_problems_are_reported() {
    let rendered = rendered(&least_and(&format!("tags: [{}]\n", "1, ".repeat(204))));
    assert_eq!(rendered.matches("expected a string").count(), 100);
    assert!(rendered.ends_with("\n\nand 104 more\n"), "{rendered}");
}

#[test]
fn a_metric_that_could_ask_its_judge_nothing_is_refused() {
    problems(
        &least_and("metrics: [rubric, {finalResponse: {}, name: right}, pairwise]\n"),
        "
job.yml:6:11: the metric `rubric` has no rubrics to judge by: neither it nor a case has one for it
  |
6 | metrics: [rubric, {finalResponse: {}, name: right}, pairwise]
  |           ^^^^^^
  = help: give it `rubrics: [{id: …, text: …}]`, or a case or a line `expected: {rubrics: […]}`

job.yml:6:20: the metric `right` has nothing to compare replies with: no case expects one
  |
6 | metrics: [rubric, {finalResponse: {}, name: right}, pairwise]
  |                    ^^^^^^^^^^^^^
  = help: say `expected: {reply: …}` of a case or of a line of its script

job.yml:6:53: the metric `pairwise` has no other conversation to compare with: no line expects a reply, and no case has a `reference`
  |
6 | metrics: [rubric, {finalResponse: {}, name: right}, pairwise]
  |                                                     ^^^^^^^^
  = help: say `expected: {reply: …}` of the lines of a script, or name a second agent (`reference`)
",
    );
}

#[test]
fn what_one_case_gives_its_judge_is_enough() {
    let cases = "target: {user: u, chatbot: c}
metrics: [rubric, finalResponse, pairwise]
cases:
  - {id: a, script: [Hi]}
  - {id: b, script: [{say: Hi, expected: {reply: Hello, rubrics: [{id: r, text: It greets.}]}}]}
";
    load("job.yml", cases, &AllTemplates).unwrap_or_else(|it| panic!("{}", render_problems(&it)));
    let of_other = cases.replace("text: It greets.", "text: It greets., metric: other");
    let found = load("job.yml", &of_other, &AllTemplates).unwrap_err();
    assert!(render_problems(&found).contains("the metric `rubric` has no rubrics"), "{}", render_problems(&found));
    // Another system's file has rules of its own for what it leaves out.
    load_lowered("job.yml", &of_other, &AllTemplates).unwrap_or_else(|it| panic!("{}", render_problems(&it)));
}

#[test]
fn rubrics_that_one_metric_could_not_tell_apart_are_refused_where_they_stand() {
    let job = |scope: &str| {
        format!(
            "target: {{user: u, chatbot: c}}
evaluator: {{script: [Hi]}}
facts: []
metrics: [{{rubric: {{scope: {scope}, rubrics: [{{id: a, text: t}}]}}}}]
cases:
  - {{id: one, expected: {{rubrics: [{{id: b, text: t}}, {{id: a, text: t}}]}}}}
  - id: two
    script:
      - {{say: Hi, expected: {{rubrics: [{{id: a, text: t}}]}}}}
      - {{say: Bye, expected: {{rubrics: [{{id: c, text: t}}, {{id: c, text: t}}]}}}}
"
        )
    };
    let lines = |text: &str| {
        let found = load("job.yml", text, &AllTemplates).unwrap_err();
        found.list.iter().map(|it| (it.line, it.message.clone())).collect::<Vec<_>>()
    };
    let message = |id: &str| format!("the metric `rubric` has another rubric with the id `{id}`");
    assert_eq!(lines(&job("conversation")), [(6, message("a")), (10, message("c"))]);
    assert_eq!(lines(&job("turns")), [(6, message("a")), (9, message("a")), (10, message("c"))]);
    assert_eq!(lines(&job("lastTurn")), [(6, message("a")), (10, message("c"))]);
    let apart = job("conversation").replace("id: a, text: t}, {", "id: z, text: t}, {");
    assert_eq!(lines(&apart).len(), 2);
}
