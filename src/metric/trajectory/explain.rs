//! The differences as one block that a person can read: the aligned calls, the first divergence, and each argument.

use serde_json::Value;

use super::expected::ExpectedCall;
use super::value::CallDifference;
use crate::evidence::ToolUse;

/// The most characters of a value.
const VALUE: usize = 160;
/// The most lines of a block.
const LINES: usize = 40;
/// The most differences of one call.
const DIFFERENCES: usize = 8;

/// One line of the aligned calls.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CallRow {
    /// Both, and the same.
    Same { expected: usize, actual: usize },
    /// Both are of one tool, and they differ.
    Near { expected: usize, actual: usize, differences: Vec<CallDifference> },
    /// Expected and not made.
    Missing(usize),
    /// Made and not expected.
    Extra(usize),
    /// Made and not expected, which is no fault here.
    Beside(usize),
}

impl CallRow {
    /// Where it stands among the actual calls.
    fn place(&self) -> Option<usize> {
        match self {
            CallRow::Same { actual, .. }
            | CallRow::Near { actual, .. }
            | CallRow::Extra(actual)
            | CallRow::Beside(actual) => Some(*actual),
            CallRow::Missing(_) => None,
        }
    }
}

/// The rows of an alignment: in the order of the actual calls, what is missing before the next expected one that is there.
pub(super) fn rows(
    expected: usize,
    actual: usize,
    pairs: &[Option<usize>],
    may_have_extra: bool,
    mut row: impl FnMut(usize, usize) -> CallRow,
) -> Vec<CallRow> {
    let mut rows: Vec<CallRow> = Vec::new();
    let mut owner = vec![None; actual];
    for (wanted, made) in pairs.iter().enumerate() {
        if let Some(made) = made {
            owner[*made] = Some(wanted);
        }
    }
    let mut reported = vec![false; expected];
    for (made, wanted) in owner.iter().enumerate() {
        match wanted {
            Some(wanted) => {
                let before = (0..*wanted).rev().take_while(|at| pairs[*at].is_none()).collect::<Vec<_>>();
                for missing in before.into_iter().rev().filter(|at| !reported[*at]).collect::<Vec<_>>() {
                    reported[missing] = true;
                    rows.push(CallRow::Missing(missing));
                }
                rows.push(row(*wanted, made));
            }
            None if may_have_extra => rows.push(CallRow::Beside(made)),
            None => rows.push(CallRow::Extra(made)),
        }
    }
    let rest = (0..expected).filter(|at| pairs[*at].is_none() && !reported[*at]);
    rows.extend(rest.collect::<Vec<_>>().into_iter().map(CallRow::Missing));
    rows
}

/// A value on one line, shortened where it is long.
pub(super) fn shown(value: &Value) -> String {
    shortened(value.to_string())
}

fn shortened(text: String) -> String {
    let text = text.replace(['\n', '\r'], " ");
    match text.char_indices().nth(VALUE) {
        Some((cut, _)) => format!("{}… ({} characters)", &text[..cut], text.chars().count()),
        None => text,
    }
}

fn call(tool: &str, args: Option<&Value>) -> String {
    let tool = shortened(tool.to_owned());
    match args {
        None | Some(Value::Null) => tool,
        Some(args) => format!("{tool} {}", shown(args)),
    }
}

fn expected_call(expected: &ExpectedCall) -> String {
    let name = expected.name.as_deref().filter(|name| *name != expected.tool);
    let name = name.map(|name| format!(" ({})", shortened(name.to_owned()))).unwrap_or_default();
    format!("{}{name}", call(&expected.tool, expected.args.as_deref()))
}

fn difference(it: &CallDifference) -> String {
    let why = it.why.as_ref().map(|why| format!(" ({})", shortened(why.clone()))).unwrap_or_default();
    match (&it.expected, &it.actual) {
        (Some(expected), Some(actual)) => {
            format!("{}: expected {}, got {}{why}", it.path, shown(expected), shown(actual))
        }
        (Some(expected), None) => format!("{}: expected {}, and it is absent{why}", it.path, shown(expected)),
        (None, Some(actual)) => format!("{}: got {}, and nothing is expected there{why}", it.path, shown(actual)),
        (None, None) => format!("{}{why}", it.path),
    }
}

/// The block. `headline` says in a sentence why the calls are not as expected.
pub(super) fn block(
    headline: &str,
    rows: &[CallRow],
    expected: &[ExpectedCall],
    actual: &[ToolUse],
    notes: &[String],
) -> String {
    let mut lines = vec![headline.to_owned()];
    lines.extend(first_divergence(rows, expected, actual));
    for row in rows {
        match row {
            CallRow::Same { actual: made, .. } => {
                lines.push(format!("  = {}. {}", made + 1, call(&actual[*made].tool, Some(&actual[*made].args))))
            }
            CallRow::Near { expected: wanted, actual: made, differences } => {
                lines.push(format!("  ! {}. {}", made + 1, call(&actual[*made].tool, Some(&actual[*made].args))));
                lines.push(format!("     expected {}", expected_call(&expected[*wanted])));
                lines.extend(differences.iter().take(DIFFERENCES).map(|it| format!("     {}", difference(it))));
                if differences.len() > DIFFERENCES {
                    lines.push(format!("     and {} more differences", differences.len() - DIFFERENCES));
                }
            }
            CallRow::Missing(wanted) => lines.push(format!("  - missing: {}", expected_call(&expected[*wanted]))),
            CallRow::Extra(made) | CallRow::Beside(made) => {
                let sign = if matches!(row, CallRow::Extra(_)) { '+' } else { ' ' };
                lines.push(format!("  {sign} {}. {}", made + 1, call(&actual[*made].tool, Some(&actual[*made].args))));
            }
        }
    }
    lines.extend(notes.iter().map(|note| format!("  {}", shortened(note.clone()))));
    if lines.len() > LINES {
        let left = lines.len() - LINES;
        lines.truncate(LINES);
        lines.push(format!("  … and {left} more lines"));
    }
    lines.join("\n")
}

/// Where the calls first go apart.
fn first_divergence(rows: &[CallRow], expected: &[ExpectedCall], actual: &[ToolUse]) -> Option<String> {
    let first = rows.iter().find(|row| !matches!(row, CallRow::Same { .. } | CallRow::Beside(_)))?;
    let place = first.place().map(|at| format!("call {}, {}", at + 1, shortened(actual[at].tool.clone())));
    Some(match first {
        CallRow::Near { differences, .. } => match differences.first() {
            Some(it) => format!("  first divergence: {}: {}", place?, difference(it)),
            None => format!("  first divergence: {}", place?),
        },
        CallRow::Missing(wanted) => format!(
            "  first divergence: {} was not called as expected",
            shortened(expected[*wanted].label().to_owned())
        ),
        _ => format!("  first divergence: {}: no such call is expected there", place?),
    })
}
