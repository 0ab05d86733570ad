//! `context`: texts for judges, written in the job or read from files.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::problem::Report;
use super::rules;
use super::source::YamlNode;
use super::template_check::TemplateCheck;

/// A text that judges are given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContextText {
    /// Its name.
    pub name: String,
    /// The text.
    pub text: String,
}

/// A text for judges, or the file or folder of such texts.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "context text", rename = "ContextText", transform = one_kind)]
#[expect(dead_code, reason = "what a job may say; it is read as ContextText")]
pub(super) struct ContextEntry {
    /// The text's name, by which judges know it. Default: its number
    #[schemars(regex(pattern = r"\S"))]
    name: String,
    /// The text.
    #[schemars(regex(pattern = r"\S"))]
    text: String,
    /// A text file, beside the job; or a folder, whose .txt, .md and .json files are read, also those in folders below. Judges
    /// know each by its path.
    #[schemars(regex(pattern = r"\S"))]
    file: String,
}

fn one_kind(schema: &mut Schema) {
    schema.remove("required");
    rules::exactly_one(schema, &["text", "file"]);
    rules::apart(schema, &[["name", "file"]]);
}

/// The texts of all files that a job names in its contexts, in the order of the file.
pub(super) struct ContextFiles(Vec<Vec<ContextText>>);

impl ContextFiles {
    /// Reads them; what can't be read is reported at its place.
    pub(super) fn read(report: &mut Report<'_>, files: &dyn TemplateCheck, root: &YamlNode) -> ContextFiles {
        let mut read = Vec::new();
        for entry in parts(root).flat_map(|part| part.get("context").map(YamlNode::items).unwrap_or_default()) {
            // What contradicts itself is reported by the schema.
            let Some(file) = entry.get("file").filter(|_| entry.entries().len() == 1) else { continue };
            match file.text().map(|path| files.context(path)) {
                Some(Ok(texts)) => read.push(texts),
                Some(Err(problem)) => {
                    let help =
                        "the path of a text file, or of a folder with .txt, .md or .json files, from the job's folder";
                    report.add(file.span, problem.to_string()).try_this(help.to_owned());
                }
                // The schema says so.
                None => {}
            }
        }
        ContextFiles(read)
    }

    /// Puts the texts in the places of their files, and names those that have no name.
    pub(super) fn fill_in(self, job: &mut Value) {
        let mut read = self.0.into_iter();
        fill_in_part(job, &mut read);
        for case in job.get_mut("cases").and_then(Value::as_array_mut).into_iter().flatten() {
            fill_in_part(case, &mut read);
        }
    }

    /// All of them, for a digest.
    pub(super) fn texts(&self) -> impl Iterator<Item = &ContextText> {
        self.0.iter().flatten()
    }
}

/// The job itself, then its cases.
fn parts(root: &YamlNode) -> impl Iterator<Item = &YamlNode> {
    [root].into_iter().chain(root.get("cases").map(YamlNode::items).unwrap_or_default())
}

fn fill_in_part(part: &mut Value, read: &mut impl Iterator<Item = Vec<ContextText>>) {
    let Some(Value::Array(entries)) = part.get_mut("context") else { return };
    let mut all: Vec<Value> = Vec::new();
    for mut entry in std::mem::take(entries) {
        if entry.get("file").is_some() {
            all.extend(read.next().unwrap_or_default().into_iter().map(|text| json!(text)));
        } else {
            if entry.get("name").is_none() {
                entry["name"] = format!("text {}", all.len() + 1).into();
            }
            all.push(entry);
        }
    }
    *entries = all;
}
