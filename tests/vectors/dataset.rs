//! What the readers of other systems' files make of single values.

use super::vector::Vector;
use super::{Answer, Answered, Dialect};

/// The answer to a vector about reading a value.
pub fn answer(vector: &Vector, _dialect: Dialect) -> Option<Answered> {
    let kind = match vector.system.as_str() {
        "adk" if vector.has(&["match_type"]) => "spelling of the order",
        "adk" if vector.has(&["parts"]) => "text of a content",
        _ => return None,
    };
    Some((kind, Answer::Pending("readers of files")))
}
