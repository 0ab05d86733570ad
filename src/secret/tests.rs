//! Texts that the redactor clears, and texts that it leaves.

use proptest::prelude::*;
use serde_json::{Value, json};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;

use super::redactor::BLOT;
use super::*;

const KEY: &str = "sk-canary/9+1=\"ö x";

fn redactor(secrets: &[&str]) -> Redactor {
    let redactor = Redactor::default();
    redactor.learn_all(secrets.iter().copied());
    redactor
}

#[test]
fn every_spelling_is_found() {
    let known = redactor(&[KEY]);
    let hex: String = KEY.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut texts = vec![
        KEY.to_owned(),
        json!(KEY).to_string().trim_matches('"').to_owned(),
        json!(json!(KEY).to_string()).to_string().trim_matches(['"', '\\']).to_owned(),
        r#"sk-canary\/9+1=\"\u00f6 x"#.to_owned(),
        "sk-canary%2F9%2B1%3D%22%C3%B6%20x".to_owned(),
        "sk-canary%2f9%2b1%3d%22%c3%b6%20x".to_owned(),
        "sk-canary%2F9%2B1%3D%22%C3%B6+x".to_owned(),
        "sk-canary/9+1=&quot;ö x".to_owned(),
        hex.to_uppercase(),
        hex,
    ];
    for separator in [":", " ", "-"] {
        let hex = KEY.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(separator);
        texts.extend([hex.to_uppercase(), hex]);
    }
    for before in ["", "u", "us", "use"] {
        for after in ["", "!", "!!"] {
            let encoded = STANDARD.encode(format!("{before}{KEY}{after}"));
            texts.push(encoded.trim_end_matches('=').to_owned());
            texts.push(encoded.replace('+', "-").replace('/', "_"));
            texts.push(encoded);
        }
    }
    for text in texts {
        assert_eq!(known.redact(&format!("it is: {text}.")), "it is: ***.", "{text}");
    }
}

/// Each character of a text as its escape.
fn each(text: &str, escape: impl Fn(char) -> String) -> String {
    text.chars().map(escape).collect()
}

#[test]
fn a_secret_of_nothing_but_escapes_is_found_and_so_are_escapes_of_escapes() {
    for secret in [KEY, "sk-canary-7Yq2", "a%41b\\n&amp;c-1"] {
        let known = redactor(&[secret]);
        let percent: String = secret.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let json_units = each(secret, |c| c.encode_utf16(&mut [0; 2]).iter().map(|u| format!("\\u{u:04X}")).collect());
        let mut texts = vec![
            percent.clone(),
            percent.replace('%', "%25"),
            each(secret, |c| format!("&#{};", u32::from(c))),
            each(secret, |c| format!("&#x{:X};", u32::from(c))),
            each(secret, |c| format!("&amp;#{};", u32::from(c))),
            each(secret, |c| format!("\\u{{{:x}}}", u32::from(c))),
            json_units.clone(),
            json_units.replace('\\', "\\\\"),
            format!("{}{}", &secret[..2], each(&secret[2..], |c| format!("&#{};", u32::from(c)))),
        ];
        texts.push(STANDARD.encode(format!("me:{secret}")).replace('=', "%3D").replace('/', "\\/"));
        for text in texts {
            assert_eq!(known.redact(&format!("it is: {text}.")), "it is: ***.", "{text}");
            let line = json!({"text": format!("it is: {text}.")});
            let cleared = known.cleared(&line, line.to_string().as_bytes()).unwrap();
            assert_eq!(cleared, Some(json!({"text": "it is: ***."})), "{text}");
        }
    }
}

#[test]
fn a_number_that_is_a_secret_is_blotted_out_unless_it_is_our_own() {
    let known = redactor(&["4711081512"]);
    let document = json!({"id": 4711081512u64, "near": 47110815123u64, "list": [4711081512u64, 4711081512.5], "n": 1});
    let cleared = known.cleared(&document, document.to_string().as_bytes()).unwrap().unwrap();
    assert_eq!(cleared, json!({"id": "***", "near": 47110815123u64, "list": ["***", 4711081512.5], "n": 1}));

    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Ours {
        tokens: u64,
        event: serde_json::Value,
    }
    let ours = |event| Ours { tokens: 4711081512, event };
    let document = ours(json!({"pin": 4711081512u64}));
    let cleared = known.cleared(&document, &serde_json::to_vec(&document).unwrap()).unwrap().unwrap();
    assert_eq!(cleared, ours(json!({"pin": "***"})));
}

