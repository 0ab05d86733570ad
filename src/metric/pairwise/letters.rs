//! The scale of trpc-agent-go's verifier: a letter for each of two replies, A the best and T the worst, each weighted by the
//! probabilities of the letters that could have stood there.

use serde::Deserialize;
use serde_json::json;

use super::super::judged::SPREAD;
use super::MAX_REASON;
use crate::evidence::{Judgement, Observed, ReplySchema, ReplyToken, ScoreAlternative};
use crate::metric::ReplyError;
use crate::score::Score;
use crate::text::contradiction;

/// How many letters there are.
const LETTERS: usize = 20;

/// The keys of the letters of the first and the second reply.
const KEYS: [&str; 2] = ["score_A", "score_B"];

/// The highest score of an alternative.
const TOP: f64 = 10.0;

#[derive(Deserialize)]
struct WrittenLetters {
    #[serde(rename = "score_A")]
    first: String,
    #[serde(rename = "score_B")]
    second: String,
}

/// The shape of a reply: the reason comes before the letters.
pub(super) fn reply_schema() -> ReplySchema {
    let letters: Vec<String> = ('A'..='T').map(String::from).collect();
    let letter = json!({ "type": "string", "enum": letters });
    ReplySchema {
        name: "letters".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "reason": { "type": "string", "maxLength": MAX_REASON, "description": "Before the letters." },
                KEYS[0]: letter,
                KEYS[1]: letter,
            },
            "required": ["reason", KEYS[0], KEYS[1]],
            "additionalProperties": false,
        }),
        max_tokens: 600,
        wants_alternatives: true,
    }
}

/// Checks that a reply gives both letters.
///
/// # Errors
/// It does not.
pub(super) fn read(raw: &str) -> Result<(), ReplyError> {
    if let Some(key) = contradiction(raw) {
        return Err(ReplyError::Contradiction(key));
    }
    let wrong = || {
        ReplyError::Verdicts(vec![
            "The reply must be an object with `reason`, `score_A` and `score_B`, each of these a letter from A to T."
                .to_owned(),
        ])
    };
    let written: WrittenLetters = match serde_json::from_str(raw.trim()) {
        Ok(written) => written,
        Err(error) if error.is_data() => return Err(wrong()),
        Err(error) => return Err(ReplyError::NotJson(error.to_string())),
    };
    let are_letters = [written.first, written.second].iter().all(|text| letter(text).is_some());
    if are_letters { Ok(()) } else { Err(wrong()) }
}

/// The place of a letter in the scale, from 0; quotes and spaces around it don't count.
fn letter(text: &str) -> Option<usize> {
    let mut letters = text.trim_matches(|c: char| !c.is_ascii_alphanumeric()).chars();
    let place = (letters.next()?.to_ascii_uppercase() as usize).checked_sub('A' as usize)?;
    (letters.next().is_none() && place < LETTERS).then_some(place)
}

/// The scores that other letters would have given, with their probabilities: 10 where the first reply is the best and the second
/// the worst. None where the model returns no log probabilities.
pub fn letter_alternatives(tokens: &[ReplyToken]) -> Vec<ScoreAlternative> {
    let (Some(first), Some(second)) = (probabilities(tokens, KEYS[0]), probabilities(tokens, KEYS[1])) else {
        return Vec::new();
    };
    // The sum of two places is worth the same whichever of them it is.
    let mut by_difference = [0.0; 2 * LETTERS - 1];
    for (a, of_a) in first.iter().enumerate() {
        for (b, of_b) in second.iter().enumerate() {
            by_difference[b + LETTERS - 1 - a] += of_a * of_b;
        }
    }
    let most = (by_difference.len() - 1) as f64;
    let alternative = |(at, probability): (usize, &f64)| {
        (*probability > 0.0).then_some(ScoreAlternative { score: at as f64 / most * TOP, probability: *probability })
    };
    by_difference.iter().enumerate().filter_map(alternative).collect()
}

/// The probability of each letter as the last value of this key; `None` where it is not one token, or has no alternatives.
fn probabilities(tokens: &[ReplyToken], key: &str) -> Option<[f64; LETTERS]> {
    let text: String = tokens.iter().map(|token| token.text.as_str()).collect();
    let after_key = text.rfind(key)? + key.len();
    let at = after_key + text[after_key..].find(|c: char| c.is_ascii_alphanumeric())?;
    let mut end = 0;
    let token = tokens.iter().find(|token| {
        end += token.text.len();
        end > at
    })?;
    letter(&token.text)?;
    let mut all = [0.0_f64; LETTERS];
    for (text, logprob) in &token.alternatives {
        let probability = logprob.exp();
        // A small letter is the same as its capital, and the more probable of both counts.
        if let Some(place) = letter(text).filter(|_| probability.is_finite()) {
            all[place] = all[place].max(probability);
        }
    }
    let sum: f64 = all.iter().sum();
    (sum > 0.0).then(|| all.map(|probability| probability / sum))
}

