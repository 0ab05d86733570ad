//! `eval-job baseline set NAME [RUN] | list | rm NAME`

use std::collections::BTreeMap;

use serde::Serialize;

use super::args::{BaselineCommand, BaselineListArgs, BaselineRemoveArgs, BaselineSetArgs, runs_dir_flag};
use super::context::Context;
use super::error::CliError;
use super::printer::Printer;
use super::team;
use crate::plan::Refusal;
use crate::record::{ListedRun, Verdict};
use crate::report;
use crate::store::StoredRun;
use crate::store::folder::{Baseline, BaselineName, RunsFolder, StoreError};

/// Names runs, shows the names and removes them.
pub(super) fn baseline(command: &BaselineCommand, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    match command {
        BaselineCommand::Set(args) => set(args, context, printer),
        BaselineCommand::List(args) => list(args, context, printer),
        BaselineCommand::Rm(args) => remove(args, context, printer),
    }
}

fn set(args: &BaselineSetArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    team::bring(&[args.run.as_deref()], &args.runs.runs_dir, context, printer)?;
    let runs = RunsFolder::at(&args.runs.runs_dir);
    if runs.names()?.iter().any(|folder| folder.rsplit('-').next() == Some(&args.name.to_string())) {
        let what = format!("{} is the id of a run, and would mean two things as the name of a baseline", args.name);
        return Err(CliError::Unprepared(Refusal::new(what, "another name: main, release-1.2")));
    }
    // A list believes a summary; what every later run is compared with is read whole.
    let mut stored = runs.open_unattended(args.run.as_deref())?;
    let run = ListedRun::from(&stored.read(|_, _| ())?.summary);
    if run.provenance.by_person {
        let what = format!(
            "run {} is one conversation that a person had (eval-job record): nothing can be compared with it",
            run.id
        );
        return Err(CliError::Unprepared(Refusal::new(what, "the id of a run, as `eval-job list` shows them")));
    }
    if let Some(note) = &stored.note {
        printer.note(&format!("note: {note}"));
    }
    if let Some(recorded) = &run.provenance.replayed {
        printer.note(&format!(
            "note: run {} is a replay of run {recorded}: it says what the agent did then; the recording itself is the better baseline",
            run.id
        ));
    }
    if matches!(run.verdict, Verdict::Incomplete | Verdict::Interrupted) {
        let (id, verdict) = (&run.id, run.verdict.label());
        printer.note(&format!("note: run {id} is {verdict}: where it has no figure, nothing can be compared with it"));
    }
    let (store, before) = (team::store(context)?, runs.baseline(&args.name).ok());
    runs.set_baseline(&args.name, &run.id, context.clock.wall())?;
    if let Some(store) = store
        && let Err(error) = store.set_baseline(&args.name, &runs.baseline(&args.name)?)
    {
        // Where the team's stays as it is, this machine's does, too.
        match before {
            Some(before) => runs.set_baseline(&args.name, &before.run, before.set_at)?,
            None => runs.remove_baseline(&args.name)?,
        }
        return Err(CliError::Team(error));
    }
    printer.note(&format!("baseline {} is run {} ({})", args.name, run.id, report::plain(&run.provenance.job)));
    Ok(0)
}

fn list(args: &BaselineListArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    team::bring_baselines(&args.runs.runs_dir, context, printer)?;
    let runs = RunsFolder::at(&args.runs.runs_dir);
    let mut rows = Vec::new();
    for name in runs.baseline_names()? {
        match runs.baseline(&name) {
            Ok(baseline) => rows.push(NamedBaseline { name, baseline }),
            Err(error) => printer.note(&format!("note: {error}")),
        }
    }
    if rows.is_empty() && !args.json {
        let flag = runs_dir_flag(&args.runs.runs_dir);
        printer.note(&format!("there are no baselines yet; eval-job baseline set NAME RUN{flag} names one"));
    }
    let widest = rows.iter().map(|row| row.name.to_string().len()).max().unwrap_or_default();
    let found = rows.iter().map(|row| run_of(&row.name, &runs)).collect::<Result<Vec<_>, CliError>>()?;
    // What is not here may be with the team.
    let theirs = if found.contains(&None) { team::runs(context, printer)? } else { Some(BTreeMap::new()) };
    let is_known = theirs.is_some();
    let lines = rows.iter().zip(&found).map(|(row, run)| {
        let run = run.as_ref().or_else(|| theirs.as_ref()?.get(&row.baseline.run));
        match args.json {
            true => json(row, run.is_none() && is_known),
            false => {
                let lost = if is_known { "its run was deleted" } else { "its run is not here" };
                let screen = BaselineColumns { widest, lost };
                Ok(line(row, &screen, run, context))
            }
        }
    });
    let lines = lines.collect::<Result<Vec<String>, CliError>>()?;
    printer.data(&match (args.json, lines.is_empty()) {
        (true, true) => "[]\n".to_owned(),
        (true, false) => format!("[\n{}\n]\n", lines.join(",\n")),
        (false, _) => lines.concat(),
    })?;
    Ok(0)
}

/// The run of a baseline; `None` where it is not in this folder.
fn run_of(name: &BaselineName, runs: &RunsFolder) -> Result<Option<ListedRun>, CliError> {
    match runs.listed(Some(&name.to_string())) {
        Ok(run) => Ok(Some(run)),
        Err(StoreError::BaselineDeleted { .. } | StoreError::NoRuns { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// How a list of baselines is laid out: how wide the widest name is, and what stands in place of a run that was not found.
struct BaselineColumns {
    widest: usize,
    lost: &'static str,
}

/// A baseline with its name.
struct NamedBaseline {
    name: BaselineName,
    baseline: Baseline,
}

fn line(
    NamedBaseline { name, baseline }: &NamedBaseline,
    BaselineColumns { widest, lost }: &BaselineColumns,
    run: Option<&ListedRun>,
    context: &Context,
) -> String {
    let name_column = format!("{:<width$}  ", name.to_string(), width = widest);
    let run = match run {
        Some(run) => report::listing(run, context.stdout_ink, context.width.saturating_sub(name_column.len())),
        None => format!("{}  {lost}", baseline.run),
    };
    format!("{name_column}{run}\n")
}

fn json(NamedBaseline { name, baseline }: &NamedBaseline, is_deleted: bool) -> Result<String, CliError> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Line<'a> {
        name: String,
        #[serde(flatten)]
        baseline: &'a Baseline,
        is_deleted: bool,
    }
    let line = Line { name: name.to_string(), baseline, is_deleted };
    serde_json::to_string(&line).map_err(|error| CliError::Internal(error.to_string()))
}

fn remove(args: &BaselineRemoveArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    let store = team::store(context)?;
    let was_theirs = store.map_or(Ok(false), |store| store.remove_baseline(&args.name)).map_err(CliError::Team)?;
    match RunsFolder::at(&args.runs.runs_dir).remove_baseline(&args.name) {
        Err(StoreError::NoSuchBaseline { .. }) if was_theirs => {}
        removed => removed?,
    }
    printer.note(&format!("baseline {} is removed; its run stays", args.name));
    Ok(0)
}
