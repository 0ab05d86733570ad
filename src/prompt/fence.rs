//! Keeps inserted text from posing as markup.

/// The text with `&` and `<` replaced by entities: nothing in it can open or close a tag any more.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn escaped_text_has_no_tag_and_comes_back_whole(text in "[a&<>;lmpt/]{0,40}|\\PC{0,40}") {
            let escaped = escape(&text);
            prop_assert!(!escaped.contains('<'));
            prop_assert_eq!(escaped.replace("&lt;", "<").replace("&amp;", "&"), text);
        }
    }
}
