//! Checks a model's endpoint and key, without a question.

use serde_json::Value;

use super::client::Client;
use super::failure::Failure;
use super::{ApiError, KeyAnswer, LlmError, LlmRequest, LlmRole, ModelOptions, ProviderRequest};
use crate::http::{BODY_CAP, Call, Extra, HttpFault, HttpFaultKind, HttpReply, KeyHeader, Method, Url, excerpt};
use crate::text::nearest;

/// Requests the list of models first. An endpoint may refuse that for every key, or have none: so the chat endpoint is asked too,
/// with a body without a question.
pub(super) async fn check_key(client: &Client) -> KeyAnswer {
    let Some(list) = client.provider.models() else {
        // A service that exchanges the key for a token knows the key.
        return match client.provider.token(None).await {
            Ok(_) => KeyAnswer::Taken,
            Err(failure) if failure.error.transient => KeyAnswer::Unknown,
            Err(failure) => KeyAnswer::Refused(failure.error),
        };
    };
    let ProviderRequest { url, headers, .. } = no_question(client);
    let listed = send(client, Method::GET, list, headers, None).await;
    if let Some(list) = listed.as_ref().ok().filter(|reply| reply.is_success()).and_then(|reply| reply.json().ok()) {
        // Some endpoints show their list to everybody, whatever the key.
        let asked = match client.settings.key {
            Some(_) => send(client, Method::POST, url, headers, Some(b"{}".to_vec())).await.ok(),
            None => None,
        };
        return match asked.filter(|reply| reply.status == 401) {
            Some(reply) => refused(client, &reply),
            None => unlisted(&list, &client.settings.model).map_or(KeyAnswer::Taken, KeyAnswer::Doubtful),
        };
    }
    let asked = send(client, Method::POST, url, headers, Some(b"{}".to_vec())).await;
    without_list(client, listed, asked)
}

/// Looks for the model in the endpoint's list. Not every model that may be asked is in it: only where a request without a question
/// finds none of this name either (404), it is refused.
pub(super) async fn check_name(client: &Client) -> KeyAnswer {
    let Some(list) = client.provider.models() else { return KeyAnswer::Taken };
    let ProviderRequest { url, headers, body } = no_question(client);
    let listed = send(client, Method::GET, list, headers, None).await;
    let listed = listed.ok().filter(HttpReply::is_success).and_then(|reply| reply.json().ok());
    if listed.is_none_or(|list| unlisted(&list, &client.settings.model).is_none()) {
        return KeyAnswer::Taken;
    }
    match send(client, Method::POST, url, headers, Some(body)).await {
        Ok(reply) if reply.status == 404 => refused(client, &reply),
        _ => KeyAnswer::Taken,
    }
}

/// A request without a message, whose reply would be one token long.
fn no_question(client: &Client) -> ProviderRequest {
    let nothing = LlmRequest {
        role: LlmRole::Judge,
        messages: Vec::new(),
        temperature: 0.0,
        schema: None,
        sample: 1,
        conversation_seed: None,
    };
    let options = ModelOptions { max_tokens: Some(1), ..client.settings.options };
    client.provider.provider_request(&nothing, &options, client.features())
}

fn refused(client: &Client, reply: &HttpReply) -> KeyAnswer {
    let api_error = ApiError::from_body(&reply.body);
    KeyAnswer::Refused(Failure::from_status(reply, &api_error, client.error_context()).error)
}

/// The message that a model is not in the endpoint's list; `None` where it is, also as a version or under an alias, and
/// where the list can't be read.
fn unlisted(list: &Value, model: &str) -> Option<String> {
    let entries = ["data", "models"].iter().find_map(|key| list.get(key)?.as_array())?;
    let name = |entry: &Value| {
        let name = ["id", "name"].iter().find_map(|key| entry.get(key)?.as_str())?;
        Some(name.trim_start_matches("models/").to_owned())
    };
    let names: Vec<String> = entries.iter().filter_map(name).collect();
    // Aliases are not listed everywhere; a list of many pages is not read whole.
    let family = model.trim_end_matches("-latest");
    let is_known = names.is_empty() || names.iter().any(|name| name.starts_with(family)) || has_more(list);
    if is_known {
        return None;
    }
    let help = match nearest(model, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean {}?", excerpt(near, &[])),
        None => format!("there are {}", shown(&names)),
    };
    Some(format!("its list of models has no {model}, which may be asked all the same; {help}"))
}

