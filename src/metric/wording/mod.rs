//! A reply's wording: whether it is, contains or matches a text, which keywords it has, how long it is.

mod config;
pub mod trpc;

pub use config::{KeywordsConfig, KeywordsNeed, LengthConfig, TextConfig, TextMatch};

use regex::Regex;

use super::measured::{MeasureProblem, Measured, first_difference, problem, shown};
use crate::score::Score;
use crate::text::{case_folded, folded, is_of_word, is_unspaced, lowered, without_dots};

/// A measure of a reply's wording: a pattern of the options is compiled once.
pub struct TextMeasure<'a> {
    config: &'a TextConfig,
    pattern: Option<Regex>,
}

impl<'a> TextMeasure<'a> {
    /// The measure by these options.
    ///
    /// # Errors
    /// The options ask for nothing, the length is impossible, or the pattern is none.
    pub fn new(config: &'a TextConfig) -> Result<TextMeasure<'a>, MeasureProblem> {
        if let Some(length) = &config.length {
            length.check()?;
        } else if config.text_match == TextMatch::Skip {
            return problem("`match: skip` without `length` checks nothing: give one of them");
        }
        let is_part = matches!(config.text_match, TextMatch::Contains | TextMatch::Regex);
        if is_part && !config.strict && config.expected.as_deref() == Some("") {
            return problem("`expected` is empty, which every reply contains: give a text, or leave it out");
        }
        let pattern = config.expected.as_ref().filter(|_| config.text_match == TextMatch::Regex);
        Ok(TextMeasure { config, pattern: pattern.map(|it| config.pattern(it)).transpose()? })
    }

    /// Measures a reply against the text of the options or, without one, against the expected reply.
    ///
    /// # Errors
    /// There is nothing to compare with, or the expected reply is no pattern.
    pub fn measure(&self, reply: &str, expected: Option<&str>) -> Result<Measured, MeasureProblem> {
        let config = self.config;
        let length = config.length.as_ref().map(|length| measure_length(length, reply)).transpose()?;
        if let Some(length) = length.filter(|it| !it.is_full() || config.text_match == TextMatch::Skip) {
            return Ok(length);
        }
        let Some(expected) = config.expected.as_deref().or(expected) else {
            return problem("there is no expected reply to compare with: give `expected`");
        };
        let cased = |text: &str| match (config.case_insensitive, config.strict) {
            (false, _) => text.to_owned(),
            (true, true) => lowered(text),
            (true, false) => case_folded(text),
        };
        Ok(match config.text_match {
            TextMatch::Exact if cased(reply) == cased(expected) => Measured::passed("the reply is the expected one"),
            TextMatch::Exact => Measured::failed(first_difference(&cased(expected), &cased(reply))),
            TextMatch::Contains => found(cased(reply).contains(&cased(expected)), "contain", expected, reply),
            TextMatch::Regex => {
                let seen =
                    config.case_insensitive.then(|| if config.strict { lowered(reply) } else { without_dots(reply) });
                let reply_seen = seen.as_deref().unwrap_or(reply);
                let is_match = match &self.pattern {
                    Some(pattern) => pattern.is_match(reply_seen),
                    None => config.pattern(expected)?.is_match(reply_seen),
                };
                found(is_match, "match", expected, reply)
            }
            TextMatch::Skip => Measured::passed("only its length counts"),
        })
    }
}

fn found(is_found: bool, verb: &str, expected: &str, reply: &str) -> Measured {
    match is_found {
        true => Measured::passed(format!(
            "the reply {verb}{} {}",
            if verb == "match" { "es" } else { "s" },
            shown(expected)
        )),
        false => {
            let block = format!(
                "the reply does not {verb} the expected text\n  expected: {}\n  actual:   {}",
                shown(expected),
                shown(reply)
            );
            Measured::failed(block)
        }
    }
}

/// Measures how long a reply is, in Unicode code points.
///
/// # Errors
/// The options are wrong.
pub fn measure_length(config: &LengthConfig, reply: &str) -> Result<Measured, MeasureProblem> {
    config.check()?;
    let length = reply.chars().count() as u64;
    let is_within = config.min.is_none_or(|min| length >= min) && config.max.is_none_or(|max| length <= max);
    let bounds = match (config.min, config.max) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("{min} or more"),
        (None, max) => format!("{} or fewer", max.unwrap_or_default()),
    };
    Ok(match is_within {
        true => Measured::passed(format!("the reply has {length} characters")),
        false => {
            Measured::failed(format!("the reply has {length} characters, not {bounds}\n  actual: {}", shown(reply)))
        }
    })
}

/// Measures which of the options' keywords or, without any, of the expected ones a reply has. The score is their share where
/// all are needed.
///
/// # Errors
/// There are no keywords, or the options are wrong.
pub fn measure_keywords(config: &KeywordsConfig, reply: &str, expected: &[String]) -> Result<Measured, MeasureProblem> {
    config.check()?;
    let keywords = if config.keywords.is_empty() { expected } else { &config.keywords };
    // A blank one is in every reply.
    let keywords: Vec<&String> = keywords.iter().filter(|keyword| !keyword.trim().is_empty()).collect();
    if keywords.is_empty() {
        return problem("there are no keywords to look for: give `keywords`");
    }
    let reply_folded = one_spaced(reply, config.case_insensitive);
    let has =
        |keyword: &&String| contains(&reply_folded, &one_spaced(keyword, config.case_insensitive), config.whole_words);
    let (there, missing): (Vec<&String>, Vec<&String>) = keywords.iter().copied().partition(has);
    let passed = match config.need {
        KeywordsNeed::All => missing.is_empty(),
        KeywordsNeed::Any => !there.is_empty(),
    };
    let names = |keywords: &[&String]| keywords.iter().map(|it| shown(it)).collect::<Vec<_>>().join(", ");
    if passed {
        let why = format!("{} of {} keywords: {}", there.len(), keywords.len(), names(&there));
        return Ok(Measured::passed(why));
    }
    let found = if there.is_empty() { String::new() } else { format!("\n  found: {}", names(&there)) };
    let why = format!(
        "{} of {} keywords\n  missing: {}{found}\n  actual: {}",
        there.len(),
        keywords.len(),
        names(&missing),
        shown(reply)
    );
    Ok(Measured { score: Score::clamped(there.len() as f64 / keywords.len() as f64), why })
}

/// The text with one space where it has white space.
fn one_spaced(text: &str, folds: bool) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if folds { folded(&text) } else { text }
}

/// Whether a keyword is in a text: anywhere, or not as a part of another word.
fn contains(text: &str, keyword: &str, whole_words: bool) -> bool {
    let joins = |c: char| is_of_word(c) && !is_unspaced(c);
    let (first, last) = (keyword.chars().next(), keyword.chars().next_back());
    text.match_indices(keyword).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + keyword.len()..].chars().next();
        let begins = !(before.is_some_and(joins) && first.is_some_and(joins));
        let ends = !(after.is_some_and(joins) && last.is_some_and(joins));
        !whole_words || begins && ends
    })
}

#[cfg(test)]
mod tests;
