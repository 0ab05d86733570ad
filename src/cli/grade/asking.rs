//! Asking another judge about the conversations of a stored run.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::path::PathBuf;
use tokio::runtime::Runtime;

use super::super::args::GradeArgs;
use super::super::cache::tell_troubles;
use super::super::cassettes::credentials;
use super::super::context::Context;
use super::super::error::{CliError, RefusedJob, is_mistake};
use super::super::planning::{prices, surroundings};
use super::super::printer::Printer;
use super::super::run::waiting_line;
use super::super::signals::{FinishedPart, Signals};
use super::super::steps;
use super::again::Regrader;
use super::earlier::{EarlierAnswers, PendingQuestions, PendingWork, ReusePolicy};
use super::text;
use crate::cache::Cache;
use crate::cassette::Cassette;
use crate::evidence::{Observed, Usage};
use crate::job::{Job, Panel, RunLimits};
use crate::money::{Cost, Price, SpendLimits};
use crate::plan::{Environment, Overrides, Plan, Refusal};
use crate::prompt::Templates;
use crate::record::{Asker, Entry, FORMAT_VERSION, ModelCall, Overview, PlacedJudgement};
use crate::report::{self, count};
use crate::run::{self, AskingStopped, Credentials, Durability, Engine, RunDeps, StoredConversation, WrittenSteps};
use crate::store::folder::{Grading, Journal, JournalFile, NewGrading};
use crate::store::{StoreError, StoredRun};

/// The flag by which a judge is usually asked.
pub(super) const SCORER_MODEL: &str = "--scorer-model";

/// The options for asking a judge.
#[derive(Debug, Clone)]
pub(super) struct AskArgs {
    /// Which answers of the same judge are taken over.
    pub(super) goes_on: ReusePolicy,
    /// The flag by which the judge is asked.
    pub(super) asked_by: &'static str,
    pub(super) job: Option<PathBuf>,
    pub(super) max_concurrency: u16,
    pub(super) spend: SpendLimits,
    pub(super) prices: Option<PathBuf>,
}

impl From<&GradeArgs> for AskArgs {
    fn from(args: &GradeArgs) -> AskArgs {
        AskArgs {
            goes_on: ReusePolicy::WhereMissing,
            asked_by: SCORER_MODEL,
            job: args.job.clone(),
            max_concurrency: args.judging.max_concurrency,
            spend: args.judging.spend(),
            prices: args.files.prices.clone(),
        }
    }
}

/// A judge that is asked about stored conversations, and the means of asking it.
pub(super) struct JudgeSession<'a> {
    pub(super) args: AskArgs,
    pub(super) context: &'a Context,
    pub(super) printer: &'a Arc<Printer>,
    pub(super) judge: Panel,
    pub(super) runtime: Runtime,
    pub(super) signals: Signals,
    /// Whether its answers are recorded or replayed, and the seed that it is asked with.
    pub(super) cassette: (Cassette, u64),
    /// The cache of judges' verdicts, where it may be used.
    pub(super) cache: Cache,
}

/// A request to judge the conversations of a run.
pub(super) struct AskRequest<'a> {
    /// The run as it was before.
    pub(super) before: &'a Overview,
    /// Answers that were found elsewhere than in the run's gradings.
    pub(super) elsewhere: Option<EarlierAnswers>,
    /// The command that asks for the rest.
    pub(super) rest: &'a str,
}

/// The conversations of a run that are to be asked about, and what was answered before.
#[derive(Clone, Copy)]
struct UnansweredRun<'a> {
    run: &'a JournalFile,
    again: &'a Regrader<'a>,
    earlier: &'a EarlierAnswers,
}

/// The result of asking.
pub(super) struct JudgeAnswers {
    pub(super) number: u32,
    pub(super) grading: Grading,
    pub(super) stopped: Option<AskingStopped>,
    /// Calls and tokens of all judges.
    pub(super) usage: Usage,
    /// Their cost.
    pub(super) cost: Cost,
    /// The judges' prices, by their names, where they are known.
    pub(super) prices: BTreeMap<String, Price>,
}

