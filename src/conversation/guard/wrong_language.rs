//! A turn in another language than the conversation, by its script and by its function words.

use super::phrases::{KnownWord, PHRASES};
use super::scene::Scene;
use super::text_view::TextView;
use super::words::{Script, Word};
use super::{Fault, fault};
use crate::evidence::DEFAULT_SIGNOFF;

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    let turn = scene.text();
    let (_, letters) = turn.outside(&[]);
    let script_of_turn = turn.script()?;
    let has_user = scene.users().next().is_some();
    let mut allowed: Vec<&TextView<'_>> = scene.messages.iter().map(|(_, text)| text).collect();
    // A phrase of the job's own that ends the conversation is in its language.
    if !has_user && scene.input.signoff != DEFAULT_SIGNOFF && is_of_signoff(scene) {
        return None;
    }
    if !has_user || allowed.iter().all(|text| text.script().is_none()) {
        allowed.extend(scene.tasks);
    }
    let scripts: Vec<Script> = allowed.iter().filter_map(|text| text.script()).collect();
    if scripts.is_empty() {
        return None;
    }
    let is_short = match script_of_turn {
        Script::Han | Script::Hiragana | Script::Hangul | Script::Katakana => letters < 4,
        _ => letters < 9 || turn.places().len() < 3,
    };
    let why = "it is in another language than the conversation";
    if is_short {
        return None;
    }
    let own = turn.languages();
    if !scripts.contains(&script_of_turn) {
        // A few Latin words may be a name.
        let is_name = script_of_turn == Script::Latin && best(own).1 < 1.0 && turn.places().len() < 8;
        return if is_name { None } else { fault(why, &*turn.raw) };
    }
    let others: Vec<&TextView<'_>> = allowed.into_iter().filter(|text| text.script() == Some(script_of_turn)).collect();
    let mut spoken = [0.0; 32];
    for text in &others {
        text.languages().iter().zip(&mut spoken).for_each(|(score, sum)| *sum += score);
    }
    let (main, most) = best(&spoken);
    if most >= 1.5 && best(own).0 == main {
        return None;
    }
    // Words that were said before are no evidence of another language.
    let (language, score) = best(&scores(turn, &others));
    // A language that is not known here: many words, and none of the conversation's.
    let unknown = turn.places().iter().filter(|place| {
        let word = &turn.plain()[place.start..place.end];
        place.script == script_of_turn
            && !others
                .iter()
                .chain(&scene.tasks.iter().chain(scene.facts).collect::<Vec<_>>())
                .any(|text| text.words().any(|it| it == word))
    });
    if most >= 3.0 && own[main] < 0.4 && score < 0.9 && unknown.count() >= 7 {
        return fault(why, &*turn.raw);
    }
    let words: usize = others.iter().map(|text| unquoted(text).count()).sum();
    let is_known = match most >= 1.5 {
        true => spoken[language] * 2.0 >= most || own[main] * 1.5 + 0.4 > score,
        // What is spoken is none of the languages that are known here.
        false => words < 6 || spoken[language] > 0.7 || own[language] < 2.0,
    };
    if score < 0.9 || language == main || is_known { None } else { fault(why, &*turn.raw) }
}

/// Whether a turn is in the language of the sign-off phrase, as far as that shows.
fn is_of_signoff(scene: &Scene<'_>) -> bool {
    let (turn, signoff) = (scene.text(), TextView::new(scene.input.signoff));
    let (language, score) = best(signoff.languages());
    let is_known = matches!(signoff.script(), Some(Script::Latin | Script::Cyrillic));
    signoff.script() == turn.script() && (!is_known || score > 0.0 && best(turn.languages()).0 == language)
}

/// The script of most letters. Japanese is Hiragana, whatever its characters are.
pub(super) fn script(text: &TextView<'_>) -> Option<Script> {
    let mut counts = [(Script::Latin, 0usize); 16];
    let (mut all, mut kana) = (0, 0);
    if text.plain().is_ascii() {
        let has_letters = text.plain().bytes().any(|byte| byte.is_ascii_alphabetic());
        return has_letters.then_some(Script::Latin);
    }
    let mut quoted = false;
    for c in text.plain().chars() {
        quoted ^= c == '"';
        let script = Script::from_char(c);
        if quoted || matches!(script, Script::Digit | Script::Other) {
            continue;
        }
        all += 1;
        kana += usize::from(matches!(script, Script::Hiragana | Script::Katakana));
        counts[script as usize] = (script, counts[script as usize].1 + 1);
    }
    if kana * 8 >= all && kana >= 2 {
        return Some(Script::Hiragana);
    }
    let (script, most) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (most > 0 && most * 10 >= all * 6).then_some(script)
}

