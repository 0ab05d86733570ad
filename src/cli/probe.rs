//! `eval-job probe FILE`

use std::sync::Arc;

use std::collections::BTreeMap;

use super::args::ProbeArgs;
use super::certificates;
use super::context::Context;
use super::error::{CliError, FileArgument, RefusedJob};
use super::jobs::{self, Loaded};
use super::planning::surroundings;
use super::printer::Printer;
use super::run::{runtime, waiting_line};
use super::signals::Signals;
use crate::agent::{Ability, AgentError, AgentErrorKind, Hosting, Reply};
use crate::cache::Cache;
use crate::cassette::Cassette;
use crate::evidence::{Event, EventKind};
use crate::job::{Model, ModelName, Target};
use crate::plan::{Overrides, Plan};
use crate::record::Verdict;
use crate::report::{count, one_line, plain};
use crate::run::{self, Engine, ProbeError, ProbeReport, RunDeps};

/// The most characters of an agent's text that are shown.
const SHOWN: usize = 100;

/// Says hello to the agent and prints what was found.
pub(super) fn probe(args: &ProbeArgs, context: &Context, printer: &Arc<Printer>) -> Result<u8, CliError> {
    certificates::warn(context, printer);
    let loaded =
        jobs::load(std::slice::from_ref(&args.file), FileArgument::job("eval-job probe"), None, context.redactor())?;
    let models: Vec<String> = args.model.iter().take(1).cloned().collect();
    let mut worst = 0;
    for loaded in loaded {
        worst = worst.max(probe_one(loaded, &models, context, printer)?);
    }
    Ok(worst)
}

fn probe_one(loaded: Loaded, models: &[String], context: &Context, printer: &Arc<Printer>) -> Result<u8, CliError> {
    let Loaded { file, text, mut job, templates, .. } = loaded;
    // The limits of a run don't apply to one message.
    (job.limits.cost, job.limits.tokens, job.limits.run_seconds) = (None, None, None);
    // No model of ours is asked, so none needs a key.
    let wanted = Overrides {
        models: models.to_vec(),
        evaluator_model: job.persona_model().map(|_| ModelName::Scripted),
        scorer_model: Some(Model::new(ModelName::Scripted).into()),
        is_probe: true,
        ..Overrides::default()
    };
    let plan = Plan::new(job, wanted, surroundings(context))
        .map_err(|refusals| CliError::Refused(vec![RefusedJob::new(file, Some(text), refusals)]))?;
    let deps = RunDeps {
        id: "probe".to_owned(),
        templates,
        credentials: context.credentials.clone(),
        clock: context.clock,
        rng_seed: Context::random(),
        random: Box::new(Context::random),
        on_wait: Some(waiting_line(printer.clone())),
        max_concurrency: 1,
        sink: Arc::new(|_| Ok(())),
        person: None,
        cassette: Cassette::Off,
        cache: Cache::OFF,
    };
    let engine = Engine::new(plan, deps).map_err(|error| CliError::Internal(error.to_string()))?;
    let runtime = runtime()?;
    let signals = Signals::listen(printer.clone())?;
    let seen = runtime.block_on(run::probe(&engine, signals.interrupt));
    // Whatever hangs in a thread of its own must not keep the process from ending.
    runtime.shutdown_background();
    let target = &engine.plan.job.target;
    let mut lines = about(target);
    if let (true, Some(first)) = (target.transport.can(Ability::ChoosesModel), engine.plan.trials().next()) {
        lines.push(("model", first.id.model));
    }
    let seen = seen.map(|report| report.map(|report| report.cleared_by(context.redactor())));
    let status = match seen {
        Ok(None) => return Ok(Verdict::Interrupted.exit_status()),
        Ok(Some(report)) => seen_lines(target, &report, &mut lines),
        Err(ProbeError::NoSession(error)) => {
            error_lines(target, &error, &mut lines);
            Verdict::Incomplete.exit_status()
        }
        Err(ProbeError::NotSetUp(error)) => {
            lines.push(("broken", error.to_string()));
            if target.start.is_some() {
                let what = "the agent's own output, and what target.start says: command, args, cwd, env, ready";
                lines.push(("try", what.to_owned()));
            }
            Verdict::Incomplete.exit_status()
        }
    };
    let lines: Vec<String> = lines.iter().map(|(name, value)| format!("{name:<15} {}\n", plain(value))).collect();
    printer.data(&lines.concat())?;
    Ok(status)
}

