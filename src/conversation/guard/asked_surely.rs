//! The fact that the agent certainly asks for: by its name, or by a kind of thing that each user has one of.

use std::sync::LazyLock;

use super::confirmation::MORE;
use super::fact_asked::{last_question, subject};
use super::fact_leak::{is_point, reveals, value};
use super::open_word::is_open;
use super::passed_over::tells;
use super::phrases::{List, PHRASES, Words, word_set};
use super::scene::Scene;
use super::shape::{KINDS, by_shape};
use super::text_view::{Content, TextView};
use super::words::Script;

/// Words between the name of a fact and what it is.
const IS: [&str; 17] = [
    "is", "are", "was", "ist", "sind", "lautet", "heisst", "est", "sont", "es", "son", "sono", "sao", "zijn", "heet",
    "jest", "это",
];

/// Words of a fact that says that there is nothing to tell.
static NOTHING: LazyLock<Words> = LazyLock::new(|| {
    word_set(
        "\
         not no none never unknown without t nicht kein keine keinen unbekannt ohne pas aucun aucune inconnu \
         ningun ninguna non nessun nao niet geen nie не",
    )
});

/// Words of a fact by which the user keeps something back: "refuses to give a phone number".
static UNTOLD: LazyLock<Words> = LazyLock::new(|| {
    word_set(
        "\
         refuse refuses withhold withholds forgot forgets forgotten unwilling reluctant verweigert weigert \
         vergessen vergisst verschweigt oublie olvidado niega dimenticato rifiuta recusa esqueceu vergeten",
    )
});

/// Whether a fact says that there is nothing to tell, or that it is not told.
pub(super) fn is_untold(fact: &TextView<'_>) -> bool {
    // "Don't", but not an initial of an address.
    let is_nothing = |word: &str| NOTHING.contains(word) && (word != "t" || !fact.raw.contains('@'));
    fact.words().any(|word| is_nothing(word) || UNTOLD.contains(word))
}

/// Words of a part in which the user is meant to keep something back.
static RELUCTANT: LazyLock<Words> = LazyLock::new(|| {
    word_set(
        "\
         refuse refuses withhold withholds forget forgets forgot forgotten remember reluctant private privacy \
         secret secretive anonymous anonymously evasive uncooperative lost unwilling verweigert weigert vergessen \
         vergisst verschweigt anonym geheim verloren ungern refuser cacher oublie oublier niega olvidado rifiuta \
         dimenticato recusa weigert vergeten",
    )
});

/// Words of a request beside another one. "Your surname too?" asks for the surname.
pub(super) const ALSO: [&str; 17] = [
    "also",
    "too",
    "well",
    "auch",
    "noch",
    "aussi",
    "egalement",
    "encore",
    "tambien",
    "anche",
    "tambem",
    "ook",
    "nog",
    "tez",
    "takze",
    "также",
    "тоже",
];
/// Those that say what happened to a thing.
const LOST: [&str; 2] = ["lost", "verloren"];

/// The most words of a question beside those that name the fact.
const MOST_BESIDE: usize = 2;

/// The fact that the agent's last question certainly asks for, that the persona knows, and of which neither an earlier message nor
/// the turn says anything.
pub(super) fn surely_asked<'t>(scene: &Scene<'t>) -> Option<&'t TextView<'t>> {
    scene.once(&scene.surely_asked, || find_surely_asked(scene))
}

fn find_surely_asked<'t>(scene: &Scene<'t>) -> Option<&'t TextView<'t>> {
    let agent = scene.last_agent().filter(|_| scene.input.has_facts && !scene.facts.is_empty())?;
    let question = TextView::new(only_question(agent)?);
    if !is_open(&question)
        || question.words().any(|word| MORE.contains(word) && !ALSO.contains(&word))
        || scene.tasks.iter().chain(scene.background).any(is_reluctant)
    {
        return None;
    }
    let mut asked = scene.facts.iter().filter(|fact| asks_surely(scene, &question, fact));
    let fact = asked.next().filter(|_| asked.next().is_none())?;
    // A fact without "is" has the words of the question too.
    let is_given = if name_of(fact).is_some() { is_given(scene, fact) } else { is_value_given(scene, fact) };
    (!is_given).then_some(fact)
}

