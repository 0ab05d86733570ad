//! Whether a score has dropped from a baseline's.

use super::judged::differences;
use super::{ALPHA, Scores, Subject};
use crate::record::BaselineFigure;
use crate::score::Score;
use crate::statistics::difference;

/// The score of a model beside that of its baseline, from which it may drop by so much; `None` where no pair has a score.
///
/// It is kept where the chance of such pairs is at most 5 % if the true drop were the one that is allowed (a test of
/// non-inferiority), or where no pair differs. It has dropped where the chance of such a difference is at most 5 % if there were
/// none, and it is larger than allowed.
pub fn beside_baseline(
    model: &str,
    baseline: &Scores,
    scores: &Scores,
    (allowed_drop, rng_seed): (f64, u64),
) -> Option<BaselineFigure> {
    let found = difference(&differences(&Subject::Score, baseline, scores, &baseline.pairs(scores)), 1.0, rng_seed)?;
    Some(BaselineFigure {
        model: model.to_owned(),
        pairs: found.figure.count,
        cases: found.figure.cases,
        difference: found.figure.mean,
        interval: found.interval(),
        is_kept: found.is_none() || found.above_p(-allowed_drop) <= ALPHA,
        // A drop of exactly what is allowed is none that is larger, however its last digit is rounded.
        has_dropped: found.p <= ALPHA && found.figure.mean < -allowed_drop - Score::HAIR,
    })
}
