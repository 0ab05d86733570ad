//! Markdown, for the summary of a CI step: the verdict, the scores, and the conversations that lost something, each with its
//! reasons.
//!
//! Invariant: a text of an agent, a model or a job is words on one line: no markup, no HTML, no link, no mention.

use std::io::Write;

use super::cached::cached_text;
use super::canaries::{canary_text, steps_text, trivial_text};
use super::estimates::estimate_lines;
use super::format::{DocumentResult, WrittenRun};
use super::gate::{line_text, mark, shown_lines};
use super::jobs::verdict_counts;
use super::judge_check::judge_lines;
use super::lost::lost_texts;
use super::personas::persona_lines;
use super::terminal::verdict_text;
use super::validity::{discarded_texts, fault_text, remedy_text, validity_text};
use super::{TrialNames, UNENDED, beside_gate, count, duration, one_line, thousands, two_decimals};
use crate::record::{DocumentError, Overview, RunSummary, TrialRecord, Verdict, total};
use crate::score::{Component, Score};

/// GitHub shows no summary that is larger than 1 MiB: from this size on conversations are only counted.
const LARGEST: usize = 900_000;
/// A reason is cut to so many columns.
const REASON: usize = 400;
/// A name is cut to so many.
const NAME: usize = 120;
/// The most rows of the score table.
const MAX_ROWS: usize = 200;

