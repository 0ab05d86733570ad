//! What judges are asked and what their replies come to.

use std::collections::BTreeSet;

use eval_job::calibration::{CheckVerdict, Finding, Known};
use eval_job::clock::Clock;
use eval_job::evidence::{Condition, Judgement, Observed, Role, Transcript, Turn, Usage};
use eval_job::metric::judged::{Support, blocks, units, validity, windows};
use eval_job::metric::template::TemplateScorer;
use eval_job::metric::{self, JudgeInput, MetricEntry, MetricInput, UserInput};
use eval_job::prompt::Templates;
use eval_job::score::{Dimension, Score};
use serde_json::{Map, Value, json};

use super::vector::Vector;
use super::{Answer, Answered, Dialect};

/// The answer to a vector about a judge.
pub fn answer(vector: &Vector, dialect: Dialect) -> Option<Answered> {
    let is_of_objects = |key: &str| vector.list(key).iter().all(|it| it.is_object());
    let (kind, given) = match vector.system.as_str() {
        "adk" if vector.has(&["auto_rater_response", "rubrics"]) => ("rubrics of a reply", Ok(matched(vector))),
        "adk" if vector.has(&["auto_rater_response"]) && vector.name.starts_with("rubric") => {
            ("rubrics of a reply", Ok(parsed_blocks(vector)))
        }
        "adk" if vector.has(&["auto_rater_response"]) => {
            let valid = validity(vector.text("auto_rater_response").unwrap_or_default());
            ("judge's reply", Ok(json!({ "score": valid.map(|(is_valid, _)| f64::from(u8::from(is_valid))) })))
        }
        "adk" if vector.has(&["segmenter_response"]) => {
            let marked = metric::hallucination::marked_sentences(vector.text("segmenter_response").unwrap_or_default());
            ("hallucinations", Ok(json!(marked)))
        }
        "adk" if vector.has(&["labels"]) => ("hallucinations", Ok(labels(vector))),
        "adk" if vector.has(&["verdicts"]) => ("rubrics of a reply", Ok(verdicts_of_rubrics(vector))),
        "adk" if vector.has(&["samples"]) && is_of_objects("samples") => {
            let (score, scores) = rubrics_of(&[vector.list("samples")]);
            ("majority of rubrics", Ok(json!({ "score": score, "rubric_scores": scores })))
        }
        "adk" if vector.has(&["invocations"]) && is_of_objects("invocations") => {
            let turns: Vec<&[Value]> = vector.list("invocations").iter().map(std::slice::from_ref).collect();
            let (score, scores) = rubrics_of(&turns);
            ("mean of rubrics", Ok(json!({ "overall_score": score, "overall_rubric_scores": scores })))
        }
        "trpc" if vector.has(&["response"]) => ("judge's reply", reply(vector)),
        "redhat" if vector.has(&["roles"]) => ("units of interaction", Ok(units_of(vector))),
        "redhat" if vector.has(&["units", "window"]) => {
            let number = |key: &str| vector.input[key].as_u64().unwrap_or_default() as usize;
            let windows: Vec<Vec<usize>> =
                windows(number("units"), number("window")).into_iter().map(Iterator::collect).collect();
            ("units of interaction", Ok(json!({ "windows": windows })))
        }
        "redhat" if vector.has(&["verdicts"]) => ("verdicts", Ok(verdicts(vector, dialect))),
        "redhat" if vector.has(&["assistant_turns", "out_of_character"]) => ("role adherence", Ok(role(vector))),
        "redhat" if vector.has(&["raw_score"]) => ("GEval", Ok(geval(vector, &[vector.input["raw_score"].clone()]))),
        "redhat" if vector.has(&["attempts", "threshold"]) => ("second try", Ok(second_try(vector))),
        "redhat" if vector.has(&["known_bad"]) => ("check of known-bad conversations", Ok(known_bad(vector))),
        "redhat" if vector.has(&["files"]) => ("exit status of conversations", Ok(all_good(vector))),
        _ => return None,
    };
    Some((kind, Answer(given)))
}

