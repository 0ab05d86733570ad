//! The usage of the run: tokens and money, by who and by stage.

use super::super::{FigureCell, FigureRow, FigureTable, Ink, Page, Paint, plain, thousands};
use super::Run;
use crate::evidence::Usage;
use crate::money::{Cost, Dollars};
use crate::record::{Spending, Stage, total};

/// Writes what was taken; nothing where no model is known to have taken anything.
pub(super) fn tokens(page: &mut Page, run: &Run<'_>) {
    let rows = &run.overview.spending;
    if rows.iter().all(|row| row.usage.is_none()) {
        return;
    }
    let is_unfolded = run.screen.is_unfolded;
    let mut columns = vec!["calls", "input", "output", "cost"];
    if is_unfolded {
        columns = vec!["calls", "input", "cached", "output", "reasoning", "cost"];
    }
    let mut table = table("Tokens", &columns);
    let mut row = |name: String, usage: Option<&Usage>, cost: Cost| {
        table.rows.push(named(name, cells(usage, cost, is_unfolded)));
    };
    let several = |row: &Spending| rows.iter().filter(|other| other.to_string() == row.to_string()).count() > 1;
    for spending in rows {
        let model = if several(spending) { format!(" {}", plain(&spending.model)) } else { String::new() };
        row(format!("{spending}{model}"), spending.usage.as_ref(), spending.cost);
    }
    let own = rows.iter().filter(|row| row.spender.is_own_model());
    let own_rows = own.clone().count();
    if own_rows > 1 {
        let (usage, cost, _) = total(own);
        row("persona and judge".to_owned(), Some(&usage), cost);
    }
    let (usage, cost, whole) = total(rows.iter());
    if own_rows > 0 && rows.len() > own_rows {
        row(if whole { "all" } else { "all that is known" }.to_owned(), Some(&usage), cost);
    }
    if let Some([input, output, _]) = averages(&usage).filter(|_| is_unfolded) {
        let texts = [String::new(), input, String::new(), output];
        let cells = texts.map(|text| (Ink::unpainted as Paint, text)).to_vec();
        table.rows.push(named("average of a call".to_owned(), cells));
    }
    page.gap();
    page.table(&table);
    if is_unfolded {
        stages(page, rows);
    }
    if cost.known() > Dollars::ZERO {
        let dated = &run.overview.summary.provenance.prices_dated;
        page.paragraph(0, Ink::dim, &format!("by the prices of {dated}"));
    }
}

/// The largest single requests, stage by stage.
fn stages(page: &mut Page, rows: &[Spending]) {
    let mut table = table("By stage", &["calls", "total", "largest in", "largest out", "largest"]);
    for stage in Stage::ALL {
        let of_stage = || rows.iter().filter(move |row| row.stage == stage);
        if of_stage().next().is_none() {
            continue;
        }
        let (usage, _, whole) = total(of_stage());
        let at_least = |text: String| if whole { text } else { format!("≥ {text}") };
        let mut texts = vec![at_least(thousands(usage.calls)), at_least(number(usage.total_tokens()))];
        let largest = [usage.largest_input_tokens, usage.largest_output_tokens, usage.largest_total_tokens];
        texts.extend(largest.map(number));
        if usage.calls == 0 {
            texts = vec!["unknown".to_owned()];
        }
        table.rows.push(named(stage.as_str().to_owned(), texts.into_iter().map(cell).collect()));
    }
    page.gap();
    page.table(&table);
}

fn table(title: &str, columns: &[&str]) -> FigureTable {
    let columns = columns.iter().map(|name| vec![(*name).to_owned()]).collect();
    FigureTable { title: title.to_owned(), columns, rows: Vec::new() }
}

fn named(name: String, cells: Vec<FigureCell>) -> FigureRow {
    FigureRow { name, indent: 2, paint: Ink::unpainted, cells }
}

fn cell(text: String) -> FigureCell {
    let paint: Paint = if text == "unknown" { Ink::unsure } else { Ink::unpainted };
    (paint, text)
}

fn cells(usage: Option<&Usage>, cost: Cost, is_unfolded: bool) -> Vec<FigureCell> {
    let Some(usage) = usage else { return vec![cell("unknown".to_owned())] };
    let at_least = if usage.unreported_calls > 0 { "≥ " } else { "" };
    let sum =
        |tokens: Option<u64>| tokens.map_or("unknown".to_owned(), |count| format!("{at_least}{}", thousands(count)));
    let part = |tokens: Option<u64>| tokens.map_or("–".to_owned(), thousands);
    let cost = match cost {
        Cost::Exactly(dollars) => dollars.to_string(),
        // "At least nothing" says nothing.
        Cost::AtLeast(dollars) if dollars > Dollars::ZERO => format!("≥ {dollars}"),
        Cost::AtLeast(_) | Cost::Unknown => "unknown".to_owned(),
    };
    let (input, output) = (sum(usage.input_tokens), sum(usage.output_tokens));
    let (cached, reasoning) = (part(usage.cached_input_tokens), part(usage.reasoning_tokens));
    let texts = match is_unfolded {
        true => vec![thousands(usage.calls), input, cached, output, reasoning, cost],
        false => vec![thousands(usage.calls), input, output, cost],
    };
    texts.into_iter().map(cell).collect()
}

/// The average input, output and total tokens of the calls with known token counts.
pub(in super::super) fn averages(usage: &Usage) -> Option<[String; 3]> {
    let calls = usage.calls.checked_sub(usage.unreported_calls).filter(|calls| *calls > 1)?;
    let (input, output) = usage.input_tokens.zip(usage.output_tokens)?;
    Some([input, output, input.saturating_add(output)].map(|sum| {
        let tenths = sum.saturating_mul(10).saturating_add(calls / 2) / calls;
        format!("{}.{}", thousands(tenths / 10), tenths % 10)
    }))
}

fn number(tokens: Option<u64>) -> String {
    tokens.map_or("unknown".to_owned(), thousands)
}
