//! The page's style, and by which digest its policy allows it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The style sheet: all of it stands in the page.
pub(super) const STYLE: &str = include_str!("style.css");

/// How the page's policy names it: no other style is applied.
pub(super) fn digest() -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(STYLE.as_bytes())))
}
