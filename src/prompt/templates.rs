//! The templates there are, and whether one can be used.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};
use sha2::{Digest, Sha256};

use super::place::{PromptPlace, first_use};
use super::{PromptError, REVIEW_TEMPLATE, USER_TOOLS_TEMPLATE, judge, persona};
use crate::clock::thread_time;

/// The use of a template, which decides the variables that it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateKind {
    /// `evaluator.prompt`: the persona's instructions.
    Persona,
    /// The same, for a case with a plan.
    PersonaWithPlan,
    /// `scorer.prompt`: the judge's instructions.
    Judge,
}

/// The beginning of the names of the judge's questions.
const QUESTIONS: &str = "judge/";

/// Steps that a template may take: well under a second, and far more than a long conversation needs.
const STEPS: u64 = 5_000_000;

impl TemplateKind {
    fn variables(self) -> &'static [&'static str] {
        match self {
            TemplateKind::Persona | TemplateKind::PersonaWithPlan => persona::VARIABLES,
            TemplateKind::Judge => judge::VARIABLES,
        }
    }
}

/// The templates by name (`eval/socrates` for `prompts/eval/socrates.jinja`): the embedded ones, and those laid over them.
#[derive(Debug, Clone)]
pub struct Templates {
    sources: BTreeMap<String, String>,
    /// The files that those are from that are not built in, as they are to be named.
    files: BTreeMap<String, String>,
    /// The compiled templates, compiled on first use.
    compiled: OnceLock<Environment<'static>>,
}

impl Templates {
    /// The templates that are built in.
    pub fn embedded() -> Templates {
        let sources = [
            ("eval/score", include_str!("../../prompts/eval/score.jinja")),
            ("eval/socrates", include_str!("../../prompts/eval/socrates.jinja")),
            ("judge/completeness", include_str!("../../prompts/judge/completeness.jinja")),
            ("judge/final_response", include_str!("../../prompts/judge/final_response.jinja")),
            ("judge/frame", include_str!("../../prompts/judge/frame.jinja")),
            ("judge/geval_steps", include_str!("../../prompts/judge/geval_steps.jinja")),
            ("judge/geval", include_str!("../../prompts/judge/geval.jinja")),
            ("judge/hallucination", include_str!("../../prompts/judge/hallucination.jinja")),
            ("judge/pairwise", include_str!("../../prompts/judge/pairwise.jinja")),
            ("judge/verifier", include_str!("../../prompts/judge/verifier.jinja")),
            ("judge/simulated_user", include_str!("../../prompts/judge/simulated_user.jinja")),
            ("judge/role_adherence", include_str!("../../prompts/judge/role_adherence.jinja")),
            ("judge/rubric", include_str!("../../prompts/judge/rubric.jinja")),
            ("judge/turn_relevancy", include_str!("../../prompts/judge/turn_relevancy.jinja")),
            (USER_TOOLS_TEMPLATE, include_str!("../../prompts/eval/user_tools.jinja")),
            (REVIEW_TEMPLATE, include_str!("../../prompts/judge/user_message.jinja")),
        ];
        Templates {
            sources: sources.map(|(name, text)| (name.to_owned(), text.to_owned())).into(),
            files: BTreeMap::new(),
            compiled: OnceLock::new(),
        }
    }

    /// The same with one more, from a file by which its problems name it; it takes the place of one of the same name.
    pub fn with_file(mut self, name: impl Into<String>, text: impl Into<String>, file: impl Into<String>) -> Templates {
        let name = name.into();
        self.files.insert(name.clone(), file.into());
        self.sources.insert(name, text.into());
        self.compiled = OnceLock::new();
        self
    }

    /// The templates of these names and texts, as a record holds them; a record whose job asked none of the judge's questions has
    /// those that are built in.
    pub fn from_sources(mut sources: BTreeMap<String, String>) -> Templates {
        // They may be anybody's: none is taken for one that is built in.
        let files = sources.keys().map(|name| (name.clone(), name.clone())).collect();
        if !sources.keys().any(|name| name.starts_with(QUESTIONS)) {
            let own = Templates::embedded().sources.into_iter();
            sources.extend(own.filter(|(name, _)| name.starts_with(QUESTIONS)));
        }
        Templates { sources, files, compiled: OnceLock::new() }
    }

    /// The texts by name.
    pub fn sources(&self) -> &BTreeMap<String, String> {
        &self.sources
    }

    /// The texts that a record holds: those of the judge's questions only where a metric asks them, and not the instructions about
    /// its tools.
    pub fn recorded(&self, asks_questions: bool) -> BTreeMap<String, String> {
        let is_kept = |(name, _): &(&String, &String)| {
            (asks_questions || !name.starts_with(QUESTIONS)) && *name != USER_TOOLS_TEMPLATE
        };
        self.sources.iter().filter(is_kept).map(|(name, text)| (name.clone(), text.clone())).collect()
    }

    /// Whether a template is built in, and takes no longer than what it is filled with is long.
    pub fn is_quick(&self, name: &str) -> bool {
        !self.files.contains_key(name)
    }

