//! The mean of a score's alternatives, weighted by their probabilities, as G-Eval takes it (arXiv 2303.16634, section 2.3).

use crate::evidence::{ReplyToken, ScoreAlternative};

/// An alternative that is less probable is left out, as DeepEval does.
const LEAST: f64 = 0.01;

/// The highest score.
const TOP: f64 = 10.0;

/// The alternatives of the last `"score"` of a JSON reply, by its tokens: whole numbers from 0 to 10, each with its probability.
/// None where the score is not one token (10 may be two), the model tells no alternatives, or it could have meant 1 or 10.
pub fn score_alternatives(tokens: &[ReplyToken]) -> Vec<ScoreAlternative> {
    let text: String = tokens.iter().map(|token| token.text.as_str()).collect();
    let Some(digits) = score_at(&text) else { return Vec::new() };
    let mut end = 0;
    let at = tokens.iter().position(|token| {
        end += token.text.len();
        end > digits.start
    });
    let Some((token, after)) = at.and_then(|at| tokens[at..].split_first()) else { return Vec::new() };
    let (written, digits) = (token.text.trim(), &text[digits]);
    let is_split_ten = written == "1" && digits == "10" && after.first().is_some_and(|it| it.text.starts_with('0'));
    if written != digits && !is_split_ten {
        return Vec::new();
    }
    let alternative = |(text, logprob): &(String, f64)| {
        let score = text.trim().parse::<u8>().ok().map(f64::from).filter(|score| *score <= TOP)?;
        let probability = logprob.exp();
        (probability.is_finite() && probability >= LEAST).then_some(ScoreAlternative { score, probability })
    };
    let mut all: Vec<ScoreAlternative> = token.alternatives.iter().filter_map(alternative).collect();
    let is_one = |it: &ScoreAlternative| (it.score - 1.0).abs() < f64::EPSILON;
    let knows_ten = token.alternatives.iter().any(|(text, _)| text.trim() == "10");
    if let Some(one) = all.iter().position(is_one).filter(|_| !knows_ten) {
        // A model without a token for 10 begins it with 1.
        let Some(ten_after_one) = after.first().filter(|_| written == "1").and_then(zero_share) else {
            return Vec::new();
        };
        let ScoreAlternative { probability, .. } = all.remove(one);
        let parts = [(1.0, probability * (1.0 - ten_after_one)), (TOP, probability * ten_after_one)];
        let parts = parts.map(|(score, probability)| ScoreAlternative { score, probability });
        all.extend(parts.into_iter().filter(|it| it.probability >= LEAST));
    }
    let is_there = |it: &ScoreAlternative| digits.parse::<f64>().is_ok_and(|own| (own - it.score).abs() < f64::EPSILON);
    if all.iter().any(is_there) { all } else { Vec::new() }
}

/// The probability that a 0 stands here, among the alternatives that are known; `None` where none are.
fn zero_share(token: &ReplyToken) -> Option<f64> {
    let sum = |is_one: &dyn Fn(&str) -> bool| -> f64 {
        token.alternatives.iter().filter(|(text, _)| is_one(text)).map(|(_, logprob)| logprob.exp()).sum()
    };
    let all = sum(&|_| true);
    (all > 0.0 && all.is_finite()).then(|| sum(&|text| text.starts_with('0')) / all)
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
    fn a_ten_in_two_tokens_is_no_one() {
        let rounded = |tokens: &[ReplyToken]| -> Vec<(f64, i64)> {
            let found = score_alternatives(&reply(tokens));
            found.iter().map(|it| (it.score, (it.probability * 1000.0).round() as i64)).collect()
        };
        let eight = |others: &[(&str, f64)]| rounded(&[token("8", others)]);
        assert_eq!(eight(&[("8", 0.5), ("1", 0.4), ("9", 0.1)]), [], "a 1, or the beginning of a 10");
        assert_eq!(eight(&[("8", 0.5), ("1", 0.1), ("10", 0.3)]), [(8.0, 500), (1.0, 100), (10.0, 300)]);
        assert_eq!(eight(&[("8", 0.9), ("9", 0.1), ("1", 0.001)]), [(8.0, 900), (9.0, 100)]);
        let first = token("1", &[("1", 0.8), ("9", 0.2)]);
        assert_eq!(
            rounded(&[first.clone(), token("0", &[("0", 0.9), ("}", 0.1)])]),
            [(9.0, 200), (1.0, 80), (10.0, 720)]
        );
        let mut one = reply(&[first]);
        one.last_mut().unwrap().alternatives = vec![("}".to_owned(), 0.75_f64.ln()), ("0".to_owned(), 0.25_f64.ln())];
        let found = score_alternatives(&one);
        assert!((weighted(&found, 1.0).unwrap() - (9.0 * 0.2 + 0.6 + 10.0 * 0.2)).abs() < 1e-9, "{found:?}");
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
