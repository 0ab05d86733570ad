//! Data of the user's own that stand nowhere.

use super::asked_surely::was_value_given;
use super::counted::{COUNTED, counts_party, is_bare_count};
use super::fact_asked::subject;
use super::fact_leak::is_point;
use super::known_values::KnownValues;
use super::open_word::is_open;
use super::passed_over::{passed_over, tells};
use super::phrases::{List, PHRASES};
use super::scene::Scene;
use super::text_view::TextView;
use super::values::{TextValue, ValueKind, digits, values};
use super::wanted_answer::COUNTS;
use super::{Fault, fault, invented_name};
use crate::text::is_of_word;

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    let turn = scene.text();
    let what = match invented(scene)? {
        Invented::Value(place) => {
            let value = &values(turn)[*place];
            turn.plain()[value.start..value.end].trim().to_owned()
        }
        Invented::Name(name) => name.clone(),
    };
    fault("it states something that stands in no task, fact or message; say that you don't know it", what)
}

/// What a turn states that stands nowhere.
pub(super) enum Invented {
    /// The place of a figure, date, id or address among the turn's values.
    Value(usize),
    /// A name.
    Name(String),
}

/// The first thing that the turn states and that stands nowhere; it is looked for once.
pub(super) fn invented<'s>(scene: &'s Scene<'_>) -> Option<&'s Invented> {
    scene.invented.get_or_init(|| find_invented(scene)).as_ref()
}

fn find_invented(scene: &Scene<'_>) -> Option<Invented> {
    let turn = scene.text();
    let known: std::cell::LazyCell<KnownValues, _> = std::cell::LazyCell::new(|| KnownValues::new(scene));
    let is_invented = |value: &TextValue| is_stated(scene, value) && !known.has(scene, turn, value);
    let place = values(turn).iter().position(is_invented);
    place.map(Invented::Value).or_else(|| invented_name::name(scene).map(Invented::Name))
}

pub(super) fn sources<'s>(scene: &'s Scene<'_>) -> impl Iterator<Item = &'s TextView<'s>> {
    scene.tasks.iter().chain(scene.facts).chain(scene.background).chain(scene.messages.iter().map(|(_, text)| text))
}

pub(super) fn number_of(value: &TextValue) -> Option<f64> {
    if let ValueKind::Number(number) = value.kind { Some(number) } else { None }
}

/// Whether the assistant asks for a fact with a figure, and the turn has another one instead.
pub(super) fn passes_over_figure(scene: &Scene<'_>) -> bool {
    let is_other = [List::Unknown, List::Unwilling].into_iter().any(|list| scene.text().has(list));
    let has_figure =
        |fact: &TextView<'_>| values(fact).iter().any(|it| matches!(it.kind, ValueKind::Number(_) | ValueKind::Id(_)));
    let is_asked_by_word = || {
        let question = scene.last_agent().and_then(|agent| agent.question()).filter(|question| is_open(question));
        let asks = |fact: &TextView<'_>| {
            subject(fact).any(|word| !is_point(fact, &word) && question.is_some_and(|question| question.says(&word)))
        };
        let is_kept = |fact: &&TextView<'_>| {
            has_figure(fact) && !was_value_given(scene, fact) && !tells(scene, scene.text(), fact)
        };
        scene.input.has_facts && scene.facts.iter().filter(is_kept).any(asks)
    };
    !is_other && (passed_over(scene).is_some_and(has_figure) || is_asked_by_word())
}

/// Whether somebody who knows no facts answers how many there are, or when, in a few words.
fn is_number_asked(scene: &Scene<'_>) -> bool {
    let turn = scene.text();
    let asks =
        || scene.last_agent().and_then(|agent| agent.question()).is_some_and(|it| PHRASES.wants(it) & COUNTS != 0);
    !scene.input.has_facts && turn.places().len() <= MOST_OF_COUNT && !turn.asks() && asks()
}

/// The most words of such an answer.
const MOST_OF_COUNT: usize = 8;

/// The most words of a turn that is hardly more than a figure.
const MOST_OF_FIGURE: usize = 3;

/// Whether a number is the year of a date: no year comes from others by reckoning, nor by rounding.
pub(super) fn is_year(turn: &TextView<'_>, value: &TextValue) -> bool {
    let ValueKind::Number(number) = value.kind else { return false };
    let plain = turn.plain();
    let previous =
        plain[..value.start].split(|c: char| !is_of_word(c)).rfind(|word| !word.is_empty()).unwrap_or_default();
    (1900.0..2100.0).contains(&number)
        && number.fract() == 0.0
        && (is_date(&plain[value.start..value.end])
            || PHRASES.months.contains_key(previous)
            || BEFORE_YEAR.contains(&previous))
}

/// Whether a value was written as a date in figures.
pub(super) fn is_date(text: &str) -> bool {
    text.contains(['-', '/', '.', '月'])
}

/// Words before a year.
const BEFORE_YEAR: [&str; 20] = [
    "in", "since", "year", "born", "seit", "jahr", "jahre", "en", "depuis", "annee", "desde", "dal", "nel", "em",
    "sinds", "w", "roku", "od", "ano", "с",
];

