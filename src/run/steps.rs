//! The steps of `geval` metrics that the judge writes before a run, once: they stay the same for all conversations.

use serde_json::{Value, json};

use super::Engine;
use crate::cassette::{self, Stopped};
use crate::evidence::{Message, Question, QuestionTo, ReplySchema, Role, Usage};
use crate::job::Job;
use crate::llm::{LlmError, LlmRequest, LlmRole, UsageMeter};
use crate::metric::MetricConfig;
use crate::money::Cost;
use crate::prompt::PromptError;
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
    /// The tokens that they took.
    pub usage: Usage,
    /// Their cost.
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

/// There are no steps.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{why}")]
pub struct NoSteps {
    /// Why there are none.
    pub why: StepsError,
    /// The tokens that the tries took.
    pub usage: Usage,
}

/// Why the judge wrote no steps.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StepsError {
    /// In replay: something that is needed is not recorded, in a sentence with what to try.
    #[error("{0}")]
    Unrecorded(String),
    /// In replay: the judge had not answered when the recording ended.
    #[error("the recording ends before they are written")]
    RecordingEnds,
    /// The question could not be rendered.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// The judge could not be asked.
    #[error(transparent)]
    Llm(#[from] LlmError),
    /// None of its replies can be used.
    #[error("no usable steps in {TRIES} tries: {}", .0.to_string().trim_end_matches('.'))]
    Unusable(StepsReplyError),
}

/// Why a reply with steps can't be used: a sentence that can be sent back to the judge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StepsReplyError {
    /// It is not JSON: the parser's error.
    #[error("The reply is not JSON ({0}).")]
    NotJson(String),
    /// It has no list of steps.
    #[error("The reply must be an object with a list `steps`.")]
    NoList,
    /// The list is empty, or one of its entries is no text.
    #[error("Each step must be a sentence.")]
    NoSentence,
    /// There are too many.
    #[error("There are {0} steps, where at most {MOST_STEPS} are of use.")]
    TooMany(usize),
    /// A step is too long: its beginning, which is untrusted text.
    #[error("The step \"{}…\" is longer than {LONGEST_STEP} characters.", visible(.0))]
    TooLong(String),
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
                Stopped::Unrecorded(why) => StepsError::Unrecorded(why),
                Stopped::Unanswered | Stopped::CutOff => StepsError::RecordingEnds,
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

/// Asks the judge for the steps of one criterion, again where a reply can't be used; adds up what that took.
async fn steps_of(engine: &Engine, criteria: &str, written: &mut WrittenSteps) -> Result<Vec<String>, StepsError> {
    let job = &engine.plan.job;
    let prompt = engine.templates.steps_prompt(criteria)?;
    let question = Question {
        id: "steps".to_owned(),
        metric: "geval".to_owned(),
        judge: job.judge.model.seats().into_iter().next(),
        sample: 1,
        samples: 1,
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
    let mut tries = 0;
    loop {
        tries += 1;
        let meter = UsageMeter::default();
        let answer = cassette::ask(&engine.cassette.run_tape(), judge, &request, &meter).await;
        written.usage = written.usage.plus(meter.usage());
        let raw = answer?.text;
        match read(&raw) {
            Ok(steps) => return Ok(steps),
            Err(problem) if tries == TRIES => return Err(StepsError::Unusable(problem)),
            Err(problem) => {
                request.messages.push(Message::new(Role::Assistant, raw));
                request.messages.push(Message::new(
                    Role::User,
                    format!(
                        "Those steps could not be used: {problem} Reply again with the whole object, and nothing else."
                    ),
                ));
            }
        }
    }
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

/// Reads the steps of a reply.
fn read(raw: &str) -> Result<Vec<String>, StepsReplyError> {
    let not_json = |error: serde_json::Error| StepsReplyError::NotJson(error.to_string());
    let reply: Value = serde_json::from_str(raw.trim()).map_err(not_json)?;
    let steps = reply.get("steps").and_then(Value::as_array).ok_or(StepsReplyError::NoList)?;
    let text = |step: &Value| step.as_str().map(str::trim).filter(|step| !step.is_empty()).map(str::to_owned);
    let steps: Option<Vec<String>> = steps.iter().map(text).collect();
    let steps = steps.filter(|steps| !steps.is_empty()).ok_or(StepsReplyError::NoSentence)?;
    if steps.len() > MOST_STEPS {
        return Err(StepsReplyError::TooMany(steps.len()));
    }
    match steps.iter().find(|step| step.chars().count() > LONGEST_STEP) {
        Some(step) => Err(StepsReplyError::TooLong(step.chars().take(60).collect())),
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
            let problem = read(raw).unwrap_err().to_string();
            assert!(problem.contains(part), "{raw}: {problem}");
        }
    }
}
