//! ROUGE and what it is made of: tokens, stems, sentences.

use eval_job::metric::rouge::{RougeConfig, RougeMeasure, RougeMinimum, RougeType, best_rouge, measure};
use eval_job::score::{Score, Status};
use eval_job::text::{Tokenizer, sentences, stem, tokens};
use serde_json::{Value, json};

use super::vector::Vector;
use super::{Answer, Answered, Dialect};

/// The answer to a vector about ROUGE, tokens, stems or sentences.
pub fn answer(vector: &Vector, _dialect: Dialect) -> Option<Answered> {
    let (kind, given) = match vector.system.as_str() {
        "adk" if vector.has(&["candidate", "reference"]) => ("ROUGE-1", rouge_1(vector)),
        "adk" if vector.has(&["candidates", "references"]) => ("response match", response_match(vector)),
        "trpc" | "google" if vector.has(&["rougeType"]) => ("ROUGE", rouge(vector)),
        "trpc" if vector.has(&["criterion", "target", "prediction"]) => ("ROUGE criterion", criterion(vector)),
        "trpc" | "google" if vector.has(&["text"]) && vector.expects("tokens") => ("tokens", Ok(tokens_of(vector))),
        "trpc" if vector.has(&["text"]) && vector.expects("sentences") => {
            ("sentences", Ok(json!({"sentences": sentences(vector.text("text")?)})))
        }
        "trpc" | "google" if vector.has(&["word"]) => ("stems", Ok(json!({"stem": stem(vector.text("word")?)}))),
        "watsonx" if vector.has(&["prediction", "reference"]) => ("ROUGE-L recall helper", recall_helper(vector)),
        _ => return None,
    };
    Some((kind, Answer::Given(given)))
}

/// The tokenizer of a vector: the classic one unless it names another.
fn tokenizer(vector: &Vector) -> Result<Tokenizer, String> {
    let name = vector.input.get("tokenizer").cloned().unwrap_or(json!("classic"));
    serde_json::from_value(name).map_err(|why| why.to_string())
}

fn tokens_of(vector: &Vector) -> Value {
    let text = vector.text("text").unwrap_or_default();
    json!({"tokens": tokens(text, tokenizer(vector).unwrap_or_default(), vector.flag("useStemmer"))})
}

/// The options that trpc's criterion and Google's scorer have in common.
fn options(criterion: &Value) -> Result<RougeConfig, String> {
    let flag = |key: &str| criterion.get(key).and_then(Value::as_bool).unwrap_or_default();
    let rouge_type = criterion.get("rougeType").and_then(Value::as_str).unwrap_or_default();
    if criterion.get("tokenizerName").is_some_and(|it| it != "") {
        return Err("a tokenizer that is registered in Go".to_owned());
    }
    Ok(RougeConfig {
        rouge_type: rouge_type.parse::<RougeType>().map_err(|why| why.to_string())?,
        tokenizer: Tokenizer::Classic,
        use_stemmer: flag("useStemmer"),
        split_summaries: flag("splitSummaries"),
        ..RougeConfig::default()
    })
}

fn rouge(vector: &Vector) -> Result<Value, String> {
    let config = RougeConfig { tokenizer: tokenizer(vector)?, ..options(&vector.input)? };
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

fn criterion(vector: &Vector) -> Result<Value, String> {
    let measured = rouge_criterion(&vector.input["criterion"], vector.text("prediction"), vector.text("target"))?;
    Ok(json!({"value": measured.0, "passed": measured.1}))
}

/// trpc's ROUGE criterion: the value, whether it passes, and why.
pub fn rouge_criterion(
    criterion: &Value,
    prediction: Option<&str>,
    target: Option<&str>,
) -> Result<(f64, bool, String), String> {
    if criterion.get("ignore") == Some(&json!(true)) {
        return Ok((1.0, true, "not compared".to_owned()));
    }
    let threshold = criterion.get("threshold").cloned().unwrap_or(json!({}));
    let minimum: RougeMinimum = serde_json::from_value(threshold).map_err(|why| why.to_string())?;
    let named = criterion.get("measure").filter(|it| *it != "").cloned().unwrap_or(json!("f1"));
    let config = RougeConfig {
        measure: serde_json::from_value::<RougeMeasure>(named).map_err(|why| why.to_string())?,
        minimum: (minimum != RougeMinimum::default()).then_some(minimum),
        ..options(criterion)?
    };
    let measured = measure(&config, prediction.unwrap_or_default(), Some(target.unwrap_or_default()));
    let rouge = measured.map_err(|why| why.to_string())?;
    // Without a threshold, whatever comes passes there.
    Ok((rouge.value, config.minimum.is_none() || rouge.measured.is_full(), rouge.measured.why))
}

fn rouge_1_f1(
    candidate: &str,
    reference: &str,
    use_stemmer: bool,
) -> Result<eval_job::metric::rouge::RougeScore, String> {
    let config = RougeConfig { use_stemmer, ..RougeConfig::default() };
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
        "status": super::numbers::adk_status(Status::of(mean, threshold)),
    }))
}

/// watsonx calls the precision of ROUGE-L recall.
fn recall_helper(vector: &Vector) -> Result<Value, String> {
    let text = |key: &str| vector.text(key).unwrap_or_default();
    let config = RougeConfig { rouge_type: RougeType::L, tokenizer: Tokenizer::Whitespace, ..RougeConfig::default() };
    let (score, _) = best_rouge(&config, text("prediction"), &[text("reference")]).map_err(|why| why.to_string())?;
    Ok(json!(score.precision))
}
