//! Messages about asking a judge.

use super::earlier::PendingWork;
use crate::evidence::Usage;
use crate::money::{Cost, Dollars, Price};
use crate::record::{Overview, Spender, total};
use crate::report::{count, thousands};

/// The note before asking: the number of conversations, and the first judge's usage for them.
pub(super) fn announcement(judge: &str, left: PendingWork, before: &Overview, price: Option<Price>) -> String {
    let PendingWork { to_ask, all, answers } = left;
    if answers > 0 {
        let known = count(answers, "question");
        return format!("asking {judge} about {to_ask} of {}; answered before: {known}", count(all, "conversation"));
    }
    let (usage, _, _) = total(before.spending.iter().filter(|row| row.spender == Spender::Judge));
    let took = match usage.total_tokens() {
        Some(tokens) if usage.calls > 0 => {
            let cost = match price.map(|price| price.cost(&usage)) {
                Some(Cost::Exactly(dollars) | Cost::AtLeast(dollars)) => format!(", which cost {dollars} of {judge}"),
                _ => String::new(),
            };
            format!("; the first judge took {} tokens for them{cost}", thousands(tokens))
        }
        _ => String::new(),
    };
    format!("asking {judge} about {}{took}", count(to_ask, "conversation"))
}

/// The usage of asking.
pub(super) fn spent(usage: &Usage, cost: Cost) -> String {
    if usage.calls == 0 {
        return "nothing".to_owned();
    }
    let at_least = if usage.unreported_calls > 0 { "at least " } else { "" };
    let tokens = usage
        .total_tokens()
        .map_or("unreported tokens".to_owned(), |tokens| format!("{at_least}{} tokens", thousands(tokens)));
    let cost = match cost {
        Cost::Exactly(dollars) => format!(", {dollars}"),
        Cost::AtLeast(dollars) if dollars > Dollars::ZERO => format!(", at least {dollars}"),
        Cost::AtLeast(_) | Cost::Unknown => ", at a cost that is not known".to_owned(),
    };
    format!("{}, {tokens}{cost}", count(usage.calls as usize, "call"))
}
