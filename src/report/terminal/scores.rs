//! The scores as a table: the dimensions of one model by its conditions, those of several models by model, or cases.

use std::collections::HashSet;

use unicode_width::UnicodeWidthStr;

use super::super::{FigureCell, FigureRow, FigureTable, Ink, Page, Paint, decimals, plain, two_decimals};
use super::verdict::digits;
use super::{MAX_NAMES, Run};
use crate::evidence::Condition;
use crate::record::{ConditionFigure, DimensionTally, ModelFigure, TrialGroup};
use crate::score::{Component, Weight};

/// More cases are shown only where something failed in them.
const FEW_CASES: usize = 10;

/// The most failing cases that the score table shows, unless the screen is unfolded.
const MAX_CASES: usize = 30;

/// The fewest columns of a screen with room for dimensions that do not count.
const WIDE: usize = 80;

/// Reasons of single scores are shown for so many groups, unless the screen is unfolded.
const FEW_GROUPS: usize = 4;

/// Writes the table; a run of which nothing was graded has none.
pub(super) fn scores(page: &mut Page, run: &Run<'_>) {
    let Some(first) = run.overview.groups.iter().find(|group| group.graded > 0) else { return };
    page.gap();
    if run.names.are_grouped() {
        by_case(page, run);
        return missing_reasons(page, run);
    }
    let has_failures = run.overview.groups.iter().any(|group| group.failure_count > 0);
    if run.names.tell_models() {
        by_model(page, run, first, has_failures);
    } else {
        by_dimension(page, run, first, has_failures);
    }
    reasons(page, run, first);
    if let [figure] = run.overview.summary.figures.as_slice()
        && let Component::Scored { score, why, .. } = &figure.figure
    {
        let score = format!("Score {}", decimals(score.get(), digits(&run.overview.summary)));
        page.lead(0, 2, (Ink::bold, &score), (Ink::dim, &format!("({why})")));
    }
}

/// A row a dimension, a column a condition.
fn by_dimension(page: &mut Page, run: &Run<'_>, first: &TrialGroup, has_failures: bool) {
    let groups = &run.overview.groups;
    let row = |name: &str, paint: Paint, cells| FigureRow { name: name.to_owned(), indent: 0, paint, cells };
    let mut rows: Vec<FigureRow> = Vec::new();
    for dimension in &first.dimensions {
        let name = match weight(dimension) {
            weight if weight == NOT_COUNTED => format!("{} ({weight})", dimension.name),
            weight => format!("{} {weight}", dimension.name),
        };
        rows.push(row(&name, Ink::unpainted, groups.iter().map(|group| score(group, &dimension.name)).collect()));
    }
    if has_failures {
        rows.push(row("failed tries", Ink::unpainted, groups.iter().map(failed_tries).collect()));
    }
    rows.push(row("composite", Ink::bold, groups.iter().map(composite).collect()));
    let columns = groups.iter().map(|group| vec![group.condition.label().to_owned()]).collect();
    page.table(&FigureTable { title: "Scores".to_owned(), columns, rows });
}

/// A row a model and condition, a column a dimension.
fn by_model(page: &mut Page, run: &Run<'_>, first: &TrialGroup, has_failures: bool) {
    // What counts for nothing is left out first where there is little room.
    let is_wide = run.screen.width >= WIDE || run.screen.is_unfolded;
    let dimensions = || first.dimensions.iter().filter(|it| is_wide || it.weight > Weight::ZERO);
    let mut columns: Vec<Vec<String>> = dimensions().map(|it| vec![it.name.clone(), weight(it)]).collect();
    if has_failures {
        columns.push(vec!["failed".to_owned(), "tries".to_owned()]);
    }
    columns.push(vec!["score".to_owned()]);
    let mut table = FigureTable { title: "Scores".to_owned(), columns, rows: Vec::new() };
    let cells = |group: &TrialGroup| {
        let mut cells: Vec<FigureCell> = dimensions().map(|it| score(group, &it.name)).collect();
        cells.extend(has_failures.then(|| failed_tries(group)));
        cells.push(composite(group));
        cells
    };
    let groups = &run.overview.groups;
    let longest = |name: fn(&TrialGroup) -> &str| groups.iter().map(|it| name(it).width()).max().unwrap_or_default();
    let (models, conditions) = (longest(|it| &it.model), longest(|it| it.condition.label()));
    // Beside its model where there is room for both, else below it.
    let is_beside = models + 2 + conditions <= table.room(run.screen.width);
    let is_single = groups.iter().all(|group| group.condition == first.condition);
    let mut known = None;
    for group in groups {
        let is_new = known.replace(&group.model) != Some(&group.model);
        let model = if is_new { plain(&group.model) } else { String::new() };
        let row = |name: String, cells| FigureRow { name, indent: 0, paint: Ink::unpainted, cells };
        if is_single {
            table.rows.push(row(model, cells(group)));
        } else if is_beside {
            let gap = " ".repeat(models.saturating_sub(model.width()) + 2);
            table.rows.push(row(format!("{model}{gap}{}", group.condition.label()), cells(group)));
        } else {
            table.rows.extend(is_new.then(|| row(model, Vec::new())));
            table.rows.push(FigureRow { indent: 2, ..row(group.condition.label().to_owned(), cells(group)) });
        }
    }
    page.table(&table);
}

