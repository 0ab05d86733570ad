//! The fact that may answer the agent's question, by the kind of answer that its question word wants, whatever its other words are:
//! "Where are you calling from?" wants a place, and "the user works from a hotel" has one.

use std::sync::LazyLock;

use super::asked_kind::asks_for_more;
use super::asked_surely::{is_reluctant, is_untold};
use super::fact_asked::subject;
use super::fact_leak::{is_point, value};
use super::fact_uses::OR;
use super::passed_over::{tells, tells_value};
use super::phrases::{List, PHRASES, Words, word_set};
use super::scene::Scene;
use super::shape::{KINDS, by_shape};
use super::text_view::{Content, TextView};
use super::values::{ValueKind, values};
use super::words::Script;

/// The kinds of answers that question words want, a bit each, in the order of `phrases/question_words.txt`.
const TIME: u8 = 1;
const PLACE: u8 = 1 << 1;
const PERSON: u8 = 1 << 2;
const NUMBER: u8 = 1 << 3;
const REASON: u8 = 1 << 4;

/// Those that have a figure.
pub(super) const COUNTS: u8 = TIME | NUMBER;

/// Words before a place, in facts.
static PLACES: LazyLock<Words> = LazyLock::new(|| {
    word_set(
        "in at on from near inside outside behind beside opposite next corner under above below between upstairs downstairs im auf aus nach bei vor \
         unter neben zwischen hinter au aux dans chez sous devant derriere en desde hacia bajo debajo nel nella sotto davanti em sob debaixo na \
         op uit naar onder naast achter pod obok przy vid pa hos в на из под за около",
    )
});
/// The same of languages that join their words.
const JOINED_PLACES: [&str; 8] = ["で", "に", "から", "在", "에", "في ", "من ", "में"];

/// Lists of questions that want no fact in particular.
const GENERAL: [List; 4] = [List::OpenQuestion, List::AnythingElse, List::Details, List::Feedback];

/// How surely a question is for a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Asked {
    /// It is about the same thing, or a kind of thing that the fact names.
    Alike,
    /// It wants an answer such as the fact is.
    Typed,
    /// It names the fact, or its kind.
    Named,
}

/// The place of a fact that may answer a question, and how surely the question is for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct WantedAnswer {
    fact: usize,
    asked: Asked,
}

/// The fact that may answer the agent's last question, of which neither the conversation nor the turn has told anything, where the
/// question is for it as surely as that.
pub(super) fn wanted_answer<'t>(scene: &Scene<'t>, least: Asked) -> Option<&'t TextView<'t>> {
    let found = scene.wanted_answer.get_or_init(|| find(scene)).filter(|found| found.asked >= least)?;
    scene.facts.get(found.fact)
}

/// Whether the agent's last question may be for a fact, be it told.
pub(super) fn is_wanted(scene: &Scene<'_>, fact: &TextView<'_>) -> bool {
    let Some(agent) = scene.last_agent() else { return false };
    agent.question().is_some_and(|question| asked(scene, question, wants(agent, question), fact).is_some())
}

