//! OpenAI's embeddings, which many other endpoints speak as well: how near two texts are, as the cosine of their vectors.

use serde_json::{Value, json};

use crate::evidence::Usage;
use crate::http::{BaseUrl, HttpClient, Url};
use crate::llm::cosine::cosine;
use crate::llm::{
    Client, LlmError, LlmRequest, ModelOptions, ModelSettings, NoText, ProviderApi, ProviderRequest, ReplyBody,
    RequestFeatures,
};

struct EmbeddingsEndpoint {
    base: BaseUrl,
    model: String,
}

/// A model of embeddings. It is asked a JSON list of two texts, and answers `{"cosine": 0.83}`. Nothing is sent yet.
///
/// # Errors
/// The address is invalid.
pub fn embeddings(settings: ModelSettings, http: HttpClient) -> Result<Client, LlmError> {
    let provider = EmbeddingsEndpoint { base: settings.base()?, model: settings.model.clone() };
    Ok(Client::new("openai", Box::new(provider), settings, http))
}

impl ProviderApi for EmbeddingsEndpoint {
    fn provider_request(&self, request: &LlmRequest, _: &ModelOptions, _: RequestFeatures) -> ProviderRequest {
        let texts = request.messages.first().and_then(|message| serde_json::from_str(&message.content).ok());
        let body = json!({"model": self.model, "input": texts.unwrap_or(Value::Null), "encoding_format": "float"});
        ProviderRequest::new(self.base.join(["embeddings"]), &[], &body)
    }

    fn text(&self, body: &ReplyBody) -> Result<String, NoText> {
        let mut vectors: Vec<(u64, Vec<f64>)> = Vec::new();
        for (place, item) in (0..).zip(body.list("/data")) {
            let numbers: Option<Vec<f64>> =
                item["embedding"].as_array().and_then(|numbers| numbers.iter().map(Value::as_f64).collect());
            vectors.push((item["index"].as_u64().unwrap_or(place), numbers.ok_or(NoText::NoVectors)?));
        }
        vectors.sort_by_key(|(place, _)| *place);
        match vectors.as_slice() {
            [(0, one), (1, other)] => {
                cosine(one, other).map(|cosine| json!({ "cosine": cosine }).to_string()).ok_or(NoText::NoVectors)
            }
            _ => Err(NoText::NoVectors),
        }
    }

    fn usage(&self, body: &ReplyBody) -> Usage {
        let read = body.number("/usage/prompt_tokens").or_else(|| body.number("/usage/total_tokens"));
        Usage::from_counts(read, read.map(|_| 0))
    }

    fn models(&self) -> Option<Url> {
        Some(self.base.join(["models"]))
    }

    /// There is no reply that could be too long.
    fn always_bounds(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Message, Role};
    use crate::llm::LlmRole;

    fn api() -> EmbeddingsEndpoint {
        EmbeddingsEndpoint { base: BaseUrl::parse("http://localhost:1/v1").unwrap(), model: "m".to_owned() }
    }

    fn text(body: Value) -> Result<String, NoText> {
        api().text(&serde_json::from_value(body).unwrap())
    }

    #[test]
    fn both_texts_are_sent_and_the_answer_is_their_cosine() {
        let messages = vec![Message::new(Role::User, r#"["a \"b\"", "c"]"#)];
        let request = LlmRequest {
            role: LlmRole::Judge,
            messages,
            temperature: 0.0,
            schema: None,
            sample: 1,
            conversation_seed: None,
        };
        let sent = api().provider_request(&request, &ModelOptions::default(), RequestFeatures::WHOLE);
        assert_eq!(sent.url.to_string(), "http://localhost:1/v1/embeddings");
        let body: Value = serde_json::from_slice(&sent.body).unwrap();
        assert_eq!(body, json!({"model": "m", "input": ["a \"b\"", "c"], "encoding_format": "float"}));
        let vector = |index: u64, vector: Value| json!({"index": index, "embedding": vector});
        let reply =
            json!({"data": [vector(1, json!([0.0, 2.0])), vector(0, json!([1.0, 1.0]))], "usage": {"total_tokens": 7}});
        let cosine: Value = serde_json::from_str(&text(reply.clone()).unwrap()).unwrap();
        assert!((cosine["cosine"].as_f64().unwrap() - 0.5_f64.sqrt()).abs() < 1e-12);
        let usage = api().usage(&serde_json::from_value(reply).unwrap());
        assert_eq!((usage.input_tokens, usage.output_tokens), (Some(7), Some(0)));
    }

    #[test]
    fn vectors_without_a_cosine_are_no_answer() {
        for data in [
            json!([]),
            json!([{"embedding": [1.0]}]),
            json!([{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}]),
            json!([{"embedding": [0.0]}, {"embedding": [1.0]}]),
            json!([{"embedding": "AACAPw=="}, {"embedding": "AACAPw=="}]),
            json!([{"embedding": []}, {"embedding": []}]),
            json!([{"embedding": [1.0, null, 1.0]}, {"embedding": [1.0, null, 2.0]}]),
            json!([{}, {}]),
            json!([{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [2.0]}]),
            json!([{"index": 1, "embedding": [1.0]}, {"index": 2, "embedding": [2.0]}]),
        ] {
            assert_eq!(text(json!({ "data": data })), Err(NoText::NoVectors), "{data}");
        }
    }
}
