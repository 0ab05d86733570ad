//! Errors, which every endpoint words and wraps in its own way.

use serde_json::Value;

/// What an endpoint says about a failure, from `{"error": {…}}`, `{"error": "…"}`, `{"message": …}` or `{"detail": …}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WireError {
    /// Its words.
    pub message: String,
    /// `insufficient_quota`, `model_not_found`, …; or a status as text.
    pub code: String,
    /// A wider class.
    pub kind: String,
    /// The field of the request that it concerns.
    pub param: String,
}

impl WireError {
    /// Reads an error body; whatever is not there is empty.
    pub fn of_body(body: &[u8]) -> WireError {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        // Some gateways wrap the object into a list.
        let body = body.get(0).unwrap_or(&body);
        WireError::of_value(body.get("error").filter(|error| !error.is_null()).unwrap_or(body))
    }

    /// Reads an error object, or a bare sentence.
    pub fn of_value(error: &Value) -> WireError {
        let text = |key: &str| match error.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        };
        let message = error.as_str().map_or_else(|| text("message"), str::to_owned);
        let message = if message.is_empty() { text("detail") } else { message };
        WireError { message, code: text("code"), kind: text("type"), param: text("param") }
    }

    /// Whether it concerns the way in which JSON was asked for.
    pub fn concerns_structure(&self) -> bool {
        const WORDS: [&str; 6] =
            ["response format", "json schema", "json object", "structured output", "guided", "schema"];
        self.mentions(&WORDS)
    }

    /// Whether it concerns the temperature.
    pub fn concerns_temperature(&self) -> bool {
        self.mentions(&["temperature"])
    }

    /// Whether the account has run dry, which no waiting mends.
    pub fn out_of_money(&self) -> bool {
        [&self.code, &self.kind].into_iter().any(|word| word == "insufficient_quota" || word == "billing_not_active")
    }

    fn mentions(&self, words: &[&str]) -> bool {
        let plain = format!("{} {} {}", self.param, self.code, self.message).to_lowercase().replace(['_', '-'], " ");
        words.iter().any(|word| plain.contains(word))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_are_read_in_each_of_their_shapes() {
        let full = br#"{"error":{"message":"No.","type":"t","param":"temperature","code":429}}"#;
        let error = WireError::of_body(full);
        assert_eq!((error.message.as_str(), error.kind.as_str(), error.code.as_str()), ("No.", "t", "429"));
        assert!(error.concerns_temperature());
        for body in [
            &br#"{"error":"No."}"#[..],
            br#"{"message":"No."}"#,
            br#"{"detail":"No."}"#,
            br#"[{"error":{"message":"No."}}]"#,
        ] {
            assert_eq!(WireError::of_body(body), WireError { message: "No.".to_owned(), ..WireError::default() });
        }
        for body in [&b""[..], b"<html>", b"[]", b"null", b"5"] {
            assert_eq!(WireError::of_body(body), WireError::default());
        }
    }

    #[test]
    fn a_refused_way_of_asking_for_json_is_recognised_in_many_words() {
        for message in [
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
            "This model does not support response format `json_schema`.",
            "'response_format.type' must be 'json_schema' or 'text'",
            "This response_format type is unavailable now",
            "Structured Outputs are not supported",
        ] {
            let body = json!({"error": {"message": message}}).to_string();
            assert!(WireError::of_body(body.as_bytes()).concerns_structure(), "{message}");
        }
        assert!(!WireError::of_body(br#"{"error":{"message":"The prompt is too long."}}"#).concerns_structure());
    }
}