const NOT_COUNTED: &str = "not counted";

fn weight(dimension: &DimensionTally) -> String {
    match dimension.weight {
        Weight::ZERO => NOT_COUNTED.to_owned(),
        weight => format!("× {}", weight.get()),
    }
}

fn score(group: &TrialGroup, dimension: &str) -> FigureCell {
    cell(group.dimension(dimension).and_then(|dimension| dimension.tally.component()), Ink::unpainted)
}

/// The figure of a group's trials; of a single one also where it does not count.
fn composite(group: &TrialGroup) -> FigureCell {
    cell(if group.graded == 0 { None } else { group.composite.component() }, Ink::bold)
}

fn failed_tries(group: &TrialGroup) -> FigureCell {
    match group.graded {
        0 => (Ink::dim, "–".to_owned()),
        graded if group.failure_count > 0 => {
            (Ink::bad, format!("−{}", two_decimals(group.penalties.value() / graded as f64)))
        }
        _ => (Ink::unpainted, two_decimals(0.0)),
    }
}

fn cell(component: Option<Component>, paint: Paint) -> FigureCell {
    match component {
        Some(Component::Scored { score, .. }) => (paint, two_decimals(score.get())),
        Some(Component::NotApplicable { .. }) => (Ink::dim, "not used".to_owned()),
        Some(Component::Missing { .. }) => (Ink::unsure, "missing".to_owned()),
        None => (Ink::dim, "–".to_owned()),
    }
}

/// Why a dimension that has no parts of its own came out as it did, and the time that failed tries took.
fn reasons(page: &mut Page, run: &Run<'_>, first: &TrialGroup) {
    let groups = &run.overview.groups;
    if groups.len() > FEW_GROUPS && !run.screen.is_unfolded {
        return;
    }
    // What a simulated user did is no score of the agent's: its parts don't say that the conversation is lost.
    let is_users = |it: &DimensionTally| it.metric() == "simulatedUser";
    let dimensions = first.dimensions.iter().filter(|it| is_users(it) || (!it.has_items && it.weight > Weight::ZERO));
    for dimension in dimensions {
        let mut whys: Vec<(String, Vec<String>)> = Vec::new();
        for group in groups {
            let Some(component) = group.dimension(&dimension.name).and_then(|it| it.tally.component()) else {
                continue;
            };
            if is_users(dimension) && !component.is_missing() {
                continue;
            }
            let is_short = component.score().is_some_and(|score| score.get() < 1.0) || component.is_missing();
            if is_short || run.screen.is_unfolded {
                match whys.iter_mut().find(|(why, _)| why == component.why()) {
                    Some((_, names)) => names.push(run.names.group(group)),
                    None => whys.push((component.why().to_owned(), vec![run.names.group(group)])),
                }
            }
        }
        for (why, names) in &whys {
            let of = if names.len() == groups.len() { String::new() } else { format!(", {}", names.join(", ")) };
            page.paragraph(2, Ink::dim, &format!("{}{of}: {why}", dimension.name));
        }
    }
    for group in groups.iter().filter(|group| group.failed_ms.value() > 0.0) {
        let of = if groups.len() > 1 { format!(", {}", run.names.group(group)) } else { String::new() };
        let (took, waited) = (group.failed_ms.value(), group.waited_ms.value());
        let text = format!("failed tries{of}: {took:.0} ms, and {waited:.0} ms of waiting, beside the timing");
        page.paragraph(2, Ink::dim, &text);
    }
}

/// The most reasons for which a metric is missing.
const MAX_REASONS: usize = 3;

/// Why metrics that count and have no parts are missing, each with the conversations.
fn missing_reasons(page: &mut Page, run: &Run<'_>) {
    let mut found: Vec<((&str, String), Vec<String>)> = Vec::new();
    for group in &run.overview.groups {
        for dimension in group.dimensions.iter().filter(|it| !it.has_items && it.weight > Weight::ZERO) {
            let Some(component) = dimension.tally.component().filter(Component::is_missing) else { continue };
            let key = (dimension.name.as_str(), component.why().to_owned());
            match found.iter_mut().find(|(known, _)| *known == key) {
                Some((_, groups)) => groups.push(run.names.group(group)),
                None => found.push((key, vec![run.names.group(group)])),
            }
        }
    }
    for ((name, why), mut groups) in found.iter().take(MAX_REASONS).cloned() {
        if groups.len() > MAX_NAMES {
            let more = groups.split_off(MAX_NAMES - 1).len();
            groups.push(format!("and {more} more"));
        }
        page.paragraph(2, Ink::unsure, &format!("{} is missing, {}: {}", plain(name), groups.join(", "), plain(&why)));
    }
    if found.len() > MAX_REASONS {
        let more = found.len() - MAX_REASONS;
        page.paragraph(2, Ink::dim, &format!("and for {more} more reasons: eval-job analyze tells them"));
    }
}

