//! The agent's reports about its own work.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::LazyValue;

/// One thing that the agent reported about its work in a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredEvent")]
pub struct Event {
    /// The event, as far as its kind is known.
    #[serde(flatten)]
    pub kind: EventKind,
    /// As the agent reported it, or of that what `kind` does not say; `None` where `kind` says all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<Value>,
    /// Whether it is a call that was made in one message with the call before it, as far as that was reported.
    #[serde(rename = "withCallBefore", skip_serializing_if = "std::ops::Not::not")]
    pub is_parallel: bool,
    /// Whether it is no report of the agent's, and stands for the place of the final reply, where calls came after that.
    #[serde(rename = "replied", skip_serializing_if = "std::ops::Not::not")]
    pub is_replied: bool,
    /// Whether it is the result of the call that stands right before it, whatever their ids say: whoever recorded the two knew.
    #[serde(rename = "ofCallBefore", skip_serializing_if = "std::ops::Not::not")]
    pub is_of_call_before: bool,
}

/// The key within what was reported of a call, by which earlier versions marked it as made in one message with the call before it.
const PARALLEL: &str = "withCallBefore";
/// The key of an event that stood for the place of the final reply in earlier versions.
const REPLIED: &str = "replied";

/// The kinds of events.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum EventKind {
    /// The system prompt that the agent's model was given.
    SystemPrompt {
        /// The prompt.
        text: String,
    },
    /// A request to the knowledge-graph service.
    GraphRequest {
        /// The text of the request.
        content: String,
        /// How its answer was to be summarised.
        #[serde(skip_serializing_if = "Option::is_none")]
        summary_direction: Option<String>,
    },
    /// The agent called a function.
    FunctionCall(ToolCall),
    /// A function answered.
    FunctionResponse {
        /// Its output, as the agent reported it.
        output: LazyValue,
    },
    /// Something else: kept as it came.
    Other {
        /// The raw event.
        data: Value,
    },
}

/// An event as it is stored: the fields of all kinds. Serde's own reading of a tagged enum within a struct holds each event
/// twice before it is one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredEvent {
    kind: StoredKind,
    raw: Option<Value>,
    text: Option<String>,
    content: Option<String>,
    summary_direction: Option<String>,
    function: Option<String>,
    #[serde(default, deserialize_with = "present")]
    args: Option<LazyValue>,
    #[serde(default, deserialize_with = "present")]
    output: Option<LazyValue>,
    #[serde(default, deserialize_with = "present")]
    data: Option<Value>,
    #[serde(default)]
    with_call_before: bool,
    #[serde(default)]
    replied: bool,
    #[serde(default)]
    of_call_before: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum StoredKind {
    SystemPrompt,
    GraphRequest,
    FunctionCall,
    FunctionResponse,
    Other,
}

/// A value that is null is a value.
pub(super) fn present<'de, V: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<V>, D::Error> {
    V::deserialize(deserializer).map(Some)
}

