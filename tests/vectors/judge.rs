//! What judges are asked and what their replies come to: it waits for the measures that ask judges.

use super::vector::Vector;
use super::{Answer, Answered, Dialect};

/// The answer to a vector about a judge.
pub fn answer(vector: &Vector, _dialect: Dialect) -> Option<Answered> {
    let is_of_objects = |key: &str| vector.list(key).iter().all(|it| it.is_object());
    let kind = match vector.system.as_str() {
        "adk" if vector.has(&["auto_rater_response", "rubrics"]) => "rubrics of a reply",
        "adk" if vector.has(&["auto_rater_response"]) => "judge's reply",
        "adk" if vector.has(&["segmenter_response"]) || vector.has(&["labels"]) => "hallucinations",
        "adk" if vector.has(&["verdicts"]) => "rubrics of a reply",
        "adk" if vector.has(&["samples"]) && is_of_objects("samples") => "majority of rubrics",
        "adk" if vector.has(&["invocations"]) && is_of_objects("invocations") => "mean of rubrics",
        "trpc" if vector.has(&["response"]) => "judge's reply",
        "redhat" if vector.has(&["roles"]) || vector.has(&["units", "window"]) => "units of interaction",
        "redhat" if vector.has(&["verdicts"]) => "verdicts",
        "redhat" if vector.has(&["assistant_turns", "out_of_character"]) => "role adherence",
        "redhat" if vector.has(&["raw_score"]) => "GEval",
        "redhat" if vector.has(&["attempts", "threshold"]) => "second try",
        "redhat" if vector.has(&["known_bad"]) || vector.has(&["files"]) => "check of known-bad conversations",
        _ => return None,
    };
    Some((kind, Answer::Pending("judges")))
}
