//! ROUGE and what it is made of: tokens, stems, sentences.

use eval_job::metric::rouge::trpc::rouge_criterion;
use eval_job::metric::rouge::{RougeConfig, RougeScore, RougeType, best_rouge, measure};
use eval_job::score::{PassStatus, Score};
use eval_job::text::{Tokenizer, sentences, stem, tokens};
use serde_json::{Value, json};

use super::vector::Vector;
use super::{Answer, Answered, Dialect};

/// The answer to a vector about ROUGE, tokens, stems or sentences.
pub fn answer(vector: &Vector, dialect: Dialect) -> Option<Answered> {
    let (kind, given) = match vector.system.as_str() {
        "adk" if vector.has(&["candidate", "reference"]) => ("ROUGE-1", rouge_1(vector)),
        "adk" if vector.has(&["candidates", "references"]) => ("response match", response_match(vector)),
        "trpc" | "google" if vector.has(&["rougeType"]) => ("ROUGE", rouge(vector)),
        "trpc" if vector.has(&["criterion", "target", "prediction"]) => {
            ("ROUGE criterion", criterion(vector, dialect == Dialect::Strict))
        }
        "trpc" | "google" if vector.has(&["text"]) && vector.expects("tokens") => ("tokens", Ok(tokens_of(vector))),
        "trpc" if vector.has(&["text"]) && vector.expects("sentences") => {
            ("sentences", Ok(json!({"sentences": sentences(vector.text("text")?)})))
        }
        "trpc" | "google" if vector.has(&["word"]) => ("stems", Ok(json!({"stem": stem(vector.text("word")?)}))),
        "watsonx" if vector.has(&["prediction", "reference"]) => ("ROUGE-L recall helper", recall_helper(vector)),
        _ => return None,
    };
    Some((kind, Answer(given)))
}

/// The tokenizer of a vector: the classic one unless it names another.
fn tokenizer(vector: &Vector) -> Result<Tokenizer, String> {
    match vector.text("tokenizer") {
        // The letters are ADK's own.
        Some("unicode") => Ok(Tokenizer::Adk),
        name => serde_json::from_value(json!(name.unwrap_or("classic"))).map_err(|why| why.to_string()),
    }
}

fn tokens_of(vector: &Vector) -> Value {
    let text = vector.text("text").unwrap_or_default();
    json!({"tokens": tokens(text, tokenizer(vector).unwrap_or_default(), vector.flag("useStemmer"))})
}

fn rouge(vector: &Vector) -> Result<Value, String> {
    let config = rouge_criterion(&vector.input, true).map_err(|why| why.to_string())?;
    let config = RougeConfig { tokenizer: tokenizer(vector)?, ..config.ok_or("nothing is compared")? };
    let from_file = |key: &str| -> Result<Option<String>, String> {
        let Some(named) = vector.text(key) else { return Ok(None) };
        let text = std::fs::read_to_string(super::find_file(&vector.folders, named)?).map_err(|why| why.to_string())?;
        let Some(line) = vector.input.get("line").and_then(Value::as_u64) else { return Ok(Some(text)) };
        let line = text.lines().nth(line as usize).ok_or(format!("{named} has no line {line}"))?;
        Ok(Some(line.to_owned()))
    };
    let of = |key: &str, file: &str| match vector.text(key) {
        Some(text) => Ok(Some(text.to_owned())),
        None => from_file(file),
    };
    let mut targets: Vec<String> =
        vector.list("targets").iter().filter_map(|it| Some(it.as_str()?.to_owned())).collect();
    targets.extend(of("target", "target_file")?);
    let prediction = of("prediction", "prediction_file")?.ok_or("there is no prediction")?;
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    let (score, _) = best_rouge(&config, &prediction, &targets).map_err(|why| why.to_string())?;
    Ok(json!({"precision": score.precision, "recall": score.recall, "f1": score.f1, "fmeasure": score.f1}))
}

fn criterion(vector: &Vector, is_strict: bool) -> Result<Value, String> {
    let config = rouge_criterion(&vector.input["criterion"], is_strict).map_err(|why| why.to_string())?;
    let Some(config) = config else { return Ok(json!({"value": 1.0, "passed": true})) };
    let measured = measure(&config, vector.text("prediction").unwrap_or_default(), vector.text("target"));
    let rouge = measured.map_err(|why| why.to_string())?;
    Ok(json!({"value": rouge.value, "passed": rouge.measured.is_full()}))
}

fn rouge_1_f1(candidate: &str, reference: &str, use_stemmer: bool) -> Result<RougeScore, String> {
    let config = RougeConfig { use_stemmer, tokenizer: Tokenizer::Adk, ..RougeConfig::default() };
    Ok(best_rouge(&config, candidate, &[reference]).map_err(|why| why.to_string())?.0)
}

fn rouge_1(vector: &Vector) -> Result<Value, String> {
    let text = |key: &str| vector.text(key).unwrap_or_default();
    let score = rouge_1_f1(text("candidate"), text("reference"), vector.flag("use_stemmer"))?;
    Ok(json!({"precision": score.precision, "recall": score.recall, "fmeasure": score.f1}))
}

/// ADK's `response_match_score`: the mean over the turns, held against the threshold.
fn response_match(vector: &Vector) -> Result<Value, String> {
    let texts = |key: &str| vector.list(key).iter().map(|it| it.as_str().unwrap_or_default()).collect::<Vec<_>>();
    let (candidates, references) = (texts("candidates"), texts("references"));
    if candidates.len() != references.len() {
        return Err("there are not as many turns as expected".to_owned());
    }
    let mut scores = Vec::new();
    for (candidate, reference) in candidates.into_iter().zip(references) {
        scores.push(Some(Score::clamped(rouge_1_f1(candidate, reference, true)?.f1)));
    }
    let mean = eval_job::score::pooled_mean(&[scores]);
    let threshold = Score::clamped(vector.input["threshold"].as_f64().ok_or("there is no threshold")?);
    Ok(json!({
        "overall_score": mean.map(Score::get),
        "status": super::numbers::adk_status(PassStatus::new(mean, threshold)),
    }))
}

/// watsonx calls the precision of ROUGE-L recall.
fn recall_helper(vector: &Vector) -> Result<Value, String> {
    let text = |key: &str| vector.text(key).unwrap_or_default();
    let config = RougeConfig { rouge_type: RougeType::L, tokenizer: Tokenizer::Whitespace, ..RougeConfig::default() };
    let (score, _) = best_rouge(&config, text("prediction"), &[text("reference")]).map_err(|why| why.to_string())?;
    Ok(json!(score.precision))
}
