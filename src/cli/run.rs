//! `eval-job run FILE…`

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::args::RunArgs;
use super::certificates;
use super::context::Context;
use super::error::{CliError, FileArgument, RefusedJob};
use super::planning::{Planned, plan_all};
use super::printer::Printer;
use super::progress::Progress;
use super::show::{Outputs, StoredPrompts, check_outputs};
use super::signals::{Kept, Signals};
use crate::limiter::{OnWait, WaitReason};
use crate::plan::{Plan, Refusal};
use crate::record::{Entry, Overview, RunSummary, Verdict};
use crate::report::{self, Gathered};
use crate::run::{self, DescriptorLimit, Durability, Engine, RunDeps};
use crate::store::folder::{Journal, JournalFile, NewRun, RunsFolder};
use crate::store::{Store, StoreError, StoredRun};

/// Runs jobs, one after the other. Everything that can be known to fail is refused before the first one begins.
pub(super) fn run(args: &RunArgs, context: &Context, printer: &Arc<Printer>) -> Result<u8, CliError> {
    check_outputs(&args.output)?;
    if args.files.len() > 1 && !args.output.is_empty() {
        return Err(CliError::SharedOutput(args.files.len()));
    }
    certificates::warn(context, printer);
    let runtime = runtime()?;
    let plans = {
        let _inside = runtime.enter();
        plan_all(&args.files, FileArgument::job("eval-job run"), &args.plan, context)?
    };
    let signals = Signals::listen(printer.clone())?;
    let worst = runtime.block_on(run_all(args, context, printer, plans, &signals));
    // Whatever hangs in a thread of its own must not keep the process from ending.
    runtime.shutdown_background();
    Ok(worst?.exit_status())
}

async fn run_all(
    args: &RunArgs,
    context: &Context,
    printer: &Arc<Printer>,
    plans: Vec<Planned>,
    signals: &Signals,
) -> Result<Verdict, CliError> {
    let mut worst = Verdict::Passed;
    for planned in plans {
        let verdict = run_one(args, context, printer, planned, signals).await?;
        worst = if verdict.exit_status() > worst.exit_status() { verdict } else { worst };
        if verdict == Verdict::Interrupted {
            break;
        }
    }
    Ok(worst)
}

/// The asynchronous runtime, started only by the subcommands that need it.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::Internal(format!("the runtime could not be started: {error}")))
}

