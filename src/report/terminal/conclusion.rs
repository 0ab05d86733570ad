//! The figure, the verdict, and what a reader must know about both.

use std::fmt::Write;

use super::super::{Ink, count, plain, two_decimals, wrapped};
use crate::record::{ModelFigure, Overview, RunSummary, Spender, Verdict};
use crate::score::Component;

/// Writes the figures and the verdict.
pub(super) fn conclusion(page: &mut String, overview: &Overview, ink: Ink, width: usize) {
    let record = &overview.summary;
    page.push('\n');
    let several = record.figures.len() > 1;
    let names = record.figures.iter().map(|figure| figure.model.chars().count()).max().unwrap_or_default();
    for figure in &record.figures {
        let name = if several { format!("{:<names$}  ", plain(&figure.model)) } else { String::new() };
        let words = match &figure.figure {
            Component::Scored { score, why } => {
                let difference = difference(record, figure).map(|words| format!("  {words}")).unwrap_or_default();
                format!("{}{difference}  {}", ink.bold(&format!("Score {}", two_decimals(score.get()))), ink.dim(why))
            }
            _ => {
                let all: usize = overview.groups_of(&figure.model).map(|group| group.planned).sum();
                let without =
                    all - overview.groups_of(&figure.model).map(|group| group.composite.scored).sum::<usize>();
                let conversations = count(all, "conversation");
                format!("{}  {without} of {conversations} could not be scored", ink.unsure("No score"))
            }
        };
        let _ = writeln!(page, "{name}{words}");
    }
    if several {
        let _ = writeln!(page, "{}", ink.dim(&few(overview)));
    }
    let unscored = overview.planned() - overview.groups.iter().map(|group| group.composite.scored).sum::<usize>();
    if unscored > 0 && record.figures.iter().any(|figure| figure.figure.score().is_some()) {
        let words = format!("{unscored} of {} have no figure", count(overview.planned(), "conversation"));
        let _ = writeln!(page, "{}", ink.unsure(&words));
    }
    if let Some(words) = unshown(overview) {
        let _ = writeln!(page, "{}", ink.unsure(&wrapped(&words, width, 0)));
    }
    if let Some(words) = uncounted(overview) {
        let _ = writeln!(page, "{}", ink.unsure(&wrapped(&words, width, 2)));
    }
    if let Some(why) = &record.limit_reached {
        let conversations = count(overview.planned(), "conversation");
        let words = format!("stopped: {why}; {} of {conversations} begun", overview.begun);
        let _ = writeln!(page, "{}", ink.unsure(&wrapped(&words, width, 2)));
    }
    let words = verdict(overview);
    let words = match record.verdict {
        Verdict::Passed => ink.good(&words),
        Verdict::GateFailed => ink.bad(&words),
        Verdict::Incomplete | Verdict::Interrupted => ink.unsure(&words),
    };
    let _ = writeln!(page, "{words}");
    // What was not graded shows nothing yet, and is repeated with the same models first.
    let is_graded = matches!(record.verdict, Verdict::Passed | Verdict::GateFailed);
    if is_graded && record.provenance.is_scripted() {
        let _ = write!(page, "\n{}", real_models(record, width));
    }
}

/// How little a difference between models rests on.
fn few(overview: &Overview) -> String {
    let of = match overview.groups.iter().map(|group| group.planned).max().unwrap_or_default() {
        0 | 1 => "One conversation a condition".to_owned(),
        several => format!("{several} conversations a condition"),
    };
    format!("{of}: differences are shown, not proven.")
}

/// How many assertions may say nothing of the conversations, and what to do about it.
fn unshown(overview: &Overview) -> Option<String> {
    let held = |count: usize, others: &str| format!("{count}{others} held before the first word already");
    let words = match (overview.doubts.vacuous().len(), overview.doubts.held_before().len()) {
        (0, 0) => return None,
        (0, 1) => held(1, " assertion"),
        (0, several) => held(several, " assertions"),
        (vacuous, more) => {
            let more = if more == 0 { String::new() } else { format!(", and {}", held(more, " more")) };
            format!("{} may not be able to fail{more}", count(vacuous, "vacuous assertion"))
        }
    };
    let left = "; where earlier conversations may have left it, isolation: user or a setup that clears it away";
    let left = if overview.doubts.may_be_left_over { left } else { "" };
    Some(format!("{words}. Where that is meant, say `holdsBefore: true`{left}"))
}

