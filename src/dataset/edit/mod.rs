//! Cases put into the text of a file, and taken out of it: everything else stays as it is written, to the byte.
//!
//! In: a file's text, and an id or a case in the file's own format. Out: the new text. Pure; whoever writes it looks at it once more.

mod json_list;
mod yaml_list;

use std::ops::Range;

use super::Kind;
use super::findings::about_file;
use super::json;
use super::load::single;
use super::recognise::look_at;
use crate::job::{Problems, read_yaml};

/// A file with cases, and where they stand in its text.
#[derive(Debug)]
pub struct CaseFile<'a> {
    name: &'a str,
    text: &'a str,
    shape: CaseListShape,
}

/// How a file holds its cases.
#[derive(Debug)]
enum CaseListShape {
    /// A list within JSON: the bytes of its brackets, and of its items.
    Json { list: Range<usize>, items: Vec<Range<usize>> },
    /// The `cases` of a job: the bytes of its items, each with its dash and its line breaks.
    Yaml { items: Vec<Range<usize>>, indent: usize },
}

impl<'a> CaseFile<'a> {
    /// Looks for the cases of another system's file.
    ///
    /// # Errors
    /// It can't be read, or is no list of cases: the reason.
    pub fn of_data(name: &'a str, text: &'a str) -> Result<CaseFile<'a>, Problems> {
        let refused = |message: &str, help: &str| single(about_file(name, message, Some(help)));
        let found = look_at(name, text)?;
        let key = match found.kind {
            Kind::AdkEvalSet => ["eval_cases", "evalCases"],
            Kind::TrpcEvalSet => ["evalCases", "eval_cases"],
            Kind::AdkScenarios => ["scenarios", "scenarios"],
            Kind::AdkOldEvalSet => ["", ""],
            kind => {
                let message = format!("this is {}: it is not a list of cases", kind.name());
                return Err(refused(
                    &message,
                    "a case of this kind is a file: write or delete it, or import it as a job",
                ));
            }
        };
        if found.inner.is_some() {
            return Err(refused("this is JSON within a JSON text", "write it as JSON first"));
        }
        let Some(tree) = found.json else { return Err(refused("this is no JSON", "an eval set")) };
        let from = text.len() - text.trim_start_matches('\u{feff}').len();
        let list = if key[0].is_empty() { Some(&tree.root) } else { key.iter().find_map(|key| tree.root.get(key)) };
        let Some(list) = list.filter(|list| matches!(list.content, json::JsonContent::List(_))) else {
            return Err(refused("its cases are no list", "an eval set with `eval_cases`"));
        };
        let shifted = |node: &json::JsonNode| from + node.start..from + node.end;
        let shape = CaseListShape::Json { list: shifted(list), items: list.items().iter().map(shifted).collect() };
        Ok(CaseFile { name, text, shape })
    }

    /// Looks for the cases of a job file.
    ///
    /// # Errors
    /// It can't be read, or has no `cases` of its own: the reason.
    pub fn of_job(name: &'a str, text: &'a str) -> Result<CaseFile<'a>, Problems> {
        let root = read_yaml(name, text)?;
        let Some(cases) = root.get("cases") else {
            let help = "write `cases:` with what differs from case to case; what is the same for all stays where it is";
            return Err(single(about_file(name, "this job is one case: it has no `cases`", Some(help))));
        };
        let from = text.len() - text.trim_start_matches('\u{feff}').len();
        let spans: Vec<Range<usize>> = cases.items().iter().map(|item| yaml_list::span(text, from, item)).collect();
        match yaml_list::items(text, &spans) {
            Some((items, indent)) => Ok(CaseFile { name, text, shape: CaseListShape::Yaml { items, indent } }),
            None => {
                let help = "write each case on lines of its own, after a dash";
                Err(single(about_file(name, "its `cases` stand in brackets or behind an alias", Some(help))))
            }
        }
    }

    /// How many cases there are.
    pub fn len(&self) -> usize {
        match &self.shape {
            CaseListShape::Json { items, .. } | CaseListShape::Yaml { items, .. } => items.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A case as it is written, without what it is indented by; empty where there is none.
    pub fn written(&self, place: usize) -> String {
        match &self.shape {
            CaseListShape::Json { items, .. } => {
                items.get(place).map(|item| json_list::dedented(self.text, item.clone())).unwrap_or_default()
            }
            CaseListShape::Yaml { items, indent } => {
                items.get(place).map(|item| yaml_list::dedented(&self.text[item.clone()], *indent)).unwrap_or_default()
            }
        }
    }

    /// The text without the case in this place.
    ///
    /// # Errors
    /// It is the only case of a job.
    pub fn without(&self, place: usize) -> Result<String, Problems> {
        match &self.shape {
            CaseListShape::Json { list, items } => Ok(json_list::without(self.text, list, items, place)),
            CaseListShape::Yaml { items, .. } if items.len() < 2 => {
                let help = "a job needs a case: add another one first, or delete the file";
                Err(single(about_file(self.name, "this is the only case of the job", Some(help))))
            }
            CaseListShape::Yaml { items, .. } => {
                let item = items.get(place).cloned().unwrap_or_default();
                Ok(format!("{}{}", &self.text[..item.start], &self.text[item.end..]))
            }
        }
    }

    /// The text with a case behind the last one; it is written in the file's own format.
    pub fn with(&self, case: &str) -> String {
        match &self.shape {
            CaseListShape::Json { list, items } => json_list::with(self.text, list, items, case),
            CaseListShape::Yaml { items, indent } => yaml_list::with(self.text, items, *indent, case),
        }
    }

    /// Whether cases are written as JSON here, rather than as YAML.
    pub fn is_json(&self) -> bool {
        matches!(self.shape, CaseListShape::Json { .. })
    }
}

#[cfg(test)]
mod tests;
