//! `eval-job validate FILE…`

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::args::ValidateArgs;
use super::context::Context;
use super::error::{CliError, FileArgument};
use super::planning::{Planned, plan_all};
use super::printer::Printer;
use super::run::runtime;
use super::signals::Signals;
use crate::cache::Cache;
use crate::cassette::Cassette;
use crate::job::{Case, Gate, Job, User};
use crate::record::Verdict;
use crate::report::{count, one_line, plain};
use crate::run::{self, AssertionPlace, Engine, LiveCheck, PreflightFailure, RunDeps};
use crate::score::{OnInconclusive, Vacuity, VacuousGate};

/// Labels are shown whole, unless they are scripts of many lines.
const LABEL: usize = 80;

/// Checks job files; agent and graph are only contacted with `--live`.
pub(super) fn validate(args: &ValidateArgs, context: &Context, printer: &Arc<Printer>) -> Result<u8, CliError> {
    let mut status = 0;
    let runtime = runtime()?;
    let plans = {
        let _inside = runtime.enter();
        plan_all(&args.files, FileArgument::job("eval-job validate"), &args.plan, context)?
    };
    plans.notes.iter().for_each(|note| printer.note(&format!("note: {}", plain(note))));
    // Without --live there is nothing to end in order.
    let interrupt = match args.live {
        true => Signals::listen(printer.clone())?.interrupt,
        false => CancellationToken::new(),
    };
    for planned in plans.jobs {
        let job = &planned.plan.job;
        printer.data(&format!("{}: valid · {} · {}\n", plain(&planned.file), plain(&job.name), contents(job)))?;
        if let Some(selection) = &planned.selection {
            printer.data(&format!("{}: selected · {}\n", plain(&planned.file), plain(&selection.text)))?;
        }
        for warning in &planned.plan.warnings {
            printer.data(&format!("{}: warning · {}\n", plain(&planned.file), plain(warning)))?;
        }
        if has_no_gate(job) {
            let text =
                "no gate is set, so that no score fails a run: gate.minScore, --min-score or a metric's threshold does";
            printer.data(&format!("{}: note · {text}\n", plain(&planned.file)))?;
        }
        if !args.live
            && let Some(trouble) = run::missing_program(job, &context.credentials.variables)
        {
            printer.data(&broken(&planned.file, &trouble))?;
            status = Verdict::Incomplete.exit_status();
        }
        if args.live {
            status = status.max(runtime.block_on(live(planned, context, printer, &interrupt))?);
        }
        if interrupt.is_cancelled() {
            break;
        }
    }
    // Whatever hangs in a thread of its own must not keep the process from ending.
    runtime.shutdown_background();
    Ok(status)
}

/// Whether nothing that the job asks for can fail a run.
fn has_no_gate(job: &Job) -> bool {
    let gate = Gate { on_inconclusive: OnInconclusive::default(), ..job.gate.clone() };
    gate == Gate::default() && job.metrics.iter().all(|metric| metric.threshold.is_none())
}

/// Checks agent and graph as they are now, and prints the result.
async fn live(
    planned: Planned,
    context: &Context,
    printer: &Printer,
    interrupt: &CancellationToken,
) -> Result<u8, CliError> {
    let Planned { file, templates, plan, .. } = planned;
    let deps = RunDeps {
        id: "validate".to_owned(),
        templates,
        credentials: context.credentials.clone(),
        clock: context.clock,
        rng_seed: 0,
        random: Box::new(Context::random),
        on_wait: None,
        max_concurrency: 1,
        sink: Arc::new(|_| Ok(())),
        person: None,
        cassette: Cassette::Off,
        cache: Cache::OFF,
    };
    let engine = Engine::new(plan, deps).map_err(|error| CliError::Internal(error.to_string()))?;
    let found = Box::pin(run::preflight(&engine, run::KeyCheck::Ask, interrupt)).await.unwrap_or_default();
    if !found.failures.is_empty() {
        for trouble in &found.failures {
            printer.data(&broken(&file, trouble))?;
        }
        return Ok(Verdict::Incomplete.exit_status());
    }
    if !found.ready.is_empty() {
        printer.data(&format!("{}: ready · {}\n", plain(&file), found.ready.join(" · ")))?;
    }
    match Box::pin(run::live_check(&engine, interrupt.clone())).await {
        Ok(None) => Ok(Verdict::Interrupted.exit_status()),
        Ok(Some(live_check)) => print_live_check(&file, &engine.plan.job, &live_check, printer),
        Err(error) => {
            printer.data(&format!("{}: broken · {}\n", plain(&file), plain(&error.to_string())))?;
            Ok(Verdict::Incomplete.exit_status())
        }
    }
}

