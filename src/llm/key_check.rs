//! Checks a model's endpoint and key, without a question.

use super::client::Client;
use super::failure::Failure;
use super::{ApiError, KeyAnswer, LlmError, LlmRequest, LlmRole, ProviderRequest};
use crate::http::{BODY_CAP, Call, Extra, HttpFault, HttpFaultKind, HttpReply, KeyHeader, Method, Url};

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
    let nothing = LlmRequest {
        role: LlmRole::Judge,
        messages: Vec::new(),
        temperature: 0.0,
        schema: None,
        sample: 1,
        conversation_seed: None,
    };
    let ProviderRequest { url, headers, .. } =
        client.provider.provider_request(&nothing, &client.settings.options, client.features());
    let listed = send(client, Method::GET, list, headers, None).await;
    if listed.as_ref().is_ok_and(|reply| reply.is_success() && reply.json().is_ok()) {
        return KeyAnswer::Taken;
    }
    let asked = send(client, Method::POST, url, headers, Some(b"{}".to_vec())).await;
    without_list(client, listed, asked)
}

/// The answer for an endpoint that gave no list of its models, by its replies to that and to a body without a question.
fn without_list(
    client: &Client,
    listed: Result<HttpReply, HttpFault>,
    asked: Result<HttpReply, HttpFault>,
) -> KeyAnswer {
    let origin = &client.settings.origin;
    let refused = |reply: &HttpReply| {
        let api_error = ApiError::from_body(&reply.body);
        KeyAnswer::Refused(Failure::from_status(reply, &api_error, client.error_context()).error)
    };
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
