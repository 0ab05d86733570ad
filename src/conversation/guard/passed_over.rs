//! A fact that the turn passes over: the agent asks for it, and the turn has nothing of it, but another thing, or nothing at all.

use std::sync::LazyLock;

use super::asked_kind::{asked_kind, asks_for_more};
use super::asked_surely::{AND, wanted, was_value_given};
use super::awaited::repeats_itself;
use super::fact_leak::{is_point, value};
use super::fact_uses::OR;
use super::invented_fact::number_of;
use super::open_word::{REQUESTS, asks_whether_known, is_open};
use super::phrases::{List, PHRASES, Words, word_set};
use super::scene::Scene;
use super::shape::{KINDS, by_shape};
use super::tasks_raised::{distinctive_words, matched};
use super::text_view::{Content, TextView};
use super::values::{TextValue, ValueKind, values};
use super::wanted_answer::{Asked, COUNTS, is_wanted, wanted_answer};
use super::withheld_fact::looks;
use super::words::plain;

/// The most words of a turn that passes over a question.
const MOST_OF_EVASION: usize = 24;

/// Words of somebody who will tell it afterwards.
static FIRST: LazyLock<Words> = LazyLock::new(|| {
    word_set(
        "\
         first before zuerst vorher bevor erst vorab avant abord antes primero prima primeiro eerst voordat \
         najpierw zanim сначала прежде спочатку once först",
    )
});

/// The fact that the turn passes over: it says something else, asks for the next task, or leaves. Who asks back, objects or looks for
/// it passes nothing over.
pub(super) fn passed_over<'t>(scene: &Scene<'t>) -> Option<&'t TextView<'t>> {
    scene.once(&scene.passed_over, || find_passed_over(scene))
}

fn find_passed_over<'t>(scene: &Scene<'t>) -> Option<&'t TextView<'t>> {
    let turn = scene.text();
    let agent = scene.last_agent().filter(|agent| agent.asks() || agent.has(List::Awaits))?;
    scene.users().next()?;
    let question = agent.question()?;
    let is_open = [List::OpenQuestion, List::Confirms, List::AnythingElse, List::Details, List::WhatIsWrong];
    let is_other = [List::Objection, List::AskAgain];
    if turn.places().len() > MOST_OF_EVASION
        || is_open.into_iter().any(|list| question.has(list))
        || is_other.into_iter().any(|list| turn.has(list))
        || agent.has(List::AskAgain)
        || looks(turn)
        || !leaves(scene) && turn.words().any(|word| FIRST.contains(word))
        || asks_back(turn) && !asks_for_next_task(scene)
        || !turn.asks() && !has_point(turn) && !asks_openly(agent) && is_answer(turn)
        || turn.has(List::Goodbye) && !leaves(scene)
        || leaves(scene) && repeats_itself(scene, agent)
    {
        return None;
    }
    let is_kind = |fact: &TextView<'_>| question.kinds() & (fact.kinds() | by_shape(fact)) & KINDS.exact != 0;
    let fact = asked_kind(scene)
        .or_else(|| wanted(scene).filter(|fact| (asks_to_tell(question) || is_kind(fact)) && !was_told(scene, fact)))
        .or_else(|| {
            let least = if asks_back(turn) || leaves(scene) { Asked::Alike } else { Asked::Typed };
            let is_counted = PHRASES.wants(question) & COUNTS != 0 && counts(scene);
            wanted_answer(scene, least).filter(|_| asks_to_tell(question) && !is_counted)
        })?;
    // Of two things that are asked for it may be the other one that the user does not know.
    if turn.has(List::Unknown) && question.words().skip(1).any(|word| AND.contains(&word)) {
        return None;
    }
    // A fact that was told before is no answer, unless it is asked for again.
    let is_answer = |fact: &&TextView<'_>| !was_value_given(scene, fact) || is_wanted(scene, fact);
    let is_given = scene.facts.iter().filter(is_answer).any(|fact| tells(scene, turn, fact));
    (!is_given && is_definite(scene, fact)).then_some(fact)
}

