//! A turn in the assistant's part: what only an assistant says, a question of what the customer wants, a report that the
//! service is done, or the user's own things as somebody else's.

use super::echo::echoed;
use super::informs::informs;
use super::phrases::{Hit, List, Owner, PHRASES, is_sentence_end};
use super::scene::Scene;
use super::text_view::{Content, TextView};
use super::words::Script;
use super::{Fault, fault};
use crate::text::is_of_word;

/// Words by which a sentence is about the assistant, not of it.
const TURNED_ROUND: [&str; 24] = [
    "are you ",
    "did you",
    "you said",
    "you told",
    "you wrote",
    "you asked",
    "your website",
    "says ",
    "email said",
    "i got a",
    "why do you",
    "sind sie",
    "bist du",
    "haben sie",
    "etes-vous",
    "est-ce que vous etes",
    "eres ",
    "es usted",
    "sei ",
    "lei e ",
    "voce e ",
    "ben je",
    "czy jestes",
    "вы ",
];

/// The persons that a speaker names who offers or asks for himself, where it is not the subject: "would you like me to …".
const OBJECT: [&str; 24] = [
    "me", "my", "mine", "mich", "mir", "mein", "meine", "meinen", "moi", "mon", "ma", "mes", "mi", "mis", "conmigo",
    "mio", "mia", "meu", "minha", "mij", "mijn", "мне", "мой", "моя",
];

/// How somebody speaks of what he did himself.
const SUBJECT: [&str; 11] = ["i", "ich", "je", "j", "yo", "io", "eu", "ik", "ja", "я", "ben"];

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    let turn = scene.text();
    let why = "it speaks as the assistant; you are the user";
    for hit in turn.hits_in(List::Assistant) {
        let before = &turn.plain()[..hit.start];
        let sentence = turn.sentence(hit.start);
        let is_question = sentence.ends_with(['?', '؟']);
        let clause = before.rsplit(is_sentence_end).next().unwrap_or(before);
        let is_turned_round = TURNED_ROUND
            .iter()
            .any(|part| clause.contains(part) || is_question && sentence.starts_with(part) && clause.contains(part));
        let rest = turn.plain()[hit.end..].split(is_sentence_end).next().unwrap_or_default();
        // "I've scanned it for you, how do I attach it?"
        let is_of_user = is_question && rest.starts_with([',', ';', ' ']) && rest.contains(" do i ")
            || OF_USER.iter().any(|part| rest.contains(part))
            || WAITS.iter().any(|part| rest.starts_with(part));
        if !turn.is_quoted(hit.start) && !is_turned_round && !is_of_task(scene, hit) && !is_of_user {
            return fault(why, sentence);
        }
    }
    let offers = turn.hits_in(List::Offer).find(|hit| {
        let sentence = turn.sentence(hit.start);
        is_question(sentence) && !has_word(sentence, &OBJECT) && !turn.is_quoted(hit.start)
    });
    let done = turn.hits_in(List::Done).find(|hit| is_done(scene, turn.sentence(hit.start)));
    let acts = turn.hits().iter().find(|hit| serves(scene, hit));
    if let Some(hit) = offers.or(done).or(acts) {
        return fault(why, turn.sentence(hit.start));
    }
    let copied = || {
        instructs_as_agent(scene)
            .or_else(|| echoed(scene))
            .or_else(|| informs(scene))
            .or_else(|| copied_from_agent(scene))
    };
    if let Some(sentence) = others_thing(scene).or_else(|| agents_question(scene)).or_else(copied) {
        return fault(why, sentence);
    }
    None
}

