//! Turns what is said of the user into what the user says.

/// The text as the user would say it: `the user's` becomes `my`, `the user` becomes `I` or `me`, with the verb after it
/// put right, and `the assistant` becomes `you`.
pub(super) fn first_person(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut said: Vec<String> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let next = words.get(at + 1).copied().unwrap_or_default();
        let (core, mark) = split_mark(next);
        let noun = core.to_lowercase().replace('’', "'");
        let is_the = words[at].eq_ignore_ascii_case("the");
        match noun.as_str() {
            "user's" | "users'" if is_the => said.push(format!("my{mark}")),
            "assistant's" if is_the => said.push(format!("your{mark}")),
            "assistant" | "chatbot" | "agent" if is_the => said.push(format!("you{mark}")),
            "user" if is_the => {
                let verb = words.get(at + 2).filter(|_| mark.is_empty()).and_then(|verb| own_verb(verb));
                let adverb = words.get(at + 2).filter(|word| mark.is_empty() && ADVERBS.contains(word));
                let later = adverb.and_then(|_| words.get(at + 3)).and_then(|verb| own_verb(verb));
                if let Some(verb) = verb {
                    said.extend(["I".to_owned(), verb]);
                    at += 1;
                } else if let (Some(adverb), Some(verb)) = (adverb, later) {
                    said.extend(["I".to_owned(), (*adverb).to_owned(), verb]);
                    at += 2;
                } else {
                    said.push(format!("me{mark}"));
                }
            }
            _ => {
                said.push(words[at].to_owned());
                at += 1;
                continue;
            }
        }
        at += 2;
    }
    said.join(" ")
}

fn split_mark(word: &str) -> (&str, &str) {
    let core = word.trim_end_matches([',', '.', ';', ':', '?', '!', ')']);
    (core, &word[core.len()..])
}

/// A verb in the third person as `I` has it; `None` for what is no such verb.
fn own_verb(word: &str) -> Option<String> {
    let (core, mark) = split_mark(word);
    let own = match core.to_lowercase().as_str() {
        "is" => "am".to_owned(),
        "was" | "will" | "would" | "can" | "could" | "should" | "must" | "did" | "had" => core.to_owned(),
        "isn't" => "am not".to_owned(),
        "has" => "have".to_owned(),
        "hasn't" => "haven't".to_owned(),
        "does" => "do".to_owned(),
        "doesn't" => "don't".to_owned(),
        "goes" => "go".to_owned(),
        lower if ADVERBS.contains(&lower) => return None,
        lower => {
            if let Some(rest) = lower.strip_suffix("ies").filter(|rest| rest.len() > 1) {
                format!("{rest}y")
            } else if ["ches", "shes", "sses", "xes", "zzes"].iter().any(|ending| lower.ends_with(ending)) {
                lower[..lower.len() - 2].to_owned()
            } else {
                lower.strip_suffix('s').filter(|rest| rest.len() > 1 && !rest.ends_with('s'))?.to_owned()
            }
        }
    };
    Some(own + mark)
}

const ADVERBS: &[&str] = &["always", "usually", "often", "never", "also", "sometimes", "currently", "now", "still"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_speaks_of_itself() {
        for (said_of, said) in [
            ("The user's shoe size is 43", "my shoe size is 43"),
            ("The user is left-handed", "I am left-handed"),
            ("The user prefers oat milk, not soy", "I prefer oat milk, not soy"),
            ("The user never washes the user's car", "I never wash my car"),
            ("The user tries to fix it", "I try to fix it"),
            ("Fetch the user, and show the user the way", "Fetch me, and show me the way"),
            ("which songs the user has", "which songs I have"),
            ("The kettle is green", "The kettle is green"),
        ] {
            assert_eq!(first_person(said_of), said);
        }
    }
}
