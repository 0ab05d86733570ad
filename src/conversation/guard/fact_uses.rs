//! When each fact was asked for and released.

use std::mem::discriminant;

use super::GuardInput;
use super::fact_asked::{asks_in_particular, is_answer, is_asked_in_particular, may_answer};
use super::fact_leak::{reveals, value};
use super::known_texts::KnownTexts;
use super::phrases::{List, is_sentence_end};
use super::scene::Scene;
use super::text_view::{Content, TextView};
use super::values::{TextValue, ValueKind, values};
use crate::evidence::{FactUse, Message, Transcript};

/// When each fact of a case was asked for and released in a conversation.
pub fn fact_uses(tasks: &[&str], facts: &[&str], transcript: &Transcript) -> Vec<FactUse> {
    let unused = |fact| FactUse { fact, asked: None, released: None, stated: None, prompted: None };
    let mut uses: Vec<FactUse> = (1..).zip(facts).map(|(fact, _)| unused(fact)).collect();
    let messages: Vec<Message> = transcript.messages().collect();
    let input = GuardInput {
        has_facts: true,
        tasks,
        facts,
        signoff: "",
        transcript: &messages,
        turn: "",
        ..GuardInput::default()
    };
    let texts = KnownTexts::of(&input);
    let mut scene = Scene::new(&input, &texts);
    let (mut seen, mut asked_in) = (0, None);
    for turn in &transcript.turns {
        if !turn.is_greeting() {
            scene.messages = &texts.messages[..seen];
            seen += 1;
            scene.turn.text = TextView::new(turn.user.as_str());
            let mut released = 0;
            for (fact, known) in scene.facts.iter().zip(&mut uses).filter(|(_, known)| known.released.is_none()) {
                known.released = reveals(&scene, scene.text(), fact).then_some(turn.number);
                released += usize::from(known.released.is_some());
                if known.released.is_none() || known.asked.is_some() {
                    continue;
                }
                // A fact that is released in answer to a question in other words was asked for too.
                if was_asked_in_other_words(&scene, fact, released) {
                    known.asked = asked_in;
                } else if is_answer(&scene, fact, released) {
                    known.prompted = asked_in;
                }
            }
        }
        if turn.agent.is_some() {
            scene.messages = &texts.messages[..seen];
            let (_, reply) = &texts.messages[seen];
            seen += 1;
            asked_in = Some(turn.number);
            let questions: Vec<TextView<'_>> = questions(&scene, reply).into_iter().map(TextView::new).collect();
            for (fact, known) in scene.facts.iter().zip(&mut uses).filter(|(_, known)| known.asked.is_none()) {
                let asks = |question: &TextView<'_>| asks_in_particular(&scene, question, fact);
                known.asked = questions.iter().any(asks).then_some(turn.number);
            }
            let open = |known: &&mut FactUse| known.released.is_none() && known.stated.is_none();
            for (fact, known) in scene.facts.iter().zip(&mut uses).filter(|(_, known)| open(known)) {
                known.stated = states(&scene, reply, fact).then_some(turn.number);
            }
        }
    }
    uses
}

/// Phrases of a question that asks for no fact in particular.
const GENERAL: [List; 3] = [List::Details, List::AnythingElse, List::OpenQuestion];

fn is_general(text: &TextView<'_>) -> bool {
    GENERAL.into_iter().any(|list| text.has(list))
}

/// Whether the turn, which releases a fact as the `released`th one, does so because the agent asked for it in words that do not
/// name it.
fn was_asked_in_other_words(scene: &Scene<'_>, fact: &TextView<'_>, released: usize) -> bool {
    let is_general = scene.last_agent().is_some_and(is_general);
    !is_general && (is_asked_in_particular(scene, fact) || may_answer(scene, fact, released))
}

/// What a message of the agent asks in particular: the message without its questions for whatever there is, and of each of those
/// what no task says. "Can you tell me more about the order?" asks for nothing where a task speaks of the order.
fn questions(scene: &Scene<'_>, reply: &TextView<'_>) -> Vec<String> {
    if !is_general(reply) {
        return vec![reply.raw.to_string()];
    }
    let (general, rest): (Vec<&str>, Vec<&str>) =
        sentences(&reply.raw).partition(|sentence| is_general(&TextView::new(*sentence)));
    let without_tasks = |sentence: &str| {
        let sentence = TextView::new(sentence);
        let is_of_task = |word: &Content<'_>| scene.tasks.iter().any(|task| task.says(word));
        let of_tasks: Vec<&str> = sentence.content().filter(is_of_task).map(|word| word.text).collect();
        sentence.words().filter(|word| !of_tasks.contains(word)).collect::<Vec<_>>().join(" ") + "?"
    };
    general.into_iter().map(without_tasks).chain([rest.concat()]).collect()
}

/// Whether a message of the agent states what a fact says and was not said before. One that offers a choice, "Friday or
/// Saturday?", asks.
fn states(scene: &Scene<'_>, reply: &TextView<'_>, fact: &TextView<'_>) -> bool {
    let is_stated = |sentence: &str| {
        let sentence = TextView::new(sentence);
        fact.clauses().iter().any(|clause| says_clause(scene, &sentence, clause)) && !offers_choice(&sentence, fact)
    };
    // By far the most replies end here.
    reveals(scene, reply, fact) && sentences(&reply.raw).any(is_stated)
}

/// Whether a sentence has all figures and two of three words of what is new in a clause.
fn says_clause(scene: &Scene<'_>, sentence: &TextView<'_>, clause: &TextView<'_>) -> bool {
    let value: Vec<Content<'_>> = value(clause).into_iter().filter(|word| !scene.is_known(word)).collect();
    let said = value.iter().filter(|word| sentence.says(word)).count();
    !value.is_empty()
        && said * 3 >= value.len() * 2
        && value.iter().all(|word| !word.has_digit() || sentence.says(word))
}