/// A stored event lacks a field that its kind needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("missing field `{0}`")]
struct MissingField(&'static str);

impl TryFrom<StoredEvent> for Event {
    type Error = MissingField;

    fn try_from(stored: StoredEvent) -> Result<Event, MissingField> {
        let missing = MissingField;
        let kind = match stored.kind {
            StoredKind::SystemPrompt => EventKind::SystemPrompt { text: stored.text.ok_or_else(|| missing("text"))? },
            StoredKind::GraphRequest => EventKind::GraphRequest {
                content: stored.content.ok_or_else(|| missing("content"))?,
                summary_direction: stored.summary_direction,
            },
            StoredKind::FunctionCall => EventKind::FunctionCall(ToolCall {
                function: stored.function.ok_or_else(|| missing("function"))?,
                args: stored.args.ok_or_else(|| missing("args"))?,
            }),
            StoredKind::FunctionResponse => {
                EventKind::FunctionResponse { output: stored.output.ok_or_else(|| missing("output"))? }
            }
            StoredKind::Other => EventKind::Other { data: stored.data.ok_or_else(|| missing("data"))? },
        };
        let (is_parallel, is_replied) = (stored.with_call_before, stored.replied);
        let is_of_call_before = stored.of_call_before;
        Ok(Event { kind, raw: stored.raw, is_parallel, is_replied, is_of_call_before }.with_marks_of_earlier_versions())
    }
}

impl Event {
    /// An event with what the agent reported, which is kept where it says more.
    pub fn with_raw(kind: EventKind, raw: Value) -> Event {
        let says_more = raw != kind.to_json();
        Event { raw: says_more.then_some(raw), ..Event::from(kind) }
    }

    /// A call of a function, with what the agent reported of it.
    pub fn call(function: impl Into<String>, args: Value, raw: Value) -> Event {
        Event::with_raw(EventKind::FunctionCall(ToolCall { function: function.into(), args: args.into() }), raw)
    }

    /// A function's response, with what the agent reported of it.
    pub fn response(output: Value, raw: Value) -> Event {
        Event::with_raw(EventKind::FunctionResponse { output: output.into() }, raw)
    }

    /// Marks a call as made in one message with the call before it.
    pub fn parallel(self) -> Event {
        Event { is_parallel: true, ..self }
    }

    /// Marks a response as that of the call right before it.
    pub fn of_call_before(self) -> Event {
        Event { is_of_call_before: true, ..self }
    }

    /// The place of the final reply, where calls came after it.
    pub fn replied() -> Event {
        Event { is_replied: true, ..Event::other(Value::Null) }
    }

    /// The same, where an earlier version kept its marks within what the agent reported.
    fn with_marks_of_earlier_versions(mut self) -> Event {
        if let EventKind::Other { data } = &mut self.kind
            && *data == json!({ REPLIED: true })
        {
            (*data, self.is_replied) = (Value::Null, true);
        }
        if let (EventKind::FunctionCall(_), Some(Value::Object(raw))) = (&self.kind, &mut self.raw)
            && raw.get(PARALLEL) == Some(&Value::Bool(true))
        {
            raw.remove(PARALLEL);
            self.is_parallel = true;
            if raw.is_empty() {
                self.raw = None;
            }
        }
        self
    }

    /// Something of no known kind.
    pub fn other(data: Value) -> Event {
        EventKind::Other { data }.into()
    }

    /// The JSON values of the event that may hold pieces of a streamed text.
    pub fn documents_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        let known = match &mut self.kind {
            EventKind::FunctionCall(call) => call.args.read_mut(),
            EventKind::FunctionResponse { output } => output.read_mut(),
            EventKind::Other { data } => Some(data),
            EventKind::SystemPrompt { .. } | EventKind::GraphRequest { .. } => None,
        };
        known.into_iter().chain(&mut self.raw)
    }

    /// All that is known of it: what the agent reported, and over it what was understood of that.
    pub fn to_json(&self) -> Value {
        let known = self.kind.to_json();
        match &self.raw {
            Some(raw @ Value::Object(_)) => {
                let mut all = raw.clone();
                put_over(&mut all, known);
                all
            }
            _ => known,
        }
    }
}

impl From<EventKind> for Event {
    fn from(kind: EventKind) -> Event {
        Event { kind, raw: None, is_parallel: false, is_replied: false, is_of_call_before: false }
    }
}

impl EventKind {
    /// It in the shape in which Embabel's agents report it.
    pub fn to_json(&self) -> Value {
        match self {
            EventKind::SystemPrompt { text } => json!({"systemPrompt": text}),
            EventKind::GraphRequest { content, summary_direction: None } => json!({"content": content}),
            EventKind::GraphRequest { content, summary_direction: Some(direction) } => {
                json!({"content": content, "summaryDirection": direction})
            }
            EventKind::FunctionCall(call) => {
                json!({"request": {"function": {"name": call.function}, "arguments": call.args}})
            }
            EventKind::FunctionResponse { output } => json!({"output": output}),
            EventKind::Other { data } => data.clone(),
        }
    }
}

/// Fields of mappings are put together; of anything else the newer counts. Arguments are a whole.
fn put_over(below: &mut Value, above: Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                match below.get_mut(&key).filter(|_| key != "arguments" && key != "output") {
                    Some(known) => put_over(known, value),
                    None => drop(below.insert(key, value)),
                }
            }
        }
        (below, above) => *below = above,
    }
}

