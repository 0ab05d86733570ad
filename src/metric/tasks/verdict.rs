//! The judge's verdict: its shape, and how it is read.

use serde_json::{Map, Value, json};

use super::super::judged::{Citations, SPREAD, citations_schema};
use crate::evidence::ReplySchema;
use crate::metric::{EntryError, RatingError, ReplyError};
use crate::score::Score;
use crate::text::{contradiction, visible};

/// A judge's ratings: one for each task, in the job's order, and one for the tone.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JudgeVerdict {
    /// One for each task.
    pub(super) tasks: Vec<Rating>,
    /// How the agent spoke. It does not count, so that a judge that leaves it out has still judged the tasks.
    pub(super) tone: Option<Rating>,
}

/// A score with its reason.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rating {
    /// The judge's reason: untrusted text.
    pub(super) reason: String,
    /// 0 to 1.
    pub(super) score: Score,
    /// Its quotes.
    pub(super) citations: Citations,
}

impl Rating {
    /// Several ratings of one thing as one: the mean of their scores, with the first one's reason.
    pub(super) fn mean(ratings: &[&Rating]) -> Rating {
        if let [only] = ratings {
            return (*only).clone();
        }
        let scores: Vec<f64> = ratings.iter().map(|rating| rating.score.get()).collect();
        let mean = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
        let lowest = scores.iter().copied().fold(1.0, f64::min);
        let highest = scores.iter().copied().fold(0.0, f64::max);
        let note = match highest - lowest > SPREAD {
            true => format!("{} verdicts from {lowest:.1} to {highest:.1}: unstable", scores.len()),
            false => format!("mean of {} verdicts", scores.len()),
        };
        let reason = ratings.first().map_or("", |rating| rating.reason.as_str());
        Rating { reason: format!("{reason} ({note})"), score: Score::clamped(mean), citations: Citations::default() }
    }
}

/// The most characters of a reason.
const MAX_REASON: u32 = 600;

/// The most tokens of a rating: its reason in any language, and the JSON around it; and of its quotes.
const TOKENS_PER_RATING: u32 = 300;
const TOKENS_OF_QUOTES: u32 = 150;

/// The shape of a verdict on this many tasks, and on the tone, with or without what each rests on.
pub(super) fn reply_schema(tasks: usize, needs_evidence: bool) -> ReplySchema {
    let ratings = u32::try_from(tasks + 1).unwrap_or(u32::MAX);
    ReplySchema {
        name: "verdict".to_owned(),
        schema: schema(tasks, needs_evidence),
        max_tokens: (TOKENS_PER_RATING + if needs_evidence { TOKENS_OF_QUOTES } else { 0 }).saturating_mul(ratings),
        wants_alternatives: false,
    }
}

/// The JSON Schema of a verdict on this many tasks. The reason comes before the score, so that the score follows from it.
/// Every property is required and no other is allowed, as OpenAI's strict mode wants; ranges are checked on reading.
fn schema(tasks: usize, needs_evidence: bool) -> Value {
    let reason = json!({
        "type": "string",
        "description": "Why, in one or two sentences, before the score.",
        "maxLength": MAX_REASON,
    });
    let score = json!({ "type": "number", "description": "From 0 (not at all) to 1 (fully)." });
    let rating = |index: Option<Value>| {
        let mut properties = Map::new();
        properties.extend(index.map(|index| ("index".to_owned(), index)));
        properties.insert("reason".to_owned(), reason.clone());
        if needs_evidence {
            properties.extend(citations_schema());
        }
        properties.insert("score".to_owned(), score.clone());
        let required: Vec<&String> = properties.keys().collect();
        json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false })
    };
    let index = json!({
        "type": "integer",
        "description": "The number of the task, from 1.",
        "enum": (1..=tasks).collect::<Vec<_>>(),
    });
    json!({
        "type": "object",
        "properties": {
            "tasks": {
                "type": "array",
                "description": format!("Exactly {tasks}: one for each task."),
                "minItems": tasks,
                "maxItems": tasks,
                "items": rating(Some(index)),
            },
            "tone": rating(None),
        },
        "required": ["tasks", "tone"],
        "additionalProperties": false,
    })
}

