//! How near two embeddings are.

/// The cosine of two vectors; `None` where they have none.
pub(super) fn cosine(one: &[f64], other: &[f64]) -> Option<f64> {
    if one.is_empty() || one.len() != other.len() {
        return None;
    }
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let cosine = product(one, other) / (product(one, one).sqrt() * product(other, other).sqrt());
    cosine.is_finite().then(|| cosine.clamp(-1.0, 1.0))
}