/// Writes a summary of these runs.
pub(super) fn write<E>(runs: &[WrittenRun<'_, E>], to: &mut dyn Write) -> DocumentResult<E> {
    let mut room = LARGEST;
    let mut write = |text: &str| {
        room = room.saturating_sub(text.len());
        to.write_all(text.as_bytes()).map_err(DocumentError::Write).map(|()| room)
    };
    if runs.len() > 1 {
        write(&contents(runs))?;
    }
    for run in runs {
        let mut room = write(&heading(run.overview))?;
        let (mut shown, mut left_out) = (0, 0);
        let (names, gate) = (TrialNames::from_run(run.overview), run.overview.summary.provenance.min_score);
        for trial in (run.trials)() {
            let trial = trial.map_err(DocumentError::Read)?;
            let lost = losses(&trial, names, gate);
            if lost.is_empty() {
                continue;
            }
            if lost.len() > room {
                left_out += 1;
                continue;
            }
            if shown == 0 {
                write("### What lost something\n\n")?;
            }
            shown += 1;
            room = write(&lost)?;
        }
        if left_out > 0 {
            write(&format!("\n… and {} more, which have no room here.\n\n", count(left_out, "conversation")))?;
        }
        let id = &run.overview.summary.id;
        write(&format!("\n`eval-job show {id}` shows all of it.\n\n"))?;
    }
    to.flush().map_err(DocumentError::Write)
}

/// The summary of several jobs.
fn contents<E>(runs: &[WrittenRun<'_, E>]) -> String {
    let counts = verdict_counts(runs.iter().map(|run| &run.overview.summary));
    let counts: Vec<String> = counts.into_iter().map(|(_, text)| text).collect();
    let mut page = format!("# {}\n\n| | job | score |\n|---|---|---:|\n", counts.join(", "));
    for run in runs {
        let summary = &run.overview.summary;
        let scores: Vec<String> =
            summary.figures.iter().map(|figure| score(&figure.figure, summary.provenance.min_score)).collect();
        let name = inline(&summary.provenance.job, NAME);
        page += &format!("| {} {} | {name} | {} |\n", sign(summary), summary.verdict_label(), scores.join(" "));
    }
    page + "\n"
}

fn heading(run: &Overview) -> String {
    let (summary, provenance) = (&run.summary, &run.summary.provenance);
    let (word, rest) = verdict_text(run);
    let colon = if rest.is_empty() { "" } else { ": " };
    let mut page = format!(
        "## {} {}\n\n**{word}**{colon}{}\n\n",
        sign(summary),
        inline(&provenance.job, NAME),
        inline(&rest, REASON)
    );
    if summary.finished_at.is_none() {
        page += &format!("{UNENDED}\n\n");
    }
    for line in validity_text(run).into_iter().chain(discarded_texts(run)).chain(remedy_text(run)) {
        page += &format!("{}\n\n", inline(&line, REASON));
    }
    for line in shown_lines(run) {
        let text = line_text(&line, summary.figures.len() == 1);
        page += &format!("- {} {}\n", mark(line.state).0, inline(&text, REASON));
    }
    page += if shown_lines(run).is_empty() { "" } else { "\n" };
    page += &scores(run);
    for lines in estimate_lines(summary) {
        page += &format!("**{}**\n\n", inline(&lines.heading, REASON));
        lines.lines.iter().for_each(|line| page += &format!("- {}\n", inline(line, LINES * MAX_LINE_WIDTH)));
        page.push('\n');
    }
    for lines in judge_lines(summary) {
        page += &format!("**{}**\n\n", inline(&lines.heading, NAME));
        lines
            .facts
            .iter()
            .chain(&lines.reserves)
            .for_each(|line| page += &format!("- {}\n", inline(line, LINES * MAX_LINE_WIDTH)));
        page.push('\n');
    }
    let mut facts = vec![format!("agent {}", inline(&provenance.agent, NAME))];
    facts.extend(provenance.selection.iter().map(|selection| inline(selection, NAME)));
    facts.push(format!("persona {}", inline(&provenance.persona_model, NAME)));
    facts.extend(provenance.reviewer_model.iter().map(|model| format!("reviewed by {}", inline(model, NAME))));
    facts.extend(fault_text(run));
    facts.extend(persona_lines(run).iter().map(|line| inline(line, REASON)));
    facts.push(format!("judge {}", inline(&provenance.judge_model, NAME)));
    facts.extend(cached_text(run));
    facts.extend(provenance.steps.iter().map(|it| inline(&format!("which {}", steps_text(it)), REASON)));
    facts.extend(provenance.canaries.iter().map(|it| inline(&format!("which {}", canary_text(it)), REASON)));
    facts.extend(provenance.trivial_score.map(|score| format!("audit: {}", trivial_text(score))));
    facts.push(count(run.begun, "conversation"));
    facts.extend(run.totals.calls());
    let took = summary.took();
    facts.extend(took.map(|took| duration(took.as_secs_f64())));
    let (usage, cost, _) = total(run.spending.iter());
    facts.extend(usage.total_tokens().map(|tokens| format!("{} tokens", thousands(tokens))));
    let dollars = cost.known();
    facts.extend((dollars > crate::money::Dollars::ZERO).then(|| inline(&dollars.to_string(), NAME)));
    page.push_str(&format!("{}\n\n", facts.join(" · ")));
    page
}

/// The score of each case in each condition, a column a model.
fn scores(run: &Overview) -> String {
    let (figures, gate) = (&run.summary.figures, run.summary.provenance.min_score);
    let names: Vec<String> = figures.iter().map(|figure| inline(&figure.model, NAME)).collect();
    let mut page = format!("| case | condition | {} |\n|---|---|{}\n", names.join(" | "), "---:|".repeat(names.len()));
    let Some(first) = figures.first() else { return String::new() };
    for case in first.cases.iter().take(MAX_ROWS) {
        for condition in &case.conditions {
            let of_model = |figure: &crate::record::ModelFigure| {
                let case = figure.cases.iter().find(|it| it.case == case.case)?;
                case.conditions.iter().find(|it| it.condition == condition.condition).map(|it| score(&it.figure, gate))
            };
            let cells: Vec<String> = figures.iter().map(|figure| of_model(figure).unwrap_or_default()).collect();
            let name = inline(&case.case, NAME);
            page += &format!("| {name} | {} | {} |\n", condition.condition.label(), cells.join(" | "));
        }
    }
    if first.cases.len() > MAX_ROWS {
        page += &format!("| … {} more | | {} |\n", first.cases.len() - MAX_ROWS, vec![""; names.len()].join(" | "));
    }
    let all = figures.iter().map(|figure| {
        let is_below = figure.figure.score().zip(gate).is_some_and(|(score, gate)| score.is_below(gate));
        format!("**{}**{}", score(&figure.figure, gate), if is_below { " ❌" } else { "" })
    });
    let all: Vec<String> = all.collect();
    page.push_str(&format!("| **all** | | {} |\n\n", all.join(" | ")));
    page
}

/// A conversation that has no score, or lost something of it: its reasons, folded; empty where all is well.
fn losses(trial: &TrialRecord, names: TrialNames, gate: Option<Score>) -> String {
    let id = &trial.trial;
    let why = lost_texts(trial);
    let items = trial.scorecard.iter().flat_map(|card| card.shortfalls());
    let mut reasons: Vec<String> = why.iter().map(|why| format!("- {}\n", inline(why, REASON))).collect();
    reasons.extend(items.map(|item| {
        let figure = item.component.score().map_or("missing".to_owned(), |it| two_decimals(it.get()));
        format!("- **{figure}** {}: {}\n", inline(&item.label, NAME), block(item.component.why()))
    }));
    if let Some(card) = trial.scorecard.as_ref().filter(|card| card.failure_count > 0) {
        let tries = if card.failure_count == 1 { "try" } else { "tries" };
        reasons.push(format!("- {} failed {tries}: −{}\n", card.failure_count, two_decimals(card.penalty)));
    }
    if reasons.is_empty() {
        return String::new();
    }
    let score = trial.score().map_or_else(|| "no score".to_owned(), |it| beside_gate(it.get(), gate.map(Score::get)));
    let last = trial.evidence.as_ref().and_then(|evidence| evidence.transcript.turns.last());
    let last_turn = last.map(|turn| {
        let agent = turn.agent.as_deref().map_or("no reply".to_owned(), |text| inline(text, REASON));
        format!("\nThe last turn:\n\n- user: {}\n- agent: {agent}\n", inline(&turn.user, REASON))
    });
    let case = names.tell_cases().then(|| inline(&id.case, NAME));
    let model = names.tell_models().then(|| inline(&id.model, NAME));
    let repeat = names.tell_repeats().then(|| format!("#{}", id.repeat));
    let name = case.into_iter().chain(model).chain([id.condition.label().to_owned()]).chain(repeat);
    format!(
        "<details><summary><b>{score}</b> {}</summary>\n\n{}{}\n</details>\n\n",
        name.collect::<Vec<_>>().join(" · "),
        reasons.concat(),
        last_turn.unwrap_or_default()
    )
}

fn sign(run: &RunSummary) -> &'static str {
    match run.verdict {
        Verdict::Passed if run.has_no_gate => "➖",
        Verdict::Passed => "✅",
        Verdict::GateFailed => "❌",
        Verdict::Inconclusive | Verdict::Incomplete | Verdict::Interrupted => "⚠️",
    }
}

/// A score, with enough decimals to differ from the gate.
fn score(component: &Component, gate: Option<Score>) -> String {
    component.score().map_or_else(|| "–".to_owned(), |score| beside_gate(score.get(), gate.map(Score::get)))
}

/// The most lines of a reason.
const LINES: usize = 12;
/// The most columns of a line.
const MAX_LINE_WIDTH: usize = 160;

/// A reason of several lines, one below the other, each as far in as it was.
fn block(why: &str) -> String {
    let mut lines = why.lines();
    let Some(first) = lines.next().filter(|_| why.contains('\n')) else { return inline(why, REASON) };
    let mut block = inline(first, REASON);
    for line in lines.by_ref().take(LINES) {
        let inside = line.trim_start_matches(' ');
        block.push_str(&format!(
            "<br>{}{}",
            "&nbsp;".repeat((line.len() - inside.len()).min(8)),
            inline(inside, MAX_LINE_WIDTH)
        ));
    }
    match lines.count() {
        0 => block,
        1 => format!("{block}<br>and one more line"),
        more => format!("{block}<br>and {more} more lines"),
    }
}

/// An untrusted text as plain Markdown on one line. What Markdown or HTML could read is written as a character reference, which
/// neither reads; an address and a name behind `@` are parted by a character of no width, so that neither becomes a link.
fn inline(text: &str, columns: usize) -> String {
    let line = one_line(text, columns);
    let mut escaped = String::with_capacity(line.len());
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match c {
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '(' | ')' | '#' | '!' | '|' | '~' | '&'
            | '"' | '\'' | '$' | '^' | '=' => escaped.push_str(&format!("&#{};", u32::from(c))),
            // At the beginning of a line they are a list.
            '-' | '+' | '.' if line[..at].chars().all(|c| c.is_ascii_digit()) => {
                escaped.push_str(&format!("&#{};", u32::from(c)));
            }
            '@' => escaped.push_str("&#64;&#8203;"),
            ':' if line[at..].starts_with("://") => escaped.push_str(":&#8203;"),
            '.' if before.eq_ignore_ascii_case(&'w') => escaped.push_str(".&#8203;"),
            c => escaped.push(c),
        }
        before = c;
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hostile_words_are_words() {
        for (said, written) in [
            ("plain words, 5 of 7: fine.", "plain words, 5 of 7: fine."),
            ("a | b\n\n| c |", "a &#124; b &#124; c &#124;"),
            ("<script>alert(1)</script>", "&#60;script&#62;alert&#40;1&#41;&#60;/script&#62;"),
            ("[x](javascript:1) ![](y)", "&#91;x&#93;&#40;javascript:1&#41; &#33;&#91;&#93;&#40;y&#41;"),
            ("1. one", "1&#46; one"),
            ("- [ ] todo", "&#45; &#91; &#93; todo"),
            ("see https://x.org, www.x.org, @all", "see https:&#8203;//x.org, www.&#8203;x.org, &#64;&#8203;all"),
            ("&lt;b&gt; `c` **d** $e$", "&#38;lt;b&#38;gt; &#96;c&#96; &#42;&#42;d&#42;&#42; &#36;e&#36;"),
        ] {
            assert_eq!(inline(said, 500), written);
        }
    }

    #[test]
    fn a_reason_of_several_lines_stays_a_block() {
        assert_eq!(
            block("2 of 3\n  first divergence: a|b\n     args.x: <b>\r\n- y"),
            "2 of 3<br>&nbsp;&nbsp;first divergence: a&#124;b<br>&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;args.x: &#60;b&#62;<br>&#45; y"
        );
        assert_eq!(block("one | line"), "one &#124; line");
        let long = block(&"line\n".repeat(20));
        assert!(long.ends_with("line<br>and 7 more lines") && long.matches("<br>").count() == 13, "{long}");
    }

    proptest! {
        #[test]
        fn no_text_is_markup(said in any::<String>()) {
            let words = inline(&said, 200);
            prop_assert!(!words.contains(['<', '>', '|', '`', '*', '[', ']', '\\', '\n', '\r']), "{}", words);
            let bare = words.replace("&#", "");
            prop_assert!(!bare.contains(['&', '#']), "{}", words);
        }
    }
}