/// One call of a function by the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The function's name.
    pub function: String,
    /// Its arguments, as the agent reported them.
    pub args: LazyValue,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> EventKind {
        EventKind::FunctionCall(ToolCall { function: "f".to_owned(), args: json!({"a": 1}).into() })
    }

    #[test]
    fn an_event_of_an_older_journal_is_read_and_the_raw_one_stands_beside_the_kind() {
        for (stored, kind) in [
            (json!({"kind": "functionCall", "function": "f", "args": {"a": 1}}), call()),
            (json!({"kind": "systemPrompt", "text": "t"}), EventKind::SystemPrompt { text: "t".to_owned() }),
            (
                json!({"kind": "graphRequest", "content": "c"}),
                EventKind::GraphRequest { content: "c".to_owned(), summary_direction: None },
            ),
            (
                json!({"kind": "functionResponse", "output": null}),
                EventKind::FunctionResponse { output: Value::Null.into() },
            ),
            (json!({"kind": "other", "data": [1.5]}), EventKind::Other { data: json!([1.5]) }),
        ] {
            let event: Event = serde_json::from_value(stored.clone()).unwrap();
            assert_eq!(event, Event::from(kind.clone()));
            assert_eq!(serde_json::to_value(&event).unwrap(), stored);
            let event = Event::with_raw(kind, json!({"kind": "own", "id": 7}));
            let text = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event, "{text}");
        }
    }

    #[test]
    fn marks_have_fields_of_their_own_and_those_of_earlier_versions_are_read() {
        let parallel = Event::from(call()).parallel();
        let stored = json!({"kind": "functionCall", "function": "f", "args": {"a": 1}, "withCallBefore": true});
        assert_eq!(serde_json::to_value(&parallel).unwrap(), stored);
        let reported = Event::with_raw(call(), json!({"id": "1"})).parallel();
        assert_eq!(reported.raw, Some(json!({"id": "1"})), "what the agent reported stays as it is");
        let result = Event::from(EventKind::FunctionResponse { output: json!("done").into() }).of_call_before();
        let stored = json!({"kind": "functionResponse", "output": "done", "ofCallBefore": true});
        assert_eq!(serde_json::to_value(&result).unwrap(), stored);
        assert_eq!(serde_json::from_value::<Event>(stored).unwrap(), result);
        for (older, newer) in [
            (
                json!({"kind": "functionCall", "function": "f", "args": {"a": 1}, "raw": {"withCallBefore": true}}),
                &parallel,
            ),
            (
                json!({"kind": "functionCall", "function": "f", "args": {"a": 1}, "raw": {"id": "1", "withCallBefore": true}}),
                &reported,
            ),
            (json!({"kind": "other", "data": {"replied": true}}), &Event::replied()),
        ] {
            assert_eq!(&serde_json::from_value::<Event>(older.clone()).unwrap(), newer, "{older}");
            let text = serde_json::to_string(newer).unwrap();
            assert_eq!(&serde_json::from_str::<Event>(&text).unwrap(), newer, "{text}");
        }
    }

    #[test]
    fn an_event_that_lacks_what_its_kind_needs_says_so() {
        for (stored, why) in [
            (json!({"kind": "functionCall", "function": "f"}), "missing field `args`"),
            (json!({"kind": "functionCall", "args": null}), "missing field `function`"),
            (json!({"kind": "functionResponse"}), "missing field `output`"),
            (json!({"kind": "systemPrompt"}), "missing field `text`"),
            (json!({"kind": "other"}), "missing field `data`"),
            (json!({"kind": "new"}), "unknown variant `new`"),
            (json!({"text": "t"}), "missing field `kind`"),
        ] {
            let error = serde_json::from_value::<Event>(stored.clone()).unwrap_err().to_string();
            assert!(error.contains(why), "{stored}: {error}");
        }
    }

    #[test]
    fn what_was_understood_stands_over_what_was_reported() {
        let raw = json!({"request": {"function": {"name": "f", "label": "X"}, "arguments": "{\"a\":1}", "context": {"x": 1}},
                         "took": 5});
        let event = Event::with_raw(call(), raw);
        assert_eq!(
            event.to_json(),
            json!({"request": {"function": {"name": "f", "label": "X"}, "arguments": {"a": 1}, "context": {"x": 1}},
                   "took": 5})
        );
        assert_eq!(Event::with_raw(call(), call().to_json()), Event::from(call()));
        assert_eq!(Event::with_raw(call(), json!("f(1)")).to_json(), call().to_json());
    }
}
