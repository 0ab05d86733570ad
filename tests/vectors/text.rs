//! ROUGE and what it is made of: tokens, stems, sentences.

use super::vector::Vector;
use super::{Answer, Answered, Dialect};

/// The answer to a vector about ROUGE, tokens, stems or sentences.
pub fn answer(vector: &Vector, _dialect: Dialect) -> Option<Answered> {
    let kind = match vector.system.as_str() {
        "adk" if vector.has(&["candidate", "reference"]) => "ROUGE-1",
        "adk" if vector.has(&["candidates", "references"]) => "response match",
        "trpc" if vector.has(&["rougeType"]) => "ROUGE",
        "trpc" if vector.has(&["criterion", "target", "prediction"]) => "ROUGE criterion",
        "trpc" if vector.has(&["text"]) && vector.expects("tokens") => "tokens",
        "trpc" if vector.has(&["text"]) && vector.expects("sentences") => "sentences",
        "trpc" if vector.has(&["word"]) => "stems",
        "watsonx" if vector.has(&["prediction", "reference"]) => "ROUGE-L recall helper",
        _ => return None,
    };
    Some((kind, Answer::Pending("text measures")))
}
