//! The agent card: where JSON-RPC is spoken, in which version, and whether replies can stream.

use serde_json::Value;

use super::Version;
use crate::agent::json::Fields;

/// The part of a card that is used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Card {
    /// Where JSON-RPC is spoken, as the card says it.
    pub url: String,
    /// In which version.
    pub version: Version,
    /// Whether replies can come piece by piece.
    pub streaming: bool,
    /// Whether a key goes into the header `X-API-Key`.
    pub wants_api_key_header: bool,
}

/// Reads a card: 1.0 lists `supportedInterfaces`, the best first; 0.3 has `url` with `preferredTransport`, and
/// `additionalInterfaces`. The error says what the agent speaks instead.
pub fn parse_card(card: &Value) -> Result<Card, String> {
    let new = card.list("supportedInterfaces").iter();
    let new =
        new.map(|one| (text(one, "protocolBinding"), text(one, "url"), Version::parse(text(one, "protocolVersion"))));
    let preferred = (card.text("preferredTransport").unwrap_or("JSONRPC"), text(card, "url"), Version::V0_3);
    let others = card.list("additionalInterfaces").iter();
    let others = others.map(|one| (text(one, "transport"), text(one, "url"), Version::V0_3));
    let mut spoken: Vec<(&str, &str, Version)> = new.chain([preferred]).chain(others).collect();
    spoken.retain(|(_, url, _)| !url.is_empty());
    let Some((_, url, version)) = spoken.iter().find(|(binding, ..)| binding.eq_ignore_ascii_case("JSONRPC")) else {
        let bindings: Vec<&str> = spoken.iter().map(|(binding, ..)| *binding).collect();
        return Err(match bindings.is_empty() {
            true => "the agent card names no address".to_owned(),
            false => format!("the agent card offers no JSON-RPC, only {}", bindings.join(", ")),
        });
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
