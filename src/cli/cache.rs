//! `eval-job cache list | prune`, and the cache of a command that asks judges.

use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};

use super::args::{CacheArgs, CacheCommand, CacheListArgs, CachePruneArgs, runs_dir_flag};
use super::context::Context;
use super::error::CliError;
use super::printer::Printer;
use crate::cache::{Cache, CacheFolder, CacheRow, PruneRules};
use crate::report::{self, count, plain, size, thousands};

/// The cache that a command uses, beside its runs.
pub(super) fn open(args: CacheArgs, runs: &Path, context: &Context) -> Cache {
    match args.no_cache {
        true => Cache::OFF,
        false => Cache::at(CacheFolder::beside(runs), context.clock, context.redactor().clone()),
    }
}

/// Tells what went wrong with a cache.
pub(super) fn tell_troubles(cache: &Cache, printer: &Printer) {
    cache.troubles().iter().for_each(|trouble| printer.note(&format!("note: {}", plain(trouble))));
}

/// Shows what is kept, or removes some of it.
pub(super) fn cache(command: &CacheCommand, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    match command {
        CacheCommand::List(args) => list(args, printer),
        CacheCommand::Prune(args) => prune(args, context, printer),
    }
}

fn list(args: &CacheListArgs, printer: &Printer) -> Result<u8, CliError> {
    let folder = CacheFolder::beside(&args.runs.runs_dir);
    let listing = folder.list().map_err(|source| CliError::CacheFolder { path: folder.path().to_owned(), source })?;
    if !listing.damaged.is_empty() {
        let (damaged, flag) = (count(listing.damaged.len(), "kept verdict"), runs_dir_flag(&args.runs.runs_dir));
        printer.note(&format!("note: {damaged} can't be used; eval-job cache prune{flag} removes what is damaged"));
    }
    if args.json {
        let lines = listing.rows.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
        let lines = lines.map_err(|error| CliError::Internal(error.to_string()))?;
        let array = if lines.is_empty() { "[]\n".to_owned() } else { format!("[\n{}\n]\n", lines.join(",\n")) };
        printer.data(&report::terminal_json(&array))?;
        return Ok(0);
    }
    if listing.rows.is_empty() {
        printer.note(&format!("no verdict is kept in {}", plain(&folder.path().display().to_string())));
    }
    printer.data(&listing.rows.iter().map(line).collect::<String>())?;
    Ok(0)
}

fn line(row: &CacheRow) -> String {
    let CacheRow { model, address, replies, bytes, usage, oldest, newest } = row;
    let tokens = usage.total_tokens().map(|tokens| format!("{} tokens", thousands(tokens)));
    let (first, last) = (oldest.format("%Y-%m-%d").to_string(), newest.format("%Y-%m-%d").to_string());
    let days = if first == last { first } else { format!("{first} to {last}") };
    let facts = [Some(count(*replies as usize, "verdict")), tokens, Some(size(*bytes)), Some(days)];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    format!("{} at {}  {}\n", plain(model), plain(address), facts.join(" · "))
}

fn prune(args: &CachePruneArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    let folder = CacheFolder::beside(&args.runs.runs_dir);
    let now = context.clock.wall();
    // An age that no date can have removes nothing.
    let before = |seconds: f64| {
        let age = TimeDelta::try_milliseconds((seconds * 1000.0) as i64);
        age.and_then(|age| now.checked_sub_signed(age)).unwrap_or(DateTime::<Utc>::MIN_UTC)
    };
    let rules = PruneRules {
        before: args.older_than.map(before),
        model: args.model.clone(),
        most_bytes: if args.all { Some(0) } else { args.max_size },
    };
    let pruned =
        folder.prune(&rules, now).map_err(|source| CliError::CacheFolder { path: folder.path().to_owned(), source })?;
    let mut removed = vec![count(pruned.replies as usize, "verdict")];
    removed.extend((pruned.damaged > 0).then(|| count(pruned.damaged as usize, "damaged file")));
    let left = count(pruned.left as usize, "verdict");
    printer.data(&format!("{} removed, {}; {left} left\n", removed.join(" and "), size(pruned.bytes)))?;
    if rules == PruneRules::default() {
        printer.note("to remove more: --older-than 30d, --model MODEL, --max-size 100MB, or --all");
    }
    Ok(0)
}
