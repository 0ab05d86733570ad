use super::*;
use proptest::prelude::*;

#[test]
fn elements_are_read_with_attributes_and_text() {
    let text = "prose <li n=\"1\" kind=\"a\">one &lt;two></li>\n<li n=\"2\"> x &amp; y </li>";
    let found = all(text, "li");
    assert_eq!(found[0].attribute("kind"), Some("a"));
    assert_eq!(found[0].text(), "one <two>");
    assert_eq!((found[1].attribute("kind"), found[1].text().as_str()), (None, "x & y"));
}

#[test]
fn a_longer_name_is_another_tag() {
    assert_eq!(all("<lists></lists>", "list"), []);
}

#[test]
fn the_last_one_counts_and_a_missing_one_has_a_name() {
    assert_eq!(last("<box>prose</box> and <box>data</box>", "box").unwrap().text(), "data");
    let sentence = last("none", "box").unwrap_err().to_string();
    assert!(sentence.contains("<box>") && sentence.contains("embedded templates"), "{sentence}");
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in "(<a|<a>|</a>| x=\"|>|\\PC){0,20}") {
        let _ = (all(&text, "a"), last(&text, "a"));
    }
}