/// A row a case: the conditions of one model, or several models side by side. What passed in many cases is folded.
fn by_case(page: &mut Page, run: &Run<'_>) {
    let figures = &run.overview.summary.figures;
    let cases: Vec<&str> = run.overview.cases().collect();
    let unscored = figures.iter().flat_map(|figure| &figure.cases).filter(|it| it.figure.score().is_none());
    let unscored: HashSet<&str> = unscored.map(|it| it.case.as_str()).collect();
    let is_troubled = |case: &str| unscored.contains(case) || has_failed(run, case);
    let is_shown = |case: &&&str| cases.len() <= FEW_CASES || run.screen.is_unfolded || is_troubled(case);
    let mut shown: Vec<&str> = cases.iter().filter(is_shown).copied().collect();
    if !run.screen.is_unfolded {
        shown.truncate(MAX_CASES.max(FEW_CASES));
    }
    let hidden = cases.len() - shown.len();
    let rows = |cells: &dyn Fn(&str) -> Vec<FigureCell>| {
        let row = |case: &&str| FigureRow { name: plain(case), indent: 0, paint: Ink::unpainted, cells: cells(case) };
        shown.iter().map(row).collect::<Vec<FigureRow>>()
    };
    let mut table = match figures.as_slice() {
        [figure] => one_model_table(run, figure, &rows),
        _ => FigureTable {
            title: String::new(),
            columns: figures.iter().map(|figure| vec![plain(&figure.model)]).collect(),
            rows: rows(&|case| figures.iter().map(|figure| case_cell(figure, case)).collect()),
        },
    };
    table.title = "Cases".to_owned();
    page.table(&table);
    if hidden > 0 {
        page.paragraph(0, Ink::dim, &format!("and {hidden} of {} cases more (-v shows them)", cases.len()));
    }
}

/// The rows of a table, a case each, whose cells are those of the case.
type ScoreRows<'a> = dyn Fn(&dyn Fn(&str) -> Vec<FigureCell>) -> Vec<FigureRow> + 'a;

/// The conditions of one model, and what they come to together.
fn one_model_table(run: &Run<'_>, figure: &ModelFigure, rows: &ScoreRows<'_>) -> FigureTable {
    let mut conditions: Vec<Condition> = Vec::new();
    for group in &run.overview.groups {
        if !conditions.contains(&group.condition) {
            conditions.push(group.condition);
        }
    }
    let is_single = conditions.len() == 1;
    let mut columns: Vec<Vec<String>> = conditions.iter().map(|it| vec![it.label().to_owned()]).collect();
    columns.extend((!is_single).then(|| vec!["score".to_owned()]));
    let cells = |case: &str| {
        let found = figure.cases.iter().find(|it| it.case == case);
        let of = |condition: &Condition| found?.conditions.iter().find(|it| it.condition == *condition);
        let none: FigureCell = (Ink::dim, "–".to_owned());
        let mut cells: Vec<FigureCell> = conditions.iter().map(|it| of(it).map_or(none.clone(), trials)).collect();
        cells.extend((!is_single).then(|| case_cell(figure, case)));
        cells
    };
    FigureTable { title: String::new(), columns, rows: rows(&cells) }
}

/// The figure of a condition, and of how many trials where some have none.
fn trials(figure: &ConditionFigure) -> FigureCell {
    let share = format!("{} of {}", figure.n, figure.n + figure.missing);
    match figure.figure.score() {
        Some(score) if figure.missing > 0 => (Ink::unsure, format!("{} ({share})", two_decimals(score.get()))),
        Some(score) => (Ink::unpainted, two_decimals(score.get())),
        None => (Ink::unsure, "missing".to_owned()),
    }
}

fn case_cell(figure: &ModelFigure, case: &str) -> FigureCell {
    let found = figure.cases.iter().find(|it| it.case == case);
    match found.map(|found| found.figure.score()) {
        Some(Some(score)) => (Ink::bold, two_decimals(score.get())),
        Some(None) => (Ink::unsure, "missing".to_owned()),
        None => (Ink::dim, "–".to_owned()),
    }
}

/// Whether something failed in a case, or a part of its score is missing.
fn has_failed(run: &Run<'_>, case: &str) -> bool {
    let parts = run.gathered.measured.iter().flat_map(|dimension| run.gathered.parts(case, &dimension.name));
    let mut made = parts.flat_map(|part| part.groups.iter());
    run.gathered.is_troubled(case) || made.any(|(_, made)| made.failed.is_some() || made.tally.missing > 0)
}