/// The exit status of a check of bad conversations, by both rules; theirs is 1 where ours is any other than 0.
fn known_bad(vector: &Vector) -> Value {
    let conversations = vector.input["known_bad"].as_array().cloned().unwrap_or_default();
    let finding = |it: &Value| {
        let failed = it["failed_metrics"].as_u64().unwrap_or_default();
        let finding = match (it["evaluated"].as_bool(), failed) {
            (Some(true), 0) => Finding::Otherwise { failed: Vec::new() },
            (Some(true), _) => Finding::AsKnown { failed: Vec::new() },
            _ => Finding::Unknown { why: String::new() },
        };
        (Known::Bad, finding)
    };
    let findings: Vec<(Known, Finding)> = conversations.iter().map(finding).collect();
    let exit = |is_strict| u8::from(CheckVerdict::new(&findings, is_strict).exit_status() != 0);
    json!({"seed_rule_exit": exit(true), "better_rule_exit": exit(false)})
}

/// The exit status of conversations that should pass, by the quickstart's rule, for which none at all are fine.
fn all_good(vector: &Vector) -> Value {
    let files = vector.input["files"].as_array().cloned().unwrap_or_default();
    let finding = |it: &Value| {
        let passes = it["metrics_success"].as_array().is_some_and(|all| all.iter().all(|it| it == true));
        let failed = Vec::new();
        (Known::Good, if passes { Finding::AsKnown { failed } } else { Finding::Otherwise { failed } })
    };
    let findings: Vec<(Known, Finding)> = files.iter().map(finding).collect();
    let verdict = CheckVerdict::new(&findings, true);
    let is_trap = CheckVerdict::new(&findings, false) == CheckVerdict::NoneBad;
    json!({"exit": u8::from(verdict.exit_status() != 0), "trap": is_trap})
}

/// A metric's dimension of a conversation of so many turns, by the raw replies of judges.
fn score(entry: Value, turns: u32, replies: &[String]) -> Dimension {
    let entry: MetricEntry = serde_json::from_value(entry).unwrap();
    let metric = metric::metric(&entry, &metric::Weights::default()).unwrap();
    let turns = (1..=turns)
        .map(|number| Turn { agent: Some("Hello. It is ready.".to_owned()), ..Turn::begun(number, "Hi".to_owned()) })
        .collect();
    let transcript = Transcript { turns };
    let input = MetricInput {
        fact_uses: None,
        tasks: Vec::new(),
        facts: &[],
        condition: Condition::WithoutFacts,
        transcript: &transcript,
        state: None,
        expected: None,
        lines: Vec::new(),
        is_of_reference: false,
        agent_ended_it: false,
        user: UserInput::default(),
        judge: JudgeInput {
            prompt: "eval/score",
            temperature: 0.0,
            samples: 1,
            needs_evidence: true,
            is_there: true,
            has_embeddings: false,
        },
        context: Vec::new(),
        times_first_token: false,
        aspirational_average_ms: None,
        clock: Clock::system(),
        is_brief: false,
    };
    let questions = metric.questions(&input, &Templates::embedded()).unwrap();
    let judgement = |(reply, sample): (&String, u32)| Judgement {
        question: questions.first().map(|question| question.id.clone()).unwrap_or_default(),
        judge: "m".to_owned(),
        sample,
        reply: Observed::Seen(reply.clone()),
        rejected: Vec::new(),
        alternatives: Vec::new(),
        usage: Usage::default(),
        is_cached: false,
        notes: Vec::new(),
    };
    let judgements: Vec<Judgement> = replies.iter().zip(1..).map(judgement).collect();
    metric.score(&input, &judgements)
}

fn number(score: Option<Score>) -> Value {
    score.map(Score::get).into()
}

/// Blocks as ADK parses them: none where one is not whole.
fn parsed_blocks(vector: &Vector) -> Value {
    let all = blocks(vector.text("auto_rater_response").unwrap_or_default());
    let is_whole = all.iter().all(metric::judged::Block::is_whole);
    let block = |block: &metric::judged::Block| json!({ "id": block.id, "property": block.property, "score": number(block.score()) });
    if is_whole { all.iter().map(block).collect() } else { json!([]) }
}

/// A rubric metric with these rubrics, and the reply to it.
fn matched(vector: &Vector) -> Value {
    let rubric = |rubric: &Value| json!({ "id": rubric["rubric_id"], "text": rubric["text"] });
    let rubrics: Vec<Value> = vector.list("rubrics").iter().map(rubric).collect();
    let texts: Vec<(String, String)> = vector
        .list("rubrics")
        .iter()
        .map(|it| (it["rubric_id"].as_str().unwrap().to_owned(), it["text"].as_str().unwrap().to_owned()))
        .collect();
    let entry = json!({ "rubric": { "rubrics": rubrics, "judging": { "strict": true } } });
    let reply = vector.text("auto_rater_response").unwrap_or_default().to_owned();
    let dimension = score(entry, 1, &[reply]);
    let scored = dimension.items.iter().filter(|item| item.component.score().is_some());
    let ids: Vec<&String> =
        scored.filter_map(|item| Some(&texts.iter().find(|(_, text)| *text == item.label)?.0)).collect();
    json!({ "matched_ids": ids, "score": number(dimension.component.score()) })
}