fn has_more(list: &Value) -> bool {
    list.get("has_more").and_then(Value::as_bool) == Some(true) || list.get("nextPageToken").is_some()
}

/// The first of these names.
fn shown(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let more = names.len().saturating_sub(SHOWN);
    let first = names.iter().take(SHOWN).map(|name| excerpt(name, &[])).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{first} and {more} more") } else { first }
}

/// The answer for an endpoint that gave no list of its models, by its replies to that and to a body without a question.
fn without_list(
    client: &Client,
    listed: Result<HttpReply, HttpFault>,
    asked: Result<HttpReply, HttpFault>,
) -> KeyAnswer {
    let origin = &client.settings.origin;
    let refused = |reply: &HttpReply| self::refused(client, reply);
    let no_api = |reply: &HttpReply| {
        let what = format!("{}; no model's API is there: check {}", reply.refusal(), origin.address);
        KeyAnswer::Refused(LlmError::for_good(what))
    };
    let is_refusal = |reply: &HttpReply| matches!(reply.status, 401 | 403);
    let asked = match (asked, &listed) {
        (Ok(reply), _) => reply,
        (Err(_), Ok(listed)) if listed.is_success() && listed.is_page() => return no_api(listed),
        // A server without such a list may not survive a body without a question.
        (Err(_), Ok(_)) => return KeyAnswer::Unknown,
        (Err(fault), Err(_)) if fault.kind == HttpFaultKind::Timeout => return KeyAnswer::Unknown,
        (Err(fault), Err(_)) => return KeyAnswer::Refused(Failure::from_fault(fault, origin).error),
    };
    let is_readable = asked.json().is_ok();
    match listed {
        _ if is_refusal(&asked) => refused(&asked),
        _ if asked.is_page() => no_api(&asked),
        _ if !is_readable && (asked.is_success() || matches!(asked.status, 404 | 405)) => no_api(&asked),
        // Servers without such a list answer 501 as well.
        Ok(listed) if asked.status >= 500 && listed.status >= 500 && listed.status != 501 => refused(&asked),
        _ if asked.status >= 500 || asked.status == 404 => KeyAnswer::Doubtful(asked.refusal()),
        Ok(listed) if is_refusal(&listed) => KeyAnswer::Taken,
        _ if client.settings.key.is_none() => KeyAnswer::Taken,
        _ => KeyAnswer::Unknown,
    }
}

/// Sends a request that asks a model nothing, so that neither rate limit nor bill counts it.
async fn send(
    client: &Client,
    method: Method,
    url: Url,
    plain: &'static [(&'static str, &'static str)],
    body: Option<Vec<u8>>,
) -> Result<HttpReply, HttpFault> {
    let settings = &client.settings;
    let (name, before) = client.provider.key_header();
    let key = settings.key.as_ref().filter(|key| !key.expose().is_empty());
    let key = key.map(|key| KeyHeader { name, before, key });
    let call = Call { method, url, key, body, time_limit: settings.time_limit, body_cap: BODY_CAP };
    client.http.exchange_with(call, Extra { plain, ..Extra::default() }).await
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_model_that_is_not_in_the_list_is_reported_with_the_nearest_one() {
        let openai = json!({"object": "list", "data": [{"id": "gpt-4.1-mini-2025-04-14"}, {"id": "gpt-4o"}]});
        assert_eq!(unlisted(&openai, "gpt-4.1-mini"), None, "a version of it is there");
        assert_eq!(
            unlisted(&openai, "gpt-4oo").as_deref(),
            Some("its list of models has no gpt-4oo, which may be asked all the same; did you mean \"gpt-4o\"?")
        );
        let message = unlisted(&openai, "nosuch").unwrap();
        assert_eq!(
            message,
            r#"its list of models has no nosuch, which may be asked all the same; there are "gpt-4.1-mini-2025-04-14", "gpt-4o""#
        );
        let gemini = json!({"models": [{"name": "models/gemini-2.5-flash"}]});
        assert_eq!(unlisted(&gemini, "gemini-2.5-flash"), None);
        assert!(unlisted(&gemini, "gemini-9").is_some());
        let more = json!({"models": [{"name": "models/gemini-2.5-flash"}], "nextPageToken": "x"});
        for unknown in [json!({"data": []}), json!({"models": "many"}), json!([1]), more] {
            assert_eq!(unlisted(&unknown, "gpt-4o"), None, "{unknown}");
        }
    }
}
