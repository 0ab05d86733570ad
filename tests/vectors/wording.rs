//! trpc's criteria of a final response: its wording, its length, its JSON, its XML.

use eval_job::metric::document::{JsonConfig, JsonMatch, JsonMeasure, measure_xml};
use eval_job::metric::json::JsonRules;
use eval_job::metric::measured::{MeasureProblem, Measured};
use eval_job::metric::selection::Selection;
use eval_job::metric::wording::{LengthConfig, TextConfig, TextMatch, TextMeasure, measure_length};
use serde_json::{Value, json};

use super::vector::Vector;
use super::{Answer, Answered, Dialect};

/// What a criterion says: whether it matches, and why; or the error in its options.
type Matched = Result<(bool, String), String>;

/// The answer to a vector about the wording or the document of a reply.
pub fn answer(vector: &Vector, dialect: Dialect) -> Option<Answered> {
    if vector.system != "trpc" || !(vector.has(&["criterion"]) || vector.has(&["length"])) {
        return None;
    }
    let is_strict = dialect == Dialect::Strict;
    let criterion = &vector.input["criterion"];
    let text = |key: &str| vector.text(key).unwrap_or_default();
    let first_word = vector.name.split([':', ' ']).next().unwrap_or_default();
    let is_whole = ["text", "json", "rouge", "xml"].iter().any(|key| criterion.get(key).is_some());
    let (kind, matched) = match first_word {
        _ if vector.has(&["actual_text"]) => {
            ("final response", final_response(criterion, text("actual_text"), text("expected_text"), is_strict))
        }
        _ if vector.has(&["length"]) => ("length", length(&vector.input["length"], text("text"))),
        _ if !vector.has(&["actual"]) => return None,
        _ if is_whole || first_word == "finalResponse" => {
            ("final response", final_response(criterion, text("actual"), text("expected"), is_strict))
        }
        "json" => ("JSON", json_of(criterion, &vector.input["actual"], &vector.input["expected"], is_strict)),
        "xml" => ("XML", xml(criterion, text("actual"))),
        "text" => ("text", text_of(criterion, text("actual"), text("expected"), is_strict)),
        _ => return None,
    };
    Some((kind, Answer::Given(matched.map(|(is_match, why)| json!({"match": is_match, "why": why})))))
}

fn flag(criterion: &Value, key: &str) -> bool {
    criterion.get(key).and_then(Value::as_bool).unwrap_or_default()
}

/// The criterion's way of matching; "exact" without one.
fn strategy(criterion: &Value) -> &str {
    criterion.get("matchStrategy").and_then(Value::as_str).filter(|it| !it.is_empty()).unwrap_or("exact")
}

/// What was measured; what could not be is no match.
fn matched(measured: Result<Measured, MeasureProblem>) -> Matched {
    Ok(measured.map_or_else(|why| (false, why.to_string()), |it| (it.is_full(), it.why)))
}

fn not_compared() -> Matched {
    Ok((true, "not compared".to_owned()))
}

fn parsed<T: serde::de::DeserializeOwned>(value: &Value) -> Result<T, String> {
    serde_json::from_value(value.clone()).map_err(|why| why.to_string())
}

fn text_of(criterion: &Value, actual: &str, expected: &str, strict: bool) -> Matched {
    if flag(criterion, "ignore") {
        return not_compared();
    }
    let length = criterion.get("length").filter(|it| !it.is_null() && !flag(it, "ignore"));
    let config = TextConfig {
        text_match: parsed(&json!(strategy(criterion)))?,
        expected: None,
        case_insensitive: flag(criterion, "caseInsensitive"),
        length: length.map(length_config).transpose()?,
        strict,
    };
    if config.text_match == TextMatch::Skip && config.length.is_none() {
        return not_compared();
    }
    let measure = TextMeasure::new(&config).map_err(|why| why.to_string())?;
    matched(measure.measure(actual, Some(expected)))
}

