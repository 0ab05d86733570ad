//! The table of scores: a column a model, its conditions beneath.

use std::fmt::Write;

use super::super::{Ink, TrialNames, plain, two_decimals};
use crate::record::{Group, Overview, RunSummary};
use crate::score::{Component, Weight};

const NAMES: usize = 22;
const COLUMN: usize = 15;

/// Writes the table; a run of which nothing was graded has none.
pub(super) fn table(page: &mut String, (overview, names): (&Overview, TrialNames), ink: Ink) {
    let groups = &overview.groups;
    let Some(first) = groups.iter().find(|group| group.graded > 0) else { return };
    if names.are_grouped() {
        return of_groups(page, &overview.summary, ink);
    }
    page.push('\n');
    head(page, (overview, names), ink);
    for dimension in &first.dimensions {
        let name = if dimension.weight == Weight::ZERO {
            format!("{} (not counted)", dimension.name)
        } else {
            format!("{} × {}", dimension.name, dimension.weight.get())
        };
        let components: Vec<Option<Component>> =
            groups.iter().map(|group| group.dimension(&dimension.name)?.tally.component()).collect();
        row(page, &name, &components, ink, |text| text.to_owned());
        if !dimension.has_items && dimension.weight > Weight::ZERO {
            note(page, (overview, names), &components, ink);
        }
    }
    if groups.iter().any(|group| group.failure_count > 0) {
        let _ = write!(page, "{:<NAMES$}", "failed tries");
        for group in groups {
            let cell = match group.graded {
                0 => "–".to_owned(),
                graded if group.failure_count > 0 => format!("−{}", two_decimals(group.penalties / graded as f64)),
                _ => two_decimals(0.0),
            };
            let _ = write!(page, "{cell:>COLUMN$}");
        }
        page.push('\n');
        apart(page, (overview, names), ink);
    }
    let composites: Vec<Option<Component>> = groups.iter().map(composite).collect();
    row(page, "composite", &composites, ink, |text| ink.bold(text));
}

/// Cases and conditions, each with how many trials have a figure and what those come to.
fn of_groups(page: &mut String, run: &RunSummary, ink: Ink) {
    let several_models = run.figures.len() > 1;
    let cases = run.figures.iter().flat_map(|figure| &figure.cases);
    let width = cases.map(|case| plain(&case.case).chars().count()).max().unwrap_or_default().max(4);
    for figure in &run.figures {
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

/// What a group's trials came to; a single one also where it does not count.
fn composite(group: &Group) -> Option<Component> {
    if group.graded == 0 { None } else { group.composite.component() }
}

/// What failed tries and the waits after them took, which no timing counts.
fn apart(page: &mut String, (overview, names): (&Overview, TrialNames), ink: Ink) {
    for group in &overview.groups {
        let (took, waited) = (group.failed_ms, group.waited_ms);
        if took + waited > 0.0 {
            let is_only = overview.groups.len() == 1;
            let name = if is_only { String::new() } else { format!("{}: ", names.group(group)) };
            let words =
                format!("  {name}they took {took:.0} ms, and waiting after them {waited:.0} ms, beside the timing");
            let _ = writeln!(page, "{}", ink.dim(&words));
        }
    }
}

fn head(page: &mut String, (overview, names): (&Overview, TrialNames), ink: Ink) {
    if names.tell_models() {
        let _ = write!(page, "{:<NAMES$}", "");
        for model in &overview.summary.provenance.models {
            let width = COLUMN * overview.groups_of(model).count();
            let name: String = plain(model).chars().take(width.saturating_sub(2)).collect();
            let _ = write!(page, "{}{}", " ".repeat(width.saturating_sub(name.chars().count())), ink.bold(&name));
        }
        page.push('\n');
    }
    let _ = write!(page, "{:<NAMES$}", "");
    for group in &overview.groups {
        let _ = write!(page, "{:>COLUMN$}", group.condition.words());
    }
    page.push('\n');
}

fn row(page: &mut String, name: &str, components: &[Option<Component>], ink: Ink, paint: impl Fn(&str) -> String) {
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
fn note(page: &mut String, (overview, names): (&Overview, TrialNames), components: &[Option<Component>], ink: Ink) {
    let whys: Vec<(String, &str)> = components
        .iter()
        .zip(&overview.groups)
        .filter_map(|(component, group)| Some((names.group(group), component.as_ref()?.why())))
        .collect();
    let unused = components.iter().flatten().all(|component| matches!(component, Component::NotApplicable { .. }));
    let same = whys.len() == 1 || (unused && whys.windows(2).all(|pair| pair[0].1 == pair[1].1));
    for (name, why) in whys.iter().take(if same { 1 } else { whys.len() }) {
        let name = if same { String::new() } else { format!("{name}: ") };
        let _ = writeln!(page, "{}", ink.dim(&format!("  {name}{}", plain(why))));
    }
}
