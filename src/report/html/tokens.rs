//! A row of the table of tokens.

use serde::Serialize;

use super::super::{plain, thousands};
use crate::money::{Cost, Dollars};
use crate::record::Spending;

/// The usage of a party at a model.
#[derive(Serialize)]
pub(super) struct TokensView {
    who: String,
    model: String,
    calls: String,
    input: String,
    output: String,
    cost: String,
}

impl TokensView {
    pub(super) fn new(row: &Spending) -> TokensView {
        let usage = row.usage.unwrap_or_default();
        let at_least = if usage.unreported_calls > 0 { "≥ " } else { "" };
        let number =
            |tokens: Option<u64>| tokens.map_or("unknown".to_owned(), |it| format!("{at_least}{}", thousands(it)));
        let cost = match row.cost {
            Cost::Exactly(dollars) => dollars.to_string(),
            Cost::AtLeast(dollars) if dollars > Dollars::ZERO => format!("≥ {dollars}"),
            Cost::AtLeast(_) | Cost::Unknown => "unknown".to_owned(),
        };
        TokensView {
            who: row.to_string(),
            model: plain(&row.model),
            calls: thousands(row.calls),
            input: number(usage.input_tokens),
            output: number(usage.output_tokens),
            cost,
        }
    }
}
