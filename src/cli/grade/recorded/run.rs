//! Recorded conversations of a job as a run, kept like any other.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use super::super::super::args::{GradeArgs, runs_dir_flag};
use super::super::super::context::Context;
use super::super::super::error::CliError;
use super::super::super::jobs::Loaded;
use super::super::super::outputs::OutputRun;
use super::super::super::printer::Printer;
use super::super::super::recordings::RecordedConversations;
use super::super::super::reindex;
use super::super::super::stored::StoredPrompts;
use super::super::super::team;
use super::super::asking::JudgeSession;
use super::judged::ask_judge;
use super::keeper::{KeepError, KeptJudge, Large, RecordedGrader};
use super::kept::Kept;
use super::trials::Trials;
use crate::dataset::LargeDataset;
use crate::plan::Refusal;
use crate::record::{Overview, Verdict};
use crate::report::{self, Gathered};
use crate::store::folder::{JournalFile, NewRun, RunsFolder};
use crate::store::{Store, StoredRun};

/// A job, and the case of each conversation.
pub(in super::super) struct Matched {
    pub(in super::super) loaded: Loaded,
    /// The place of each conversation's case in `ids`.
    pub(in super::super) case_of: Vec<Option<usize>>,
    /// The ids of all its cases, those included that are not selected.
    pub(in super::super) ids: Vec<String>,
    /// Where its cases are read from, where they are too many to be run in memory.
    pub(in super::super) large: Option<LargeDataset>,
}

/// A run that was kept.
pub(in super::super) struct RecordedRun {
    /// Where its conversations are read from; `None` once it was handed on.
    pub(in super::super) stored: Option<JournalFile>,
    /// Where users say other things than their cases.
    pub(super) notes: Vec<String>,
    id: String,
    folder: PathBuf,
    read: Option<(Overview, Gathered, StoredPrompts)>,
}

/// The arguments by which recordings are graded, the context of the process, and what interrupts it.
#[derive(Clone, Copy)]
pub(in super::super) struct GradingScope<'a> {
    pub(in super::super) args: &'a GradeArgs,
    pub(in super::super) context: &'a Context,
    pub(in super::super) interrupt: &'a CancellationToken,
}

/// Grades a job's conversations, with the answers of a judge where one is asked, and keeps them as a run.
pub(in super::super) fn keep(
    matched: Matched,
    held: &RecordedConversations,
    scope: GradingScope<'_>,
    asking: Option<&JudgeSession<'_>>,
) -> Result<RecordedRun, CliError> {
    let GradingScope { args, context, interrupt } = scope;
    let Matched { mut loaded, case_of, ids, large } = matched;
    if large.is_some() && !held.is_of_files() {
        let what = format!("{} is too large to be compared with a run of eval-job's", loaded.file);
        let help = "some of its cases: FILE:case1,case2; or the recordings that the run was made of".to_owned();
        return Err(CliError::Unprepared(Refusal::new(what, help)));
    }
    loaded.job.gate.min_score = args.recorded.min_score.or(loaded.job.gate.min_score);
    let is_own = held.keys.iter().any(|held| held.own.is_some());
    let greetings = match is_own {
        true => Vec::new(),
        // Nobody knows of our greetings elsewhere: the first message is the first line.
        false => std::mem::take(&mut loaded.job.greetings),
    };
    let judge = match asking {
        Some(asking) => {
            let prices = asking.prices(&loaded.job, loaded.file.clone())?;
            loaded.job.judge.model.replace(&asking.judge);
            Some(KeptJudge { name: asking.judge.to_string(), prices })
        }
        None => None,
    };
    let trials = Trials::new(&loaded.job, held, &case_of, &ids);
    if large.is_some() {
        // Each is read with its conversations: the first one stands for all.
        loaded.job.cases.truncate(1);
    }
    let mut chance = fastrand::Rng::with_seed(Context::random());
    let runs = RunsFolder::at(&args.runs_dir.runs_dir);
    let created = runs.create(&loaded.job.name, context.clock.wall(), &mut chance);
    let NewRun { id, folder, journal } = created.map_err(CliError::NoRunsFolder)?;
    let journal = journal.with_redactor(context.redactor().clone());
    let notes = RefCell::default();
    let kept = Kept::new(journal);
    let waiting = BTreeMap::new();
    let mut keeper =
        RecordedGrader { kept, args, context, loaded: &loaded, greetings, notes, is_own, interrupt, judge, waiting };
    let places = large.map(|large| Large { large, ids: &ids });
    let kept = keeper.keep(&id, held, &trials, places.as_ref()).and_then(|()| match asking {
        Some(asking) => ask_judge(&mut keeper, &folder, asking),
        None => Ok(()),
    });
    kept.map_err(|error| match error {
        KeepError::Journal(source) => {
            let next = match RunsFolder::delete_unbegun(&folder) {
                true => "nothing was kept".to_owned(),
                false => format!("what was kept: {}", show_command(&id, args)),
            };
            CliError::Journal { folder: folder.clone(), source, next: Some(next), resume: None }
        }
        KeepError::Cli(error) => error,
    })?;
    // The summary takes the room of what found each conversation.
    drop((trials, places));
    drop((ids, case_of));
    let mut stored = JournalFile::from_journal(&folder, keeper.kept.journal());
    let (overview, gathered) = keeper.kept.end().ok_or_else(|| CliError::Internal("a run was lost".to_owned()))?;
    stored.write_summary(&overview.summary)?;
    if !args.output.is_empty() {
        // Its conversations are written to files.
        stored.read(|_, _| {})?;
    }
    let prompts = StoredPrompts::from_run(&stored, context.clock);
    let notes = keeper.notes.into_inner();
    Ok(RecordedRun { stored: Some(stored), notes, id, folder, read: Some((overview, gathered, prompts)) })
}

impl RecordedRun {
    /// Shows it, once others can find it, and returns its verdict.
    pub(super) fn show(&self, args: &GradeArgs, context: &Context, printer: &Printer) -> Result<Verdict, CliError> {
        let Some((overview, gathered, _)) = &self.read else { return Ok(Verdict::Incomplete) };
        reindex::index(&self.folder, context, printer);
        if let Some(runs) = self.folder.parent() {
            team::send(runs, context, printer);
        }
        printer.data(&report::terminal(overview, gathered, context.screen(args.verbose)))?;
        Ok(overview.summary.verdict)
    }

    /// Where it is, and how it is shown again.
    pub(in super::super) fn kept_text(&self, args: &GradeArgs) -> String {
        format!("kept in {}\nshow it again: {}", self.folder.display(), show_command(&self.id, args))
    }

    /// For the files of `-o`.
    pub(super) fn output(&self) -> Option<OutputRun<'_, JournalFile>> {
        let (overview, _, prompts) = self.read.as_ref()?;
        Some(OutputRun { run: self.stored.as_ref()?, prompts, overview })
    }
}

fn show_command(id: &str, args: &GradeArgs) -> String {
    format!("eval-job show {id}{}", runs_dir_flag(&args.runs_dir.runs_dir))
}
