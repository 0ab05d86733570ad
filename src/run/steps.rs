//! The steps of `geval` metrics that the judge writes before a run, once: they stay the same for all conversations.

use serde_json::{Value, json};

use super::Engine;
use crate::cassette::{self, Stopped};
use crate::evidence::{Message, Question, QuestionTo, ReplySchema, Role, Usage};
use crate::job::Job;
use crate::llm::{LlmRequest, LlmRole, UsageMeter};
use crate::metric::MetricConfig;
use crate::money::Cost;
use crate::text::visible;

/// The most times that the judge is asked for the steps of one criterion.
const TRIES: usize = 3;
/// The most steps, and the most characters of one.
const MOST_STEPS: usize = 12;
const LONGEST_STEP: usize = 600;

/// Steps that the judge wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenSteps {
    /// The judge that wrote them.
    pub judge: String,
    /// Those of each criterion.
    pub of_criteria: Vec<(String, Vec<String>)>,
    /// What that took.
    pub usage: Usage,
    /// What that cost.
    pub cost: Cost,
}

impl WrittenSteps {
    /// Puts them into a job: it asks for none after that.
    pub fn fill_in(&self, job: &mut Job) {
        for entry in &mut job.metrics {
            if let MetricConfig::Geval(options) = &mut entry.metric
                && let Some((_, steps)) = self.of_criteria.iter().find(|(criteria, _)| *criteria == options.criteria)
                && options.needs_steps()
            {
                options.steps.clone_from(steps);
                options.generate_steps = false;
            }
        }
    }
}

/// Why there are no steps: a sentence, and what was spent.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{why}")]
pub struct NoSteps {
    /// The sentence.
    pub why: String,
    /// What was spent all the same.
    pub usage: Usage,
}

/// Has the judge write the steps of all criteria that have none; the first one of a panel does. Nothing is asked where a job needs
/// none, or where no model judges.
///
/// # Errors
/// The judge wrote none that can be used.
pub async fn write_steps(engine: &Engine) -> Result<Option<WrittenSteps>, NoSteps> {
    let job = &engine.plan.job;
    let mut criteria: Vec<&str> = Vec::new();
    for entry in &job.metrics {
        if let MetricConfig::Geval(options) = &entry.metric
            && options.needs_steps()
            && !criteria.contains(&options.criteria.as_str())
        {
            criteria.push(&options.criteria);
        }
    }
    if criteria.is_empty() || !job.has_judge() {
        return Ok(None);
    }
    let mut written =
        WrittenSteps { judge: String::new(), of_criteria: Vec::new(), usage: Usage::default(), cost: Cost::NOTHING };
    let tape = engine.cassette.run_tape();
    for criteria in criteria {
        let steps = tokio::select! {
            biased;
            stopped = tape.stopped() => Err(match stopped {
                Stopped::Unrecorded(why) => why,
                Stopped::Unanswered => "the recording ends before they are written".to_owned(),
            }),
            steps = steps_of(engine, criteria, &mut written) => steps,
        };
        let usage = written.usage;
        let steps = steps.map_err(|why| NoSteps { why, usage })?;
        written.of_criteria.push((criteria.to_owned(), steps));
    }
    written.cost = engine.plan.prices.price(&written.judge).map_or(Cost::Unknown, |price| price.cost(&written.usage));
    Ok(Some(written))
}

async fn steps_of(engine: &Engine, criteria: &str, written: &mut WrittenSteps) -> Result<Vec<String>, String> {
    let job = &engine.plan.job;
    let prompt = engine.templates.steps_prompt(criteria).map_err(|error| error.to_string())?;
    let question = Question {
        id: "steps".to_owned(),
        metric: "geval".to_owned(),
        judge: job.judge.model.seats().into_iter().next(),
        sample: 1,
        prompt,
        schema: schema(),
        temperature: job.judge.temperature,
        to: QuestionTo::Judge,
        cuts: Vec::new(),
    };
    let judge = engine.clients.answerer(&question);
    judge.name().clone_into(&mut written.judge);
    let mut request = LlmRequest {
        role: LlmRole::Judge,
        messages: vec![Message::new(Role::User, question.prompt)],
        temperature: question.temperature,
        schema: Some(question.schema),
        sample: 1,
        conversation_seed: Some(engine.rng_seed as u32 & 0x7fff_ffff),
    };
    let mut why = String::new();
    for _ in 0..TRIES {
        let meter = UsageMeter::default();
        let answer = cassette::ask(&engine.cassette.run_tape(), judge, &request, &meter).await;
        written.usage = written.usage.plus(meter.taken());
        let raw = match answer {
            Ok(reply) => reply.text,
            Err(error) => return Err(error.to_string()),
        };
        match read(&raw) {
            Ok(steps) => return Ok(steps),
            Err(problem) => {
                request.messages.push(Message::new(Role::Assistant, raw));
                request.messages.push(Message::new(
                    Role::User,
                    format!(
                        "Those steps could not be used: {problem} Reply again with the whole object, and nothing else."
                    ),
                ));
                why = problem;
            }
        }
    }
    Err(format!("no usable steps in {TRIES} tries: {}", why.trim_end_matches('.')))
}

fn schema() -> ReplySchema {
    ReplySchema {
        name: "steps".to_owned(),
        schema: json!({
            "type": "object",
            "properties": { "steps": { "type": "array", "items": { "type": "string" } } },
            "required": ["steps"],
            "additionalProperties": false,
        }),
        max_tokens: 1_200,
        wants_alternatives: false,
    }
}

/// Reads the steps.
///
/// # Errors
/// What is wrong with them, in a sentence that can be sent back to the judge.
fn read(raw: &str) -> Result<Vec<String>, String> {
    let reply: Value = serde_json::from_str(raw.trim()).map_err(|error| format!("The reply is not JSON ({error})."))?;
    let steps =
        reply.get("steps").and_then(Value::as_array).ok_or("The reply must be an object with a list `steps`.")?;
    let text = |step: &Value| step.as_str().map(str::trim).filter(|step| !step.is_empty()).map(str::to_owned);
    let steps: Option<Vec<String>> = steps.iter().map(text).collect();
    let steps = steps.filter(|steps| !steps.is_empty()).ok_or("Each step must be a sentence.")?;
    if steps.len() > MOST_STEPS {
        return Err(format!("There are {} steps, where at most {MOST_STEPS} are of use.", steps.len()));
    }
    match steps.iter().find(|step| step.chars().count() > LONGEST_STEP) {
        Some(step) => {
            let begin: String = step.chars().take(60).collect();
            Err(format!("The step \"{}…\" is longer than {LONGEST_STEP} characters.", visible(&begin)))
        }
        None => Ok(steps),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_sentences_and_not_too_many() {
        assert_eq!(
            read(r#" {"steps": [" Look at the greeting. ", "Lower the score for each rude word."]} "#).unwrap().len(),
            2
        );
        let many = json!({ "steps": vec!["Look."; 13] }).to_string();
        let long = json!({ "steps": ["x".repeat(601)] }).to_string();
        for (raw, part) in [
            ("Look at it.", "not JSON"),
            ("[]", "list `steps`"),
            (r#"{"steps": []}"#, "a sentence"),
            (r#"{"steps": ["a", 3]}"#, "a sentence"),
            (r#"{"steps": [" "]}"#, "a sentence"),
            (&many, "There are 13 steps"),
            (&long, "is longer than 600 characters"),
        ] {
            let problem = read(raw).unwrap_err();
            assert!(problem.contains(part), "{raw}: {problem}");
        }
    }
}
