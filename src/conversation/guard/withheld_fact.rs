//! A fact that is kept back: the agent certainly asks for it, and the user who knows it says that he does not.

use std::sync::LazyLock;

use super::asked_kind::{asked_alone, asked_kind};
use super::asked_surely::{AND, is_untold, name_of, surely_asked, wanted, was_value_given};
use super::fact_leak::is_point;
use super::fact_uses::OR;
use super::invented_fact::{Invented, invented};
use super::open_word::is_open;
use super::passed_over::{asks_to_tell, passed_over, tells, was_told};
use super::phrases::{Hit, List, PHRASES, Words, is_sentence_end, word_set};
use super::scene::Scene;
use super::shape::{KINDS, by_shape};
use super::text_view::{Content, TextView};
use super::values::{ValueKind, values};
use super::wanted_answer::{Asked, wanted_answer};
use super::{Fault, fault};

/// Words of somebody who goes to look.
static LOOKS: LazyLock<Words> = LazyLock::new(|| {
    word_set(
        "\
         moment second sec minute check checking look find wait hold hang augenblick sekunde nachsehen nachschauen \
         schaue suche instant seconde cherche verifie momento segundo busco busca attimo controllo cerco ogenblik \
         zoek chwile chwila sprawdze минуту секунду посмотрю kijken even pak attendez attends patientez miro \
         mirarlo espere espera mando busquen guardo vedo aspetti deixe vou wacht zaraz momencik sekundke szukam \
         поищу сейчас минутку секундочку хвилинку пошукаю bakayim dakika bekleyin hole suchen gucke schau nachsehe \
         grab grabbing fetch fetching dig",
    )
});

/// Words that begin what is not known, where that is something else: "I don't know why you ask".
const BEGINS_OTHER: [&str; 26] = [
    "what", "why", "which", "if", "whether", "how", "where", "who", "was", "warum", "welche", "ob", "wie", "wo", "wer",
    "ce", "pourquoi", "si", "que", "cual", "por", "perche", "cosa", "porque", "wat", "waarom",
];

/// The most words of a sentence that does not tell a fact and says something else.
const MOST_BESIDE: usize = 4;

/// What is wrong with a turn that says nothing of what is asked. Where something else is wrong with it, that is why.
pub(super) const EVADED: &str = "it passes over a fact that the user knows and the assistant asks for; tell it";

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    match unknown(scene).or_else(|| refused(scene)) {
        Some(fact) => fault("it keeps back a fact that the user knows and the assistant asks for; tell it", &*fact.raw),
        None => fault(EVADED, &*passed_over(scene).or_else(|| vague(scene)).or_else(|| replaced(scene))?.raw),
    }
}

/// The fact that an open question for one thing may be for.
fn openly_asked<'t>(scene: &Scene<'t>) -> Option<&'t TextView<'t>> {
    let question = scene.last_agent()?.question()?;
    let is_and = |word: &str| AND.contains(&word) && !OR.contains(&word);
    // "Your name and surname?" asks for one thing.
    let is_one_kind = (question.kinds() & KINDS.exact).count_ones() == 1;
    let is_for_one = asks_to_tell(question) && (is_one_kind || !question.words().skip(1).any(is_and));
    wanted_answer(scene, Asked::Alike).filter(|_| is_for_one)
}

/// The fact of which the turn tells nothing, as an answer to an open question that says that anything will do, or has no word that was
/// not said before.
fn vague<'t>(scene: &Scene<'t>) -> Option<&'t TextView<'t>> {
    let turn = scene.text();
    let has_figure = || turn.raw.contains(char::is_numeric) || turn.content().any(|word| word.is_number());
    if turn.asks()
        || turn.places().len() > MOST_OF_ANSWER
        || [List::Objection, List::AskAgain].into_iter().any(|list| turn.has(list))
        || has_figure()
        || looks(turn)
    {
        return None;
    }
    let says_again = || turn.content().next().is_some() && turn.content().all(|word| scene.is_known(&word));
    let is_vague = turn.has(List::Vague) || !turn.has(List::Answer) && !turn.has(List::Polite) && says_again();
    openly_asked(scene).or_else(|| wanted_answer(scene, Asked::Named)).filter(|_| is_vague)
}

/// The fact in whose place the turn tells something that stands nowhere: of the same kind, in answer to an open question.
fn replaced<'t>(scene: &Scene<'t>) -> Option<&'t TextView<'t>> {
    let turn = scene.text();
    if !scene.input.has_facts || turn.asks() || turn.places().len() > MOST_OF_ANSWER {
        return None;
    }
    let question = scene.last_agent()?.question()?;
    let mut open = open_facts(scene, question).filter(|fact| is_open(question) && !tells(scene, turn, fact)).peekable();
    let may_be_asked = wanted_answer(scene, if asks_to_tell(question) { Asked::Alike } else { Asked::Named });
    if open.peek().is_none() && may_be_asked.is_none() {
        return None;
    }
    let invented = invented(scene)?;
    open.find(|fact| is_in_place(scene, fact, invented)).or(may_be_asked)
}

