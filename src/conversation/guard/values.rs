//! Data in a text: numbers, times, dates, ids, addresses, in the forms in which they are compared.

use std::sync::LazyLock;

use regex::Regex;

use super::phrases::PHRASES;
use super::text_view::TextView;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ValueKind {
    Email,
    /// Seven digits and more, or letters and digits together.
    Id(String),
    /// Minutes since midnight; without morning or afternoon, both are meant.
    Time {
        minutes: u32,
        is_exact: bool,
    },
    Number(f64),
    /// A day or month by number, with its neighbours.
    Month(u64),
    Weekday(u64),
}

/// A value in a plain text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TextValue {
    pub(super) kind: ValueKind,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_word: bool,
}

static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?P<email> [a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,} )
        | (?P<stamp> (?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})t(?P<clock>[0-9]{2}:[0-9]{2})(?::[0-9]{2}(?:\.[0-9]+)?)?(?:z\b)? )
        | (?P<iso> [0-9]{4}-[0-9]{1,2}-[0-9]{1,2} | [0-9]{1,2}[./-][0-9]{1,2}[./-](?:[0-9]{4}|[0-9]{2}\b) | [0-9]{4}[./][0-9]{1,2}[./][0-9]{1,2} )
        | (?P<time> [0-9]{1,2}(?::[0-9]{2})?\ ?(?:a\.m\.|p\.m\.|am\b|pm\b) | [0-9]{1,2}:[0-9]{2} | [0-9]{1,2}(?:\.[0-9]{2})?\ ?uhr\b | [0-9]{1,2}\ ?h(?:[0-9]{2})?\b | [0-9]{1,2}\ ?[時时点點시](?:[0-9]{1,2}\ ?[分분])? )
        | (?P<telephone> \+?\(?[0-9][0-9\ ()./-]{6,}[0-9] )
        | (?P<id> [a-z]{1,6}[-_/]?[0-9][a-z0-9_/-]*[a-z0-9]|[0-9]+[a-z]+[0-9][a-z0-9-]*|[0-9]{2,}-[a-z]{2,}[a-z0-9-]*|[0-9]{1,}-[a-z0-9]+-[a-z0-9-]+ )
        | (?P<han> [一二三四五六七八九十百]+(?:个月|個月|个人|個人|か月|ヶ月|週間|岁|歳|人|位|名|天|晚|泊|号|日|月|年|周|点半|時) )
        | (?P<number> [0-9]+(?:[.,'\ ][0-9]{3})+(?:[.,][0-9]{1,2})?\b | [0-9]+(?:[.,][0-9]+)?k?\b | [0-9]+ )
        ",
    )
    .ok()
});

/// The data of a text; it is looked for once.
pub(super) fn values<'t>(text: &'t TextView<'_>) -> &'t [TextValue] {
    text.values()
}

/// Looks for the data of a text.
pub(super) fn find_values(text: &TextView<'_>) -> Vec<TextValue> {
    let plain = text.plain();
    let mut values = Vec::new();
    if let Some((pattern, (from, to))) = PATTERN.as_ref().zip(data(plain)) {
        for found in pattern.captures_iter(&plain[from..to]) {
            let Some(whole) = found.get(0) else { continue };
            let (start, end) = (from + whole.start(), from + whole.end());
            let mut push = |kind| values.push(TextValue { kind, start, end, is_word: false });
            let text = whole.as_str();
            if found.name("email").is_some() {
                push(ValueKind::Email);
            } else if let Some((day, clock)) = found.name("day").zip(found.name("clock")) {
                parts_of_date(day.as_str()).for_each(&mut push);
                time(clock.as_str()).into_iter().for_each(push);
            } else if found.name("iso").is_some() {
                parts_of_date(text).for_each(push);
            } else if found.name("time").is_some() {
                if let Some(kind) = time(text) {
                    push(kind);
                }
            } else if found.name("han").is_some() {
                if let Some(number) = han(text) {
                    push(ValueKind::Number(number));
                }
            } else if found.name("telephone").is_some() && digits(text).len() >= 7 {
                push(ValueKind::Id(digits(text)));
            } else if found.name("id").is_some() {
                push(ValueKind::Id(text.chars().filter(|c| c.is_ascii_alphanumeric()).collect()));
            } else if text.chars().all(|c| c.is_ascii_digit()) && text.len() >= 6 {
                push(ValueKind::Id(text.to_owned()));
            } else if found.name("telephone").is_some() {
                text.split(|c: char| !c.is_ascii_digit())
                    .filter_map(|part| part.parse().ok())
                    .for_each(|part: f64| push(ValueKind::Number(part)));
            } else if let Some(number) = number(text) {
                push(ValueKind::Number(number));
            }
        }
    }
    for (place, known) in text.known() {
        let word = &plain[place.start..place.end];
        let singular = word.strip_suffix('s');
        let is_date = known.is_some_and(|known| known.is_date);
        if known.is_none() && singular.is_none() {
            continue;
        }
        let mut push = |kind| values.push(TextValue { kind, start: place.start, end: place.end, is_word: true });
        if let Some(number) = text.number(word, known) {
            push(ValueKind::Number(number as f64));
        }
        if let Some(month) = PHRASES.months.get(word).filter(|_| is_date) {
            push(ValueKind::Month(*month));
        }
        if let Some(day) = PHRASES.weekdays.get(word).or_else(|| PHRASES.weekdays.get(singular?)) {
            push(ValueKind::Weekday(*day));
        }
    }
    values
}

/// Year, month and day of a date in figures, in whatever order.
fn parts_of_date(text: &str) -> impl Iterator<Item = ValueKind> {
    text.split(['-', '.', '/']).filter_map(|part| part.parse().ok()).map(ValueKind::Number)
}

/// The part of a plain text in which figures and addresses stand: from the first word that has one to two words after the last.
fn data(plain: &str) -> Option<(usize, usize)> {
    let is_data = |c: char| c.is_ascii_digit() || c == '@' || !c.is_ascii() && HAN.contains(c);
    let (first, last) = (plain.find(is_data)?, plain.rfind(is_data)?);
    let from = plain[..first].rfind(' ').map_or(0, |at| at + 1);
    let to = plain[last..].match_indices(' ').nth(2).map_or(plain.len(), |(at, _)| last + at);
    Some((from, to))
}

const HAN: &str = "一二三四五六七八九十百";

/// A number in Chinese characters at the beginning of a text, to 99. "One" is also an article.
fn han(text: &str) -> Option<f64> {
    let mut number = 0;
    for c in text.chars() {
        match HAN.chars().position(|it| it == c) {
            Some(9) => number = number.max(1) * 10,
            Some(10) => return None,
            Some(at) => number += at + 1,
            None => break,
        }
    }
    (number > 1).then_some(number as f64)
}

pub(super) fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

fn time(text: &str) -> Option<ValueKind> {
    let numbers: Vec<u32> = text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect();
    let (hours, minutes) = (*numbers.first()?, numbers.get(1).copied().unwrap_or_default());
    let is_afternoon = text.contains('p');
    let is_exact = is_afternoon || text.contains('a') || hours > 12;
    let hours = match (is_afternoon, hours) {
        (true, 1..=11) => hours + 12,
        (false, 12) if text.contains('a') => 0,
        _ => hours,
    };
    Some(ValueKind::Time { minutes: hours * 60 + minutes, is_exact })
}

/// A number with separators of thousands or a decimal point or comma.
fn number(text: &str) -> Option<f64> {
    let (text, factor) = text.strip_suffix('k').map_or((text, 1.0), |text| (text, 1000.0));
    let text: String = text.chars().filter(|c| !matches!(c, ' ' | '\'')).collect();
    let last = text.rfind(['.', ',']);
    let number = match last {
        Some(at) if text.len() - at == 4 => text.replace(['.', ','], "").parse(),
        Some(at) => format!("{}.{}", text[..at].replace(['.', ','], ""), &text[at + 1..]).parse(),
        None => text.parse(),
    };
    number.ok().map(|number: f64| number * factor)
}