impl JudgeVerdict {
    /// Reads a verdict on this many tasks.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub(super) fn read(raw: &str, tasks: usize) -> Result<JudgeVerdict, ReplyError> {
        let reply: Value = serde_json::from_str(raw.trim()).map_err(|error| ReplyError::NotJson(error.to_string()))?;
        if let Some(key) = contradiction(raw.trim()) {
            return Err(ReplyError::Contradiction(visible(&key)));
        }
        let entries = reply.get("tasks").and_then(Value::as_array).ok_or(ReplyError::NoTasks)?;
        let mut problems = Vec::new();
        let mut ratings: Vec<Option<Rating>> = vec![None; tasks];
        let mut seen = vec![false; tasks];
        for (place, entry) in entries.iter().enumerate() {
            let index = match index(entry, tasks) {
                Ok(index) => index,
                Err(error) => {
                    problems.push(RatingError::Entry(place + 1, error));
                    continue;
                }
            };
            if std::mem::replace(&mut seen[index], true) {
                problems.push(RatingError::Repeated(index + 1));
                continue;
            }
            match rating(entry) {
                Ok(rating) => ratings[index] = Some(rating),
                Err(error) => problems.push(RatingError::Task(index + 1, error)),
            }
        }
        let absent: Vec<String> =
            (0..tasks).filter(|index| !seen[*index]).map(|index| (index + 1).to_string()).collect();
        if !absent.is_empty() {
            problems.push(RatingError::Absent(absent.join(", ")));
        }
        let tone = match reply.get("tone") {
            None | Some(Value::Null) => None,
            Some(tone) => rating(tone).map_err(|error| problems.push(RatingError::Tone(error))).ok(),
        };
        match ratings.into_iter().collect() {
            Some(tasks) if problems.is_empty() => Ok(JudgeVerdict { tasks, tone }),
            _ => Err(ReplyError::Ratings(problems)),
        }
    }
}

/// The task that an entry is about, from 0.
fn index(entry: &Value, tasks: usize) -> Result<usize, EntryError> {
    let index = entry.as_object().and_then(|entry| entry.get("index")).ok_or(EntryError::NoIndex)?;
    let number = index.as_f64().filter(|number| number.fract() == 0.0);
    let number = number.ok_or_else(|| EntryError::NotWhole(index.clone()))?;
    if !(1.0..=tasks as f64).contains(&number) {
        return Err(EntryError::NoSuchTask(number, tasks));
    }
    Ok(number as usize - 1)
}