/// A turn without a score by letters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum LettersError {
    /// The judge was not asked.
    #[error("the judge was not asked")]
    NotAsked,
    /// The judge could not be asked.
    #[error("{0}")]
    Failed(String),
    /// The model gives no log probabilities.
    #[error("the judge's model does not tell the probabilities of letters, which this scale rests on")]
    NoProbabilities,
}

/// The score of one turn by its samples, and whether they differ much.
///
/// # Errors
/// A sample has no score, or there are no samples.
pub(super) fn score_samples(
    judgements: &[&Judgement],
    sample_from: Option<Score>,
) -> Result<(f64, bool), LettersError> {
    let mut scores = Vec::new();
    for judgement in judgements {
        if let Observed::Failed(error) = &judgement.reply {
            return Err(LettersError::Failed(error.clone()));
        }
        let all: f64 = judgement.alternatives.iter().map(|it| it.probability).sum();
        if all <= 0.0 {
            return Err(LettersError::NoProbabilities);
        }
        let sum: f64 = judgement.alternatives.iter().map(|it| it.score * it.probability).sum();
        scores.push(sum / all / TOP);
    }
    let (Some(low), Some(high)) = (scores.iter().copied().reduce(f64::min), scores.iter().copied().reduce(f64::max))
    else {
        return Err(LettersError::NotAsked);
    };
    let is_unstable = high - low > SPREAD;
    let Some(least) = sample_from else { return Ok((scores.iter().sum::<f64>() / scores.len() as f64, is_unstable)) };
    // Whole samples vote, a tie is against the agent, and the first one of the winners stands for them.
    let holds = |score: &f64| *score >= least.get();
    let for_agent = scores.iter().filter(|score| holds(score)).count() * 2 > scores.len();
    let first = scores.iter().find(|score| holds(score) == for_agent).copied();
    Ok((first.unwrap_or(low), is_unstable))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str, alternatives: &[(&str, f64)]) -> ReplyToken {
        let alternative = |(text, probability): &(&str, f64)| ((*text).to_owned(), probability.ln());
        ReplyToken { text: text.to_owned(), alternatives: alternatives.iter().map(alternative).collect() }
    }

    fn reply(first: ReplyToken, second: ReplyToken) -> Vec<ReplyToken> {
        let before = token("{\"reason\": \"score_A is B\", \"score_A\": \"", &[]);
        vec![before, first, token("\", \"score_B\": ", &[]), second, token("}", &[])]
    }

    fn mean(alternatives: &[ScoreAlternative]) -> f64 {
        let all: f64 = alternatives.iter().map(|it| it.probability).sum();
        alternatives.iter().map(|it| it.score * it.probability).sum::<f64>() / all / TOP
    }

    #[test]
    fn each_letter_is_weighted_by_the_probabilities_of_the_others() {
        let best = letter_alternatives(&reply(token("A", &[("A", 1.0)]), token("\"T\"", &[("\"T\"", 1.0)])));
        assert_eq!(best, [ScoreAlternative { score: 10.0, probability: 1.0 }]);
        let equal = letter_alternatives(&reply(token("C", &[("C", 0.4)]), token("C", &[("C", 0.1)])));
        assert!((mean(&equal) - 0.5).abs() < 1e-12, "what is left out is not part of the sum");
        let first = token("B", &[("B", 0.6), ("b", 0.3), ("D", 0.2), ("no", 0.1), ("U", 0.1)]);
        let found = letter_alternatives(&reply(first, token("E", &[("E", 0.5), ("F", 0.5)])));
        let value = |place: f64| 1.0 - place / 19.0;
        let (a, b) = ((0.6 * value(1.0) + 0.2 * value(3.0)) / 0.8, (value(4.0) + value(5.0)) / 2.0);
        assert!((mean(&found) - (0.5 + (a - b) / 2.0)).abs() < 1e-9, "{}", mean(&found));
    }

    #[test]
    fn what_is_no_letter_of_one_token_has_no_alternatives() {
        let some = [("A", 0.9)];
        assert!(letter_alternatives(&reply(token("AB", &some), token("C", &some))).is_empty());
        assert!(letter_alternatives(&reply(token("Z", &some), token("C", &some))).is_empty());
        assert!(letter_alternatives(&reply(token("A", &[]), token("C", &some))).is_empty());
        assert!(letter_alternatives(&[token("score_A", &some)]).is_empty());
        assert!(letter_alternatives(&[]).is_empty());
        for (raw, is_one) in [
            (r#"{"reason": "so", "score_A": "A", "score_B": "t"}"#, true),
            (r#"{"reason": "so", "score_A": "A", "score_B": "U"}"#, false),
            (r#"{"reason": "so", "score_A": "A"}"#, false),
            (r#"{"reason": "so", "score_A": "A", "score_B": "B", "score_A": "T"}"#, false),
            ("A is better", false),
        ] {
            assert_eq!(read(raw).is_ok(), is_one, "{raw}");
        }
    }
}
