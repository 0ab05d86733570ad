//! ROUGE: how much of the expected reply's wording the actual one has. The numbers are those of Google's `rouge_score`, to 1e-9,
//! where its tokenizer is chosen.

mod compute;
mod config;
pub mod trpc;

pub use compute::{RougeScore, best_rouge, rouge};
pub use config::{RougeConfig, RougeMeasure, RougeMinimum, RougeType};

use std::collections::HashMap;

use super::measured::{MeasureProblem, Measured, shown};
use crate::score::Score;
use crate::text::{Tokenizer, folded, is_of_word, tokens};

/// How many words are shown at most.
const WORDS: usize = 12;

/// The ROUGE scores of a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct RougeMeasured {
    /// All three numbers.
    pub rouge: RougeScore,
    /// The chosen one.
    pub value: f64,
    /// The chosen one as the score or, where a minimum is asked for, whether all suffice.
    pub measured: Measured,
}

/// Measures a reply against the references of the options or, without any, against the expected reply.
///
/// # Errors
/// There is nothing to compare with, the texts are too long, or the options ask for nothing.
pub fn measure(config: &RougeConfig, reply: &str, expected: Option<&str>) -> Result<RougeMeasured, MeasureProblem> {
    config.check()?;
    let references: Vec<&str> = match config.references.is_empty() {
        true => expected.into_iter().collect(),
        false => config.references.iter().map(String::as_str).collect(),
    };
    let (score, reference) = best_rouge(config, reply, &references)?;
    let value = match config.measure {
        RougeMeasure::F1 => score.f1,
        RougeMeasure::Precision => score.precision,
        RougeMeasure::Recall => score.recall,
    };
    let numbers = format!(
        "{} {} {value:.3} (precision {:.3}, recall {:.3}, f1 {:.3})",
        config.rouge_type,
        config.measure.as_str(),
        score.precision,
        score.recall,
        score.f1
    );
    let too_low = config.minimum.map(|minimum| too_low(config, &minimum, score));
    let measured = match too_low {
        Some(too_low) if too_low.is_empty() => Measured::passed(numbers),
        None if value >= 1.0 => Measured::passed(numbers),
        too_low => {
            let given = too_low.is_none().then(|| Score::clamped(value));
            let mut lines = vec![numbers];
            lines.extend(too_low.into_iter().flatten());
            lines.extend(differences(config, reply, reference));
            Measured { score: given.unwrap_or(Score::ZERO), why: lines.join("\n  ") }
        }
    };
    Ok(RougeMeasured { rouge: score, value, measured })
}

/// The numbers that are too low, in words.
fn too_low(config: &RougeConfig, minimum: &RougeMinimum, score: RougeScore) -> Vec<String> {
    let is_below = |value: f64, wanted: Score| match config.exact_minimum {
        true => value < wanted.get(),
        false => Score::clamped(value).is_below(wanted),
    };
    [
        ("precision", score.precision, minimum.precision),
        ("recall", score.recall, minimum.recall),
        ("f1", score.f1, minimum.f1),
    ]
    .into_iter()
    .filter_map(|(name, value, wanted)| Some((name, value, wanted?)))
    .filter(|(_, value, wanted)| is_below(*value, *wanted))
    .map(|(name, _, wanted)| format!("too low: {name} must be {} or more", wanted.get()))
    .collect()
}

/// The words that only one of two texts has.
fn differences(config: &RougeConfig, reply: &str, reference: &str) -> Vec<String> {
    let words = |text| tokens(text, config.tokenizer, config.use_stemmer);
    let (actual, expected) = (words(reply), words(reference));
    let mut lines = Vec::new();
    for (what, text, words) in [("expected", reference, &expected), ("actual", reply, &actual)] {
        if words.is_empty() {
            let is_classic = config.tokenizer == Tokenizer::Classic && folded(text).chars().any(is_of_word);
            let hint =
                if is_classic { ", for the tokenizer `classic` knows English letters only: try `unicode`" } else { "" };
            lines.push(format!("the {what} reply has no words{hint}"));
        }
    }
    for (what, words) in [("missing", beyond(&expected, &actual)), ("not expected", beyond(&actual, &expected))] {
        if !words.is_empty() {
            let more = words.len().saturating_sub(WORDS);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let some = words.iter().take(WORDS).map(|it| shown(it)).collect::<Vec<_>>();
            lines.push(format!("{what}: {}{more}", some.join(", ")));
        }
    }
    lines.push(format!("expected: {}", shown(reference)));
    lines.push(format!("actual:   {}", shown(reply)));
    lines
}

/// The words of one text that the other has not, or not as often; in order.
fn beyond<'a>(words: &'a [String], others: &[String]) -> Vec<&'a str> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in others {
        *counts.entry(word).or_default() += 1;
    }
    let mut is_beyond = |word: &&String| match counts.get_mut(word.as_str()) {
        Some(left @ 1..) => {
            *left -= 1;
            false
        }
        _ => true,
    };
    words.iter().filter(|word| is_beyond(word)).map(String::as_str).collect()
}

#[cfg(test)]
mod tests;
