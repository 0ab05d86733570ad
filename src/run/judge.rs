//! Asks the judge the metrics' questions.

use std::sync::Arc;

use futures_util::{StreamExt, stream};

use super::Engine;
use super::conversation_seed::conversation_seed;
use super::evaluate::off_thread;
use super::metered_call::{LastFailure, ask};
use super::sink::kept_soon;
use super::trial::TrialAbort;
use super::trial_limit::within;
use crate::cache::{Cache, CachedJudge};
use crate::clock::BusyTime;
use crate::evidence::{
    AskedQuestion, Evidence, Judgement, Message, Observed, Question, QuestionTo, Role, TrialId, Usage,
};
use crate::grade;
use crate::llm::{Llm, LlmErrorKind, LlmRequest, LlmRole};
use crate::metric::alternatives_of;
use crate::metric::{MetricInput, ReplyError};
use crate::plan::Trial;
use crate::record::Entry;

/// The most times that the judge is asked one question.
const TRIES: usize = 3;

/// The longest reply, in bytes, that is read: verdicts are asked for in a few hundred tokens each.
const LONGEST_REPLY: usize = 256 << 10;
/// How much of a longer one is kept, and sent back to the judge.
const KEPT_OF_REPLY: usize = 4 << 10;

/// How many questions of one trial are asked at once.
const AT_ONCE: usize = 8;

/// Asks the judge everything that the metrics want to know. The judgements are appended to the sink.
pub(super) async fn judge(
    engine: &Engine,
    trial: &Trial,
    evidence: &Arc<Evidence>,
) -> Result<Vec<Judgement>, TrialAbort> {
    let (job, case) = (&engine.plan.job, &trial.case);
    let questions = if engine.templates.is_quick(&job.judge.prompt) {
        grade::questions(job, &grade::metric_input(job, case, evidence, engine.clock), &engine.templates)
    } else {
        let (job, case, evidence) = (job.clone(), case.clone(), Arc::clone(evidence));
        let (templates, clock) = (engine.templates.clone(), engine.clock);
        let asked = move || grade::questions(&job, &grade::metric_input(&job, &case, &evidence, clock), &templates);
        off_thread(engine, asked).await?
    };
    let questions = questions.map_err(|error| TrialAbort::broken(error.to_string()))?;
    let input = grade::metric_input(job, case, evidence, engine.clock);
    // What was answered before the trial was cut off is paid for.
    let left = trial.left.as_ref().map_or(&[][..], |left| &left.judgements);
    let mut judgements = Vec::with_capacity(questions.len());
    let mut to_ask = Vec::with_capacity(questions.len());
    for (place, question) in (0..).zip(questions) {
        match left.iter().find(|judgement| judgement.answers(question.key())) {
            Some(judgement) => judgements.push((place, judgement.clone())),
            None => to_ask.push(PlacedQuestion { place, question }),
        }
    }
    let asking = JudgedTrial { engine, id: &trial.id, input: &input };
    asking.ask_all(to_ask, &LastFailure::default(), &mut judgements).await?;
    judgements.sort_by_key(|(place, _)| *place);
    Ok(judgements.into_iter().map(|(_, judgement)| judgement).collect())
}

/// A question with its place among all those about the same conversation, answered ones too.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedQuestion {
    /// Its place, from 0.
    pub place: u32,
    /// The question.
    pub question: Question,
}

/// A trial about which a judge is asked.
#[derive(Clone, Copy)]
pub(super) struct JudgedTrial<'a> {
    pub(super) engine: &'a Engine,
    pub(super) id: &'a TrialId,
    pub(super) input: &'a MetricInput<'a>,
}

