//! The features of a request: a parameter that a model refuses is left out from then on.

use std::borrow::Cow;

use serde_json::Value;

use super::api_error::RequestPart;
use super::structured::Structured;
use super::{ApiError, LlmRequest, ModelOptions};
use crate::evidence::ReplySchema;

/// The note on a request whose temperature was left out.
pub(super) const TEMPERATURE_REFUSED: &str = "the model refuses a temperature; it was left out";

/// The features of a request. They only ever get fewer: a refused parameter is not sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestFeatures {
    /// How JSON is asked for, if it is.
    pub structured: Structured,
    /// Whether the schema says how long texts and lists may be (`maxLength`, `minItems`, `maxItems`), so that a weak model comes to
    /// an end. OpenAI's, Anthropic's and Google's own endpoints don't know all of these keywords.
    pub bounds: bool,
    /// Whether the temperature is sent.
    pub temperature: bool,
    /// Whether the seed of its choices is sent.
    pub rng_seed: bool,
    /// Whether the effort is sent.
    pub effort: bool,
    /// Whether the alternatives of tokens are asked for, where they are wanted.
    pub alternatives: bool,
    /// Under which name the longest reply is sent.
    pub max_tokens: MaxTokens,
}

/// Under which name the longest reply is sent; providers that know one name send that one for both of the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxTokens {
    /// `max_completion_tokens`, OpenAI's name of today.
    Modern,
    /// `max_tokens`, which most other endpoints know.
    Classic,
    /// Both were refused.
    Omitted,
}

impl RequestFeatures {
    /// Everything is sent.
    pub const WHOLE: RequestFeatures = RequestFeatures {
        structured: Structured::Schema,
        bounds: true,
        temperature: true,
        rng_seed: true,
        effort: true,
        alternatives: true,
        max_tokens: MaxTokens::Modern,
    };

    /// The features without the parameter that this refusal names, if it was sent and can be left out.
    pub fn without_refused(
        self,
        api_error: &ApiError,
        request: &LlmRequest,
        options: &ModelOptions,
        first: RequestFeatures,
    ) -> Option<RequestFeatures> {
        let refused = |part| api_error.concerns(part);
        if self.alternatives && request.wants_alternatives() && refused(RequestPart::Alternatives) {
            return Some(RequestFeatures { alternatives: false, ..self });
        }
        if self.temperature && refused(RequestPart::Temperature) {
            return Some(RequestFeatures { temperature: false, ..self });
        }
        if self.effort && options.effort.is_some() && refused(RequestPart::Effort) {
            return Some(RequestFeatures { effort: false, ..self });
        }
        if self.rng_seed && request.rng_seed(options).is_some() && refused(RequestPart::RngSeed) {
            return Some(RequestFeatures { rng_seed: false, ..self });
        }
        if self.max_tokens != MaxTokens::Omitted && options.max_tokens.is_some() && refused(RequestPart::MaxTokens) {
            let other = match first.max_tokens {
                MaxTokens::Modern => MaxTokens::Classic,
                _ => MaxTokens::Modern,
            };
            let max_tokens = if self.max_tokens == first.max_tokens { other } else { MaxTokens::Omitted };
            return Some(RequestFeatures { max_tokens, ..self });
        }
        // An endpoint that knows no bounds may name them, the schema, or nothing.
        let has_bounds = request.schema.as_ref().is_some_and(|schema| has_bounds(&schema.schema));
        let may_be_bounds =
            refused(RequestPart::Bounds) || refused(RequestPart::Structure) || api_error.names_nothing();
        if self.bounds && has_bounds && self.structured == Structured::Schema && may_be_bounds {
            return Some(RequestFeatures { bounds: false, ..self });
        }
        if request.schema.is_some() && refused(RequestPart::Structure) {
            return Some(RequestFeatures { structured: self.structured.weaker()?, ..self });
        }
        None
    }

