//! A goodbye while tasks are certainly open or the agent certainly waits for an answer.

use super::asked_surely::surely_asked;
use super::awaited::awaits_answer;
use super::passed_over::{passed_over, tells};
use super::phrases::{Hit, List, is_sentence_end};
use super::scene::Scene;
use super::tasks_raised::{distinctive_words, is_comparable, matched, unique_words};
use super::text_view::{Content, TextView};
use super::unexplained::unexplained;
use super::words::is_same_stem;
use super::{Fault, fault, foreign};
use crate::evidence::Role;

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    let turn = scene.text();
    let (outside, all) = turn.outside(&[List::Goodbye, List::Polite]);
    // A goodbye within a message about something else is none.
    let is_goodbye = turn.says_goodbye() && (outside <= 60 || outside * 2 <= all);
    let goes_on = turn.raw.trim_end().ends_with(['?', '？', '؟']);
    if goes_on || !scene.turn.signs_off && (!is_goodbye || ends_answer(scene)) {
        return None;
    }
    // Who begins with "Ciao" greets.
    if scene.users().skip(1).any(|text| text.only_closes() && text.says_goodbye()) {
        return None;
    }
    if let Some(open) = open_task(scene) {
        return fault("it ends the conversation before this task was raised", scene.input.tasks[open]);
    }
    let why = "it ends the conversation instead of telling a fact that the assistant asks for";
    if scene.turn.signs_off && passed_over(scene).is_some() {
        return fault(why, &*scene.last_agent()?.raw);
    }
    let agent = scene.last_agent().filter(|_| awaits_answer(scene))?;
    if surely_asked(scene).is_some() {
        return fault(why, &*agent.raw);
    }
    let within = |hit: &Hit, list| {
        turn.hits_in(list).any(|it| {
            it.start <= hit.start
                && hit.end <= it.end
                && (list == List::Goodbye || it.end - it.start > hit.end - hit.start)
        })
    };
    let answers = outside >= 12
        || turn.hits_in(List::Answer).any(|hit| !within(hit, List::Goodbye) && !within(hit, List::Polite))
            && !only_thanks(scene);
    if answers {
        return None;
    }
    fault("it ends the conversation while the assistant waits for an answer", &*agent.raw)
}

/// Whether what looks like a goodbye says that there is no more to tell, where the agent asks for whatever there is: "that's all".
fn ends_answer(scene: &Scene<'_>) -> bool {
    let turn = scene.text();
    let tells_fact = || scene.facts.iter().any(|fact| tells(scene, turn, fact));
    let asks = |agent: &TextView<'_>| {
        [List::Details, List::OpenQuestion].into_iter().any(|list| agent.has(list)) || agent.asks() && tells_fact()
    };
    let is_all = |hit: &Hit| THAT_IS_ALL.contains(&&turn.plain()[hit.start..hit.end]);
    turn.hits_in(List::Goodbye).all(is_all) && scene.last_agent().is_some_and(asks)
}

/// How somebody says that nothing is left to tell.
const THAT_IS_ALL: [&str; 18] = [
    "nada mas",
    "nothing else",
    "sonst nichts",
    "rien d'autre",
    "that's all",
    "that is all",
    "that's it",
    "that's everything",
    "das ist alles",
    "das war alles",
    "das war's",
    "c'est tout",
    "eso es todo",
    "es todo",
    "e tutto",
    "isso e tudo",
    "dat is alles",
    "to wszystko",
];

/// The first task that no message raised, where that is certain: a message that is about none of the tasks may have raised
/// one in other words, and what the agent said by itself needs no question.
fn open_task(scene: &Scene<'_>) -> Option<usize> {
    let turn = scene.text();
    let users: Vec<_> = scene.users().chain([turn]).collect();
    if foreign::is_foreign(scene) || !users.iter().any(|text| !text.only_closes() && is_comparable(scene, text)) {
        return Some(foreign::requests(scene)).filter(|asked| *asked < scene.tasks.len());
    }
    let open = open_tasks(scene);
    open.first().copied().filter(|_| unexplained(scene) < open.len())
}

