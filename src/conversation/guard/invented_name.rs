//! A person, place or other name that the user gives and that nobody has named before.

use super::invented_fact::sources;
use super::phrases::{List, PHRASES};
use super::scene::Scene;
use super::text_view::TextView;
use super::words::{Script, plain};

/// A name that the turn gives and that stands nowhere.
pub(super) fn name(scene: &Scene<'_>) -> Option<String> {
    let turn = scene.text();
    let is_known = |name: &str| {
        let name = plain(name);
        sources(scene).any(|source| source.plain().contains(&name))
    };
    for hit in turn.hits_in(List::NameIs) {
        // The raw text behind the phrase: as many words are left in both.
        if turn.plain()[hit.end..].trim_start().starts_with(['[', '{', '<']) {
            continue;
        }
        let left = turn.plain()[hit.end..].split_whitespace().count();
        let words: Vec<&str> = turn.raw.split_whitespace().collect();
        let is_unspaced = turn.plain()[..hit.end].chars().next_back().is_some_and(|c| {
            matches!(
                Script::from_char(c),
                Script::Han | Script::Hiragana | Script::Thai | Script::Hangul | Script::Arabic | Script::Devanagari
            )
        });
        if is_unspaced {
            let phrase = &turn.plain()[hit.start..hit.end];
            if matches!(phrase, "私は" | "我是" | "저는" | "ชื่อ" | "아내" | "남편" | "नाम है")
            {
                continue;
            }
            let name: String = turn.plain()[hit.end..]
                .trim_start_matches([' ', ':', '，', '「', '"'])
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '·')
                .take(2)
                .collect();
            if name.chars().count() == 2 && !PHRASES.is_function(&name) && !is_known(&name) {
                return Some(name);
            }
            continue;
        }
        let behind = &words[words.len().saturating_sub(left)..];
        let names: Vec<&str> = behind
            .iter()
            .take(4)
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
            .take_while(|word| {
                word.starts_with(char::is_uppercase)
                    || matches!(*word, "de" | "van" | "von" | "la" | "is" | "called" | "heißt")
            })
            .filter(|word| word.starts_with(char::is_uppercase) && word.chars().count() > 1)
            .collect();
        if let Some(name) = names.iter().find(|name| !is_known(name) && !COMMON.contains(*name)) {
            return Some((*name).to_owned());
        }
    }
    // A bare name, where a name was asked for.
    let agent = scene.last_agent().filter(|agent| agent.asks() || agent.has(List::Awaits))?;
    let asks_name = [
        "name",
        "nom",
        "nombre",
        "nome",
        "naam",
        "nazwisk",
        "imie",
        "зовут",
        "имя",
        "isim",
        "adiniz",
        "where do you live",
        "which city",
        "what city",
    ]
    .iter()
    .any(|word| agent.words().any(|it| it == *word) || word.contains(' ') && agent.plain().contains(word));
    let names: Vec<&str> = turn
        .raw
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| word.starts_with(char::is_uppercase))
        .collect();
    // German nouns have a capital too.
    let is_german = [turn, agent].iter().any(|text| text.language().is_some() && text.language() == PHRASES.german);
    let question = TextView::new(agent.raw.rfind(['?', '؟']).map_or("", |at| last_sentence(&agent.raw[..at])));
    let asks_who = !is_german
        && question.words().any(|word| WHO.contains(&word))
        && turn.places().len() <= 6
        && !turn.raw.contains('?');
    if asks_who && let Some(name) = full_name(turn.raw).filter(|name| name.iter().all(|part| !is_known(part))) {
        return Some(name.join(" "));
    }
    if asks_name && names.len() >= 2 && turn.places().len() <= 8 && !turn.raw.contains(['?']) {
        let is_name = |name: &&&str| !is_known(name) && !PHRASES.is_function(&plain(name)) && !COMMON.contains(*name);
        let unknown: Vec<&&str> = names.iter().filter(is_name).collect();
        if unknown.len() >= 2 {
            return Some(unknown.iter().map(|name| **name).collect::<Vec<_>>().join(" "));
        }
    }
    None
}

/// Who, whom and whose.
const WHO: [&str; 23] = [
    "who", "who's", "whom", "whose", "wer", "wen", "wem", "wessen", "qui", "quien", "quienes", "chi", "quem", "kto",
    "kogo", "komu", "кто", "кого", "кому", "kim", "kime", "kimi", "kimin",
];

/// The sentence with which a text ends.
fn last_sentence(text: &str) -> &str {
    text.rsplit(['.', '!', '?', '؟', '\n']).next().unwrap_or(text)
}

/// Two names, one behind the other in one part of a sentence: words with a capital that are no function words, thanks, greetings
/// or answers.
fn full_name(raw: &str) -> Option<[&str; 2]> {
    let words: Vec<&str> = raw.split_whitespace().collect();
    let trimmed = |word: &str| {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
        let start = inner.as_ptr() as usize - word.as_ptr() as usize;
        (start, start + inner.len())
    };
    let is_capital = |word: &str| word.starts_with(char::is_uppercase) && word.chars().count() > 1;
    let is_name = |word: &str| is_capital(word) && !PHRASES.is_function(&plain(word)) && !COMMON.contains(&word);
    words.windows(2).find_map(|pair| {
        let [one, other] = pair else { return None };
        let ((start, end), (from, to)) = (trimmed(one), trimmed(other));
        let is_one_part = end == one.len() && from == 0;
        let (one, other) = (&one[start..end], &other[from..to]);
        let both = format!("{one} {other}");
        let both = TextView::new(&both);
        let is_phrase = [List::Polite, List::Greeting, List::Answer, List::Goodbye].iter().any(|list| both.has(*list));
        (is_one_part && is_name(one) && is_name(other) && !is_phrase).then_some([one, other])
    })
}

/// Words with a capital that are no names.
const COMMON: [&str; 28] = [
    "Great",
    "Good",
    "Perfect",
    "Sounds",
    "Absolutely",
    "Fine",
    "I",
    "Sure",
    "Yes",
    "No",
    "Thanks",
    "Thank",
    "Okay",
    "OK",
    "English",
    "German",
    "French",
    "Spanish",
    "Sorry",
    "Please",
    "The",
    "Mr",
    "Mrs",
    "Ms",
    "Dr",
    "Hi",
    "Hello",
    "My",
];
