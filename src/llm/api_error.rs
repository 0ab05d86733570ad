//! The error bodies of the providers' endpoints.

use std::time::Duration;

use serde_json::Value;

/// An endpoint's error, from `{"error": {…}}`, `{"error": "…"}`, `{"errors": [{…}]}`, `{"message": …}`
/// or `{"detail": …}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApiError {
    /// Its message.
    pub message: String,
    /// `insufficient_quota`, `model_not_found`, …; or a status as text.
    pub code: String,
    /// A wider class: OpenAI's and Anthropic's `type`, Google's `status`.
    pub kind: String,
    /// The field of the request that it concerns.
    pub param: String,
    /// Google's `details`, as text.
    pub details: String,
    /// The wait that it asks for, where it stands in the body.
    pub wait: Option<Duration>,
}

/// A part of a request that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestPart {
    /// The temperature.
    Temperature,
    /// The seed of the model's choices.
    RngSeed,
    /// How much it thinks.
    Effort,
    /// The alternatives of tokens.
    Alternatives,
    /// The longest reply.
    MaxTokens,
    /// The lengths of texts and lists in a JSON Schema.
    Bounds,
    /// The way in which JSON is asked for.
    Structure,
}

impl RequestPart {
    /// Its names in the endpoints' messages, in lower case, with spaces for `_` and `-`.
    fn spellings(self) -> &'static [&'static str] {
        match self {
            RequestPart::Temperature => &["temperature"],
            RequestPart::RngSeed => &["seed"],
            RequestPart::Alternatives => &["logprobs"],
            RequestPart::Effort => &["effort", "thinking"],
            RequestPart::MaxTokens => &["max tokens", "max completion tokens", "max output tokens", "maxoutputtokens"],
            RequestPart::Bounds => &["maxlength", "max length", "minitems", "min items", "maxitems", "max items"],
            RequestPart::Structure => &[
                "response format",
                "json schema",
                "jsonschema",
                "json object",
                "json mode",
                "structured output",
                "guided",
                "schema",
                "output config",
                "output format",
                "response mime type",
                "responsemimetype",
                "tool choice",
                "tools",
            ],
        }
    }
}

impl ApiError {
    /// Reads an error body; whatever is not there is empty.
    pub fn from_body(body: &[u8]) -> ApiError {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        // Some gateways, and Gemini in its streams, wrap the object into a list.
        let body = body.get(0).unwrap_or(&body);
        let inner = body.get("error").filter(|error| !error.is_null()).or_else(|| body.get("errors")?.get(0));
        ApiError::from_value(inner.unwrap_or(body))
    }

    /// Reads an error object, or a bare sentence.
    pub fn from_value(error: &Value) -> ApiError {
        let text = |key: &str| match error.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        };
        let first = |keys: &[&str]| keys.iter().map(|key| text(key)).find(|text| !text.is_empty()).unwrap_or_default();
        let message = error.as_str().map_or_else(|| first(&["message", "detail", "errorMessage"]), str::to_owned);
        ApiError {
            message,
            code: first(&["code", "errorCode"]),
            kind: first(&["type", "status"]),
            param: text("param"),
            details: text("details"),
            wait: wait(error),
        }
    }

    /// Whether it concerns this part of a request.
    pub fn concerns(&self, part: RequestPart) -> bool {
        if self.code == "context_length_exceeded" {
            return false;
        }
        let plain = format!("{} {} {}", self.param, self.code, self.message).to_lowercase().replace(['_', '-'], " ");
        part.spellings().iter().any(|spelling| plain.contains(spelling))
    }

    /// Whether it says no more than that the request is bad.
    pub fn names_nothing(&self) -> bool {
        let message = self.message.trim().trim_end_matches('.').to_lowercase();
        self.param.is_empty() && matches!(message.as_str(), "" | "bad request" | "invalid request" | "invalid argument")
    }

    /// Whether the account has no credit left, which waiting does not change.
    pub fn is_out_of_credit(&self) -> bool {
        const CODES: [&str; 4] = ["insufficient_quota", "billing_not_active", "billing_error", "token_quota_reached"];
        let by_code = [&self.code, &self.kind].into_iter().any(|code| CODES.contains(&code.as_str()));
        by_code || self.message.contains("credit balance is too low")
    }

    /// Whether the limit is per day, by Google's details: waiting would take too long.
    pub fn is_daily_limit(&self) -> bool {
        self.details.contains("PerDay")
    }

    /// Whether the key was refused, whatever the status: Google's is 400.
    pub fn is_about_key(&self) -> bool {
        self.details.contains("API_KEY_INVALID")
    }
}

/// Google's `RetryInfo`: `{"retryDelay": "34.07s"}` among the details.
fn wait(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_are_read_in_each_of_their_shapes() {
        let full = br#"{"error":{"message":"No.","type":"t","param":"temperature","code":429}}"#;
        let error = ApiError::from_body(full);
        assert_eq!((error.message.as_str(), error.kind.as_str(), error.code.as_str()), ("No.", "t", "429"));
        assert!(error.concerns(RequestPart::Temperature));
        for body in [
            &br#"{"error":"No."}"#[..],
            br#"{"message":"No."}"#,
            br#"{"detail":"No."}"#,
            br#"[{"error":{"message":"No."}}]"#,
        ] {
            assert_eq!(ApiError::from_body(body), ApiError { message: "No.".to_owned(), ..ApiError::default() });
        }
        for body in [&b""[..], b"<html>", b"[]", b"null", b"5"] {
            assert_eq!(ApiError::from_body(body), ApiError::default());
        }
    }

    #[test]
    fn errors_of_google_and_ibm_are_read() {
        let details = json!([
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "RequestsPerDay"}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
        ]);
        let google =
            json!({"error": {"code": 429, "message": "Quota.", "status": "RESOURCE_EXHAUSTED", "details": details}});
        let error = ApiError::from_body(google.to_string().as_bytes());
        assert_eq!((error.code.as_str(), error.kind.as_str()), ("429", "RESOURCE_EXHAUSTED"));
        assert_eq!(error.wait, Some(Duration::from_millis(34_500)));
        assert!(error.is_daily_limit() && !error.is_about_key());
        let ibm = json!({"errors": [{"code": "model_not_supported", "message": "No."}], "status_code": 404});
        let error = ApiError::from_body(ibm.to_string().as_bytes());
        assert_eq!((error.code.as_str(), error.message.as_str()), ("model_not_supported", "No."));
        let iam = br#"{"errorCode":"BXNIM0415E","errorMessage":"Provided API key could not be found."}"#;
        assert_eq!(ApiError::from_body(iam).message, "Provided API key could not be found.");
    }

    #[test]
    fn a_prompt_that_is_too_long_is_no_part_that_can_be_left_out() {
        let body = br#"{"error":{"message":"Lower max_tokens or the messages.","code":"context_length_exceeded"}}"#;
        assert!(!ApiError::from_body(body).concerns(RequestPart::MaxTokens));
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
            assert!(ApiError::from_body(body.as_bytes()).concerns(RequestPart::Structure), "{message}");
        }
        assert!(
            !ApiError::from_body(br#"{"error":{"message":"The prompt is too long."}}"#)
                .concerns(RequestPart::Structure)
        );
    }
}
