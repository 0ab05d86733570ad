//! Data of the user's own that stand nowhere.

use super::counted::{COUNTED, counts_party, is_bare_count};
use super::derived::follows;
use super::passed_over::passed_over;
use super::phrases::{List, PHRASES};
use super::scene::Scene;
use super::text_view::TextView;
use super::values::{TextValue, ValueKind, digits, values};
use super::{Fault, fault, invented_name};
use crate::text::is_of_word;

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    let turn = scene.text();
    let stated: Vec<&TextValue> = values(turn).iter().filter(|value| is_stated(scene, value)).collect();
    let known: std::cell::LazyCell<KnownValues, _> = std::cell::LazyCell::new(|| KnownValues::new(scene));
    let invented = stated.iter().find(|value| !known.has(scene, turn, value));
    let what = match invented {
        Some(value) => turn.plain()[value.start..value.end].trim().to_owned(),
        None => invented_name::name(scene)?,
    };
    fault("it states something that stands in no task, fact or message; say that you don't know it", what)
}

pub(super) fn sources<'s>(scene: &'s Scene<'_>) -> impl Iterator<Item = &'s TextView<'s>> {
    scene.tasks.iter().chain(scene.facts).chain(scene.background).chain(scene.messages.iter().map(|(_, text)| text))
}

/// The values of tasks, facts and conversation.
struct KnownValues {
    values: Vec<ValueKind>,
    numbers: Vec<f64>,
    digits: String,
}

impl KnownValues {
    fn new(scene: &Scene<'_>) -> KnownValues {
        let values: Vec<ValueKind> = sources(scene).flat_map(values).map(|value| value.kind.clone()).collect();
        let mut numbers: Vec<f64> = Vec::new();
        for value in &values {
            match value {
                ValueKind::Number(number) => numbers.push(*number),
                ValueKind::Time { minutes, .. } => numbers.extend([
                    f64::from(minutes / 60),
                    f64::from((minutes / 60 + 12) % 24),
                    f64::from(minutes % 60),
                    f64::from((minutes / 60 + 11) % 24 + 1),
                ]),
                ValueKind::Month(month) => numbers.push(*month as f64),
                _ => {}
            }
        }
        // Of "a day later" one is a number that nobody says.
        if scene.tasks.iter().chain(scene.facts).any(|text| text.words().any(|word| RELATIVE.contains(&word))) {
            numbers.extend([1.0, 7.0]);
        }
        // Parts of ids and of phone numbers, also as they are grouped.
        let digits = sources(scene).map(|text| [text.digits(), " "].concat()).collect();
        KnownValues { values, numbers, digits }
    }

    /// Whether the turn spells a known id character by character.
    fn is_spelled(&self, turn: &TextView<'_>) -> bool {
        let turn: String = turn.plain().chars().filter(char::is_ascii_alphanumeric).collect();
        self.values
            .iter()
            .any(|known| matches!(known, ValueKind::Id(id) if id.len() >= 4 && turn.contains(id.as_str())))
    }

    /// Whether a task or a fact speaks of somebody who comes along.
    fn has_company(&self, scene: &Scene<'_>) -> bool {
        scene.tasks.iter().chain(scene.facts).any(|text| text.words().any(|word| COMPANY.contains(&word)))
    }

