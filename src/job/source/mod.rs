//! Text → a tree of nodes that know where they are written.
//!
//! Invariants: a scalar keeps its type (`1`, `1.0`, `"1"`, `true`, `null` are five things, by YAML 1.2's core schema);
//! positions are those of the text that the author wrote, also behind an alias; nothing here knows what a job is.

mod lines;
mod node;
mod syntax;

pub use lines::{Lines, Span};
pub use node::{Content, Key, Node, as_json};

use super::problem::Report;

/// Reads one YAML document and reports what is wrong with the YAML itself. With a key that comes twice there is a tree
/// all the same, so that its other problems can be told at once.
pub(super) fn parse(report: &mut Report<'_>) -> Option<Node> {
    let text = report.lines.text();
    match node::read(text, node::Duplicates::Refuse) {
        Ok(root) if root.is_empty_document() => {
            syntax::report_empty_file(report);
            None
        }
        Ok(root) => Some(root),
        Err(error) => {
            let error = error.without_snippet();
            let duplicate = matches!(error, serde_saphyr::Error::DuplicateMappingKey { .. });
            let root = if duplicate { node::read(text, node::Duplicates::KeepFirst).ok() } else { None };
            syntax::report(report, error, root.as_ref());
            root
        }
    }
}
