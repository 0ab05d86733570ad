//! The templates there are, and whether one can be used.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};
use sha2::{Digest, Sha256};

use super::place::{PromptPlace, first_use};
use super::{PromptError, judge, persona};

/// What a template is for, which decides the variables it may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateKind {
    /// `evaluator.prompt`: what the persona is told.
    Persona,
    /// `scorer.prompt`: what the judge is told.
    Judge,
}

/// Steps that a template may take: well under a second, and far more than a long conversation needs.
const STEPS: u64 = 5_000_000;

impl TemplateKind {
    fn variables(self) -> &'static [&'static str] {
        match self {
            TemplateKind::Persona => persona::VARIABLES,
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
    /// Those that compile, compiled once.
    compiled: OnceLock<Environment<'static>>,
}

impl Templates {
    /// The templates that are built in.
    pub fn embedded() -> Templates {
        let sources = [
            ("eval/score", include_str!("../../prompts/eval/score.jinja")),
            ("eval/socrates", include_str!("../../prompts/eval/socrates.jinja")),
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

    /// Whether a template is built in, and takes no longer than what it is filled with is long.
    pub fn is_quick(&self, name: &str) -> bool {
        !self.files.contains_key(name)
    }

    /// SHA-256 of a template's text, in hex; `None` when there is no such template.
    pub fn digest(&self, name: &str) -> Option<String> {
        let source = self.sources.get(name)?;
        Some(Sha256::digest(source.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// What is wrong with a template for this use, in a sentence; `None` when it can be used. Nothing needs to be known
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
                |file: &str, text: &str| PromptPlace::of(file, text, first_use(text, &variable).unwrap_or(0..0));
            return Some(PromptError { message, place: self.place(name, place) });
        }
        match kind {
            TemplateKind::Persona => persona::try_out(self, name),
            TemplateKind::Judge => judge::try_out(self, name),
        }
        .err()
    }

    /// A place in a template that is from a file.
    fn place(&self, name: &str, of: impl FnOnce(&str, &str) -> PromptPlace) -> Option<PromptPlace> {
        Some(of(self.files.get(name)?, self.sources.get(name)?))
    }

    /// Where a template begins.
    pub(super) fn start(&self, name: &str) -> Option<PromptPlace> {
        self.place(name, |file, text| PromptPlace::of(file, text, 0..0))
    }

    fn problem(&self, name: &str, error: &Error) -> PromptError {
        // An included template is the place of the error where there is one.
        let mut innermost = error;
        while let Some(inner) = std::error::Error::source(innermost).and_then(|source| source.downcast_ref::<Error>()) {
            innermost = inner;
        }
        let at = innermost.name().filter(|name| self.sources.contains_key(*name)).unwrap_or(name);
        let place = self.place(at, |file, text| PromptPlace::of_error(file, text, innermost));
        PromptError { message: describe(at, innermost), place }
    }

    pub(super) fn render(&self, name: &str, values: minijinja::Value) -> Result<String, PromptError> {
        if !self.sources.contains_key(name) {
            return Err(self.missing(name));
        }
        let compiled = self.compiled.get_or_init(|| self.whatever_compiles());
        match compiled.get_template(name) {
            Ok(template) => template.render(values),
            Err(error) => self.environment(name).map(drop).and(Err(error)),
        }
        .map_err(|error| self.problem(name, &error))
    }

    /// The others are there to be included; one that is broken is told of where it is used itself.
    fn environment(&self, name: &str) -> Result<Environment<'_>, Error> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_fuel(Some(STEPS));
        for (other, source) in &self.sources {
            let added = environment.add_template(other, source);
            if other == name {
                added?;
            }
        }
        Ok(environment)
    }

    fn whatever_compiles(&self) -> Environment<'static> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_fuel(Some(STEPS));
        for (name, source) in &self.sources {
            // One that is broken is told of where it is used.
            let _ = environment.add_template_owned(name.clone(), source.clone());
        }
        environment
    }

    fn missing(&self, name: &str) -> PromptError {
        let near = nearest(name, self.sources.keys().map(String::as_str));
        let guess = near.map(|near| format!(" Did you mean `{near}`?")).unwrap_or_default();
        let known = self.sources.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
        let message = format!(
            "There is no template `{name}`.{guess} There are {known}; one of your own is the file `prompts/{name}.jinja` beside the job file, or `{name}.jinja` in the folder of `--prompts`."
        );
        PromptError { message, place: None }
    }
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
mod tests {
    use super::*;

    fn with(text: &str) -> Templates {
        Templates::embedded().with_file("own", text, "own")
    }

    /// What is wrong with it, as it is told.
    fn problem(text: &str, kind: TemplateKind) -> Option<String> {
        with(text).check("own", kind).map(|problem| problem.to_string())
    }

    #[test]
    fn the_embedded_templates_can_be_used() {
        assert_eq!(Templates::embedded().check("eval/socrates", TemplateKind::Persona), None);
        assert_eq!(Templates::embedded().check("eval/score", TemplateKind::Judge), None);
    }

    #[test]
    fn a_missing_template_names_those_there_are_and_where_ones_own_would_lie() {
        assert_eq!(
            Templates::embedded().check("eval/socrate", TemplateKind::Persona).unwrap().to_string(),
            "There is no template `eval/socrate`. Did you mean `eval/socrates`? There are `eval/score` and `eval/socrates`; one of your own is the file `prompts/eval/socrate.jinja` beside the job file, or `eval/socrate.jinja` in the folder of `--prompts`."
        );
        assert!(!Templates::embedded().check("zebra", TemplateKind::Persona).unwrap().message.contains("mean"));
    }

    #[test]
    fn an_unknown_variable_is_named_with_a_guess() {
        assert_eq!(
            problem("{{ voice }} {{ singoff }}", TemplateKind::Persona).unwrap(),
            "own:1:16: The template `own` uses the variable `singoff`, which it is not given. Did you mean `signoff`? It is given: name, voice, signoff, tasks, facts."
        );
    }

    #[test]
    fn variables_of_the_other_kind_are_unknown() {
        let problem = Templates::embedded().check("eval/score", TemplateKind::Persona).unwrap().message;
        assert!(problem.contains("`transcript`"), "{problem}");
    }

    #[test]
    fn functions_of_the_language_are_not_variables() {
        let text = "{% for i in range(2) %}{{ i }}{% endfor %}{% for t in tasks %}{{ t.task }}{% endfor %}";
        assert_eq!(with(text).check("own", TemplateKind::Persona), None);
    }

    #[test]
    fn a_syntax_error_has_its_place_in_its_file() {
        let templates = Templates::embedded().with_file("own", "fine\n  ä{% for task in %}", "prompts/own.jinja");
        let problem = templates.check("own", TemplateKind::Persona).unwrap();
        let place = problem.place.clone().unwrap();
        assert_eq!((place.line, place.source_line.as_str()), (2, "  ä{% for task in %}"));
        assert!(
            problem.to_string().starts_with("prompts/own.jinja:2:19: The template `own` can't be used: syntax error"),
            "{problem}"
        );
    }

    #[test]
    fn an_error_while_it_is_filled_in_has_its_place() {
        for (text, place) in [
            ("ok\n  {{ name.first.second }}", "own:2:10: "),
            ("ok\n\n{{ name|shout }}", "own:3:9: "),
            (
                "{{ tasks }}\n{% for i in range(99999) %}\n  {% for j in range(99999) %}{% endfor %}{% endfor %}",
                "own:3:",
            ),
            ("\n{{ 'a' * 10**9 }}", "own:2:4: "),
        ] {
            let problem = problem(text, TemplateKind::Persona).unwrap();
            assert!(problem.starts_with(place), "{text}: {problem}");
        }
    }

    #[test]
    fn a_template_that_reads_a_long_text_again_and_again_is_stopped_in_time() {
        let values = minijinja::context! { transcript => "ä".repeat(4 << 20) };
        for text in [
            "{% for i in range(99999) %}{% if transcript|length == i %}x{% endif %}{% endfor %}",
            "{{ range(99999)|select('in', range(99999))|list|length }}",
            "{{ ([transcript] * 100000)|map('length')|list|length }}",
        ] {
            let since = crate::clock::Clock::system().start();
            let error = with(text).render("own", values.clone()).unwrap_err();
            assert!(error.message.contains("5 s"), "{text}: {error}");
            assert!(since.elapsed_ms() < 20_000.0, "{text}");
        }
    }

    #[test]
    fn a_wide_format_is_refused() {
        for text in [
            "{{ '%1000000000d'|format(1) }}",
            "{{ '%.1000000000f'|format(1.5) }}",
            "{{ ('%(a)900000d' * 100)|format({'a': 1}) }}",
            "{{ '{:1000000000}'.format(1) }}",
            "{{ (['a' * 1000000] * 100)|map('replace', 'a', 'bbbbbbbbbbbbbbbb')|list|length }}",
        ] {
            assert!(problem(text, TemplateKind::Persona).is_some(), "{text}");
        }
        assert_eq!(problem("{{ '%5d'|format(1) }}{{ name }}", TemplateKind::Persona), None);
    }

    #[test]
    fn a_template_without_an_end_is_told() {
        let loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}{{ transcript }}";
        let recursion = "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}{{ transcript }}";
        let problem = problem(loops, TemplateKind::Judge).unwrap();
        assert!(problem.contains("takes more than 5000000 steps"), "{problem}");
        for text in [recursion, "{{ range(1000000000)|list }}", "{{ 'x' * 1000000000000 }}", "{% include 'own' %}"] {
            assert!(with(text).check("own", TemplateKind::Judge).is_some(), "{text}");
        }
    }

    #[test]
    fn a_template_that_eats_memory_is_told() {
        let unrolled = format!("{{% set x = 'aaaaaaaa' %}}{}{{{{ x }}}}", "{% set x = x ~ x %}".repeat(40));
        let list = format!("{{% set x = ['a'] %}}{}{{{{ x }}}}", "{% set x = [x, x] %}".repeat(40));
        let in_loop = |step: &str| {
            format!(
                "{{% set n = namespace(x='aaaaaaaa') %}}{{% for i in range(60) %}}{step}{{% endfor %}}{{{{ n.x }}}}{{{{ transcript }}}}"
            )
        };
        let captured = "{% set y %}{{ n.x }}{{ n.x }}{% endset %}{% set n.x = y %}";
        let long = "{% set n = namespace(l=[]) %}{% for i in range(100000) %}{% set n.l = n.l + ['x' * 100000] %}{% endfor %}{{ n.l|join }}";
        let nested =
            "{% set n = namespace(x=[]) %}{% for i in range(5000) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x }}";
        for text in [
            unrolled,
            list,
            in_loop("{% set n.x = n.x ~ n.x %}"),
            in_loop("{% set n.x = n.x + n.x %}"),
            in_loop("{% set n.x = n.x * 8 %}"),
            in_loop("{% set n.x = n.x|replace('a', n.x) %}"),
            in_loop("{% set n.x = [n.x, n.x]|join(n.x) %}"),
            in_loop("{% set n.x = [n.x, n.x]|string %}"),
            in_loop("{% set n.x = {'a': n.x, 'b': n.x}|tojson %}"),
            in_loop("{% set n.x = n.x|list|chain(n.x|list) %}"),
            in_loop(captured),
            long.to_owned(),
            nested.to_owned(),
            "{{ ('x' * 10000000) ~ ('x' * 10000000)|indent(100000000) }}".to_owned(),
            "{{ 'a' * 10**9 }}".to_owned(),
            "{{ [1]|batch(1000000000, 'x') }}".to_owned(),
            "{% macro d(s, n) %}{% if n > 0 %}{{ d(s ~ s, n - 1) }}{% else %}{{ s }}{% endif %}{% endmacro %}{{ d('aaaaaaaa', 40) }}".to_owned(),
            "{% for i in range(90000) %}{% for j in range(5) %}{{ 'x' * 10000 }}{% endfor %}{% endfor %}".to_owned(),
        ] {
            let problem = problem(&text, TemplateKind::Judge);
            let is_told = |problem: &String| problem.contains("makes too much") || problem.contains("too large") || problem.contains("recursion");
            assert!(problem.as_ref().is_some_and(is_told), "{text}: {problem:?}");
        }
    }

    #[test]
    fn a_long_transcript_is_no_reason_to_refuse_a_template() {
        let values = minijinja::context! { transcript => "a".repeat(40 << 20) };
        let templates = with("{% for task in range(100) %}{{ task }}{% endfor %}{{ transcript|trim }}");
        assert_eq!(templates.render("own", values).map(|text| text.len()), Ok((40 << 20) + 190));
    }

    #[test]
    fn a_wrong_field_is_found_before_any_job_runs() {
        let text = "{% for task in tasks %}\n{{ task.critera }}{% endfor %}{{ transcript }}";
        let problem = problem(text, TemplateKind::Judge).unwrap();
        assert!(problem.starts_with("own:2:4: "), "{problem}");
        assert!(problem.contains("undefined"), "{problem}");
    }

    #[test]
    fn an_unknown_filter_and_a_missing_include_are_found() {
        assert!(with("{{ name|shout }}").check("own", TemplateKind::Persona).unwrap().message.contains("shout"));
        assert!(
            with("{% include 'nowhere' %}").check("own", TemplateKind::Persona).unwrap().message.contains("nowhere")
        );
    }

    #[test]
    fn a_template_may_include_an_embedded_one() {
        let text = "Speak French.\n{% include 'eval/socrates' %}";
        assert_eq!(with(text).check("own", TemplateKind::Persona), None);
    }

    #[test]
    fn a_judge_that_would_not_see_the_conversation_is_refused() {
        let problem = problem("{% for task in tasks %}{{ task.task }}{% endfor %}", TemplateKind::Judge);
        assert_eq!(
            problem.unwrap(),
            "own:1:1: The template `own` never shows `transcript`: the judge would score a conversation that it can't see."
        );
    }

    #[test]
    fn the_digest_is_that_of_the_text() {
        assert_eq!(
            with("abc").digest("own").unwrap(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(with("abc").digest("other"), None);
        assert_ne!(Templates::embedded().digest("eval/score"), Templates::embedded().digest("eval/socrates"));
    }
}
