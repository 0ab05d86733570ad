//! `eval-job run FILE…`

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::args::RunArgs;
use super::audit;
use super::certificates;
use super::context::Context;
use super::ended::{self, EndedRun, RunDisplay, kept_at_once};
use super::error::{CliError, FileArgument, RefusedJob};
use super::grade::canaries;
use super::outputs::{OutputFile, check_outputs};
use super::planning::{Planned, plan_all};
use super::printer::Printer;
use super::progress::{Live, Progress, WaitLines};
use super::signals::Signals;
use super::steps;
use super::stored::StoredPrompts;
use crate::limiter::{OnWait, WaitReason};
use crate::plan::{Plan, Refusal};
use crate::record::{CanaryCheck, Entry, Provenance, StepsWritten, Verdict};
use crate::report::{self, Gathered};
use crate::run::{self, DescriptorLimit, Durability, Engine, RunDeps};
use crate::store::folder::{Journal, JournalFile, NewRun, RunsFolder};
use crate::store::{Store, StoredRun};

/// Runs jobs, one after the other. Everything that can be known to fail is refused before the first one begins.
pub(super) fn run(args: &RunArgs, context: &Context, printer: &Arc<Printer>) -> Result<u8, CliError> {
    let outputs = check_outputs(&args.output, &context.credentials.variables)?;
    certificates::warn(context, printer);
    let runtime = runtime()?;
    let mut plans = {
        let _inside = runtime.enter();
        plan_all(&args.files, FileArgument::job("eval-job run"), &args.plan, context)?
    };
    plans.notes.iter().for_each(|note| printer.note(&format!("note: {}", report::plain(note))));
    let signals = Signals::listen(printer.clone())?;
    // What costs nothing goes first, for all of them.
    let trivial_scores = plans.jobs.iter().map(|planned| audit::gate(planned.loaded(), &runtime, context));
    let trivial_scores = trivial_scores.collect::<Result<Vec<_>, _>>()?;
    let mut before = Vec::new();
    for (planned, trivial_score) in plans.jobs.iter_mut().zip(trivial_scores) {
        let steps = steps::write(planned, (args, context, printer), &runtime, &signals.interrupt)?;
        let canaries = canaries((args, context, printer), planned.loaded(), signals.clone())?;
        before.push(BeforeRun { steps, canaries, trivial_score });
    }
    let mut jobs = Jobs { args, context, printer, signals, outputs, planned: plans.jobs.len(), ended: Vec::new() };
    let worst = runtime.block_on(jobs.run_all(plans.jobs.into_iter().zip(before)));
    // Whatever hangs in a thread of its own must not keep the process from ending.
    runtime.shutdown_background();
    Ok(worst?.exit_status())
}

/// What was found out before a run.
#[derive(Debug, Clone, Default)]
struct BeforeRun {
    steps: Option<StepsWritten>,
    canaries: Option<CanaryCheck>,
    trivial_score: Option<f64>,
}

/// The jobs of one command.
struct Jobs<'a> {
    args: &'a RunArgs,
    context: &'a Context,
    printer: &'a Arc<Printer>,
    signals: Signals,
    outputs: Vec<OutputFile>,
    /// How many there are.
    planned: usize,
    /// The runs of those that are over.
    ended: Vec<EndedRun>,
}