    /// SHA-256 of a template's text, in hex; `None` when there is no such template.
    pub fn digest(&self, name: &str) -> Option<String> {
        let source = self.sources.get(name)?;
        Some(Sha256::digest(source.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The first error of a template for this use, in a sentence; `None` when it can be used. Nothing needs to be known
    /// of the job: the template is compiled, its variables are looked up, and it is rendered on samples, which finds
    /// a wrong field (`task.critera`), an unknown filter or a missing include too.
    pub fn check(&self, name: &str, kind: TemplateKind) -> Option<PromptError> {
        if !self.sources.contains_key(name) {
            return Some(self.missing(name));
        }
        let environment = match self.environment(name) {
            Ok(environment) => environment,
            Err(error) => return Some(self.problem(name, &error)),
        };
        if let Some((variable, message)) = undeclared(&environment, name, kind.variables()) {
            let place =
                |file: &str, text: &str| PromptPlace::new(file, text, first_use(text, &variable).unwrap_or(0..0));
            return Some(PromptError { message, place: self.place(name, place) });
        }
        match kind {
            TemplateKind::Persona => persona::try_out(self, name, false),
            TemplateKind::PersonaWithPlan => persona::try_out(self, name, true),
            TemplateKind::Judge => judge::try_out(self, name),
        }
        .err()
    }

    /// A place in a template that is from a file.
    fn place(&self, name: &str, of: impl FnOnce(&str, &str) -> PromptPlace) -> Option<PromptPlace> {
        Some(of(self.files.get(name)?, self.sources.get(name)?))
    }

    /// The first place of a template.
    pub(super) fn start(&self, name: &str) -> Option<PromptPlace> {
        self.place(name, |file, text| PromptPlace::new(file, text, 0..0))
    }

    fn problem(&self, name: &str, error: &Error) -> PromptError {
        // An included template is the place of the error where there is one.
        let mut innermost = error;
        while let Some(inner) = std::error::Error::source(innermost).and_then(|source| source.downcast_ref::<Error>()) {
            innermost = inner;
        }
        let at = innermost.name().filter(|name| self.sources.contains_key(*name)).unwrap_or(name);
        let place = self.place(at, |file, text| PromptPlace::from_error(file, text, innermost));
        PromptError { message: describe(at, innermost), place }
    }

    pub(super) fn render(&self, name: &str, values: minijinja::Value) -> Result<String, PromptError> {
        if !self.sources.contains_key(name) {
            return Err(self.missing(name));
        }
        let compiled = self.compiled.get_or_init(|| self.whatever_compiles());
        let rendered = match compiled.get_template(name) {
            Ok(template) => template.render(&values),
            Err(error) => self.environment(name).map(drop).and(Err(error)),
        };
        rendered.map_err(|error| self.problem(name, &self.in_detail(name, &values, error)))
    }

    /// The same error; where a value is undefined, with its name, which the engine only follows at a cost.
    fn in_detail(&self, name: &str, values: &minijinja::Value, error: Error) -> Error {
        if error.kind() != ErrorKind::UndefinedError {
            return error;
        }
        let again = self.environment(name).and_then(|mut environment| {
            environment.set_debug(true);
            environment.get_template(name)?.render(values)
        });
        again.err().unwrap_or(error)
    }

    /// The others are there to be included; a broken one is reported where it is used itself.
    fn environment(&self, name: &str) -> Result<Environment<'_>, Error> {
        let mut environment = bounded_environment();
        for (other, source) in &self.sources {
            let added = environment.add_template(other, source);
            if other == name {
                added?;
            }
        }
        Ok(environment)
    }

    fn whatever_compiles(&self) -> Environment<'static> {
        let mut environment = bounded_environment();
        for (name, source) in &self.sources {
            // A broken one is reported where it is used.
            let _ = environment.add_template_owned(name.clone(), source.clone());
        }
        environment
    }

    fn missing(&self, name: &str) -> PromptError {
        // Those of other metrics than `tasks`, and the instructions about a persona's tools, are no prompts of their own.
        let is_own = |known: &&String| !known.starts_with(QUESTIONS) && *known != USER_TOOLS_TEMPLATE;
        let own = || self.sources.keys().filter(is_own);
        let near = nearest(name, own().map(String::as_str));
        let guess = near.map(|near| format!(" Did you mean `{near}`?")).unwrap_or_default();
        let known = own().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
        let message = format!(
            "There is no template `{name}`.{guess} There are {known}; one of your own is the file `prompts/{name}.jinja` beside the job file, or `{name}.jinja` in the folder of `--prompts`."
        );
        PromptError { message, place: None }
    }
}

/// Without templates: a variable that is not there is an error, and no template takes for ever.
fn bounded_environment<'t>() -> Environment<'t> {
    let mut environment = Environment::new();
    environment.set_debug(false);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(STEPS));
    environment.set_thread_clock(thread_time);
    environment
}

fn undeclared(environment: &Environment<'_>, name: &str, known: &[&str]) -> Option<(String, String)> {
    let used = environment.get_template(name).ok()?.undeclared_variables(false);
    let functions: Vec<&str> = environment.globals().map(|(name, _)| name).collect();
    let mut unknown: Vec<&str> =
        used.iter().map(String::as_str).filter(|used| !known.contains(used) && !functions.contains(used)).collect();
    unknown.sort_unstable();
    let first = unknown.first()?;
    let guess =
        nearest(first, known.iter().copied()).map(|near| format!(" Did you mean `{near}`?")).unwrap_or_default();
    let known = known.join(", ");
    let message = format!(
        "The template `{name}` uses the variable `{first}`, which it is not given.{guess} It is given: {known}."
    );
    Some(((*first).to_owned(), message))
}

fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

fn describe(name: &str, error: &Error) -> String {
    if error.kind() == ErrorKind::OutOfFuel {
        return format!(
            "The template `{name}` takes more than {STEPS} steps or 5 s, or makes too much text. Is there a loop within a loop over a long range, or a text that grows by itself?"
        );
    }
    let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
    format!("The template `{name}` can't be used: {}{detail}.", error.kind())
}

#[cfg(test)]
mod tests;
