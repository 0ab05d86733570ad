//! The agent card: where JSON-RPC is spoken, in which version, and whether replies can stream.

use serde_json::Value;

use super::Version;

/// What of a card is used.
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
pub fn card_of(card: &Value) -> Result<Card, String> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let list = |key: &str| card.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut spoken: Vec<(String, String, Version)> = list("supportedInterfaces")
        .iter()
        .map(|one| (text(one, "protocolBinding"), text(one, "url"), Version::of(&text(one, "protocolVersion"))))
        .collect();
    let preferred = text(card, "preferredTransport");
    let preferred = if preferred.is_empty() { "JSONRPC".to_owned() } else { preferred };
    spoken.push((preferred, text(card, "url"), Version::V0_3));
    let others = list("additionalInterfaces");
    spoken.extend(others.iter().map(|one| (text(one, "transport"), text(one, "url"), Version::V0_3)));
    spoken.retain(|(_, url, _)| !url.is_empty());
    let Some((_, url, version)) = spoken.iter().find(|(binding, ..)| binding.eq_ignore_ascii_case("JSONRPC")) else {
        let bindings: Vec<&str> = spoken.iter().map(|(binding, ..)| binding.as_str()).collect();
        return Err(match bindings.is_empty() {
            true => "the agent card names no address".to_owned(),
            false => format!("the agent card offers no JSON-RPC, only {}", bindings.join(", ")),
        });
    };
    let streaming = card.pointer("/capabilities/streaming") == Some(&Value::Bool(true));
    Ok(Card { url: url.clone(), version: *version, streaming, wants_api_key_header: wants_api_key_header(card) })
}

/// OpenAPI's `apiKey` scheme in 0.3, the same within `apiKeySecurityScheme` in 1.0.
fn wants_api_key_header(card: &Value) -> bool {
    let schemes = card.get("securitySchemes").and_then(Value::as_object);
    schemes.into_iter().flat_map(|schemes| schemes.values()).any(|scheme| {
        let scheme = scheme.get("apiKeySecurityScheme").unwrap_or(scheme);
        let is_header = ["in", "location"].iter().any(|key| scheme.get(*key).and_then(Value::as_str) == Some("header"));
        let name = scheme.get("name").and_then(Value::as_str).unwrap_or_default();
        is_header && name.eq_ignore_ascii_case("x-api-key")
    })
}
