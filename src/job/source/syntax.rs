//! Reports the errors of the YAML parser.

use serde_saphyr::Error;
use serde_saphyr::budget::BudgetBreach;

use super::node::MOST_VALUES;
use super::{SourceSpan, YamlNode};
use crate::job::problem::{Report, quoted_key};
use crate::job::redaction::Redaction;
use crate::job::secrets::is_known_key;

/// Reports a file that holds nothing but comments.
pub(super) fn report_empty_file(report: &mut Report<'_>) {
    let start = report.lines.at(0);
    report.add(start, "the job file is empty").try_this(
        "a job has at least the keys `target`, `tasks` and `facts`; `eval-job schema` prints all of them".to_owned(),
    );
}

/// Reports the parser's error. `root` is the tree that a duplicate key leaves when only the first one counts.
pub(super) fn report(report: &mut Report<'_>, error: &Error, root: Option<&YamlNode>) {
    let at = place(report, error);
    let error = match error {
        Error::AliasError { error, .. } => error.without_snippet(),
        other => other,
    };
    if let Some(tab) = tab_in_indentation(report, at.line)
        && is_syntax(error)
    {
        let why = match report.redaction {
            Redaction::Everything => "; values are shown as *** as long as the file can't be read",
            Redaction::Secrets(_) => "",
        };
        report
            .add(tab, "a tab stands in the indentation; YAML allows only spaces there")
            .try_this(format!("replace the tab by spaces{why}"));
        return;
    }
    match error {
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.clone().unwrap_or_else(|| report.lines.written(at).to_owned());
            let first = root.and_then(|root| first_of(root, &key, at));
            let message = match first {
                Some(first) => format!("the key {} is there already, in line {}", quoted_key(&key), first.line),
                None => format!("the key {} is there already", quoted_key(&key)),
            };
            report.add(at, message).try_this("keep one of the two".to_owned());
        }
        Error::MultipleDocuments { .. } => {
            report
                .add(at, "a second document starts here; a job file holds one")
                .try_this("split the file at the line `---` or `...`, one job a file".to_owned());
        }
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. } => {
            report
                .add(at, "the aliases (`*name`) of this file unfold to far more than a job can hold")
                .try_this("write the values out, or use fewer aliases within aliases".to_owned());
        }
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => too_deep(report, at),
        _ if detail(error).contains("recursion limit") => too_deep(report, at),
        Error::Budget { breach: BudgetBreach::Nodes { .. } | BudgetBreach::Events { .. }, .. } => {
            let what = format!("this file has more than {MOST_VALUES} keys and values, which no job has");
            report.add(at, what).try_this(
                "split it into several jobs; another system's file of any size runs as it is: eval-job run FILE --target TARGET"
                    .to_owned(),
            );
        }
        Error::Budget { .. } => {
            report
                .add(
                    at,
                    "this file has more anchors, aliases and merges, or a longer text behind them, than a job can have",
                )
                .try_this("write the values out".to_owned());
        }
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            report.add(at, "this alias stands inside of what it refers to");
        }
        Error::UnknownAnchor { .. } => {
            report
                .add(at, "this alias (`*name`) refers to an anchor (`&name`) that is not there")
                .try_this("if it is meant as text, put it in quotes".to_owned());
        }
        // Its name is not shown: a password can begin with a `!`.
        Error::UnsupportedTag { .. } => {
            report
                .add(at, "a tag (`!name`) has no meaning in a job file")
                .try_this("if it is meant as text, put it in quotes".to_owned());
        }
        Error::SerdeInvalidType { expected, .. } if expected == super::node::KEY => {
            report.add(at, "a key must be text, not a list or a mapping").try_this(
                "text that starts with `{` or `[`, such as `{{ name }}`, needs quotes around all of it".to_owned(),
            );
        }
        Error::InvalidScalar { .. } | Error::InvalidBooleanStrict { .. } | Error::InvalidBinaryBase64 { .. } => {
            report.add(at, "this value does not fit the tag before it");
        }
        Error::MergeValueNotMapOrSeqOfMaps { .. } => {
            report.add(at, "what `<<` merges in must be a mapping");
        }
        _ if is_syntax(error) && !has_a_key(report) => {
            report.add(at, "this is no job file: none of its lines begins with a key of a job").try_this(
                "a job is YAML and has at least the keys `target`, `tasks` and `facts`; eval-job init writes a first one"
                    .to_owned(),
            );
        }
        _ => {
            let detail = detail(error);
            let help = hint(&detail).map(str::to_owned);
            report.add(at, format!("this is not valid YAML: {detail}")).try_this(help);
        }
    }
}

fn too_deep(report: &mut Report<'_>, at: SourceSpan) {
    report
        .add(at, "this is nested deeper than a job can be: 64 levels")
        .try_this("write what is nested as a text, where it is JSON for example".to_owned());
}

/// Where the parser saw the error; the end of the text where it does not say.
fn place(report: &Report<'_>, error: &Error) -> SourceSpan {
    let lines = report.lines;
    let Some(location) = error.location() else { return lines.at(lines.text().len()) };
    let known = location.span().byte_len().is_some();
    let (line, column) = (location.line() as usize, location.column() as usize);
    if known { super::node::span(location) } else { SourceSpan { line, column, start: 0, end: 0 } }
}