impl JudgedTrial<'_> {
    /// Asks the judge these questions about a conversation, within `limits.trial`; the time for which all of them wait in our own
    /// queues does not count. Each judgement is appended to the sink as soon as it is there, whichever question it is of, and added
    /// to `kept` with the question's place.
    pub(super) async fn ask_all(
        self,
        questions: Vec<PlacedQuestion>,
        last_failure: &LastFailure,
        kept: &mut Vec<(u32, Judgement)>,
    ) -> Result<(), TrialAbort> {
        let JudgedTrial { engine, id, .. } = self;
        let (busy, trial) = (&BusyTime::new(engine.clock), id.number);
        let asking = questions
            .into_iter()
            .map(async |PlacedQuestion { place, question }| (place, self.ask_one(question, busy, last_failure).await));
        let mut asked = std::pin::pin!(stream::iter(asking).buffer_unordered(AT_ONCE));
        while let Some((place, answered)) = kept_soon(&*engine.sink, asked.next()).await? {
            let (question, judgement) = answered?;
            let question = Some(Box::new(question));
            engine.sink.append(Entry::Judged { trial, question, judgement: judgement.clone(), place: Some(place) })?;
            kept.push((place, judgement));
        }
        Ok(())
    }

    /// Asks one question.
    async fn ask_one(
        self,
        mut question: Question,
        busy: &Arc<BusyTime>,
        of_all: &LastFailure,
    ) -> Result<(AskedQuestion, Judgement), TrialAbort> {
        let engine = self.engine;
        let _under_way = busy.begin();
        let last_failure = LastFailure::timed_by(busy.clone());
        // An agent that repeats its key must not make us tell it to somebody else.
        let cleared = engine.clients.redactor().redact_known(&question.prompt).into_owned();
        let is_other = cleared != question.prompt;
        question.prompt = cleared;
        let asked = if is_other { AskedQuestion::whole(&question) } else { AskedQuestion::new(&question) };
        let (judge, to) = (engine.clients.answerer(&question), question.to);
        let mut judgement = Judgement {
            question: question.id.clone(),
            judge: judge.name().to_owned(),
            sample: question.sample,
            reply: Observed::Failed(String::new()),
            rejected: Vec::new(),
            alternatives: Vec::new(),
            usage: Usage::default(),
            is_cached: false,
            notes: question.cuts.clone(),
        };
        let answering = self.answer(question, &mut judgement, &last_failure);
        let seconds = engine.plan.job.limits.trial_seconds;
        match within(seconds, busy, answering).await {
            Some(answered) => answered?,
            None => {
                let place = judge.address().map(|address| format!(" at {address}")).unwrap_or_default();
                let what = format!(
                    "{}{place} gave no verdict within {seconds} s (limits.trial): it is slow, or its endpoint keeps failing; \
                     try a longer limits.trial",
                    service(to, judge)
                );
                judgement.reply = Observed::Failed(last_failure.after(what));
            }
        }
        if last_failure.is_for_all() {
            of_all.set_for_all();
        }
        Ok((asked, judgement))
    }

    /// Asks the judge until its reply can be used. Whoever stops waiting finds what was paid so far in the judgement.
    async fn answer(
        self,
        question: Question,
        judgement: &mut Judgement,
        last_failure: &LastFailure,
    ) -> Result<(), TrialAbort> {
        let JudgedTrial { engine, id, input } = self;
        let judge = engine.clients.answerer(&question);
        let service = service(question.to, judge);
        let mut cache = cache_for(engine, id, &question);
        let seed = conversation_seed(engine.rng_seed, id, LlmRole::Judge, 0);
        let mut request = LlmRequest {
            role: LlmRole::Judge,
            messages: vec![Message::new(Role::User, question.prompt.clone())],
            temperature: question.temperature,
            schema: Some(question.schema.clone()),
            sample: question.sample,
            conversation_seed: Some(seed),
        };
        let (mut was_cut_off, mut was_without_evidence) = (false, false);
        loop {
            let cached = CachedJudge::new(judge, cache);
            let answer = ask(engine, id.number, &cached, &request, last_failure).await?;
            judgement.usage =
                judgement.usage.plus(answer.as_ref().map_or_else(|error| *error.usage, |reply| reply.usage));
            let reply = match answer {
                Ok(reply) => reply,
                // Not the judge's failure.
                Err(error) if error.kind == LlmErrorKind::NoDescriptor => {
                    return Err(TrialAbort::broken(format!("{service}: {error}")));
                }
                Err(error) if !was_cut_off && error.cut_off_text().is_some() => {
                    was_cut_off = true;
                    request.ask_for_less(error.cut_off_text().unwrap_or_default());
                    continue;
                }
                Err(error) if error.kind == LlmErrorKind::OverBudget => {
                    judgement.reply = Observed::Failed(format!("{}{error}", grade::NOT_ASKED));
                    return Ok(());
                }
                Err(error) => {
                    if error.kind.is_of_all() {
                        last_failure.set_for_all();
                    }
                    judgement.reply = Observed::Failed(format!("{service}: {error}"));
                    return Ok(());
                }
            };
            let read = match reply.text.len() > LONGEST_REPLY {
                true => Err(ReplyError::TooLong(LONGEST_REPLY >> 10)),
                false => grade::read_reply(&engine.plan.job, input, &question, &reply.text),
            };
            if reply.is_cached && read.is_err() {
                // It could be used when it was kept, by other rules: that is no fault of the judge's.
                cache = &Cache::OFF;
                continue;
            }
            if read.is_ok() {
                cache.keep(judge, &request, &reply).await;
            }
            for note in reply.notes {
                if !judgement.notes.contains(&note) {
                    judgement.notes.push(note);
                }
            }
            judgement.alternatives = alternatives_of(&question.metric, &reply.tokens);
            judgement.is_cached = reply.is_cached;
            let raw = shortened(reply.text);
            let Err(error) = read else {
                judgement.reply = Observed::Seen(raw);
                return Ok(());
            };
            // Asked once more for evidence, it has none: the verdicts that rest on some count, the others are missing.
            if matches!(error, ReplyError::InPart(_)) && std::mem::replace(&mut was_without_evidence, true) {
                judgement.reply = Observed::Seen(raw);
                return Ok(());
            }
            let why = error.to_string();
            judgement.rejected.push((raw.clone(), why.clone()));
            let why = why.trim_end_matches('.');
            if judgement.rejected.len() == TRIES {
                // The template of a user's own is that of tasks and tone.
                let or_prompt =
                    if ["tasks", "tone"].contains(&&*question.metric) { ", or another scorer.prompt" } else { "" };
                judgement.reply = Observed::Failed(format!(
                    "no usable verdict in {TRIES} tries: {why}; try another scorer.model{or_prompt}"
                ));
                return Ok(());
            }
            request.messages.push(Message::new(Role::Assistant, raw));
            request.messages.push(Message::new(
                Role::User,
                format!("That verdict could not be used: {why}. Reply again with the whole verdict, and nothing else."),
            ));
        }
    }
}

