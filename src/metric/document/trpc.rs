//! trpc-agent-go's criteria of JSON and XML.

use serde_json::{Value, json};

use super::{JsonConfig, JsonMatch, JsonMeasure};
use crate::metric::criterion::{flag, keyword, object, refuse_registered};
use crate::metric::json::JsonRules;
use crate::metric::measured::{MeasureProblem, problem};
use crate::metric::selection::{Paths, Selection};

/// The options of a JSON criterion; `None` where it compares nothing, and does not even ask whether it is JSON.
///
/// # Errors
/// A key has a value that it can't have, options contradict each other, or a registered Go function is named.
pub fn json_criterion(criterion: &Value, strict: bool) -> Result<Option<JsonConfig>, MeasureProblem> {
    if flag(criterion, "ignore") {
        return Ok(None);
    }
    refuse_registered(criterion, "compareName")?;
    let tree = |key: &str| criterion.get(key).filter(|it| !it.is_null() && **it != json!({}));
    let read = |tree: &Value| Selection::from_tree(tree);
    let (only, ignore) = (tree("onlyTree"), tree("ignoreTree").map(read).transpose()?);
    let only = only.map(|tree| only_paths(tree, strict)).transpose()?;
    if only.is_some() && ignore.is_some() {
        return problem("`onlyTree` and `ignoreTree` exclude each other: give one of them");
    }
    let config = JsonConfig {
        json_match: keyword(criterion, "matchStrategy")?,
        schema: criterion.get("schema").filter(|it| !it.is_null()).cloned(),
        number_tolerance: object(criterion, "numberTolerance")?.unwrap_or(JsonRules::TOLERANCE),
        only_paths: only,
        ignore_paths: ignore.map(|it| it.to_paths()).unwrap_or_default(),
        strict,
        ..JsonConfig::default()
    };
    if config.json_match == JsonMatch::Skip && config.schema.is_none() && !flag(criterion, "valid") {
        return Ok(None);
    }
    JsonMeasure::new(&config)?;
    Ok(Some(config))
}

/// The compared places. That a key must be there whatever its value, as an empty tree below it wants, is said by a tree alone; by
/// default it selects nothing.
fn only_paths(tree: &Value, strict: bool) -> Result<Paths, MeasureProblem> {
    let selection = Selection::from_tree(tree)?;
    Ok(match tree.as_object() {
        Some(tree) if strict && selection.has_empty() => Paths::Tree(tree.clone().into_iter().collect()),
        _ => Paths::List(selection.to_paths()),
    })
}

/// Whether an XML criterion asks for a well-formed document.
///
/// # Errors
/// It asks for a comparison, which there is none of.
pub fn xml_criterion(criterion: &Value) -> Result<bool, MeasureProblem> {
    if flag(criterion, "ignore") {
        return Ok(false);
    }
    refuse_registered(criterion, "compareName")?;
    match criterion.get("matchStrategy").and_then(Value::as_str) {
        Some("skip") => Ok(flag(criterion, "valid")),
        Some(other) => problem(format!("XML can't be compared by `{other}`: `matchStrategy` must be `skip`")),
        None => problem("`matchStrategy` is missing: XML can't be compared, so that it must be `skip`"),
    }
}
