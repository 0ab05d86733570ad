//! The table that the framework prints: a row a case with the means of its runs, and the means of all of them.

use std::collections::HashMap;

use super::super::{ResultNames, each_result};
use super::figures::Figures;
use super::messages::messages;
use crate::record::DocumentError;
use crate::report::{FigureCell, FigureRow, FigureTable, Ink, Page, Screen, WrittenRun, plain};

const COLUMNS: [&[&str]; 11] = [
    &["Runs"],
    &["Total", "Steps"],
    &["LLM", "Steps"],
    &["Total Tool", "Calls"],
    &["Tool Call", "Precision"],
    &["Tool Call", "Recall"],
    &["Agent", "Routing F1"],
    &["Text", "Match"],
    &["Journey", "Success"],
    &["Journey", "Completion %"],
    &["Avg Resp", "Time (sec)"],
];

/// The sums of a row.
#[derive(Debug, Clone, Default)]
struct Means([(f64, u64); COLUMNS.len()]);

impl Means {
    fn add(&mut self, numbers: [Option<f64>; COLUMNS.len()]) {
        for (mean, number) in self.0.iter_mut().zip(numbers) {
            if let Some(number) = number {
                *mean = (mean.0 + number, mean.1 + 1);
            }
        }
    }

    fn means(&self) -> [Option<f64>; COLUMNS.len()] {
        self.0.map(|(sum, count)| (count > 0).then(|| sum / count as f64))
    }
}

/// The table of these runs. Unknown figures are `NA`, and in no mean, and neither is a run that was never held.
///
/// # Errors
/// A trial that can't be read.
pub(in crate::report) fn table<E>(runs: &[WrittenRun<'_, E>], screen: Screen) -> Result<String, DocumentError<E>> {
    let names = ResultNames::new(runs.iter().map(|run| run.overview));
    let mut cases: Vec<(String, u32, Means)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    each_result(runs, &names, |result, _| {
        let it = Figures::new(result, messages(result).len());
        let numbers = [
            None,
            Some(it.total_steps as f64),
            Some(it.llm_steps as f64),
            Some(it.total_tool_calls as f64),
            it.precision,
            it.recall,
            it.routing,
            it.text_match,
            it.success.map(|success| f64::from(u8::from(success))),
            it.completion,
            it.response_seconds,
        ];
        let name = &result.name.id;
        let at = *places.entry(name.clone()).or_insert_with(|| {
            cases.push((name.clone(), 0, Means::default()));
            cases.len() - 1
        });
        if result.was_held() {
            cases[at].1 += 1;
            cases[at].2.add(numbers);
        }
        Ok(())
    })?;
    let mut all = Means::default();
    let cell = |number: Option<f64>| -> FigureCell {
        (Ink::unpainted, number.map_or_else(|| "NA".to_owned(), |number| format!("{number:.2}")))
    };
    let mut rows: Vec<FigureRow> = Vec::new();
    for (name, count, means) in &cases {
        let mut means = means.means();
        means[0] = Some(f64::from(*count));
        all.add(means);
        let mut cells: Vec<FigureCell> = means.into_iter().map(cell).collect();
        cells[0].1 = count.to_string();
        rows.push(FigureRow { name: plain(name), indent: 0, paint: Ink::unpainted, cells });
    }
    let cells = all.means().into_iter().map(cell).collect();
    rows.push(FigureRow { name: "Summary (Average)".to_owned(), indent: 0, paint: Ink::bold, cells });
    let columns = COLUMNS.iter().map(|lines| lines.iter().map(|line| (*line).to_owned()).collect()).collect();
    let mut page = Page::new(screen);
    page.table(&FigureTable { title: "Dataset".to_owned(), columns, rows });
    Ok(page.text)
}