/// How much speaks for each language: its frequent words, each divided by the languages that have it, and its letters.
pub(super) fn scores(text: &TextView<'_>, without: &[&TextView<'_>]) -> [f32; 32] {
    let mut scores = [0.0; 32];
    let mut add = |bits: u32, weight: f32| {
        let mut rest = bits;
        while rest != 0 {
            scores[rest.trailing_zeros() as usize] += weight / bits.count_ones() as f32;
            rest &= rest - 1;
        }
    };
    for (place, known) in unquoted(text) {
        if !matches!(place.script, Script::Latin | Script::Cyrillic) {
            continue;
        }
        let word = &text.plain()[place.start..place.end];
        if matches!(word.as_bytes(), [b'b'..=b'd' | b'f'..=b'h' | b'j'..=b'n' | b'p'..=b't' | b'v'..=b'x' | b'z']) {
            continue;
        }
        if let Some(known) = known
            && known.languages != 0
            && !without.iter().any(|other| other.words().any(|it| it == word))
        {
            add(known.languages, 1.0);
        }
    }
    let mut seen = Vec::new();
    for letter in text.raw.chars().filter(|c| !c.is_ascii() && !text.raw.is_ascii()) {
        if let Some(bits) = PHRASES.letters.get(&letter).filter(|_| !seen.contains(&letter)) {
            seen.push(letter);
            add(*bits, 1.0);
        }
    }
    scores
}

/// Its words outside quotation marks: what is quoted may be in any language, and JSON is quoted.
fn unquoted<'t>(text: &'t TextView<'_>) -> impl Iterator<Item = (&'t Word, Option<&'static KnownWord>)> {
    let plain = text.plain();
    let has_quotes = plain.contains('"');
    let (mut from, mut is_quoted) = (0, false);
    text.known().filter(move |(place, _)| {
        is_quoted ^= has_quotes && plain[from..place.start].matches('"').count() % 2 == 1;
        from = place.start;
        !is_quoted
    })
}

fn best(scores: &[f32; 32]) -> (usize, f32) {
    let best = (0..32).max_by(|one, other| scores[*one].total_cmp(&scores[*other])).unwrap_or_default();
    (best, scores[best])
}

/// The language for which most speaks, where there is no doubt.
pub(super) fn language(scores: &[f32; 32]) -> Option<usize> {
    let (language, most) = best(scores);
    let next = (0..32).filter(|at| *at != language).map(|at| scores[at]).fold(0.0, f32::max);
    (most >= 1.2 && most >= next * 1.5 + 0.3).then_some(language)
}

#[cfg(test)]
mod tests {
    use crate::conversation::guard::{GuardInput, check};
    use crate::evidence::{DEFAULT_SIGNOFF, Guard, Message, Role};

    #[test]
    fn an_opening_is_in_the_language_of_the_conversation_or_of_a_sign_off_that_the_job_names() {
        let (tasks, greeting) = (
            ["Frage nach, wann die Müllabfuhr in der Lindenstraße kommt und ob sie auch das Altpapier mitnimmt"],
            [Message::new(Role::Assistant, "Guten Tag! Was kann ich heute für Sie tun?")],
        );
        let is_found = |signoff: &str, transcript: &[Message], turn: &str| {
            let input = GuardInput { tasks: &tasks, signoff, transcript, turn, ..GuardInput::default() };
            check(&input).iter().any(|finding| finding.guard == Guard::WrongLanguage)
        };
        let english = "Hello, could you tell me when they collect the bins in my street, and whether they take paper?";
        let german = "Hallo, wann kommt bei uns in der Straße die Müllabfuhr, und nimmt sie das Altpapier mit?";
        for transcript in [&[][..], &greeting] {
            assert!(is_found(DEFAULT_SIGNOFF, transcript, english));
            assert!(!is_found(DEFAULT_SIGNOFF, transcript, german));
            assert!(!is_found("Thanks, that was all that I wanted to know", transcript, english));
        }
    }
}
