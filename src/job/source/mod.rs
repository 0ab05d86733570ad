//! Text → a tree of nodes that know where they are written.
//!
//! Invariants: a scalar keeps its type (`1`, `1.0`, `"1"`, `true`, `null` are five things, by YAML 1.2's core schema);
//! positions are those of the text that the author wrote, also behind an alias; nothing here knows what a job is.

mod lines;
mod node;
mod syntax;

pub use lines::{SourceLines, SourceSpan};
pub use node::{Key, YamlContent, YamlNode, as_json};

use super::problem::Report;
use super::redaction::Redaction;
use super::secrets::FoundSecrets;

/// Reads one YAML document without reporting its errors: the trees of its first and its last keys, where
/// some come twice; nothing where it can't be read.
pub(super) fn read_leniently(text: &str) -> Vec<YamlNode> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match node::read(text, node::Duplicates::Refuse) {
        Ok(root) => vec![root],
        Err(_) => {
            let both = [node::Duplicates::KeepFirst, node::Duplicates::KeepLast];
            both.into_iter().filter_map(|policy| node::read(text, policy).ok()).collect()
        }
    }
}

/// Reads one YAML document and reports what is wrong with the YAML itself. With a key that comes twice there is a tree
/// all the same, so that its other problems can be reported at once.
pub(super) fn parse(report: &mut Report<'_>) -> Option<YamlNode> {
    let text = report.lines.text();
    match node::read(text, node::Duplicates::Refuse) {
        Ok(root) if root.is_empty_document() => {
            syntax::report_empty_file(report);
            None
        }
        Ok(root) => {
            report.redaction = Redaction::new(FoundSecrets::from_tree(&root));
            Some(root)
        }
        Err(error) => {
            let error = error.without_snippet();
            let duplicate = matches!(error, serde_saphyr::Error::DuplicateMappingKey { .. });
            let root = if duplicate { node::read(text, node::Duplicates::KeepFirst).ok() } else { None };
            if root.is_some() {
                let mut found = FoundSecrets::default();
                read_leniently(text).iter().for_each(|root| found.add(root));
                report.redaction = Redaction::new(found);
            }
            if root.is_none() && text.contains('\t') {
                // With spaces instead of its tabs it may be readable, and then it is known what of it is secret.
                let readable = read_leniently(&text.replace('\t', " "));
                if !readable.is_empty() {
                    let mut found = FoundSecrets::default();
                    readable.iter().for_each(|root| found.add(root));
                    report.redaction = Redaction::new(found);
                }
            }
            syntax::report(report, error, root.as_ref());
            root
        }
    }
}
