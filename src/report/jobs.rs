//! The summary of several jobs of one command.

use super::{Ink, Page, Paint, Screen, count, two_decimals};
use crate::record::{RunSummary, Verdict};

/// Columns of a verdict.
const VERDICT: usize = 11;
/// Columns of a score.
const SCORE: usize = 4;

/// A line about a job: its verdict, its score and its name.
pub fn job_line(run: &RunSummary, screen: Screen) -> String {
    let scores: Vec<String> = run
        .figures
        .iter()
        .map(|figure| figure.figure.score().map_or_else(|| "–".to_owned(), |score| two_decimals(score.get())))
        .collect();
    let (scores, (word, paint)) = (scores.join(" "), outcome(run));
    let columns = scores.chars().count().max(SCORE);
    let mut page = Page::new(screen);
    let name = format!("{} ({})", run.provenance.job, run.provenance.job_file);
    page.aligned(0, [(word, VERDICT), (&scores, columns)], paint, &name);
    page.text
}

/// The jobs that did not pass, each with the command that shows more of it, and how many came out how. `not_run` is the
/// number of those that were not begun.
pub fn jobs(runs: &[(&RunSummary, String)], not_run: usize, screen: Screen) -> String {
    let mut page = String::from("\n");
    for (run, command) in runs.iter().filter(|(run, _)| run.verdict != Verdict::Passed) {
        page += &format!("{}  {command}\n", job_line(run, screen));
    }
    let summaries = runs.iter().map(|(run, _)| *run);
    let counts = verdict_counts(summaries).into_iter().map(|(paint, text)| paint(screen.ink, &text));
    let not_run = (not_run > 0).then(|| screen.ink.unsure(&format!("{} not run", count(not_run, "job"))));
    let counts: Vec<String> = counts.chain(not_run).collect();
    page += &format!("{}\n", counts.join(", "));
    page
}

/// How many of these runs came to each verdict, such as `2 passed`; verdicts that none came to are left out, but passed.
pub(super) fn verdict_counts<'a>(runs: impl Iterator<Item = &'a RunSummary>) -> Vec<(Paint, String)> {
    let outcomes: Vec<(&str, Paint)> = runs.map(outcome).collect();
    let counted =
        ["passed", NO_GATE, "failed", "inconclusive", "incomplete", "interrupted"].into_iter().filter_map(|name| {
            let mut own = outcomes.iter().filter(|(own, _)| *own == name);
            let paint = own.next().map(|(_, paint)| *paint)?;
            let number = 1 + own.count();
            Some((paint, if name == NO_GATE { format!("{number} without a gate") } else { format!("{number} {name}") }))
        });
    let counted: Vec<(Paint, String)> = counted.collect();
    let has_good = outcomes.iter().any(|(name, _)| ["passed", NO_GATE].contains(name));
    let none = (!has_good).then(|| (Ink::good as Paint, "0 passed".to_owned()));
    none.into_iter().chain(counted).collect()
}

const NO_GATE: &str = "no gate";

/// The outcome of a run in a word: `failed` is shorter than the verdict's name.
fn outcome(run: &RunSummary) -> (&'static str, Paint) {
    match run.verdict {
        Verdict::Passed if run.has_no_gate => (NO_GATE, Ink::bold),
        Verdict::Passed => ("passed", Ink::good),
        Verdict::GateFailed => ("failed", Ink::bad),
        Verdict::Inconclusive | Verdict::Incomplete | Verdict::Interrupted => (run.verdict.label(), Ink::unsure),
    }
}
