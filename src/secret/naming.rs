//! Recognises secrets: by the name of a value, and by the value itself.

/// Ends of names whose values are keys, in small letters and without anything between.
const ENDINGS: [&str; 20] = [
    "key",
    "keys",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "credential",
    "credentials",
    "auth",
    "authorization",
    "cookie",
    "signature",
    "sig",
    "apikeys",
    "pin",
    "jwt",
    "bearer",
];

/// Parts of names whose values are keys wherever they stand.
const PARTS: [&str; 7] = ["apikey", "accesskey", "privatekey", "secret", "password", "credential", "authorization"];

/// Whether what has this name is a key or a password: `OPENAI_API_KEY`, `apiKey`, `X-Auth-Token`, `?sig=`.
pub fn is_key_name(name: &str) -> bool {
    // The working directory of a shell.
    if matches!(name, "PWD" | "OLDPWD") {
        return false;
    }
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    // The name of a variable that holds one.
    if letters.ends_with("env") || letters.ends_with("file") || letters.ends_with("path") {
        return false;
    }
    ENDINGS.iter().any(|ending| letters.ends_with(ending)) || PARTS.iter().any(|part| letters.contains(part))
}

/// Values that stand for nothing in examples and defaults: nobody is harmed when they are read, and every report would be
/// spoilt if they were blotted out.
const COMMONPLACE: [&str; 12] = [
    "123456",
    "12345678",
    "123456789",
    "1234567890",
    "password",
    "password1",
    "passw0rd",
    "changeme1",
    "your-api-key",
    "not-needed",
    "no-key",
    "sk-xxx",
];

/// Folders in which paths begin: a variable that is called a key can hold where the key is.
const ROOTS: [&str; 18] = [
    "/home/",
    "/usr/",
    "/tmp/",
    "/var/",
    "/etc/",
    "/opt/",
    "/root/",
    "/run/",
    "/Users/",
    "/private/",
    "/work",
    "/app/",
    "/mnt/",
    "/data/",
    "/dev/",
    "/srv/",
    "/nix/",
    "/proc/",
];

/// Whether a value is blotted out wherever it is found. It must have six characters, four of them different; where it is
/// made of letters alone twelve, or eight where small and capital letters are mixed. What is shorter, or commonplace,
/// would take innocent words with it.
pub fn is_worth_hiding(value: &str) -> bool {
    let length = value.chars().count();
    let mut distinct: Vec<char> = value.chars().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let has = |of: fn(&char) -> bool| distinct.iter().any(of);
    let letters_alone = distinct.iter().all(|c| c.is_alphabetic() || c.is_whitespace());
    let is_mixed = has(|c| c.is_lowercase()) && has(|c| c.is_uppercase()) && !is_capitalised(value);
    let least = match (letters_alone, is_mixed) {
        (true, true) => 8,
        (true, false) => 12,
        (false, _) => 6,
    };
    let is_media_type = ["application/", "text/", "multipart/", "*/*"].iter().any(|kind| value.starts_with(kind));
    let is_template = value.contains("{{") || value.starts_with("${") || value.starts_with("$(");
    length >= least
        && distinct.len() >= 4
        && !is_template
        && !is_media_type
        && !COMMONPLACE.contains(&value.to_lowercase().as_str())
        && !ROOTS.iter().any(|root| value.starts_with(root))
}

/// Headers whose values are no secrets, in small letters: they say what is asked for, and by which program.
const PUBLIC_HEADERS: [&str; 24] = [
    "accept",
    "user-agent",
    "cache-control",
    "pragma",
    "connection",
    "keep-alive",
    "te",
    "upgrade",
    "via",
    "host",
    "origin",
    "referer",
    "date",
    "expect",
    "range",
    "prefer",
    "priority",
    "dnt",
    "traceparent",
    "tracestate",
    "b3",
    "x-requested-with",
    "x-forwarded-host",
    "x-forwarded-proto",
];

/// How the names of others begin.
const PUBLIC_BEGINNINGS: [&str; 6] = ["accept-", "content-", "sec-", "if-", "x-b3-", "x-stainless-"];

/// How the names of others end: `anthropic-version`, `OpenAI-Beta`, `X-Time-Zone`.
const PUBLIC_ENDINGS: [&str; 10] =
    ["-agent", "-version", "-beta", "-model", "-language", "-locale", "-timezone", "-zone", "-region", "-extensions"];

/// How the keys of well-known services begin.
const BEGINNINGS: [&str; 16] = [
    "sk-",
    "sk_",
    "pk-",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "AIza",
    "eyJ",
    "hf_",
];

/// How the names of models begin.
const MODELS: [&str; 20] = [
    "gpt",
    "chatgpt",
    "claude",
    "gemini",
    "gemma",
    "llama",
    "mistral",
    "mixtral",
    "ministral",
    "codestral",
    "qwen",
    "deepseek",
    "phi-",
    "grok",
    "granite",
    "command-r",
    "nova-",
    "kimi",
    "glm-",
    "text-embedding",
];

/// Whether the value of a header is a secret: it is, unless the header is public by its name, or the value is an ordinary
/// one. A key is one whatever the header is called.
pub fn is_secret_header(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_public = PUBLIC_HEADERS.contains(&name.as_str())
        || PUBLIC_BEGINNINGS.iter().any(|start| name.starts_with(start))
        || PUBLIC_ENDINGS.iter().any(|end| name.ends_with(end));
    is_key_name(&name) || is_surely_a_key(value) || !is_public && is_worth_hiding(value.trim()) && !is_ordinary(value)
}