/// What a limit of the run could not hold: an agent that tells no tokens.
fn uncounted(overview: &Overview) -> Option<String> {
    let provenance = &overview.summary.provenance;
    let asked: Vec<&str> = [(&provenance.persona_model, "persona"), (&provenance.judge_model, "judge")]
        .into_iter()
        .filter_map(|(model, whose)| model.contains('/').then_some(whose))
        .collect();
    if asked.is_empty() {
        return None;
    }
    let limit = match (provenance.cost_limit, provenance.token_limit) {
        (Some(_), _) => "limits.cost",
        (None, Some(_)) => "limits.tokens",
        (None, None) => return None,
    };
    let silent = overview.spending.iter().any(|row| row.spender == Spender::Agent && row.usage.is_none());
    silent.then(|| {
        format!("{limit} holds for {} only: what the agent takes of its own, nobody tells", asked.join(" and "))
    })
}

/// How far a model's figure is from the first one's.
fn difference(record: &RunSummary, figure: &ModelFigure) -> Option<String> {
    let first = record.figures.first().filter(|first| first.model != figure.model)?;
    let difference = figure.figure.score()?.get() - first.figure.score()?.get();
    let sign = if difference < 0.0 { '−' } else { '+' };
    Some(format!("({sign}{} to {})", two_decimals(difference.abs()), plain(&first.model)))
}

fn verdict(overview: &Overview) -> String {
    let record = &overview.summary;
    let gate = record.provenance.min_score.map(|gate| two_decimals(gate.get()));
    let is_below = |score| record.provenance.min_score.is_some_and(|gate| score < gate);
    let below = record.figures.iter().any(|figure| figure.figure.score().is_some_and(is_below));
    match (record.verdict, gate) {
        (Verdict::Passed, gate) if overview.doubts.nothing_can_fail() => {
            let gate = gate.map_or("no gate is set".to_owned(), |gate| format!("the gate is {gate}"));
            format!(
                "passed without a check: {gate}, and no assertion could have failed; gate.vacuous: fail makes that fail"
            )
        }
        (Verdict::Passed, Some(gate)) => format!("passed: the gate is {gate}"),
        (Verdict::Passed, None) => "passed: no gate is set".to_owned(),
        (Verdict::GateFailed, Some(gate)) if below => format!("gate failed: the gate is {gate}"),
        (Verdict::GateFailed, _) => {
            let (vacuous, held) = (overview.doubts.vacuous().len(), overview.doubts.held_before().len());
            let words = match (count(vacuous, "vacuous assertion"), held) {
                (vacuous, 0) => vacuous,
                (_, held) if vacuous == 0 => format!("{} held before the first word", count(held, "assertion")),
                (vacuous, held) => format!("{vacuous} and {held} that held before the first word"),
            };
            format!("gate failed: {words}, and the job has gate.vacuous: fail")
        }
        (verdict, _) => verdict.word().to_owned(),
    }
}

/// What a reader of a scripted run must know, and the change that uses real models.
fn real_models(record: &RunSummary, width: usize) -> String {
    let provenance = &record.provenance;
    let (persona, judge) = (provenance.persona_model == "scripted", provenance.judge_model == "scripted");
    let who = match (persona, judge) {
        (true, true) => "Persona and judge were scripted rules, not language models",
        (true, false) => "The persona was scripted rules, not a language model",
        (false, _) => "The judge was scripted rules, not a language model",
    };
    let flags: String = [(persona, "--evaluator-model"), (judge, "--scorer-model")]
        .iter()
        .filter(|(scripted, _)| *scripted)
        .map(|(_, flag)| format!(" \\\n    {flag} openai/gpt-4.1-mini"))
        .collect();
    let words = format!("{who}: this shows that the job runs, not how good the agent is.");
    format!(
        "{}\n\
         With real models:\n  OPENAI_API_KEY=… eval-job run {}{flags}\n",
        wrapped(&words, width, 0),
        plain(&provenance.job_file)
    )
}
