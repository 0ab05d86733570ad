//! trpc's criteria of a final response: its wording, its length, its JSON, its XML.

use eval_job::metric::document::trpc::{json_criterion, xml_criterion};
use eval_job::metric::document::{JsonConfig, JsonMeasure, measure_xml};
use eval_job::metric::measured::{MeasureProblem, Measured};
use eval_job::metric::rouge;
use eval_job::metric::rouge::trpc::rouge_criterion;
use eval_job::metric::wording::trpc::{length_criterion, text_criterion};
use eval_job::metric::wording::{TextMeasure, measure_length};
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
    Some((kind, Answer(matched.map(|(is_match, why)| json!({"match": is_match, "why": why})))))
}

/// What was measured; what could not be is no match.
fn matched(measured: Result<Measured, MeasureProblem>) -> Matched {
    Ok(measured.map_or_else(|why| (false, why.to_string()), |it| (it.is_full(), it.why)))
}

/// The options of a criterion, or that it compares nothing.
fn with<T>(
    options: Result<Option<T>, MeasureProblem>,
    measure: impl FnOnce(T) -> Result<Measured, MeasureProblem>,
) -> Matched {
    match options.map_err(|why| why.to_string())? {
        Some(config) => matched(measure(config)),
        None => Ok((true, "nothing is compared".to_owned())),
    }
}

fn text_of(criterion: &Value, actual: &str, expected: &str, strict: bool) -> Matched {
    with(text_criterion(criterion, strict), |config| TextMeasure::new(&config)?.measure(actual, Some(expected)))
}

fn length(criterion: &Value, text: &str) -> Matched {
    with(length_criterion(criterion), |config| measure_length(&config, text))
}

/// Values that were read before; with `valid`, a text is read now.
fn json_of(criterion: &Value, actual: &Value, expected: &Value, strict: bool) -> Matched {
    let is_text = criterion.get("valid") == Some(&json!(true));
    with(json_criterion(criterion, strict), |config| match actual.as_str().filter(|_| is_text) {
        Some(text) => {
            let config = JsonConfig { expected: Some(expected.clone()), ..config };
            JsonMeasure::new(&config)?.measure(text, None)
        }
        None => JsonMeasure::new(&config)?.measure_value(actual, Some(expected)),
    })
}

fn xml(criterion: &Value, actual: &str) -> Matched {
    with(xml_criterion(criterion).map(|is_read| is_read.then_some(())), |()| Ok(measure_xml(actual)))
}

/// All parts that a criterion has must match.
fn final_response(criterion: &Value, actual: &str, expected: &str, strict: bool) -> Matched {
    let mut all = Vec::new();
    if let Some(it) = criterion.get("text") {
        all.push(text_of(it, actual, expected, strict)?);
    }
    if let Some(it) = criterion.get("json") {
        let measure = |config| JsonMeasure::new(&config)?.measure(actual, Some(expected));
        all.push(with(json_criterion(it, strict), measure)?);
    }
    if let Some(it) = criterion.get("rouge") {
        let measure = |config| Ok(rouge::measure(&config, actual, Some(expected))?.measured);
        all.push(with(rouge_criterion(it, strict), measure)?);
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
