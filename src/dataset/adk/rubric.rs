//! Rubrics.

use super::KEYS;
use crate::dataset::cursor::{Cursor, UnknownKeys};
use crate::dataset::model::Rubric;

/// Reads a list of rubrics; no two may have the same id.
pub(super) fn read_rubrics(rubrics: Vec<Cursor<'_>>) -> Vec<Rubric> {
    let mut read: Vec<Rubric> = Vec::new();
    for value in rubrics {
        let Some(rubric) = read_rubric(value) else { continue };
        if read.iter().any(|former| former.id == rubric.id) {
            value.error(format!("a rubric with the id `{}` is here already", rubric.id));
        }
        read.push(rubric);
    }
    read
}

fn read_rubric(value: Cursor<'_>) -> Option<Rubric> {
    let mut fields = value.fields(KEYS)?;
    let id = fields.required("rubric_id").and_then(Cursor::filled_text).unwrap_or_default().to_owned();
    let mut description = fields.text("description");
    let text = fields.required("rubric_content").and_then(|content| {
        let mut fields = content.fields(KEYS)?;
        let text = fields.text("text_property").filter(|text| !text.trim().is_empty());
        fields.rest(UnknownKeys::Refused);
        if text.is_none() {
            // ADK puts "None" to its judge, and counts the answer.
            description = description.take().filter(|text| !text.trim().is_empty());
            match &description {
                Some(_) => content.warn("this rubric has no text: a judge is asked its `description`"),
                None => content.error_with(
                    "this rubric says nothing: no judge can answer it",
                    "say in `text_property` what must hold, or take the rubric out",
                ),
            }
        }
        text.or_else(|| description.take())
    });
    let rubric_type = fields.text("type");
    fields.rest(UnknownKeys::Refused);
    Some(Rubric { id, text: text.unwrap_or_default(), description, rubric_type, metric: None, weight: None })
}
