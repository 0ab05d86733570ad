//! A turn that begins the conversation again.

use super::phrases::{List, is_sentence_end};
use super::repetition::WordOverlap;
use super::scene::Scene;
use super::text_view::{Content, TextView};
use super::{Fault, fault};
use crate::evidence::Role;

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    let turn = scene.text();
    scene.users().next()?;
    let why = "it begins the conversation again; go on from the last reply";
    if let Some(hit) = turn.hits_in(List::StartOver).find(|hit| !turn.is_quoted(hit.start))
        && !scene.tasks.iter().any(|task| task.has(List::StartOver))
        && !scene.last_agent().is_some_and(|agent| agent.has(List::StartOver) || agent.has(List::AskAgain))
    {
        return fault(why, turn.shown(hit));
    }
    let mut users = scene.users();
    if let (Some(first), true) = (users.next(), users.next().is_some())
        && first.plain() == turn.plain()
        && turn.places().len() >= LEAST_REPEATED
        && matches!(scene.messages.first(), Some((Role::User, _)))
        && !scene.last_agent().is_some_and(|agent| agent.has(List::AskAgain))
    {
        return fault(why, &*turn.raw);
    }
    let plain = turn.plain();
    let greeting = turn
        .hits_in(List::Greeting)
        .filter(|hit| plain[..hit.start].chars().filter(|c| c.is_alphanumeric()).count() <= 4)
        .filter(|hit| {
            plain[..hit.start].trim().is_empty()
                || !turn.hits_in(List::Goodbye).any(|bye| bye.start <= hit.start && hit.end <= bye.end)
        })
        .max_by_key(|hit| hit.end)?;
    let rest = plain[greeting.end..].trim_start();
    let says_again = [
        "again",
        "nochmal",
        "noch einmal",
        "encore",
        "otra vez",
        "de nuevo",
        "ancora",
        "de novo",
        "opnieuw",
        "weer",
        "znowu",
        "ponownie",
        "снова",
        "еще раз",
        "tekrar",
        "又",
        "再次",
        "다시",
        "مره اخري",
        "फिर",
        "อีกครั้ง",
        "でもう",
    ]
    .iter()
    .any(|word| rest.trim_start_matches([',', ' ']).starts_with(word));
    let agent = scene.last_agent().filter(|agent| !agent.raw.trim().is_empty() && !agent.has(List::AskAgain))?;
    if says_again || only_greeted(scene) {
        return None;
    }
    let rest_words = rest.chars().filter(|c| c.is_alphanumeric()).count();
    if rest_words == 0 {
        return if rest.contains(['?', '？', '؟']) { None } else { fault(why, &*turn.raw) };
    }
    // "Good morning works": no greeting.
    let is_greeting = rest
        .starts_with(|c: char| is_sentence_end(c) || matches!(c, ',' | '，' | '、' | '،' | ';' | '-' | '–' | '—'))
        || greeting.end < plain.len() && !rest.starts_with(char::is_alphanumeric)
        || turn.hits_in(List::Opener).any(|hit| hit.start >= greeting.end && hit.start < greeting.end + 12)
        || !plain[greeting.start..greeting.end].is_ascii()
        || names_somebody(rest);
    if !is_greeting || has_more(rest) {
        return None;
    }
    let has_greeted = scene.users().any(|user| user.has(List::Greeting));
    let agent_greets =
        agent.has(List::Greeting) && agent.outside(&[]).1 < 400 && scene.users().count() <= 1 && !has_greeted;
    let goes_on = turn
        .hits_in(List::Answer)
        .chain(turn.hits_in(List::Polite))
        .any(|hit| hit.start >= greeting.end && hit.start <= greeting.end + 2);
    let has_opener = turn.hits_in(List::Opener).any(|hit| hit.start >= greeting.end);
    let is_reply = !has_greeted && agent.asks() && turn.content().any(|word| word.has_digit() || agent.says(&word));
    if JUST_CAME.iter().any(|words| rest.contains(words)) {
        return fault(why, &*turn.raw);
    }
    let begins = !agent_greets && !is_reply && rest_words > 9 && (has_opener || turn.asks() || !goes_on);
    if begins || is_closed(scene) || scene.users().any(|earlier| resembles(turn, earlier, agent_greets)) {
        return fault(why, &*turn.raw);
    }
    None
}

/// The fewest words of an opening that is said again word for word.
const LEAST_REPEATED: usize = 3;

/// Phrases of somebody who has just come.
const JUST_CAME: [&str; 33] = [
    "is anyone there",
    "is anybody there",
    "new to this",
    "i'm new here",
    "i am new here",
    "hope you're doing well",
    "hope you are doing well",
    "hope you're well",
    "hope you are well",
    "ich bin neu hier",
    "je suis nouveau",
    "je suis nouvelle",
    "soy nuevo",
    "soy nueva",
    "sono nuovo",
    "sou novo",
    "i'm getting in touch",
    "i am getting in touch",
    "i'm reaching out",
    "i am reaching out",
    "i'm contacting you",
    "i am contacting you",
    "is now a good time",
    "am i in the right place",
    "ist da jemand",
    "ich melde mich",
    "ich wende mich an",
    "il y a quelqu'un",
    "je vous contacte",
    "hay alguien",
    "me pongo en contacto",
    "c'e qualcuno",
    "is er iemand",
];

/// Whether a name or two stand behind the greeting, and a sentence begins after them: "Hi HR!", "Hello OutdoorBarn,".
fn names_somebody(rest: &str) -> bool {
    let Some(end) = rest.find(['!', ',']) else { return false };
    (1..=3).contains(&rest[..end].split_whitespace().count()) && rest[end + 1..].chars().any(char::is_alphanumeric)
}

/// Whether the user asks what was asked before, in other words.
fn resembles(turn: &TextView<'_>, earlier: &TextView<'_>, agent_greets: bool) -> bool {
    let WordOverlap { old, new, .. } = WordOverlap::new(turn, &[earlier]);
    let least = if agent_greets { 2 } else { 1 };
    old >= least && old * 2 >= new.len() && !new.iter().any(Content::has_digit)
}

/// Whether both have said goodbye.
fn is_closed(scene: &Scene<'_>) -> bool {
    scene.last_agent().is_some_and(|agent| !agent.asks())
        && scene.users().next_back().is_some_and(|user| user.only_closes() && user.says_goodbye())
}

/// Whether the user has done no more than to greet.
fn only_greeted(scene: &Scene<'_>) -> bool {
    scene.users().all(|text| text.has(List::Greeting) && text.outside(&[List::Greeting, List::Polite]).0 <= 6)
}

/// Whether it goes on from what was said.
fn has_more(rest: &str) -> bool {
    let words = [
        "another",
        "one more",
        "also ",
        "sorry",
        "still ",
        "just to",
        "i'm back",
        "i am back",
        "back again",
        "back to ",
        "quick follow",
        "außerdem",
        "ausserdem",
        "noch eine",
        "aussi",
        "autre",
        "tambien",
        "otra",
        "anche",
        "altra",
        "tambem",
        "outra",
        "ook ",
        "nog een",
        "jeszcze",
        "также",
        "еще",
        "ayrica",
        "bir sey daha",
        "还有",
        "另外",
        "それと",
        "あと",
        "그리고",
        "또 ",
        "ايضا",
        "एक और",
        "อีก",
    ];
    // In scripts with spaces, at the beginning of a word.
    words.iter().any(|word| rest.contains(&format!(" {word}")) || !word.is_ascii() && rest.contains(word))
}
