//! From job files to plans, the same for `run` and `validate`.

use std::path::{Path, PathBuf};

use super::args::{DataArgs, FileArgs, PlanArgs, SelectionArgs};
use super::cassettes::{JobCassette, JobCassettes};
use super::context::Context;
use super::datasets::{self, TargetArg};
use super::error::{CliError, FileArgument, RefusedJob};
use super::grade::check_canaries;
use super::job_files::job_files;
use super::jobs::{self, Loaded};
use super::partition;
use super::prompts::PromptFiles;
use super::selection::{self, CaseSelection, Selected};
use crate::grade;
use crate::job::{Case, Job, JobPart, JobPlace, RunLimits, StatementList, StatementPlace, TemplateCheck, UserPersona};
use crate::money::{PriceTable, SpendLimits};
use crate::plan::{Environment, Overrides, Plan, Refusal};
use crate::prompt::Templates;
use crate::record::RunPart;
use crate::report::count;
use crate::run;
use crate::score::Vacuity;

/// A job with a plan that can work, as far as that is known.
pub(super) struct Planned {
    /// The file, as typed.
    pub(super) file: String,
    pub(super) templates: Templates,
    /// Which of its cases are left, where not all of them are.
    pub(super) selection: Option<CaseSelection>,
    /// Which part of the suite it is, where `--partition` asks for one.
    pub(super) part: Option<RunPart>,
    /// Its recording, where it is recorded or replayed.
    pub(super) cassette: JobCassette,
    pub(super) plan: Plan,
}

impl Planned {
    /// Its job, as it is to be run.
    pub(super) fn loaded(&self) -> Loaded {
        let Planned { file, templates, selection, plan, .. } = self;
        let (job, selection) = ((*plan.job).clone(), selection.clone());
        Loaded { file: file.clone(), text: String::new(), job, templates: templates.clone(), selection }
    }
}

/// All jobs that can work.
pub(super) struct PlannedJobs {
    /// The jobs, in the order of the arguments.
    pub(super) jobs: Vec<Planned>,
    /// Files and jobs that are left out, for the user.
    pub(super) notes: Vec<String>,
}

/// Reads and plans the jobs of these files, folders and patterns.
///
/// # Errors
/// All problems of all files.
pub(super) fn plan_all(
    typed: &[PathBuf],
    argument: FileArgument,
    args: &PlanArgs,
    context: &Context,
) -> Result<PlannedJobs, CliError> {
    let prices = prices(args.files.prices.as_deref())?;
    let (jobs, mut notes) = load_all(
        typed,
        argument,
        LoadArgs { data: &args.data, selection: &args.selection, files: &args.files },
        context,
    )?;
    let (mut planned, mut refused) = (Vec::new(), Vec::new());
    let mut cassettes = JobCassettes::new(&args.cassette);
    for loaded in jobs {
        let (file, text) = (loaded.file.clone(), Some(loaded.text.clone()));
        let cassette = cassettes.next(&loaded.job, context)?;
        match plan(args, context, &prices, LoadedJob { loaded, cassette }) {
            Ok(plan) => planned.push(plan),
            Err(refusals) => refused.push(RefusedJob::new(file, text, refusals)),
        }
    }
    if !refused.is_empty() {
        return Err(CliError::Refused(refused));
    }
    if let Some(partition) = args.partition {
        notes.extend(partition::keep_part(&mut planned, partition));
    }
    Ok(PlannedJobs { jobs: planned, notes })
}

/// The arguments by which files are read as jobs.
#[derive(Clone, Copy)]
pub(super) struct LoadArgs<'a> {
    pub(super) data: &'a DataArgs,
    pub(super) selection: &'a SelectionArgs,
    pub(super) files: &'a FileArgs,
}

/// Reads the jobs of these files, folders and patterns, with notes for the user.
///
/// # Errors
/// All problems of all files.
pub(super) fn load_all(
    typed: &[PathBuf],
    argument: FileArgument,
    args: LoadArgs<'_>,
    context: &Context,
) -> Result<(Vec<Loaded>, Vec<String>), CliError> {
    let targets = typed.iter().map(|path| (path.clone(), args.data.target.clone())).collect();
    load_with(targets, argument, args, context)
}