type ReportLines = Vec<(&'static str, String)>;

/// Prints what is known before anything is sent.
fn about(target: &Target) -> ReportLines {
    let transport = &target.transport;
    let address = match (&target.start, transport.named_address(), transport.address()) {
        (Some(start), None, _) => format!("a free port, given to `{}`", start.command),
        (_, Some(address), _) | (None, None, Some(address)) => run::without_user(address),
        (None, None, None) if transport.hosting() == Hosting::OwnProcess => "a process of its own".to_owned(),
        (None, None, None) => "a free port of this machine".to_owned(),
    };
    let abilities = |can: bool| {
        let all = Ability::ALL.into_iter().filter(|ability| target.transport.can(*ability) == can);
        all.map(Ability::as_phrase).collect::<Vec<_>>()
    };
    let can = [vec!["answer messages"], abilities(true)].concat().join(", ");
    let can_not = abilities(false);
    let can_not = if can_not.is_empty() { "–".to_owned() } else { can_not.join(", ") };
    vec![("transport", transport.key().to_owned()), ("address", address), ("it can", can), ("it can't", can_not)]
}

fn seen_lines(target: &Target, seen: &ProbeReport, lines: &mut ReportLines) -> u8 {
    let id = one_line(&seen.session_id, SHOWN);
    // A session with a command is a process that could be started, whether it is an agent or not.
    let reachable = if seen.greeting.is_none() && seen.reply.is_err() { started(target) } else { "yes" };
    lines.push(("reachable", reachable.to_owned()));
    lines.push(("session", format!("{id} ({})", count(seen.session_id.chars().count(), "character"))));
    if let Some(greeting) = &seen.greeting {
        lines.push(("greeting", one_line(&greeting.text, SHOWN)));
    }
    lines.push(("said", one_line(&seen.message, SHOWN)));
    let reply = match &seen.reply {
        Ok(reply) => reply,
        Err(error) => {
            error_lines(target, error, lines);
            return Verdict::Incomplete.exit_status();
        }
    };
    lines.push(("authenticated", "not refused: it answered".to_owned()));
    lines.push(("reply", one_line(&reply.text, SHOWN)));
    lines.push(("time", time(reply)));
    if !seen.attempts.failures.is_empty() {
        let failures = count(seen.attempts.failures.len(), "failed try").replace("trys", "tries");
        lines.push(("before that", failures));
    }
    lines.push(("events", events(&reply.events)));
    let tokens = |tokens: Option<u64>| tokens.map_or("unknown".to_owned(), |tokens| tokens.to_string());
    lines.push((
        "its tokens",
        reply.usage.map_or("unknown".to_owned(), |usage| {
            format!("{} in, {} out", tokens(usage.input_tokens), tokens(usage.output_tokens))
        }),
    ));
    lines.push((
        "object context",
        match &seen.context {
            Ok(context) => {
                let resources = count(context.resources.len(), "resource");
                format!("yes: {resources}, {}", count(context.functions.len(), "function"))
            }
            Err(error) => format!("no: {error}"),
        },
    ));
    // An agent that is not said to show its state has nothing to correct.
    if let Some(error) = seen.context.as_ref().err().filter(|_| target.transport.can(Ability::ShowsState)) {
        lines.push(("try", run::hint(target, error)));
    }
    0
}

/// Whether an agent that has not answered is there: a command may be any program.
fn started(target: &Target) -> &'static str {
    let is_command = target.transport.hosting() == Hosting::OwnProcess && target.start.is_none();
    if is_command { "no: the command was started, and no reply came" } else { "yes" }
}

fn time(reply: &Reply) -> String {
    let first = reply.first_token_ms.map_or("unknown".to_owned(), |ms| format!("{ms:.0} ms"));
    format!("{:.0} ms, first words {first}", reply.latency_ms)
}

/// Counts by kind.
fn events(events: &[Event]) -> String {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for event in events {
        let kind = match event.kind {
            EventKind::SystemPrompt { .. } => "system prompt",
            EventKind::GraphRequest { .. } => "graph request",
            EventKind::FunctionCall(_) => "function call",
            EventKind::FunctionResponse { .. } => "function result",
            EventKind::Other { .. } => "other event",
        };
        *kinds.entry(kind).or_default() += 1;
    }
    let kinds: Vec<String> = kinds.into_iter().map(|(kind, number)| count(number, kind)).collect();
    if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") }
}

fn error_lines(target: &Target, error: &AgentError, lines: &mut ReportLines) {
    let has_line = |name: &str| lines.iter().any(|(known, _)| *known == name);
    if !has_line("reachable") && error.kind != AgentErrorKind::Unsendable {
        let reachable = if error.kind == AgentErrorKind::Unreachable { "no" } else { started(target) };
        lines.push(("reachable", reachable.to_owned()));
    }
    if error.kind == AgentErrorKind::Unauthorized {
        lines.push(("authenticated", "no".to_owned()));
    }
    lines.push(("broken", error.message.clone()));
    lines.push(("try", run::hint(target, error)));
}
