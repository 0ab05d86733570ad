//! The store of a team, `--store`, as commands meet it: what is named is fetched, what has ended is sent.

use std::collections::BTreeMap;
use std::path::Path;

use super::context::Context;
use super::error::CliError;
use super::printer::Printer;
use crate::record::ListedRun;
use crate::report::{count, plain};
use crate::store::folder::{Baseline, BaselineName, RunsFolder, StoreError};
use crate::store::postgres::{Sent, TeamBaseline, TeamError, TeamStore, Unsent};

/// The store of the team, where `--store` names one.
pub(super) fn store(context: &Context) -> Result<Option<TeamStore>, CliError> {
    let url = context.store.as_ref().filter(|url| !url.expose().is_empty());
    url.map(|url| TeamStore::new(url.expose()).map_err(CliError::Team)).transpose()
}

/// Fetches the runs that are named and not here, by their ids or the names of the team's baselines; without a name the newest,
/// where there is no run at all here. A store that can't be used is reported, and the runs here are used.
pub(super) fn bring(
    ids: &[Option<&str>],
    runs_dir: &Path,
    context: &Context,
    printer: &Printer,
) -> Result<(), CliError> {
    let Some(store) = store(context)? else { return Ok(()) };
    let runs = RunsFolder::at(runs_dir);
    for id in ids {
        match bring_one(&store, *id, &runs) {
            Ok(()) => {}
            Err(error) if error.is_of_server() => {
                printer.note(&format!("note: {}: the runs of this machine have to do", plain(&error.to_string())));
                return Ok(());
            }
            Err(error) => return Err(CliError::Team(error)),
        }
    }
    Ok(())
}

/// The runs that the team's store has, by their ids, none where there is no such store; `None` where it can't be used, which is
/// reported.
pub(super) fn runs(context: &Context, printer: &Printer) -> Result<Option<BTreeMap<String, ListedRun>>, CliError> {
    let mut runs = BTreeMap::new();
    let Some(store) = store(context)? else { return Ok(Some(runs)) };
    match store.listed(|_, run: ListedRun| drop(runs.insert(run.id.clone(), run))) {
        Ok(()) => Ok(Some(runs)),
        Err(error) if error.is_of_server() => {
            printer.note(&format!("note: {}: which runs it has is unknown", plain(&error.to_string())));
            Ok(None)
        }
        Err(error) => Err(CliError::Team(error)),
    }
}

fn bring_one(store: &TeamStore, id: Option<&str>, runs: &RunsFolder) -> Result<(), TeamError> {
    let Some(id) = id else {
        return match runs.names() {
            Err(StoreError::NoRuns { .. }) => store.fetch(None, runs).map(drop),
            _ => Ok(()),
        };
    };
    let id = id.trim_end_matches('/').rsplit('/').next().unwrap_or(id);
    let name = id.parse::<BaselineName>().ok();
    let here = name.as_ref().and_then(|name| runs.baseline(name).ok());
    if here.is_none() && !matches!(runs.find(Some(id)), Err(StoreError::NoSuchRun { .. } | StoreError::NoRuns { .. })) {
        return Ok(());
    }
    let theirs = store.baselines()?.into_iter().find(|baseline| name.is_some() && baseline.name == id);
    let run = match (&name, theirs, here) {
        (Some(name), Some(theirs), here) => taken_over(name, theirs, here, runs)?,
        (_, None, Some(here)) => here.run,
        _ => id.to_owned(),
    };
    match runs.find(Some(&run)) {
        Err(StoreError::NoSuchRun { .. } | StoreError::NoRuns { .. }) => store.fetch(Some(&run), runs).map(drop),
        _ => Ok(()),
    }
}

/// Takes over a baseline of the team, unless the one of this machine is newer; returns the id of its run.
fn taken_over(
    name: &BaselineName,
    theirs: TeamBaseline,
    here: Option<Baseline>,
    runs: &RunsFolder,
) -> Result<String, TeamError> {
    if let Some(here) = here
        && (here.run == theirs.run || here.set_at > theirs.set_at)
    {
        return Ok(here.run);
    }
    std::fs::create_dir_all(runs.path()).map_err(|source| TeamError::Io {
        doing: "could not create",
        path: runs.path().to_path_buf(),
        source,
    })?;
    runs.set_baseline(name, &theirs.run, theirs.set_at).map_err(TeamError::Run)?;
    Ok(theirs.run)
}

