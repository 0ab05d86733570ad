//! Asks a judge about stored conversations.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

use super::abort::SetupError;
use super::judge::{JudgedTrial, PlacedQuestion};
use super::metered_call::LastFailure;
use super::trial::TrialAbort;
use super::{Durability, Engine};
use crate::evidence::{AskedQuestion, Evidence, Judgement, Observed, Question, TrialId, Usage};
use crate::grade;
use crate::job::Case;
use crate::record::Entry;

/// A stored conversation, with questions for a judge.
pub struct StoredConversation {
    /// Its trial.
    pub trial: TrialId,
    /// Its case.
    pub case: Arc<Case>,
    /// Its evidence.
    pub evidence: Evidence,
    /// The questions to ask, each with its place among all about the conversation.
    pub questions: Vec<PlacedQuestion>,
}

/// The reason why asking stopped early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskingStopped {
    /// The user interrupted it.
    Interrupted,
    /// A limit is reached: the limit, in a sentence.
    LimitReached(String),
    /// The judge's model refuses what it was asked first, and would refuse the rest: why, in a sentence.
    Refused(String),
}

/// Asks the engine's judge about stored conversations, each read when its turn comes. Answers and the cost of all requests,
/// interrupted ones included, are appended to the sink. `None` where everything was asked.
///
/// # Errors
/// Those of the conversations or the sink.
pub async fn ask_again<E: From<std::io::Error>>(
    engine: &Engine,
    mut conversations: impl Iterator<Item = Result<StoredConversation, E>>,
    interrupt: &CancellationToken,
) -> Result<Option<AskingStopped>, E> {
    let mut stopped = None;
    // The first question is asked alone: a wrong key or model is found by one request.
    if let Some(first) = conversations.next() {
        let asked = tokio::select! {
            biased;
            () = interrupt.cancelled() => return Ok(Some(AskingStopped::Interrupted)),
            asked = ask_about::<E>(engine, first?) => asked?,
        };
        match asked {
            Some(refused @ AskingStopped::Refused(_)) => return Ok(Some(refused)),
            other => stopped = other,
        }
    }
    let asked = stream::iter(conversations).map(async |conversation| ask_about::<E>(engine, conversation?).await);
    let mut asked = std::pin::pin!(asked.buffer_unordered(engine.max_concurrency.max(1)));
    loop {
        let next = tokio::select! {
            biased;
            () = interrupt.cancelled() => return Ok(Some(AskingStopped::Interrupted)),
            next = asked.next() => next,
        };
        match next {
            None => return Ok(stopped),
            Some(asked) => match asked? {
                // Others were answered.
                None | Some(AskingStopped::Refused(_)) => {}
                limit => stopped = limit,
            },
        }
    }
}

/// Asks about one conversation, if what that may cost can be paid; `None` where it could be asked.
async fn ask_about<E: From<std::io::Error>>(
    engine: &Engine,
    conversation: StoredConversation,
) -> Result<Option<AskingStopped>, E> {
    let StoredConversation { trial: id, case, evidence, questions } = conversation;
    let trial = id.number;
    if questions.is_empty() {
        return Ok(None);
    }
    if !engine.budget.admits(trial, 1).await {
        let limit = engine.budget.spend_tracker.limit_exceeded();
        let why = limit.map_or_else(|| "a limit is reached".to_owned(), |limit| limit.to_string());
        return Ok(Some(AskingStopped::LimitReached(why)));
    }
    let last_failure = LastFailure::default();
    let input = grade::metric_input(&engine.plan.job, &case, &evidence, engine.clock);
    let judged = JudgedTrial { engine, id: &id, input: &input };
    let mut kept = Vec::with_capacity(questions.len());
    let open = engine.cassette.open(&id);
    open.tape().begin_attempt(0);
    let asked = tokio::select! {
        biased;
        stopped = open.tape().stopped() => Err(TrialAbort::of_replay(stopped, open.tape())),
        asked = judged.ask_all(questions.clone(), &last_failure, &mut kept) => asked,
    };
    open.tape().end();
    match asked {
        Ok(()) => {}
        Err(TrialAbort::Sink(error)) => return Err(error.into()),
        Err(stop) => {
            let error = SetupError::from(stop).to_string();
            let is_left = |placed: &PlacedQuestion| kept.iter().all(|(place, _)| *place != placed.place);
            let left: Vec<PlacedQuestion> = questions.into_iter().filter(is_left).collect();
            for PlacedQuestion { place, question } in left {
                let (question, judgement) = no_reply(engine, &question, &error);
                let question = Some(Box::new(question));
                engine.sink.append(Entry::Judged {
                    trial,
                    question,
                    judgement: judgement.clone(),
                    place: Some(place),
                })?;
                kept.push((place, judgement));
            }
        }
    }
    let of_failure = |judgement: &Judgement| match &judgement.reply {
        Observed::Failed(error) => Some(error.clone()),
        Observed::Seen(_) => None,
    };
    kept.sort_by_key(|(place, _)| *place);
    let why = kept.iter().rev().find_map(|(_, judgement)| of_failure(judgement)).unwrap_or_default();
    engine.sink.kept(Durability::Machine).await?;
    engine.budget.trial_ended(trial);
    // Of a panel some may refuse for good and others answer.
    let nobody_answered = kept.iter().all(|(_, judgement)| matches!(judgement.reply, Observed::Failed(_)));
    Ok((last_failure.is_for_all() && nobody_answered).then_some(AskingStopped::Refused(why)))
}

fn no_reply(engine: &Engine, question: &Question, error: &str) -> (AskedQuestion, Judgement) {
    let judgement = Judgement {
        question: question.id.clone(),
        judge: engine.clients.answerer(question).name().to_owned(),
        sample: question.sample,
        reply: Observed::Failed(error.to_owned()),
        rejected: Vec::new(),
        alternatives: Vec::new(),
        usage: Usage::default(),
        is_cached: false,
        notes: question.cuts.clone(),
    };
    (AskedQuestion::new(question), judgement)
}
