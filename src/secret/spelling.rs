//! How a secret is written where somebody else has written it: escaped, encoded, or as it is.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// All spellings of a secret.
#[derive(Debug, Default)]
pub(super) struct Spellings {
    /// Those that stand for the secret alone.
    pub(super) exact: Vec<String>,
    /// Its part of a Base64 text that can hold more; whatever stands beside it in that text is blotted out with it.
    pub(super) within_base64: Vec<String>,
}

impl Spellings {
    pub(super) fn of(secret: &str) -> Spellings {
        let mut exact = vec![secret.to_owned()];
        exact.extend(PercentEncoding::ALL.iter().map(|encoding| encoding.encode(secret)));
        let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        exact.extend([hex.to_uppercase(), hex, html(secret)]);
        let escaped: Vec<String> = exact.iter().flat_map(|text| json(text)).collect();
        exact.extend(escaped);
        exact.sort_unstable();
        exact.dedup();
        let mut within_base64: Vec<String> = (0..3).flat_map(|before| base64_part(secret.as_bytes(), before)).collect();
        within_base64.sort_unstable();
        within_base64.dedup();
        Spellings { exact, within_base64 }
    }
}

/// As JSON writes it: usually, in ASCII alone, and with `\/`. Twice, for JSON within a text of JSON.
fn json(text: &str) -> Vec<String> {
    let once = |text: &str| {
        let quoted = serde_json::Value::from(text).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let usual = once(text);
    let ascii = usual.chars().fold(String::new(), |mut ascii, c| {
        match c.is_ascii() {
            true => ascii.push(c),
            false => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| ascii.push_str(&format!("\\u{unit:04x}"))),
        }
        ascii
    });
    let slashes = [&usual, &ascii].map(|text| text.replace('/', "\\/"));
    let [usual_slashes, ascii_slashes] = slashes;
    let first = [usual, ascii, usual_slashes, ascii_slashes];
    let twice = first.each_ref().map(|text| once(text));
    first.into_iter().chain(twice).collect()
}

fn html(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    escaped.replace('"', "&quot;").replace('\'', "&#39;")
}

/// One way to percent-encode.
struct PercentEncoding {
    /// What stays as it is, beside letters and digits.
    kept: &'static str,
    plus_for_space: bool,
    capitals: bool,
}

impl PercentEncoding {
    /// RFC 3986's unreserved characters, forms, `encodeURIComponent`, and the user part of an address.
    const ALL: [PercentEncoding; 7] = [
        PercentEncoding { kept: "-._~", plus_for_space: false, capitals: true },
        PercentEncoding { kept: "-._~", plus_for_space: false, capitals: false },
        PercentEncoding { kept: "-._~", plus_for_space: true, capitals: true },
        PercentEncoding { kept: "*-._", plus_for_space: true, capitals: true },
        PercentEncoding { kept: "-_.!~*'()", plus_for_space: false, capitals: true },
        PercentEncoding { kept: "-_.!~*'()$&+,%", plus_for_space: false, capitals: true },
        PercentEncoding { kept: "/-._~", plus_for_space: false, capitals: true },
    ];

    fn encode(&self, text: &str) -> String {
        text.bytes().fold(String::new(), |mut encoded, byte| {
            match byte {
                b' ' if self.plus_for_space => encoded.push('+'),
                _ if byte.is_ascii_alphanumeric() || self.kept.as_bytes().contains(&byte) => encoded.push(byte.into()),
                _ if self.capitals => encoded.push_str(&format!("%{byte:02X}")),
                _ => encoded.push_str(&format!("%{byte:02x}")),
            }
            encoded
        })
    }
}

/// What of a Base64 text is sure where the secret follows on `before` bytes, modulo 3: both alphabets. Too little of a
/// short secret is sure for that.
fn base64_part(secret: &[u8], before: usize) -> Vec<String> {
    const LEAST: usize = 6;
    let encoded = STANDARD_NO_PAD.encode([&[0; 3][..before], secret].concat());
    let first = [0, 2, 3][before];
    let unsure = usize::from(!(before + secret.len()).is_multiple_of(3));
    let Some(sure) = encoded.get(first..encoded.len() - unsure).filter(|sure| sure.len() >= LEAST) else {
        return Vec::new();
    };
    vec![sure.to_owned(), sure.replace('+', "-").replace('/', "_")]
}
