//! How many there are: a number in words that counts the user's company, or things.

use super::scene::Scene;
use super::shape::KINDS;

/// Whether the words before a number and the one behind it say how many the user's company is: "we are eight", "eight of us".
pub(super) fn counts_party(before: &str, number: &str, next: &str) -> bool {
    let ends_with = |phrase: &&'static str| {
        before.strip_suffix(*phrase).is_some_and(|rest| !rest.chars().next_back().is_some_and(char::is_alphanumeric))
            && is_number_after(number, phrase)
    };
    let is_length = || LENGTHS.iter().any(|length| next.starts_with(length));
    WE_ARE.iter().any(ends_with) && !is_length() || THERE_ARE.iter().any(ends_with) && matches!(next, "" | "of")
}

/// Whether the turn is hardly more than a number, where the assistant asks how many there are.
pub(super) fn is_bare_count(scene: &Scene<'_>, number: &str) -> bool {
    let is_other_word = OTHER_WORDS.iter().any(|(word, _)| *word == number) && scene.text().places().len() > 1;
    let asks = scene.last_agent().is_some_and(|agent| {
        let counts = || HOW_MANY.iter().any(|words| agent.plain().contains(words));
        agent.asks() && (agent.kinds() & KINDS.quantity != 0 || counts())
    });
    asks && !is_other_word && scene.text().places().len() <= MOST_OF_BARE && !scene.text().asks()
}

/// Whether a word is a number in the language of the phrase before it: "we are on" counts nobody.
fn is_number_after(number: &str, phrase: &str) -> bool {
    let other = OTHER_WORDS.iter().find(|(word, _)| *word == number);
    other.is_none_or(|(_, phrases)| phrases.iter().any(|begin| phrase.starts_with(begin)))
}

/// Numbers that are other words in another language, with the beginnings of the phrases after which they are numbers.
const OTHER_WORDS: [(&str, &[&str]); 4] = [
    ("on", &["biz"]),
    ("once", &["somos", "seremos", "seriamos", "vamos", "mesa"]),
    ("tres", &["somos", "seremos", "seriamos", "vamos", "mesa"]),
    ("sei", &["siamo", "saremo", "tavolo"]),
];

/// How somebody asks for a number.
const HOW_MANY: [&str; 20] = [
    "how many",
    "wie viele",
    "wieviele",
    "zu wievielt",
    "combien de",
    "cuantos",
    "cuantas",
    "quanti ",
    "quante ",
    "quantos",
    "quantas",
    "hoeveel",
    "ilu ",
    "ile ",
    "сколько",
    "скільки",
    "kac kisi",
    "多少",
    "몇",
    "hur manga",
];

/// The most words of a turn that says nothing but a number.
const MOST_OF_BARE: usize = 5;

/// What is counted where somebody says how far something is: "we are two streets away".
const LENGTHS: [&str; 12] =
    ["min", "sec", "sek", "hour", "block", "street", "mile", "kilomet", "step", "strasse", "rue", "км"];

/// How somebody says of how many the own company is.
const WE_ARE: [&str; 62] = [
    "we are",
    "we're",
    "we will be",
    "we'll be",
    "we would be",
    "we'd be",
    "party of",
    "group of",
    "table for",
    "wir sind",
    "wir sind zu",
    "wir sind insgesamt",
    "wir waren",
    "wir waren zu",
    "wir kommen zu",
    "wir werden",
    "sind wir",
    "sind wir zu",
    "sind zu",
    "tisch fur",
    "nous sommes",
    "nous serons",
    "nous serions",
    "on est",
    "on sera",
    "on serait",
    "table pour",
    "somos",
    "seremos",
    "seriamos",
    "vamos a ser",
    "vamos ser",
    "mesa para",
    "siamo",
    "siamo in",
    "saremo",
    "saremo in",
    "saremmo in",
    "tavolo per",
    "zijn met",
    "komen met",
    "met z'n",
    "met zijn",
    "tafel voor",
    "jest nas",
    "nas jest",
    "bedzie nas",
    "nas bedzie",
    "stolik dla",
    "нас",
    "нас будет",
    "будет нас",
    "biz",
    "نحن",
    "سنكون",
    "عددنا",
    "हम",
    "저희는",
    "우리는",
    "저희",
    "우리",
    "total of us is",
];
/// How somebody says how many there are.
const THERE_ARE: [&str; 4] = ["there are", "there're", "there'll be", "there will be"];

/// Nouns that, after a spelled-out number, state something about the user.
pub(super) const COUNTED: [&str; 80] = [
    "people",
    "persons",
    "guests",
    "adults",
    "children",
    "kids",
    "nights",
    "days",
    "weeks",
    "months",
    "years",
    "tickets",
    "rooms",
    "of",
    "euros",
    "dollars",
    "pounds",
    "bedrooms",
    "hours",
    "dogs",
    "cats",
    "personen",
    "gaste",
    "erwachsene",
    "kinder",
    "nachte",
    "tage",
    "wochen",
    "monate",
    "jahre",
    "karten",
    "zimmer",
    "euro",
    "stunden",
    "personnes",
    "adultes",
    "enfants",
    "nuits",
    "jours",
    "semaines",
    "mois",
    "ans",
    "personas",
    "adultos",
    "ninos",
    "noches",
    "dias",
    "semanas",
    "meses",
    "anos",
    "persone",
    "adulti",
    "bambini",
    "notti",
    "giorni",
    "anni",
    "pessoas",
    "criancas",
    "noites",
    "volwassenen",
    "kinderen",
    "nachten",
    "dagen",
    "osob",
    "osoby",
    "dzieci",
    "человек",
    "ночей",
    "kisi",
    "kisilik",
    "kisiyiz",
    "명",
    "명이에요",
    "명입니다",
    "명이요",
    "분",
    "사람",
    "اشخاص",
    "लोग",
    "लोगों",
];