impl Jobs<'_> {
    /// Runs them, up to an interruption, and returns the verdict that says most.
    async fn run_all(&mut self, jobs: impl Iterator<Item = (Planned, BeforeRun)>) -> Result<Verdict, CliError> {
        let is_piped = self.outputs.iter().any(OutputFile::is_stdout);
        let (is_only, args) = (self.planned == 1, self.args);
        let shown = RunDisplay { args, context: self.context, printer: self.printer, is_only, is_piped };
        let (mut failure, mut troubles) = (None, Vec::new());
        for (planned, before) in jobs {
            // The last report waits for the files of `-o`: whoever reads it may be slow.
            if let Some(ended) = self.ended.last_mut() {
                troubles.extend(shown.report(ended)?);
            }
            match self.run_one(planned, before).await {
                Ok(ended) => self.ended.push(ended),
                Err(error) => failure = Some(error),
            }
            if failure.is_some() || self.ended.last().is_some_and(|run| run.verdict() == Verdict::Interrupted) {
                break;
            }
        }
        let written = ended::write(&self.outputs, &self.ended);
        if let Some(ended) = self.ended.last_mut() {
            troubles.extend(shown.report(ended)?);
        }
        if self.planned > 1 {
            shown.all(&self.ended, self.planned)?;
        }
        ended::print(&self.outputs, &self.ended, self.printer)?;
        troubles.extend(written.err().map(|error| shown.with_command(error, &self.ended)));
        let worst = self.ended.iter().map(EndedRun::verdict).max_by_key(|verdict| verdict.exit_status());
        let worst = worst.unwrap_or(Verdict::Passed);
        if failure.is_none() && worst == Verdict::Passed {
            failure = troubles.pop();
        }
        // What the runs came to says more.
        troubles.iter().for_each(|trouble| self.printer.error(trouble));
        failure.map_or(Ok(worst), Err)
    }

    /// Runs one job and reads back what is kept of it.
    async fn run_one(&self, planned: Planned, before: BeforeRun) -> Result<EndedRun, CliError> {
        let Jobs { args, context, printer, signals, outputs, .. } = self;
        let (args, context, printer) = (*args, *context, *printer);
        let Planned { file, templates, selection, part, plan } = planned;
        for warning in &plan.warnings {
            printer.sentences(&format!("{}: warning · {}", report::plain(&file), report::plain(warning)));
        }
        let rng_seed = args.rng_seed.unwrap_or_else(Context::random);
        let wanted = held_by_agent(args.max_concurrency, &plan, printer);
        let limit = run::descriptor_limit(&plan, usize::from(wanted));
        if let Some(limit) = limit {
            limited(limit, &file, wanted, printer)?;
        }
        let live = Live::new(Progress::new(context, args.verbose, args.no_progress), printer.clone());
        let mut chance = fastrand::Rng::with_seed(Context::random());
        let runs = RunsFolder::at(&args.runs.runs_dir);
        let created = runs.create(&plan.job.name, context.clock.wall(), &mut chance);
        let NewRun { id, folder, journal } = created.map_err(CliError::NoRunsFolder)?;

        let path = folder.display().to_string();
        let earlier = self.ended.iter().map(|run| run.id.clone());
        signals.kept_at(kept_at_once((earlier.collect(), &id), &path, (args, outputs), context));
        let keeper = Arc::new(Keeper {
            journal: journal.with_redactor(context.redactor().clone()),
            live: live.clone(),
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
            random: Box::new(Context::random),
            on_wait: Some(live.on_wait()),
            max_concurrency: limit.map_or(usize::from(wanted), |limit| limit.most as usize),
            sink: keeper.clone(),
            person: None,
        };
        let engine = Engine::new(plan, deps).map_err(|error| CliError::Internal(error.to_string()))?;
        let BeforeRun { steps, canaries, trivial_score } = before;
        if let Some(canaries) = &canaries {
            engine.spent_before(&canaries.usage, canaries.cost.unwrap_or_default());
        }
        if let Some(steps) = &steps {
            engine.spent_before(&steps.usage, steps.cost.unwrap_or_default());
        }
        let provenance = Provenance { selection, part, canaries, steps, trivial_score, ..engine.provenance(&file) };
        let (lanes, engine) = (engine.plan.lanes(), Arc::new(engine));
        let drawing = live.draw(context);
        let found = run::preflight(&engine, run::KeyCheck::Skip, &signals.interrupt).await.unwrap_or_default();
        let finished = if found.failures.is_empty() {
            if let (false, false) = (args.no_progress, found.ready.is_empty()) {
                printer.note(&format!("ready    {}", found.ready.join(" · ")));
            }
            run::run(engine, provenance, lanes, signals.interrupt.clone()).await.map(drop)
        } else {
            // Told once, in full; the record says it of every conversation.
            printer.error(&CliError::NotReady { file, failures: found.failures.clone() });
            keeper.live.progress().mute();
            run::refuse(engine, provenance, &found.failures).await
        };
        drop(drawing);
        finished.map_err(|source| {
            let next = match RunsFolder::delete_unbegun(&folder) {
                true => "nothing was kept".to_owned(),
                false => format!("what was kept: {}", ended::show_command(&id, args, &[])),
            };
            CliError::Journal { folder: folder.clone(), source, next: Some(next) }
        })?;

        // The journal is the truth: nothing of the conversations was held in memory while they went on.
        let mut stored = JournalFile::from_journal(&folder, &keeper.journal);
        let mut gathered = Gathered::comparing(&stored.planned()?.summary.provenance.models);
        let overview = stored.read(|group, trial| gathered.add(group, trial))?;
        let summary_written = stored.write_summary(&overview.summary);
        let prompts = StoredPrompts::from_run(&stored, context.clock);
        Ok(EndedRun { id, path, run: stored, overview, gathered, prompts, summary_written })
    }
}