impl JudgeSession<'_> {
    pub(super) fn is_interrupted(&self) -> bool {
        self.signals.interrupt.is_cancelled()
    }

    /// Asks about the conversations of a run that say something of the agent, but for what the same judge answered before.
    pub(super) fn ask(
        &self,
        run: &JournalFile,
        again: &mut Regrader<'_>,
        request: AskRequest<'_>,
    ) -> Result<JudgeAnswers, CliError> {
        let AskRequest { before, elsewhere, rest } = request;
        let mut plan = self.plan(run, again)?;
        self.reach(plan.clone())?;
        let written = self.write_steps(&plan, again)?;
        if written.is_some() {
            plan = self.plan(run, again)?;
        }
        let again = &*again;
        let judge = self.judge.to_string();
        let prices = self.prices_in(&plan);
        let earlier = match elsewhere {
            Some(earlier) => earlier,
            None => EarlierAnswers::read(run, &judge, self.args.goes_on, &before.summary.provenance.judge_model)?,
        };
        let left = PendingWork::new(run, again, &earlier)?;
        self.printer.note(&text::announcement(&judge, left, before, prices.get(&judge).copied()));
        let NewGrading { number, path, journal } = run.new_grading().map_err(|error| match error {
            StoreError::Io { source, path, .. } if is_mistake(&source) => {
                let what =
                    format!("what {judge} answers is kept beside the run, and {} can't be: {source}", path.display());
                CliError::Unprepared(Refusal::new(report::plain(&what), "make the folder of the run writable"))
            }
            error => error.into(),
        })?;
        let journal = Arc::new(journal.with_redactor(self.context.redactor().clone()));
        let shown = path.display().to_string();
        self.signals.kept_at(FinishedPart {
            text: format!("ended at once: what {judge} answered is kept in {shown}"),
            write: Arc::new(|| None),
            written: Default::default(),
        });
        let templates = again.templates.clone().unwrap_or_else(Templates::embedded);
        let inside = self.runtime.enter();
        let engine = self.engine(plan, before.summary.id.clone(), templates, journal.clone()).map_err(AskError::Cli);
        let stopped = engine.and_then(|engine| {
            let asked = UnansweredRun { run, again, earlier: &earlier };
            self.runtime.block_on(self.carry_out(&engine, journal.as_ref(), asked, written))
        });
        drop(inside);
        tell_troubles(&self.cache, self.printer);
        let stopped = stopped.map_err(|error| {
            run.delete_empty_grading(&path);
            match error {
                AskError::Journal(source) => CliError::Journal {
                    folder: path.clone(),
                    source,
                    next: Some(format!("ask for the rest: {rest}")),
                    resume: None,
                },
                AskError::Cli(error) => error,
            }
        })?;
        let (mut usage, mut cost, mut answered) = (Usage::default(), Cost::NOTHING, 0);
        let grading = run.grading(&path, &journal, |entry| match entry {
            Entry::ModelAsked { call, .. } => {
                usage = usage.plus(call.usage);
                cost = cost.plus(prices.get(&call.model).map_or(Cost::Unknown, |price| price.cost(&call.usage)));
            }
            Entry::Judged { judgement, .. } => answered += usize::from(matches!(judgement.reply, Observed::Seen(_))),
            _ => {}
        })?;
        self.printer.note(&format!("{judge} took {}", text::spent(&usage, cost)));
        if stopped == Some(AskingStopped::Interrupted) {
            let answers = count(answered, "answer");
            self.printer.note(&format!("interrupted: {answers} of {judge} kept in {shown}\nask for the rest: {rest}"));
        }
        Ok(JudgeAnswers { number, grading, stopped, usage, cost, prices })
    }

    /// Checks that this judge can be asked about the conversations of a job, and that its endpoint is there, before anything is
    /// made; `file` is what the job is called.
    pub(super) fn check(&self, job: &Job, file: String) -> Result<(), CliError> {
        self.reach(self.plan_for(job.clone(), file)?)
    }

    /// The prices of this judge's models, where they are known.
    pub(super) fn prices(&self, job: &Job, file: String) -> Result<BTreeMap<String, Price>, CliError> {
        Ok(self.prices_in(&self.plan_for(job.clone(), file)?))
    }

    fn prices_in(&self, plan: &Plan) -> BTreeMap<String, Price> {
        let names = self.judge.judges().map(|judge| judge.name.to_string());
        names.filter_map(|name| plan.prices.price(&name).copied().map(|price| (name, price))).collect()
    }

    /// Looks whether the endpoints of a plan are there, before many requests.
    fn reach(&self, plan: Plan) -> Result<(), CliError> {
        let _inside = self.runtime.enter();
        let engine = self.engine(plan, String::new(), Templates::embedded(), Arc::new(|_| Ok(())))?;
        let found = self.runtime.block_on(run::preflight_of_judge(&engine, &self.signals.interrupt));
        match found.unwrap_or_default().failures {
            failures if failures.is_empty() => Ok(()),
            failures => Err(CliError::NotReady { file: self.args.asked_by.to_owned(), failures }),
        }
    }

    /// Has the judge write the steps that the job to grade by needs.
    fn write_steps(&self, plan: &Plan, again: &mut Regrader<'_>) -> Result<Option<WrittenSteps>, CliError> {
        let _inside = self.runtime.enter();
        let templates = again.templates.clone().unwrap_or_else(Templates::embedded);
        let engine = self.engine(plan.clone(), String::new(), templates, Arc::new(|_| Ok(())))?;
        let written = self.runtime.block_on(steps::ask(&engine, self.args.asked_by, &self.signals.interrupt))?;
        if let Some(written) = &written {
            written.fill_in(&mut again.job);
        }
        Ok(written)
    }

    /// Keys and addresses, as they were where the answers are replayed.
    fn credentials(&self) -> Credentials {
        let recorded = self.cassette.0.replayed().and(self.cassette.0.header());
        credentials(self.context, recorded.map(|header| &header.variables))
    }

    fn engine(
        &self,
        plan: Plan,
        id: String,
        templates: Templates,
        sink: Arc<dyn run::Sink>,
    ) -> Result<Engine, CliError> {
        let deps = RunDeps {
            id,
            templates,
            credentials: self.credentials(),
            clock: self.context.clock,
            rng_seed: self.cassette.1,
            random: Box::new(Context::random),
            on_wait: self.context.stderr_is_tty.then(|| waiting_line(self.printer.clone())),
            max_concurrency: usize::from(self.args.max_concurrency),
            sink,
            person: None,
            cassette: self.cassette.0.clone(),
            cache: self.cache.clone(),
        };
        Engine::new(plan, deps).map_err(|error| CliError::Internal(error.to_string()))
    }

    fn plan(&self, run: &JournalFile, again: &Regrader<'_>) -> Result<Plan, CliError> {
        let file =
            self.args.job.as_ref().map_or_else(|| run.path().display().to_string(), |job| job.display().to_string());
        let plan = self.plan_for(again.job.clone(), file.clone())?;
        if again.templates.is_none() {
            let what =
                "an earlier version kept the run without the judge's template, and that of today is another".to_owned();
            return Err(refused(file, vec![Refusal::new(what, "say the job with --job FILE")]));
        }
        Ok(plan)
    }

    fn plan_for(&self, job: Job, file: String) -> Result<Plan, CliError> {
        let limits = RunLimits { spend: self.args.spend, seconds: None };
        let wanted = Overrides { scorer_model: Some(self.judge.clone()), limits, ..Overrides::default() };
        let prices = prices(self.args.prices.as_deref())?;
        let (credentials, is_replayed) = (self.credentials(), self.cassette.0.is_replayed());
        let variables = credentials.variables.clone();
        let environment = Environment { variables, prices, is_replayed, ..surroundings(self.context) };
        let plan = Plan::for_judge(job, wanted, environment).map_err(|refusals| refused(file.clone(), refusals))?;
        let _inside = self.runtime.enter();
        run::check_clients(&plan, &credentials, self.context.clock).map_err(|error| {
            let help = "correct it in the job (--job FILE) or in the environment".to_owned();
            refused(file, vec![Refusal::new(error.to_string(), help)])
        })?;
        Ok(plan)
    }

    async fn carry_out(
        &self,
        engine: &Engine,
        journal: &Journal,
        asked: UnansweredRun<'_>,
        written: Option<WrittenSteps>,
    ) -> Result<Option<AskingStopped>, AskError> {
        let UnansweredRun { run, again, earlier } = asked;
        let clock = self.context.clock;
        journal.append(&Entry::GradingStarted {
            version: FORMAT_VERSION,
            at: clock.wall(),
            judge: self.judge.to_string(),
            job: Box::new(serde_json::to_value(&*engine.plan.job).unwrap_or_default()),
            templates: {
                let asks = engine.plan.job.asks_questions();
                again.templates.as_ref().map(|templates| templates.recorded(asks)).unwrap_or_default()
            },
        })?;
        if let Some(WrittenSteps { judge, usage, .. }) = written {
            let call = ModelCall { at: clock.wall(), asker: Asker::Judge, model: judge, usage };
            // Of no conversation.
            journal.append(&Entry::ModelAsked { trial: 0, number: None, call, set_aside: None })?;
        }
        let conversations = run.trials().filter_map(|trial| {
            let rest = trial.and_then(|trial| earlier.rest(again, trial));
            rest.map_err(|error| AskError::Cli(error.into())).transpose()
        });
        let conversations = conversations.map(|rest| taken_over(journal, rest?));
        let stopped = run::ask_again(engine, conversations, &self.signals.interrupt).await?;
        if let Some(AskingStopped::Refused(why)) = &stopped {
            self.printer.note(&format!("{why}; nothing more is asked of it"));
        }
        if let Some(AskingStopped::LimitReached(why)) = &stopped {
            journal.append(&Entry::LimitReached { at: clock.wall(), why: why.clone(), wanted: None })?;
        }
        journal.append(&Entry::RunFinished { at: clock.wall(), interrupted: stopped.is_some() })?;
        journal.synced().await?;
        Ok(stopped)
    }
}

fn refused(file: String, refusals: Vec<Refusal>) -> CliError {
    CliError::Refused(vec![RefusedJob::new(file, None, refusals)])
}

/// The conversation with what is left to ask about it; what was answered is kept once more, and not paid for twice.
fn taken_over(journal: &Journal, rest: PendingQuestions) -> Result<StoredConversation, AskError> {
    let trial = rest.conversation.trial.number;
    for PlacedJudgement { place, question, judgement } in rest.answered {
        journal.append(&Entry::Judged { trial, question, judgement, place })?;
    }
    Ok(rest.conversation)
}

/// Why asking failed.
enum AskError {
    Journal(io::Error),
    Cli(CliError),
}

impl From<io::Error> for AskError {
    fn from(error: io::Error) -> AskError {
        AskError::Journal(error)
    }
}

impl run::Sink for Journal {
    fn append(&self, entry: Entry) -> io::Result<()> {
        Journal::append(self, &entry).map(drop)
    }

    fn kept(&self, durability: Durability) -> BoxFuture<'_, io::Result<()>> {
        match durability {
            Durability::Process => self.written().boxed(),
            Durability::Machine => self.synced().boxed(),
        }
    }
}