#[test]
fn what_a_header_or_a_login_holds_is_known_by_itself() {
    let known = redactor(&[
        "Bearer abc-12345",
        &format!("Basic {}", STANDARD.encode("me:hunter-2")),
        "a=b; session=0a1b2c3d4e",
        "p%40ss%2Fword1",
    ]);
    known.learn_login("neo4j", &Secret::new("weak"));
    let text = format!("abc-12345 hunter-2 0a1b2c3d4e p@ss/word1 {} weak", STANDARD.encode("neo4j:weak"));
    assert_eq!(known.redact(&text), "*** *** *** *** *** weak");
}

#[test]
fn a_text_that_was_cut_within_a_secret_loses_the_half_too() {
    let known = redactor(&["sk-canary-123456"]);
    assert_eq!(known.redact("it said sk-canary-1…\" and sk-…"), "it said ***…\" and sk-…");
    assert_eq!(known.begun_at_end(b"x sk-ca"), 5);
    assert_eq!(known.ended_at_start(b"3456 x"), 4);
}

#[test]
fn a_secret_that_was_cut_off_within_any_spelling_loses_the_half_too() {
    let key = "Zq8vK-p2mXc7V_hT5kW";
    let known = redactor(&[key]);
    let of_each =
        |separator: &str, written: fn(u8) -> String| key.bytes().map(written).collect::<Vec<_>>().join(separator);
    for text in [
        STANDARD.encode(key),
        STANDARD.encode(STANDARD.encode(key)),
        of_each("", |byte| format!("{byte:02x}")),
        of_each(":", |byte| format!("{byte:02X}")),
        of_each(", ", |byte| byte.to_string()),
        of_each("", |byte| format!("%{byte:02x}")),
        of_each("", |byte| format!("&#{byte};")),
        of_each("", |byte| format!("\\u{byte:04x}")),
        of_each(" ", |byte| char::from(byte).to_string()),
        of_each("\u{200b}", |byte| char::from(byte).to_string()),
        of_each("", |byte| format!("\u{1b}[1;31m{}\u{1b}[0m", char::from(byte))),
        key.to_lowercase(),
    ] {
        for length in (text.len() * 2 / 3..text.len()).filter(|length| text.is_char_boundary(*length)) {
            let cut = format!("it is: {}…, and", &text[..length]);
            let redacted = known.redact(&cut).replace("\u{1b}[1;31", "").replace(['…', '\u{200b}'], "");
            let left = redacted.trim_start_matches("it is: ").trim_end_matches(", and").trim_matches(['*', ' ']);
            assert!(left.len() <= 3, "{cut}: {redacted}");
        }
    }
    let innocent = "Zq8vK…, WnE4d…, 5a:71…, %5a%71…, a…, it is…";
    assert_eq!(known.redact(innocent), innocent);
}

#[test]
fn invisible_and_lookalike_characters_disguise_no_secret_however_short() {
    let wide = |c: char| char::from_u32(u32::from(c) - 0x21 + 0xff01).unwrap();
    for key in ["8273645190", "p@ss:w0rd/#1", "s3cret", "Zq8vK-p2mXc7V_hT5kW"] {
        let known = redactor(&[key]);
        let with = |between: &str| key.chars().map(String::from).collect::<Vec<_>>().join(between);
        let half = |between: &str| format!("{}{between}{}", &key[..3], &key[3..]);
        for text in [
            with("\u{200b}"),
            with("\u{ad}"),
            with("\u{feff}"),
            with("\u{e0041}"),
            with("\u{fe0f}"),
            with("\u{336}"),
            with("\u{1b}[31m"),
            half("\u{1b}]0;title\u{7}"),
            half("\u{1b}]8;;http://h\u{1b}\\"),
            half("\u{1b}(B\u{1b}[m"),
            half("\\u001b[0m"),
            half("&#8203;"),
            half("%E2%80%8B"),
            key.chars().map(wide).collect(),
            key.to_uppercase(),
        ] {
            assert_eq!(known.redact(&format!("it is: {text}.")), "it is: ***.", "{text:?}");
        }
        let bold = |c: char| match c {
            'a'..='z' => char::from_u32(u32::from(c) - 0x61 + 0x1d41a).unwrap(),
            'A'..='Z' => char::from_u32(u32::from(c) - 0x41 + 0x1d400).unwrap(),
            '0'..='9' => char::from_u32(u32::from(c) - 0x30 + 0x1d7ce).unwrap(),
            other => other,
        };
        assert_eq!(known.redact(&key.chars().map(bold).collect::<String>()), "***");
    }
    let innocent = "“Grüße” — 全角，文字！ e\u{301}\u{200d}👩\u{200d}🚀 \u{1b}[31mred\u{1b}[0m \u{1b}]0;";
    assert_eq!(redactor(&["8273645190"]).redact(innocent), innocent);
}