/// The question with which a message ends, where it has no other one and asks for one thing; or the sentence with which it asks
/// without a mark.
fn only_question<'t>(agent: &'t TextView<'_>) -> Option<&'t str> {
    let plain = agent.plain();
    let is_mark = |c: char| matches!(c, '?' | '؟');
    let end = plain.trim_end_matches(|c: char| !c.is_alphanumeric() && !is_mark(c)).trim_end_matches(is_mark).len();
    let text = agent.sentence(end);
    let asks_once = match plain.matches(is_mark).count() {
        0 => agent.has(List::Awaits) || agent.asks(),
        1 => text.ends_with(is_mark),
        _ => false,
    };
    let is_one = !TextView::new(text).words().skip(1).any(|word| AND.contains(&word));
    (asks_once && is_one && end > 0).then_some(text)
}

pub(super) const AND: [&str; 12] = ["and", "or", "und", "oder", "et", "y", "if", "и", "или", "ve", "oraz", "lub"];

pub(super) fn is_reluctant(text: &TextView<'_>) -> bool {
    text.has(List::Unknown) || text.words().any(|word| RELUCTANT.contains(word))
}

/// Whether a question asks for a fact of the form "the home town is Lyon" by all words that name it and hardly another one, or for
/// the user's name, address or date of birth.
fn asks_surely(scene: &Scene<'_>, question: &TextView<'_>, fact: &TextView<'_>) -> bool {
    if is_untold(fact) {
        return false;
    }
    let Some(name) = name_of(fact) else { return asks_for_all_but_point(question, fact) };
    let words: Vec<Content<'_>> = subject(&name).filter(|word| !PHRASES.is_user(word.text)).collect();
    if words.is_empty() {
        return asks_for_identity(scene, question, &name);
    }
    let is_beside = |word: &Content<'_>| !words.iter().any(|own| own.is_same(word));
    let beside =
        question.content().filter(|word| !PHRASES.task_words.contains_key(word.text)).filter(is_beside).count();
    // What is joined has no words to count.
    let is_unspaced = words.iter().any(|word| matches!(word.script, Script::Han | Script::Katakana | Script::Thai));
    words.iter().all(|word| question.says(word)) && (is_unspaced || beside <= MOST_BESIDE)
}

/// Whether a question has all words of a fact but its figure, day or name: "When did you last give blood?"
fn asks_for_all_but_point(question: &TextView<'_>, fact: &TextView<'_>) -> bool {
    let (points, words): (Vec<Content<'_>>, Vec<Content<'_>>) =
        subject(fact).filter(|word| !PHRASES.is_user(word.text)).partition(|word| is_point(fact, word));
    !points.is_empty() && words.len() >= LEAST_OF_UNNAMED && words.iter().all(|word| question.says(word))
}

/// The fewest words of a fact without "is" by which a question names it.
const LEAST_OF_UNNAMED: usize = 2;

/// The fact that the agent's last message wants beside others, or asks for in a longer message: all that names it stands in the
/// message, and nothing of what it says was said. Only a user who says that he will not tell is judged by that.
pub(super) fn wanted<'t>(scene: &Scene<'t>) -> Option<&'t TextView<'t>> {
    scene.once(&scene.wanted, || find_wanted(scene))
}

fn find_wanted<'t>(scene: &Scene<'t>) -> Option<&'t TextView<'t>> {
    let agent = scene.last_agent().filter(|_| scene.input.has_facts)?;
    // Whoever has lost something may look for it, and still tells what he knows.
    let is_meant_to = |text: &TextView<'_>| {
        text.has(List::Unknown) || text.words().any(|word| RELUCTANT.contains(word) && !LOST.contains(&word))
    };
    if scene.tasks.iter().chain(scene.background).any(is_meant_to) {
        return None;
    }
    scene.facts.iter().find(|fact| {
        !is_untold(fact)
            && wants(scene, agent, fact)
            && !was_value_given(scene, fact)
            && !tells(scene, scene.text(), fact)
    })
}

