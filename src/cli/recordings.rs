//! Conversations that were run, of files and of runs that eval-job kept: what `--actual` and `--from-trace` name.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::{Value, json};

use super::datasets::reading_warning;
use super::error::CliError;
use crate::agent::Ability;
use crate::dataset::{DiskFiles, Recorded, RecordingKey, Recordings};
use crate::evidence::{Evidence, TrialId};
use crate::job::{Problems, Target};
use crate::plan::Refusal;
use crate::record::{RunRecord, TrialRecord};
use crate::report::plain;
use crate::secret::Redactor;
use crate::store::folder::{JournalFile, RunsFolder, read_journal};
use crate::store::{Store, StoreError, StoredRun};

/// A conversation that was run.
pub(super) enum ReadConversation {
    /// A recorded conversation, or why it can't be read.
    Recorded(Result<Box<Recorded>, Problems>),
    /// One of our own runs.
    Own(Box<TrialRecord>),
}

/// Where conversations are.
enum ConversationSource {
    Given(Vec<Recorded>),
    Files(Recordings),
    Run(Box<JournalFile>),
    Record(Vec<TrialRecord>),
}

/// The index of a conversation, before it is read.
pub(super) struct RecordedConversationKey {
    /// The keys by which it is matched.
    pub(super) key: RecordingKey,
    /// Which trial of its own run it was.
    pub(super) own: Option<Box<TrialId>>,
}

/// The recorded conversations that the command reads.
#[derive(Default)]
pub(super) struct RecordedConversations {
    sources: Vec<ConversationSource>,
    /// Their index, in their order.
    pub(super) keys: Vec<RecordedConversationKey>,
    /// Their files, each with what it is.
    pub(super) files: Vec<String>,
    /// Oddities.
    pub(super) warnings: Vec<String>,
}

impl RecordedConversations {
    /// Looks through everything that was named.
    pub(super) fn open(names: &[String], runs: &Path, redactor: &Redactor) -> Result<RecordedConversations, CliError> {
        let (mut held, mut problems) = (RecordedConversations::default(), Vec::new());
        for typed in names {
            match held.add(typed, runs, redactor) {
                Err(CliError::InvalidJobs(of_file)) => problems.extend(of_file),
                other => other?,
            }
        }
        if problems.is_empty() { Ok(held) } else { Err(CliError::InvalidJobs(problems)) }
    }

    /// Conversations that were read already, each with what it is matched by.
    pub(super) fn from_conversations(conversations: Vec<(RecordingKey, Recorded)>) -> RecordedConversations {
        let (keys, conversations): (Vec<RecordingKey>, Vec<Recorded>) = conversations.into_iter().unzip();
        let mut files: Vec<String> = keys.iter().map(|key| key.file.display().to_string()).collect();
        files.dedup();
        let keys = keys.into_iter().map(|key| RecordedConversationKey { key, own: None }).collect();
        RecordedConversations {
            sources: vec![ConversationSource::Given(conversations)],
            keys,
            files,
            warnings: Vec::new(),
        }
    }

    fn add(&mut self, typed: &str, runs: &Path, redactor: &Redactor) -> Result<(), CliError> {
        let path = Path::new(typed);
        if !path.exists() {
            let no_run = |error: StoreError| match error {
                StoreError::NoSuchRun { .. } | StoreError::NoRuns { .. } => no_such(typed, runs),
                other => other.into(),
            };
            return self.add_run(RunsFolder::at(runs).open(Some(typed)).map_err(no_run)?, redactor);
        }
        if path.join("journal.ndjson").is_file() {
            let folder = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
            let (parent, name) = (folder.parent().unwrap_or(Path::new(".")), folder.file_name().unwrap_or_default());
            return self.add_run(RunsFolder::at(parent).open(Some(&name.to_string_lossy()))?, redactor);
        }
        match own_record(path)? {
            Some(trials) => self.add_record(path, trials),
            None => {
                let recordings = Recordings::open(path, &DiskFiles);
                let mut recordings = recordings.map_err(|problems| CliError::InvalidJobs(vec![problems]))?;
                self.warnings.extend(recordings.warnings.iter().map(reading_warning));
                self.files
                    .extend(recordings.files().map(|(path, kind)| format!("{} ({})", path.display(), kind.name())));
                let keys = std::mem::take(&mut recordings.keys).into_iter();
                self.keys.extend(keys.map(|key| RecordedConversationKey { key, own: None }));
                self.sources.push(ConversationSource::Files(recordings));
            }
        }
        Ok(())
    }

