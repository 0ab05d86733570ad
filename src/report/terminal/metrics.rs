//! How many cases reach the threshold of each metric.

use super::super::{FigureRow, FigureTable, Ink, Page};
use super::Run;

/// With fewer metrics that have a threshold, or with fewer groups, the table of scores says it all.
const SEVERAL: usize = 2;

/// Writes a row for each metric with a threshold: in how many of the cases that have a score it is reached.
pub(super) fn metrics(page: &mut Page, run: &Run<'_>) {
    let groups = &run.overview.groups;
    let mut names: Vec<&str> = Vec::new();
    for dimension in groups.iter().flat_map(|group| &group.dimensions).filter(|it| it.threshold.is_some()) {
        if !names.contains(&dimension.name.as_str()) {
            names.push(&dimension.name);
        }
    }
    if names.len() < SEVERAL || groups.len() < SEVERAL {
        return;
    }
    let row = |name: &&str| {
        let of_groups = groups.iter().filter_map(|group| group.dimension(name));
        let (mut passed, mut scored, mut missing) = (0, 0, 0);
        for dimension in of_groups {
            scored += usize::from(dimension.reached().is_some());
            passed += usize::from(dimension.reached().is_some() && !dimension.is_below());
            missing += usize::from(dimension.tally.missing > 0);
        }
        let share = usize::checked_div(100 * passed, scored).map_or("–".to_owned(), |share| format!("{share} %"));
        let paint = if passed < scored { Ink::bad } else { Ink::unpainted };
        let unscored = if missing == 0 { String::new() } else { missing.to_string() };
        let cells = vec![(paint, format!("{passed}/{scored}")), (paint, share), (Ink::unsure, unscored)];
        FigureRow { name: (*name).to_owned(), indent: 0, paint: Ink::unpainted, cells }
    };
    let rows: Vec<FigureRow> = names.iter().map(row).collect();
    let columns = ["passed", "share", "missing"].map(|name| vec![name.to_owned()]).into();
    page.gap();
    page.table(&FigureTable { title: "Metrics".to_owned(), columns, rows });
}