fn find(scene: &Scene<'_>) -> Option<WantedAnswer> {
    let agent = scene.last_agent().filter(|_| scene.input.has_facts && scene.users().next().is_some())?;
    let question = agent.question()?;
    let wants = wants(agent, question);
    if wants & REASON == 0 && GENERAL.into_iter().any(|list| question.has(list))
        || wants == 0 && [List::Confirms, List::Offer].into_iter().any(|list| question.has(list)) && !chooses(question)
        || is_right(question)
        || asks_for_more(question)
        || scene.tasks.iter().chain(scene.background).any(is_reluctant)
    {
        return None;
    }
    let is_open =
        |(_, fact): &(usize, &TextView<'_>)| !is_untold(fact) && !was_told(scene, fact, wants) && !is_told(scene, fact);
    // What is told of a fact that the question may be for answers it.
    let answers = |fact: &TextView<'_>| is_told(scene, fact) && asked(scene, question, wants, fact).is_some();
    if scene.facts.iter().any(answers) {
        return None;
    }
    let wanted = |(fact, view)| Some(WantedAnswer { fact, asked: asked(scene, question, wants, view)? });
    scene.facts.iter().enumerate().filter(is_open).filter_map(wanted).max_by_key(|found| found.asked)
}

/// The kinds of answers that a question wants.
fn wants(agent: &TextView<'_>, question: &TextView<'_>) -> u8 {
    // Without its accent, "where" is "or" in French.
    let is_where = agent.raw.contains(" où") || agent.raw.contains("Où ");
    let is_reason = question.has(List::WhatIsWrong) || question.kinds() & KINDS.reason != 0;
    PHRASES.wants(question) | if is_where { PLACE } else { 0 } | if is_reason { REASON } else { 0 }
}

/// The kinds of things that are such answers.
fn kinds_of(answers: u8) -> u32 {
    let all = [(TIME, KINDS.date), (PLACE, KINDS.address), (PERSON, KINDS.name), (NUMBER, KINDS.quantity)];
    all.into_iter().filter(|(answer, _)| answers & answer != 0).fold(0, |all, (_, kinds)| all | kinds)
}

/// Whether the turn tells what a fact says: of one with a name a word of the name, or a figure.
fn is_told(scene: &Scene<'_>, fact: &TextView<'_>) -> bool {
    let turn = scene.text();
    let value = value(fact);
    let mut own = value.iter().filter(|word| is_own(fact, word)).peekable();
    match own.peek() {
        None => tells(scene, turn, fact),
        Some(_) => tells_value(turn, fact) || own.any(|word| turn.says(word)),
    }
}

/// Whether a question only asks whether all is right.
fn is_right(question: &TextView<'_>) -> bool {
    let end = question.plain().trim_end_matches(|c: char| !c.is_alphanumeric());
    RIGHT.iter().any(|word| end.ends_with(word))
}

/// How such questions end.
const RIGHT: [&str; 18] = [
    " right",
    " correct",
    "richtig",
    " verdad",
    " correcto",
    " vero",
    " giusto",
    " certo",
    " klopt dat",
    " zgadza",
    "верно",
    "правильно",
    " dogru mu",
    "맞나요",
    "よろしいですか",
    "对吗",
    "对吧",
    "صحيح",
];

fn chooses(question: &TextView<'_>) -> bool {
    question.words().any(|word| OR.contains(&word))
}

/// Whether what a fact says was said before: a figure, a name or a day of it, or a word that neither a task nor the question has.
fn was_told(scene: &Scene<'_>, fact: &TextView<'_>, wants: u8) -> bool {
    // Who asks for yes or no says what he asks about: "Twelve people, right?"
    let asks = usize::from(wants != 0);
    let before = || scene.messages.iter().rev().skip(asks).map(|(_, text)| text);
    if fact.raw.contains('@') {
        let address = fact.plain().split_whitespace().find(|word| word.contains('@')).unwrap_or_default();
        return scene.messages.iter().any(|(_, text)| text.plain().contains(address.trim_end_matches('.')));
    }
    let value = value(fact);
    let figures: Vec<&Content<'_>> = value.iter().filter(|word| word.has_digit()).collect();
    if !figures.is_empty() {
        return figures.iter().any(|word| scene.messages.iter().any(|(_, text)| text.says(word)));
    }
    let has_point = value.iter().any(|word| is_own(fact, word));
    let is_other = |word: &&Content<'_>| {
        let mut known = scene.tasks.iter().chain(scene.last_agent());
        if has_point { is_own(fact, word) } else { !known.any(|text| text.says(word)) }
    };
    value.iter().filter(is_other).any(|word| before().any(|text| text.says(word)))
}

/// Whether a word of a fact is what it says, and not what it says that of. German has capitals everywhere.
fn is_own(fact: &TextView<'_>, word: &Content<'_>) -> bool {
    let begins = |word: &str| ["der", "die", "das", "es", "ein", "eine", "sie", "er"].contains(&word);
    let is_german =
        fact.words().next().is_some_and(begins) || fact.language().is_some_and(|it| Some(it) == PHRASES.german);
    is_point(fact, word) && !(is_german && !word.has_digit() && !word.is_number())
}

/// Whether a question may be for a fact: no exact kind of thing that it asks for is another one than the fact's.
fn asked(scene: &Scene<'_>, question: &TextView<'_>, wants: u8, fact: &TextView<'_>) -> Option<Asked> {
    let answers = answers(fact, question);
    // What a fact says of itself goes before what it looks like: an order number is no telephone number.
    let is_named = fact.kinds() & KINDS.own_number != 0;
    let kinds = fact.kinds() | if is_named { 0 } else { by_shape(fact) } | kinds_of(answers);
    let of_wanted = kinds_of(wants);
    let exact = match question.kinds() & KINDS.exact {
        // An e-mail address is no address, and is at no place.
        exact if exact & KINDS.email != 0 => KINDS.email,
        // "Where did you lose the phone?"
        exact if of_wanted != 0 => exact & (of_wanted | if wants & NUMBER == 0 { KINDS.birth } else { 0 }),
        exact => exact,
    };
    if exact & !kinds != 0 {
        return None;
    }
    let is_of_task = |word: &Content<'_>| scene.tasks.iter().any(|text| text.says(word));
    let is_of_other =
        |word: &Content<'_>| scene.facts.iter().filter(|other| !std::ptr::eq(*other, fact)).any(|text| text.says(word));
    let names = subject(fact).filter(|word| !PHRASES.is_user(word.text) && !is_own(fact, word));
    let said: Vec<Content<'_>> = names.filter(|word| question.says(word)).collect();
    // A question for yes or no, or for a thing of no known kind, may be for what has its words.
    let is_about = !said.is_empty() && (wants == 0 || question.kinds() == 0);
    match () {
        () if said.iter().any(|word| !is_of_task(word) && !is_of_other(word)) => Some(Asked::Named),
        () if wants & answers != 0 || exact & kinds != 0 => Some(Asked::Typed),
        () if question.kinds() & KINDS.device != 0 && is_model(fact) => Some(Asked::Typed),
        () if is_about || question.kinds() & kinds & KINDS.asked != 0 => Some(Asked::Alike),
        () => None,
    }
}