fn verdicts_of_rubrics(vector: &Vector) -> Value {
    let verdicts = vector.input["verdicts"].as_object().unwrap();
    let sample: Map<String, Value> = verdicts.iter().map(|(id, verdict)| (id.clone(), verdict.clone())).collect();
    let (score, scores) = rubrics_of(&[&[Value::Object(sample)]]);
    json!({ "score": score, "rubric_scores": scores })
}

/// The score, and that of each rubric, of turns with samples each: what each sample says of each rubric.
fn rubrics_of(turns: &[&[Value]]) -> (Value, Value) {
    let mut ids: Vec<String> = Vec::new();
    let all = turns.iter().flat_map(|samples| samples.iter()).filter_map(Value::as_object).flat_map(Map::keys);
    all.for_each(|id| {
        if !ids.contains(id) {
            ids.push(id.clone())
        }
    });
    let rubrics: Vec<Value> = ids.iter().map(|id| json!({ "id": id, "text": id })).collect();
    let samples = turns.first().map_or(0, |samples| samples.len());
    let verdict = |(turn, samples): (usize, &&[Value]), sample: usize| -> Vec<Value> {
        let said = samples.get(sample).and_then(Value::as_object).cloned().unwrap_or_default();
        let verdict = |(id, said): (String, Value)| {
            let verdict = match said.as_f64() {
                Some(1.0) => json!("yes"),
                Some(_) => json!("no"),
                None => said,
            };
            json!({ "id": format!("{id}@{turn}"), "reason": "so", "quotes": [], "turnsRead": [], "verdict": verdict })
        };
        said.into_iter().map(verdict).collect()
    };
    let reply = |sample: usize| {
        let verdicts: Vec<Value> = (1..).zip(turns).flat_map(|turn| verdict(turn, sample)).collect();
        json!({ "verdicts": verdicts }).to_string()
    };
    let replies: Vec<String> = (0..samples).map(reply).collect();
    let entry = json!({ "rubric": { "rubrics": rubrics, "scope": "turns", "judging": { "strict": true } } });
    let dimension = score(entry, turns.len() as u32, &replies);
    let of = |id: &String| {
        let own: Vec<f64> = dimension
            .items
            .iter()
            .filter(|item| item.label == *id)
            .filter_map(|item| Some(item.component.score()?.get()))
            .collect();
        let mean = (!own.is_empty()).then(|| own.iter().sum::<f64>() / own.len() as f64);
        (id.clone(), Value::from(mean))
    };
    (number(dimension.component.score()), Value::Object(ids.iter().map(of).collect()))
}

fn labels(vector: &Vector) -> Value {
    let scores: Vec<f64> =
        vector.list("labels").iter().filter_map(|label| Some(Support::parse(label.as_str()?)?.score().get())).collect();
    json!({ "score": (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64) })
}

/// The reply to one of trpc-agent-go's judges, told by its shape.
fn reply(vector: &Vector) -> Result<Value, String> {
    let raw = vector.text("response").unwrap_or_default();
    let of = |scorer: TemplateScorer| {
        let read = scorer.read(raw, true, &BTreeSet::new()).map(|reading| json!({ "score": reading.score.get() }));
        read.map_err(|error| error.to_string())
    };
    if vector.has(&["categories"]) {
        let categories = serde_json::from_value(vector.input["categories"].clone()).map_err(|it| it.to_string())?;
        return of(TemplateScorer::Categorical(categories));
    }
    if let Some((is_valid, reason)) = validity(raw) {
        let reason = blocks(raw).first().map_or(reason, |block| block.reason.clone());
        return Ok(json!({ "score": f64::from(u8::from(is_valid)), "reason": reason }));
    }
    if raw.contains("\"passed\"") {
        return of(TemplateScorer::Boolean);
    }
    if raw.trim_start().starts_with('{') {
        return of(TemplateScorer::SingleScore);
    }
    let all = blocks(raw);
    if all.is_empty() {
        return Err("there are no verdicts in it".to_owned());
    }
    let is_unknown = |block: &metric::judged::Block| {
        block.support().is_none() && block.label.as_deref().is_some_and(|label| !label.trim().is_empty())
    };
    if let Some(block) = all.iter().find(|block| is_unknown(block)) {
        return Err(format!("unexpected label {:?}", block.label.as_deref().unwrap_or_default()));
    }
    let score = |block: &metric::judged::Block| block.support().map(Support::score).or_else(|| block.score());
    let scores: Vec<f64> = all.iter().filter_map(|block| Some(score(block)?.get())).collect();
    let ids: Vec<String> = all
        .iter()
        .zip(1..)
        .map(|(block, place): (_, usize)| {
            let id = block.id.clone().filter(|id| !id.is_empty());
            id.unwrap_or_else(|| place.to_string())
        })
        .collect();
    Ok(json!({ "score": scores.iter().sum::<f64>() / scores.len() as f64, "ids": ids }))
}

