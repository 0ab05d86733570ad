use super::*;
use proptest::prelude::*;

#[test]
fn words_without_content_are_left_out_and_none_is_counted_twice() {
    assert_eq!(content_words("Would you please tell them that?"), Vec::<String>::new());
    assert_eq!(content_words("The kettle's lid, and two kettles"), ["kettle", "lid", "two"]);
    assert_eq!(content_words("Tea by 9:30: ready"), ["tea", "9:30", "ready"]);
}

#[test]
fn words_are_found_in_any_case_and_number_and_as_compounds() {
    let set = WordSet::new("Which shoe size do you wear? Boots, 43.");
    for word in ["BOOTS".to_lowercase().as_str(), "boot", "shoesize", "43"] {
        assert!(set.has(word), "{word}");
    }
    assert!(!set.has("4") && !set.has("boo"));
    assert!(WordSet::new("My shoesize").has_all(&content_words("shoe size")));
    assert!(!WordSet::new("My hat size").has_all(&content_words("shoe size")));
    assert!(!set.has_all(&[]));
}

#[test]
fn sentences_end_at_marks_before_a_space() {
    assert_eq!(sentences("It is 9.30. \"Late?\" No!\nFine"), ["It is 9.30.", "\"Late?\"", "No!", "Fine"]);
    assert!(is_question("\"Late?\"") && !is_question("Fine"));
    assert_eq!(sentences(" \n "), Vec::<String>::new());
}

proptest! {
    #[test]
    fn a_text_has_its_own_words(text in "[A-Za-z0-9 ,.'’éß:-]{0,60}") {
        let words = content_words(&text);
        prop_assert!(words.is_empty() || WordSet::new(&text).has_all(&words));
    }
}
