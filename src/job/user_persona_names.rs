//! The personas that a job names: each is put in the place of its name.

use serde_json::{Value, json};

use super::problem::Report;
use super::source::YamlNode;
use super::template_check::{TemplateCheck, TemplateProblem};
use super::{UserPersona, digest};

/// The personas that a job names, in the order of the file.
pub(super) struct UserPersonaNames(Vec<UserPersona>);

impl UserPersonaNames {
    /// Reads them; what can't be read is reported at its place, as are described ones that say nothing.
    pub(super) fn read(report: &mut Report<'_>, files: &dyn TemplateCheck, root: &YamlNode) -> UserPersonaNames {
        let mut read = Vec::new();
        let list = root.get("evaluator").and_then(|part| part.get("personas")).map(YamlNode::items).unwrap_or_default();
        let mut names: Vec<String> = Vec::new();
        for node in list {
            let Some(name) = one(report, files, node, &mut read) else { continue };
            if names.contains(&name) {
                report.add(node.span, format!("the persona `{name}` is there twice"));
            }
            names.push(name);
        }
        for case in root.get("cases").map(YamlNode::items).unwrap_or_default() {
            if let Some(node) = case.get("persona") {
                one(report, files, node, &mut read);
            }
        }
        UserPersonaNames(read)
    }

    /// Puts them in the places of their names.
    pub(super) fn fill_in(self, job: &mut Value) {
        let mut read = self.0.into_iter();
        let mut fill = |value: &mut Value| {
            if value.is_string() {
                *value = json!(read.next());
            }
        };
        job.pointer_mut("/evaluator/personas").and_then(Value::as_array_mut).into_iter().flatten().for_each(&mut fill);
        let cases = job.get_mut("cases").and_then(Value::as_array_mut).into_iter().flatten();
        cases.filter_map(|case| case.get_mut("persona")).for_each(&mut fill);
    }

    /// A digest with all of them: a job whose personas are others is another job.
    pub(super) fn digest(&self, job: String) -> String {
        self.0.iter().fold(job, |all, persona| digest(&format!("{all}{}", json!(persona))))
    }
}

/// The name of a persona; one that is only named is read.
fn one(
    report: &mut Report<'_>,
    files: &dyn TemplateCheck,
    node: &YamlNode,
    read: &mut Vec<UserPersona>,
) -> Option<String> {
    let Some(name) = node.text() else { return described(report, node) };
    match files.persona(name) {
        Ok(persona) => {
            read.push(persona);
            return Some(name.to_owned());
        }
        Err(TemplateProblem { message, place: Some(place) }) => report.add_elsewhere(place, message),
        Err(TemplateProblem { message, place: None }) => {
            report.add(node.span, message);
        }
    }
    None
}

/// One that the job describes; the schema reports what it can't be read for.
fn described(report: &mut Report<'_>, node: &YamlNode) -> Option<String> {
    let persona: UserPersona = serde_json::from_value(super::as_json(node)).ok()?;
    if let Some(problem) = persona.problem() {
        report.add(node.span, problem);
    }
    Some(persona.name)
}
