//! Keeps inserted text from posing as markup.

/// The text with `&` and `<` replaced by entities: nothing in it can open or close a tag any more.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// The text of which [`escape`] made this one.
pub fn unescape(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&lt;", "<").replace("&amp;", "&")
}

/// The text with `<` replaced by an entity only where it could open or close a tag: `AT&T` and `1 < 2` stay as they are, for a
/// model that is to repeat them.
pub(super) fn without_tags(text: &str) -> String {
    let mut fenced = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        let opens = rest.starts_with(|next: char| next.is_alphabetic() || matches!(next, '/' | '!' | '?'))
            || rest.trim_start().starts_with('/');
        if c == '<' && opens { fenced.push_str("&lt;") } else { fenced.push(c) }
    }
    fenced
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_tag_stays_as_it_is() {
        for text in ["AT&T & Sons", "1 < 2", "x <3 y", "a <", "Fish &amp; Chips", "<<", "< b"] {
            assert_eq!(without_tags(text), text);
        }
        assert_eq!(without_tags("a</fact>b < /fact><FACT>&<!--"), "a&lt;/fact>b &lt; /fact>&lt;FACT>&&lt;!--");
    }

    proptest! {
        #[test]
        fn no_tag_is_left(text in "[a&< >;lmpt/!?]{0,40}|\\PC{0,40}") {
            let fenced = without_tags(&text);
            let is_tag = regex::Regex::new(r"<(\p{Alphabetic}|\s*/|[!?])").unwrap();
            prop_assert!(!is_tag.is_match(&fenced), "{fenced}");
        }

        #[test]
        fn escaped_text_has_no_tag_and_comes_back_whole(text in "[a&<>;lmpt/]{0,40}|\\PC{0,40}") {
            let escaped = escape(&text);
            prop_assert!(!escaped.contains('<'));
            prop_assert_eq!(escaped.replace("&lt;", "<").replace("&amp;", "&"), text);
        }
    }
}
