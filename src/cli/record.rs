//! `eval-job record JOB`: a person plays the user against the live agent, and the conversation becomes a case.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::args::{CasesAddArgs, CasesCommand, RecordArgs, RunsArgs, SelectionArgs, runs_dir_flag};
use super::cases;
use super::certificates;
use super::context::Context;
use super::datasets::NOBODY;
use super::error::{CliError, FileArgument, RefusedJob};
use super::invocation::Invocation;
use super::jobs::Loaded;
use super::outputs::check_place;
use super::planning::{LoadArgs, load_all, surroundings};
use super::printer::Printer;
use super::recordings::{RecordedConversations, recorded_metrics};
use super::reindex;
use super::run::{runtime, waiting_line};
use super::signals::{FinishedPart, Signals};
use super::team;
use super::whole_file;
use crate::cache::Cache;
use crate::cassette::Cassette;
use crate::conversation::guard;
use crate::dataset::{self, Dataset};
use crate::evidence::{Role, Usage};
use crate::llm::{Llm, LlmError, LlmReply, LlmRequest, UsageMeter};
use crate::plan::{Overrides, Plan, Refusal};
use crate::record::{Entry, Provenance, Verdict};
use crate::report::{count, plain};
use crate::run::{self, Durability, Engine, RunDeps};
use crate::score::Outcome;
use crate::store::folder::{Journal, NewRun, RunsFolder};
use crate::store::{Store, StoredRun};

/// Ends the conversation.
const END: &str = "/end";

