//! Personas as data: what kind of person the user is, shipped in `prompts/personas`, in a file of one's own, or in the job.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::problem::{Problem, Problems, Report};
use super::source::{self, SourceLines};
use super::template_check::{TemplatePlace, TemplateProblem};
use super::{AllowedFaults, check, nearest, rules, schema};

/// The kind of person the user is. The persona plays it beside its tasks and facts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "user persona")]
pub struct UserPersona {
    /// Its name in reports and in the ids of its cases. In a file of its own: the file's name
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"))]
    pub name: String,
    /// Who it is, in a line.
    #[serde(deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = r"\S"))]
    pub description: Option<String>,
    /// Its goals, beyond its tasks.
    #[serde(deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = r"\S"))]
    pub goals: Option<String>,
    /// Its patience: what it puts up with before it gives up.
    #[serde(deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = r"\S"))]
    pub patience: Option<String>,
    /// How it writes, instead of `evaluator.voice`.
    #[serde(deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = r"\S"))]
    pub style: Option<String>,
    /// Its knowledge of the subject. Facts are the case's.
    #[serde(deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = r"\S"))]
    pub knowledge: Option<String>,
    /// How it behaves, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(regex(pattern = r"\S")))]
    pub behaviours: Vec<String>,
    /// The faults that it may make, because they are part of what it plays, beside those of `evaluator.allow`.
    #[serde(skip_serializing_if = "AllowedFaults::is_none")]
    pub allow: AllowedFaults,
}

/// The personas that are built in: name and text.
const SHIPPED: [(&str, &str); 13] = [
    ("terse", include_str!("../../prompts/personas/terse.yml")),
    ("rambling", include_str!("../../prompts/personas/rambling.yml")),
    ("impatient", include_str!("../../prompts/personas/impatient.yml")),
    ("mistaken", include_str!("../../prompts/personas/mistaken.yml")),
    ("non-native", include_str!("../../prompts/personas/non-native.yml")),
    ("topic-changing", include_str!("../../prompts/personas/topic-changing.yml")),
    ("hostile", include_str!("../../prompts/personas/hostile.yml")),
    ("expert", include_str!("../../prompts/personas/expert.yml")),
    ("novice", include_str!("../../prompts/personas/novice.yml")),
    ("evaluator", include_str!("../../prompts/personas/evaluator.yml")),
    ("cooperative", include_str!("../../prompts/personas/cooperative.yml")),
    ("confused", include_str!("../../prompts/personas/confused.yml")),
    ("adversarial", include_str!("../../prompts/personas/adversarial.yml")),
];

impl UserPersona {
    /// The names of those that are built in.
    pub fn shipped_names() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    /// One that is built in.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn shipped(name: &str) -> Result<UserPersona, TemplateProblem> {
        match SHIPPED.iter().find(|(known, _)| *known == name) {
            Some((name, text)) => UserPersona::read(name, &format!("prompts/personas/{name}.yml"), text),
            None => Err(unknown(name).into()),
        }
    }

    /// Reads the file of a persona of this name. `file` names it in problems; nothing is opened.
    ///
    /// # Errors
    /// The first thing that is wrong with the text, with its place.
    pub fn read(name: &str, file: &str, text: &str) -> Result<UserPersona, TemplateProblem> {
        let mut persona = parse(file, text).map_err(first_of)?;
        if !persona.name.is_empty() && persona.name != name {
            let message = format!("{file} says `name: {}`; a persona has the name of its file", persona.name);
            return Err(message.into());
        }
        name.clone_into(&mut persona.name);
        match persona.problem() {
            Some(problem) => Err(format!("{file}: {problem}").into()),
            None => Ok(persona),
        }
    }

    /// Whether it is one that is built in, unchanged.
    pub fn is_shipped(&self) -> bool {
        UserPersona::shipped(&self.name).is_ok_and(|shipped| shipped == *self)
    }

    /// The kind of person it is, but for how it writes: a sentence each.
    pub fn traits(&self) -> impl Iterator<Item = String> {
        let named = [("goals", &self.goals), ("patience", &self.patience), ("knowledge", &self.knowledge)];
        let named = named.into_iter().filter_map(|(what, text)| Some(format!("{what}: {}", text.as_ref()?)));
        self.description.iter().cloned().chain(named).chain(self.behaviours.iter().cloned())
    }

    /// The problem with it as a whole.
    pub(super) fn problem(&self) -> Option<String> {
        if self.name.is_empty() {
            return Some("a persona that the job describes needs a `name`".to_owned());
        }
        (self.traits().next().is_none() && self.style.is_none()).then(|| {
            let keys = "`description`, `goals`, `patience`, `style`, `knowledge` or `behaviours`";
            format!("the persona `{}` has none of {keys}", self.name)
        })
    }
}

fn parse(file: &str, text: &str) -> Result<UserPersona, Problems> {
    let lines = SourceLines::new(text);
    let mut report = Report::new(file, &lines);
    let Some(root) = source::parse(&mut report) else { return Err(report.failed()) };
    check::check_part(&mut report, schema::shared(), "UserPersona", &root);
    report.finish()?;
    serde_json::from_value(source::as_json(&root)).map_err(|error| {
        let mut report = Report::new(file, &lines);
        report.add(lines.at(0), error.to_string());
        report.failed()
    })
}

fn first_of(problems: Problems) -> TemplateProblem {
    let Some(Problem { file, line, column, width, source_line, message, expected, help, .. }) =
        problems.list.into_iter().next()
    else {
        return String::new().into();
    };
    let expected = (!expected.is_empty()).then(|| format!("expected one of {}", expected.join(", ")));
    let message = [Some(message), expected, help].into_iter().flatten().collect::<Vec<_>>().join("; ");
    TemplateProblem { message, place: Some(TemplatePlace { file, line, column, width, source_line }) }
}

/// The error message for an unknown persona.
fn unknown(name: &str) -> String {
    let suggestion = nearest::nearest(name, UserPersona::shipped_names());
    let suggestion = suggestion.map(|name| format!(" Did you mean `{name}`?")).unwrap_or_default();
    let names = UserPersona::shipped_names().collect::<Vec<_>>().join(", ");
    format!(
        "There is no persona `{name}`.{suggestion} Built in are {names}; `prompts/personas/{name}.yml` beside the job would be one of \
         your own."
    )
}

/// A persona as a job writes it: a name, or a mapping.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub(super) struct UserPersonaFile(UserPersona);

impl From<UserPersonaFile> for UserPersona {
    fn from(file: UserPersonaFile) -> UserPersona {
        file.0
    }
}

impl<'de> Deserialize<'de> for UserPersonaFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<UserPersonaFile, D::Error> {
        match Value::deserialize(deserializer)? {
            // Loading a job puts the persona in the place of its name.
            Value::String(name) => Err(D::Error::custom(unknown(&name))),
            mapping => serde_json::from_value(mapping).map(UserPersonaFile).map_err(D::Error::custom),
        }
    }
}

impl JsonSchema for UserPersonaFile {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "UserPersonaFile".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let name = serde_json::json!({ "type": "string", "pattern": r"\S" });
        json_schema!({ "anyOf": [name, generator.subschema_for::<UserPersona>()] })
    }
}