/// Whether a value is said to be so, of the user's own: not asked, and no number of everyday talk.
fn is_stated(scene: &Scene<'_>, value: &TextValue) -> bool {
    let turn = scene.text();
    let plain = turn.plain();
    let sentence = turn.sentence(value.start);
    let is_own = PHRASES.has_first_person(sentence);
    if turn.is_quoted(value.start) || (sentence.ends_with(['?', '？', '؟']) && !is_own) {
        return false;
    }
    let after = plain[value.end..].trim_start_matches(['-', ' ']);
    let next: &str = after.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let before = plain[..value.start].trim_end();
    let previous = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let is_beside_digit =
        next.starts_with(|c: char| c.is_ascii_digit()) || previous.starts_with(|c: char| c.is_ascii_digit());
    let is_month = |word: &str| PHRASES.months.contains_key(word);
    let is_beside_month = is_month(month_behind(after)) || is_month(previous);
    let is_data = match &value.kind {
        ValueKind::Email | ValueKind::Time { .. } => true,
        ValueKind::Id(id) => {
            let is_ordinal = [
                "st", "nd", "rd", "th", "x", "d", "er", "e", "eme", "min", "h", "kg", "km", "cm", "g", "gb", "mm", "m",
                "mb", "l",
            ]
            .iter()
            .any(|end| id.strip_suffix(end).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit())));
            // One digit is enough among capitals: "ZK4TTR".
            let is_code = || id.len() >= 5 && turn.raw.contains(&plain[value.start..value.end].to_uppercase());
            id.len() >= 4
                && (digits(id).len() >= 2 || is_code())
                && !is_ordinal
                && !id.starts_with("covid")
                && !id.starts_with("http")
        }
        ValueKind::Month(_) => {
            value.end - value.start >= 5
                && !matches!(&plain[value.start..value.end], "march" | "marca" | "mayis" | "marzo")
                || is_beside_digit
        }
        ValueKind::Weekday(_) => value.end - value.start >= 5,
        ValueKind::Number(number) if value.is_word => {
            *number >= 2.0
                && (COUNTED.contains(&next) && !after.starts_with("of them")
                    || counts_party(before, &plain[value.start..value.end], next)
                    || is_bare_count(scene, &plain[value.start..value.end])
                    || turn.places().len() <= MOST_OF_FIGURE && passes_over_figure(scene)
                    || is_number_asked(scene))
        }
        ValueKind::Number(number) => {
            let is_ordinal = ["st", "nd", "rd", "th", "º", "ª"].iter().any(|end| plain[value.end..].starts_with(end));
            let is_last = plain[value.end..].chars().nth(2).is_none_or(|c| !is_of_word(c) && c != ' ' && c != '-');
            let is_plain = !is_ordinal || is_beside_month || is_last && *number > 3.0;
            let is_everyday = *number <= 1.0
                || before.ends_with('<')
                || *number == 100.0 && plain[value.end..].trim_start().starts_with('%')
                || *number == 24.0 && plain[value.end..].starts_with('/')
                || *number == 7.0 && before.ends_with("24/")
                || [
                    "minutes",
                    "minute",
                    "min",
                    "mins",
                    "seconds",
                    "sec",
                    "stars",
                    "star",
                    "minuten",
                    "minuti",
                    "minutos",
                    "minut",
                    "минут",
                    "минуты",
                    "dakika",
                    "d",
                    "x",
                    "分钟",
                    "分",
                ]
                .contains(&next)
                || *number < 10.0
                    && [
                        "option",
                        "number",
                        "step",
                        "question",
                        "point",
                        "no",
                        "nr",
                        "opcion",
                        "nummer",
                        "punkt",
                        "frage",
                        "top",
                        "opcao",
                        "opzione",
                        "вариант",
                        "part",
                        "line",
                        "turn",
                        "message",
                        "runde",
                        "nachricht",
                        "tour",
                        "turno",
                        "mensaje",
                        "task",
                        "passo",
                        "paso",
                        "etape",
                        "schritt",
                        "stap",
                        "krok",
                        "шаг",
                        "adim",
                    ]
                    .contains(&previous)
                || *number < 10.0 && plain[value.end..].starts_with([')', ':']) && before.is_empty();
            let is_instead = || {
                turn.places().len() <= MOST_OF_FIGURE && passes_over_figure(scene)
                    || *number > 1.0 && is_number_asked(scene)
            };
            is_plain && (!is_everyday || is_instead())
        }
    };
    is_data && !speaks_of_agent(sentence, is_own)
}

/// The word of a date that may be its month, behind its day: "of" and the ending of the day are passed over.
fn month_behind(rest: &str) -> &str {
    let between = ["st", "nd", "rd", "th", "er", "of", "de", "di", "do"];
    let mut words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.find(|word| !between.contains(word)).unwrap_or_default()
}

/// Whether a sentence is about what the agent or its side said.
fn speaks_of_agent(sentence: &str, is_own: bool) -> bool {
    !is_own
        && ["your website", "you said", "the website", "your site", "the ad "]
            .iter()
            .any(|part| sentence.contains(part))
}
