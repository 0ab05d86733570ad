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
    let (scores, (word, paint)) = (scores.join(" "), word(run.verdict));
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
    let counts = verdict_counts(summaries).into_iter().map(|(verdict, text)| word(verdict).1(screen.ink, &text));
    let not_run = (not_run > 0).then(|| screen.ink.unsure(&format!("{} not run", count(not_run, "job"))));
    let counts: Vec<String> = counts.chain(not_run).collect();
    page += &format!("{}\n", counts.join(", "));
    page
}

/// How many of these runs came to each verdict, such as `2 passed`; verdicts that none came to are left out, but passed.
pub(super) fn verdict_counts<'a>(runs: impl Iterator<Item = &'a RunSummary>) -> Vec<(Verdict, String)> {
    let verdicts: Vec<Verdict> = runs.map(|run| run.verdict).collect();
    [Verdict::Passed, Verdict::GateFailed, Verdict::Inconclusive, Verdict::Incomplete, Verdict::Interrupted]
        .into_iter()
        .map(|verdict| (verdict, verdicts.iter().filter(|own| **own == verdict).count()))
        .filter(|(verdict, number)| *number > 0 || *verdict == Verdict::Passed)
        .map(|(verdict, number)| (verdict, format!("{number} {}", word(verdict).0)))
        .collect()
}

fn word(verdict: Verdict) -> (&'static str, Paint) {
    match verdict {
        Verdict::Passed => ("passed", Ink::good),
        Verdict::GateFailed => ("failed", Ink::bad),
        Verdict::Inconclusive | Verdict::Incomplete | Verdict::Interrupted => (verdict.label(), Ink::unsure),
    }
}
