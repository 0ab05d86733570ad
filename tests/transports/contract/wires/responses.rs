//! OpenAI's Responses API.

use serde_json::json;

use super::super::wire::{Form, Wire};
use super::events;

pub fn streaming() -> Wire {
    Wire {
        name: "responses",
        target: |url| json!({"responses": {"baseUrl": format!("{url}/v1")}}),
        before: |_| None,
        form: Form::Events,
        says: |text| {
            let piece = |text: &str| json!({"type": "response.output_text.delta", "delta": text});
            let content = json!([{"type": "output_text", "text": text}]);
            let output = json!([{"type": "message", "role": "assistant", "content": content}]);
            let response = json!({"id": "resp_1", "status": "completed", "output": output});
            let completed = json!({"type": "response.completed", "response": response});
            format!("{}data: {completed}\n\n", events(text, piece))
        },
        reports: Some(
            "data: {\"type\": \"error\", \"code\": \"server_error\", \"message\": \"out of order hush-key\"}\n\n",
        ),
        heard: "/input/-/content",
    }
}
