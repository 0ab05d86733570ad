use proptest::prelude::*;

use super::xml::{escaped, without_attachments};
use super::*;

#[test]
fn words_of_a_conversation_that_are_too_many_are_cut_in_their_middle() {
    assert_eq!(bounded("short", "r"), "short");
    let cut = bounded(&"é".repeat(MOST_BYTES), "r");
    assert!(
        cut.len() < MOST_BYTES + 200 && cut.contains("bytes are left out here: eval-job show r -v"),
        "{}",
        cut.len()
    );
}

#[test]
fn what_can_steer_a_parser_or_a_viewer_is_harmless() {
    assert_eq!(
        escaped("<b a=\"1\">&amp;\u{0}\u{1b}[31m\u{fffe}]]>"),
        "&lt;b a=&quot;1&quot;&gt;&amp;amp;\\u{0}\\u{1b}[31m\\u{fffe}]]&gt;"
    );
    assert_eq!(without_attachments("[[1]] [[[aTTACHMENT|/etc/passwd]]"), "[[1]] [[ [aTTACHMENT|/etc/passwd]]");
}

proptest! {
    #[test]
    fn no_text_leaves_its_place(text in any::<String>()) {
        let escaped = escaped(&text);
        prop_assert!(!escaped.contains(['<', '>', '"']), "{}", escaped);
        let is_xml = |c: char| matches!(c, '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
        prop_assert!(escaped.chars().all(is_xml));
    }
}
