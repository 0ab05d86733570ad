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
    let all = [Verdict::Passed, Verdict::GateFailed, Verdict::Incomplete, Verdict::Interrupted];
    let counts = all.into_iter().filter_map(|verdict| {
        let number = runs.iter().filter(|(run, _)| run.verdict == verdict).count();
        let (word, paint) = word(verdict);
        (number > 0 || verdict == Verdict::Passed).then(|| paint(screen.ink, &format!("{number} {word}")))
    });
    let not_run = (not_run > 0).then(|| screen.ink.unsure(&format!("{} not run", count(not_run, "job"))));
    let counts: Vec<String> = counts.chain(not_run).collect();
    page += &format!("{}\n", counts.join(", "));
    page
}

fn word(verdict: Verdict) -> (&'static str, Paint) {
    match verdict {
        Verdict::Passed => ("passed", Ink::good),
        Verdict::GateFailed => ("failed", Ink::bad),
        Verdict::Incomplete | Verdict::Interrupted => (verdict.label(), Ink::unsure),
    }
}
