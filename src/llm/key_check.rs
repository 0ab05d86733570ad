//! Checks a model's key at its endpoint, without a question.

use super::client::Client;
use super::failure::Failure;
use super::{ApiError, KeyAnswer, LlmRequest, LlmRole, ProviderRequest};
use crate::http::{BODY_CAP, Call, Extra, HttpReply, KeyHeader, Method, Url};

/// Requests the list of models first. An endpoint may refuse that for every key: so the chat endpoint must refuse the key as
/// well, for a body without a question.
pub(super) async fn check_key(client: &Client) -> KeyAnswer {
    if client.settings.key.is_none() {
        return KeyAnswer::Taken;
    }
    let Some(list) = client.provider.models() else {
        // A service that exchanges the key for a token knows the key.
        return match client.provider.token(None).await {
            Ok(_) => KeyAnswer::Taken,
            Err(failure) if failure.error.transient => KeyAnswer::Unknown,
            Err(failure) => KeyAnswer::Refused(failure.error),
        };
    };
    let nothing = LlmRequest { role: LlmRole::Judge, messages: Vec::new(), temperature: 0.0, schema: None };
    let ProviderRequest { url, headers, .. } =
        client.provider.provider_request(&nothing, &client.settings.options, client.features());
    let is_refused = |reply: &HttpReply| matches!(reply.status, 401 | 403);
    let listed = send(client, Method::GET, list, headers, None).await;
    if listed.as_ref().is_some_and(HttpReply::is_success) {
        return KeyAnswer::Taken;
    }
    let asked = send(client, Method::POST, url, headers, Some(b"{}".to_vec())).await;
    match (listed, asked) {
        (_, Some(reply)) if is_refused(&reply) => {
            let api_error = ApiError::from_body(&reply.body);
            KeyAnswer::Refused(Failure::from_status(&reply, &api_error, client.error_context()).error)
        }
        (Some(listed), Some(_)) if is_refused(&listed) => KeyAnswer::Taken,
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
) -> Option<HttpReply> {
    let settings = &client.settings;
    let (name, before) = client.provider.key_header();
    let key = settings.key.as_ref().filter(|key| !key.expose().is_empty());
    let key = key.map(|key| KeyHeader { name, before, key });
    let call = Call { method, url, key, body, time_limit: settings.time_limit, body_cap: BODY_CAP };
    client.http.exchange_with(call, Extra { plain, ..Extra::default() }).await.ok()
}
