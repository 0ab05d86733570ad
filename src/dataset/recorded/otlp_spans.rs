//! OpenTelemetry's JSON → spans with plain attributes, and log records.

use serde_json::{Map, Value};

use crate::dataset::json::{JsonContent, JsonNode, json_within};

/// A span, a span's event or a log record.
#[derive(Debug, Clone, Default)]
pub(super) struct OtlpRecord {
    /// The trace that it belongs to.
    pub(super) trace: String,
    /// The span that it is, or that it belongs to.
    pub(super) span: String,
    /// The span around it; empty where nobody says.
    pub(super) parent: String,
    /// The span's name, or the event's.
    pub(super) name: String,
    /// When it began, in nanoseconds since 1970.
    pub(super) start: u128,
    /// When it ended; 0 where nobody says.
    pub(super) end: u128,
    /// Its attributes.
    pub(super) attributes: Map<String, Value>,
    /// The body of a log record.
    pub(super) body: Value,
    /// Why it failed, where its status or `error.type` says that it did.
    pub(super) error: Option<String>,
}

impl OtlpRecord {
    /// Whether another span of the trace lies within this one.
    pub(super) fn encloses(&self, other: &OtlpRecord) -> bool {
        let is_around = self.start <= other.start && other.end > 0 && other.end <= self.end;
        self.trace == other.trace && self.span != other.span && (other.parent == self.span || is_around)
    }
}

/// The spans of a document, and its events: those of spans, and log records.
pub(super) fn records(root: &JsonNode<'_>) -> (Vec<OtlpRecord>, Vec<OtlpRecord>) {
    let documents: Vec<&JsonNode<'_>> =
        if let JsonContent::List(items) = &root.content { items.iter().collect() } else { vec![root] };
    let (mut spans, mut events) = (Vec::new(), Vec::new());
    for document in documents {
        for span in leaves(document, "resourceSpans", "scopeSpans", "spans") {
            let record = record(span, "startTimeUnixNano");
            for event in span.get("events").map(JsonNode::items).unwrap_or_default() {
                let (trace, span) = (record.trace.clone(), record.span.clone());
                events.push(OtlpRecord { trace, span, ..self::record(event, "timeUnixNano") });
            }
            spans.push(record);
        }
        for log in leaves(document, "resourceLogs", "scopeLogs", "logRecords") {
            events.push(record(log, "timeUnixNano"));
        }
    }
    spans.sort_by_key(|span| span.start);
    events.sort_by_key(|event| event.start);
    (spans, events)
}

fn leaves<'a>(root: &'a JsonNode<'a>, outer: &str, middle: &str, inner: &str) -> Vec<&'a JsonNode<'a>> {
    let items = |node: &'a JsonNode<'a>, key: &str| node.get(key).map(JsonNode::items).unwrap_or_default().iter();
    items(root, outer).flat_map(|resource| items(resource, middle)).flat_map(|scope| items(scope, inner)).collect()
}

fn record(node: &JsonNode, start: &str) -> OtlpRecord {
    let text = |key: &str| node.get(key).and_then(JsonNode::text).unwrap_or_default().to_owned();
    let attributes = entries(node.get("attributes"));
    let mut name = text("eventName");
    if name.is_empty() {
        name = text("name");
    }
    if name.is_empty() {
        name = attributes.get("event.name").and_then(Value::as_str).unwrap_or_default().to_owned();
    }
    OtlpRecord {
        trace: id(text("traceId")),
        span: id(text("spanId")),
        parent: id(text("parentSpanId")),
        error: error_of(node, &attributes),
        name,
        start: nanoseconds(node.get(start))
            .or_else(|| nanoseconds(node.get("observedTimeUnixNano")))
            .unwrap_or_default(),
        end: nanoseconds(node.get("endTimeUnixNano")).unwrap_or_default(),
        attributes,
        // Some pipelines write a structured body as a text.
        body: node.get("body").map(any_value).map(json_within).unwrap_or_default(),
    }
}

/// An id, which may be written in hexadecimal digits of either case.
fn id(text: String) -> String {
    if text.bytes().all(|byte| byte.is_ascii_hexdigit()) { text.to_ascii_lowercase() } else { text }
}

/// The number of a status that is an error.
const ERROR: u64 = 2;

fn error_of(node: &JsonNode, attributes: &Map<String, Value>) -> Option<String> {
    let status = node.get("status").map(JsonNode::to_json).unwrap_or_default();
    let code = status.get("code");
    let failed = code.is_some_and(|code| code.as_u64() == Some(ERROR) || code.as_str() == Some("STATUS_CODE_ERROR"));
    let text = |value: Option<&Value>| value?.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let kind = text(attributes.get("error.type"));
    if !failed && kind.is_none() {
        return None;
    }
    text(status.get("message")).or(kind).or_else(|| Some("the trace names no reason".to_owned()))
}

fn nanoseconds(node: Option<&JsonNode>) -> Option<u128> {
    match &node?.content {
        JsonContent::Text(text) => text.parse().ok(),
        JsonContent::Number(number) => number.as_u64().map(u128::from),
        _ => None,
    }
}

/// `[{"key", "value": AnyValue}]` as an object.
fn entries(node: Option<&JsonNode>) -> Map<String, Value> {
    let items = node.map(JsonNode::items).unwrap_or_default();
    let entry = |item: &JsonNode| {
        Some((item.get("key")?.text()?.to_owned(), item.get("value").map(any_value).unwrap_or_default()))
    };
    items.iter().filter_map(entry).collect()
}

/// An AnyValue as the value that it stands for.
fn any_value(node: &JsonNode) -> Value {
    let Some(entry) = node.entries().first() else { return Value::Null };
    match (entry.key.as_ref(), &entry.value.content) {
        ("arrayValue", _) => {
            entry.value.get("values").map(JsonNode::items).unwrap_or_default().iter().map(any_value).collect()
        }
        ("kvlistValue", _) => Value::Object(entries(entry.value.get("values"))),
        ("intValue", JsonContent::Text(text)) => text.parse::<i64>().map_or(Value::Null, Value::from),
        _ => entry.value.to_json(),
    }
}
