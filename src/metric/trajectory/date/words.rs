//! The words and numbers of a date.

pub(super) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
pub(super) const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
pub(super) const BETWEEN: [&str; 17] =
    [" ", ".", ",", ";", "-", "/", "'", "at", "on", "and", "ad", "m", "t", "of", "st", "nd", "rd"];

/// Runs of letters, numbers with their decimals, and single other characters.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let mut found: Vec<String> = Vec::new();
    let mut at = 0;
    while at < characters.len() {
        let start = at;
        let first = characters[at];
        at += 1;
        if first.is_alphabetic() {
            at += characters[at..].iter().take_while(|c| c.is_alphabetic()).count();
        } else if first.is_ascii_digit() {
            let digits = |from: usize| characters[from..].iter().take_while(|c| c.is_ascii_digit()).count();
            at += digits(at);
            // One point or comma with digits behind it is a decimal, more of them are a date.
            let is_point = |at: usize| {
                characters.get(at).is_some_and(|c| *c == '.' || (*c == ',' && at - start >= 2))
                    && characters.get(at + 1).is_some_and(char::is_ascii_digit)
            };
            let end = at + 1 + characters.get(at + 1..).map_or(0, |_| digits(at + 1));
            let is_date = found.last().is_some_and(|token| token == ".") || characters.get(end) == Some(&'.');
            if is_point(at) && !is_date {
                at = end;
            }
        }
        let token: String = characters[start..at].iter().collect();
        found.push(if first.is_whitespace() {
            " ".to_owned()
        } else {
            token.replacen(',', if at - start > 1 { "." } else { "," }, 1)
        });
    }
    found
}

pub(super) fn index_of(names: &[&str], token: &str) -> Option<u32> {
    let is_name = |name: &&str| token == *name || token == &name[..3] || (*name == "september" && token == "sept");
    names.iter().position(is_name).map(|at| at as u32)
}

pub(super) fn month(token: &str) -> Option<u32> {
    index_of(&MONTHS, token).map(|at| at + 1)
}

pub(super) fn unit(token: &str) -> Option<usize> {
    let units = [["h", "hour", "hours"], ["m", "minute", "minutes"], ["s", "second", "seconds"]];
    units.iter().position(|names| names.contains(&token))
}

pub(super) fn afternoon(token: &str) -> Option<bool> {
    match token {
        "am" | "a" => Some(false),
        "pm" | "p" => Some(true),
        _ => None,
    }
}

pub(super) fn is_between(token: &str) -> bool {
    BETWEEN.contains(&token) || token == "th"
}

pub(super) fn is_digits(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit())
}

pub(super) fn half(hour: u32, is_afternoon: bool) -> u32 {
    match (hour, is_afternoon) {
        (12, false) => 0,
        (hour, true) if hour < 12 => hour + 12,
        (hour, _) => hour,
    }
}
