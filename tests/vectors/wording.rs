//! trpc's criteria of a final response: its wording, its length, its JSON, its XML.

use super::vector::Vector;
use super::{Answer, Answered, Dialect};

/// The answer to a vector about the wording or the document of a reply.
pub fn answer(vector: &Vector, _dialect: Dialect) -> Option<Answered> {
    if vector.system != "trpc" || !(vector.has(&["criterion"]) || vector.has(&["length"])) {
        return None;
    }
    let first_word = vector.name.split([':', ' ']).next().unwrap_or_default();
    let kind = match first_word {
        _ if vector.has(&["actual_text"]) || first_word == "finalResponse" => "final response",
        _ if vector.has(&["length"]) => "length",
        _ if !vector.has(&["actual"]) => return None,
        "json" => "JSON",
        "xml" => "XML",
        "text" => "text",
        _ => return None,
    };
    Some((kind, Answer::Pending("text measures")))
}