fn wants(scene: &Scene<'_>, agent: &TextView<'_>, fact: &TextView<'_>) -> bool {
    let name = name_of(fact);
    let of_name = name.as_ref().unwrap_or(fact);
    let is_shared = |word: &Content<'_>| scene.facts.iter().any(|other| !std::ptr::eq(other, fact) && other.says(word));
    let words: Vec<Content<'_>> =
        subject(of_name).filter(|word| !PHRASES.is_user(word.text) && !is_point(fact, word)).collect();
    let kinds = agent.kinds() & (fact.kinds() | by_shape(fact));
    let is_only_of = |kinds: u32| {
        let is_of_kind =
            |other: &&TextView<'_>| (other.kinds() | by_shape(other)) & kinds != 0 && !is_value_given(scene, other);
        scene.facts.iter().filter(is_of_kind).count() == 1
    };
    let is_picked = || agent.asks() && value(fact).iter().any(|word| agent.says(word));
    if words.is_empty() {
        return kinds != 0 && is_only_of(kinds) || is_picked();
    }
    let said = words.iter().filter(|word| agent.says(word)).count();
    let is_unique = words.iter().any(|word| agent.says(word) && !is_shared(word));
    // A fact without "is" has its verb and its object in one.
    let is_named = if name.is_some() { said == words.len() } else { said > 0 };
    // "Why?" asks for the reason, "Where to?" for the address.
    let is_kind = || {
        let kinds = last_question(agent).map(|question| TextView::new(question).kinds()).unwrap_or_default();
        kinds != 0 && kinds == of_name.kinds() && is_only_of(kinds)
    };
    is_named && (is_unique || kinds != 0) || is_kind()
}

/// Whether the figures, days and names of a fact were said, or of one without them a word that the agent's question has not.
pub(super) fn is_value_given(scene: &Scene<'_>, fact: &TextView<'_>) -> bool {
    is_given_by(scene, fact, [scene.text()].into_iter()) || was_value_given(scene, fact)
}

/// The same of the messages before the turn.
pub(super) fn was_value_given(scene: &Scene<'_>, fact: &TextView<'_>) -> bool {
    is_given_by(scene, fact, scene.messages.iter().map(|(_, text)| text))
}

fn is_given_by<'t>(
    scene: &Scene<'_>,
    fact: &TextView<'_>,
    texts: impl Iterator<Item = &'t TextView<'t>> + Clone,
) -> bool {
    let texts = || texts.clone();
    let value = value(fact);
    let points: Vec<&Content<'_>> = value.iter().filter(|word| is_point(fact, word)).collect();
    if !points.is_empty() {
        return points.iter().any(|word| texts().any(|text| text.says(word)));
    }
    let is_asked = |word: &Content<'_>| scene.last_agent().is_some_and(|agent| agent.says(word));
    value.iter().filter(|word| !is_asked(word)).any(|word| texts().any(|text| text.says(word)))
}

/// The words of a fact that name it: "the home town" of "the home town is Lyon".
pub(super) fn name_of<'f>(fact: &'f TextView<'_>) -> Option<TextView<'f>> {
    let plain = fact.plain();
    let is_accented = fact.raw.contains([' ']) && (fact.raw.contains(" è ") || fact.raw.contains(" é "));
    let is = |word: &str| IS.contains(&word) || word == "e" && is_accented;
    let word = fact.places().iter().skip(1).find(|word| is(&plain[word.start..word.end]));
    let end = word.map(|word| word.start).or_else(|| plain.find([':', 'は', '是', '有']))?;
    Some(TextView::new(&plain[..end]))
}

/// Whether the user is asked for what each user has one of, and one fact says.
fn asks_for_identity(scene: &Scene<'_>, question: &TextView<'_>, name: &TextView<'_>) -> bool {
    let kinds = |text: &TextView<'_>| text.kinds() & KINDS.of_user;
    let is_users = name.words().any(|word| PHRASES.is_user(word));
    let is_only = || scene.facts.iter().filter(|other| kinds(other) & kinds(name) != 0).count() == 1;
    is_users
        && kinds(question) == kinds(name)
        && kinds(name) != 0
        && question.places().len() <= MOST_OF_QUESTION
        && is_only()
}

/// The most words of a question for a kind of thing alone.
const MOST_OF_QUESTION: usize = 9;

/// Whether anything of what the fact says was said before, or is said by the turn.
fn is_given(scene: &Scene<'_>, fact: &TextView<'_>) -> bool {
    let says =
        |text: &TextView<'_>| fact.clauses().iter().any(|clause| value(clause).iter().any(|word| text.says(word)));
    reveals(scene, scene.text(), fact) || says(scene.text()) || scene.messages.iter().any(|(_, text)| says(text))
}
