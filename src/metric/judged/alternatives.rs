//! The mean of a score's alternatives, weighted by their probabilities, as G-Eval takes it (arXiv 2303.16634, section 2.3).

use crate::evidence::{ReplyToken, ScoreAlternative};

/// An alternative that is less probable is left out, as DeepEval does.
const LEAST: f64 = 0.01;

/// The highest score.
const TOP: f64 = 10.0;

/// The alternatives of the last `"score"` of a JSON reply, by its tokens: whole numbers from 0 to 10, each with its probability.
/// None where the score is not one token, or the model tells no alternatives.
pub fn score_alternatives(tokens: &[ReplyToken]) -> Vec<ScoreAlternative> {
    let text: String = tokens.iter().map(|token| token.text.as_str()).collect();
    let Some(digits) = score_at(&text) else { return Vec::new() };
    let mut end = 0;
    let token = tokens.iter().find(|token| {
        end += token.text.len();
        end > digits.start
    });
    let Some(token) = token.filter(|token| token.text.trim() == &text[digits]) else { return Vec::new() };
    let alternative = |(text, logprob): &(String, f64)| {
        let score = text.trim().parse::<u8>().ok().map(f64::from).filter(|score| *score <= TOP)?;
        let probability = logprob.exp();
        (probability.is_finite() && probability >= LEAST).then_some(ScoreAlternative { score, probability })
    };
    token.alternatives.iter().filter_map(alternative).collect()
}

/// Where the digits of the last score stand.
fn score_at(text: &str) -> Option<std::ops::Range<usize>> {
    let key = "\"score\"";
    let after_key = text.rfind(key)? + key.len();
    let rest = text[after_key..].trim_start().strip_prefix(':')?.trim_start();
    let start = text.len() - rest.len();
    let length = rest.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(rest.len());
    (length > 0).then_some(start..start + length)
}

/// The weighted mean of the alternatives, 0 to 10; `None` where they are none, or the score is not among them.
pub(super) fn weighted(alternatives: &[ScoreAlternative], score: f64) -> Option<f64> {
    alternatives.iter().find(|it| (it.score - score).abs() < f64::EPSILON)?;
    let all: f64 = alternatives.iter().map(|it| it.probability).sum();
    let sum: f64 = alternatives.iter().map(|it| it.score * it.probability).sum();
    (all > 0.0).then(|| sum / all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn token(text: &str, alternatives: &[(&str, f64)]) -> ReplyToken {
        let alternative = |(text, probability): &(&str, f64)| ((*text).to_owned(), probability.ln());
        ReplyToken { text: text.to_owned(), alternatives: alternatives.iter().map(alternative).collect() }
    }

    fn reply(score: &[ReplyToken]) -> Vec<ReplyToken> {
        let before = token("{\"verdicts\":[{\"reason\":\"a \\\"score\\\": 3\",\"", &[]);
        let mut tokens = vec![before, token("score", &[]), token("\": ", &[])];
        tokens.extend_from_slice(score);
        tokens.push(token("}]}", &[]));
        tokens
    }

    #[test]
    fn the_last_score_has_its_alternatives() {
        let tokens = reply(&[token("8", &[("8", 0.6), ("7", 0.3), ("ten", 0.05), ("9", 0.004), ("11", 0.02)])]);
        let found = score_alternatives(&tokens);
        let scores: Vec<(f64, i64)> =
            found.iter().map(|it| (it.score, (it.probability * 1000.0).round() as i64)).collect();
        assert_eq!(scores, [(8.0, 600), (7.0, 300)]);
        assert!((weighted(&found, 8.0).unwrap() - (8.0 * 0.6 + 7.0 * 0.3) / 0.9).abs() < 1e-9);
        assert_eq!(weighted(&found, 5.0), None, "another reply's");
    }

    #[test]
    fn a_score_of_several_tokens_has_none() {
        let some = [("1", 0.9), ("7", 0.1)];
        assert!(score_alternatives(&reply(&[token("1", &some), token("0", &some)])).is_empty());
        assert!(score_alternatives(&reply(&[token("7", &some), token(".5", &some)])).is_empty());
        assert!(score_alternatives(&[token("no score", &some)]).is_empty());
        assert!(score_alternatives(&[]).is_empty());
        assert_eq!(weighted(&[], 8.0), None);
    }

    proptest! {
        #[test]
        fn the_weighted_score_lies_between_its_alternatives(of in prop::collection::vec((0_u8..=10, 0.01_f64..1.0), 1..20)) {
            let all: Vec<ScoreAlternative> =
                of.iter().map(|(score, probability)| ScoreAlternative { score: f64::from(*score), probability: *probability }).collect();
            let mean = weighted(&all, all[0].score).unwrap();
            let (low, high) = (of.iter().map(|it| it.0).min().unwrap(), of.iter().map(|it| it.0).max().unwrap());
            prop_assert!(mean >= f64::from(low) - 1e-9 && mean <= f64::from(high) + 1e-9);
        }

        #[test]
        fn no_tokens_break_it(texts in prop::collection::vec("[\"score: 0-9.é]{0,8}", 0..8)) {
            let tokens: Vec<ReplyToken> = texts.iter().map(|text| token(text, &[("5", 0.5)])).collect();
            score_alternatives(&tokens);
        }
    }
}
