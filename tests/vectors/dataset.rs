//! What the readers of other systems' files make of single values.

use eval_job::dataset::{Beside, CaseUser, Dataset, NamedText, load};
use eval_job::job::render_problems;
use serde_json::{Value, json};

use super::vector::Vector;
use super::{Answer, Answered, Dialect};

/// The answer to a vector about reading a value.
pub fn answer(vector: &Vector, _dialect: Dialect) -> Option<Answered> {
    let (kind, given) = match vector.system.as_str() {
        "adk" if vector.has(&["match_type"]) => ("spelling of the order", match_type(&vector.input["match_type"])),
        "adk" if vector.has(&["parts"]) => ("text of a content", text_of(&vector.input["parts"])),
        _ => return None,
    };
    Some((kind, Answer(given)))
}

fn loaded(file: &Value, config: Option<&Value>) -> Result<Dataset, String> {
    let named = |config: &Value| NamedText { name: "test_config.json".to_owned(), text: config.to_string() };
    let beside = Beside { config: config.map(named), ..Beside::default() };
    load("vector.test.json", &file.to_string(), &beside).map_err(|problems| render_problems(&problems))
}

/// ADK's order of calls, in the one spelling that we keep.
fn match_type(written: &Value) -> Result<Value, String> {
    let criterion = json!({"criteria": {"tool_trajectory_avg_score": {"threshold": 1, "match_type": written}}});
    let dataset = loaded(&json!([{"query": "hello"}]), Some(&criterion))?;
    let metric = dataset.metrics.first().ok_or("the file has no metric")?;
    Ok(json!({"match_type": metric.options.get("matchType")}))
}

/// The text of a final response with these parts.
fn text_of(parts: &Value) -> Result<Value, String> {
    let turn =
        json!({"user_content": {"parts": [{"text": "hello"}]}, "final_response": {"role": "model", "parts": parts}});
    let file = json!({"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [turn]}]});
    let dataset = loaded(&file, None)?;
    let Some(CaseUser::Lines(lines)) = dataset.cases.first().map(|case| &case.user) else {
        return Err("the case has no lines".to_owned());
    };
    let text = lines.first().and_then(|line| line.expected.reply.clone());
    // We tell no parts from parts without text by nothing: either says nothing.
    Ok(json!({"text": if parts.is_null() { text } else { Some(text.unwrap_or_default()) }}))
}