    fn has(&self, scene: &Scene<'_>, turn: &TextView<'_>, value: &TextValue) -> bool {
        let text = &turn.plain()[value.start..value.end];
        match &value.kind {
            ValueKind::Email => sources(scene).any(|source| source.plain().contains(text)),
            ValueKind::Id(id) => {
                let squeezed =
                    |source: &TextView<'_>| source.plain().chars().filter(|c| c.is_alphanumeric()).collect::<String>();
                let number = digits(id);
                id.len() > 3
                    && number.len() == id.len()
                    && self.digits.contains(number.trim_start_matches("00").trim_start_matches('0'))
                    || sources(scene).any(|source| squeezed(source).contains(id.as_str()))
            }
            ValueKind::Time { minutes, is_exact } => {
                let is_same = |known: &ValueKind| match known {
                    ValueKind::Time { minutes: other, is_exact: other_is } => {
                        minutes == other
                            || !(*is_exact && *other_is) && (minutes + 720) % 1440 == other % 1440
                            || !other_is && (other + 720) % 1440 == *minutes
                    }
                    ValueKind::Number(number) => {
                        minutes % 60 == 0 && (*number as u32 == minutes / 60 || *number as u32 + 12 == minutes / 60)
                    }
                    _ => false,
                };
                self.values.iter().any(is_same)
            }
            ValueKind::Number(number) => {
                let near = |other: f64| (other - number).abs() < 0.005;
                let follows = || {
                    let named: Vec<f64> = values(turn)
                        .iter()
                        .filter_map(|it| if let ValueKind::Number(other) = it.kind { Some(other) } else { None })
                        .filter(|other| !near(*other))
                        .collect();
                    // What comes from a known number, where nothing was asked or the turn names that number.
                    let is_free = !scene.agent_asks() || named.iter().any(|other| self.numbers.contains(other));
                    !passes_over_figure(scene) && follows(*number, &self.numbers, &named, is_free)
                };
                let text_is_said =
                    || text.len() >= 2 && !value.is_word && sources(scene).any(|source| source.plain().contains(text));
                if is_year(turn, value) {
                    return self.numbers.iter().any(|known| near(*known));
                }
                // The user and seven friends are eight.
                let is_one_more =
                    || value.is_word && self.has_company(scene) && self.numbers.iter().any(|known| near(known + 1.0));
                self.numbers.iter().any(|known| near(*known))
                    || is_one_more()
                    || text.len() == 1 && self.is_spelled(turn)
                    || digits(text).len() >= 3 && self.digits.contains(&digits(text))
                    || text_is_said()
                    || follows()
            }
            ValueKind::Month(month) => {
                self.values.iter().any(|known| known == &value.kind || *known == ValueKind::Number(*month as f64))
            }
            ValueKind::Weekday(_) => {
                self.values.contains(&value.kind)
                    || self.values.iter().any(|known| matches!(known, ValueKind::Month(_)))
            }
        }
    }
}

/// Whether the assistant asks for a fact with a figure, and the turn has another one instead.
fn passes_over_figure(scene: &Scene<'_>) -> bool {
    let is_other = [List::Unknown, List::Unwilling].into_iter().any(|list| scene.text().has(list));
    !is_other
        && passed_over(scene).is_some_and(|fact| {
            values(fact).iter().any(|it| matches!(it.kind, ValueKind::Number(_) | ValueKind::Id(_)))
        })
}

/// The most words of a turn that is hardly more than a figure.
const MOST_OF_FIGURE: usize = 3;

/// Whether a number is the year of a date: no year comes from others by reckoning, nor by rounding.
fn is_year(turn: &TextView<'_>, value: &TextValue) -> bool {
    let ValueKind::Number(number) = value.kind else { return false };
    let plain = turn.plain();
    let previous =
        plain[..value.start].split(|c: char| !is_of_word(c)).rfind(|word| !word.is_empty()).unwrap_or_default();
    let is_date = || plain[value.start..value.end].contains(['-', '/', '.']);
    (1900.0..2100.0).contains(&number)
        && number.fract() == 0.0
        && (is_date() || PHRASES.months.contains_key(previous) || BEFORE_YEAR.contains(&previous))
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
    let is_beside_month = PHRASES.months.contains_key(next) || PHRASES.months.contains_key(previous);
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
                    || turn.places().len() <= MOST_OF_FIGURE && passes_over_figure(scene))
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
            is_plain && !is_everyday
        }
    };
    is_data && !speaks_of_agent(sentence, is_own)
}

/// Whether a sentence is about what the agent or its side said.
fn speaks_of_agent(sentence: &str, is_own: bool) -> bool {
    !is_own
        && ["your website", "you said", "the website", "your site", "the ad "]
            .iter()
            .any(|part| sentence.contains(part))
}

/// Words for those who come along with the user.
const COMPANY: [&str; 34] = [
    "friends",
    "friend",
    "colleagues",
    "others",
    "guests",
    "children",
    "kids",
    "family",
    "relatives",
    "freunde",
    "freunden",
    "kollegen",
    "gaste",
    "kinder",
    "kindern",
    "amis",
    "amies",
    "collegues",
    "enfants",
    "amigos",
    "amigas",
    "companeros",
    "hijos",
    "amici",
    "colleghi",
    "figli",
    "filhos",
    "colegas",
    "vrienden",
    "kinderen",
    "przyjaciol",
    "dzieci",
    "друзей",
    "детей",
];

/// Words of a task or a fact that tells a day or a number by another one.
const RELATIVE: [&str; 30] = [
    "later",
    "earlier",
    "sooner",
    "before",
    "following",
    "previous",
    "additional",
    "extra",
    "another",
    "more",
    "fewer",
    "less",
    "spater",
    "fruher",
    "davor",
    "danach",
    "weitere",
    "weiteren",
    "plus",
    "tot",
    "tard",
    "mas",
    "despues",
    "antes",
    "dopo",
    "prima",
    "depois",
    "later",
    "eerder",
    "pozniej",
];
