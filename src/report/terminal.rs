//! The record for people: what the terminal shows after a run.

use std::fmt::Write;

use super::{one_line, plain};
use crate::evidence::Ending;
use crate::record::{RunRecord, TrialRecord, Verdict};
use crate::score::{Component, Dimension, Scorecard, Weight};

/// Whether colours are used. Everything can be read without them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// ANSI colours.
    Colour,
    /// None.
    None,
}

impl Ink {
    /// Any style.
    pub fn paint(self, style: anstyle::Style, text: &str) -> String {
        match self {
            Ink::Colour => format!("{style}{text}{style:#}"),
            Ink::None => text.to_owned(),
        }
    }

    /// Bold.
    pub fn bold(self, text: &str) -> String {
        self.paint(anstyle::Style::new().bold(), text)
    }

    /// For what is less important.
    pub fn dim(self, text: &str) -> String {
        self.paint(anstyle::Style::new().dimmed(), text)
    }

    /// For what went well.
    pub fn good(self, text: &str) -> String {
        self.paint(anstyle::AnsiColor::Green.on_default(), text)
    }

    /// For what did not.
    pub fn bad(self, text: &str) -> String {
        self.paint(anstyle::AnsiColor::Red.on_default(), text)
    }

    /// For what could not be told.
    pub fn unsure(self, text: &str) -> String {
        self.paint(anstyle::AnsiColor::Yellow.on_default(), text)
    }
}

const COLUMN: usize = 15;

/// The record as a page of text, `width` columns wide at most where lines can be cut.
pub fn terminal(record: &RunRecord, ink: Ink, width: usize) -> String {
    let mut page = String::new();
    heading(&mut page, record, ink);
    for model in &record.provenance.models {
        let trials: Vec<&TrialRecord> = record.trials_of(model).collect();
        if record.provenance.models.len() > 1 {
            let _ = writeln!(page, "\n{}", ink.bold(&format!("Model {}", plain(model))));
        }
        score_table(&mut page, &trials, ink);
        for (name, title) in [("tasks", "Tasks"), ("assertions", "Assertions")] {
            items(&mut page, &trials, name, title, ink, width);
        }
        troubles(&mut page, &trials, ink);
    }
    conclusion(&mut page, record, ink);
    page
}

fn heading(page: &mut String, record: &RunRecord, ink: Ink) {
    let provenance = &record.provenance;
    let _ = writeln!(
        page,
        "{} {}",
        ink.bold(&plain(&provenance.job)),
        ink.dim(&format!("({})", plain(&provenance.job_file)))
    );
    let _ = writeln!(page, "agent    {} · model {}", plain(&provenance.agent), plain(&provenance.models.join(", ")));
    let _ = writeln!(page, "persona  {} · {}", plain(&provenance.persona), mind_words(&provenance.persona_model));
    let _ = writeln!(page, "judge    {}", mind_words(&provenance.judge_model));
    if let Some(graph) = &provenance.graph {
        let _ = writeln!(page, "graph    {}", plain(graph));
    }
}

fn mind_words(model: &str) -> String {
    match model {
        "scripted" => "scripted rules, not a language model".to_owned(),
        "script" => "the fixed lines of evaluator.script".to_owned(),
        model => plain(model),
    }
}

fn score_table(page: &mut String, trials: &[&TrialRecord], ink: Ink) {
    let _ = write!(page, "\n{:<22}", "");
    for trial in trials {
        let _ = write!(page, "{:>COLUMN$}", trial.trial.condition.words());
    }
    page.push('\n');
    let cards: Vec<Option<&Scorecard>> = trials.iter().map(|trial| trial.scorecard.as_ref()).collect();
    let Some(first) = cards.iter().flatten().next() else {
        for trial in trials {
            let _ = write!(page, "{:<22}{}", "composite", ink.unsure(&trial.why_no_score().unwrap_or_default()));
            page.push('\n');
        }
        return;
    };
    for dimension in &first.dimensions {
        let name = if dimension.weight == Weight::ZERO {
            format!("{} (not counted)", dimension.name)
        } else {
            format!("{} × {}", dimension.name, dimension.weight.get())
        };
        let components =
            cards.iter().map(|card| card.and_then(|card| card.dimension(&dimension.name)).map(|d| &d.component));
        row(page, &name, components, ink);
        notes(page, dimension, &cards, ink);
    }
    if cards.iter().flatten().any(|card| card.failure_count > 0) {
        let _ = write!(page, "{:<22}", "failed tries");
        for card in &cards {
            let cell = card.map_or_else(|| "–".to_owned(), |card| format!("−{:.2}", card.penalty));
            let _ = write!(page, "{cell:>COLUMN$}");
        }
        page.push('\n');
    }
    row(page, "composite", cards.iter().map(|card| card.map(|card| &card.composite)), ink);
}

