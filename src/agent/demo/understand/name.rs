//! Names, numbers and addresses in a sentence.

use super::super::notebook::Field;

/// The first name that is spoken of: words in capitals that stand together, or whoever has something (`the baker's`).
pub(super) fn names(words: &[&str]) -> Option<String> {
    let mut name: Vec<&str> = Vec::new();
    for word in words {
        let (owner, owns) = owner(word);
        let capital = owner.starts_with(char::is_uppercase) && !matches!(owner, "I" | "I'd" | "I'm" | "I'll");
        let particle = !name.is_empty() && matches!(owner, "van" | "de" | "da" | "von" | "del" | "el");
        if capital || particle {
            name.push(owner);
        } else if !name.is_empty() {
            break;
        }
        if capital && owns {
            break;
        }
    }
    while name.last().is_some_and(|last| !last.starts_with(char::is_uppercase)) {
        name.pop();
    }
    if !name.is_empty() {
        return Some(name.join(" "));
    }
    let owner = words.iter().find_map(|word| Some(owner(word)).filter(|(_, owns)| *owns).map(|(owner, _)| owner))?;
    Some(super::text::upper_first(owner))
}

fn owner(word: &str) -> (&str, bool) {
    let owner = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s"));
    (owner.unwrap_or(word), owner.is_some())
}

/// The part of a contact that is spoken of.
pub(super) fn field(lower: &[String]) -> Option<Field> {
    lower.iter().find_map(|word| match word.as_str() {
        "phone" | "telephone" | "number" | "mobile" => Some(Field::Phone),
        "email" | "e-mail" | "mail" => Some(Field::Email),
        _ => None,
    })
}

/// The first e-mail address.
pub(super) fn email(words: &[&str]) -> Option<String> {
    let is_address =
        |word: &&&str| word.split_once('@').is_some_and(|(user, host)| !user.is_empty() && host.contains('.'));
    words.iter().find(is_address).map(|word| (*word).to_owned())
}

/// The first phone number: at least five digits, in groups.
pub(super) fn phone(words: &[&str]) -> Option<String> {
    let is_group = |word: &str| {
        word.bytes().any(|byte| byte.is_ascii_digit())
            && word.chars().all(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | '(' | ')' | '/'))
    };
    let start = words.iter().position(|word| is_group(word))?;
    let groups: Vec<&str> = words[start..].iter().copied().take_while(|word| is_group(word)).collect();
    let number = groups.join(" ");
    (number.bytes().filter(u8::is_ascii_digit).count() >= 5).then_some(number)
}

/// What stands between double quotation marks.
pub(super) fn quoted(sentence: &str) -> Option<String> {
    let start = sentence.find(['"', '“'])?;
    let rest = sentence[start..].trim_start_matches(['"', '“']);
    let inner = &rest[..rest.find(['"', '”'])?];
    (!inner.trim().is_empty()).then(|| inner.trim().to_owned())
}