#[test]
fn a_document_stays_one_and_numbers_and_names_stay() {
    let known = redactor(&["canary-1"]);
    let document = json!({"text": "my canary-1", "list": [{"canary-1": 1, "***": 2}], "n": 1.5});
    let json = serde_json::to_vec(&document).unwrap();
    let cleared = known.cleared(&document, &json).unwrap().unwrap();
    assert_eq!(cleared, json!({"text": "my ***", "list": [{"***": 1, "****": 2}], "n": 1.5}));
    assert_eq!(known.cleared(&cleared, &serde_json::to_vec(&cleared).unwrap()).unwrap(), None);
}

#[test]
fn what_is_learnt_by_one_is_known_to_all_and_addresses_lose_their_logins() {
    let known = Redactor::default();
    let other = known.clone();
    assert!(matches!(other.redact("token-12345"), Cow::Borrowed(_)));
    known.learn(&Secret::new("token-12345"));
    assert_eq!(other.redact("token-12345 http://me:x@h/?sig=1"), "*** http://***@h/?sig=***");
    assert_eq!(other.redact_known("token-12345 http://me:x@h/?sig=1"), "*** http://me:x@h/?sig=1");
}

#[test]
fn a_short_or_common_value_blots_nothing() {
    let known = redactor(&["x", "1234", "password", "neo4j"]);
    assert!(matches!(known.redact("x 1234 password neo4j"), Cow::Borrowed(_)));
}

#[test]
fn pieces_of_a_secret_in_one_place_of_several_documents_are_blotted_out() {
    let known = redactor(&["sk-canary-123456"]);
    let delta = |text: &str| json!({"type": "delta", "delta": {"text": text}, "n": [{"text": "x"}]});
    let pieces = |texts: &[&str]| texts.iter().map(|text| delta(text)).collect::<Vec<_>>();
    for (before, after) in [
        (vec!["Your key: s", "k-can", "ary-123456, and"], vec!["Your key: ***", "***", "***, and"]),
        (vec!["a sk-canary-123456", "b"], vec!["a sk-canary-123456", "b"]),
        (vec!["sk-", "other"], vec!["sk-", "other"]),
        (vec!["736b2d63616e6172", "792d313233343536"], vec!["***", "***"]),
        // A Base64 text over the border of two takes a part of a secret that stands there as a whole.
        (vec!["is sk-canary-123456", "c2stY2FuYXJ5LTEyMzQ1Ng=="], vec!["is ***", "***"]),
        (vec!["c2stY2FuYXJ5LTEyMzQ1Ng", "sk-canary-123456 sk-canary-123456"], vec!["***", "*** ***"]),
        (vec!["c2stY2FuYXJ5LTEyMzQ1Ng", "73:6b:2d:63:61:6e:61:72:79:2d:31:32:33:34:35:36"], vec!["***", "***"]),
    ] {
        let (mut documents, expected) = (pieces(&before), pieces(&after));
        known.redact_across(documents.iter_mut());
        assert_eq!(documents, expected);
    }
}

#[test]
fn a_secret_in_disguise_is_found() {
    let key = "sk-Canary-0a1b2c3d4e";
    let known = redactor(&[key]);
    let zero_width: String = key.chars().flat_map(|c| [c, '\u{200b}']).collect();
    let spaced = key.chars().map(String::from).collect::<Vec<_>>().join(" ");
    let twice = |text: String| STANDARD.encode(STANDARD.encode(text));
    let encoded = STANDARD.encode(key);
    for text in [
        key.to_uppercase(),
        key.to_lowercase(),
        key.replace('-', ""),
        key.replace('-', " "),
        key.replace('-', "\u{ad}-"),
        zero_width.trim_end_matches('\u{200b}').to_owned(),
        spaced,
        key.replace("Ca", "Ca\\n"),
        "sk-\", \"Canary-0a\", \"1b2c3d4e".to_owned(),
        twice(key.to_owned()),
        twice(format!("a{key}b")),
        twice(format!("ab{key}")),
        twice(format!("token: {key}!")),
        format!("{}\n{}", &encoded[..10], &encoded[10..]),
    ] {
        assert_eq!(known.redact(&format!("<{text}>")).trim_end_matches('='), "<***>".trim_end_matches('='), "{text}");
    }
    for text in ["sk Canary 0a1b2c3d", "canary", "a 0a1b2c3d4e"] {
        assert_eq!(known.redact(text), text);
    }
    assert_eq!(redactor(&["secret-9"]).redact("Secret 9"), "Secret 9", "what is short is found by chance");
}

