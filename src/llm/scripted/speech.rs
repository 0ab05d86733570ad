//! Turns tasks and facts about the user into messages of the user.

/// The user's message that brings up a task: `Ask the assistant to paint the fence` becomes `Please paint the fence.`
pub(super) fn wording(task: &str) -> String {
    let task = unclosed(task);
    let (verb, rest) = match (after(task, "ask"), after(task, "tell")) {
        (Some(rest), _) => ("ask", rest),
        (_, Some(rest)) => ("tell", rest),
        _ => ("", task),
    };
    let addressee = ["the assistant", "the agent", "the chatbot", "it"].iter().find_map(|name| after(rest, name));
    let rest = if verb.is_empty() { rest } else { addressee.unwrap_or(rest) };
    let spoken = match verb {
        "" => format!("Please {}.", lower_first(rest)),
        _ if after(rest, "to").is_some() => format!("Please {}.", after(rest, "to").unwrap_or_default()),
        "tell" => format!("{}.", after(rest, "that").unwrap_or(rest)),
        _ => match after(rest, "for") {
            Some(wanted) => format!("Please give me {wanted}."),
            None => format!("Could you tell me {rest}?"),
        },
    };
    upper_first(&first_person(&spoken))
}

/// A fact in the first person.
pub(super) fn fact_in_first_person(fact: &str) -> String {
    format!("{}.", upper_first(&first_person(unclosed(fact))))
}

/// `the user's` becomes `my`, and `the user` becomes `I`, with the verb that follows, or else `me`.
fn first_person(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut spoken: Vec<String> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let noun = words.get(at + 1).filter(|_| words[at].eq_ignore_ascii_case("the")).copied().unwrap_or_default();
        let name = noun.trim_end_matches(|c: char| !c.is_alphabetic());
        let mark = &noun[name.len()..];
        at += 2;
        match (name, words.get(at).and_then(|verb| own_verb(verb))) {
            ("user's" | "user’s", _) => spoken.push(format!("my{mark}")),
            ("user", Some(verb)) if mark.is_empty() => {
                spoken.push(format!("I {verb}"));
                at += 1;
            }
            ("user", _) => spoken.push(format!("me{mark}")),
            _ => {
                at -= 1;
                spoken.push(words[at - 1].to_owned());
            }
        }
    }
    spoken.join(" ")
}

/// A verb in the third person as it stands after `I`; `None` for other words.
fn own_verb(word: &str) -> Option<String> {
    let verb = word.trim_end_matches(|c: char| !c.is_alphabetic());
    let own = match verb {
        "is" => "am",
        "has" => "have",
        "does" => "do",
        "goes" => "go",
        "was" | "had" | "will" | "would" | "can" | "could" | "should" | "must" => verb,
        _ => verb.strip_suffix('s').filter(|stem| stem.len() > 2 && !stem.ends_with('s'))?,
    };
    Some(format!("{own}{}", &word[verb.len()..]))
}

/// The text after these words; case does not matter.
fn after<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    text.get(..start.len()).filter(|found| found.eq_ignore_ascii_case(start))?;
    text[start.len()..].strip_prefix(' ').map(str::trim)
}

fn unclosed(sentence: &str) -> &str {
    sentence.trim().trim_end_matches(['.', '?', '!', ' '])
}

fn upper_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