fn rating(entry: &Value) -> Result<Rating, EntryError> {
    let score = entry.get("score").ok_or(EntryError::NoScore)?;
    let number = score.as_f64().ok_or_else(|| EntryError::NotANumber(score.clone()))?;
    let score = Score::new(number).ok_or(EntryError::OutOfRange(number))?;
    match entry.get("reason") {
        Some(Value::String(reason)) if !reason.trim().is_empty() => {
            Ok(Rating { reason: reason.trim().to_owned(), score, citations: Citations::from_entry(entry) })
        }
        _ => Err(EntryError::NoReason),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_verdict_that_says_two_things_of_one_task_is_none() {
        let reply = |scores: &str| format!(r#"{{"tasks": [{{"index": 1, "reason": "so", {scores}}}], "tone": null}}"#);
        let problem = JudgeVerdict::read(&reply(r#""score": 0.1, "score": 1.0"#), 1).unwrap_err();
        assert_eq!(problem.to_string(), "The reply says `score` twice in one object, and differently.");
        assert!(JudgeVerdict::read(&reply(r#""score": 1, "score": 1.0"#), 1).is_ok());
    }

    fn entry(index: Value, score: Value) -> Value {
        json!({"index": index, "reason": "because", "score": score})
    }

    fn reply(tasks: Vec<Value>) -> String {
        json!({"tasks": tasks, "tone": {"reason": "kind", "score": 1}}).to_string()
    }

    #[test]
    fn reason_stands_before_score() {
        let text = schema(2, true).to_string();
        let properties = text.find("\"reason\"").zip(text.find("\"score\"")).unwrap();
        assert!(properties.0 < properties.1, "{text}");
        assert_eq!(schema(3, true)["properties"]["tasks"]["items"]["properties"]["index"]["enum"], json!([1, 2, 3]));
        let of_tasks = |needs: bool| schema(1, needs)["properties"]["tasks"]["items"]["required"].clone();
        assert_eq!(of_tasks(false), json!(["index", "reason", "score"]));
        assert_eq!(of_tasks(true), json!(["index", "reason", "quotes", "turnsRead", "score"]));
    }

    #[test]
    fn unusable_verdicts_name_what_is_wrong() {
        let good = || entry(json!(1), json!(1));
        for (raw, part) in [
            ("The agent did well: 0.9".to_owned(), "not JSON"),
            (String::new(), "not JSON"),
            (r#"{"tasks": [{"index": 1, "reason": "x", "score": NaN}]}"#.to_owned(), "not JSON"),
            ("[]".to_owned(), "list `tasks`"),
            ("0.9".to_owned(), "list `tasks`"),
            (r#"{"tone": {"reason": "x", "score": 1}}"#.to_owned(), "list `tasks`"),
            (r#"{"tasks": {"1": 0.5}}"#.to_owned(), "list `tasks`"),
            (reply(vec![]), "There is no entry for task 1, 2."),
            (reply(vec![good()]), "There is no entry for task 2."),
            (reply(vec![good(), good()]), "Task 1 is there more than once. There is no entry for task 2."),
            (
                reply(vec![good(), entry(json!(3), json!(1))]),
                "Entry 2 of `tasks` has the index 3, but the tasks are numbered from 1 to 2.",
            ),
            (reply(vec![good(), entry(json!(0), json!(1))]), "has the index 0"),
            (reply(vec![good(), entry(json!(-1), json!(1))]), "has the index -1"),
            (reply(vec![good(), entry(json!(1.5), json!(1))]), "not a whole number"),
            (reply(vec![good(), entry(json!("2"), json!(1))]), "the index \"2\", which is not a whole number"),
            (reply(vec![good(), json!(0.5)]), "Entry 2 of `tasks` has no `index`"),
            (reply(vec![good(), json!({"index": 2, "reason": "x"})]), "Task 2 has no `score`"),
            (reply(vec![good(), json!({"index": 2, "score": 1})]), "Task 2 has no `reason`"),
            (reply(vec![good(), json!({"index": 2, "reason": " ", "score": 1})]), "Task 2 has no `reason`"),
            (reply(vec![good(), entry(json!(2), json!(1.01))]), "Task 2 has the score 1.01, which is not from 0 to 1."),
            (reply(vec![good(), entry(json!(2), json!(-0.1))]), "not from 0 to 1"),
            (reply(vec![good(), entry(json!(2), json!(80))]), "not from 0 to 1"),
            (reply(vec![good(), entry(json!(2), json!("0.8"))]), "the score \"0.8\", which is not a number"),
            (reply(vec![good(), entry(json!(2), json!(null))]), "not a number"),
            (reply(vec![good(), entry(json!(2), json!(true))]), "not a number"),
        ] {
            let error = JudgeVerdict::read(&raw, 2).expect_err(&raw).to_string();
            assert!(error.contains(part), "{raw}: {error}");
        }
    }

    #[test]
    fn all_problems_are_named_at_once() {
        let raw = json!({"tasks": [entry(json!(1), json!(2))], "tone": {"score": 1}}).to_string();
        assert_eq!(
            JudgeVerdict::read(&raw, 2).unwrap_err().to_string(),
            "Task 1 has the score 2, which is not from 0 to 1. There is no entry for task 2. `tone` has no `reason`."
        );
    }

    #[test]
    fn an_index_may_be_written_as_a_float() {
        assert!(JudgeVerdict::read(&reply(vec![entry(json!(1.0), json!(0))]), 1).is_ok());
    }

    proptest! {
        #[test]
        fn the_order_of_entries_does_not_matter(
            (scores, order) in proptest::collection::vec(0.0f64..=1.0, 1..6)
                .prop_flat_map(|scores| (Just(scores.clone()), Just((0..scores.len()).collect::<Vec<_>>()).prop_shuffle())),
        ) {
            let entries = order.iter().map(|place| entry(json!(place + 1), json!(scores[*place]))).collect();
            let verdict = JudgeVerdict::read(&reply(entries), scores.len()).unwrap();
            for (rating, score) in verdict.tasks.iter().zip(scores) {
                prop_assert!((rating.score.get() - score).abs() < 1e-12);
            }
        }

        #[test]
        fn any_text_is_read_or_refused(raw in "[a-z0-9{}\\[\\]\":,. ]*", tasks in 0usize..3) {
            if let Ok(verdict) = JudgeVerdict::read(&raw, tasks) {
                prop_assert_eq!(verdict.tasks.len(), tasks);
            }
        }
    }
}