fn row<'a>(page: &mut String, name: &str, components: impl Iterator<Item = Option<&'a Component>>, ink: Ink) {
    let _ = write!(page, "{name:<22}");
    for component in components {
        let (text, paint): (String, fn(Ink, &str) -> String) = match component {
            Some(Component::Scored { score, .. }) if name == "composite" => (two_decimals(score.get()), Ink::bold),
            Some(Component::Scored { score, .. }) => (two_decimals(score.get()), |_, text| text.to_owned()),
            Some(Component::NotApplicable { .. }) => ("not used".to_owned(), Ink::dim),
            Some(Component::Missing { .. }) => ("missing".to_owned(), Ink::unsure),
            None => ("–".to_owned(), Ink::dim),
        };
        let _ = write!(page, "{}{}", " ".repeat(COLUMN.saturating_sub(text.chars().count())), paint(ink, &text));
    }
    page.push('\n');
}

/// Why a dimension that has no parts of its own came out as it did: where it is not plain from what follows.
fn notes(page: &mut String, dimension: &Dimension, cards: &[Option<&Scorecard>], ink: Ink) {
    if !dimension.items.is_empty() || dimension.weight == Weight::ZERO {
        return;
    }
    let whys: Vec<&str> =
        cards.iter().flatten().filter_map(|card| card.dimension(&dimension.name)).map(|d| d.component.why()).collect();
    let same = whys.windows(2).all(|pair| pair[0] == pair[1]);
    let text = if same { whys.first().copied().unwrap_or_default().to_owned() } else { whys.join(" · ") };
    let _ = writeln!(page, "{}", ink.dim(&format!("  {}", plain(&text))));
}

fn items(page: &mut String, trials: &[&TrialRecord], name: &str, title: &str, ink: Ink, width: usize) {
    let Some(longest) = trials
        .iter()
        .filter_map(|trial| trial.scorecard.as_ref()?.dimension(name))
        .max_by_key(|dimension| dimension.items.len())
    else {
        return;
    };
    if longest.items.is_empty() {
        return;
    }
    let _ = writeln!(page, "\n{}", ink.bold(title));
    for (index, item) in longest.items.iter().enumerate() {
        let weight = if item.weight == Weight::ONE { String::new() } else { format!(" × {}", item.weight.get()) };
        let _ =
            writeln!(page, "  {}. {}{}", index + 1, one_line(&item.label, width.saturating_sub(12)), ink.dim(&weight));
        for trial in trials {
            let Some(item) = trial.scorecard.as_ref().and_then(|card| card.dimension(name)?.items.get(index)) else {
                continue;
            };
            let mark = match (&item.component, name) {
                (Component::Scored { score, .. }, "assertions") if score.get() == 1.0 => ink.good("  holds"),
                (Component::Scored { .. }, "assertions") => ink.bad("  fails"),
                (Component::Scored { score, .. }, _) if score.get() > 0.6 => {
                    ink.good(&format!("{:>7}", two_decimals(score.get())))
                }
                (Component::Scored { score, .. }, _) => ink.bad(&format!("{:>7}", two_decimals(score.get()))),
                (Component::NotApplicable { .. }, _) => ink.dim("not used"),
                (Component::Missing { .. }, _) => ink.unsure("missing"),
            };
            let condition = trial.trial.condition.words();
            let _ = writeln!(
                page,
                "     {condition:<14}{mark}  {}",
                plain(item.component.why()).replace('\n', "\n       ")
            );
        }
    }
}

/// What went wrong in trials that say nothing about the agent, or were cut off.
fn troubles(page: &mut String, trials: &[&TrialRecord], ink: Ink) {
    for trial in trials {
        let condition = trial.trial.condition.words();
        let trouble = match (&trial.outcome, trial.why_no_score()) {
            (Some(outcome), _) if outcome.error().is_some() => {
                Some(format!("{}: {}", outcome.word(), outcome.error().unwrap_or_default()))
            }
            (_, why) => why,
        };
        if let Some(trouble) = trouble {
            let _ = writeln!(page, "\n{} {}", ink.unsure(&format!("{condition}:")), plain(&trouble));
        }
        let turns = trial.evidence.as_ref().map_or(0, |evidence| evidence.transcript.turns.len());
        if trial.outcome.is_none() && trial.started_at.is_some() {
            let _ = writeln!(
                page,
                "  {} kept{}",
                turns_words(turns),
                if trial.pending.is_some() { ", one message was on its way" } else { "" }
            );
        }
        match trial.evidence.as_ref().map(|evidence| &evidence.ending) {
            Some(Ending::MaxTurns) => {
                let _ = writeln!(
                    page,
                    "\n{condition}: the conversation was ended by maxTurns after {}",
                    turns_words(turns)
                );
            }
            Some(Ending::TimeLimit { seconds }) => {
                let _ = writeln!(
                    page,
                    "\n{condition}: the conversation was ended by limits.trial after {seconds} s and {}",
                    turns_words(turns)
                );
            }
            _ => {}
        }
    }
}