/// One line with the numbers of cases, tasks, facts and assertions.
fn contents(job: &Job) -> String {
    let sum = |of: fn(&Case) -> usize| job.cases.iter().map(|case| of(case)).sum();
    let talks_only = job.cases.iter().all(|case| case.tasks.is_empty() && case.assertions.is_empty());
    let lines = sum(|case| match &case.user {
        User::Lines(lines) => lines.len(),
        User::Persona => 0,
    });
    if talks_only && lines > 0 {
        let parts = [(job.cases.len(), "case"), (lines, "line"), (job.metrics.len(), "metric")];
        let repeats = (job.repeat > 1).then(|| format!("each {} times", job.repeat));
        let parts = parts.into_iter().map(|(number, noun)| count(number, noun));
        return parts.chain(repeats).collect::<Vec<_>>().join(" · ");
    }
    let parts = [
        (sum(|case| case.tasks.len()), "task"),
        (sum(|case| case.facts.len()), "fact"),
        (sum(|case| case.assertions.len()), "assertion"),
    ];
    let cases = (job.cases.len() > 1).then(|| count(job.cases.len(), "case"));
    let repeats = (job.repeat > 1).then(|| format!("each {} times", job.repeat));
    let parts = parts.into_iter().map(|(number, noun)| count(number, noun));
    cases.into_iter().chain(parts).chain(repeats).collect::<Vec<_>>().join(" · ")
}

fn broken(file: &str, trouble: &PreflightFailure) -> String {
    format!("{}: broken · {}\n", plain(file), plain(&trouble.to_string()))
}

fn print_live_check(file: &str, job: &Job, live_check: &LiveCheck, printer: &Printer) -> Result<u8, CliError> {
    let several = job.cases.len() > 1;
    let line = |kind: &str, place: &AssertionPlace, what: &str| {
        let case = if several { format!(" of case {}", plain(&place.case)) } else { String::new() };
        let label = one_line(&place.label, LABEL);
        format!("{}: {kind} · assertion {}{case} ({label}): {what}\n", plain(file), place.number)
    };
    printer.data(&format!("{}: live · the agent opened a session\n", plain(file)))?;
    if let Some(trouble) = &live_check.no_state {
        let what = "the agent's state, which the job looks at, can't be read before the first message";
        let after = "`eval-job probe` reads it after one";
        printer.data(&format!("{}: warning · {what}: {}; {after}\n", plain(file), plain(&trouble.to_string())))?;
    }
    for (place, error) in &live_check.unusable {
        printer.data(&line("broken", place, &plain(error)))?;
    }
    let needs_changes = job.assertions().any(|assertion| assertion.check.needs_changes());
    let mut is_incomplete = !live_check.unusable.is_empty();
    if let Some(trouble) = &live_check.unwatched {
        // The setups might make it smaller.
        let (kind, setups) = match (needs_changes, live_check.without_setups) {
            (true, false) => ("broken", ""),
            (_, true) => ("not watched", "; the setups were not run"),
            (false, false) => ("not watched", ""),
        };
        is_incomplete |= kind == "broken";
        let trouble = plain(trouble);
        printer.data(&format!("{}: {kind} · the graph could not be watched: {trouble}{setups}\n", plain(file)))?;
    }
    let mut vacuous = false;
    let advice = "where that is meant, say `holdsBefore: true`";
    for (place, doubt) in &live_check.doubts {
        let (kind, what) = match doubt {
            Vacuity::Vacuous => {
                vacuous = true;
                ("vacuous", format!("it holds before any conversation, and where there is nothing at all; {advice}"))
            }
            // The setups might change that.
            Vacuity::HeldBefore if live_check.without_setups => {
                ("holds before", "it holds before any conversation already; the setups were not run".to_owned())
            }
            Vacuity::HeldBefore => {
                vacuous = true;
                ("holds before", format!("it holds before any conversation already; {advice}"))
            }
            // No assertion is.
            Vacuity::Idle => continue,
            Vacuity::NotChecked { why } => {
                ("not checked", format!("whether it can fail could not be determined {why}"))
            }
        };
        printer.data(&line(kind, place, &plain(&what)))?;
    }
    Ok(match (is_incomplete, vacuous && job.gate.vacuous == VacuousGate::Fail) {
        (true, _) => Verdict::Incomplete.exit_status(),
        (false, true) => Verdict::GateFailed.exit_status(),
        (false, false) => 0,
    })
}