/// The parser's message, without the place, which the report shows itself.
fn detail(error: &Error) -> String {
    let message = error.render();
    let first_line = message.lines().next().unwrap_or("");
    let end = first_line.rfind(" at line ").unwrap_or(first_line.len());
    without_quotes(first_line[..end].trim_start_matches("error: "))
}

/// Words without what they quote of the file, but for single characters and keys that a job can have: it can be a secret.
fn without_quotes(message: &str) -> String {
    let mut cleared = String::new();
    let mut rest = message;
    while let Some(start) = rest.find(['`', '"']) {
        let quote = &rest[start..=start];
        let Some(length) = rest[start + 1..].find(quote) else { break };
        let inner = &rest[start + 1..start + 1 + length];
        let is_shown = inner.chars().count() <= 2 || inner.starts_with("\\u{") || is_known_key(inner);
        cleared.push_str(&rest[..=start]);
        cleared.push_str(if is_shown { inner } else { "***" });
        cleared.push_str(quote);
        rest = &rest[start + 1 + length + 1..];
    }
    cleared + rest
}

/// A hint at the most frequent cause.
fn hint(detail: &str) -> Option<&'static str> {
    Some(match detail {
        _ if detail.contains("mapping values are not allowed") => {
            "text with `: ` in it needs quotes; otherwise check that this line is indented like its neighbours"
        }
        _ if detail.contains("simple key expected") => {
            "text with `: ` in it needs quotes; otherwise this line lacks a colon"
        }
        _ if detail.contains("did not find expected key")
            || detail.contains("did not find expected '-' indicator")
            || detail.contains("comment intercepting")
            || detail.contains("<document start>") =>
        {
            "check that this line and those after it are indented like their neighbours"
        }
        _ if detail.contains("unexpected character: `\\u{") => {
            "a control character can't stand here; within double quotes it has an escape, such as `\\e`"
        }
        _ if detail.contains("unexpected character") => "text that starts with this character needs quotes",
        _ if detail.contains("unknown escape") => "write `\\\\` for a backslash, or use single quotes",
        _ if detail.contains("trailing content after single-quoted") => {
            "write `''` for an apostrophe within single quotes, or use double quotes"
        }
        _ if detail.contains("trailing content after double-quoted") => {
            "write `\\\"` for a quote within double quotes, or use single quotes"
        }
        _ if detail.contains("multiline quoted") => "is a quotation mark missing in the line above?",
        _ if detail.contains("unclosed") || detail.contains("illegal placement of ':'") => {
            "is a closing bracket missing above?"
        }
        _ if detail.contains("block sequence entries are not allowed") => "start the list on a line of its own",
        _ => return None,
    })
}

/// Whether any line begins with a key that a job can have: in YAML without indentation, but in the first line of a file that
/// is indented as a whole; in JSON with any.
fn has_a_key(report: &Report<'_>) -> bool {
    let text = report.lines.text();
    let first = text.lines().map(str::trim_start).find(|line| !line.is_empty() && !line.starts_with('#'));
    let begins_with_key = |line: &str| {
        let bare = line.trim_start_matches([' ', '\t', '{']);
        let line = if bare.starts_with(['"', '\'']) { &bare[1..] } else { line };
        let (key, rest) = line.split_at(line.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(line.len()));
        rest.trim_start_matches(['"', '\'']).trim_start().starts_with(':') && is_known_key(key)
    };
    text.lines().chain(first).any(begins_with_key)
}

/// Whether the text could not be read as YAML at all.
fn is_syntax(error: &Error) -> bool {
    matches!(error, Error::ExternalMessage { .. } | Error::Message { .. } | Error::Eof { .. })
}

/// A tab before the first character of the line, or of the line after it: the parser may notice one at the end of the
/// line above.
fn tab_in_indentation(report: &Report<'_>, line: usize) -> Option<SourceSpan> {
    (line..=line + 1).find_map(|line| {
        let text = report.lines.line(line);
        let indentation: &str = &text[..text.len() - text.trim_start().len()];
        let tab = indentation.chars().position(|character| character == '\t')?;
        (indentation.len() < text.len()).then_some(SourceSpan { line, column: tab + 1, start: 0, end: 0 })
    })
}

/// The first entry of the mapping in which the key comes again: the last one before it with the same text and, in block
/// style, the same column.
fn first_of(root: &YamlNode, key: &str, again: SourceSpan) -> Option<SourceSpan> {
    let mut same_column = None;
    let mut same_line = None;
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        open.extend(node.items());
        for entry in node.entries() {
            open.push(&entry.value);
            let span = entry.key.span;
            if entry.key.text == key && span < again {
                let best = if span.line == again.line { &mut same_line } else { &mut same_column };
                let fits = span.line == again.line || span.column == again.column;
                *best = if fits { (*best).max(Some(span)) } else { *best };
            }
        }
    }
    same_line.or(same_column)
}