/// Whether the turn has a figure that nobody said, or speaks of times and numbers: it may be what was asked, in other words.
fn counts(scene: &Scene<'_>) -> bool {
    let turn = scene.text();
    turn.words().any(|word| UNITS.contains(word))
        || turn.content().any(|word| (word.has_digit() || word.is_number()) && !scene.is_known(&word))
}

/// Words with which times and numbers are told without a figure.
static UNITS: LazyLock<Words> = LazyLock::new(|| {
    word_set(
        "hour hours minute minutes week weeks month months year years dozen half couple pair noon midnight stunde stunden \
         minuten woche wochen monat monate jahr jahre dutzend halb paar mittag heure heures semaine mois ans douzaine \
         moitie midi hora horas semana semanas mes meses anos docena media mediodia ora ore settimana mesi anni dozzina \
         mezza mezzogiorno uur weken maanden jaar dozijn godzine tydzien miesiac lat tuzin час часа часов неделя месяц года \
         лет дюжина timmar vecka manad saat hafta ay yil",
    )
});

/// Whether a turn ends with a question. Who says something behind one awaits no answer: "Can't you see that? Just cancel it."
pub(super) fn asks_back(turn: &TextView<'_>) -> bool {
    let end = turn.plain().char_indices().rfind(|(_, c)| c.is_alphanumeric());
    turn.asks() && end.is_some_and(|(at, _)| TextView::new(turn.sentence(at)).asks())
}

/// Whether a message asks for more than yes or no.
fn asks_openly(agent: &TextView<'_>) -> bool {
    let is_for_kind = |question: &TextView<'_>| question.kinds() & KINDS.exact != 0 && asks_to_tell(question);
    agent.question().is_some_and(|it| is_open(it) || asks_whether_known(it) || is_for_kind(it))
}

/// Whether a message asks to be told something, and nothing more of that kind.
pub(super) fn asks_to_tell(question: &TextView<'_>) -> bool {
    let polite = || question.hits_in(List::Polite).map(|hit| question.plain()[hit.start..hit.end].split(' ').count());
    let is_elliptic = || question.places().len() <= MOST_OF_ELLIPTIC + polite().sum::<usize>();
    let requests = || {
        let mut words = question.words();
        let (first, second) = (words.next(), words.next());
        let asks = |word: &str| REQUESTS.contains(&word) && (!OF_YOU.contains(&word) || second.is_some_and(is_you));
        first.is_some_and(asks) || second.is_some_and(|word| REQUESTS.contains(&word) && word != "your")
    };
    let chooses = || question.words().any(|word| OR.contains(&word));
    (is_open(question) || asks_whether_known(question) || is_elliptic() || requests() || chooses())
        && !asks_for_more(question)
}

/// Those that request something of the one whom the next word means: "Would you tell me", "May I have".
const OF_YOU: [&str; 6] = ["would", "will", "can", "could", "may", "might"];

fn is_you(word: &str) -> bool {
    matches!(word, "you" | "i" | "we" | "u")
}

/// The most words of a question that is hardly more than what it asks for: "And your customer number?"
const MOST_OF_ELLIPTIC: usize = 4;

/// Whether a user has said a word of what a fact says that no task has.
pub(super) fn was_told(scene: &Scene<'_>, fact: &TextView<'_>) -> bool {
    let is_own = |word: &&Content<'_>| !scene.tasks.iter().any(|task| task.says(word));
    value(fact).iter().filter(is_own).any(|word| scene.users().any(|user| user.says(word)))
}

/// Whether a fact can be told in no other words: it has a figure or a name, or is in the language of the conversation.
fn is_definite(scene: &Scene<'_>, fact: &TextView<'_>) -> bool {
    let has_point = fact.content().any(|word| is_point(fact, &word));
    let is_same = || {
        scene.last_agent().is_some_and(|agent| {
            agent.script() == fact.script()
                && agent.language().zip(fact.language()).is_none_or(|(one, other)| one == other)
        })
    };
    has_point || is_same()
}