async fn run_one(
    args: &RunArgs,
    context: &Context,
    printer: &Arc<Printer>,
    planned: Planned,
    signals: &Signals,
) -> Result<Verdict, CliError> {
    let Planned { file, templates, plan } = planned;
    for warning in &plan.warnings {
        printer.note(&format!("{}: warning · {}", report::plain(&file), report::plain(warning)));
    }
    let rng_seed = args.rng_seed.unwrap_or_else(Context::chance);
    let wanted = held_by_agent(args.max_concurrency, &plan, printer);
    let limit = run::descriptor_limit(&plan, usize::from(wanted));
    if let Some(limit) = limit {
        limited(limit, &file, wanted, printer)?;
    }
    let shown = context.stderr_is_tty || args.verbose;
    let on_wait = (shown && !args.no_progress).then(|| waiting_line(printer.clone()));
    let mut chance = fastrand::Rng::with_seed(Context::chance());
    let runs = RunsFolder::at(&args.runs.runs_dir);
    let created = runs.create(&plan.job.name, context.clock.wall(), &mut chance);
    let NewRun { id, folder, journal } = created.map_err(CliError::NoRunsFolder)?;

    let path = folder.display().to_string();
    signals.kept_at(kept_at_once(&id, &path, args, context));
    let keeper = Arc::new(Keeper {
        journal: journal.with_redactor(context.redactor().clone()),
        progress: Mutex::new(Progress::new(context, args.verbose, args.no_progress)),
        lines: Mutex::default(),
        showing: Mutex::default(),
        printer: printer.clone(),
    });
    let deps = RunDeps {
        id: id.clone(),
        templates,
        credentials: context.credentials.clone(),
        clock: context.clock,
        rng_seed,
        random: Box::new(Context::chance),
        on_wait,
        max_concurrency: limit.map_or(usize::from(wanted), |limit| limit.most as usize),
        sink: keeper.clone(),
    };
    let engine = Engine::new(plan, deps).map_err(|error| CliError::Internal(error.to_string()))?;
    let provenance = engine.provenance(&file);
    let (lanes, engine) = (engine.plan.lanes(), Arc::new(engine));
    let found = run::preflight(&engine, run::KeyCheck::Skip, &signals.interrupt).await.unwrap_or_default();
    let finished = if found.failures.is_empty() {
        if let (false, false) = (args.no_progress, found.ready.is_empty()) {
            printer.note(&format!("ready    {}", found.ready.join(" · ")));
        }
        run::run(engine, provenance, lanes, signals.interrupt.clone()).await.map(drop)
    } else {
        // Told once, in full; the record says it of every conversation.
        printer.error(&CliError::NotReady { file, failures: found.failures.clone() });
        keeper.progress().mute();
        run::refuse(engine, provenance, &found.failures).await
    };
    finished.map_err(|source| CliError::Journal { folder: folder.clone(), source })?;

    // The journal is the truth: nothing of the conversations was held in memory while they went on.
    let mut stored = JournalFile::from_journal(&folder, &keeper.journal);
    let mut gathered = Gathered::default();
    let overview = stored.read(|group, trial| gathered.add(group, trial))?;
    let kept = stored.write_summary(&overview.summary);
    let prompts = StoredPrompts::of(&stored);
    let written = Outputs { run: &stored, prompts: &prompts, overview: &overview }.write(&args.output);
    let verdict = overview.summary.verdict;
    if verdict != Verdict::Interrupted {
        if context.stderr_is_tty && !args.no_progress {
            // Where both streams meet on one screen, a blank line parts the progress from the report.
            printer.note("");
        }
        printer.data(&report::terminal(&overview, &gathered, context.screen(args.verbose)))?;
    }
    match kept {
        Ok(()) => printer.note(&kept_words(&overview, args, &path)),
        // What was shown is whole, and whoever moved the folder has the journal.
        Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            let what = match stored.is_deleted() {
                true => {
                    "it was deleted while the run went on. The report is whole, and it is all that is left of the run"
                }
                false => {
                    "it was moved while the run went on. The report is whole; summary.json was not written, and the \
                     journal is where the folder is now"
                }
            };
            printer.note(&format!("note: {path} is not there any more: {what}"));
        }
        Err(error) if verdict == Verdict::Passed => return Err(error.into()),
        // What the run came to says more.
        Err(error) => printer.error(&error.into()),
    }
    match written {
        Ok(()) => Ok(verdict),
        Err(error) => {
            let error = error.written_by(|path| show_command(&id, args, &[path]));
            if verdict == Verdict::Passed {
                return Err(error);
            }
            // What the run came to says more.
            printer.error(&error);
            Ok(verdict)
        }
    }
}

/// What whoever ends this process at once is told, and how the files of `-o` are written then: from the journal.
fn kept_at_once(id: &str, path: &str, args: &RunArgs, context: &Context) -> Kept {
    let show = show_words(id, "show what there is", args);
    let words = format!("ended at once: what was finished is kept in {path}\n{show}");
    let outputs: Vec<String> = args.output.iter().map(|path| path.display().to_string()).collect();
    let written = match outputs.is_empty() {
        true => Default::default(),
        false => {
            let command = show_words(id, "they are written by", args);
            let flags: String = outputs.iter().map(|path| format!(" -o {path}")).collect();
            let names = outputs.join(", ");
            [format!("\nwritten from what is kept: {names}"), format!("\nnot written: {names}; {command}{flags}")]
        }
    };
    let (id, runs, outputs) = (id.to_owned(), args.runs.runs_dir.clone(), args.output.clone());
    let redactor = context.redactor().clone();
    let write = move || {
        let mut run = RunsFolder::at(&runs).open(Some(&id)).ok()?.with_redactor(redactor.clone());
        let overview = run.read(|_, _| {}).ok()?;
        let prompts = StoredPrompts::of(&run);
        Outputs { run: &run, prompts: &prompts, overview: &overview }.write_at_once(&outputs).ok()
    };
    Kept { words, write: Arc::new(write), written }
}

