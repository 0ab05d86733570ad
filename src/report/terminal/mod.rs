//! A run for people: what the terminal shows after it, from the whole to its reasons to the verdict.

mod conclusion;
mod parts;
mod table;
mod tokens;

use std::collections::BTreeMap;
use std::fmt::Write;

use super::gathered::Sentences;
use super::{Gathered, Ink, TrialNames, count, plain, two_decimals, wrapped};
use crate::record::{Overview, RunSummary};

/// The run as a page of text; `width` is where lines are cut that can be cut.
pub fn terminal(overview: &Overview, gathered: &Gathered, ink: Ink, width: usize) -> String {
    let mut page = String::new();
    heading(&mut page, &overview.summary, ink);
    let names = TrialNames::of_run(overview);
    table::table(&mut page, (overview, names), ink);
    let run = Run { overview, gathered, names, ink, width };
    parts::parts(&mut page, &run);
    troubles(&mut page, &run);
    refused(&mut page, &run);
    unwatched(&mut page, &run);
    for (note, _) in gathered.notes.in_order() {
        let _ = writeln!(page, "\n{}", ink.unsure(&wrapped(note, width, 2)));
    }
    tokens::tokens(&mut page, overview, ink);
    conclusion::conclusion(&mut page, overview, ink, width);
    page
}

/// What is shown, and how.
struct Run<'a> {
    overview: &'a Overview,
    gathered: &'a Gathered,
    names: TrialNames,
    ink: Ink,
    width: usize,
}

/// One line a run, for `eval-job list`.
pub fn listing(run: &RunSummary, ink: Ink) -> String {
    let figures: Vec<String> = run
        .figures
        .iter()
        .map(|figure| figure.figure.score().map_or_else(|| "–".to_owned(), |score| two_decimals(score.get())))
        .collect();
    format!(
        "{}  {}  {:<11}  {:>5}  {}  {}",
        run.id,
        run.started_at.format("%Y-%m-%d %H:%M:%S"),
        run.verdict.word(),
        figures.join(" "),
        plain(&run.provenance.job),
        ink.dim(&plain(&run.provenance.models.join(", ")))
    )
}

fn heading(page: &mut String, run: &RunSummary, ink: Ink) {
    let provenance = &run.provenance;
    let file = ink.dim(&format!("({})", plain(&provenance.job_file)));
    let _ = writeln!(page, "{} {file}", ink.bold(&plain(&provenance.job)));
    let _ = writeln!(page, "agent    {} · model {}", plain(&provenance.agent), plain(&provenance.models.join(", ")));
    let _ = writeln!(page, "persona  {} · {}", plain(&provenance.persona), mind(&provenance.persona_model));
    let _ = writeln!(page, "judge    {}", mind(&provenance.judge_model));
    if let Some(graph) = &provenance.graph {
        let _ = writeln!(page, "graph    {}", plain(graph));
    }
}

fn mind(model: &str) -> String {
    match model {
        "scripted" => "scripted rules, not a language model".to_owned(),
        "none" => "not asked: no metric of the job needs one".to_owned(),
        "script" => "the fixed lines of evaluator.script".to_owned(),
        model => plain(model),
    }
}

/// The groups that a sentence is about, and how many trials of them where it is not all.
fn names(run: &Run<'_>, groups: &BTreeMap<usize, usize>) -> String {
    let name = |(place, trials): (&usize, &usize)| {
        let group = run.overview.groups.get(*place)?;
        let share = if group.planned > 1 { format!(" ({trials} of {})", group.planned) } else { String::new() };
        Some(format!("{}{share}", run.names.group(group)))
    };
    groups.iter().filter_map(name).collect::<Vec<_>>().join(", ")
}

/// How many trials have sentences that are not shown.
fn left_out(page: &mut String, sentences: &Sentences, ink: Ink) {
    if sentences.left_out > 0 {
        let words = format!("and {} with other troubles", count(sentences.left_out, "conversation"));
        let _ = writeln!(page, "\n{}", ink.unsure(&words));
    }
}

/// What kept trials from saying something about the agent, or from coming to their own end: each once.
fn troubles(page: &mut String, run: &Run<'_>) {
    for (words, groups) in run.gathered.troubles.in_order() {
        // What an agent printed is read line by line.
        let mut lines = words.lines();
        let head = format!("{}: {}", names(run, groups), lines.next().unwrap_or_default());
        let _ = writeln!(page, "\n{}", run.ink.unsure(&wrapped(&head, run.width, 2)));
        for line in lines {
            let _ = writeln!(page, "  | {}", plain(line));
        }
    }
    left_out(page, &run.gathered.troubles, run.ink);
}

/// How often the agent refused requests because of our own other conversations.
fn refused(page: &mut String, run: &Run<'_>) {
    let open = run.gathered.open;
    if run.gathered.refused > 0 {
        let words = format!(
            "The agent refused {} (429){}: conversations were slowed down, and no refusal counts as a failure{}",
            count(run.gathered.refused as usize, "request"),
            if open > 1 { format!(" while up to {open} conversations were open") } else { String::new() },
            if open > 1 { ". target.maxConcurrency says how many it can hold at once" } else { "" },
        );
        let _ = writeln!(page, "\n{}", run.ink.unsure(&wrapped(&words, run.width, 2)));
    }
}

/// Why the graph could not be watched, once for each reason.
fn unwatched(page: &mut String, run: &Run<'_>) {
    for (reason, groups) in run.gathered.unwatched.in_order() {
        let words = format!("The graph could not be watched ({}): {reason}", names(run, groups));
        let _ = writeln!(page, "\n{}", run.ink.unsure(&wrapped(&words, run.width, 2)));
    }
    left_out(page, &run.gathered.unwatched, run.ink);
}