/// Whether a sentence names several things of which a fact has one.
fn offers_choice(sentence: &TextView<'_>, fact: &TextView<'_>) -> bool {
    let (of_sentence, of_fact) = (values(sentence), values(fact));
    let count = |all: &[TextValue], kind: &ValueKind| {
        all.iter().filter(|it| discriminant(&it.kind) == discriminant(kind)).count()
    };
    sentence.words().any(|word| OR.contains(&word))
        || UNSPACED_OR.iter().any(|or| sentence.plain().contains(or))
        || of_fact.iter().any(|it| count(of_sentence, &it.kind) > count(of_fact, &it.kind))
}

/// The sentences of a text. A point within a figure or an address ends none.
fn sentences(raw: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(raw);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = text.char_indices().find(|(at, c)| {
            let end = at + c.len_utf8();
            is_sentence_end(*c) && (*c != '.' || text[end..].chars().next().is_none_or(char::is_whitespace))
        });
        let end = end.map(|(at, c)| at + c.len_utf8());
        rest = end.map(|end| &text[end..]).filter(|rest| !rest.trim().is_empty());
        Some(end.map_or(text, |end| &text[..end]))
    })
}

/// The words between the things of a choice.
pub(super) const OR: [&str; 11] = ["or", "oder", "ou", "o", "of", "lub", "albo", "czy", "или", "veya", "eller"];
/// The same of languages without spaces.
const UNSPACED_OR: [&str; 4] = ["还是", "または", "それとも", "或"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Turn;

    #[test]
    fn a_fact_is_asked_for_and_told_volunteered_or_never_elicited() {
        let facts =
            ["The user's name is Ada Byron", "The order number is 4711-22", "The user prefers pick-up on Friday"];
        let transcript = Transcript {
            turns: vec![
                Turn::answered(1, "Hi, I'm Ada Byron. Where is my parcel?", "Hello! What is your order number?"),
                Turn::answered(2, "It is 4711-22.", "Thank you, it is on its way."),
            ],
        };
        let uses = fact_uses(&["Find out where the parcel is"], &facts, &transcript);
        let shown: Vec<_> = uses.iter().map(|it| (it.fact, it.asked, it.released, it.is_volunteered())).collect();
        assert_eq!(shown, [(1, None, Some(1), true), (2, Some(1), Some(2), false), (3, None, None, false)], "{uses:?}");
    }
    #[test]
    fn a_question_for_whatever_there_is_asks_for_no_fact_in_particular() {
        let tasks = ["Have a parcel sent back"];
        let facts = ["The parcel number is 4711-22", "The parcel is damaged", "The pick-up day is Friday"];
        let uses = |reply: &str, answer: &str| -> Vec<_> {
            let turns =
                vec![Turn::answered(1, "I want to send a parcel back.", reply), Turn::answered(2, answer, "I see.")];
            let uses = fact_uses(&tasks, &facts, &Transcript { turns });
            uses.iter().map(|it| (it.asked, it.released, it.prompted)).collect()
        };
        let unknown = (None, None, None);
        for reply in ["Can you tell me more?", "Any other details about the parcel?", "Could you give me more details?"]
        {
            assert_eq!(uses(reply, "Not really."), [unknown; 3], "{reply}");
            // What it brings is told in answer to it, and nothing else is asked for.
            assert_eq!(uses(reply, "It is damaged."), [unknown, (None, Some(2), Some(1)), unknown], "{reply}");
        }
        // Beside a question that fits, or with words of a fact, it asks for that one.
        for reply in ["What is the parcel number? Any other details?", "Can you tell me more, like the parcel number?"]
        {
            let [number, damage, _] = uses(reply, "4711-22, and it is damaged.")[..] else { panic!("three facts") };
            assert_eq!((number, damage), ((Some(1), Some(2), None), (None, Some(2), Some(1))), "{reply}");
        }
        assert_eq!(uses("Anything else?", "It is damaged.")[1].0, None);
        assert_eq!(uses("What is wrong with it?", "It is damaged.")[1], (Some(1), Some(2), None));
    }

    #[test]
    fn what_the_agent_states_before_it_asks_is_known_to_it() {
        let tasks = ["Find out where the parcel is"];
        let facts = ["The order number is 4711-22", "The pick-up day is Friday"];
        let held = |replies: &[&str]| {
            let turns = (1..).zip(replies).map(|(number, reply)| Turn::answered(number, "Where is my parcel?", reply));
            fact_uses(&tasks, &facts, &Transcript { turns: turns.collect() })
        };
        let shown = |replies: &[&str]| -> Vec<_> {
            held(replies).iter().map(|it| (it.asked, it.stated, it.is_known_to_agent())).collect()
        };
        // In a question, in a statement beside another question, and after it was asked for.
        for reply in ["Your order number is 4711-22, right?", "It is order 4711-22. Is there anything else?"] {
            assert!(held(&[reply])[0].is_known_to_agent(), "{reply}: {:?}", held(&[reply]));
        }
        let asked_first = ["What is your order number?", "I found it: your order number is 4711-22."];
        assert_eq!(shown(&asked_first)[0], (Some(1), Some(2), false));
        // A choice asks, and opening hours state nothing.
        for reply in ["Which day for the pick-up, Friday or Saturday?", "We are open from Monday to Friday."] {
            assert_eq!(held(&[reply])[1].stated, None, "{reply}: {:?}", held(&[reply]));
        }
        assert_eq!(shown(&["Shall I note Friday as the pick-up day?"])[1], (Some(1), Some(1), true));
    }
}