/// Tells that fewer conversations are held at once than were asked for, or refuses where not even one can be.
fn limited(limited: DescriptorLimit, file: &str, asked: u16, printer: &Printer) -> Result<(), CliError> {
    let DescriptorLimit { most, each, limit, needed } = limited;
    if most == 0 {
        let what = format!("a conversation takes about {each} file descriptors, and this process may have {limit}");
        let refusals = vec![Refusal { what, help: format!("ulimit -n {needed}, or more") }];
        return Err(CliError::Refused(vec![RefusedJob { file: file.to_owned(), refusals }]));
    }
    printer.note(&format!(
        "at most {most} conversations at once instead of -j {asked}: each takes about {each} file descriptors, and this \
         process may have {limit}; ulimit -n {needed} makes room for all"
    ));
    Ok(())
}

/// The number of lanes at once: that of the flag, and no more than the agent can take.
fn held_by_agent(flag: u16, plan: &Plan, printer: &Printer) -> u16 {
    let most = plan.job.target.max_concurrency.map_or(flag, |most| most.get());
    if most < flag && plan.lane_count() > usize::from(most) {
        let conversations = report::count(usize::from(most), "conversation");
        printer.note(&format!("{conversations} at once, by target.maxConcurrency (-j {flag})"));
    }
    flag.min(most)
}

/// Tells how long something is waited for.
pub(super) fn waiting_line(printer: Arc<Printer>) -> Arc<OnWait> {
    Arc::new(move |awaited, wait| {
        let whose = match awaited {
            WaitReason::Model => "the rate limit",
            WaitReason::Greeting => {
                return printer.note(&format!(
                    "waiting for the agent to speak first, {:.0} s at the most; if it waits for the user to begin, the job can say so (greeting: false)",
                    wait.as_secs_f64()
                ));
            }
            WaitReason::Agent => "the agent, which refuses requests (429)",
        };
        printer.note(&format!("waiting for {whose}, {:.0} s", wait.as_secs_f64().ceil()));
    })
}

/// Keeps what happens: in the journal first, then on the screen.
struct Keeper {
    journal: Journal,
    progress: Mutex<Progress>,
    /// Lines of entries that may not be written yet.
    lines: Mutex<Vec<String>>,
    /// Held while lines are shown, so that they keep their order.
    showing: Mutex<()>,
    printer: Arc<Printer>,
}

impl Keeper {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows what was appended. Whoever reads it may be slow, or nobody: nothing else waits for that.
    fn show(&self) {
        let _showing = self.showing.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = std::mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner));
        if !lines.is_empty() {
            self.printer.note(&lines.join("\n"));
        }
    }
}

impl run::Sink for Keeper {
    fn append(&self, entry: Entry) -> io::Result<()> {
        let kept = self.journal.append(&entry)?;
        let mut progress = self.progress();
        if let Some(lines) = progress.lines(&kept) {
            self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(lines);
        }
        Ok(())
    }

    fn kept(&self, durability: Durability) -> BoxFuture<'_, io::Result<()>> {
        let kept = async move {
            match durability {
                Durability::Process => self.journal.written().await?,
                Durability::Machine => self.journal.synced().await?,
            }
            self.show();
            Ok(())
        };
        kept.boxed()
    }
}

fn kept_words(overview: &Overview, args: &RunArgs, folder: &str) -> String {
    let RunSummary { id, verdict, .. } = &overview.summary;
    match verdict {
        Verdict::Interrupted => {
            let turns = report::count(overview.turns, "finished turn");
            format!("interrupted: {turns} kept in {folder}\n{}", show_words(id, "show what there is", args))
        }
        _ => format!("kept in {folder}\n{}", show_words(id, "show it again", args)),
    }
}

fn show_words(id: &str, why: &str, args: &RunArgs) -> String {
    format!("{why}: {}", show_command(id, args, &[]))
}

/// What shows a run again, and writes it to these files.
fn show_command(id: &str, args: &RunArgs, outputs: &[&Path]) -> String {
    let elsewhere = args.runs.runs_dir.as_os_str() != "runs";
    let runs_dir = if elsewhere { format!(" --runs-dir {}", args.runs.runs_dir.display()) } else { String::new() };
    let outputs: String = outputs.iter().map(|path| format!(" -o {}", path.display())).collect();
    format!("eval-job show {id}{runs_dir}{outputs}")
}
