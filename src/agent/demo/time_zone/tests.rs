use super::*;

fn found(text: &str) -> Option<&'static str> {
    let words: Vec<&str> = text.split(' ').collect();
    find(&words).map(Tz::name)
}

#[test]
fn zones_are_found_in_sentences() {
    for (text, zone) in [
        ("My time zone is Australia/Sydney", "Australia/Sydney"),
        ("europe/lisbon", "Europe/Lisbon"),
        ("I live in New York near the park", "America/New_York"),
        ("I'm in Lisbon", "Europe/Lisbon"),
        ("UTC please", "UTC"),
        ("America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"),
    ] {
        assert_eq!(found(text), Some(zone), "{text}");
    }
}

#[test]
fn other_words_are_no_zones() {
    for text in ["I'm afraid I don't know that", "We met in a zone", "Mars/Olympus", ""] {
        assert_eq!(found(text), None, "{text}");
    }
}
