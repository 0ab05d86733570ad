//! What the run took: tokens and money, by who and by stage.

use std::fmt::Write;

use super::super::{Ink, one_line, thousands};
use crate::evidence::Usage;
use crate::money::Cost;
use crate::record::{Overview, Spender, Spending, Stage, total};

const NAMES: usize = 26;
const COLUMN: usize = 12;

/// Writes the tables; nothing where no model is known to have taken anything.
pub(super) fn tokens(page: &mut String, overview: &Overview, ink: Ink) {
    let rows = &overview.spending;
    if rows.iter().all(|row| row.usage.is_none()) {
        return;
    }
    page.push('\n');
    head(page, "Tokens", &["calls", "input", "cached", "output", "reasoning", "cost"], ink);
    let several = |row: &Spending| rows.iter().filter(|other| other.to_string() == row.to_string()).count() > 1;
    for row in rows {
        let model = if several(row) { format!(" {}", row.model) } else { String::new() };
        write_row(page, &format!("{row}{model}"), &cells(row.usage.as_ref(), row.cost), ink);
    }
    let own = rows.iter().filter(|row| row.spender != Spender::Agent);
    let own_rows = own.clone().count();
    if own_rows > 1 {
        let (usage, cost, _) = total(own);
        write_row(page, "persona and judge", &cells(Some(&usage), cost), ink);
    }
    let (usage, cost, whole) = total(rows.iter());
    if own_rows > 0 && rows.len() > own_rows {
        let name = if whole { "all" } else { "all that is known" };
        write_row(page, name, &cells(Some(&usage), cost), ink);
    }
    if let Some([input, output, _]) = averages(&usage) {
        write_row(page, "average of a call", &[String::new(), input, String::new(), output], ink);
    }
    stages(page, rows, ink);
    if cost.known() > crate::money::Dollars::ZERO {
        let _ =
            writeln!(page, "{}", ink.dim(&format!("by the prices of {}", overview.summary.provenance.prices_dated)));
    }
}

/// The largest single requests, stage by stage.
fn stages(page: &mut String, rows: &[Spending], ink: Ink) {
    page.push('\n');
    head(page, "By stage", &["calls", "total", "largest in", "largest out", "largest"], ink);
    for stage in Stage::ALL {
        let of_stage = || rows.iter().filter(move |row| row.stage == stage);
        if of_stage().next().is_none() {
            continue;
        }
        let (usage, _, whole) = total(of_stage());
        if usage.calls == 0 {
            write_row(page, stage.word(), &["unknown".to_owned()], ink);
            continue;
        }
        let at_least = |text: String| if whole { text } else { format!("≥ {text}") };
        let mut cells = vec![at_least(thousands(usage.calls)), at_least(number(usage.total_tokens()))];
        let largest = [usage.largest_input_tokens, usage.largest_output_tokens, usage.largest_total_tokens];
        cells.extend(largest.map(number));
        write_row(page, stage.word(), &cells, ink);
    }
}

fn cells(usage: Option<&Usage>, cost: Cost) -> Vec<String> {
    let Some(usage) = usage else { return vec!["unknown".to_owned()] };
    let at_least = if usage.unreported_calls > 0 { "≥ " } else { "" };
    let sum =
        |tokens: Option<u64>| tokens.map_or("unknown".to_owned(), |count| format!("{at_least}{}", thousands(count)));
    let part = |tokens: Option<u64>| tokens.map_or("–".to_owned(), thousands);
    let cost = match cost {
        Cost::Exactly(dollars) => dollars.to_string(),
        Cost::AtLeast(dollars) => format!("≥ {dollars}"),
        Cost::Unknown => "unknown".to_owned(),
    };
    let (input, output) = (sum(usage.input_tokens), sum(usage.output_tokens));
    vec![thousands(usage.calls), input, part(usage.cached_input_tokens), output, part(usage.reasoning_tokens), cost]
}

/// Of the calls whose tokens are known: input, output, both.
pub(in super::super) fn averages(usage: &Usage) -> Option<[String; 3]> {
    let calls = usage.calls.checked_sub(usage.unreported_calls).filter(|calls| *calls > 1)?;
    let (input, output) = usage.input_tokens.zip(usage.output_tokens)?;
    Some([input, output, input.saturating_add(output)].map(|sum| {
        let tenths = (sum.saturating_mul(10) + calls / 2) / calls;
        format!("{}.{}", thousands(tenths / 10), tenths % 10)
    }))
}

fn number(tokens: Option<u64>) -> String {
    tokens.map_or("unknown".to_owned(), thousands)
}

fn head(page: &mut String, title: &str, columns: &[&str], ink: Ink) {
    let _ = write!(page, "{}{}", ink.bold(title), " ".repeat(NAMES.saturating_sub(title.len())));
    for column in columns {
        let _ = write!(page, "{}", ink.dim(&format!("{column:>COLUMN$}")));
    }
    page.push('\n');
}

fn write_row(page: &mut String, name: &str, cells: &[String], ink: Ink) {
    let name = one_line(name, NAMES - 3);
    let mut line = format!("  {name:<width$}", width = NAMES - 2);
    for cell in cells {
        let padded = format!("{cell:>COLUMN$}");
        line.push_str(&if cell == "unknown" { ink.unsure(&padded) } else { padded });
    }
    let _ = writeln!(page, "{}", line.trim_end());
}
