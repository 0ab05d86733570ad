//! Reads frames: text, events and tokens, and which frame is a reply's last.

use serde_json::Value;
use serde_json_path::JsonPath;

use super::config::WebSocketConfig;
use crate::agent::SettingError;
use crate::agent::freeform::{DoneMark, PickedReply, ReplyPaths, path, text};
use crate::agent::rest::EventOutcome;
use crate::http::{JSON_DEPTH, is_too_deep, read_json};

/// Reads the frames of a connection.
#[derive(Debug, Clone)]
pub(super) struct FrameReader {
    /// `None` where each frame is plain text and a reply.
    json: Option<JsonPaths>,
    session_id: Option<JsonPath>,
}

#[derive(Debug, Clone)]
struct JsonPaths {
    reply: ReplyPaths,
    whole: Option<JsonPath>,
    error: Option<JsonPath>,
    done: Option<DoneMark>,
}

/// A reply, as far as it has come.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PartialReply {
    pub(super) picked: PickedReply,
    /// The failure that the agent reports.
    pub(super) error: Option<String>,
    /// The number of frames so far.
    pub(super) frames: usize,
}

/// Why a frame can't be read; the message completes "a frame …".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum FrameError {
    #[error("stops in the middle of its JSON")]
    CutOff,
    #[error("is not JSON")]
    NotJson,
    #[error("holds JSON that is nested deeper than {JSON_DEPTH} levels, the most that is read")]
    TooDeep,
}

impl FrameReader {
    /// Reads the paths of a job.
    ///
    /// # Errors
    /// The first path that can't be used, or that there is none for the text.
    pub(super) fn new(config: &WebSocketConfig) -> Result<FrameReader, SettingError> {
        const PLACE: &str = "target.websocket.reply";
        let reply = &config.reply;
        let optional = |key: &str, text: Option<&String>| text.map(|text| path(key, text)).transpose();
        let is_json = *reply != Default::default();
        let done = reply.done.as_ref().map(|done| DoneMark::parse(&format!("{PLACE}.done"), done));
        let json = JsonPaths {
            reply: ReplyPaths::parse(
                PLACE,
                ("delta", reply.delta.as_ref()),
                reply.events.as_ref(),
                reply.usage.as_ref(),
            )?,
            whole: optional(&format!("{PLACE}.text"), reply.text.as_ref())?,
            error: optional(&format!("{PLACE}.error"), reply.error.as_ref())?,
            done: done.transpose()?,
        };
        if is_json && reply.delta.is_none() && reply.text.is_none() {
            return Err(SettingError::new(PLACE, "say where the agent's text is: delta, or text"));
        }
        let session_id = optional("target.websocket.sessionId", config.session_id.as_ref())?;
        Ok(FrameReader { json: is_json.then_some(json), session_id })
    }

    /// Whether the agent sends a session's id before the first message.
    pub(super) fn wants_session_id(&self) -> bool {
        self.session_id.is_some()
    }

    /// The session's id, where a frame has it.
    pub(super) fn session_id(&self, frame: &str) -> Option<String> {
        let frame: Value = read_json(frame).ok()?;
        let id = self.session_id.as_ref()?.query(&frame).all().into_iter().map(text).next()?;
        Some(id).filter(|id| !id.is_empty())
    }

    /// Takes in a frame.
    pub(super) fn take(&self, frame: &str, partial: &mut PartialReply) -> Result<EventOutcome, FrameError> {
        let Some(json) = &self.json else {
            partial.picked.text.push_str(frame);
            return Ok(EventOutcome::End);
        };
        let frame: Value = read_json(frame).map_err(|error| match is_too_deep(&error) {
            true => FrameError::TooDeep,
            false if error.is_eof() => FrameError::CutOff,
            false => FrameError::NotJson,
        })?;
        Ok(json.take(&frame, partial))
    }
}

