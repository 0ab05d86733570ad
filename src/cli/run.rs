//! `eval-job run FILE…`

use std::path::Path;
use std::sync::{Arc, Mutex};

use super::args::RunArgs;
use super::before_run::{BeforeRun, Checks, Start, checks};
use super::cache::{self, tell_troubles};
use super::cassettes::CassetteRun;
use super::certificates;
use super::compare::{baseline_check, note_check, recorded_check};
use super::context::Context;
use super::ended::{self, EndedRun, RunDisplay, UnfinishedRun, kept_at_once};
use super::error::{CliError, FileArgument, RefusedJob};
use super::invocation::Invocation;
use super::keeper::RunSink;
use super::outputs::{OutputFile, check_outputs};
use super::planning::{Planned, plan_all};
use super::printer::Printer;
use super::progress::{Live, Progress, WaitLines};
use super::reindex;
use super::resume::{self, EarlierCosts, Resumed, resume_command};
use super::signals::Signals;
use super::stored::StoredPrompts;
use super::team;
use super::until;
use crate::cassette::Cassette;
use crate::limiter::{OnWait, WaitReason};
use crate::plan::{Plan, Refusal, ResumedTrials};
use crate::record::{Entry, Provenance, Verdict};
use crate::report::{self, Gathered};
use crate::run::{self, DescriptorLimit, Engine, RunBreak, RunDeps};
use crate::store::folder::{JournalFile, NewRun, RunsFolder};
use crate::store::{Store, StoredRun};

