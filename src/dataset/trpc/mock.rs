//! Mocked tools of a turn.

use super::{KEYS, UNKNOWN};
use crate::dataset::cursor::Cursor;
use crate::dataset::model::ToolMock;

/// Reads one side's mocks.
pub(super) fn read_mocks(values: Vec<Cursor<'_>>) -> Vec<ToolMock> {
    values.into_iter().filter_map(read_mock).collect()
}

fn read_mock(value: Cursor<'_>) -> Option<ToolMock> {
    let mut fields = value.fields(KEYS)?;
    let tool = fields.required("name").and_then(Cursor::filled_text).unwrap_or_default().to_owned();
    let arguments = fields.get("arguments");
    if let Some(arguments) = arguments {
        check_arguments(arguments);
    }
    let result = fields.get("result").map(Cursor::json);
    let prompt = fields.get("llmGenerator").and_then(|generator| {
        let mut fields = generator.fields(KEYS)?;
        let prompt = fields.required("prompt").and_then(Cursor::filled_text).map(str::to_owned);
        fields.rest(UNKNOWN);
        prompt.or_else(|| Some(String::new()))
    });
    match (&result, &prompt) {
        (None, None) => value.error("a mock needs a `result` or an `llmGenerator`"),
        (Some(_), Some(_)) => value.error("a mock has either a `result` or an `llmGenerator`, not both"),
        _ => {}
    }
    fields.rest(UNKNOWN);
    Some(ToolMock { tool, arguments: arguments.map(Cursor::json), result, prompt })
}

fn check_arguments(value: Cursor<'_>) {
    let Some(mut fields) = value.fields(KEYS) else { return };
    let ignore = fields.flag("ignore").unwrap_or_default();
    let expected = fields.get("expected").is_some();
    let trees = [fields.get("onlyTree").is_some(), fields.get("ignoreTree").is_some()];
    let tolerance = fields.get("numberTolerance");
    if tolerance.and_then(Cursor::number).is_some_and(|tolerance| tolerance < 0.0) {
        value.error("a tolerance must not be negative");
    }
    if ignore && (expected || trees.contains(&true) || tolerance.is_some()) {
        value.error("`ignore` stands alone: with it every call of the tool is answered");
    }
    if !ignore && !expected {
        value.error_with("it needs `expected` arguments", "`\"ignore\": true` answers every call");
    }
    if trees == [true, true] {
        value.error("`onlyTree` and `ignoreTree` exclude each other");
    }
    fields.rest(UNKNOWN);
}