    /// The features that both have.
    pub fn and(self, other: RequestFeatures, first: RequestFeatures) -> RequestFeatures {
        let spelled = |features: RequestFeatures| match features.max_tokens {
            MaxTokens::Omitted => 2,
            name if name == first.max_tokens => 0,
            _ => 1,
        };
        RequestFeatures {
            structured: self.structured.max(other.structured),
            bounds: self.bounds && other.bounds,
            temperature: self.temperature && other.temperature,
            rng_seed: self.rng_seed && other.rng_seed,
            effort: self.effort && other.effort,
            alternatives: self.alternatives && other.alternatives,
            max_tokens: if spelled(self) >= spelled(other) { self.max_tokens } else { other.max_tokens },
        }
    }

    /// The JSON Schema as it is sent.
    pub fn schema(self, schema: &ReplySchema) -> Cow<'_, Value> {
        if self.bounds {
            return Cow::Borrowed(&schema.schema);
        }
        let mut schema = schema.schema.clone();
        remove_bounds(&mut schema);
        Cow::Owned(schema)
    }

    /// The parameters that this request should have and has not, a sentence each.
    pub fn notes(self, request: &LlmRequest, options: &ModelOptions) -> Vec<String> {
        let structure = match self.structured {
            Structured::Schema => None,
            Structured::Json => Some("the model refuses a JSON Schema; its JSON was only checked for being JSON"),
            Structured::Prompt => Some("the model refuses a JSON Schema; JSON was asked for in words"),
        };
        [
            (!self.temperature).then_some(TEMPERATURE_REFUSED),
            (!self.effort && options.effort.is_some()).then_some("the model refuses reasoningEffort; it was left out"),
            (!self.rng_seed && request.seed_is_asked_for(options))
                .then_some("the model refuses rngSeed; it was left out"),
            (self.max_tokens == MaxTokens::Omitted && options.max_tokens.is_some())
                .then_some("the model refuses maxTokens; it was left out"),
            structure.filter(|_| request.schema.is_some()),
        ]
        .into_iter()
        .flatten()
        .map(str::to_owned)
        .collect()
    }
}

/// The keywords that bound texts and lists.
const BOUNDS: [&str; 3] = ["maxLength", "minItems", "maxItems"];

fn has_bounds(schema: &Value) -> bool {
    match schema {
        Value::Object(keywords) => {
            let is_bound = |bound: &str| keywords.get(bound).is_some_and(Value::is_number);
            BOUNDS.iter().any(|bound| is_bound(bound)) || keywords.values().any(has_bounds)
        }
        Value::Array(items) => items.iter().any(has_bounds),
        _ => false,
    }
}