/// Whether a turn is hardly more than yes or no.
fn is_answer(turn: &TextView<'_>) -> bool {
    turn.has(List::Answer) && turn.outside(&[List::Answer, List::Polite]).0 < LEAST_BESIDE_ANSWER
}

/// The fewest letters beside yes or no that say something else.
const LEAST_BESIDE_ANSWER: usize = 8;

fn leaves(scene: &Scene<'_>) -> bool {
    scene.turn.signs_off || scene.text().outside(&[List::Goodbye, List::Polite]).0 <= MOST_BESIDE_GOODBYE
}

/// The most letters beside a goodbye that tell nothing.
const MOST_BESIDE_GOODBYE: usize = 20;

/// Whether the turn asks for a task of which no message of the user has a word.
fn asks_for_next_task(scene: &Scene<'_>) -> bool {
    (0..scene.tasks.len()).any(|at| {
        let words = distinctive_words(scene, at);
        matched(scene.text(), &words).0 > 0 && !scene.users().any(|text| matched(text, &words).0 > 0)
    })
}

/// Whether the turn may say a figure, an address or a name: a word with a capital that is in no list of words.
fn has_point(turn: &TextView<'_>) -> bool {
    let mut words = turn.raw.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    turn.raw.contains(|c: char| c.is_numeric() || c == '@')
        || turn.content().any(|word| word.is_number())
        || words.any(|word| word.starts_with(char::is_uppercase) && !PHRASES.words.contains_key(plain(word).as_str()))
}

/// Whether the turn has a figure of what a fact says, however it is written, or a letter that stands for it.
pub(super) fn tells_value(turn: &TextView<'_>, fact: &TextView<'_>) -> bool {
    let (of_turn, of_fact) = (values(turn), values(fact));
    // "Un" is hardly ever the number.
    let is_figure = |it: &&TextValue| !it.is_word || number_of(it).is_none_or(|number| number > 1.0);
    let in_words: Vec<f64> = of_turn.iter().filter(|it| it.is_word).filter_map(number_of).collect();
    let sum = TextValue { kind: ValueKind::Number(in_words.iter().sum()), start: 0, end: 0, is_word: true };
    let has = |one: &TextValue| of_fact.iter().filter(is_figure).any(|other| is_same(one, other));
    let same = of_turn.iter().chain((in_words.len() > 1).then_some(&sum)).filter(|it| has(it)).count();
    let digits = fact.digits();
    // "Four four seven one", "six fifty" and "Q as in Quebec, K, 7".
    let spelled: String = in_words.iter().map(f64::to_string).collect();
    let is_id = |value: &TextValue| matches!(&value.kind, ValueKind::Id(id) if is_spelled_out(turn, id));
    let is_spelled = spelled.len() >= 3 && digits.contains(&spelled)
        || of_fact.iter().any(is_id)
        || composes(of_turn, of_fact)
        || composes(of_fact, of_turn);
    let is_long = || turn.digits().contains(digits) || has_hundreds(turn) || han_digits(turn.plain()).contains(digits);
    same > 0
        || is_spelled
        || digits.len() >= 3 && is_long()
        || letters(fact).any(|letter| turn.words().any(|word| word == letter))
}

/// Whether the turn has a word or a figure of what a fact says, in whatever form. What the agent's open question has as well, and is no
/// figure or name, tells nothing; nor does a word beside another figure.
pub(super) fn tells(scene: &Scene<'_>, turn: &TextView<'_>, fact: &TextView<'_>) -> bool {
    if tells_value(turn, fact) {
        return true;
    }
    let digits = fact.digits();
    let has_other_figure = !digits.is_empty() && !turn.digits().is_empty() && !turn.digits().contains(digits);
    let is_open =
        scene.last_agent().is_some_and(|agent| asks_openly(agent) && !agent.words().any(|word| OR.contains(&word)));
    let is_asked = |word: &Content<'_>| {
        is_open && !is_point(fact, word) && scene.last_agent().is_some_and(|agent| agent.says(word))
    };
    !has_other_figure && value(fact).iter().any(|word| turn.says(word) && !is_asked(word))
}

