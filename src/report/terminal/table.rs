//! The table of scores: a column a model, its conditions beneath.

use std::fmt::Write;

use super::super::{Ink, plain, two_decimals};
use super::names;
use crate::record::{RunRecord, TrialRecord};
use crate::score::{Component, Scorecard, Weight};

const NAMES: usize = 22;
const COLUMN: usize = 15;

/// Writes the table; a run of which nothing was graded has none.
pub(super) fn table(page: &mut String, record: &RunRecord, ink: Ink) {
    if names(record).are_grouped() {
        return groups(page, record, ink);
    }
    // In the order of the models, each with its trials side by side.
    let columns: Vec<&TrialRecord> =
        record.provenance.models.iter().flat_map(|model| record.trials_of(model)).collect();
    let cards: Vec<Option<&Scorecard>> = columns.iter().map(|trial| trial.scorecard.as_ref()).collect();
    let Some(first) = cards.iter().flatten().next() else { return };
    page.push('\n');
    head(page, record, &columns, ink);
    for dimension in &first.dimensions {
        let name = if dimension.weight == Weight::ZERO {
            format!("{} (not counted)", dimension.name)
        } else {
            format!("{} × {}", dimension.name, dimension.weight.get())
        };
        let components: Vec<Option<&Component>> =
            cards.iter().map(|card| Some(&card.as_ref()?.dimension(&dimension.name)?.component)).collect();
        row(page, &name, &components, ink, |text| text.to_owned());
        if dimension.items.is_empty() && dimension.weight > Weight::ZERO {
            note(page, record, &columns, &components, ink);
        }
    }
    if cards.iter().flatten().any(|card| card.failure_count > 0) {
        let _ = write!(page, "{:<NAMES$}", "failed tries");
        for card in &cards {
            let cell = match card {
                Some(card) if card.failure_count > 0 => format!("−{}", two_decimals(card.penalty)),
                Some(_) => two_decimals(0.0),
                None => "–".to_owned(),
            };
            let _ = write!(page, "{cell:>COLUMN$}");
        }
        page.push('\n');
        apart(page, record, &columns, ink);
    }
    let composites: Vec<Option<&Component>> = cards.iter().map(|card| Some(&card.as_ref()?.composite)).collect();
    row(page, "composite", &composites, ink, |text| ink.bold(text));
}

/// Cases and conditions, each with how many trials have a figure and what those come to.
fn groups(page: &mut String, record: &RunRecord, ink: Ink) {
    let several_models = record.figures.len() > 1;
    let cases = record.figures.iter().flat_map(|figure| &figure.cases);
    let width = cases.map(|case| plain(&case.case).chars().count()).max().unwrap_or_default().max(4);
    for figure in &record.figures {
        page.push('\n');
        if several_models {
            let _ = writeln!(page, "{}", ink.bold(&plain(&figure.model)));
        }
        let _ =
            writeln!(page, "{}", ink.dim(&format!("{:<width$}  {:<13}  trials  missing  score", "case", "condition")));
        for case in &figure.cases {
            let mut name = plain(&case.case);
            for condition in &case.conditions {
                let score = match condition.figure.score() {
                    Some(score) => ink.bold(&format!("{:>5}", two_decimals(score.get()))),
                    None => ink.unsure("    –"),
                };
                let all = condition.n + condition.missing;
                let (words, missing) = (condition.condition.words(), condition.missing);
                let _ = writeln!(page, "{name:<width$}  {words:<13}  {all:>6}  {missing:>7}  {score}");
                name.clear();
            }
        }
    }
}

/// What failed tries and the waits after them took, which no timing counts.
fn apart(page: &mut String, record: &RunRecord, columns: &[&TrialRecord], ink: Ink) {
    for trial in columns {
        let turns = trial.evidence.iter().flat_map(|evidence| &evidence.transcript.turns);
        let (mut took, mut waited) = (0.0, 0.0);
        for failure in turns.flat_map(|turn| &turn.failures) {
            took += failure.took_ms.unwrap_or_default();
            waited += failure.waited_ms.unwrap_or_default();
        }
        if took + waited > 0.0 {
            let name =
                if columns.len() == 1 { String::new() } else { format!("{}: ", names(record).name(&trial.trial)) };
            let words =
                format!("  {name}they took {took:.0} ms, and waiting after them {waited:.0} ms, beside the timing");
            let _ = writeln!(page, "{}", ink.dim(&words));
        }
    }
}

fn head(page: &mut String, record: &RunRecord, columns: &[&TrialRecord], ink: Ink) {
    if record.provenance.models.len() > 1 {
        let _ = write!(page, "{:<NAMES$}", "");
        for model in &record.provenance.models {
            let width = COLUMN * record.trials_of(model).count();
            let name: String = plain(model).chars().take(width.saturating_sub(2)).collect();
            let _ = write!(page, "{}{}", " ".repeat(width.saturating_sub(name.chars().count())), ink.bold(&name));
        }
        page.push('\n');
    }
    let _ = write!(page, "{:<NAMES$}", "");
    for trial in columns {
        let _ = write!(page, "{:>COLUMN$}", trial.trial.condition.words());
    }
    page.push('\n');
}

fn row(page: &mut String, name: &str, components: &[Option<&Component>], ink: Ink, paint: impl Fn(&str) -> String) {
    let _ = write!(page, "{name:<NAMES$}");
    for component in components {
        let (text, painted) = match component {
            Some(Component::Scored { score, .. }) => {
                let text = two_decimals(score.get());
                (text.clone(), paint(&text))
            }
            Some(Component::NotApplicable { .. }) => ("not used".to_owned(), ink.dim("not used")),
            Some(Component::Missing { .. }) => ("missing".to_owned(), ink.unsure("missing")),
            None => ("–".to_owned(), ink.dim("–")),
        };
        let _ = write!(page, "{}{painted}", " ".repeat(COLUMN.saturating_sub(text.chars().count())));
    }
    page.push('\n');
}

/// Why a dimension that has no parts of its own came out as it did: once where it is the same for all.
fn note(page: &mut String, record: &RunRecord, columns: &[&TrialRecord], components: &[Option<&Component>], ink: Ink) {
    let whys: Vec<(String, &str)> = columns
        .iter()
        .zip(components)
        .filter_map(|(trial, component)| Some((names(record).name(&trial.trial), component.as_ref()?.why())))
        .collect();
    let unused = components.iter().flatten().all(|component| matches!(component, Component::NotApplicable { .. }));
    let same = whys.len() == 1 || (unused && whys.windows(2).all(|pair| pair[0].1 == pair[1].1));
    for (name, why) in whys.iter().take(if same { 1 } else { whys.len() }) {
        let name = if same { String::new() } else { format!("{name}: ") };
        let _ = writeln!(page, "{}", ink.dim(&format!("  {name}{}", plain(why))));
    }
}