/// Reads jobs as [`load_all`] does where no agent is needed: other systems' files are recognised, and get a target that is never contacted.
///
/// # Errors
/// All problems of all files.
pub(super) fn load_without_agent(
    typed: &[PathBuf],
    argument: FileArgument,
    args: LoadArgs<'_>,
    context: &Context,
) -> Result<(Vec<Loaded>, Vec<String>), CliError> {
    let target = |path: &PathBuf| args.data.target.clone().or_else(|| datasets::stand_in(path));
    let targets = typed.iter().map(|path| (path.clone(), target(path))).collect();
    load_with(targets, argument, args, context)
}

/// Job files, and the other systems' files that have a target.
fn load_with(
    typed: Vec<(PathBuf, Option<TargetArg>)>,
    argument: FileArgument,
    args: LoadArgs<'_>,
    context: &Context,
) -> Result<(Vec<Loaded>, Vec<String>), CliError> {
    let LoadArgs { data, selection, files } = args;
    let prompts = files.prompts.as_deref();
    let (mut loaded, mut warnings, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    if data.generate.is_some() && typed.iter().any(|(_, target)| target.is_none()) {
        let what = "--generate holds conversations for the scenarios of Red Hat's, ADK's and trpc-agent-go's files: name the agent with --target";
        let help = "a job's own conversations are run again with --repeat".to_owned();
        return Err(CliError::Unprepared(Refusal::new(what, help)));
    }
    // Neighbours of one kind are read together, so that the problems of all are shown.
    for same in typed.chunk_by(|(_, one), (_, other)| one.is_none() && other.is_none()) {
        match same {
            [(path, Some(target))] => {
                let (jobs, of_file) = datasets::load(path, target, args, context)?;
                loaded.extend(jobs);
                warnings.extend(of_file);
            }
            same => {
                let paths: Vec<PathBuf> = same.iter().map(|(path, _)| path.clone()).collect();
                warnings.extend(data.reading.without_effect(None));
                let found = job_files(&paths, argument)?;
                loaded.extend(jobs::load(&found.files, argument, prompts, context.redactor())?);
                left_out.extend(found.left_out);
            }
        }
    }
    let Selected { jobs, note } = selection::select(selection, loaded)?;
    Ok((jobs, warnings.into_iter().chain(no_jobs(&left_out)).chain(note).collect()))
}

/// The note about files of folders that are no jobs; a few by name.
fn no_jobs(left_out: &[PathBuf]) -> Option<String> {
    const NAMED: usize = 3;
    let names: Vec<String> = left_out.iter().take(NAMED).map(|path| path.display().to_string()).collect();
    let more = left_out.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let files = count(left_out.len(), "YAML file");
    (!names.is_empty()).then(|| format!("{files} left out: no `target`, so no job: {}{more}", names.join(", ")))
}

/// A job that was read, with the cassette that it is recorded on or replayed from.
struct LoadedJob {
    loaded: Loaded,
    cassette: JobCassette,
}

fn plan(args: &PlanArgs, context: &Context, prices: &PriceTable, job: LoadedJob) -> Result<Planned, Vec<Refusal>> {
    let LoadedJob { loaded, cassette } = job;
    let Loaded { file, job, templates, selection, .. } = loaded;
    let personas = personas(&args.persona, &file, args.files.prompts.as_deref())?;
    let wanted = Overrides {
        personas,
        repeat: args.repeat,
        until: args.until.asked(),
        max_turns: args.max_turns,
        trial_seconds: args.timeout,
        models: args.model.clone(),
        conditions: args.condition.map(Into::into).into_iter().collect(),
        evaluator_model: args.evaluator_model.clone(),
        scorer_model: args.scorer_model.clone(),
        min_score: args.gate.min_score,
        baseline: args.gate.baseline.clone(),
        max_drop: args.gate.max_drop,
        limits: RunLimits {
            spend: SpendLimits { cost: args.cost_limit, tokens: args.token_limit },
            seconds: args.time_limit,
        },
        is_probe: false,
    };
    let (credentials, is_replayed) = (cassette.credentials(context), cassette.is_replayed());
    let surroundings = Environment {
        variables: credentials.variables.clone(),
        prices: prices.clone(),
        is_replayed,
        ..surroundings(context)
    };
    let mut plan = Plan::new(job, wanted, surroundings)?;
    plan.warnings.extend(says_nothing(&plan.job, context));
    let unusable: Vec<Refusal> = plan.job.cases.iter().flat_map(|case| unusable(&plan.job, case, context)).collect();
    if !unusable.is_empty() {
        return Err(unusable);
    }
    check_canaries(&plan.job, selection.as_ref(), &file).map_err(|refusal| vec![refusal])?;
    run::check_clients(&plan, &credentials, context.clock).map_err(|error| {
        let help = "correct it in the job file or in the environment".to_owned();
        vec![Refusal::new(error.to_string(), help)]
    })?;
    Ok(Planned { file, templates, selection, part: None, cassette, plan })
}

/// The personas that `--persona` names.
pub(super) fn personas(named: &[String], file: &str, prompts: Option<&Path>) -> Result<Vec<UserPersona>, Vec<Refusal>> {
    let files = PromptFiles::for_job(Path::new(file), prompts);
    let (mut personas, mut refusals): (Vec<UserPersona>, Vec<Refusal>) = (Vec::new(), Vec::new());
    for name in named {
        match files.persona(name.trim()) {
            Ok(persona) if personas.contains(&persona) => {}
            Ok(persona) => personas.push(persona),
            Err(problem) => {
                let place = problem.place.map(|place| format!("{}:{}:{}: ", place.file, place.line, place.column));
                let what = format!("{}{}", place.unwrap_or_default(), problem.message);
                refusals.push(Refusal::new(what, "correct --persona, or the persona's file"));
            }
        }
    }
    if refusals.is_empty() { Ok(personas) } else { Err(refusals) }
}

/// Warnings about cases of which no figure can say anything of the agent: nothing that counts there can fail, or an agent that does
/// nothing passes.
fn says_nothing(job: &Job, context: &Context) -> Vec<String> {
    const MAX_LISTED: usize = 3;
    let (mut vacuous, mut idle) = (Vec::new(), Vec::new());
    for case in &job.cases {
        match grade::vacuity_of_case(job, case, context.clock) {
            Some(Vacuity::Vacuous) => vacuous.push(&case.id),
            Some(_) => idle.push(&case.id),
            None => {}
        }
    }
    let named = |ids: &[&String]| {
        let names = ids.iter().take(MAX_LISTED).map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
        match ids.len() {
            0..=MAX_LISTED => names,
            all => format!("{names} and {} more", all - MAX_LISTED),
        }
    };
    let vacuous = (!vacuous.is_empty()).then(|| {
        let cases = named(&vacuous);
        format!("nothing that counts in {cases} can fail, whatever the agent does: say what is `expected` there")
    });
    let idle = (!idle.is_empty()).then(|| {
        format!("an agent that does nothing passes {}: `eval-job audit` names what lets it pass", named(&idle))
    });
    vacuous.into_iter().chain(idle).collect()
}

/// The assertions of a case that can't be evaluated, found by trying them on empty evidence.
fn unusable(job: &Job, case: &Case, context: &Context) -> Vec<Refusal> {
    let of_case = if job.cases.len() > 1 { format!("case `{}`: ", case.id) } else { String::new() };
    let refusal = |(number, problem): (usize, String)| {
        let place = StatementPlace {
            list: StatementList::Assertions,
            number,
            case: case.id_in_file().to_owned(),
            is_one_of_several: job.cases.len() > 1,
        };
        let place = JobPlace { part: JobPart::Statement(place), within: None };
        let refusal = Refusal::new(format!("{of_case}{problem}"), "correct it in the job file");
        Refusal { place: Some(place), ..refusal }
    };
    grade::unusable_on_nothing(job, case, context.clock).into_iter().map(refusal).collect()
}

/// Prices of models: those of the file, then the embedded ones.
pub(super) fn prices(file: Option<&Path>) -> Result<PriceTable, CliError> {
    let Some(path) = file else { return Ok(PriceTable::embedded()) };
    let text = std::fs::read_to_string(path);
    let argument = FileArgument { before: "--prices", kind: "file of prices" };
    let text = text.map_err(|source| CliError::Unreadable { path: path.to_path_buf(), source, argument })?;
    PriceTable::embedded()
        .with_file(&text)
        .map_err(|error| CliError::InvalidPrices { path: path.to_path_buf(), what: error.to_string() })
}

/// The parts of the environment that decide whether a plan can work.
pub(super) fn surroundings(context: &Context) -> Environment {
    Environment {
        variables: context.credentials.variables.clone(),
        neo4j_uri: context.credentials.neo4j_uri.clone(),
        prices: PriceTable::embedded(),
        is_replayed: false,
    }
}