    fn add_run(&mut self, run: JournalFile, redactor: &Redactor) -> Result<(), CliError> {
        let mut run = run.with_redactor(redactor.clone());
        let path = run.path().to_path_buf();
        run.read(|_, _| {})?;
        for trial in run.trials() {
            self.keys.push(own_key(&path, &trial?));
        }
        self.files.push(format!("{} (a run of eval-job's)", path.display()));
        self.sources.push(ConversationSource::Run(Box::new(run)));
        Ok(())
    }

    fn add_record(&mut self, path: &Path, trials: Vec<TrialRecord>) {
        self.keys.extend(trials.iter().map(|trial| own_key(path, trial)));
        self.files.push(format!("{} (a record of eval-job's)", path.display()));
        self.sources.push(ConversationSource::Record(trials));
    }

    /// The conversation of this key, which is asked for once; `None` where it is one of a run of our own, whose trials are read in
    /// their order.
    pub(super) fn conversation(&self, mut key: usize) -> Option<ReadConversation> {
        for source in &self.sources {
            let ConversationSource::Files(recordings) = source else { return None };
            if key < recordings.count() {
                return recordings.conversation(key, &DiskFiles).map(|it| ReadConversation::Recorded(it.map(Box::new)));
            }
            key -= recordings.count();
        }
        None
    }

    /// Whether each can be read for itself.
    pub(super) fn is_of_files(&self) -> bool {
        self.sources.iter().all(|source| matches!(source, ConversationSource::Files(_)))
    }

    /// The conversations in the order of the keys, each read when it is asked for.
    pub(super) fn conversations(&self) -> impl Iterator<Item = Result<ReadConversation, StoreError>> {
        self.sources.iter().flat_map(|source| -> Box<dyn Iterator<Item = Result<ReadConversation, StoreError>>> {
            let own = |trial: TrialRecord| ReadConversation::Own(Box::new(trial));
            match source {
                ConversationSource::Given(given) => {
                    Box::new(given.iter().cloned().map(|it| Ok(ReadConversation::Recorded(Ok(Box::new(it))))))
                }
                ConversationSource::Files(recordings) => Box::new(
                    recordings.conversations(&DiskFiles).map(|it| Ok(ReadConversation::Recorded(it.map(Box::new)))),
                ),
                ConversationSource::Run(run) => Box::new(run.trials().map(move |trial| trial.map(own))),
                ConversationSource::Record(trials) => Box::new(trials.iter().cloned().map(move |trial| Ok(own(trial)))),
            }
        })
    }
}

impl RecordedConversations {
    /// The target of the run that they are of, its secrets cleared; `None` where they are of anything else.
    pub(super) fn target(&self) -> Option<&serde_json::Value> {
        match self.sources.as_slice() {
            [ConversationSource::Run(run)] => run.job.as_deref()?.get("target"),
            _ => None,
        }
    }

    /// All of them in which a user says something: what a case can be made of.
    pub(super) fn with_users(self) -> Result<Vec<Recorded>, CliError> {
        let mut conversations = Vec::new();
        for conversation in self.conversations() {
            let recorded = conversation?.into_recorded()?;
            conversations.extend(recorded.filter(|it| it.turns.iter().any(|turn| !turn.is_greeting())));
        }
        if conversations.is_empty() {
            return Err(CliError::Unprepared(Refusal::new(
                format!("no message of a user is recorded in {}", plain(&self.files.join(" and "))),
                "another recording: a case needs what its user says",
            )));
        }
        Ok(conversations)
    }
}

