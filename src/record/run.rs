//! The one document that a run comes to.

use std::io::{self, Write};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::figures;
use super::{Entry, FORMAT_VERSION, ModelFigure, Provenance, TrialRecord, Verdict};
use crate::evidence::{Evidence, Observed};

/// Everything about a run, in one document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRecord {
    /// The format's version.
    pub version: u32,
    /// The run's id.
    pub id: String,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// When it ended; `None` when it was killed.
    pub finished_at: Option<DateTime<Utc>>,
    /// Whether its user stopped it.
    pub interrupted: bool,
    /// The limit of the whole run that ended it, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_reached: Option<String>,
    /// What it was made of.
    pub provenance: Provenance,
    /// Its trials, in the order of the plan.
    pub trials: Vec<TrialRecord>,
    /// Each model's figure.
    pub figures: Vec<ModelFigure>,
    /// What it all means.
    pub verdict: Verdict,
}

impl RunRecord {
    /// The record that a journal adds up to; `None` if it has no beginning.
    pub fn of(entries: impl IntoIterator<Item = Entry>) -> Option<RunRecord> {
        let mut entries = entries.into_iter();
        let mut record = RunRecord::begin(&entries.next()?)?;
        entries.for_each(|entry| record.apply(entry));
        // Once, at the end: each figure looks at all trials.
        record.conclude();
        Some(record)
    }

    /// The record of a run whose journal begins with this entry; `None` if it is not a beginning.
    fn begin(entry: &Entry) -> Option<RunRecord> {
        let Entry::RunStarted { version, id, at, provenance, trials } = entry else { return None };
        Some(RunRecord {
            version: *version,
            id: id.clone(),
            started_at: *at,
            finished_at: None,
            interrupted: false,
            limit_reached: None,
            provenance: (**provenance).clone(),
            trials: trials.iter().cloned().map(TrialRecord::planned).collect(),
            figures: Vec::new(),
            verdict: Verdict::Incomplete,
        })
    }

    /// Takes in the next entry of the journal. An entry of a trial that the run does not have is passed over.
    fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::RunStarted { .. } => {}
            Entry::TrialStarted { trial, at } => {
                if let Some(trial) = self.trial(trial) {
                    trial.started_at = Some(at);
                }
            }
            Entry::SessionOpened { trial, session_id, user } => {
                if let Some(trial) = self.trial(trial) {
                    trial.evidence = Some(Evidence::of_session(session_id, user, &trial.trial));
                }
            }
            Entry::LookedBefore { trial, before, empty } => {
                if let Some(evidence) = self.evidence(trial) {
                    (evidence.before, evidence.empty) = (Some(before), Some(empty));
                }
            }
            Entry::UserSaid { trial, text, .. } => {
                if let Some(trial) = self.trial(trial) {
                    trial.pending = Some(text);
                }
            }
            Entry::TurnFinished { trial, turn } => {
                if let Some(trial) = self.trial(trial) {
                    trial.pending = None;
                    if let Some(evidence) = &mut trial.evidence {
                        evidence.transcript.turns.push(turn);
                    }
                }
            }
            Entry::GraphChanged { trial, changes } => {
                if let Some(evidence) = self.evidence(trial) {
                    match &mut evidence.changes {
                        Some(Observed::Seen(seen)) => seen.extend(changes),
                        unseen => *unseen = Some(Observed::Seen(changes)),
                    }
                }
            }
            Entry::ConversationEnded {
                trial,
                ending,
                object_context,
                queries,
                changes,
                persona_usage,
                persona_notes,
            } => {
                if let Some(evidence) = self.evidence(trial) {
                    evidence.ending = ending;
                    evidence.object_context = object_context;
                    evidence.queries = queries;
                    // A conversation that was cut off keeps what was seen while it went on.
                    evidence.changes = changes.or(evidence.changes.take());
                    evidence.persona_usage = persona_usage;
                    evidence.persona_notes = persona_notes;
                }
            }
            Entry::Primed { trial, usage } => {
                if let Some(trial) = self.trial(trial) {
                    (trial.was_primed, trial.priming_usage) = (true, usage);
                }
            }
            Entry::ModelAsked { trial, call } => {
                if let Some(trial) = self.trial(trial) {
                    trial.calls.push(call);
                }
            }
            Entry::LimitReached { why, .. } => self.limit_reached = Some(why),
            Entry::Judged { trial, judgement } => {
                if let Some(trial) = self.trial(trial) {
                    trial.judgements.push(judgement);
                }
            }
            Entry::AgentOutput { trial, output } => {
                if let Some(trial) = self.trial(trial) {
                    trial.agent_output = Some(output);
                }
            }
            Entry::AgentRefused { trial, refusals } => {
                if let Some(trial) = self.trial(trial) {
                    trial.refusals = Some(refusals);
                }
            }
            Entry::TrialFinished { trial, at, outcome, scorecard } => {
                if let Some(trial) = self.trial(trial) {
                    trial.finished_at = Some(at);
                    trial.outcome = Some(outcome);
                    trial.scorecard = scorecard;
                }
            }
            Entry::RunFinished { at, interrupted } => {
                self.finished_at = Some(at);
                self.interrupted = interrupted;
            }
        }
    }

    /// The document as indented JSON with a newline at its end: what `run.json` and `-o FILE.json` hold.
    ///
    /// # Errors
    /// Never, in practice: a record has no maps with other keys than strings.
    pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        let mut json = serde_json::to_vec_pretty(self)?;
        json.push(b'\n');
        Ok(json)
    }

    /// The same, written piece by piece.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_json(&self, mut to: impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut to, self)?;
        to.write_all(b"\n")
    }

    /// Whether this version of eval-job can read it.
    pub fn is_readable(&self) -> bool {
        self.version <= FORMAT_VERSION
    }

    /// The trials of one of the agent's models.
    pub fn trials_of<'a>(&'a self, model: &'a str) -> impl Iterator<Item = &'a TrialRecord> {
        self.trials.iter().filter(move |trial| trial.trial.model == model)
    }

    fn evidence(&mut self, number: u32) -> Option<&mut Evidence> {
        self.trial(number)?.evidence.as_mut()
    }

    fn trial(&mut self, number: u32) -> Option<&mut TrialRecord> {
        // Numbers count from 1 in the order of the plan, so a trial nearly always stands in its number's place.
        let place = (number as usize).checked_sub(1)?;
        let place = match self.trials.get(place) {
            Some(trial) if trial.trial.number == number => place,
            _ => self.trials.iter().position(|trial| trial.trial.number == number)?,
        };
        self.trials.get_mut(place)
    }

    /// Whether another repetition of a trial has a figure.
    pub(super) fn is_scored_elsewhere(&self, trial: &TrialRecord) -> bool {
        let figure = self.figures.iter().find(|figure| figure.model == trial.trial.model);
        let case = figure.and_then(|figure| figure.cases.iter().find(|it| it.case == trial.trial.case));
        let condition = case.and_then(|case| case.conditions.iter().find(|it| it.condition == trial.trial.condition));
        condition.is_some_and(|condition| condition.n > 0)
    }

    fn conclude(&mut self) {
        self.figures =
            self.provenance.models.iter().map(|model| figures::of_model(model, self.trials_of(model))).collect();
        self.verdict = Verdict::of(self);
    }
}
