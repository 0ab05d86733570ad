//! Secrets within a text of a job file: in addresses, arguments and templates.

use super::FoundSecrets;
use crate::job::source::YamlNode;
use crate::secret::{is_key_name, is_secret_header, is_surely_a_key, looks_like_a_key, secrets_of};

/// Logins and keys in the addresses of a value.
pub(super) fn learn_parts(found: &mut FoundSecrets, key: &str, text: &str) {
    if !is_key_name(key) {
        found.texts.extend(secrets_of(key, text).into_iter().flat_map(literal_parts));
    }
}

/// Whether a value that the schema does not mark is secret by its name: one that is a key's, or that of a variable where
/// somebody has written the key itself.
pub(super) fn is_named_secret(key: &str, text: &str) -> bool {
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let has = |test: fn(&char) -> bool| text.chars().any(|c| test(&c));
    // Names are in one case; what mixes both, or small letters and digits, is what somebody wrote instead of a name.
    let is_mixed = has(char::is_ascii_lowercase) && (has(char::is_ascii_uppercase) || has(char::is_ascii_digit));
    let is_variable = is_plain && !is_mixed;
    key == "apiKeyEnv" && !is_variable || is_key_name(key)
}

/// Arguments that are secret: what follows a switch with the name of a key, or its `=`, and what is in addresses.
pub(super) fn learn_arguments(found: &mut FoundSecrets, items: &[YamlNode]) {
    learn_tokens(found, items.iter().filter_map(YamlNode::text));
    // A shell's argument is a command line of its own.
    for line in items.iter().filter_map(YamlNode::text).filter(|text| text.contains(char::is_whitespace)) {
        learn_tokens(found, line.split_whitespace().map(|token| token.trim_matches(['"', '\'', ';'])));
    }
}

/// Secrets among the tokens of a command line.
pub(super) fn learn_tokens<'t>(found: &mut FoundSecrets, tokens: impl Iterator<Item = &'t str>) {
    let mut before = "";
    for text in tokens {
        if before.starts_with('-') && is_key_name(before) {
            found.texts.extend(literal_parts(text));
        }
        for separator in ["=", ": "] {
            if let Some((name, value)) = text.split_once(separator)
                && is_key_name(name)
            {
                found.texts.extend(literal_parts(value));
            }
        }
        if is_surely_a_key(text) || looks_like_a_key(text) {
            found.guessed.extend(literal_parts(text));
        }
        match before {
            "-H" | "--header" => {
                if let Some((name, value)) = text.split_once(':')
                    && is_secret_header(name.trim(), value.trim())
                {
                    found.texts.extend(literal_parts(value.trim()));
                }
            }
            "-u" | "--user" => found.texts.extend(text.split_once(':').map(|(_, password)| password.to_owned())),
            _ => {}
        }
        learn_parts(found, "", text);
        before = text;
    }
}

/// The parts of a template's text between spaces, without the slashes and dashes that join them to what is filled in.
fn tokens(part: &str) -> impl Iterator<Item = String> {
    part.split_whitespace().map(|token| token.trim_matches(['/', ':', '.', '-', '_', ',', ';', '"', '\'']).to_owned())
}

/// The text itself; of a template what stands between its `{{ … }}`.
pub(super) fn literal_parts(text: &str) -> Vec<String> {
    if !text.contains("{{") && !text.contains("{%") {
        return vec![text.to_owned()];
    }
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("{{").into_iter().chain(rest.find("{%")).min() {
        parts.extend(tokens(&rest[..start]));
        let ends = ["}}", "%}"].iter().filter_map(|end| rest[start..].find(end)).min();
        rest = ends.map_or("", |end| &rest[start + end + 2..]);
    }
    parts.extend(tokens(rest));
    parts
}
