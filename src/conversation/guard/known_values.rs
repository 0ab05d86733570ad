//! The values that a user can know: those of tasks, facts, instructions and conversation, and what follows from them.

use super::derived::follows;
use super::invented_fact::{is_date, is_year, number_of, passes_over_figure, sources};
use super::ordinals::has_ordinal;
use super::passed_over::{composed, is_spelled_out};
use super::scene::Scene;
use super::text_view::TextView;
use super::values::{TextValue, ValueKind, digits, values};

/// The values of tasks, facts and conversation.
pub(super) struct KnownValues {
    values: Vec<ValueKind>,
    numbers: Vec<f64>,
    digits: String,
}

impl KnownValues {
    pub(super) fn new(scene: &Scene<'_>) -> KnownValues {
        let known: Vec<ValueKind> = sources(scene).flat_map(values).map(|value| value.kind.clone()).collect();
        let mut numbers: Vec<f64> = Vec::new();
        for value in &known {
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
        numbers.extend(sources(scene).flat_map(|text| composed(values(text))));
        // Parts of ids and of phone numbers, also as they are grouped.
        let digits = sources(scene).map(|text| [text.digits(), " "].concat()).collect();
        KnownValues { values: known, numbers, digits }
    }

    /// Whether the turn spells a known id character by character.
    fn is_spelled(&self, turn: &TextView<'_>) -> bool {
        self.values.iter().any(|known| matches!(known, ValueKind::Id(id) if id.len() >= 4 && is_spelled_out(turn, id)))
    }

    /// Whether a task or a fact speaks of somebody who comes along.
    fn has_company(&self, scene: &Scene<'_>) -> bool {
        scene.tasks.iter().chain(scene.facts).any(|text| text.words().any(|word| COMPANY.contains(&word)))
    }

    pub(super) fn has(&self, scene: &Scene<'_>, turn: &TextView<'_>, value: &TextValue) -> bool {
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
                    let named: Vec<f64> =
                        values(turn).iter().filter_map(number_of).filter(|other| !near(*other)).collect();
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
                // The year of "12.6.57".
                let is_short_year = || {
                    let is_it = |known: &f64| (1900.0..2100.0).contains(known) && near(known % 100.0);
                    is_date(text) && self.numbers.iter().any(is_it)
                };
                self.numbers.iter().any(|known| near(*known))
                    || is_short_year()
                    || is_one_more()
                    || text.len() == 1 && self.is_spelled(turn)
                    || digits(text).len() >= 3 && self.digits.contains(&digits(text))
                    || text_is_said()
                    || follows()
                    || sources(scene).any(|source| has_ordinal(source, *number))
            }
            ValueKind::Month(month) => self.values.contains(&value.kind) || is_in_date(scene, *month as f64),
            ValueKind::Weekday(_) => {
                self.values.contains(&value.kind)
                    || self.values.iter().any(|known| matches!(known, ValueKind::Month(_)))
            }
        }
    }
}

/// Whether a number is a part of a date in figures.
fn is_in_date(scene: &Scene<'_>, number: f64) -> bool {
    sources(scene).any(|text| {
        let is_of_date = |it: &TextValue| is_date(&text.plain()[it.start..it.end]);
        values(text).iter().any(|it| number_of(it) == Some(number) && is_of_date(it))
    })
}

/// Words for those who come along with the user.
const COMPANY: [&str; 38] = [
    "flatmates",
    "roommates",
    "housemates",
    "mitbewohner",
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
