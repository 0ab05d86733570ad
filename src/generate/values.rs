//! Plausible values for arguments.

use serde_json::{Map, Value, json};

/// A value that a user could have.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GeneratedValue {
    pub(super) value: Value,
    /// Whether it is a placeholder that has to be replaced.
    pub(super) is_placeholder: bool,
}

fn known(value: Value) -> GeneratedValue {
    GeneratedValue { value, is_placeholder: false }
}

/// One of so many, and again from the first.
fn pick<T: Clone>(of: &[T], variant: usize) -> T {
    of[variant % of.len()].clone()
}

/// The value of an argument in a variant of its case: one of those that its schema names, else one of its type and format.
pub(super) fn plausible(name: &str, label: &str, schema: &Value, variant: usize) -> GeneratedValue {
    let named = ["enum", "examples"].iter().find_map(|key| schema.get(*key)?.as_array().filter(|it| !it.is_empty()));
    if let Some(values) = named {
        return known(pick(values, variant));
    }
    if let Some(value) =
        ["const", "example", "default"].iter().find_map(|key| schema.get(*key)).filter(|it| !it.is_null())
    {
        return known(value.clone());
    }
    if let Some(first) = ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema.get(*key)?.as_array()) {
        let not_null = first.iter().find(|schema| schema["type"] != json!("null"));
        return plausible(name, label, not_null.unwrap_or(&Value::Null), variant);
    }
    match kind(schema) {
        "integer" => known(json!(number(schema, &[2.0, 5.0, 12.0], variant).round() as i64)),
        "number" => known(json!(number(schema, &[25.5, 80.0, 120.25], variant))),
        "boolean" => known(json!(variant.is_multiple_of(2))),
        "array" => {
            let least = schema["minItems"].as_u64().unwrap_or(1).clamp(1, 3) as usize;
            let items: Vec<GeneratedValue> =
                (0..least).map(|at| plausible(name, label, &schema["items"], variant + at)).collect();
            let is_placeholder = items.iter().any(|item| item.is_placeholder);
            GeneratedValue { value: items.into_iter().map(|item| item.value).collect(), is_placeholder }
        }
        "object" => object(label, schema, variant),
        _ => text(name, label, schema, variant),
    }
}

/// The type; of several the first that is not null.
fn kind(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(kind) => kind,
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("string"),
        _ if schema["properties"].is_object() => "object",
        _ => "string",
    }
}

fn number(schema: &Value, of: &[f64], variant: usize) -> f64 {
    let bound = |key: &str| schema[key].as_f64();
    let step = bound("multipleOf").filter(|step| *step > 0.0).unwrap_or(1.0);
    let least = bound("minimum").or_else(|| Some(bound("exclusiveMinimum")? + step)).unwrap_or(f64::MIN);
    let most = bound("maximum").or_else(|| Some(bound("exclusiveMaximum")? - step)).unwrap_or(f64::MAX);
    let number = pick(of, variant).min(most).max(least);
    let stepped = bound("multipleOf").map_or(number, |_| (number / step).ceil() * step);
    if stepped <= most { stepped } else { number }
}

/// Whether a value says nothing: an empty object, or a list of such.
pub(super) fn is_hollow(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.values().all(is_hollow),
        Value::Array(items) => items.iter().all(is_hollow),
        _ => false,
    }
}

/// The properties that it must have. Where it must have none, nobody knows what it could say.
fn object(label: &str, schema: &Value, variant: usize) -> GeneratedValue {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut map = Map::new();
    let mut is_placeholder = false;
    for name in required {
        let of_part = format!("{label} {}", super::phrase::split_name(name));
        let part = plausible(name, &of_part, &schema["properties"][name], variant);
        is_placeholder |= part.is_placeholder;
        map.insert(name.to_owned(), part.value);
    }
    is_placeholder |= map.is_empty();
    GeneratedValue { value: Value::Object(map), is_placeholder }
}

/// Texts by format.
const FORMATS: [(&str, [&str; 3]); 8] = [
    ("date", ["2027-03-15", "2027-06-02", "2027-09-20"]),
    ("date-time", ["2027-03-15T14:30:00Z", "2027-06-02T09:00:00Z", "2027-09-20T18:45:00Z"]),
    ("time", ["14:30", "09:00", "18:45"]),
    ("email", ["jo.meyer@example.com", "sam.lee@example.org", "ada.novak@example.net"]),
    ("uri", ["https://example.com/a", "https://example.org/b", "https://example.net/c"]),
    ("url", ["https://example.com/a", "https://example.org/b", "https://example.net/c"]),
    (
        "uuid",
        [
            "7d1f4c1e-3a56-4f0e-9c4b-2f6d8a1b5e01",
            "0b9a6e52-8c37-4d12-a5f3-6e7c9d2b4f02",
            "c3e85d70-1f24-4b69-8d0a-9b5e3c7f1a03",
        ],
    ),
    ("telephone", ["+1 555 010 4477", "+1 555 010 5823", "+1 555 010 6290"]),
];

/// Texts by a word of the argument's name; the first that fits.
const NAMES: [(&[&str], [&str; 3]); 13] = [
    (&["email", "mail"], ["jo.meyer@example.com", "sam.lee@example.org", "ada.novak@example.net"]),
    (&["telephone", "mobile"], ["+1 555 010 4477", "+1 555 010 5823", "+1 555 010 6290"]),
    (&["date", "day"], ["2027-03-15", "2027-06-02", "2027-09-20"]),
    (&["time"], ["14:30", "09:00", "18:45"]),
    (&["country"], ["Norway", "Italy", "Japan"]),
    (&["currency"], ["EUR", "USD", "JPY"]),
    (&["language", "locale"], ["en", "de", "fr"]),
    (&["city", "town", "location", "place", "destination", "origin"], ["Oslo", "Rome", "Kyoto"]),
    (&["from"], ["Paris", "Vienna", "Madrid"]),
    (&["to"], ["Oslo", "Rome", "Kyoto"]),
    (&["street", "address"], ["12 Mill Lane", "7 Harbour Street", "31 Park Road"]),
    (&["id", "number", "code", "reference", "sku"], ["A-4711", "B-5823", "C-6290"]),
    (&["name", "person", "customer", "username", "user"], ["Jo Meyer", "Sam Lee", "Ada Novak"]),
];

fn text(name: &str, label: &str, schema: &Value, variant: usize) -> GeneratedValue {
    let fits = |text: &str| {
        let length = text.chars().count() as u64;
        schema["minLength"].as_u64().is_none_or(|least| length >= least)
            && schema["maxLength"].as_u64().is_none_or(|most| length <= most)
    };
    let format = schema["format"].as_str().unwrap_or_default();
    let by_format = FORMATS.iter().find(|(known, _)| *known == format).map(|(_, texts)| texts);
    let words = super::phrase::split_name(name);
    let has = |known: &&[&str]| words.split(' ').any(|word| known.contains(&word));
    let by_name = || NAMES.iter().find(|(known, _)| has(known)).map(|(_, texts)| texts);
    // Values for a pattern are not guessed.
    let found = by_format.or_else(by_name).filter(|_| schema.get("pattern").is_none());
    match found.map(|texts| pick(texts, variant)).filter(|text| fits(text)) {
        Some(text) => known(json!(text)),
        None => {
            GeneratedValue { value: json!(pick(&PLACEHOLDERS, variant).replace("{}", label)), is_placeholder: true }
        }
    }
}

const PLACEHOLDERS: [&str; 3] = ["example {}", "another example {}", "third example {}"];
