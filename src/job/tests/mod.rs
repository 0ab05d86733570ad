//! The loader from outside: texts in, jobs or rendered problems out.

use super::*;

mod agreement;
mod beyond;
mod cases;
mod changes;
mod good;
mod kinds;
mod personas;
mod structure;
mod syntax;
mod values;

/// A job with nothing but what it needs, five lines long.
const LEAST: &str = "\
target: {user: u, chatbot: c}
tasks:
  - task: t
    acceptanceCriteria: a
facts: []
";

/// The example job of the README of Embabel's agent-eval.
const EMBABEL: &str = include_str!("../../../tests/fixtures/job/embabel-readme.yml");

/// A job with every key.
const FULL: &str = include_str!("../../../tests/fixtures/job/every-key.yml");

/// A bare model as the agent, with every key of that.
const OPENAI: &str = include_str!("../../../tests/fixtures/job/openai.yml");

/// An agent by templates, with every key of that.
const HTTP: &str = include_str!("../../../tests/fixtures/job/http.yml");

/// An agent behind a command, with every key of that.
const COMMAND: &str = include_str!("../../../tests/fixtures/job/command.yml");

/// A job of several cases, with every key of one.
const CASES: &str = include_str!("../../../tests/fixtures/job/cases.yml");

/// A job whose agent is started, with every key of that.
const MANAGED: &str = include_str!("../../../tests/fixtures/job/managed.yml");

/// The least job with more lines after it; the first of them is line 6.
fn least_and(more: &str) -> String {
    format!("{LEAST}{more}")
}

/// Templates that are all there.
struct AllTemplates;

impl TemplateCheck for AllTemplates {
    fn problem(&self, _: &str, _: PromptRole) -> Option<TemplateProblem> {
        None
    }
}

/// The report on this text, as an author sees it.
fn rendered(text: &str) -> String {
    match load("job.yml", text, &AllTemplates) {
        Ok(_) => "no problems".to_owned(),
        Err(problems) => render_problems(&problems),
    }
}

/// The text has exactly these problems, to the letter; the expectation starts with a line break to be readable.
#[track_caller]
fn problems(text: &str, expected: &str) {
    let rendered = rendered(text);
    assert!(rendered == expected[1..], "of\n{text}\nan author sees\n{rendered}\nand not\n{}", &expected[1..]);
}
