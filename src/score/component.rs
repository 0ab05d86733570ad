//! One part of a score.

use serde::{Deserialize, Serialize};

/// A number from 0 to 1, never NaN.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Score(f64);

impl Score {
    /// The worst score.
    pub const ZERO: Score = Score(0.0);
    /// The best score.
    pub const ONE: Score = Score(1.0);
    /// Scores that differ by less are the same: arithmetic leaves no more.
    pub const HAIR: f64 = 1e-9;

    /// The number as a score, unless it is outside 0..=1 or NaN.
    pub fn new(value: f64) -> Option<Score> {
        (0.0..=1.0).contains(&value).then_some(Score(positive(value)))
    }

    /// The nearest score; NaN becomes 0. Only for arithmetic on scores, whose rounding may leave 0..=1 by a hair.
    pub fn clamped(value: f64) -> Score {
        Score(if value.is_nan() { 0.0 } else { positive(value.clamp(0.0, 1.0)) })
    }

    /// 1 for true, 0 for false.
    pub fn from_bool(holds: bool) -> Score {
        if holds { Score::ONE } else { Score::ZERO }
    }

    /// Whether it misses a gate. One that meets it may come out a hair lower: 5.6 / 7 as 0.7999999999999999.
    pub fn is_below(self, gate: Score) -> bool {
        gate.0 - self.0 > Score::HAIR
    }

    /// The number, 0 to 1.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// Zero without a sign: −0 would be written with one.
fn positive(value: f64) -> f64 {
    value + 0.0
}

impl TryFrom<f64> for Score {
    type Error = OutOfRange;

    fn try_from(value: f64) -> Result<Score, OutOfRange> {
        Score::new(value).ok_or(OutOfRange::Score(value))
    }
}

impl From<Score> for f64 {
    fn from(score: Score) -> f64 {
        score.0
    }
}

/// A number that is no score or no weight.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum OutOfRange {
    /// It is no score.
    #[error("{0} is not a score: it must be from 0 to 1")]
    Score(f64),
    /// It is no weight.
    #[error("{0} is not a weight: it must be from 0 to 1000000")]
    Weight(f64),
}

/// A weight: finite and not negative.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Weight(f64);

impl Weight {
    /// Counts for nothing, but is stored and shown.
    pub const ZERO: Weight = Weight(0.0);
    /// The usual weight.
    pub const ONE: Weight = Weight(1.0);

    /// The highest weight: sums of many are numbers still.
    pub const MOST: f64 = 1_000_000.0;

    /// The number as a weight, unless it is negative, above [`Weight::MOST`] or NaN.
    pub const fn new(value: f64) -> Option<Weight> {
        if value >= 0.0 && value <= Weight::MOST { Some(Weight(value)) } else { None }
    }

    /// The number, 0 or more.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Weight {
    type Error = OutOfRange;

    fn try_from(value: f64) -> Result<Weight, OutOfRange> {
        Weight::new(value).ok_or(OutOfRange::Weight(value))
    }
}

impl From<Weight> for f64 {
    fn from(weight: Weight) -> f64 {
        weight.0
    }
}

/// One part of a score: what it came to, or why there is no number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Component {
    /// It was measured.
    Scored {
        /// The score.
        score: Score,
        /// The reason, in a sentence.
        why: String,
        /// Whether those who decided it disagree: several judges, or several samples of one.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unstable: bool,
    },
    /// The job does not use it: it leaves the weighting.
    NotApplicable {
        /// The reason, in a sentence.
        why: String,
    },
    /// It could not be determined: whatever it is part of is missing too.
    Missing {
        /// The error, in a sentence.
        error: String,
    },
}

impl Component {
    /// A measured part.
    pub fn scored(score: Score, why: impl Into<String>) -> Component {
        Component::Scored { score, why: why.into(), unstable: false }
    }

    /// The same, marked as one that those who decided it disagree on, where they do.
    pub fn unstable_if(mut self, disagree: bool) -> Component {
        if let Component::Scored { unstable, .. } = &mut self {
            *unstable |= disagree;
        }
        self
    }

    /// The end of the reason of a good score without a quote of the agent's messages or calls.
    pub const UNSUPPORTED: &str = " (rests on no word of the agent)";

    /// Whether it is a good score without a quote of the agent's messages or calls.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Component::Scored { why, .. } if why.contains(Component::UNSUPPORTED))
    }

    /// Whether those who decided it disagree.
    pub fn is_unstable(&self) -> bool {
        matches!(self, Component::Scored { unstable: true, .. })
    }

    /// A part that the job does not use.
    pub fn not_applicable(why: impl Into<String>) -> Component {
        Component::NotApplicable { why: why.into() }
    }

    /// A part that could not be determined.
    pub fn missing(error: impl Into<String>) -> Component {
        Component::Missing { error: error.into() }
    }

    /// The score, where there is one.
    pub fn score(&self) -> Option<Score> {
        match self {
            Component::Scored { score, .. } => Some(*score),
            _ => None,
        }
    }

    /// Whether it could not be determined.
    pub fn is_missing(&self) -> bool {
        matches!(self, Component::Missing { .. })
    }

    /// The reason, whichever it is.
    pub fn why(&self) -> &str {
        match self {
            Component::Scored { why, .. } | Component::NotApplicable { why } => why,
            Component::Missing { error } => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_no_sign() {
        for zero in [Score::new(-0.0).unwrap(), Score::clamped(-0.0), serde_json::from_str("-0.0").unwrap()] {
            assert_eq!(
                (format!("{:.2}", zero.get()), serde_json::to_string(&zero).unwrap()),
                ("0.00".into(), "0.0".into())
            );
        }
    }

    #[test]
    fn a_score_that_meets_the_gate_is_not_below_it() {
        let score = Score::clamped((1.0 + 2.0 * 0.8 + 4.0 * 0.75) / 7.0);
        let gate = Score::clamped(0.8);
        assert!(score < gate && !score.is_below(gate), "{score:?}");
        assert!(Score::clamped(0.799_999).is_below(gate) && !Score::ONE.is_below(gate));
    }
}