/// A reply, or the beginning of one that is too long to be read.
fn shortened(reply: String) -> String {
    if reply.len() <= LONGEST_REPLY {
        return reply;
    }
    let end = (0..=KEPT_OF_REPLY).rev().find(|at| reply.is_char_boundary(*at)).unwrap_or_default();
    format!("{}… [{} more bytes]", &reply[..end], reply.len() - end)
}

/// The judge that answers, and its model.
fn service(to: QuestionTo, model: &dyn Llm) -> String {
    match to {
        QuestionTo::Judge => format!("the judge's model {}", model.name()),
        QuestionTo::Embeddings => format!("the model of embeddings {}", model.name()),
    }
}

/// The cache, for a question that may be answered from it: to a judge at temperature 0 that is asked it once, about a conversation
/// that is run for the first time. Several samples or repetitions are there to differ.
fn cache_for<'a>(engine: &'a Engine, id: &TrialId, question: &Question) -> &'a Cache {
    let is_alone = question.sample == 1 && question.samples == 1 && id.repeat == 1;
    let may_be_kept = question.to == QuestionTo::Judge && question.temperature == 0.0 && is_alone;
    if may_be_kept { &engine.cache } else { &Cache::OFF }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_reply_without_end_the_beginning_is_kept() {
        assert_eq!(shortened("fine".to_owned()), "fine");
        let long = shortened("é".repeat(200_000));
        assert!(
            long.starts_with('é') && long.ends_with("… [395904 more bytes]") && long.len() < 5_000,
            "{}",
            long.len()
        );
    }
}
