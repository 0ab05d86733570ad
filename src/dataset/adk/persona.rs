//! Personas of simulated users: the three that come with ADK, by id, and those that a file describes.

use super::KEYS;
use crate::dataset::cursor::{Cursor, UnknownKeys};
use crate::dataset::model::{PersonaBehavior, ScenarioPersona};
use crate::text::nearest;

/// A built-in persona: its id, who it is, and its behaviours.
type BuiltIn = (&'static str, &'static str, [(&'static str, &'static str); 6]);

const BUILT_IN: [BuiltIn; 3] = [
    (
        "EXPERT",
        "knows the subject well and wants a result",
        [
            ("advance the goal", "Give all details that the agent needs at once."),
            ("answer", "Answer only questions that matter for the goal."),
            ("correct the agent", "When the agent is wrong, say so and say what is right."),
            ("troubleshoot", "When something fails, help the agent once to get past it."),
            (
                "end",
                "End when the goal is reached, when you are handed to a person, or when the agent fails a second time.",
            ),
            ("tone", "Write in a professional tone."),
        ],
    ),
    (
        "NOVICE",
        "is new to the subject and needs to be guided",
        [
            ("advance the goal", "State the goal, then wait until you are asked for details."),
            ("answer", "Answer every question."),
            ("correct the agent", "Do not correct the agent; when it is wrong, end the conversation."),
            ("troubleshoot", "Do not help the agent when something fails."),
            ("end", "End when the goal is reached, when you are handed to a person, or when the agent fails."),
            ("tone", "Write in a conversational tone."),
        ],
    ),
    (
        "EVALUATOR",
        "tests what the agent can do",
        [
            ("advance the goal", "Give all details that the agent needs at once."),
            ("answer", "Answer only questions that matter for the goal."),
            ("correct the agent", "Do not correct the agent; when it is wrong, end the conversation."),
            ("troubleshoot", "Do not help the agent when something fails."),
            ("end", "End when the goal is reached, when you are handed to a person, or when the agent fails."),
            ("tone", "Write in a conversational tone."),
        ],
    ),
];

/// Reads the id of a built-in persona, or the description of another.
pub(super) fn read_persona(value: Cursor<'_>) -> Option<ScenarioPersona> {
    let Some(id) = value.node.text() else { return read_described(value) };
    let known = || BUILT_IN.iter().map(|(id, ..)| *id);
    let Some((id, who, behaviors)) = BUILT_IN.iter().find(|(known, ..)| known.eq_ignore_ascii_case(id.trim())) else {
        let help = nearest(id, known()).map(|name| format!("did you mean `{name}`?"));
        let list = "the built-in personas are EXPERT, NOVICE and EVALUATOR; an object describes another";
        value.error_with(format!("there is no persona `{id}`"), help.unwrap_or_else(|| list.to_owned()));
        return None;
    };
    Some(described(id, who, behaviors))
}

/// One that comes with ADK, by its id.
pub(super) fn built_in(id: &str) -> Option<ScenarioPersona> {
    let (id, who, behaviors) = BUILT_IN.iter().find(|(known, ..)| *known == id)?;
    Some(described(id, who, behaviors))
}

fn described(id: &str, who: &str, behaviors: &[(&str, &str)]) -> ScenarioPersona {
    let behavior = |(name, instruction): &(&str, &str)| PersonaBehavior {
        name: (*name).to_owned(),
        instructions: vec![(*instruction).to_owned()],
        ..PersonaBehavior::default()
    };
    ScenarioPersona {
        id: id.to_owned(),
        description: format!("a user who {who}"),
        behaviors: behaviors.iter().map(behavior).collect(),
    }
}

fn read_described(value: Cursor<'_>) -> Option<ScenarioPersona> {
    let mut fields = value.fields(KEYS)?;
    let id = fields.required("id").and_then(Cursor::text).unwrap_or_default().to_owned();
    let description = fields.required("description").and_then(Cursor::text).unwrap_or_default().to_owned();
    let behaviors = fields.items("behaviors").into_iter().filter_map(read_behavior).collect();
    fields.rest(UnknownKeys::Refused);
    Some(ScenarioPersona { id, description, behaviors })
}

fn read_behavior(value: Cursor<'_>) -> Option<PersonaBehavior> {
    let mut fields = value.fields(KEYS)?;
    let name = fields.required("name").and_then(Cursor::text).unwrap_or_default().to_owned();
    let description = fields.text("description").unwrap_or_default();
    let instructions = fields.get("behavior_instructions").map(Cursor::texts).unwrap_or_default();
    let violation_rubrics = fields.get("violation_rubrics").map(Cursor::texts).unwrap_or_default();
    fields.rest(UnknownKeys::Refused);
    Some(PersonaBehavior { name, description, instructions, violation_rubrics })
}