fn conclusion(page: &mut String, record: &RunRecord, ink: Ink) {
    page.push('\n');
    for figure in &record.figures {
        let name = if record.figures.len() > 1 { format!("{} ", plain(&figure.model)) } else { String::new() };
        let _ = match &figure.figure {
            Component::Scored { score, why } => writeln!(
                page,
                "{}{}  {}",
                name,
                ink.bold(&format!("Score {}", two_decimals(score.get()))),
                ink.dim(why)
            ),
            other => writeln!(page, "{}{}  {}", name, ink.unsure("No score"), plain(other.why())),
        };
    }
    let verdict = record.verdict;
    let words = match (verdict, record.provenance.min_score) {
        (Verdict::Passed, Some(gate)) => format!("passed: the gate is {}", two_decimals(gate.get())),
        (Verdict::Passed, None) => "passed: no gate is set".to_owned(),
        (Verdict::GateFailed, Some(gate)) => format!("gate failed: the gate is {}", two_decimals(gate.get())),
        (verdict, _) => verdict.word().to_owned(),
    };
    let words = match verdict {
        Verdict::Passed => ink.good(&words),
        Verdict::GateFailed => ink.bad(&words),
        Verdict::Incomplete | Verdict::Interrupted => ink.unsure(&words),
    };
    let _ = writeln!(page, "{words}");
    if record.provenance.is_scripted() {
        page.push('\n');
        page.push_str(&real_models(record));
    }
}

/// What a reader of a scripted run must know, and the change that uses real models.
fn real_models(record: &RunRecord) -> String {
    let provenance = &record.provenance;
    let (who, flags) = match (provenance.persona_model == "scripted", provenance.judge_model == "scripted") {
        (true, true) => {
            ("Persona and judge were", "--evaluator-model openai/gpt-4.1-mini --scorer-model openai/gpt-4.1-mini")
        }
        (true, false) => ("The persona was", "--evaluator-model openai/gpt-4.1-mini"),
        (false, _) => ("The judge was", "--scorer-model openai/gpt-4.1-mini"),
    };
    format!(
        "{who} scripted rules, not language models: this shows that the job runs, not how good the agent is.\n\
         With real models:  OPENAI_API_KEY=… eval-job run {} {flags}\n",
        plain(&provenance.job_file)
    )
}

/// One line a run, for `eval-job list`.
pub fn listing(record: &RunRecord, ink: Ink) -> String {
    let figures: Vec<String> = record
        .figures
        .iter()
        .map(|figure| figure.figure.score().map_or_else(|| "–".to_owned(), |score| two_decimals(score.get())))
        .collect();
    format!(
        "{}  {}  {:<11}  {:>5}  {}  {}",
        record.id,
        record.started_at.format("%Y-%m-%d %H:%M:%S"),
        record.verdict.word(),
        figures.join(" "),
        plain(&record.provenance.job),
        ink.dim(&plain(&record.provenance.models.join(", ")))
    )
}

fn turns_words(turns: usize) -> String {
    if turns == 1 { "1 turn".to_owned() } else { format!("{turns} turns") }
}

/// Two decimals, half to even, as Embabel's report shows them.
fn two_decimals(value: f64) -> String {
    // Hundredths are compared with a tolerance far below what a score can mean, so that 0.125 is a half although
    // 12.5 may come out of the arithmetic as 12.500000000000002.
    let hundredths = value * 100.0;
    let floor = hundredths.floor();
    let rest = hundredths - floor;
    let rounded = if (rest - 0.5).abs() < 1e-9 {
        if floor % 2.0 == 0.0 { floor } else { floor + 1.0 }
    } else {
        hundredths.round()
    };
    format!("{:.2}", rounded / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_decimals_round_half_to_even() {
        let rounded: Vec<String> =
            [0.125, 0.375, 0.005, 0.015, 0.994_999, 1.0, 0.0].into_iter().map(two_decimals).collect();
        assert_eq!(rounded, ["0.12", "0.38", "0.00", "0.02", "0.99", "1.00", "0.00"]);
    }
}