/// The digits of a text that are written in Chinese: "三三九零".
fn han_digits(plain: &str) -> String {
    const DIGITS: &str = "零一二三四五六七八九";
    let digit = |c: char| DIGITS.chars().position(|it| it == if c == '〇' { '零' } else { c });
    plain.chars().filter_map(digit).filter_map(|digit| char::from_digit(digit as u32, 10)).collect()
}

/// The capitals that stand alone in a fact: "zone C".
fn letters(fact: &TextView<'_>) -> impl Iterator<Item = String> {
    let words = fact.raw.split_whitespace().skip(1).map(|word| word.trim_end_matches(['.', ',']));
    words.filter(|word| word.len() == 1 && word.starts_with(char::is_uppercase)).map(str::to_lowercase)
}

/// Whether a number of one text is written in two words in the other.
fn composes(one: &[TextValue], other: &[TextValue]) -> bool {
    composed(one).into_iter().any(|sum| other.iter().any(|it| it.kind == ValueKind::Number(sum)))
}

/// Whether a text has an id as it is spelled: with spaces between its parts, or by characters that stand alone.
pub(super) fn is_spelled_out(text: &TextView<'_>, id: &str) -> bool {
    let squeezed = || text.plain().chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let is_alone = |word: &&str| word.chars().nth(1).is_none() || word.bytes().all(|byte| byte.is_ascii_digit());
    let alone = || text.words().filter(is_alone).collect::<String>();
    id.len() >= 2 && (squeezed().contains(id) || id.len() >= 4 && alone().contains(id))
}

/// The numbers of tens and ones in words side by side: "twenty", "four".
pub(super) fn composed(values: &[TextValue]) -> Vec<f64> {
    let in_words: Vec<f64> = values.iter().filter(|it| it.is_word).filter_map(number_of).collect();
    let is_composed = |pair: &&[f64]| pair[0] >= 10.0 && pair[0] % 10.0 == 0.0 && (1.0..10.0).contains(&pair[1]);
    in_words.windows(2).filter(is_composed).map(|pair| pair[0] + pair[1]).collect()
}

/// Whether a text has a number in words that is made of several: it may be any.
fn has_hundreds(text: &TextView<'_>) -> bool {
    let is_number = |stem: &str| PHRASES.words.get(stem).is_some_and(|known| known.number.is_some());
    let is_it = |word: &str| {
        HUNDREDS.iter().any(|it| word.strip_suffix(it).is_some_and(|stem| stem.is_empty() || is_number(stem)))
    };
    text.content().any(|word| word.is_number()) && text.words().any(is_it)
}

/// Endings of words for hundreds and thousands.
const HUNDREDS: [&str; 24] = [
    "tysiecy",
    "tysiace",
    "hundra",
    "tusen",
    "yuz",
    "bin",
    "hundred",
    "thousand",
    "hundert",
    "tausend",
    "cent",
    "cents",
    "mille",
    "cien",
    "ciento",
    "cientos",
    "mil",
    "cento",
    "mila",
    "honderd",
    "duizend",
    "tysiac",
    "сот",
    "тысяч",
];

/// Whether two values are the same, an id also by a part of it.
fn is_same(one: &TextValue, other: &TextValue) -> bool {
    use ValueKind::{Id, Number, Time};
    match (&one.kind, &other.kind) {
        (Id(one), Id(other)) => one.contains(other.as_str()) || other.contains(one.as_str()),
        (Time { minutes: one, .. }, Time { minutes: other, .. }) => one % 720 == other % 720,
        (Time { minutes, .. }, Number(number)) | (Number(number), Time { minutes, .. }) => {
            f64::from(minutes / 60 % 12) == *number % 12.0
        }
        (one, other) => one == other,
    }
}