fn remove_bounds(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            // A property of that name is described by an object.
            for bound in BOUNDS {
                if keywords.get(bound).is_some_and(Value::is_number) {
                    keywords.remove(bound);
                }
            }
            keywords.values_mut().for_each(remove_bounds);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_bounds),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::{Message, ReplySchema, Role};
    use crate::llm::{Effort, LlmRole};

    const OPTIONS: ModelOptions = ModelOptions { max_tokens: Some(500), effort: Some(Effort::Low), rng_seed: Some(7) };

    fn request() -> LlmRequest {
        LlmRequest {
            role: LlmRole::Judge,
            messages: vec![Message::new(Role::User, "x")],
            temperature: 0.0,
            schema: Some(ReplySchema {
                name: "s".to_owned(),
                schema: json!({}),
                max_tokens: 100,
                wants_alternatives: false,
            }),
            sample: 1,
            conversation_seed: None,
        }
    }

    fn refuse(features: RequestFeatures, message: &str) -> Option<RequestFeatures> {
        let api_error = ApiError { message: message.to_owned(), ..ApiError::default() };
        features.without_refused(&api_error, &request(), &OPTIONS, RequestFeatures::WHOLE)
    }

    #[test]
    fn each_part_is_left_out_once_and_then_no_more() {
        for (message, times) in [
            ("Unsupported value: 'temperature'", 1),
            ("Unrecognized request argument supplied: seed", 1),
            ("Unknown parameter: 'reasoning_effort'", 1),
            ("Unsupported parameter: 'max_completion_tokens'", 2),
            ("response_format is not supported", 2),
            ("You are too late.", 0),
        ] {
            let mut features = RequestFeatures::WHOLE;
            let mut steps = 0;
            while let Some(weaker) = refuse(features, message) {
                assert_ne!(weaker, features);
                features = weaker;
                steps += 1;
            }
            assert_eq!(steps, times, "{message}");
            assert_eq!(features.notes(&request(), &OPTIONS).len(), usize::from(times > 0), "{message}");
        }
    }

    #[test]
    fn what_was_not_asked_for_is_neither_left_out_nor_noted() {
        let plain = LlmRequest { schema: None, ..request() };
        for message in ["seed", "effort", "max_tokens", "response_format"] {
            let api_error = ApiError { message: message.to_owned(), ..ApiError::default() };
            let none = ModelOptions::default();
            assert_eq!(
                RequestFeatures::WHOLE.without_refused(&api_error, &plain, &none, RequestFeatures::WHOLE),
                None,
                "{message}"
            );
        }
        let weakest = RequestFeatures { structured: Structured::Prompt, rng_seed: false, ..RequestFeatures::WHOLE };
        assert_eq!(weakest.notes(&plain, &ModelOptions::default()), [""; 0]);
    }

    #[test]
    fn bounds_leave_the_schema_where_the_endpoint_knows_none() {
        let schema = |bounds: Value, of_list: Value| {
            let merged = |mut base: Value, more: &Value| {
                let more = more.as_object().cloned().unwrap_or_default();
                base.as_object_mut().unwrap().extend(more);
                base
            };
            let list = merged(json!({"items": [merged(json!({"type": "string"}), &bounds)]}), &of_list);
            json!({"properties": {"a": list, "maxLength": {"type": "number"}}})
        };
        let bounded = schema(json!({"maxLength": 9}), json!({"minItems": 1, "maxItems": 2}));
        let whole =
            ReplySchema { name: "s".to_owned(), schema: bounded.clone(), max_tokens: 100, wants_alternatives: false };
        assert_eq!(*RequestFeatures::WHOLE.schema(&whole), bounded);
        let request = LlmRequest { schema: Some(whole.clone()), ..request() };
        let refuse = |message: &str| {
            let api_error = ApiError { message: message.to_owned(), ..ApiError::default() };
            RequestFeatures::WHOLE.without_refused(&api_error, &request, &OPTIONS, RequestFeatures::WHOLE)
        };
        assert_eq!(refuse("You are too late."), None);
        for message in [
            "Invalid schema for response_format: 'maxLength' is not permitted.",
            "'minItems' is not permitted.",
            "maxItems is unknown",
            "The provided JSON schema contains features not supported by xgrammar.",
            "Bad request",
            "",
        ] {
            let features = refuse(message).unwrap();
            assert_eq!(features, RequestFeatures { bounds: false, ..RequestFeatures::WHOLE });
            assert_eq!(*features.schema(&whole), schema(json!({}), json!({})));
        }
    }

    #[test]
    fn a_late_refusal_does_not_climb_back() {
        let without_temperature = RequestFeatures { temperature: false, ..RequestFeatures::WHOLE };
        let in_words = RequestFeatures { structured: Structured::Prompt, ..RequestFeatures::WHOLE };
        let both = RequestFeatures { temperature: false, structured: Structured::Prompt, ..RequestFeatures::WHOLE };
        assert_eq!(without_temperature.and(in_words, RequestFeatures::WHOLE), both);
        let classic = RequestFeatures { max_tokens: MaxTokens::Classic, ..RequestFeatures::WHOLE };
        assert_eq!(RequestFeatures::WHOLE.and(classic, RequestFeatures::WHOLE).max_tokens, MaxTokens::Classic);
        assert_eq!(RequestFeatures::WHOLE.and(classic, classic).max_tokens, MaxTokens::Modern);
    }
}
