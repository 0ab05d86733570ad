//! Asking the persona what it says next.

use serde_json::json;

use super::Engine;
use super::trial::Stop;
use crate::conversation::{PersonaSaid, read_persona_reply};
use crate::evidence::{Message, ReplySchema, Role, Transcript, TrialId, Usage};
use crate::llm::{LlmRequest, LlmRole};
use crate::prompt::{PersonaView, WantedTask};

/// How often a persona whose reply can't be used is asked.
const TRIES: usize = 3;

/// Asks the persona what it says next. What it costs is added to `usage`, also when it comes to nothing.
pub(super) async fn ask(
    engine: &Engine,
    id: &TrialId,
    transcript: &Transcript,
    usage: &mut Usage,
) -> Result<PersonaSaid, Stop> {
    let job = &engine.plan.job;
    let Some(persona) = &engine.edges.persona else {
        return Err(Stop::broken("eval-job itself failed: fixed lines have no model to ask"));
    };
    let tasks: Vec<WantedTask<'_>> =
        job.tasks.iter().map(|task| WantedTask { kind: task.kind.word(), task: &task.task }).collect();
    let view = PersonaView {
        name: &job.persona.name,
        voice: &job.persona.voice,
        signoff: &job.persona.signoff,
        tasks: &tasks,
        facts: job.facts_known(id.condition),
    };
    let messages = engine
        .templates
        .persona_messages(&job.persona.prompt, &view, transcript)
        .map_err(|error| Stop::broken(error.to_string()))?;
    let mut request = LlmRequest {
        role: LlmRole::Persona,
        messages,
        temperature: job.persona.temperature,
        schema: Some(reply_schema()),
    };
    let mut unusable = String::new();
    for _ in 0..TRIES {
        let reply =
            persona.complete(&request).await.map_err(|error| Stop::broken(format!("the persona's model: {error}")))?;
        *usage = usage.plus(reply.usage);
        match read_persona_reply(&reply.text, &job.persona.signoff) {
            Ok(said) if said.done && said.message.is_none() && transcript.turns.len() <= 1 => {
                unusable = "it said goodbye before it had asked for anything".to_owned();
            }
            Ok(said) => return Ok(said),
            Err(why) => unusable = why,
        }
        request.messages.push(Message::new(Role::Assistant, reply.text));
        request.messages.push(Message::new(Role::User, format!("That could not be used: {unusable}. Reply again.")));
    }
    Err(Stop::persona_invalid(format!("the persona gave no usable line in {TRIES} tries: {unusable}")))
}

/// `{message, done}`.
fn reply_schema() -> ReplySchema {
    ReplySchema {
        name: "persona_reply".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "message": {"type": "string", "description": "what you say next"},
                "done": {"type": "boolean", "description": "true with your last message"}
            },
            "required": ["message", "done"],
            "additionalProperties": false
        }),
    }
}
