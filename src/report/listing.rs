//! Runs in a list, for `eval-job list`.

use unicode_width::UnicodeWidthStr;

use super::{Ink, one_line, two_decimals};
use crate::record::ListedRun;

/// From this width on a line has the seconds and the year.
const WIDE: usize = 80;

/// One line a run, of at most `width` columns.
pub fn listing(run: &ListedRun, ink: Ink, width: usize) -> String {
    listing_as(run, run.verdict_label(), ink, width)
}

/// The line of a run with this word for how it ended.
pub fn listing_as(run: &ListedRun, label: &str, ink: Ink, width: usize) -> String {
    let time = run.started_at.format(if width < WIDE { "%m-%d %H:%M" } else { "%Y-%m-%d %H:%M:%S" });
    let fixed = format!("{}  {time}  {:<12}  {:>5}  ", run.id, label, figures(run));
    let room = width.saturating_sub(fixed.width());
    let replay = if run.provenance.replayed.is_some() { "replay of " } else { "" };
    let job = one_line(&format!("{replay}{}", run.provenance.job), room);
    // The remaining columns are for the models.
    let room = room.saturating_sub(job.width() + 2);
    let models = one_line(&run.provenance.models.join(", "), room);
    match room {
        0..8 => format!("{fixed}{job}"),
        _ => format!("{fixed}{job}  {}", ink.dim(&models)),
    }
}

/// The figures of the models: of more than two the lowest and the highest.
fn figures(run: &ListedRun) -> String {
    let scores: Vec<Option<f64>> =
        run.figures.iter().map(|figure| figure.figure.score().map(|score| score.get())).collect();
    let shown = |score: &Option<f64>| score.map_or_else(|| "–".to_owned(), two_decimals);
    if scores.is_empty() {
        return shown(&None);
    }
    if scores.len() <= 2 {
        return scores.iter().map(shown).collect::<Vec<_>>().join(" ");
    }
    let known = || scores.iter().flatten().copied();
    match (known().reduce(f64::min), known().reduce(f64::max)) {
        (Some(low), Some(high)) => format!("{} to {}", two_decimals(low), two_decimals(high)),
        _ => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(job: &str, scores: &[f64]) -> ListedRun {
        let figure = |score: &f64| serde_json::json!({"model": "gpt-4.1-mini", "figure": {"kind": "scored", "score": score, "why": ""}});
        let models = vec!["gpt-4.1-mini"; scores.len()];
        serde_json::from_value(serde_json::json!({
            "version": 2, "id": "abc123", "startedAt": "2026-11-22T10:31:07Z", "finishedAt": null, "verdict": "gateFailed",
            "provenance": {"job": job, "models": models},
            "figures": scores.iter().map(figure).collect::<Vec<_>>(),
        }))
        .unwrap()
    }

    #[test]
    fn a_line_fits_its_width_whatever_the_job_is_called() {
        for job in ["Travel desk", &"提醒".repeat(50), &"a job of many words ".repeat(10), "x\u{1b}[31m\ny"] {
            for scores in [vec![], vec![0.5], vec![0.5, 1.0], vec![0.25; 12]] {
                for width in [60, 80, 140] {
                    let line = listing(&run(job, &scores), Ink::None, width);
                    assert!(line.width() <= width, "{width}: {line}");
                }
            }
        }
    }

    #[test]
    fn what_matters_is_shown_in_any_width() {
        let travel = run("Travel desk", &[0.5]);
        assert_eq!(listing(&travel, Ink::None, 60), "abc123  11-22 10:31  gate failed    0.50  Travel desk");
        assert_eq!(
            listing(&travel, Ink::None, 100),
            "abc123  2026-11-22 10:31:07  gate failed    0.50  Travel desk  gpt-4.1-mini"
        );
        assert!(listing(&run("x", &[]), Ink::None, 100).contains("      –  x"), "one that was killed");
        assert!(listing(&run("x", &[0.5, 0.25, 1.0]), Ink::None, 100).contains("  0.25 to 1.00  x"));
    }

    #[test]
    fn a_replay_and_a_conversation_of_a_person_are_no_results() {
        let mut own = run("Travel desk", &[0.5]);
        own.provenance.by_person = true;
        assert_eq!(listing(&own, Ink::None, 60), "abc123  11-22 10:31  by a person    0.50  Travel desk");
        let mut replay = run("Travel desk", &[0.5]);
        replay.provenance.replayed = Some("xyz".to_owned());
        assert!(listing(&replay, Ink::None, 100).contains("  replay of Travel desk  "));
    }
}