fn length_config(length: &Value) -> Result<LengthConfig, String> {
    let bounds: LengthConfig = parsed(
        &json!({"min": length.get("min").unwrap_or(&Value::Null), "max": length.get("max").unwrap_or(&Value::Null)}),
    )?;
    bounds.check().map_err(|why| why.to_string())?;
    Ok(bounds)
}

fn length(length: &Value, text: &str) -> Matched {
    if flag(length, "ignore") {
        return not_compared();
    }
    matched(measure_length(&length_config(length)?, text))
}

fn json_config(criterion: &Value, strict: bool) -> Result<JsonConfig, String> {
    let tree = |key: &str| -> Result<Option<Vec<String>>, String> {
        let tree = criterion.get(key).filter(|it| it.as_object().is_some_and(|it| !it.is_empty()));
        tree.map(|it| Ok(Selection::from_tree(it).map_err(|why| why.to_string())?.to_paths())).transpose()
    };
    let config = JsonConfig {
        json_match: parsed::<JsonMatch>(&json!(strategy(criterion)))?,
        schema: criterion.get("schema").filter(|it| !it.is_null()).cloned(),
        number_tolerance: criterion.get("numberTolerance").and_then(Value::as_f64).unwrap_or(JsonRules::TOLERANCE),
        only_paths: tree("onlyTree")?,
        ignore_paths: tree("ignoreTree")?.unwrap_or_default(),
        strict,
        ..JsonConfig::default()
    };
    Ok(config)
}

/// Values that were read before; with `valid`, a text is a document.
fn json_of(criterion: &Value, actual: &Value, expected: &Value, strict: bool) -> Matched {
    if flag(criterion, "ignore") {
        return not_compared();
    }
    let config = json_config(criterion, strict)?;
    // A text that was not read before is read now.
    match actual.as_str().filter(|_| flag(criterion, "valid")) {
        Some(text) => {
            let config = JsonConfig { expected: Some(expected.clone()), ..config };
            matched(measured(&config)?.measure(text, None))
        }
        None => matched(measured(&config)?.measure_value(actual, Some(expected))),
    }
}

fn measured(config: &JsonConfig) -> Result<JsonMeasure<'_>, String> {
    JsonMeasure::new(config).map_err(|why| why.to_string())
}

fn xml(criterion: &Value, actual: &str) -> Matched {
    if flag(criterion, "ignore") {
        return not_compared();
    }
    match criterion.get("matchStrategy").and_then(Value::as_str).unwrap_or_default() {
        "skip" if flag(criterion, "valid") => matched(Ok(measure_xml(actual))),
        "skip" => not_compared(),
        other => Err(format!("XML is not compared by `{other}`")),
    }
}

/// All parts that a criterion has must match.
fn final_response(criterion: &Value, actual: &str, expected: &str, strict: bool) -> Matched {
    let mut all = Vec::new();
    if let Some(text) = criterion.get("text") {
        all.push(text_of(text, actual, expected, strict)?);
    }
    if let Some(json) = criterion.get("json") {
        // A document is read where it is validated or compared.
        let is_read = flag(json, "valid") || json.get("schema").is_some() || strategy(json) != "skip";
        all.push(match is_read && !flag(json, "ignore") {
            true => matched(measured(&json_config(json, strict)?)?.measure(actual, Some(expected)))?,
            false => not_compared()?,
        });
    }
    if let Some(rouge) = criterion.get("rouge") {
        let (_, passed, why) = super::text::rouge_criterion(rouge, Some(actual), Some(expected))?;
        all.push((passed, why));
    }
    if let Some(it) = criterion.get("xml") {
        all.push(xml(it, actual)?);
    }
    if all.is_empty() {
        return Err("the criterion has none of text, json, rouge, xml".to_owned());
    }
    let why: Vec<String> = all.iter().filter(|(is_match, _)| !is_match).map(|(_, why)| why.clone()).collect();
    Ok((why.is_empty(), why.join("\n")))
}