fn units_of(vector: &Vector) -> Value {
    let role = |role: &Value| if role == "user" { Role::User } else { Role::Assistant };
    let roles: Vec<Role> = vector.list("roles").iter().map(role).collect();
    json!({ "units_of_turn_indices": units(&roles) })
}

/// DeepEval's verdicts, of generation 4 where the vector says no other.
fn verdicts(vector: &Vector, dialect: Dialect) -> Value {
    let generation = vector.input.get("generation").or_else(|| vector.input.get("version"));
    let is_third =
        generation.is_some_and(|it| it.as_f64() == Some(3.0) || it.as_str().is_some_and(|it| it.starts_with('3')));
    let unknown = if is_third { "holds" } else { "leftOut" };
    let said = vector.list("verdicts");
    let judging = json!({ "strict": dialect == Dialect::Strict, "unknown": unknown });
    let verdict = |(verdict, id): (&Value, u32)| {
        json!({ "id": id.to_string(), "item": "x", "reason": "so", "quotes": [{ "turn": id, "text": "Hello" }],
            "turnsRead": [], "verdict": verdict })
    };
    let all: Vec<Value> = said.iter().zip(1..).map(verdict).collect();
    let reply = json!({ "verdicts": all }).to_string();
    let entry = json!({ "completeness": { "judging": judging } });
    let dimension = score(entry, said.len().max(1) as u32, &[reply]);
    judged(vector, dimension.component.score())
}

fn role(vector: &Vector) -> Value {
    let number = |key: &str| vector.input[key].as_u64().unwrap_or_default() as u32;
    let (turns, wrong) = (number("assistant_turns"), number("out_of_character"));
    if turns == 0 {
        // Whoever never replied is not asked about at all: nobody has left a role.
        return judged(vector, Some(Score::ONE));
    }
    let verdict = |turn: u32| {
        let verdict = if turn <= wrong { "no" } else { "yes" };
        json!({ "id": turn.to_string(), "reason": "so", "quotes": [], "turnsRead": [], "verdict": verdict })
    };
    let reply = json!({ "verdicts": (1..=turns).map(verdict).collect::<Vec<_>>() }).to_string();
    let entry = json!({ "roleAdherence": { "role": "a waiter", "judging": { "strict": true } } });
    judged(vector, score(entry, turns, &[reply]).component.score())
}

/// A score with whether it meets the vector's threshold.
fn judged(vector: &Vector, score: Option<Score>) -> Value {
    let threshold = vector.input.get("threshold").and_then(Value::as_f64).and_then(Score::new);
    let success = score.zip(threshold).map(|(score, threshold)| !score.is_below(threshold));
    json!({ "score": number(score), "success": success })
}

fn geval(vector: &Vector, raw: &[Value]) -> Value {
    let entry = json!({ "geval": { "criteria": "x", "judging": { "strict": true } } });
    judged(vector, score(entry, 1, &raw.iter().map(rating).collect::<Vec<_>>()).component.score())
}

fn rating(score: &Value) -> String {
    json!({ "verdicts": [{ "id": "1", "reason": "so", "quotes": [], "turnsRead": [], "score": score }] }).to_string()
}

fn second_try(vector: &Vector) -> Value {
    let attempts = vector.list("attempts");
    let raw: Vec<String> = attempts.iter().map(|it| rating(&json!(it.as_f64().unwrap_or_default() * 10.0))).collect();
    let threshold = vector.input["threshold"].as_f64().unwrap_or_default();
    let entry = json!({ "geval": { "criteria": "x", "secondBelow": threshold, "judging": { "strict": true } } });
    let dimension = score(entry, 1, &raw);
    let mut judged = judged(vector, dimension.component.score());
    judged["retry_performed"] = attempts.first().and_then(Value::as_f64).is_some_and(|first| first < threshold).into();
    judged
}
