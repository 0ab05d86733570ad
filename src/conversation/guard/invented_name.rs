//! A person, place or other name that the user gives and that nobody has named before.

use super::fact_asked::last_question;
use super::invented_fact::sources;
use super::other_name::{added_name, answering_name, name_without_facts, other_name};
use super::passed_over::tells;
use super::phrases::{List, PHRASES, is_sentence_end};
use super::scene::Scene;
use super::shape::KINDS;
use super::text_view::TextView;
use super::words::{Script, plain};

/// A name that the turn gives and that stands nowhere.
pub(super) fn name(scene: &Scene<'_>) -> Option<String> {
    let turn = scene.text();
    let is_known = |name: &str| sources(scene).any(|source| has_name(source, &plain(name)));
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
        if is_unspaced && (turn.has(List::Unwilling) || turn.has(List::Unknown)) {
            continue;
        }
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
        if let Some(name) =
            names.iter().find(|name| !is_known(name) && !COMMON.contains(*name) && !PHRASES.is_function(&plain(name)))
        {
            return Some((*name).to_owned());
        }
    }
    if let Some(name) = bare_name(scene).or_else(|| bare_address(scene)) {
        return Some(name.to_owned());
    }
    if let Some(name) = other_name(scene)
        .or_else(|| name_without_facts(scene))
        .or_else(|| answering_name(scene))
        .or_else(|| added_name(scene))
    {
        return Some(name.to_owned());
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
        "namen",
        "heissen",
        "heisst",
        "heet",
        "chiama",
        "appelez",
        "llama",
        "chama",
        "зовут",
        "имя",
        "isim",
        "adiniz",
        "звати",
        "називаєте",
        "називається",
        "heter",
        "hedder",
        "nimi",
        "nimesi",
        "nimenne",
        "jmenujete",
        "jmeno",
        "nationality",
        "nationalite",
        "nacionalidad",
        "nazionalita",
        "nacionalidade",
        "nationaliteit",
        "where do you live",
        "which city",
        "what city",
        "what town",
        "welche stadt",
        "welcher stadt",
        "quelle ville",
        "que ciudad",
        "quale citta",
        "que cidade",
        "welke stad",
        "welke gemeente",
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
    let asks_who =
        question.words().any(|word| WHO.contains(&word)) && turn.places().len() <= 6 && !turn.raw.contains('?');
    if asks_who && let Some(name) = full_name(&turn.raw).filter(|name| name.iter().all(|part| !is_known(part))) {
        return Some(name.join(" "));
    }
    if asks_name && names.len() >= 2 && turn.places().len() <= 8 && !turn.raw.contains(['?']) {
        let is_name = |name: &&&str| !is_known(name) && !PHRASES.is_function(&plain(name)) && !COMMON.contains(*name);
        let unknown: Vec<&&str> = names.iter().filter(is_name).collect();
        if unknown.len() >= 2 {
            return Some(unknown.iter().map(|name| **name).collect::<Vec<_>>().join(" "));
        }
    }
    if asks_name && !is_german {
        return one_name(turn).filter(|name| !is_known(name)).map(str::to_owned);
    }
    None
}

/// A turn of a few characters of a script without spaces, or of Korean, where a name is asked for.
fn bare_name<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    // A cheap test that rules most turns out.
    if turn.raw.is_ascii() {
        return None;
    }
    let is_asked = scene.last_agent().is_some_and(|agent| {
        (agent.asks() || agent.has(List::Awaits)) && ASKS_NAME.iter().any(|word| agent.plain().contains(word))
    });
    let name = turn.plain().trim().trim_end_matches(|c: char| !c.is_alphanumeric());
    let name = ["입니다", "이에요", "예요", "이요", "です", "と申します"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    let is_letter = |c: char| matches!(Script::from_char(c), Script::Han | Script::Hangul | Script::Katakana);
    let is_other = || {
        [List::Answer, List::Unknown, List::Unwilling, List::Polite, List::Greeting, List::Goodbye]
            .into_iter()
            .any(|list| turn.has(list))
    };
    let is_name = is_asked && (2..=4).contains(&name.chars().count()) && name.chars().all(is_letter) && !is_other();
    (is_name && !sources(scene).any(|source| source.plain().contains(name))).then_some(name)
}

/// How a name is asked for in such languages.
const ASKS_NAME: [&str; 12] =
    ["姓名", "名字", "贵姓", "称呼", "叫什么", "お名前", "氏名", "ご芳名", "성함", "이름", "성명", "叫啥"];