/// The tasks of which no message has the words, in a conversation in the language of the tasks.
pub(super) fn open_tasks(scene: &Scene<'_>) -> Vec<usize> {
    let turn = scene.text();
    // What the assistant asked whether to tell, and was answered, needs no question of the user's.
    let offered = scene.messages.windows(2).filter_map(|pair| match pair {
        [(Role::Assistant, agent), (Role::User, user)] => (agent.asks() && user.has(List::Answer)).then_some(agent),
        _ => None,
    });
    let said: Vec<_> = scene.users().chain(offered).collect();
    let agent_messages: Vec<_> = scene.agents().collect();
    let (statements, questions) = statements_and_questions(turn);
    // Whoever asks and says goodbye at once gets no answer; what the agent said may be asked in wonder.
    let is_raised_now = |words: &[Content<'_>]| {
        matched(&TextView::new(&statements), words).0 > 0
            || words
                .iter()
                .any(|word| agent_messages.iter().any(|agent| agent.says(word)) && TextView::new(&questions).says(word))
    };
    let is_open = |at: &usize| {
        let words = distinctive_words(scene, *at);
        let is_of_others = |text: &TextView<'_>, before: &[&TextView<'_>]| is_about_another(scene, *at, text, before);
        let is_given = || {
            scene
                .agents()
                .any(|agent| !agent.asks() && matched(agent, &words).0 * 2 > words.len() && !is_of_others(agent, &[]))
        };
        let initials = initials(&scene.tasks[*at]);
        let is_raised = |(place, text): (usize, &&TextView<'_>)| {
            matched(text, &words).0 > 0 && !is_of_others(text, &said[..place])
                || capitals(text).any(|word| initials.contains(&word))
        };
        !words.is_empty() && !said.iter().enumerate().any(is_raised) && !is_raised_now(&words) && !is_given()
    };
    (0..scene.tasks.len()).filter(is_open).collect()
}

/// The abbreviations in a text: its words of capitals alone, in lower case.
fn capitals<'t>(text: &'t TextView<'_>) -> impl Iterator<Item = String> + 't {
    let words = text.raw.split(|c: char| !c.is_alphanumeric());
    let is_short = |word: &&str| word.chars().nth(2).is_some() && word.chars().all(char::is_uppercase);
    words.filter(is_short).map(str::to_lowercase)
}

/// The initials of the words of a task, three and more in a row: a "RIB" is a "relevé d'identité bancaire".
fn initials(task: &TextView<'_>) -> Vec<String> {
    let letters: Vec<char> =
        task.words().filter(|word| word.chars().count() > 2).filter_map(|word| word.chars().next()).collect();
    [3, 4]
        .into_iter()
        .flat_map(|length| letters.windows(length).map(|some| some.iter().collect::<String>()))
        .collect::<Vec<_>>()
}

/// Whether a text that has words of a task without words of its own has them for another task, which it is the first to raise:
/// "a reminder to call the dentist" does not ask which reminders there are. One that has such a word twice may be about both.
fn is_about_another(scene: &Scene<'_>, at: usize, text: &TextView<'_>, before: &[&TextView<'_>]) -> bool {
    if !unique_words(scene, at).is_empty() {
        return false;
    }
    let is_first_to_raise = |other: &usize| {
        let own = unique_words(scene, *other);
        matched(text, &own).0 > 0 && !before.iter().any(|earlier| matched(earlier, &own).0 > 0)
    };
    let words = distinctive_words(scene, at);
    let is_twice = words.iter().any(|word| text.words().filter(|it| is_same_stem(it, word.text)).count() > 1);
    let others: Vec<usize> = (0..scene.tasks.len()).filter(|other| *other != at).filter(is_first_to_raise).collect();
    others.len() == 1 && !is_twice
}

/// The sentences of a turn that ask nothing, and those that ask.
fn statements_and_questions(turn: &TextView<'_>) -> (String, String) {
    turn.plain().split_inclusive(is_sentence_end).partition(|sentence| !sentence.ends_with(['?', '؟']))
}

/// Whether what looks like an answer is part of thanks: "ok, thanks".
fn only_thanks(scene: &Scene<'_>) -> bool {
    let turn = scene.text();
    turn.hits_in(List::Answer).all(|hit| {
        turn.hits_in(List::Polite).any(|polite| polite.start <= hit.start && hit.end <= polite.end)
            && ![
                "yes",
                "no",
                "ja",
                "nein",
                "oui",
                "non",
                "si",
                "sim",
                "nao",
                "tak",
                "nie",
                "да",
                "нет",
                "evet",
                "hayir",
                "はい",
                "いいえ",
                "네",
                "نعم",
                "لا",
                "हाँ",
                "नहीं",
                "nope",
                "sure",
                "nee",
            ]
            .contains(&&turn.plain()[hit.start..hit.end])
    })
}
