//! The score of one trial, and its reasons.

use super::{Ink, Page, Paint, Screen, two_decimals};
use crate::record::TrialRecord;
use crate::score::{Component, Dimension, Weight};

/// Columns of a dimension's name.
const NAME: usize = 18;
/// Columns of a score.
const SCORE: usize = 4;

/// The outcome of a trial, its score, and each part of that with the reason.
pub fn scores(trial: &TrialRecord, screen: Screen) -> String {
    let mut page = Page::new(screen);
    if let Some(why) = trial.why_no_score() {
        page.paragraph(3, Ink::unsure, &why);
    }
    if let Some(card) = &trial.scorecard {
        line(&mut page, "score", &card.composite, Ink::bold);
        for dimension in &card.dimensions {
            line(&mut page, &name(dimension), &dimension.component, Ink::unpainted);
            for (item, number) in dimension.items.iter().zip(1..) {
                page.paragraph(5, Ink::unpainted, &format!("{number}. {}", item.label));
                line(&mut page, "", &item.component, Ink::unpainted);
            }
        }
    }
    page.gap();
    page.text
}

/// A dimension's name, with its weight.
fn name(dimension: &Dimension) -> String {
    match dimension.weight {
        Weight::ZERO => format!("{} (not counted)", dimension.name),
        weight => format!("{} × {}", dimension.name, weight.get()),
    }
}

fn line(page: &mut Page, name: &str, component: &Component, paint: Paint) {
    let (figure, why, paint) = match component {
        Component::Scored { score, why, .. } => (two_decimals(score.get()), why, paint),
        Component::NotApplicable { why } => ("–".to_owned(), why, Ink::dim as Paint),
        Component::Missing { error } => ("?".to_owned(), error, Ink::unsure as Paint),
    };
    page.aligned(3, [(name, NAME), (&figure, SCORE)], paint, why);
}
