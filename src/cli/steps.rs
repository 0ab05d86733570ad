//! The steps of `geval` metrics that have none: the judge writes them, once, before the first conversation.

use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::args::RunArgs;
use super::cassettes::CassetteRun;
use super::context::Context;
use super::error::CliError;
use super::invocation::Invocation;
use super::planning::Planned;
use crate::cache::Cache;
use crate::metric::{MetricConfig, MetricEntry};
use crate::money::Cost;
use crate::record::StepsWritten;
use crate::report::{count, one_line, plain};
use crate::run::{self, Engine, PreflightFailure, RunDeps, WrittenSteps};

/// How much of a criterion names it.
const LONGEST_CRITERIA: usize = 80;

/// Puts the steps into a planned job; `None` where it needs none.
pub(super) fn write(
    planned: &mut Planned,
    invocation: Invocation<'_, RunArgs>,
    runtime: &Runtime,
    interrupt: &CancellationToken,
) -> Result<Option<StepsWritten>, CliError> {
    let Invocation { args, context, printer } = invocation;
    let needs = |entry: &&MetricEntry| matches!(&entry.metric, MetricConfig::Geval(options) if options.needs_steps());
    let metrics: Vec<String> = planned.plan.job.metrics.iter().filter(needs).map(|it| it.label().to_owned()).collect();
    if metrics.is_empty() {
        return Ok(None);
    }
    let recorded = CassetteRun { job: &planned.plan.job, id: "steps", rng_seed: args.rng_seed };
    let (cassette, rng_seed) = planned.cassette.part("steps").begin(&recorded, context)?;
    let deps = RunDeps {
        id: String::new(),
        templates: planned.templates.clone(),
        credentials: planned.cassette.credentials(context),
        clock: context.clock,
        rng_seed,
        random: Box::new(Context::random),
        on_wait: None,
        max_concurrency: 1,
        sink: Arc::new(|_| Ok(())),
        person: None,
        cassette,
        cache: Cache::OFF,
    };
    let _inside = runtime.enter();
    let engine = Engine::new(planned.plan.clone(), deps).map_err(|error| CliError::Internal(error.to_string()))?;
    let Some(written) = runtime.block_on(ask(&engine, &planned.file, interrupt))? else { return Ok(None) };
    written.fill_in(Arc::make_mut(&mut planned.plan.job));
    for (criteria, steps) in &written.of_criteria {
        printer.note(&format!(
            "{}: {} wrote steps for \"{}\"; to keep them from run to run, put them into the job: steps: {}",
            plain(&planned.file),
            written.judge,
            one_line(criteria, LONGEST_CRITERIA),
            plain(&serde_json::to_string(steps).unwrap_or_default()),
        ));
    }
    let cost = match written.cost {
        Cost::Exactly(dollars) | Cost::AtLeast(dollars) => Some(dollars),
        Cost::Unknown => None,
    };
    Ok(Some(StepsWritten { judge: written.judge, metrics, usage: written.usage, cost }))
}

/// Asks the judge of an engine for the steps that its job needs.
pub(super) async fn ask(
    engine: &Engine,
    file: &str,
    interrupt: &CancellationToken,
) -> Result<Option<WrittenSteps>, CliError> {
    let written = tokio::select! {
        biased;
        () = interrupt.cancelled() => return Err(CliError::Interrupted),
        written = run::write_steps(engine) => written,
    };
    written.map_err(|error| {
        let paid = match error.usage.calls {
            0 => String::new(),
            calls => format!(" ({} of the judge)", count(calls as usize, "call")),
        };
        let failure = PreflightFailure {
            what: format!("the judge was to write the steps of a geval metric: {error}{paid}"),
            help: "another scorer.model, or `steps` of your own instead of `generateSteps`".to_owned(),
        };
        CliError::NotReady { file: file.to_owned(), failures: vec![failure] }
    })
}
