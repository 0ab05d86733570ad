//! A whole run as one document.

use std::cell::RefCell;
use std::io::{self, Write};
use std::ops::Deref;
use std::rc::Rc;

use serde::{Deserialize, Serialize, Serializer};

use super::{Doubts, Entry, Fold, LaterEntries, RunSummary, TrialRecord};
use crate::evidence::figures::{FigureDocument, figures};
use crate::evidence::{Condition, Speaker, TranscriptDigest, TrialId};
use crate::statistics::FigureMethods;

/// Everything about a run in one document; it takes as much memory as all its conversations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The run's summary.
    #[serde(flatten)]
    pub summary: RunSummary,
    /// Its trials, in the order of the plan.
    pub trials: Vec<TrialRecord>,
}

impl RunRecord {
    /// The record that a journal adds up to; `None` if it has no beginning.
    pub fn from_entries(entries: impl IntoIterator<Item = Entry>) -> Option<RunRecord> {
        let entries: Vec<Entry> = entries.into_iter().collect();
        let later = LaterEntries::from_entries(&entries);
        let mut entries = entries.into_iter();
        let mut fold = Fold::begin(entries.next()?)?.with_later(later);
        let mut trials: Vec<TrialRecord> = entries.filter_map(|entry| Some(fold.take(entry)?.1)).collect();
        let overview = fold.end(|_, trial| trials.push(trial));
        trials.sort_by_key(|trial| trial.trial.number);
        Some(RunRecord { summary: overview.summary, trials })
    }
}

impl RunRecord {
    /// Which assertions may say nothing of the conversations.
    pub fn doubts(&self) -> Doubts {
        let mut doubts = Doubts::default();
        self.trials.iter().for_each(|trial| doubts.add(trial));
        doubts
    }
}

impl Deref for RunRecord {
    type Target = RunSummary;

    fn deref(&self) -> &RunSummary {
        &self.summary
    }
}

/// Writes that document, indented and with a newline at its end, while its trials are being read.
///
/// # Errors
/// [`DocumentError`]: a trial that can't be read, or a failing writer.
pub fn write_document<E>(
    summary: &RunSummary,
    trials: impl Iterator<Item = Result<TrialRecord, E>>,
    to: impl Write,
) -> Result<(), DocumentError<E>> {
    /// A trial, with the figures that inform.
    #[derive(Serialize)]
    struct TrialWithFigures {
        #[serde(flatten)]
        trial: TrialRecord,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        figures: Vec<FigureDocument>,
        #[serde(skip_serializing_if = "Option::is_none")]
        divergence: Option<ModelDivergence>,
    }

    #[derive(Serialize)]
    struct Document<'a, T: Serialize> {
        #[serde(flatten)]
        summary: &'a RunSummary,
        methods: FigureMethods,
        trials: T,
    }
    let mut first = FirstModel::new(summary);
    let mut with_figures = move |trial: TrialRecord| {
        let divergence = first.divergence(&trial);
        let turns = trial.evidence.as_ref().map(|evidence| evidence.transcript.turns.as_slice()).unwrap_or_default();
        let figures = if turns.is_empty() { Vec::new() } else { figures(turns) };
        TrialWithFigures { figures: figures.into_iter().map(FigureDocument::from).collect(), divergence, trial }
    };
    let trials = trials.map(move |trial| trial.map(&mut with_figures));
    write_streamed(trials, to, |trials| Document {
        summary,
        methods: FigureMethods::ALL,
        trials: Sequence::new(trials),
    })
}

/// Where a conversation and that of the run's first model part: of the same case, condition and repetition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelDivergence {
    /// The first model.
    pub from: String,
    /// The first turn in which they differ, 0 for the greeting; nothing where all is the same.
    pub turn: Option<u32>,
    /// The speaker of the first message that differs.
    pub by: Option<Speaker>,
}

/// The conversations of the first of several models, with which those of the others are compared. They come before them, case
/// by case: those of one case are held.
pub struct FirstModel {
    model: Option<String>,
    /// The case and the repetition.
    of: (String, u32),
    held: Vec<(Condition, TranscriptDigest)>,
}

impl FirstModel {
    /// The first model of a run; of a run of one model nothing is compared.
    pub fn new(summary: &RunSummary) -> FirstModel {
        let model = summary.provenance.models.first().filter(|_| summary.provenance.models.len() > 1).cloned();
        FirstModel { model, of: Default::default(), held: Vec::new() }
    }

    /// Takes in the next conversation, in the order of the plan. Returns where it and that of the first model part.
    pub fn divergence(&mut self, trial: &TrialRecord) -> Option<ModelDivergence> {
        let (first, transcript) = (self.model.as_ref()?, &trial.evidence.as_ref()?.transcript);
        let TrialId { case, model, condition, repeat, .. } = &trial.trial;
        let digest = TranscriptDigest::new(transcript);
        if self.of != (case.clone(), *repeat) {
            (self.of, self.held) = ((case.clone(), *repeat), Vec::new());
        }
        if model == first {
            self.held.push((*condition, digest));
            return None;
        }
        let (_, theirs) = self.held.iter().find(|(known, _)| known == condition)?;
        let parts = theirs.parts_at(&digest);
        let (turn, by) = (parts.map(|(turn, _)| turn), parts.map(|(_, by)| by));
        Some(ModelDivergence { from: first.clone(), turn, by })
    }
}

/// Writes a document with a sequence in it that is read meanwhile, up to its first failure.
///
/// # Errors
/// [`DocumentError`]: an item that can't be read, or a failing writer.
pub fn write_streamed<'i, T: 'i, E: 'i, D: Serialize>(
    items: impl Iterator<Item = Result<T, E>> + 'i,
    mut to: impl Write,
    document: impl FnOnce(Box<dyn Iterator<Item = T> + 'i>) -> D,
) -> Result<(), DocumentError<E>> {
    let failure = Rc::new(RefCell::new(None));
    let seen = failure.clone();
    let until_failure = items.map_while(move |item| item.map_err(|error| *seen.borrow_mut() = Some(error)).ok());
    let document = document(Box::new(until_failure));
    // As one type of writer: what writes a record is compiled once, and not for each kind of file.
    let one_type: &mut dyn Write = &mut to;
    let written = serde_json::to_writer_pretty(one_type, &document).map_err(io::Error::from);
    match failure.take() {
        Some(error) => Err(DocumentError::Read(error)),
        None => written.and_then(|()| to.write_all(b"\n")).and_then(|()| to.flush()).map_err(DocumentError::Write),
    }
}

/// Why a document could not be written.
#[derive(Debug)]
pub enum DocumentError<E> {
    /// The trials could not be read.
    Read(E),
    /// The writer failed.
    Write(io::Error),
}

/// An iterator as a JSON array.
pub struct Sequence<I>(RefCell<I>);

impl<I> Sequence<I> {
    /// Wraps an iterator; serialising consumes it.
    pub fn new(items: I) -> Sequence<I> {
        Sequence(RefCell::new(items))
    }
}

impl<I: Iterator<Item: Serialize>> Serialize for Sequence<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&mut *self.0.borrow_mut())
    }
}
