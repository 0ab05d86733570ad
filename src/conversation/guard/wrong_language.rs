//! A turn in another language than the conversation, by its script and by its function words.

use super::phrases::PHRASES;
use super::scene::Scene;
use super::text_view::TextView;
use super::words::Script;
use super::{Fault, fault};

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    let turn = scene.text();
    let (_, letters) = turn.outside(&[]);
    let script_of_turn = script(turn)?;
    let has_user = scene.users().next().is_some();
    let mut allowed: Vec<&TextView<'_>> = scene.messages.iter().map(|(_, text)| text).collect();
    if !has_user || allowed.iter().all(|text| script(text).is_none()) {
        allowed.extend(&scene.tasks);
    }
    let scripts: Vec<Script> = allowed.iter().filter_map(|text| script(text)).collect();
    if scripts.is_empty() {
        return None;
    }
    let is_short = match script_of_turn {
        Script::Han | Script::Hiragana | Script::Hangul | Script::Katakana => letters < 4,
        _ => letters < 10 || turn.places().len() < 3,
    };
    let why = "it is in another language than the conversation";
    if is_short {
        return None;
    }
    if !scripts.contains(&script_of_turn) {
        // A few Latin words may be a name.
        let is_name = script_of_turn == Script::Latin && turn.language().is_none() && turn.places().len() < 8;
        return if is_name { None } else { fault(why, turn.raw) };
    }
    let spoken = turn.language()?;
    let languages: Vec<usize> =
        allowed.iter().filter(|text| script(text) == Some(script_of_turn)).filter_map(|text| text.language()).collect();
    // Each text of another script is in another language, and one that is not clear may be in this one.
    if languages.is_empty()
        || languages.contains(&spoken)
        || allowed.iter().any(|text| text.language().is_none() && score(text, spoken) >= 2)
    {
        return None;
    }
    fault(why, turn.raw)
}

/// The script of most letters. Japanese is Hiragana, whatever its characters are.
pub(super) fn script(text: &TextView<'_>) -> Option<Script> {
    let mut counts = [(Script::Latin, 0usize); 16];
    let (mut all, mut kana) = (0, 0);
    let mut quoted = false;
    for c in text.plain().chars() {
        quoted ^= c == '"';
        let script = Script::of(c);
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

fn score(text: &TextView<'_>, language: usize) -> u32 {
    text.words().filter(|word| PHRASES.functions.get(*word).is_some_and(|bits| bits & 1 << language != 0)).count()
        as u32
}

/// The language of a text in Latin or Cyrillic letters, where its function words leave no doubt.
pub(super) fn language(text: &TextView<'_>) -> Option<usize> {
    let mut scores = [0u32; 32];
    let (mut words, mut from, mut is_quoted) = (0, 0, false);
    let plain = text.plain();
    for place in text.places() {
        is_quoted ^= plain[from..place.start].matches('"').count() % 2 == 1;
        from = place.start;
        if is_quoted || !matches!(place.script, Script::Latin | Script::Cyrillic) {
            continue;
        }
        words += 1;
        let mut bits = PHRASES.functions.get(&plain[place.start..place.end]).copied().unwrap_or_default();
        while bits != 0 {
            scores[bits.trailing_zeros() as usize] += 1;
            bits &= bits - 1;
        }
    }
    let best = (0..32).max_by_key(|at| scores[*at])?;
    let next = (0..32).filter(|at| *at != best).map(|at| scores[at]).max().unwrap_or_default();
    let is_sure =
        scores[best] >= 2 && (scores[best] >= next + 2 || scores[best] * 2 > next * 3) && scores[best] * 4 >= words;
    (is_sure && best < PHRASES.languages.len()).then_some(best)
}
