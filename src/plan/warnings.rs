//! Warnings about jobs that can work and may not mean what they seem to.

use std::sync::Arc;

use serde::Serialize;

use crate::agent::Ability;
use crate::evidence::{Condition, Role};
use crate::job::{Case, Job, Seed};
use crate::secret::Variables;

/// A warning where `--model` names a model that the transport does not pass on to the agent.
pub(super) fn model_not_sent(job: &Job, named: &[String]) -> Option<String> {
    let transport = &job.target.transport;
    let [model] = named else { return None };
    (!transport.can(Ability::ChoosesModel)).then(|| {
        let (key, help) = (transport.key(), transport.how_to_choose_model());
        format!("--model {model} only names the agent in reports: target.{key} does not tell it a model; {help}")
    })
}

/// A warning about cases whose fixed lines are more than `maxTurns` lets them say.
pub(super) fn short_of_lines(job: &Job) -> Option<String> {
    let needed = |case: &Case| job.messages_of_lines(case).map(|needed| needed - 1);
    let short = job.cases.iter().filter(|case| needed(case).is_some_and(|needed| needed > job.most_messages(case)));
    let (mut names, mut most) = (Vec::new(), 0);
    for case in short {
        names.push(format!("`{}`", case.id));
        most = most.max(job.messages_of_lines(case).unwrap_or_default());
    }
    const NAMED: usize = 3;
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let cases = if names.len() == 1 { "case" } else { "cases" };
    (!names.is_empty()).then(|| {
        format!(
            "maxTurns leaves no room for all lines of {cases} {}{more}: what rests on the rest of them will be missing; leave maxTurns \
             out, or say {most}",
            names[..names.len().min(NAMED)].join(", ")
        )
    })
}

/// Warnings about tasks of a case with the same text.
pub(super) fn same_tasks(job: &Job) -> Vec<String> {
    let mut warnings = Vec::new();
    for case in &job.cases {
        let of_case = if job.cases.len() > 1 { format!(" of case `{}`", case.id) } else { String::new() };
        for (at, task) in case.tasks.iter().enumerate() {
            if let Some(first) = case.tasks[..at].iter().position(|first| first.task == task.task) {
                warnings.push(format!("tasks {} and {}{of_case} ask for the same", first + 1, at + 1));
            }
        }
    }
    warnings
}

/// A warning where several samples of a judge hardly differ: those of all metrics, or of some with samples of their own.
pub fn samples_alike(job: &Job) -> Option<String> {
    if job.judge.temperature != 0.0 || job.judges().next().is_none() {
        return None;
    }
    let asking = job.metrics.iter().filter(|metric| metric.kind().asks_judge());
    let own = asking.filter_map(|metric| Some((metric.label().to_owned(), own_samples(metric)?)));
    let own: Vec<(String, u64)> = own.filter(|(_, samples)| *samples > 1).collect();
    let (who, times, instead) = match own.as_slice() {
        _ if job.judge.samples > 1 => (String::new(), u64::from(job.judge.samples), "samples: 1"),
        [] => return None,
        own => {
            let names: Vec<&str> = own.iter().map(|(name, _)| name.as_str()).collect();
            let most = own.iter().map(|(_, samples)| *samples).max().unwrap_or_default();
            (format!("for {} ", names.join(", ")), most, "judging: {samples: 1} there")
        }
    };
    Some(format!(
        "{who}the judge is asked {times} times at temperature 0, where models answer nearly the same each time: say scorer: \
         {{temperature: 0.7}}, or {instead}"
    ))
}

/// A metric's own number of samples, `judging.samples`.
fn own_samples(metric: &impl Serialize) -> Option<u64> {
    let written = serde_json::to_value(metric).ok()?;
    written.as_object()?.values().find_map(|options| options["judging"]["samples"].as_u64())
}

/// Warnings about cases without any of the conditions that are asked for.
pub(super) fn left_out(job: &Job, conditions: &[Condition]) -> Vec<String> {
    let is_left_out = |case: &&Arc<Case>| !case.conditions.iter().any(|condition| conditions.contains(condition));
    let held = |case: &Case| case.conditions.iter().map(|it| it.label()).collect::<Vec<_>>().join(" and ");
    let cases = job.cases.iter().filter(is_left_out);
    cases.map(|case| format!("case `{}` is left out: it is held {} only", case.id, held(case))).collect()
}

/// A warning about variables that a started agent inherits and that are not set.
pub(super) fn unset_variables(job: &Job, variables: &Variables) -> Option<String> {
    let transport = &job.target.transport;
    let (key, unset) = match &job.target.start {
        Some(start) => ("target.start".to_owned(), start.unset(variables)),
        None => (format!("target.{}", transport.key()), transport.unset_variables(variables)),
    };
    let are = if unset.len() == 1 { "is" } else { "are" };
    (!unset.is_empty())
        .then(|| format!("{key}.inheritEnv: {} {are} not set, so the agent starts without", unset.join(" and ")))
}

/// A warning about seeds of which nothing is sent: a transport without history sends the user's lines only.
pub(super) fn unsent_seeds(job: &Job) -> Option<String> {
    if job.target.transport.can(Ability::TakesHistory) {
        return None;
    }
    let is_unsent = |seed: &&Seed| matches!(seed, Seed::Conversation(messages) if messages.iter().all(|message| message.role != Role::User));
    let cases = job.cases.iter().filter_map(|case| case.seeds.iter().find(is_unsent).map(|_| case.id.as_str()));
    let names: Vec<&str> = cases.collect();
    const NAMED: usize = 3;
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!names.is_empty()).then(|| {
        format!(
            "{}{more}: a seed's conversation has no line of the user, so that nothing of it is sent; target.{} is not shown what others said",
            names[..names.len().min(NAMED)].join(", "),
            job.target.transport.key()
        )
    })
}