/// Holds one conversation with a person as its user, keeps it as a run, and makes a case of it.
pub(super) fn record(args: &RecordArgs, context: &Context, printer: &Arc<Printer>) -> Result<u8, CliError> {
    certificates::warn(context, printer);
    match args.output.as_deref() {
        Some(path) if path.is_file() => cases::check_addable(path, args.id.as_deref())?,
        // Before a person has talked.
        Some(path) => check_place(path)?,
        None => {}
    }
    let files = std::slice::from_ref(&args.file);
    let argument = FileArgument::job("eval-job record");
    let read_by = LoadArgs { data: &args.data, selection: &SelectionArgs::default(), files: &args.files };
    let (mut jobs, notes) = load_all(files, argument, read_by, context)?;
    notes.iter().for_each(|note| printer.note(&format!("note: {}", plain(note))));
    if jobs.is_empty() {
        let what = format!("{} has no case", plain(&args.file.display().to_string()));
        return Err(CliError::Unprepared(Refusal::new(what, "name a job, or another system's file with --target")));
    }
    let Loaded { file, text, job, templates, .. } = jobs.swap_remove(0);
    if !job.persona.tools.is_empty() {
        printer.note("note: evaluator.tools are the simulated user's, and none of them is called here: say what you would see and do");
    }
    let wanted = Overrides { models: args.model.iter().take(1).cloned().collect(), ..Overrides::default() };
    let plan = Plan::for_person(job, wanted, surroundings(context))
        .map_err(|refusals| CliError::Refused(vec![RefusedJob::new(file.clone(), Some(text), refusals)]))?;
    let job = plan.job.clone();

    let runtime = runtime()?;
    let signals = Signals::listen(printer.clone())?;
    let mut chance = fastrand::Rng::with_seed(Context::random());
    let runs = RunsFolder::at(&args.runs.runs_dir);
    let created = runs.create(&job.name, context.clock.wall(), &mut chance).map_err(CliError::NoRunsFolder)?;
    let NewRun { id, folder, journal } = created;
    let kept = JournalSink(journal.with_redactor(context.redactor().clone()));
    let later = format!("eval-job import --from-trace {id}{}", runs_dir_flag(&args.runs.runs_dir));
    signals.kept_at(FinishedPart {
        text: format!("ended at once: what was said is kept; a case of it: {later}"),
        write: Arc::new(|| None),
        written: Default::default(),
    });
    let deps = RunDeps {
        id: id.clone(),
        templates,
        credentials: context.credentials.clone(),
        clock: context.clock,
        rng_seed: Context::random(),
        random: Box::new(Context::random),
        on_wait: Some(waiting_line(printer.clone())),
        max_concurrency: 1,
        sink: Arc::new(kept),
        person: Some(Arc::new(Person { printer: printer.clone(), is_closed: AtomicBool::new(false) })),
        cassette: Cassette::Off,
        cache: Cache::OFF,
    };
    let held = runtime.block_on(async {
        let engine = Arc::new(Engine::new(plan, deps).map_err(|error| CliError::Internal(error.to_string()))?);
        let lanes = engine.plan.lanes();
        let provenance = Provenance { by_person: true, ..engine.provenance(&file) };
        let found = run::preflight(&engine, run::KeyCheck::Skip, &signals.interrupt).await.unwrap_or_default();
        if !found.failures.is_empty() {
            RunsFolder::delete_unbegun(&folder);
            return Err(CliError::NotReady { file: file.clone(), failures: found.failures });
        }
        printer.note(&format!("You are the user: each line is a message. An empty line, {END} or Ctrl-D ends."));
        let held = run::run(engine, provenance, run::Rounds::one(lanes), signals.interrupt.clone()).await;
        held.map(drop).map_err(|source| CliError::Journal {
            folder: folder.clone(),
            source,
            next: Some(later.clone()),
            resume: None,
        })
    });
    runtime.shutdown_background();
    held?;

    let mut stored = runs.open(Some(&id))?.with_redactor(context.redactor().clone());
    let (mut turns, mut failed) = (0, None);
    let overview = stored.read(|_, trial| {
        // A person who says nothing has not failed.
        let broke = trial.outcome.as_ref().filter(|it| !matches!(it, Outcome::PersonaInvalid { .. }));
        failed = broke.and_then(Outcome::error).map(str::to_owned).or_else(|| failed.take());
        let of_trial = trial.evidence.iter().flat_map(|evidence| &evidence.transcript.turns);
        turns += of_trial.filter(|turn| !turn.is_greeting() && turn.agent.is_some()).count();
    })?;
    stored.write_summary(&overview.summary)?;
    reindex::index(&folder, context, printer);
    team::send(&args.runs.runs_dir, context, printer);
    printer.note(&format!("kept in {}: {}", folder.display(), count(turns, "turn")));
    if let Some(error) = &failed {
        let error = context.redactor().redact(error).into_owned();
        printer.note(&format!("the conversation broke off: {}; what was said before is kept", plain(&error)));
    }
    let status = if failed.is_some() { Verdict::Incomplete.exit_status() } else { 0 };
    if turns == 0 && failed.is_some() {
        return Ok(status);
    }
    if turns == 0 {
        let what = "nothing that the agent replied to was said, so there is no case".to_owned();
        return Err(CliError::Unprepared(Refusal::new(
            what,
            format!("show what there is: eval-job show {id} -v{}", runs_dir_flag(&args.runs.runs_dir)),
        )));
    }
    match &args.output {
        None => printer.note(&format!("make a case of it: {later} -o case.yml")),
        Some(path) => write(path, &id, &job, Invocation { args, context, printer }).inspect_err(|_| {
            printer.note(&format!("the conversation is kept all the same; a case of it: {later} -o PATH"));
        })?,
    }
    Ok(status)
}