/// A street with its number that stands nowhere, where the user's address is asked for and the turn is hardly more.
fn bare_address<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    let agent = scene.last_agent().filter(|agent| agent.asks() || agent.has(List::Awaits))?;
    let words: Vec<&str> = turn.raw.split_whitespace().collect();
    let has_number = words.iter().any(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    // A cheap test that rules most turns out.
    if !has_number || words.len() > MOST_AROUND_NAME || turn.raw.contains('?') {
        return None;
    }
    if scene.facts.iter().any(|fact| tells(scene, turn, fact)) {
        return None;
    }
    let question = last_question(agent).map(TextView::new);
    if question.is_none_or(|question| question.kinds() & KINDS.address == 0) {
        return None;
    }
    let inner = |word: &&'s str| word.trim_matches(|c: char| !c.is_alphanumeric());
    let is_street = |word: &&str| {
        word.starts_with(char::is_uppercase)
            && word.chars().count() > LEAST_WITHIN
            && !PHRASES.words.contains_key(plain(word).as_str())
            && !COMMON.contains(word)
    };
    let mut streets = words.iter().map(inner).filter(|word| is_street(word)).peekable();
    let first = *streets.peek()?;
    streets.all(|word| !sources(scene).any(|source| has_name(source, &plain(word)))).then_some(first)
}

/// The one word of a short statement that can only be a name: with a capital inside a sentence, or alone, and in no list of
/// words.
pub(super) fn one_name<'t>(turn: &'t TextView<'_>) -> Option<&'t str> {
    if turn.places().len() > MOST_AROUND_NAME || turn.raw.contains('?') {
        return None;
    }
    let words: Vec<&str> = turn.raw.split_whitespace().collect();
    let is_alone = turn.places().len() == 1;
    let mut begins = true;
    for word in words {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_inside = !std::mem::replace(&mut begins, word.ends_with(is_sentence_end) || inner.is_empty());
        let is_name = inner.starts_with(char::is_uppercase)
            && inner.chars().nth(1).is_some()
            && inner.chars().all(char::is_alphabetic)
            && !PHRASES.words.contains_key(plain(inner).as_str())
            && !COMMON.contains(&inner);
        let is_phrase = || {
            let view = TextView::new(inner);
            [List::Polite, List::Greeting, List::Answer, List::Goodbye].iter().any(|list| view.has(*list))
        };
        if is_name && (is_inside || is_alone) && !is_phrase() {
            return Some(inner);
        }
    }
    None
}

/// The most words of a turn that gives a name where one is asked for.
const MOST_AROUND_NAME: usize = 8;

/// Whether a text has a name: as a word, or, if it is a long one, with an ending or within another word. "Ann" does not stand in
/// "planned".
pub(super) fn has_name(source: &TextView<'_>, name: &str) -> bool {
    // "Bornova'dayim": the ending stands behind an apostrophe.
    if let Some((stem, _)) = name.split_once(['\'', '’'])
        && stem.chars().count() >= LEAST_WITHIN
    {
        return source.plain().contains(stem);
    }
    let is_spaced = |c: char| matches!(Script::from_char(c), Script::Latin | Script::Cyrillic | Script::Greek);
    if name.chars().count() >= LEAST_WITHIN || !name.starts_with(is_spaced) {
        return source.plain().contains(name);
    }
    let is_it = |word: &str| word == name || word.strip_prefix(name).is_some_and(|ending| ENDINGS.contains(&ending));
    source.words().any(is_it) || name.contains(|c: char| !c.is_alphanumeric()) && source.plain().contains(name)
}

/// The fewest letters of a name that may stand within another word.
const LEAST_WITHIN: usize = 5;
/// What follows a name that is written with an ending.
const ENDINGS: [&str; 12] = ["s", "n", "en", "a", "e", "y", "i", "u", "em", "om", "ie", "es"];

/// Who, whom and whose.
pub(super) const WHO: [&str; 23] = [
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
pub(super) const COMMON: [&str; 28] = [
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

#[cfg(test)]
mod tests {
    use crate::conversation::guard::{GuardInput, check};
    use crate::evidence::{Guard, Message, Role};

    fn invented(asked: &str, turn: &str) -> Option<String> {
        let transcript = [
            Message::new(Role::User, "I planned a book evening in a hotel I like, on 4 May 1988, with Eva Sturm"),
            Message::new(Role::Assistant, asked),
        ];
        let found = check(&GuardInput {
            has_facts: true,
            tasks: &["Book a room for the evening"],
            facts: &[],
            signoff: "So Long",
            transcript: &transcript,
            turn,
            ..GuardInput::default()
        });
        found.into_iter().find(|finding| finding.guard == Guard::InventedFact).map(|finding| finding.evidence)
    }

    #[test]
    fn short_names_and_years_that_nobody_named_are_invented() {
        let name = "What name should I put it under?";
        for (asked, turn, shown) in [
            (name, "My name is Ann.", "Ann"),
            (name, "Put it under Bo, please.", "Bo"),
            (name, "Li", "Li"),
            (name, "It's for my friend Li.", "Li"),
            ("When were you born?", "On 4 May 1976.", "1976"),
            ("When were you born?", "4-5-1990", "4-5-1990"),
            ("Which code is on it?", "It's ZK4TTR.", "zk4ttr"),
        ] {
            assert_eq!(invented(asked, turn).as_deref(), Some(shown), "{turn}");
        }
        for (asked, turn) in [
            (name, "Eva, please."),
            (name, "Under Sturm."),
            (name, "Sure, Eva Sturm."),
            (name, "Nobody's, I don't know it."),
            ("When were you born?", "On 4 May 1988."),
            ("When were you born?", "4-5-1988"),
        ] {
            assert_eq!(invented(asked, turn), None, "{turn}");
        }
    }
}