/// Whether a value is one that texts are full of: the name of a model, an address without a path, a date or a version.
fn is_ordinary(value: &str) -> bool {
    let value = value.trim();
    let is_dotted = value.trim_start_matches('v').bytes().all(|byte| byte.is_ascii_digit() || b".-:".contains(&byte))
        && value.bytes().any(|byte| b".-:".contains(&byte))
        && value.bytes().filter(u8::is_ascii_digit).count() <= 8;
    let is_origin =
        value.split_once("://").is_some_and(|(_, rest)| !rest.trim_end_matches('/').contains(['/', '?', '@']));
    is_dotted || is_origin || is_model(value)
}

/// Whether a text looks as if a key were in it: a word of letters and digits that is neither an address nor a model's name.
pub fn looks_like_a_key(text: &str) -> bool {
    words(text).any(|word| {
        let has = |of: fn(char) -> bool| word.chars().any(of);
        let is_address = word.contains("://") || word.starts_with(['$', '/']);
        word.len() >= 8
            && !is_address
            && !is_model(word)
            && has(|c| c.is_ascii_digit())
            && has(char::is_alphabetic)
            && is_worth_hiding(word)
    })
}

/// Whether a text is one long word of letters and digits, as keys are and names are not; or begins as keys do.
pub fn is_long_and_mixed(text: &str) -> bool {
    let is_word = text.len() >= 16 && !text.contains(char::is_whitespace);
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    is_surely_a_key(text) || is_word && digits >= 3 && looks_like_a_key(text)
}

/// Whether the key of a free mapping holds a part that belongs in its value: `TOKEN=…`, `X-Key: …`, or the
/// secret itself.
pub fn is_misplaced_in_key(key: &str) -> bool {
    key.contains('=') || key.contains(": ") || key.split_whitespace().any(is_long_and_mixed) || is_surely_a_key(key)
}

/// Whether a text begins as keys of well-known services do, or names the scheme of one.
pub fn is_surely_a_key(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let has_scheme =
        ["bearer", "basic"].iter().any(|scheme| first.eq_ignore_ascii_case(scheme)) && first != text.trim();
    has_scheme || words(text).any(|word| word.len() >= 10 && BEGINNINGS.iter().any(|start| word.starts_with(start)))
}

/// `openai/gpt-4.1-mini`
fn is_model(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word).to_ascii_lowercase();
    MODELS.iter().any(|start| name.starts_with(start)) && word.len() <= 64
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().map(|word| word.trim_matches(['"', '\'', ',', ';']))
}

/// `Monday`: a word at the start of a sentence.
fn is_capitalised(value: &str) -> bool {
    value.chars().skip(1).all(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_by_their_names() {
        for name in [
            "OPENAI_API_KEY",
            "apiKey",
            "apikey",
            "api_key",
            "X-API-KEY",
            "Authorization",
            "Proxy-Authorization",
            "Cookie",
            "Set-Cookie",
            "bearer",
            "DB_PASS",
            "PGPASSWORD",
            "SECRET_ACCESS_KEY",
            "GITHUB_TOKEN",
            "sig",
            "X-Amz-Signature",
            "token",
            "access_token",
            "key",
            "client_secret_v2",
        ] {
            assert!(is_key_name(name), "{name}");
        }
        for name in [
            "PATH",
            "PWD",
            "maxTokens",
            "apiKeyEnv",
            "MAX_TOKENS",
            "model",
            "author",
            "keyboard",
            "user",
            "PASSWORD_FILE",
        ] {
            assert!(!is_key_name(name), "{name}");
        }
    }

    #[test]
    fn a_header_is_secret_unless_it_is_public_by_its_name_or_by_what_it_holds() {
        for (name, value) in [
            ("X-Tenant", "acme-secret"),
            ("X-Customer", "190283"),
            ("X-Note", "mow the lawn"),
            ("X-User-Id", "somebody-1"),
            ("X-Callback", "https://host1/path2"),
            ("X-API-Key", "hunter"),
            ("Authorization", "whatever"),
            ("X-Canary", "sk-canary-header-1"),
            ("X-User-Agent", "Bearer abc"),
            ("X-Tenant", "a1b2c3d4e5f6"),
            ("X-Model", "sk-proj-12345678"),
        ] {
            assert!(is_secret_header(name, value), "{name}: {value}");
        }
        for (name, value) in [
            ("X-Model", "gpt-4.1-mini"),
            ("X-LLM", "openai/gpt-4o-mini-2024-07-18"),
            ("X-Tenant", "acme"),
            ("X-Debug", "enabled"),
            ("X-Limit", "100000"),
            ("X-Since", "2024-06-01"),
            ("X-App", "v1.12.3"),
            ("X-Base", "http://localhost:8080/"),
            ("X-Body", "application/x-ndjson"),
            ("anthropic-version", "2023-06-01"),
            ("OpenAI-Beta", "assistants=v2"),
            ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
            ("User-Agent", "my-evals/1.2 (team-7)"),
            ("Content-Type", "application/vnd.x1+json"),
            ("X-Region", "eu-west-1"),
            ("X-Client-Version", "v1.2.3-beta"),
            ("Accept-Language", "de-DE"),
        ] {
            assert!(!is_secret_header(name, value), "{name}: {value}");
        }
    }

    #[test]
    fn what_is_short_or_commonplace_is_no_secret() {
        for value in ["sk-12345", "hunter2", "190283", "correcthorsebattery", "aBcDeFgH", "s3cret", "päss-wörd"] {
            assert!(is_worth_hiding(value), "{value}");
        }
        for value in [
            "",
            "x",
            "1234",
            "12345",
            "123456",
            "password",
            "neo4j",
            "Password",
            "assistant",
            "true",
            "enabled",
            "aaaaaaaa",
            "{{sessionId}}",
            "${KEY}",
            "/home/me/.ssh/id_ed25519",
            "Reminders",
        ] {
            assert!(!is_worth_hiding(value), "{value}");
        }
    }
}
