//! Names and descriptions of tools as words of a sentence.

/// A name in words: `list_trains`, `listTrains` and `list-trains` are "list trains".
pub(super) fn split_name(name: &str) -> String {
    let mut words = String::new();
    let mut before = ' ';
    for c in name.chars() {
        if c.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit()) {
            words.push(' ');
        }
        if c.is_alphanumeric() {
            words.extend(c.to_lowercase());
        } else if !words.ends_with(' ') {
            words.push(' ');
        }
        before = c;
    }
    words.trim().to_owned()
}

/// A tool's purpose, as it follows "to": the first sentence of its description where that begins like an order, or its name.
pub(super) fn purpose(name: &str, description: &str) -> String {
    let sentence = crate::text::sentences(description).into_iter().next().unwrap_or_default();
    let sentence = sentence.trim().trim_end_matches(['.', '!']);
    // The persona is the user.
    let sentence = sentence.replace(" for the user", "").replace("the user's", "your");
    let (first, rest) = sentence.split_once(' ').unwrap_or((&sentence, ""));
    let first = first.to_lowercase();
    let name = split_name(name);
    let verb = name.split(' ').next().unwrap_or_default();
    let is_verb = |word: &str| word == verb || VERBS.contains(&word);
    let order = [first.strip_suffix("es"), first.strip_suffix('s'), Some(&*first)].into_iter().flatten();
    match order.into_iter().find(|word| is_verb(word)) {
        Some(verb) if !rest.is_empty() && sentence.chars().count() <= LONGEST => format!("{verb} {rest}"),
        _ => name,
    }
}

/// The longest sentence of a description that is a wish.
const LONGEST: usize = 160;

/// How descriptions of tools begin that say what is done.
const VERBS: [&str; 64] = [
    "add",
    "apply",
    "approve",
    "assign",
    "buy",
    "calculate",
    "cancel",
    "change",
    "check",
    "close",
    "compare",
    "confirm",
    "convert",
    "create",
    "delete",
    "describe",
    "download",
    "edit",
    "export",
    "fetch",
    "find",
    "generate",
    "get",
    "give",
    "import",
    "list",
    "log",
    "look",
    "make",
    "move",
    "open",
    "order",
    "pay",
    "place",
    "post",
    "rate",
    "read",
    "register",
    "remove",
    "rename",
    "replace",
    "report",
    "request",
    "reserve",
    "reset",
    "retrieve",
    "return",
    "review",
    "schedule",
    "search",
    "send",
    "set",
    "show",
    "sign",
    "start",
    "stop",
    "submit",
    "subscribe",
    "track",
    "translate",
    "unsubscribe",
    "update",
    "upload",
    "view",
];

/// An argument's name in a sentence: a short description, its title, or its name.
pub(super) fn label(name: &str, schema: &serde_json::Value) -> String {
    let text = |key: &str| schema.get(key).and_then(serde_json::Value::as_str);
    let short = |text: &str| {
        let text = text.split(['.', ',', ';', ':', '(', '\n']).next().unwrap_or_default().trim();
        let lower = ["The ", "A ", "An ", "the ", "a ", "an "].iter().find_map(|article| text.strip_prefix(article));
        let text = lower.unwrap_or(text);
        let is_short = (1..=MOST_OF_LABEL).contains(&text.split_whitespace().count());
        let mut letters = text.chars();
        let first = letters.next().filter(|_| is_short)?;
        let is_word = letters.clone().next().is_some_and(char::is_lowercase);
        let first = if is_word { first.to_lowercase().to_string() } else { first.to_string() };
        Some(format!("{first}{}", letters.as_str()))
    };
    text("description").and_then(short).or_else(|| text("title").and_then(short)).unwrap_or_else(|| split_name(name))
}

/// The most words of a description that is a label.
const MOST_OF_LABEL: usize = 8;