/// A sentence that tells the other to do what the agent has just told the user to do, beginning with the same words: "Please open
/// the settings".
fn instructs_as_agent<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let (turn, agent) = (scene.text(), scene.last_agent()?);
    // A cheap test that rules most turns out.
    if !turn.words().any(|word| PLEASE.contains(&word) || ADDRESSED.contains(&word)) {
        return None;
    }
    let is_question = |sentence: &str| sentence.trim_end().ends_with(['?', '؟']);
    let without_please = |sentence: &'s str| -> Vec<&'s str> {
        words_of(sentence).skip_while(|word| PLEASE.contains(word) || matches!(*word, "then" | "dann")).collect()
    };
    let of_agent = agent.plain().split_inclusive(is_sentence_end).filter(|sentence| !is_question(sentence));
    let of_agent: Vec<Vec<&str>> = of_agent.map(without_please).collect();
    let sentences = turn.plain().split_inclusive(is_sentence_end).map(str::trim);
    sentences.filter(|sentence| !is_question(sentence)).find(|sentence| {
        let words: Vec<&str> = words_of(sentence).collect();
        let is_polite = words.first().is_some_and(|word| PLEASE.contains(word));
        let is_thanked = |at: usize| at > 0 && THANKS.contains(&words[at - 1]);
        let is_to_other = is_polite || (0..words.len()).any(|at| ADDRESSED.contains(&words[at]) && !is_thanked(at));
        let is_first_person = has_word(sentence, &OBJECT) || has_word(sentence, &SUBJECT);
        let own = without_please(sentence);
        let is_same = || own.get(..SAME_WORDS).is_some_and(|own| of_agent.iter().any(|it| it.starts_with(own)));
        let start = sentence.as_ptr() as usize - turn.plain().as_ptr() as usize;
        is_to_other && !is_first_person && is_same() && !turn.is_quoted(start)
    })
}

/// Words before "you" with which somebody thanks.
const THANKS: [&str; 5] = ["thank", "dank", "danke", "obrigado", "obrigada"];

/// How a matter of the other's is settled.
const SETTLED: [&str; 8] =
    ["confirmed", "booked", "scheduled", "cancelled", "canceled", "registered", "rescheduled", "reserved"];

fn words_of(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split(|c: char| !is_of_word(c)).filter(|word| !word.is_empty())
}

/// How many words at the beginning of an instruction are those of another one.
const SAME_WORDS: usize = 3;

const PLEASE: [&str; 6] = ["please", "bitte", "prego", "alstublieft", "prosze", "пожалуиста"];

const ADDRESSED: [&str; 16] = [
    "you", "your", "you're", "sie", "ihr", "ihre", "ihren", "dein", "deine", "vous", "votre", "vos", "usted", "su",
    "lei", "u",
];

/// Whether what only the one who serves does is done by the turn itself: not asked for, quoted, reported of the other, part of
/// a task, nor about the user's own things.
fn serves(scene: &Scene<'_>, hit: &Hit) -> bool {
    let turn = scene.text();
    let (is_act, is_request) = (hit.list == List::Acts, hit.list == List::Asks);
    if !is_act && !is_request {
        return false;
    }
    let sentence = turn.sentence(hit.start);
    let rest = turn.plain()[hit.start..].split(is_sentence_end).next().unwrap_or_default();
    (is_request || !is_question(sentence))
        && !has_word(rest, &OBJECT)
        && !turn.is_quoted(hit.start)
        && !TURNED_ROUND.iter().any(|part| sentence.contains(part))
        && !is_of_task(scene, hit)
}

