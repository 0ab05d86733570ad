//! Carrying the metrics' questions to the judge.

use std::sync::Arc;

use super::Engine;
use super::evaluate::off_thread;
use super::metered_call::ask;
use super::trial::Stop;
use crate::evidence::{Evidence, Judgement, Message, Observed, Question, Role, Usage};
use crate::grade;
use crate::llm::{LlmRequest, LlmRole};
use crate::metric::MetricInput;
use crate::plan::Trial;

/// How often a judge whose reply can't be used is asked.
const TRIES: usize = 3;

/// Asks the judge everything that the metrics want to know.
pub(super) async fn judge(engine: &Engine, trial: &Trial, evidence: &Arc<Evidence>) -> Result<Vec<Judgement>, Stop> {
    let (job, case) = (&engine.plan.job, &trial.case);
    let questions = if engine.templates.is_quick(&job.judge.prompt) {
        grade::questions(job, &grade::metric_input(job, case, evidence), &engine.templates)
    } else {
        let (job, case, evidence) = (job.clone(), case.clone(), Arc::clone(evidence));
        let templates = engine.templates.clone();
        let asked = move || grade::questions(&job, &grade::metric_input(&job, &case, &evidence), &templates);
        off_thread(engine, asked).await?
    };
    let questions = questions.map_err(|error| Stop::broken(error.to_string()))?;
    let input = grade::metric_input(job, case, evidence);
    let mut judgements = Vec::new();
    for mut question in questions {
        // An agent that repeats its key must not make us tell it to somebody else.
        question.prompt = engine.edges.redactor().redact_known(&question.prompt).into_owned();
        judgements.push(answer(engine, trial.id.number, &input, question).await?);
    }
    Ok(judgements)
}

async fn answer(engine: &Engine, trial: u32, input: &MetricInput<'_>, question: Question) -> Result<Judgement, Stop> {
    let judge = &engine.edges.judge;
    let mut request = LlmRequest {
        role: LlmRole::Judge,
        messages: vec![Message::new(Role::User, question.prompt.clone())],
        temperature: question.temperature,
        schema: Some(question.schema.clone()),
    };
    let mut rejected: Vec<(String, String)> = Vec::new();
    let mut usage = Usage::default();
    let mut notes: Vec<String> = Vec::new();
    let reply = loop {
        let answer = ask(engine, trial, judge.as_ref(), &request).await?;
        usage = usage.plus(answer.as_ref().map_or_else(|error| *error.usage, |reply| reply.usage));
        let raw = match answer {
            Ok(reply) => {
                for note in reply.notes {
                    if !notes.contains(&note) {
                        notes.push(note);
                    }
                }
                reply.text
            }
            // Not the judge's failure.
            Err(error) if error.is_ours => return Err(Stop::broken(format!("the judge's model: {error}"))),
            Err(error) => break Observed::Failed(format!("the judge's model: {error}")),
        };
        let Err(why) = grade::read_reply(&engine.plan.job, input, &question, &raw) else { break Observed::Seen(raw) };
        rejected.push((raw.clone(), why.clone()));
        if rejected.len() == TRIES {
            break Observed::Failed(format!("no usable verdict in {TRIES} tries: {why}"));
        }
        request.messages.push(Message::new(Role::Assistant, raw));
        request.messages.push(Message::new(
            Role::User,
            format!("That verdict could not be used: {why}. Reply again with the whole verdict, and nothing else."),
        ));
    };
    let judge = judge.name().to_owned();
    Ok(Judgement { question: question.id, judge, sample: question.sample, reply, rejected, usage, notes })
}
