//! The summary of several jobs of one command.

use super::comparison::signed;
use super::{Ink, Page, Paint, Screen, count, plain, two_decimals};
use crate::record::{ModelFigure, RunSummary, Verdict};
use crate::statistics::{Cell, Figure, Interval, Sums, figure};

/// With fewer jobs an interval is too wide to show anything.
const LEAST_JOBS: u32 = 3;

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
    over_jobs(runs.iter().map(|(run, _)| *run)).into_iter().for_each(|line| page += &format!("{line}\n"));
    page += &format!("{}\n", counts.join(", "));
    page
}

/// The score of each model over the jobs, where several have a figure: each job weighs the same.
fn over_jobs<'a>(runs: impl Iterator<Item = &'a RunSummary>) -> Vec<String> {
    let figures: Vec<(&RunSummary, &ModelFigure)> =
        runs.flat_map(|run| run.figures.iter().map(move |figure| (run, figure))).collect();
    let mut models: Vec<&str> = Vec::new();
    for (_, figure) in &figures {
        if !models.contains(&figure.model.as_str()) {
            models.push(&figure.model);
        }
    }
    let of_model = |model: &&str| {
        let own = || figures.iter().filter(|(_, figure)| figure.model == *model);
        let scored = || own().filter_map(|(run, figure)| Some((run, figure.figure.score()?.get())));
        let uplifts = own().filter_map(|(_, figure)| Some(figure.estimates.as_ref()?.uplift?.mean));
        let score = over_jobs_text(mean_of_jobs(scored().map(|(_, score)| score)), two_decimals, |figure| {
            figure.score_interval(Interval { low: 0.0, high: 1.0 })
        });
        let uplift =
            over_jobs_text(mean_of_jobs(uplifts), signed, |figure| figure.interval(Interval { low: -1.0, high: 1.0 }));
        let partial = scored().filter(|(run, _)| outcome(run).0 == Verdict::Incomplete.label()).count();
        let partial = if partial > 0 { format!(", {partial} of them incomplete") } else { String::new() };
        let score = score.map(|text| format!("score {text}{partial}"));
        let parts: Vec<String> = score.into_iter().chain(uplift.map(|text| format!("the facts add {text}"))).collect();
        let name = if models.len() > 1 { format!("{}: ", plain(model)) } else { String::new() };
        (!parts.is_empty()).then(|| format!("{name}{}", parts.join("; ")))
    };
    models.iter().filter_map(of_model).collect()
}

/// The mean over jobs; `None` of fewer than two.
fn mean_of_jobs(values: impl Iterator<Item = f64>) -> Option<Figure> {
    let cells: Vec<Cell> =
        values.enumerate().map(|(case, value)| Cell { case, values: Sums::from_iter([value]) }).collect();
    figure(&cells, 0).filter(|figure| figure.cases > 1)
}

/// A mean over jobs, from three on with its interval: `0.71 (0.40 to 0.92) over 5 jobs`.
fn over_jobs_text(
    figure: Option<Figure>,
    text: fn(f64) -> String,
    interval: fn(&Figure) -> Option<Interval>,
) -> Option<String> {
    let figure = figure?;
    let interval = interval(&figure).filter(|_| figure.cases >= LEAST_JOBS);
    let range = interval.map(|it| format!(" ({} to {})", text(it.low), text(it.high))).unwrap_or_default();
    Some(format!("{}{range} over {}", text(figure.mean), count(figure.cases as usize, "job")))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_over_jobs_have_intervals_from_three_on() {
        let all = Interval { low: 0.0, high: 1.0 };
        let mean = |values: &[f64]| mean_of_jobs(values.iter().copied());
        let over = |values: &[f64]| {
            over_jobs_text(mean(values), two_decimals, |it| it.interval(Interval { low: 0.0, high: 1.0 }))
        };
        assert_eq!(over(&[0.5]), None);
        assert_eq!(over(&[0.5, 0.7]).unwrap(), "0.60 over 2 jobs");
        // SciPy 1.17.1: stats.t.interval(.95, 2, .6, stats.sem([.5, .6, .7])) is 0.3516 to 0.8484.
        assert_eq!(over(&[0.5, 0.6, 0.7]).unwrap(), "0.60 (0.35 to 0.85) over 3 jobs");
        assert_eq!(over(&[0.5, 0.5, 0.5]).unwrap(), "0.50 over 3 jobs");
        // Three jobs can't rule out that 0.71 of all are worth nothing: as of cases, 0.6 × 0.29.
        let of_scores = mean(&[0.5, 0.6, 0.7]).unwrap().score_interval(all).unwrap();
        assert!((of_scores.low - 0.175_4).abs() < 1e-3 && (of_scores.high - 0.883_0).abs() < 1e-3, "{of_scores:?}");
    }
}