/// Whether a task has the phrase: as it stands, or as a thing of the other's that the user is to ask for, "your opening hours". A
/// thing that a fact has is the user's.
fn is_of_task(scene: &Scene<'_>, hit: &Hit) -> bool {
    let turn = scene.text();
    let phrase = &turn.plain()[hit.start..hit.end];
    let sentence = turn.sentence(hit.start);
    if turn.plain()[hit.start..].split(is_sentence_end).next().is_some_and(|rest| rest.contains("your website")) {
        return true;
    }
    // Who says of the other's thing that it is settled asks for nothing.
    if phrase.starts_with("your ") && sentence.starts_with(phrase) && has_word(sentence, &SETTLED) {
        return false;
    }
    let in_task = |part: &str| scene.tasks.iter().any(|task| task.plain().contains(part));
    let thing = match phrase.strip_prefix("your ") {
        Some(rest) => rest.split(' ').next(),
        None if phrase.ends_with(" your") => turn.plain()[hit.end..].split_whitespace().next(),
        None => None,
    };
    let is_of_user = |thing: &str| scene.facts.iter().any(|fact| fact.plain().contains(thing));
    in_task(phrase) || thing.is_some_and(|thing| thing.len() >= LEAST_THING && in_task(thing) && !is_of_user(thing))
}

/// The fewest letters of a thing by which a task is known.
const LEAST_THING: usize = 4;

/// The parts of a sentence by which the speaker is the one of whom something is needed.
const OF_USER: [&str; 10] = [
    "from me",
    "from my",
    "my side",
    "my end",
    "von mir",
    "von meiner",
    "de ma part",
    "de mi parte",
    "da parte mia",
    "van mij",
];

/// The things that a customer is happy to do.
const WAITS: [&str; 4] = [" wait", " come", " pay", " hold"];

fn is_question(sentence: &str) -> bool {
    TextView::new(sentence).asks() || sentence.ends_with('か') || sentence.ends_with("か。")
}

fn has_word(sentence: &str, words: &[&str]) -> bool {
    sentence.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word))
}

/// Whether a sentence reports what was done about a task, where neither a fact nor the assistant says so, and the user has done
/// nothing by tools of its own.
fn is_done(scene: &Scene<'_>, sentence: &str) -> bool {
    let is_of_user = has_word(sentence, &OBJECT) || has_word(sentence, &SUBJECT) || is_question(sentence);
    let is_known = scene.facts.iter().chain(scene.last_agent()).any(|text| text.has(List::Done));
    let is_turned_round = TURNED_ROUND.iter().any(|part| sentence.contains(part));
    if is_of_user || is_known || is_turned_round || scene.input.has_acted {
        return false;
    }
    let view = TextView::new(sentence);
    scene
        .tasks
        .iter()
        .any(|task| task.content().any(|word| !PHRASES.task_words.contains_key(word.text) && view.says(&word)))
}

/// A sentence that calls a thing "yours" that is the user's own.
fn others_thing<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    let (place, thing) = owned(turn, Owner::Addressed).into_iter().find(|(_, thing)| {
        !PHRASES.task_words.contains_key(thing.text)
            && (scene.users().any(|text| has_owned(text, Owner::Speaker, thing))
                || scene.agents().any(|text| has_owned(text, Owner::Addressed, thing)))
    })?;
    let sentence = turn.sentence(place);
    (!turn.is_quoted(place) && !THANKED.contains(&thing.text)).then_some(sentence)
}

/// Things that users thank for, and that both have.
const THANKED: [&str; 16] = [
    "help",
    "time",
    "patience",
    "understanding",
    "name",
    "day",
    "question",
    "answer",
    "hilfe",
    "aide",
    "ayuda",
    "aiuto",
    "ajuda",
    "hulp",
    "pomoc",
    "помощь",
];

fn has_owned(text: &TextView<'_>, owner: Owner, thing: &Content<'_>) -> bool {
    owned(text, owner).iter().any(|(_, other)| other.is_same(thing))
}

