//! The agent card: the address and version of its JSON-RPC interface, and whether replies can be streamed.

use serde_json::Value;

use super::Version;
use crate::agent::WireError;
use crate::agent::json::JsonFields;

/// The part of a card that is used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Card {
    /// The address of its JSON-RPC interface, as written.
    pub url: String,
    /// The version of the protocol there.
    pub version: Version,
    /// Whether replies can be streamed.
    pub streaming: bool,
    /// Whether the key is sent in the header `X-API-Key`.
    pub wants_api_key_header: bool,
}

/// Reads a card: 1.0 lists `supportedInterfaces`, the best first; 0.3 has `url` with `preferredTransport`, and
/// `additionalInterfaces`.
///
/// # Errors
/// There is no address, or none for JSON-RPC: the error names the bindings that there are.
pub fn parse_card(card: &Value) -> Result<Card, WireError> {
    let new = card.list("supportedInterfaces").iter();
    let new =
        new.map(|one| (text(one, "protocolBinding"), text(one, "url"), Version::parse(text(one, "protocolVersion"))));
    let preferred = (card.text("preferredTransport").unwrap_or("JSONRPC"), text(card, "url"), Version::V0_3);
    let others = card.list("additionalInterfaces").iter();
    let others = others.map(|one| (text(one, "transport"), text(one, "url"), Version::V0_3));
    let mut interfaces: Vec<(&str, &str, Version)> = new.chain([preferred]).chain(others).collect();
    interfaces.retain(|(_, url, _)| !url.is_empty());
    let Some((_, url, version)) = interfaces.iter().find(|(binding, ..)| binding.eq_ignore_ascii_case("JSONRPC"))
    else {
        let bindings: Vec<&str> = interfaces.iter().map(|(binding, ..)| *binding).collect();
        return Err(WireError::Malformed(match bindings.is_empty() {
            true => "the agent card names no address".to_owned(),
            false => format!("the agent card offers no JSON-RPC, only {}", bindings.join(", ")),
        }));
    };
    let streaming = card.pointer("/capabilities/streaming") == Some(&Value::Bool(true));
    Ok(Card { url: (*url).to_owned(), version: *version, streaming, wants_api_key_header: wants_api_key_header(card) })
}

/// OpenAPI's `apiKey` scheme in 0.3, the same within `apiKeySecurityScheme` in 1.0.
fn wants_api_key_header(card: &Value) -> bool {
    let schemes = card.get("securitySchemes").and_then(Value::as_object);
    schemes.into_iter().flat_map(|schemes| schemes.values()).any(|scheme| {
        let scheme = scheme.get("apiKeySecurityScheme").unwrap_or(scheme);
        let is_header = ["in", "location"].iter().any(|key| scheme.text(key) == Some("header"));
        is_header && text(scheme, "name").eq_ignore_ascii_case("x-api-key")
    })
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.text(key).unwrap_or_default()
}
