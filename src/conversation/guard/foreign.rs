//! What the user asked for in a conversation in another language than its tasks: their words say nothing there, and only
//! how many requests there were can be counted.

use super::fact_asked::asks_for;
use super::phrases::{List, is_sentence_end};
use super::scene::Scene;
use super::text_view::{Content, TextView};
use super::words::{Script, plain};
use super::wrong_language::language;
use crate::evidence::Role;

/// Whether the user certainly speaks another language, or writes another script, than each of the tasks. Where what the user
/// says leaves that open, the agent's language decides.
pub(super) fn is_foreign(scene: &Scene<'_>) -> bool {
    let has_other_script = |text: &TextView<'_>| {
        text.script().is_some_and(|script| scene.tasks.iter().all(|task| task.script().is_some_and(|it| it != script)))
    };
    // A greeting is of no language.
    let greets = |text: &TextView<'_>| text.outside(&[List::Greeting]).0 == 0;
    if scene.tasks.is_empty() || scene.users().any(|text| has_other_script(text) && !greets(text)) {
        return !scene.tasks.is_empty();
    }
    if speaks_as_tasks(scene) {
        return false;
    }
    let of_tasks = sum(scene.tasks.iter());
    let users = || scene.users().filter(|text| !text.only_closes());
    let spoken = language(&sum(users())).or_else(|| language(&sum(users().chain(scene.agents()))));
    let most = of_tasks.iter().copied().fold(0.0, f32::max);
    spoken.is_some_and(|language| most >= 1.0 && most >= of_tasks[language] * 2.0 + 0.3)
}

/// Whether the user's messages have so many words of the tasks, names aside, that they are in the same language.
fn speaks_as_tasks(scene: &Scene<'_>) -> bool {
    let is_name = |task: &TextView<'_>, word: &Content<'_>| {
        let is_it = |raw: &str| plain(raw.trim_matches(|c: char| !c.is_alphanumeric())) == word.text;
        task.raw.split_whitespace().any(|raw| raw.starts_with(char::is_uppercase) && is_it(raw))
    };
    let is_shared = |task: &TextView<'_>, word: &Content<'_>| {
        !word.has_digit() && scene.users().any(|user| user.has_word(word)) && !is_name(task, word)
    };
    let words = scene.tasks.iter().flat_map(|task| task.content().map(move |word| (task, word)));
    words.filter(|(task, word)| is_shared(task, word)).take(LEAST_SHARED).count() == LEAST_SHARED
}

/// The fewest words that two languages do not share by chance.
const LEAST_SHARED: usize = 3;

/// How much speaks for each language in several texts.
fn sum<'t>(texts: impl Iterator<Item = &'t TextView<'t>>) -> [f32; 32] {
    texts.fold([0.0; 32], |mut sum, text| {
        sum.iter_mut().zip(text.languages()).for_each(|(sum, score)| *sum += score);
        sum
    })
}

/// The most requests that the user can have made, and things that the agent can have stated unasked.
pub(super) fn requests(scene: &Scene<'_>) -> usize {
    let mut agent: Option<&TextView<'_>> = None;
    let (mut asked, mut stated) = (0, 0);
    for (role, text) in scene.messages {
        match role {
            Role::User if text.only_closes() => {}
            Role::User => asked += clauses(text, 1).saturating_sub(usize::from(answers(scene, text, agent))),
            Role::Assistant => {
                // A greeting comes before all requests.
                stated += if agent.is_none() && asked == 0 { 0 } else { statements(text) };
                agent = Some(text);
            }
            Role::System | Role::Tool => {}
        }
    }
    // The turn's text is the goodbye and what stands before it.
    asked += clauses(scene.text(), 2);
    asked + stated.saturating_sub(asked)
}

/// Whether a message answers the agent's question with data of the user's, or says that it has none.
fn answers(scene: &Scene<'_>, text: &TextView<'_>, agent: Option<&TextView<'_>>) -> bool {
    let Some(agent) = agent.filter(|agent| {
        (agent.asks() || agent.has(List::Awaits)) && !agent.has(List::AnythingElse) && !agent.has(List::OpenQuestion)
    }) else {
        return false;
    };
    let is_of_fact = || scene.facts.iter().any(|fact| text.content().any(|word| fact.says(&word)));
    let has_digit = || text.content().any(|word| word.has_digit());
    let is_denied = || text.has(List::Answer) && scene.facts.iter().any(|fact| asks_for(scene, agent, fact));
    let asks_how_else = || [List::Unknown, List::Unwilling].into_iter().any(|list| text.has(list));
    text.asks() && asks_how_else()
        || !text.asks() && (text.raw.contains('@') || has_digit() || is_of_fact() || is_denied())
}

/// How many clauses of a message say more than yes, thanks or goodbye.
fn clauses(text: &TextView<'_>, least_words: usize) -> usize {
    parts(text.plain()).filter(|part| has_content(part, least_words)).count()
}

/// How many clauses of a message tell something.
fn statements(text: &TextView<'_>) -> usize {
    let sentences = text.plain().split_inclusive(is_sentence_end).filter(|it| !it.ends_with(['?', '؟']));
    let tells = |part: &&str| {
        let view = TextView::new(*part);
        view.places().len() >= 2 && view.outside(&SMALL_TALK).0 >= LEAST_TOLD
    };
    sentences.flat_map(parts).filter(tells).count()
}

/// The clauses of a plain text, as far as marks and "and" divide them.
fn parts(plain: &str) -> impl Iterator<Item = &str> {
    const AND: [&str; 10] = [" and ", " und ", " et ", " y ", " e ", " en ", " i ", " и ", " ve ", " oraz "];
    plain.split(|c: char| is_sentence_end(c) || matches!(c, ',' | ';' | '，' | '、' | '،')).flat_map(|sentence| {
        let cut = AND.iter().find_map(|and| sentence.split_once(and));
        let (one, other) = cut.unwrap_or((sentence, ""));
        [one, other]
    })
}

fn has_content(part: &str, least_words: usize) -> bool {
    let view = TextView::new(part);
    let is_dense = matches!(view.script(), Some(Script::Han | Script::Hiragana | Script::Hangul));
    let least = if is_dense { LEAST_DENSE } else { LEAST };
    view.places().len() >= least_words && view.outside(&SMALL_TALK).0 >= least
}

/// Phrase lists that carry no information: small talk.
const SMALL_TALK: [List; 4] = [List::Answer, List::Polite, List::Greeting, List::Goodbye];
/// The fewest letters outside such phrases that may tell something.
const LEAST_TOLD: usize = 4;
/// The fewest letters outside such phrases that may be a request.
const LEAST: usize = 8;
/// The fewest characters, in scripts with one syllable or more per character.
const LEAST_DENSE: usize = 3;