/// The things behind a possessive, with its place.
fn owned<'t>(text: &'t TextView<'_>, owner: Owner) -> Vec<(usize, Content<'t>)> {
    let plain = text.plain();
    let mut all = Vec::new();
    let mut before: Option<usize> = None;
    for (word, weight) in text.weights() {
        let start = word.text.as_ptr() as usize - plain.as_ptr() as usize;
        match PHRASES.possessives.get(word.text) {
            Some(found) => before = (*found == owner).then_some(start),
            None if weight == 1.0 => all.extend(before.take().map(|place| (place, word))),
            None => before = None,
        }
    }
    if let Some(script) = text.places().first().map(|word| word.script)
        && matches!(script, Script::Han | Script::Thai)
    {
        let marks: Vec<&str> =
            PHRASES.possessives.iter().filter(|(_, it)| **it == owner).map(|(word, _)| *word).collect();
        for (word, _) in text.weights() {
            let start = word.text.as_ptr() as usize - plain.as_ptr() as usize;
            all.extend(marks.iter().any(|mark| plain[..start].ends_with(mark)).then_some((start, word)));
        }
    }
    all
}

/// The longest sentence of the assistant's in a turn of which each sentence was said before, word for word.
pub(super) fn copied_from_agent<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let plain = scene.text().plain();
    let place = |sentence: &str| {
        let start = sentence.as_ptr() as usize - plain.as_ptr() as usize;
        start..start + sentence.len()
    };
    let range = scene.copied.get_or_init(|| find_copied(scene).map(place)).clone()?;
    plain.get(range)
}

fn find_copied<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    if turn.is_quoted(0) {
        return None;
    }
    let words = |sentence: &str| TextView::new(sentence).places().len();
    let sentences = || turn.plain().split(is_sentence_end).map(str::trim).filter(|sentence| !sentence.is_empty());
    // A short one may stand within another one.
    let is_whole = |agent: &TextView<'_>, sentence: &str| {
        words(sentence) > LEAST_PARROTED || agent.plain().split(is_sentence_end).any(|it| it.trim() == sentence)
    };
    let is_in = |agent: &TextView<'_>, sentence: &str| agent.plain().contains(sentence) && is_whole(agent, sentence);
    let is_said = |sentence: &&str| scene.agents().any(|agent| is_in(agent, sentence));
    let is_own = |sentence: &str| scene.users().any(|user| user.plain().contains(sentence));
    // A cheap test that rules most turns out.
    if !sentences().all(|sentence| is_said(&sentence) || words(sentence) <= 1 || is_own(sentence)) {
        return None;
    }
    let longest = sentences().filter(is_said).max_by_key(|sentence| sentence.len())?;
    let is_question = || words(longest) >= LEAST_ASKED && turn.asks();
    (words(longest) >= LEAST_PARROTED || is_question()).then_some(longest)
}

/// The fewest words of a sentence that nobody says in the other's words by chance.
const LEAST_PARROTED: usize = 5;
/// The same of a question.
const LEAST_ASKED: usize = 4;

/// A sentence that is one of the assistant's own questions.
fn agents_question<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    for (at, _) in turn.plain().char_indices().filter(|(_, c)| matches!(c, '?' | '？' | '؟')) {
        let sentence = turn.sentence(at);
        let view = TextView::new(sentence);
        if view.places().len() < 4 {
            continue;
        }
        // Texts of which one is much longer are not alike.
        let words = view.places().len();
        let is_as_long = |it: &&TextView<'_>| {
            it.places().len().min(words) as f64 * 2.0 >= ALIKE * (it.places().len() + words) as f64
        };
        let is_agents = scene
            .agents()
            .flat_map(TextView::questions)
            .filter(is_as_long)
            .any(|question| question.likeness(&view) >= ALIKE);
        if is_agents {
            return Some(sentence);
        }
    }
    None
}

/// From this likeness on a question is the agent's own.
const ALIKE: f64 = 0.85;

/// The sentences of a plain text that end with the mark of a question, without it.
pub(super) fn questions(plain: &str) -> impl Iterator<Item = String> {
    plain.split_inclusive(['?', '？', '؟']).filter_map(|part| {
        let question = part.strip_suffix(['?', '？', '؟'])?.trim_end_matches(['?', '？', '؟']);
        Some(question.rsplit(is_sentence_end).next().unwrap_or(question).to_owned())
    })
}