impl ReadConversation {
    /// The evidence, wherever it was kept; `None` where there is none.
    pub(super) fn into_recorded(self) -> Result<Option<Recorded>, CliError> {
        match self {
            ReadConversation::Recorded(recorded) => {
                recorded.map(|it| Some(*it)).map_err(|problems| CliError::InvalidJobs(vec![problems]))
            }
            ReadConversation::Own(trial) => {
                let id = trial.trial.case;
                let recorded =
                    |evidence: Evidence| Recorded { id, turns: evidence.transcript.turns, ..Recorded::default() };
                Ok(trial.evidence.map(recorded))
            }
        }
    }
}

fn own_key(path: &Path, trial: &TrialRecord) -> RecordedConversationKey {
    let session = trial.evidence.as_ref().map(|evidence| evidence.session_id.clone());
    let (file_stem, file) = ("".into(), path.into());
    let key = RecordingKey {
        id: trial.trial.case.clone(),
        other_ids: Vec::new(),
        model: None,
        session,
        file_stem,
        file,
        line: 1,
    };
    RecordedConversationKey { key, own: Some(Box::new(trial.trial.clone())) }
}

/// The trials of a journal or a record of our own; `None` where the file is something else.
fn own_record(path: &Path) -> Result<Option<Vec<TrialRecord>>, CliError> {
    const HEAD: u64 = 4096;
    let unreadable = |why: String| CliError::Store(StoreError::Unreadable { path: path.to_path_buf(), why });
    let mut head = Vec::new();
    // Looking for recordings reports what can't be read.
    if !path.is_file() {
        return Ok(None);
    }
    let Ok(mut file) = File::open(path) else { return Ok(None) };
    if file.by_ref().take(HEAD).read_to_end(&mut head).is_err() {
        return Ok(None);
    }
    let head = String::from_utf8_lossy(&head);
    if head.starts_with(r#"{"kind":"runStarted""#) {
        let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
        let record = RunRecord::from_entries(read_journal(&bytes).entries);
        return Ok(Some(record.ok_or_else(|| unreadable("it has no beginning".to_owned()))?.trials));
    }
    let is_record = ["\"version\"", "\"startedAt\"", "\"provenance\""].iter().all(|key| head.contains(key));
    if !is_record {
        return Ok(None);
    }
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    let parsed = match serde_json::from_str::<DocumentShape>(&text) {
        Ok(DocumentShape { runs: Some(_) }) => serde_json::from_str(&text).map(|several: SeveralRuns| several.runs),
        _ => serde_json::from_str(&text).map(|record: RunRecord| vec![record]),
    };
    let records = parsed.map_err(|error| unreadable(error.to_string()))?;
    Ok(Some(records.into_iter().flat_map(|record| record.trials).collect()))
}

/// Whether a document is of several runs, without holding any of it.
#[derive(serde::Deserialize)]
struct DocumentShape {
    runs: Option<serde::de::IgnoredAny>,
}

/// The document of several runs.
#[derive(serde::Deserialize)]
struct SeveralRuns {
    runs: Vec<RunRecord>,
}

fn no_such(typed: &str, runs: &Path) -> CliError {
    CliError::Unprepared(Refusal::new(
        format!("there is no file {}, and no run of that id in {}", plain(typed), runs.display()),
        "the path of a file or a folder, or the id of a run: eval-job list",
    ))
}

/// The metrics of cases that are made of recorded conversations: those that need what the target can't report are left out, with a
/// note. A target that is not named yet may report everything.
pub(super) fn recorded_metrics(target: Option<&Target>) -> (Value, Option<String>) {
    let unable = target.map(|it| &it.transport).filter(|transport| !transport.can(Ability::ReportsTools));
    match unable {
        None => (json!([{ "trajectory": {}, "threshold": 1.0 }, "rouge"]), None),
        Some(transport) => {
            let (key, help) = (transport.key(), transport.how_to_report_calls());
            let note =
                format!("the metric trajectory is left out, as target.{key} can't report function calls; {help}");
            (json!(["rouge"]), Some(note))
        }
    }
}