impl JsonPaths {
    fn take(&self, frame: &Value, partial: &mut PartialReply) -> EventOutcome {
        let found = |path: &Option<JsonPath>| {
            let nodes: Vec<String> = path.iter().flat_map(|path| path.query(frame).all()).map(text).collect();
            Some(nodes.concat()).filter(|text| !text.is_empty())
        };
        let mut has_text = self.reply.take(frame, &mut partial.picked);
        partial.picked.note_found(self.whole.iter().flat_map(|path| path.query(frame).all()));
        if let Some(text) = found(&self.whole) {
            partial.picked.text = text;
            has_text = true;
        }
        partial.error = found(&self.error).or(partial.error.take());
        match &self.done {
            _ if partial.error.is_some() => EventOutcome::End,
            Some(done) => EventOutcome::of(has_text, done.is_in(frame)),
            // A whole reply in one frame has no first words.
            None => EventOutcome::of(false, has_text),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reader(reply: Value) -> Result<FrameReader, SettingError> {
        FrameReader::new(
            &serde_json::from_value(json!({"url": "ws://h", "sessionId": "$.id", "reply": reply})).unwrap(),
        )
    }

    fn read(reply: Value, frames: &[Value]) -> (PartialReply, Vec<EventOutcome>) {
        let (reader, mut partial) = (reader(reply).unwrap(), PartialReply::default());
        let took = frames.iter().map(|frame| reader.take(&frame.to_string(), &mut partial).unwrap()).collect();
        (partial, took)
    }

    #[test]
    fn pieces_events_and_tokens_are_picked_until_the_end() {
        let reply = json!({"delta": "$.delta", "events": "$.did", "usage": {"input": "$.in"},
                           "done": {"path": "$.type", "equals": "done"}});
        let (partial, took) = read(
            reply,
            &[
                json!({"type": "thinking"}),
                json!({"type": "delta", "delta": "Hel"}),
                json!({"type": "tool", "did": {"name": "f", "args": {}}}),
                json!({"type": "delta", "delta": "lo"}),
                json!({"type": "done", "in": 3}),
            ],
        );
        assert_eq!(
            took,
            [EventOutcome::Nothing, EventOutcome::Text, EventOutcome::Nothing, EventOutcome::Text, EventOutcome::End]
        );
        assert_eq!((partial.picked.text.as_str(), partial.picked.events.len()), ("Hello", 1));
        assert_eq!(partial.picked.usage.unwrap().input_tokens, Some(3));
    }

    #[test]
    fn the_whole_stands_in_for_its_pieces_and_ends_where_nothing_else_does() {
        let (partial, took) = read(
            json!({"delta": "$.d", "text": "$.all", "done": {"path": "$.end"}}),
            &[json!({"d": "Hel"}), json!({"all": "Hello!"}), json!({"end": null})],
        );
        assert_eq!(
            (partial.picked.text.as_str(), took),
            ("Hello!", vec![EventOutcome::Text, EventOutcome::Text, EventOutcome::End])
        );
        let (_, took) = read(json!({"text": "$.all"}), &[json!({"typing": true}), json!({"all": "Hello!"})]);
        assert_eq!(took, [EventOutcome::Nothing, EventOutcome::End]);
        let (_, took) =
            read(json!({"text": "$.all", "done": {"path": "$.end"}}), &[json!({"all": "Hello!", "end": 1})]);
        assert_eq!(took, [EventOutcome::LastText], "its text is the first too");
    }

    #[test]
    fn a_plain_frame_is_a_reply_and_a_failure_ends_one() {
        let (partial, took) = read(json!({}), &[json!({"any": "thing"})]);
        assert_eq!((partial.picked.text.as_str(), took), (r#"{"any":"thing"}"#, vec![EventOutcome::End]));
        let (partial, took) = read(
            json!({"delta": "$.d", "error": "$.error.message", "done": {"path": "$.end"}}),
            &[json!({"d": "He"}), json!({"error": {"message": "out of order"}})],
        );
        assert_eq!(
            (partial.error.as_deref(), took),
            (Some("out of order"), vec![EventOutcome::Text, EventOutcome::End])
        );
    }

    #[test]
    fn unreadable_frames_and_paths_are_errors() {
        let json = reader(json!({"delta": "$.d"})).unwrap();
        for (frame, error) in [("nope", FrameError::NotJson), ("{\"d\":", FrameError::CutOff)] {
            assert_eq!(json.take(frame, &mut PartialReply::default()), Err(error));
        }
        assert_eq!(json.session_id(r#"{"id": 7}"#).as_deref(), Some("7"));
        assert_eq!((json.session_id("nope"), json.session_id(r#"{"id": ""}"#)), (None, None));
        for (reply, start) in [
            (json!({"events": "$.e"}), "target.websocket.reply: say where the agent's text is"),
            (json!({"delta": "d"}), "target.websocket.reply.delta: `d` is no JSONPath"),
            (json!({"text": "$.t", "done": {"path": "end"}}), "target.websocket.reply.done.path: `end` is no JSONPath"),
        ] {
            assert!(reader(reply).unwrap_err().to_string().starts_with(start));
        }
    }
}
