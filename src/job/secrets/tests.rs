use super::*;

fn found(yaml: &str) -> Vec<String> {
    let mut found: Vec<String> = secrets(yaml).iter().map(|secret| secret.expose().to_owned()).collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn keys_passwords_headers_and_logins_are_found() {
    let yaml = "
target:
  user: somebody-1
  http:
    say:
      url: 'http://me:pw-1@h/?api_key=key-2&x=1'
      headers: {Authorization: 'Bearer {{user}} abc-3', X-User: somebody-1, X-Tenant: acme-secret, X-Path: 'at/{{user}}/room-17'}
  start: {command: x, args: [--verbose, --api-key, arg-4, '-H', 'X-Token: arg-5'], env: {DB_PASSWORD: env-6, LEVEL: debug-1}}
  command: {command: 'TOKEN=own-1 run --api-key own-2', env: {SETTING: sk-own-123456}}
  embabel: {apiKey: 12345678, sk-mistaken-1: x, state: {api_token: tok-7777}}
scorer: {model: {apiKeyEnv: sk-key-8}}
graph: {neo4j: {password: &p pass-9, uri: bolt://u:p10@h}}
";
    let all = found(yaml);
    for text in [
        "own-1",
        "own-2",
        "sk-own-123456",
        "sk-mistaken-1",
        "12345678",
        "Bearer",
        "abc-3",
        "acme-secret",
        "room-17",
        "arg-4",
        "arg-5",
        "env-6",
        "key-2",
        "me:pw-1",
        "p10",
        "pass-9",
        "pw-1",
        "sk-key-8",
        "tok-7777",
        "u:p10",
    ] {
        assert!(all.iter().any(|found| found == text), "{text}: {all:?}");
    }
    assert!(!all.iter().any(|found| found.contains("somebody") || found == "debug-1"), "{all:?}");
    assert_eq!(found("a: [b"), Vec::<String>::new());
}

#[test]
fn keys_among_arguments_are_found() {
    let key = "sk-proj-1a2B3c4D5e6F7g8H9i0J";
    let yaml = format!(
        "target: {{command: {{command: sh, args: ['-c', 'API_TOKEN=own-word-1 exec agent', {key}, '-u', 'me:pass-word-2', \
             '-H', 'X-Session: a1b2c3d4e5f6']}}}}\nscorer: {{model: {{apiKeyEnv: cnrySEC2abc}}}}\n"
    );
    let all = found(&yaml);
    for text in ["own-word-1", key, "pass-word-2", "a1b2c3d4e5f6", "cnrySEC2abc"] {
        assert!(all.iter().any(|found| found == text), "{text}: {all:?}");
    }
    assert!(!all.iter().any(|found| ["exec", "agent", "-c", "me"].contains(&found.as_str())), "{all:?}");
    assert_eq!(found("scorer: {model: {apiKeyEnv: MY_KEY_2}}\n"), Vec::<String>::new());
}

#[test]
fn innocent_headers_are_no_secrets() {
    let headers =
        "X-Model: gpt-4.1-mini, X-Todo: mow the lawn, X-Code: code-190283, X-Id: a1b2c3d4e5, X-Pick: my-model-9b";
    let yaml = format!(
        "target: {{http: {{say: {{url: 'http://h', headers: {{{headers}}}}}}}}}\n\
             tasks: [{{task: mow the lawn, acceptanceCriteria: it names code-190283}}]\nevaluator: {{model: my-model-9b}}\n"
    );
    assert_eq!(found(&yaml), ["a1b2c3d4e5"]);
}

#[test]
fn a_document_has_the_secrets_of_its_text_however_large_it_is() {
    let mut document = serde_json::json!({
        "target": {"user": "u", "chatbot": "c", "http": {"say": {"url": "http://me:pw-1@h/?api_key=key-2"}}},
        "scorer": {"model": {"apiKey": "sk-canary-3"}}
    });
    let of = |document: &Value| {
        let secrets = secrets_of_document(document);
        secrets.iter().map(|secret| secret.expose().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of(&document), found(&document.to_string()));
    assert!(of(&document).contains(&"sk-canary-3".to_owned()));
    document["context"] = vec!["a"; 200_000].into();
    assert_eq!(of(&document), found(&document.to_string()));
    assert!(of(&document).contains(&"sk-canary-3".to_owned()));
}
