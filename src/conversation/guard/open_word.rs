//! Whether a question is open: it can't be answered by yes or no.

use super::phrases::{List, PHRASES};
use super::shape::KINDS;
use super::text_view::TextView;

/// Words with which a question begins that asks to be told something.
pub(super) const REQUESTS: [&str; 36] = [
    "may",
    "can",
    "could",
    "would",
    "will",
    "please",
    "might",
    "konnen",
    "konnten",
    "kann",
    "darf",
    "durfte",
    "nennen",
    "sagen",
    "pouvez",
    "pourriez",
    "puis",
    "puede",
    "podria",
    "me",
    "puo",
    "potrebbe",
    "posso",
    "mi",
    "pode",
    "poderia",
    "kunt",
    "kan",
    "mag",
    "czy",
    "prosze",
    "можете",
    "подскажите",
    "назовите",
    "and",
    "your",
];

pub(super) fn is_open(question: &TextView<'_>) -> bool {
    PHRASES.wants(question) != 0
        || question.has(List::Awaits)
        || question.has(List::Asks) && question.words().next().is_some_and(|word| REQUESTS.contains(&word))
}

/// Words of a question whether somebody knows a thing, or has a number of his own: it asks for the thing.
const KNOWS: [&str; 22] = [
    "know",
    "remember",
    "wissen",
    "weisst",
    "kennen",
    "kennst",
    "savez",
    "sais",
    "connaissez",
    "sabe",
    "sabes",
    "conoce",
    "sa",
    "sai",
    "sapete",
    "weet",
    "znasz",
    "zna",
    "знаете",
    "знаешь",
    "знаєте",
    "biliyor",
];
const HAS: [&str; 20] = [
    "have", "haben", "hast", "hatten", "avez", "as", "auriez", "tiene", "tienes", "ha", "hai", "avete", "tem", "tens",
    "heeft", "hebt", "heb", "ma", "masz", "есть",
];

/// Whether a question asks for what is asked of it whether the user knows or has it: "Do you have the order number?"
pub(super) fn asks_whether_known(question: &TextView<'_>) -> bool {
    question.words().any(|word| KNOWS.contains(&word))
        || question.kinds() & KINDS.own_number != 0 && question.words().take(3).any(|word| HAS.contains(&word))
}