/// Runs jobs, one after the other. Everything that can be known to fail is refused before the first one begins.
pub(super) fn run(args: &RunArgs, context: &Context, printer: &Arc<Printer>) -> Result<u8, CliError> {
    let outputs = check_outputs(&args.output, &context.credentials.variables)?;
    certificates::warn(context, printer);
    let runtime = runtime()?;
    let asked = resume::resume_request(args)?;
    let mut plans = {
        let _inside = runtime.enter();
        plan_all(&resume::files(asked.as_ref(), args), FileArgument::job("eval-job run"), &args.plan, context)?
    };
    plans.jobs.iter().try_for_each(|planned| planned.cassette.check())?;
    let resumed = asked.map(|asked| asked.choose(&mut plans, args, context, &runtime)).transpose()?;
    plans.notes.iter().for_each(|note| printer.note(&format!("note: {}", report::plain(note))));
    let signals = Signals::listen(printer.clone())?;
    let baselines: Vec<_> = plans.jobs.iter().filter_map(|it| it.plan.job.gate.baseline.as_deref()).map(Some).collect();
    team::bring(&baselines, &args.runs.runs_dir, context, printer)?;
    let before = match resumed {
        Some(resumed) => vec![BeforeRun::Resumed(Box::new(resumed))],
        None => checks(&mut plans.jobs, Invocation { args, context, printer }, &runtime, &signals)?,
    };
    let mut jobs = Jobs { args, context, printer, signals, outputs, planned: plans.jobs.len(), ended: Vec::new() };
    let worst = runtime.block_on(jobs.run_all(plans.jobs.into_iter().zip(before)));
    // Whatever hangs in a thread of its own must not keep the process from ending.
    runtime.shutdown_background();
    Ok(worst?.exit_status())
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
            // The files of `-o` are written before the last report: its reader may be slow.
            if let Some(ended) = self.ended.last_mut() {
                troubles.extend(shown.report(ended)?);
            }
            match self.run_one(planned, before).await {
                Ok(mut ended) => {
                    troubles.extend(std::mem::replace(&mut ended.cassette_written, Ok(())).err());
                    self.ended.push(ended);
                }
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
        team::send(&args.runs.runs_dir, self.context, self.printer);
        troubles.extend(written.err().map(|error| shown.with_command(error, &self.ended)));
        let worst = self.ended.iter().map(EndedRun::verdict).max_by_key(|verdict| verdict.exit_status());
        let worst = worst.unwrap_or(Verdict::Passed);
        if failure.is_none() && worst == Verdict::Passed {
            failure = troubles.pop();
        }
        // The outcomes of the runs say more.
        troubles.iter().for_each(|trouble| self.printer.error(trouble));
        failure.map_or(Ok(worst), Err)
    }

    /// Runs one job and reads back what is kept of it.
    async fn run_one(&self, planned: Planned, before: BeforeRun) -> Result<EndedRun, CliError> {
        let Jobs { args, context, printer, signals, outputs, .. } = self;
        let (args, context, printer) = (*args, *context, *printer);
        let Planned { file, templates, selection, part, cassette: job_cassette, plan } = planned;
        let selection = selection.map(|it| it.text);
        for warning in &plan.warnings {
            printer.sentences(&format!("{}: warning · {}", report::plain(&file), report::plain(warning)));
        }
        if let BeforeRun::Resumed(resumed) = &before {
            printer.note(&resumed.description(context));
            if resumed.is_whole() {
                let folder = &resumed.reopened.folder;
                return read_back(folder, resumed.reopened.run(), context, printer);
            }
        }
        let rng_seed = before.rng_seed(args);
        let wanted = held_by_agent(args.max_concurrency, &plan, printer);
        let limit = run::descriptor_limit(&plan, usize::from(wanted));
        if let Some(limit) = limit {
            limited(limit, &file, wanted, printer)?;
        }
        let live = Live::new(Progress::new(context, args.verbose, args.no_progress), printer.clone());
        let (NewRun { id, folder, journal }, start) = self.start(&plan, before, &live)?;

        let recorded = CassetteRun { job: &plan.job, id: &id, rng_seed };
        let (cassette, rng_seed) = job_cassette.begin(&recorded, context)?;
        job_cassette.tell(&cassette, &plan.job, printer);
        let path = folder.display().to_string();
        let earlier = self.ended.iter().map(|run| run.id.clone()).collect();
        // The agent of today must not be mixed with a recorded one.
        let resume = (!cassette.is_replayed()).then(|| resume_command(&id, start.mode(), context));
        let unfinished = UnfinishedRun { earlier, id: &id, path: &path, resume: resume.as_deref() };
        signals.kept_at(kept_at_once(unfinished, args, outputs, context));
        let keeper = Arc::new(RunSink::new(journal.with_redactor(context.redactor().clone()), &live));
        let cache = cache::open(args.cache, &args.runs.runs_dir, context);
        let deps = RunDeps {
            id: id.clone(),
            templates,
            credentials: job_cassette.credentials(context),
            clock: context.clock,
            rng_seed,
            random: Box::new(Context::random),
            on_wait: Some(live.on_wait()),
            max_concurrency: limit.map_or(usize::from(wanted), |limit| limit.most as usize),
            sink: keeper.clone(),
            person: None,
            cassette: cassette.clone(),
            cache: cache.clone(),
        };
        let engine = Engine::new(plan, deps).map_err(|error| CliError::Internal(error.to_string()))?;
        let (usage, dollars) = start.spent();
        engine.spent_before(&usage, dollars, start.set_aside());
        let EarlierCosts { costliest, has_ended, margin, refused } = start.costs();
        engine.costliest_before(costliest, has_ended);
        engine.margin_before(margin);
        engine.refused_before(refused);
        let engine = Arc::new(engine);
        let drawing = live.draw(context);
        let found = run::preflight(&engine, run::KeyCheck::Names, &signals.interrupt).await.unwrap_or_default();
        if let (true, false, false) = (found.failures.is_empty(), args.no_progress, found.ready.is_empty()) {
            printer.note(&format!("ready    {}", found.ready.join(" · ")));
        }
        let interrupt = signals.interrupt.clone();
        let stored = || JournalFile::from_journal(&folder, &keeper.journal);
        let finished = match start {
            Start::Resumed { .. } if !found.failures.is_empty() => {
                // The stored part stays as it is.
                return Err(CliError::NotReady { file, failures: found.failures });
            }
            Start::Resumed { held, .. } => {
                let stop = RunBreak { stopped_at: held.stopped_at, may_lack_turns: held.may_lack_turns };
                let rounds = until::rounds(&engine.plan, held, stored, rng_seed);
                run::resume(engine, stop, rounds, interrupt).await.map(drop)
            }
            Start::New(Checks { steps, canaries, trivial_score }) => {
                let provenance =
                    Provenance { selection, part, canaries, steps, trivial_score, ..engine.provenance(&file) };
                if found.failures.is_empty() {
                    let none = ResumedTrials::default();
                    let rounds = until::rounds(&engine.plan, none, stored, rng_seed);
                    run::run(engine, provenance, rounds, interrupt).await.map(drop)
                } else {
                    // Reported once, in full; the record says it of every conversation.
                    printer.error(&CliError::NotReady { file, failures: found.failures.clone() });
                    keeper.live.progress().mute();
                    run::refuse(engine, provenance, &found.failures).await
                }
            }
        };
        drop(drawing);
        tell_troubles(&cache, printer);
        finished.map_err(|source| match RunsFolder::delete_unbegun(&folder) {
            true => CliError::Journal {
                folder: folder.clone(),
                source,
                next: Some("nothing was kept".to_owned()),
                resume: None,
            },
            false => {
                let next = format!("what was kept: {}", ended::show_command(&id, args, &[]));
                CliError::Journal { folder: folder.clone(), source, next: Some(next), resume }
            }
        })?;
        self.compare(&folder, &keeper, &cassette).await?;
        let cassette_written = job_cassette.close(&cassette, printer);
        // The journal is the truth: nothing of the conversations was held in memory while they went on.
        let stored = JournalFile::from_journal(&folder, &keeper.journal);
        Ok(EndedRun { cassette_written, ..read_back(&folder, stored, context, printer)? })
    }

    /// Compares a run that has come to its end with the baseline of its gate; what comes of it is kept in its journal, and in its
    /// recording.
    async fn compare(&self, folder: &Path, keeper: &RunSink, cassette: &Cassette) -> Result<(), CliError> {
        let (runs_dir, context) = (&self.args.runs.runs_dir, self.context);
        let mut stored = JournalFile::from_journal(folder, &keeper.journal);
        let provenance = stored.planned()?.summary.provenance;
        let check = match recorded_check(cassette, &provenance) {
            Some(check) => Some(check),
            None => baseline_check(&mut stored, runs_dir, context)?,
        };
        let Some(check) = check else { return Ok(()) };
        note_check(cassette, &provenance, &check);
        let entry = Entry::BaselineCompared { at: context.clock.wall(), check: Box::new(check) };
        let appended = match keeper.journal.append(&entry) {
            Ok(_) => keeper.journal.written().await,
            Err(error) => Err(error),
        };
        appended.map_err(|source| CliError::Journal { folder: folder.to_path_buf(), source, next: None, resume: None })
    }

    /// The folder and the journal of a run, and how it starts.
    fn start(&self, plan: &Plan, before: BeforeRun, live: &Live) -> Result<(NewRun, Start), CliError> {
        match before {
            BeforeRun::New(checks) => {
                let mut chance = fastrand::Rng::with_seed(Context::random());
                let runs = RunsFolder::at(&self.args.runs.runs_dir);
                let created = runs.create(&plan.job.name, self.context.clock.wall(), &mut chance);
                Ok((created.map_err(CliError::NoRunsFolder)?, Start::New(*checks)))
            }
            BeforeRun::Resumed(resumed) => {
                let (spent, set_aside, costs) = (resumed.spent(), resumed.set_aside, resumed.costs);
                let Resumed { reopened, first, overview, held, mode, .. } = *resumed;
                live.progress().goes_on(&first, held.finished.len(), spent.0);
                Ok((reopened.go_on(overview.summary.id)?, Start::Resumed { held, spent, set_aside, costs, mode }))
            }
        }
    }
}

/// Reads a run that is over.
fn read_back(
    folder: &Path,
    mut stored: JournalFile,
    context: &Context,
    printer: &Printer,
) -> Result<EndedRun, CliError> {
    let mut gathered = Gathered::planned(&stored.planned()?);
    let overview = stored.read(|group, trial| gathered.add(group, trial))?;
    let summary_written = stored.write_summary(&overview.summary);
    if summary_written.is_ok() {
        reindex::index(folder, context, printer);
    }
    let prompts = StoredPrompts::from_run(&stored, context.clock);
    let (id, path) = (overview.summary.id.clone(), folder.display().to_string());
    Ok(EndedRun { id, path, run: stored, overview, gathered, prompts, summary_written, cassette_written: Ok(()) })
}

/// The asynchronous runtime, started only by the subcommands that need it.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::Internal(format!("the runtime could not be started: {error}")))
}

/// Tells that fewer conversations are run at once than were asked for, or refuses where not even one can be.
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