/// Adds the case to a file that is there, or writes a job with it.
fn write(
    path: &Path,
    run: &str,
    job: &crate::job::Job,
    invocation: Invocation<'_, RecordArgs>,
) -> Result<(), CliError> {
    let Invocation { args: RecordArgs { id, runs, .. }, context, printer } = invocation;
    if path.is_file() {
        let add = CasesAddArgs {
            file: path.to_path_buf(),
            from: None,
            from_trace: Some(run.to_owned()),
            id: id.clone(),
            runs: RunsArgs { runs_dir: runs.runs_dir.clone() },
        };
        return cases::cases(&CasesCommand::Add(add), context, printer).map(drop);
    }
    let held = RecordedConversations::open(&[run.to_owned()], &runs.runs_dir, context.redactor())?;
    let mut lowered =
        dataset::lower(&Dataset::from_recorded(&job.name, held.with_users()?), &NOBODY.lowering(false)).document;
    let (metrics, note) = recorded_metrics(Some(&job.target));
    lowered["metrics"] = metrics;
    note.iter().for_each(|note| printer.note(&format!("note: {note}")));
    let whole = serde_json::to_value(job).unwrap_or_default();
    for key in ["target", "graph", "isolation"] {
        if let Some(value) = whole.get(key).filter(|value| !value.is_null()) {
            lowered[key] = value.clone();
        }
    }
    let case = &mut lowered["cases"][0];
    for key in ["setups", "seeds"] {
        if let Some(value) = whole["cases"][0].get(key).filter(|value| **value != Value::Null) {
            case[key] = value.clone();
        }
    }
    if let Some(id) = id {
        case["id"] = id.as_str().into();
    }
    let text = serde_saphyr::to_string(&lowered)
        .map_err(|error| CliError::Internal(format!("the case can't be written: {error}")))?;
    let text = format!("# Recorded by a person, run {run}\n{}", context.redactor().redact(&text));
    whole_file::write_new(path, text.as_bytes()).map_err(|source| match source.kind() {
        ErrorKind::AlreadyExists => CliError::Unprepared(Refusal::new(
            format!("{} is there already, and is no file", plain(&path.display().to_string())),
            "another path with -o PATH",
        )),
        _ => CliError::Unwritable { path: path.to_path_buf(), source, help: None },
    })?;
    printer.note(&format!("wrote {}: eval-job run {0} runs it again", plain(&path.display().to_string())));
    Ok(())
}

/// Keeps what happens in the journal.
struct JournalSink(Journal);

impl run::Sink for JournalSink {
    fn append(&self, entry: Entry) -> io::Result<()> {
        self.0.append(&entry).map(drop)
    }

    fn kept(&self, durability: Durability) -> BoxFuture<'_, io::Result<()>> {
        async move {
            match durability {
                Durability::Process => self.0.written().await,
                Durability::Machine => self.0.synced().await,
            }
        }
        .boxed()
    }
}

/// A person in the place of the persona's model: what the agent says is printed, what is typed is the reply.
struct Person {
    printer: Arc<Printer>,
    /// The input has ended.
    is_closed: AtomicBool,
}

impl Person {
    /// The next line; an empty one at the end of the input.
    async fn typed(&self) -> Result<String, LlmError> {
        self.printer.note("you:");
        let typed = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            io::stdin().read_line(&mut line).map(|_| line)
        });
        let line = typed.await.map_err(io::Error::other).flatten();
        let line = line.map_err(|error| LlmError::for_good(format!("the terminal can't be read: {error}")))?;
        self.is_closed.fetch_or(line.is_empty(), Ordering::Relaxed);
        Ok(line)
    }
}

#[async_trait]
impl Llm for Person {
    fn name(&self) -> &str {
        "person"
    }

    async fn complete_metered(&self, request: &LlmRequest, _: &UsageMeter) -> Result<LlmReply, LlmError> {
        let last = request.messages.last().filter(|message| message.role == Role::User);
        let said = last.and_then(|message| {
            let reply = message.content.strip_prefix("<agent-reply>")?.strip_suffix("</agent-reply>")?;
            Some(plain(&reply.replace("&lt;", "<")))
        });
        let is_closed = self.is_closed.load(Ordering::Relaxed);
        match (said, last) {
            (Some(said), _) => self.printer.lines(&format!("agent: {said}"), 7),
            // What it was asked again for can only be that it ended before anything was said.
            (None, Some(message)) if !is_closed && message.content.starts_with(guard::RETRY_OPENING) => {
                self.printer.note("nothing was asked for yet");
            }
            _ => {}
        }
        let line = if is_closed { String::new() } else { self.typed().await? };
        let reply = match line.trim() {
            "" | END => json!({ "message": null, "done": true, "reason": "the person ended the conversation" }),
            message => json!({ "message": message, "done": false, "reason": "" }),
        };
        Ok(LlmReply {
            text: reply.to_string(),
            usage: Usage::default(),
            notes: Vec::new(),
            tokens: Vec::new(),
            is_cached: false,
        })
    }
}
