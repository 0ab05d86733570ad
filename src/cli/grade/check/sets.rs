//! The jobs that judge known conversations: a case for each of them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::super::args::{
    CacheArgs, CheckArgs, DEFAULT_JOB, FileArgs, GradeArgs, JudgingArgs, ReadingArgs, RecordedArgs, RunsArgs,
    SelectionArgs,
};
use super::super::super::context::Context;
use super::super::super::error::{CliError, FileArgument};
use super::super::super::jobs::{self, Loaded};
use super::super::recorded::load_dataset;
use super::checks;
use super::known::KnownConversation;
use crate::job::{Case, Job, Panel, User};
use crate::metric::{MetricConfig, MetricEntry};
use crate::plan::Refusal;
use crate::report;

/// A job that judges, with a case for each of its conversations.
pub(super) struct CheckSet {
    pub(super) loaded: Loaded,
    pub(super) conversations: Vec<KnownConversation>,
}

/// The jobs that judge: the one that is named, or those that other systems' files make, one for all with the same metrics.
pub(super) fn load(
    args: &CheckArgs,
    conversations: Vec<KnownConversation>,
    context: &Context,
) -> Result<Vec<CheckSet>, CliError> {
    let is_data = conversations.iter().all(|it| it.is_data) && !conversations.is_empty();
    let mut sets = match (&args.job, is_data) {
        (None, true) => group_files(args, conversations, context)?,
        (job, _) => {
            let path = job.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_JOB));
            let argument = FileArgument::job("eval-job check PATH --job");
            let loaded = jobs::load(&[path], argument, args.files.prompts.as_deref(), context.redactor())?;
            let mut loaded =
                loaded.into_iter().next().ok_or_else(|| CliError::Internal("a job was lost".to_owned()))?;
            take_cases(&mut loaded, &conversations)?;
            vec![CheckSet { loaded, conversations }]
        }
    };
    for CheckSet { loaded, conversations } in &mut sets {
        only_judged(loaded, conversations)?;
    }
    Ok(sets)
}

/// Puts a case for each conversation in the place of the job's cases, with what the first of those says.
pub(super) fn take_cases(loaded: &mut Loaded, conversations: &[KnownConversation]) -> Result<(), CliError> {
    // They are of the job, whichever of its cases are to be run.
    let first = match &loaded.selection {
        Some(selection) => Some(&selection.first_case),
        None => loaded.job.cases.first(),
    };
    let first = first.cloned().ok_or_else(|| CliError::Internal("a job has no case".to_owned()))?;
    let case = |it: &KnownConversation| {
        // Nothing is known of graph and state, and the user said what is recorded.
        let (id, user, conditions) = (it.name.clone(), User::Persona, first.conditions[..1].to_vec());
        let (assertions, setups) = (Vec::new(), Vec::new());
        Arc::new(Case { id, user, conditions, assertions, setups, ..(*first).clone() })
    };
    loaded.job.cases = conversations.iter().map(case).collect();
    Ok(())
}

pub(super) fn only_judged(loaded: &mut Loaded, conversations: &[KnownConversation]) -> Result<(), CliError> {
    loaded.job.metrics.retain(|metric| metric.kind().asks_judge());
    if loaded.job.metrics.is_empty() {
        let what = format!("no metric of {} asks a judge", loaded.file);
        return Err(CliError::Unprepared(Refusal::new(what, "a job with tasks, or with a metric that asks a judge")));
    }
    refuse_unknown(&loaded.job, conversations)
}

/// The jobs that other systems' files make, with the context that lies beside each.
fn group_files(
    args: &CheckArgs,
    conversations: Vec<KnownConversation>,
    context: &Context,
) -> Result<Vec<CheckSet>, CliError> {
    let mut sets: Vec<(Value, CheckSet)> = Vec::new();
    for conversation in conversations {
        let mut loaded = load_dataset(&conversation.file, &grade_args(args), context)?;
        let case = loaded.job.cases.first().cloned();
        let case = case.ok_or_else(|| CliError::Internal("a file has no case".to_owned()))?;
        let case = Arc::new(Case { id: conversation.name.clone(), user: User::Persona, ..(*case).clone() });
        let how = judging_config(&loaded.job);
        match sets.iter_mut().find(|(known, _)| *known == how) {
            Some((_, set)) => {
                set.loaded.job.cases.push(case);
                set.conversations.push(conversation);
            }
            None => {
                loaded.job.cases = vec![case];
                sets.push((how, CheckSet { loaded, conversations: vec![conversation] }));
            }
        }
    }
    Ok(sets.into_iter().map(|(_, set)| set).collect())
}

/// The metrics and judges of a job.
fn judging_config(job: &Job) -> Value {
    json!({ "metrics": job.metrics, "judge": job.judge, "weights": job.weights })
}

/// Refuses names of metrics that nothing measures: what must fail there would always slip through, and the judge be blamed.
fn refuse_unknown(job: &Job, conversations: &[KnownConversation]) -> Result<(), CliError> {
    let names = |metric: &MetricEntry| [metric.label().to_owned(), metric.kind().as_str().to_owned()];
    let tasks = job.cases.iter().flat_map(|case| case.tasks.iter().map(|task| task.task.clone()));
    let of_case = job.cases.iter().flat_map(|case| case.expectations()).flat_map(|expected| &expected.rubrics);
    let of_metrics = job.metrics.iter().flat_map(|metric| match &metric.metric {
        MetricConfig::Rubric(options) => options.rubrics.as_slice(),
        _ => &[],
    });
    // As they are called in scorecards.
    let rubrics = of_case.chain(of_metrics).map(|rubric| match &rubric.description {
        Some(description) => format!("{} ({description})", rubric.text),
        None => rubric.text.clone(),
    });
    let known: BTreeSet<String> = job.metrics.iter().flat_map(names).chain(tasks).chain(rubrics).collect();
    for conversation in conversations {
        if let Some(name) = conversation.must_fail.iter().find(|name| !known.contains(*name)) {
            let what = format!("{} must fail `{name}`, which the job does not measure", conversation.file.display());
            let known = known.iter().cloned().collect::<Vec<_>>().join(", ");
            return Err(CliError::Unprepared(Refusal::new(what, format!("one of {}", report::one_line(&known, 300)))));
        }
    }
    Ok(())
}

/// The arguments of `grade` for keeping conversations.
pub(super) fn grade_args(args: &CheckArgs) -> GradeArgs {
    let CheckArgs { files: FileArgs { prices, prompts, env_file }, .. } = args;
    GradeArgs {
        runs: Vec::new(),
        recorded: RecordedArgs {
            dataset: None,
            actual: Vec::new(),
            min_score: None,
            selection: SelectionArgs::default(),
            reading: ReadingArgs {
                metric_set: args.metric_set,
                dialect_strict: args.dialect_strict,
                ..ReadingArgs::default()
            },
        },
        runs_dir: RunsArgs { runs_dir: checks(args) },
        job: None,
        weights: Vec::new(),
        scorer_model: None::<Panel>,
        judging: JudgingArgs { token_limit: None, ..args.judging },
        // Nobody is asked: the conversations are only kept.
        cache: CacheArgs { no_cache: true },
        files: FileArgs { prices: prices.clone(), prompts: prompts.clone(), env_file: env_file.clone() },
        output: Vec::new(),
        verbose: false,
    }
}