#[test]
fn the_bytes_of_a_secret_as_numbers_and_colours_within_it_are_found() {
    let key = "Zq8vK-p2mXc7V_hT5kW";
    let known = redactor(&[key]);
    let bytes =
        |separator: &str, written: fn(u8) -> String| key.bytes().map(written).collect::<Vec<_>>().join(separator);
    for text in [
        key.replace("vK", "vK\u{1b}[0m"),
        key.chars().map(|c| format!("\u{1b}[1;31m{c}\u{1b}[0m")).collect(),
        key.replace("p2", "p\u{9b}38;5;1m2"),
        key.replace("p2", r"p\u001b[0m2"),
        key.replace("p2", r"p\x1b[0;1m2"),
        key.replace("p2", r"p\u{1b}[K2"),
        bytes(", ", |byte| byte.to_string()),
        bytes(",", |byte| byte.to_string()),
        bytes("\n  ", |byte| byte.to_string()),
        bytes(r",\n  ", |byte| byte.to_string()),
        bytes(" ", |byte| format!("{byte:#x}")),
        bytes(", ", |byte| format!("0x{byte:02X}")),
        bytes(", ", |byte| format!("{byte:02x}")),
        bytes("", |byte| format!("\\{byte:03o}")),
        bytes("", |byte| format!("\\\\{byte:03o}")),
        bytes(":", |byte| format!("{byte:02X}")),
    ] {
        let redacted = known.redact(&format!("<{text}>")).into_owned();
        assert!(
            redacted.contains(BLOT) && redacted.chars().filter(char::is_ascii_digit).count() < 6,
            "{text}: {redacted}"
        );
    }
    let ordinary = "[90, 113, 56, 118, 75], 0x5a 0x71, \\132\\161, \u{1b}[0mfine\u{1b}[";
    assert_eq!(known.redact(ordinary), ordinary);
}

#[test]
fn a_list_of_numbers_that_are_the_bytes_of_a_secret_is_blotted_out() {
    let key = "Zq8vK-p2mXc7V_hT5kW";
    let known = redactor(&[key]);
    let list = |bytes: Vec<Value>| json!({"data": bytes, "other": [90, 113, 56], "rows": [[1], 2.5, "x", null]});
    let numbers: Vec<Value> = [1, 2].into_iter().chain(key.bytes()).chain([3]).map(Value::from).collect();
    let stars = std::iter::repeat_n(Value::from(BLOT), key.len());
    let expected = list([1.into(), 2.into()].into_iter().chain(stars).chain([3.into()]).collect());
    let mut document = list(numbers);
    let cleared = known.cleared(&document, &serde_json::to_vec(&document).unwrap()).unwrap();
    assert_eq!(cleared, Some(expected.clone()));
    known.redact_json(&mut document);
    assert_eq!(document, expected);
}

#[test]
fn a_secret_in_pieces_over_a_list_is_found() {
    let known = redactor(&["sk-Canary-0a1b2c3d4e"]);
    let document = json!({"context": {"parts": ["sk-Cana", "ry-0a1b", "2c3d4e", "more"]}, "id": 7});
    let expected = json!({"context": {"parts": ["***", "***", "***", "more"]}, "id": 7});
    let cleared = known.cleared(&document, &serde_json::to_vec(&document).unwrap()).unwrap();
    assert_eq!(cleared, Some(expected.clone()));
    let mut value = document;
    known.redact_json(&mut value);
    assert_eq!(value, expected);
}

proptest! {
    #[test]
    fn no_secret_is_left_and_what_is_redacted_stays_so(
        secret in "[ -~äß\n]{6,24}", before in ".{0,12}", after in ".{0,12}"
    ) {
        let known = redactor(&[&secret]);
        prop_assume!(is_worth_hiding(secret.trim()));
        let once = known.redact(&format!("{before}{secret}{after}")).into_owned();
        prop_assert!(!once.contains(secret.trim()) || BLOT.contains(secret.trim()));
    }

    #[test]
    fn a_line_of_json_is_dirty_wherever_its_texts_are(secret in "[ -~ä\u{1}\n]{8,24}", words in ".{0,20}") {
        let known = redactor(&[&secret]);
        prop_assume!(is_worth_hiding(secret.trim()));
        let document = json!({"text": format!("{words}{secret}{words}")});
        let cleared = known.cleared(&document, &serde_json::to_vec(&document).unwrap()).unwrap();
        prop_assert!(cleared.is_some_and(|cleared| !cleared["text"].as_str().unwrap().contains(secret.trim())));
    }
}
