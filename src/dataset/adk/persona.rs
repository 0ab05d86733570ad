//! Personas of simulated users: the three that come with ADK, by id, and those that a file describes.

use super::KEYS;
use crate::dataset::cursor::{Cursor, UnknownKeys};
use crate::dataset::model::{PersonaBehavior, ScenarioPersona};
use crate::job::UserPersona;
use crate::text::nearest;

/// The ids of the built-in personas; here they are in `prompts/personas`, in lower case.
const BUILT_IN: [&str; 3] = ["EXPERT", "NOVICE", "EVALUATOR"];

/// Reads the id of a built-in persona, or the description of another.
pub(super) fn read_persona(value: Cursor<'_>) -> Option<ScenarioPersona> {
    let Some(id) = value.node.text() else { return read_described(value) };
    let known = BUILT_IN.iter().find(|known| known.eq_ignore_ascii_case(id.trim()));
    let Some(persona) = known.and_then(|id| built_in(id)) else {
        let help = nearest(id, BUILT_IN.into_iter()).map(|name| format!("did you mean `{name}`?"));
        let list = "the built-in personas are EXPERT, NOVICE and EVALUATOR; an object describes another";
        value.error_with(format!("there is no persona `{id}`"), help.unwrap_or_else(|| list.to_owned()));
        return None;
    };
    Some(persona)
}

/// One that comes with ADK, by its id.
pub(super) fn built_in(id: &str) -> Option<ScenarioPersona> {
    let id = BUILT_IN.iter().find(|known| **known == id)?;
    let persona = UserPersona::shipped(&id.to_lowercase()).ok()?;
    Some(ScenarioPersona { id: (*id).to_owned(), ..ScenarioPersona::from(&persona) })
}

fn read_described(value: Cursor<'_>) -> Option<ScenarioPersona> {
    let mut fields = value.fields(KEYS)?;
    let id = fields.required("id").and_then(Cursor::text).unwrap_or_default().to_owned();
    let description = fields.required("description").and_then(Cursor::text).unwrap_or_default().to_owned();
    let behaviors = fields.items("behaviors").into_iter().filter_map(read_behavior).collect();
    fields.rest(UnknownKeys::Kept);
    Some(ScenarioPersona { id, description, behaviors })
}

fn read_behavior(value: Cursor<'_>) -> Option<PersonaBehavior> {
    let mut fields = value.fields(KEYS)?;
    let name = fields.required("name").and_then(Cursor::text).unwrap_or_default().to_owned();
    let description = fields.text("description").unwrap_or_default();
    let instructions = fields.get("behavior_instructions").map(Cursor::texts).unwrap_or_default();
    let violation_rubrics = fields.get("violation_rubrics").map(Cursor::texts).unwrap_or_default();
    fields.rest(UnknownKeys::Kept);
    Some(PersonaBehavior { name, description, instructions, violation_rubrics })
}