/// Marks a run that has ended, so that it is sent.
pub(super) fn mark(folder: &Path, context: &Context, printer: &Printer) {
    if context.store.is_some()
        && let Err(error) = Unsent::mark(folder)
    {
        printer.note(&format!("note: {} can't be marked as one to be sent: {error}", folder.display()));
    }
}

/// Sends the runs that have ended, and those that could not be sent before.
pub(super) fn send(runs_dir: &Path, context: &Context, printer: &Printer) {
    let Ok(Some(store)) = store(context) else { return };
    let folders = Unsent::find(&RunsFolder::at(runs_dir));
    if folders.is_empty() {
        return;
    }
    let (sent, failed) = sent(&store, &folders, printer);
    let left = folders.len() - sent;
    if let Some(error) = failed {
        printer.note(&format!(
            "note: {}: {} in {}, and sent with the next run, or by eval-job reindex",
            plain(&error.to_string()),
            match left {
                1 => "1 run is kept".to_owned(),
                left => format!("{left} runs are kept"),
            },
            runs_dir.display()
        ));
    }
}

/// Sends all runs of this machine that the store does not have as they are.
pub(super) fn send_all(runs_dir: &Path, context: &Context, printer: &Printer) -> Result<(), CliError> {
    let Some(store) = store(context)? else { return Ok(()) };
    let runs = RunsFolder::at(runs_dir);
    let mut folders = Vec::new();
    for name in runs.names()? {
        let has_ended = runs.figures_of(&name).is_ok_and(|figures| figures.run.finished_at.is_some());
        if has_ended {
            folders.push(runs.path().join(name));
        }
    }
    let (_, failed) = sent(&store, &folders, printer);
    failed.map_or(Ok(()), |error| Err(CliError::Team(error)))
}

/// Sends runs; how many are there now, and why it went no further.
fn sent(store: &TeamStore, folders: &[std::path::PathBuf], printer: &Printer) -> (usize, Option<TeamError>) {
    let (mut done, mut new) = (0, 0);
    let failed = store.send(folders, |folder, sent| match sent {
        Ok(sent) => {
            done += 1;
            new += usize::from(sent == Sent::Now);
            Unsent::unmark(folder);
        }
        Err(error) => printer.note(&format!("note: {} is not sent: {}", folder.display(), plain(&error.to_string()))),
    });
    if new > 0 {
        printer.note(&format!("{} sent to the team's store", count(new, "run")));
    }
    (done, failed.err())
}

/// The runs of the team that are not in this runs folder, oldest first; none where its store can't be used, which is reported.
pub(super) fn elsewhere(runs_dir: &Path, context: &Context, printer: &Printer) -> Result<Vec<ListedRun>, CliError> {
    let Some(store) = store(context)? else { return Ok(Vec::new()) };
    let mut runs = Vec::new();
    let listed = store.listed(|folder, run| {
        if !RunsFolder::is_run(&runs_dir.join(folder)) {
            runs.push(run);
        }
    });
    match listed {
        Err(error) if error.is_of_server() => {
            printer.note(&format!("note: {}: only the runs of this machine are listed", plain(&error.to_string())));
            Ok(Vec::new())
        }
        Err(error) => Err(CliError::Team(error)),
        Ok(()) => Ok(runs),
    }
}

/// Takes over the baselines of the team; a store that can't be used is reported.
pub(super) fn bring_baselines(runs_dir: &Path, context: &Context, printer: &Printer) -> Result<(), CliError> {
    let Some(store) = store(context)? else { return Ok(()) };
    let runs = RunsFolder::at(runs_dir);
    match store.baselines() {
        Err(error) if error.is_of_server() => {
            printer.note(&format!("note: {}: the baselines of this machine are shown", plain(&error.to_string())));
            Ok(())
        }
        Err(error) => Err(CliError::Team(error)),
        Ok(baselines) => baselines.into_iter().try_for_each(|theirs| {
            let Ok(name) = theirs.name.parse() else { return Ok(()) };
            let here = runs.baseline(&name).ok();
            taken_over(&name, theirs, here, &runs).map(drop).map_err(CliError::Team)
        }),
    }
}