/// The asynchronous runtime, started only by the subcommands that need it.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::Internal(format!("the runtime could not be started: {error}")))
}

/// Tells that fewer conversations are held at once than were asked for, or refuses where not even one can be.
fn limited(limited: DescriptorLimit, file: &str, asked: u16, printer: &Printer) -> Result<(), CliError> {
    let DescriptorLimit { most, each, limit, needed } = limited;
    if most == 0 {
        let what = format!("a conversation takes about {each} file descriptors, and this process may have {limit}");
        let refusals = vec![Refusal::new(what, format!("ulimit -n {needed}, or more"))];
        return Err(CliError::Refused(vec![RefusedJob::new(file.to_owned(), None, refusals)]));
    }
    printer.note(&format!(
        "at most {most} conversations at once instead of -j {asked}: each takes about {each} file descriptors, and this \
         process may have {limit}; ulimit -n {needed} makes room for all"
    ));
    Ok(())
}

/// The number of lanes at once: that of the flag, and no more than the agent can take.
fn held_by_agent(flag: u16, plan: &Plan, printer: &Printer) -> u16 {
    let of_reference = plan.job.reference.as_ref().map(|reference| ("reference", reference.max_concurrency));
    let named = [Some(("target", plan.job.target.max_concurrency)), of_reference].into_iter().flatten();
    let least = named.filter_map(|(part, most)| Some((most?.get(), part))).min();
    let (most, part) = least.unwrap_or((flag, "target"));
    if most < flag && plan.lane_count() > usize::from(most) {
        let conversations = report::count(usize::from(most), "conversation");
        printer.note(&format!("{conversations} at once, by {part}.maxConcurrency (-j {flag})"));
    }
    flag.min(most)
}

/// Reports what is waited for. Tries that failed on the way to an agent are reported with its reply.
pub(super) fn waiting_line(printer: Arc<Printer>) -> Arc<OnWait> {
    let lines = Mutex::new(WaitLines::default());
    Arc::new(move |reason, wait| {
        if matches!(reason, WaitReason::Retry { service: WaitReason::AGENT, .. }) {
            return;
        }
        let line = lines.lock().ok().and_then(|mut lines| lines.line(reason, wait));
        if let Some(line) = line {
            printer.note(&line);
        }
    })
}

/// Keeps what happens: in the journal first, then on the screen.
struct Keeper {
    journal: Journal,
    live: Live,
    /// Lines of entries that may not be written yet.
    lines: Mutex<Vec<String>>,
    /// Held while lines are shown, so that they keep their order.
    showing: Mutex<()>,
    printer: Arc<Printer>,
}

impl Keeper {
    /// Shows what was appended. Whoever reads it may be slow, or nobody: nothing else waits for that.
    fn show(&self) {
        let _showing = self.showing.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = std::mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner));
        if !lines.is_empty() {
            let indent = self.live.progress().indent();
            self.printer.lines(&lines.join("\n"), indent);
        }
    }
}

impl run::Sink for Keeper {
    fn append(&self, entry: Entry) -> io::Result<()> {
        let kept = self.journal.append(&entry)?;
        let mut progress = self.live.progress();
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