/// Whether what was invented may stand in the place of what a fact says.
fn is_in_place(scene: &Scene<'_>, fact: &TextView<'_>, invented: &Invented) -> bool {
    let of_fact = || values(fact).iter().map(|value| &value.kind);
    match invented {
        Invented::Name(_) => fact.content().skip(1).any(|word| is_point(fact, &word) && !word.has_digit()),
        Invented::Value(place) => match values(scene.text())[*place].kind {
            ValueKind::Email => fact.raw.contains('@'),
            ValueKind::Id(_) => fact.digits().len() >= LEAST_OF_ID,
            ref kind => of_fact().any(|it| std::mem::discriminant(it) == std::mem::discriminant(kind)),
        },
    }
}

/// The fewest digits of a fact that has a number by which something is known.
const LEAST_OF_ID: usize = 3;

/// The most words of a turn that tells one thing instead of another.
const MOST_OF_ANSWER: usize = 12;

/// The facts that nobody has stated, and for which the question may ask: those of the kinds that it names, if it names any.
fn open_facts<'t>(scene: &Scene<'t>, question: &TextView<'_>) -> impl Iterator<Item = &'t TextView<'t>> {
    let kinds = question.kinds() & KINDS.exact;
    let is_of_kind = move |fact: &TextView<'_>| {
        let named = || fact.content().skip(1).any(|word| is_point(fact, &word) && !word.has_digit());
        kinds == 0
            || kinds & (fact.kinds() | by_shape(fact)) != 0
            || kinds & (KINDS.address | KINDS.name) != 0 && named()
    };
    scene.facts.iter().filter(move |fact| {
        is_of_kind(fact) && !is_untold(fact) && !was_value_given(scene, fact) && !was_told(scene, fact)
    })
}

/// The fact that the turn says the user does not know or tell, where the agent certainly asks for it.
fn unknown<'t>(scene: &Scene<'t>) -> Option<&'t TextView<'t>> {
    let turn = scene.text();
    let mut hits = turn.hits_in(List::Unknown).filter(|hit| !turn.is_quoted(hit.start)).peekable();
    hits.peek()?;
    let fact = surely_asked(scene).or_else(|| asked_alone(scene)).or_else(|| openly_asked(scene))?;
    let is_kept = !looks(turn) && hits.any(|hit| is_about(scene, fact, hit));
    is_kept.then_some(fact)
}

/// The fact that the turn says the user will not tell: nobody says so who was not asked.
fn refused<'t>(scene: &Scene<'t>) -> Option<&'t TextView<'t>> {
    let turn = scene.text();
    turn.hits_in(List::Unwilling).find(|hit| !turn.is_quoted(hit.start))?;
    let is_kept = |fact: &&'t TextView<'t>| !tells(scene, turn, fact);
    let may_be_asked = || wanted_answer(scene, Asked::Alike);
    surely_asked(scene).or_else(|| wanted(scene)).or_else(|| asked_kind(scene).filter(is_kept)).or_else(may_be_asked)
}

/// Whether what the user does not know is the fact, and not another thing that the sentence names.
fn is_about(scene: &Scene<'_>, fact: &TextView<'_>, hit: &Hit) -> bool {
    let turn = scene.text();
    let sentence = turn.sentence(hit.start);
    if sentence.ends_with(['?', '؟']) {
        return false;
    }
    let next = turn.plain()[hit.end..].split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    let sentence = TextView::new(sentence);
    let name = name_of(fact);
    let says_name = || name.as_ref().is_some_and(|name| name.content().any(|word| sentence.says(&word)));
    if next.is_some_and(|next| BEGINS_OTHER.contains(&next)) {
        return says_name() || is_asked_for(scene, &turn.plain()[hit.end..]);
    }
    let agent = scene.last_agent();
    let phrase = TextView::new(&turn.plain()[hit.start..hit.end]);
    let is_beside =
        |word: &Content<'_>| !phrase.says(word) && !fact.says(word) && !agent.is_some_and(|agent| agent.says(word));
    sentence.content().filter(is_beside).count() <= MOST_BESIDE
}

/// Whether somebody goes to look for what is asked.
pub(super) fn looks(turn: &TextView<'_>) -> bool {
    // "You will find it."
    let is_own = || PHRASES.has_first_person(turn.plain()) || turn.places().len() <= MOST_OF_HINT;
    turn.words().any(|word| LOOKS.contains(word) && (!OTHERS_LOOK.contains(&word) || is_own()))
        || !turn.raw.is_ascii() && JOINED_LOOKS.iter().any(|words| turn.raw.contains(words))
}

/// Those of them that others do as well, and the most words of a turn that is hardly more: "Checking".
const OTHERS_LOOK: [&str; 9] = ["check", "checking", "look", "find", "grab", "fetch", "dig", "vou", "even"];
const MOST_OF_HINT: usize = 3;

/// The same of languages that join their words.
const JOINED_LOOKS: [&str; 16] = [
    "少々",
    "確認し",
    "探し",
    "お待ち",
    "ちょっと待",
    "稍等",
    "等一下",
    "等等",
    "找一下",
    "找找",
    "查一下",
    "看一下",
    "잠시만",
    "잠깐",
    "찾아",
    "لحظه",
];

/// Whether the rest of a sentence has no word that the agent's message has not, and one that it has: "I've no idea what breed he is".
fn is_asked_for(scene: &Scene<'_>, rest: &str) -> bool {
    let rest = TextView::new(rest.split(is_sentence_end).next().unwrap_or(rest));
    let is_asked = |word: Content<'_>| scene.last_agent().is_some_and(|agent| agent.says(&word));
    rest.content().next().is_some() && rest.content().all(is_asked)
}