fn is_telephone(fact: &TextView<'_>) -> bool {
    fact.kinds() & KINDS.own_number != 0 && !fact.digits().is_empty()
}

/// Whether a fact is a thing's name: "The bike is a Kestrel".
fn is_model(fact: &TextView<'_>) -> bool {
    !fact.words().any(|word| PHRASES.is_user(word))
        && fact.kinds() & (KINDS.name | KINDS.address) == 0
        && fact.content().skip(1).any(|word| is_own(fact, &word) && !word.is_number())
}

/// The kinds of answers that a fact may be to a question.
fn answers(fact: &TextView<'_>, question: &TextView<'_>) -> u8 {
    let (kinds, shape) = (fact.kinds(), by_shape(fact));
    let figures = values(fact);
    let is_birth = kinds & KINDS.birth != 0 && question.kinds() & KINDS.birth == 0;
    let is_of_user =
        kinds & (KINDS.name | KINDS.birth) != 0 || (kinds | shape) & KINDS.email != 0 || is_telephone(fact);
    let is_time =
        |kind: &ValueKind| matches!(kind, ValueKind::Time { .. } | ValueKind::Month(_) | ValueKind::Weekday(_));
    let is_number = |kind: &ValueKind| matches!(kind, ValueKind::Number(_));
    // Many scripts have no capitals.
    let has_capitals = matches!(fact.script(), Some(Script::Latin | Script::Cyrillic | Script::Greek));
    let has_name = || !has_capitals || fact.content().skip(1).any(|word| is_point(fact, &word) && !word.has_digit());
    let has_place = || {
        fact.words().any(|word| PLACES.contains(word))
            || !fact.raw.is_ascii() && JOINED_PLACES.iter().any(|part| fact.plain().contains(part))
    };
    let mut all = 0;
    if (kinds | shape) & KINDS.date != 0 && !is_birth || figures.iter().any(|it| is_time(&it.kind)) {
        all |= TIME;
    }
    let is_dated = || figures.iter().any(|it| is_time(&it.kind));
    if kinds & KINDS.address != 0 || !is_dated() && !is_of_user && (has_place() || has_name()) {
        all |= PLACE;
    }
    if kinds & KINDS.name != 0 || figures.is_empty() && has_name() {
        all |= PERSON;
    }
    let is_code = kinds & KINDS.own_number != 0;
    if figures.iter().any(|it| is_number(&it.kind)) && !is_code && !is_birth {
        all |= NUMBER | if kinds & KINDS.date != 0 { TIME } else { 0 };
    }
    // What is the matter with a thing says nothing of the user.
    let is_users = || question.has(List::WhatIsWrong) && fact.words().any(|word| PHRASES.is_user(word));
    if figures.is_empty() && !is_of_user && !is_users() {
        all |= REASON;
    }
    all
}

#[cfg(test)]
mod tests {
    use crate::conversation::guard::{GuardInput, check};
    use crate::evidence::{Guard, Message, Role};

    const FACTS: [&str; 4] = [
        "The user works from a hotel",
        "The meeting is on 4 June",
        "Six people take part",
        "The user's customer number is 4711-883",
    ];

    fn is_kept_back(question: &str, turn: &str) -> bool {
        let transcript = [Message::new(Role::User, "My line is dead."), Message::new(Role::Assistant, question)];
        let found = check(&GuardInput {
            has_facts: true,
            tasks: &["Get the line repaired"],
            facts: &FACTS,
            signoff: "So Long",
            transcript: &transcript,
            turn,
            ..GuardInput::default()
        });
        found.iter().any(|finding| finding.guard == Guard::WithheldFact)
    }

    #[test]
    fn a_question_is_for_the_fact_that_is_such_an_answer() {
        for question in ["Where are you calling from?", "Which day would suit you?", "How many of you are there?"] {
            for turn in ["I have no idea.", "I'd rather not say.", "Just pick one.", "That's none of your business."] {
                assert!(is_kept_back(question, turn), "{question} {turn}");
            }
            assert!(!is_kept_back(question, "One moment, I'll look."), "{question}");
            assert!(!is_kept_back(question, "Why do you ask?"), "{question}");
        }
        assert!(!is_kept_back("Where are you calling from?", "From my hotel."));
        assert!(!is_kept_back("How many of you are there?", "Half a dozen."));
    }

    #[test]
    fn what_no_fact_says_need_not_be_known() {
        for question in ["What colour is the box?", "What is your e-mail address?", "Does the lamp blink?"] {
            for turn in ["I have no idea.", "Whichever you like.", "I don't know that."] {
                assert!(!is_kept_back(question, turn), "{question} {turn}");
            }
        }
    }
}
