//! The remarks below the scores: limits, warnings and notes of the run.

use super::super::{Ink, Page, TrialNames, count, decimals, idle_texts, plain, silence_text, telling_decimals};
use super::Run;
use crate::record::Overview;
use crate::score::Score;

/// Writes what limits what the run shows.
pub(super) fn remarks(page: &mut Page, run: &Run<'_>) {
    let mut remarks = Vec::new();
    remarks.extend(refused(run));
    for (reason, groups) in run.gathered.unwatched.in_order() {
        remarks.push(format!("The graph could not be watched ({}): {reason}", run.places(groups, TrialNames::group)));
    }
    let dropped = run.gathered.unwatched.dropped;
    if dropped > 0 {
        remarks.push(format!("and {} for other reasons", count(dropped, "conversation")));
    }
    remarks.extend(run.gathered.notes.in_order().into_iter().map(|(note, _)| note.clone()));
    remarks.extend(silence_text(run.gathered.silent));
    remarks.extend(unshown(run.overview));
    remarks.extend(idle_texts(run.overview));
    remarks.extend(otherwise(run.overview));
    remarks.extend(uncounted(run.overview));
    for text in &remarks {
        page.gap();
        page.paragraph(0, Ink::unsure, text);
    }
}

/// How often the agent refused requests because of our own other conversations.
fn refused(run: &Run<'_>) -> Option<String> {
    let open = run.gathered.open;
    (run.gathered.refused > 0).then(|| {
        format!(
            "The agent refused {} (429){}: conversations were slowed down, and no refusal counts as a failure{}",
            count(run.gathered.refused as usize, "request"),
            if open > 1 { format!(" while up to {open} conversations were open") } else { String::new() },
            if open > 1 { ". target.maxConcurrency says how many it can hold at once" } else { "" },
        )
    })
}

/// How many assertions may say nothing of the conversations, and what to do about it.
fn unshown(overview: &Overview) -> Option<String> {
    let held = |count: usize, others: &str| format!("{count}{others} held before the first word already");
    let text = match (overview.doubts.vacuous().len(), overview.doubts.held_before().len()) {
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
    Some(format!("{text}. Where that is meant, say `holdsBefore: true`{left}"))
}

/// The most cases that are named of those that come out otherwise.
const NAMED: usize = 10;

/// Which cases come out otherwise with the options that the job names for comparison, a remark for each name of those.
fn otherwise(overview: &Overview) -> Vec<String> {
    let mut names: Vec<(&str, Vec<String>)> = Vec::new();
    for group in &overview.groups {
        for dimension in &group.dimensions {
            let Some((name, here, there, changes_verdict)) = dimension.differs() else { continue };
            let known: Vec<f64> = [here, there].into_iter().flatten().map(Score::get).collect();
            let digits = telling_decimals(&known);
            let score = |score: Option<Score>| {
                score.map_or_else(|| "no score".to_owned(), |score| decimals(score.get(), digits))
            };
            let verdict = match (changes_verdict, dimension.is_below()) {
                (false, _) => "",
                (true, true) => " and passes",
                (true, false) => " and fails",
            };
            let line = format!(
                "{} · {} {} instead of {}{verdict}",
                plain(&group.case),
                plain(&dimension.name),
                score(there),
                score(here)
            );
            match names.iter_mut().find(|(known, _)| *known == name) {
                Some((_, lines)) => lines.push(line),
                None => names.push((name, vec![line])),
            }
        }
    }
    let remark = |(name, lines): (&str, Vec<String>)| {
        let more = lines.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!("; and {more} more") };
        let shown = lines.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join("; ");
        format!(
            "With {} {} out otherwise: {shown}{more}",
            plain(name),
            if lines.len() == 1 { "1 score comes".to_owned() } else { format!("{} scores come", lines.len()) }
        )
    };
    names.into_iter().map(remark).collect()
}

/// The limits of the run that could not be kept: an agent that reports no tokens.
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
    let silent = overview.spending.iter().find(|row| !row.spender.is_own_model() && row.usage.is_none())?;
    let (models, silent) = (asked.join(" and "), silent.spender.as_str());
    Some(format!("{limit} holds for {models} only: what the {silent} takes of its own, nobody tells"))
}
