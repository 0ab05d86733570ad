//! The phrases that guards look for, all of them in one pass over a text.

mod lexicon;

use std::collections::HashMap;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::words::{Script, plain};
use crate::text::is_of_word;
use lexicon::WordTable;
pub(super) use lexicon::{KnownWord, Words};

/// A list of phrases: one file of `phrases/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Goodbye,
    Polite,
    Greeting,
    Opener,
    StartOver,
    Assistant,
    AnythingElse,
    AskAgain,
    Answer,
    Awaits,
    NameIs,
    Simulated,
    Details,
    Stage,
    Offer,
    OpenQuestion,
    Done,
    Acts,
    Asks,
    WhatIsWrong,
    Objection,
    Feedback,
    Refusal,
    Confirms,
    Inquiry,
    Unknown,
    Unwilling,
}

const LISTS: [(List, &str); 27] = [
    (List::Goodbye, include_str!("phrases/goodbye.txt")),
    (List::Polite, include_str!("phrases/polite.txt")),
    (List::Greeting, include_str!("phrases/greeting.txt")),
    (List::Opener, include_str!("phrases/opener.txt")),
    (List::StartOver, include_str!("phrases/start_over.txt")),
    (List::Assistant, include_str!("phrases/assistant.txt")),
    (List::AnythingElse, include_str!("phrases/anything_else.txt")),
    (List::AskAgain, include_str!("phrases/ask_again.txt")),
    (List::Answer, include_str!("phrases/answer.txt")),
    (List::Awaits, include_str!("phrases/awaits.txt")),
    (List::NameIs, include_str!("phrases/name_is.txt")),
    (List::Simulated, include_str!("phrases/simulated.txt")),
    (List::Details, include_str!("phrases/details.txt")),
    (List::Stage, include_str!("phrases/stage.txt")),
    (List::Offer, include_str!("phrases/offer.txt")),
    (List::OpenQuestion, include_str!("phrases/open_question.txt")),
    (List::Done, include_str!("phrases/done.txt")),
    (List::Acts, include_str!("phrases/acts.txt")),
    (List::Asks, include_str!("phrases/asks.txt")),
    (List::WhatIsWrong, include_str!("phrases/what_is_wrong.txt")),
    (List::Objection, include_str!("phrases/objection.txt")),
    (List::Feedback, include_str!("phrases/feedback.txt")),
    (List::Refusal, include_str!("phrases/refusal.txt")),
    (List::Confirms, include_str!("phrases/confirms.txt")),
    (List::Inquiry, include_str!("phrases/inquiry.txt")),
    (List::Unknown, include_str!("phrases/unknown.txt")),
    (List::Unwilling, include_str!("phrases/unwilling.txt")),
];

/// How far apart, in bytes, the parts of one phrase may stand.
const GAP: usize = 70;

/// Where a phrase of a list stands in a plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) list: List,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Debug)]
struct Phrase {
    list: List,
    begins_clause: bool,
    ends_clause: bool,
    /// The parts between gaps, and whether any ending may follow.
    parts: Vec<(String, bool)>,
}

/// All lists, ready to be looked for, and the words of all languages that say little or belong to a kind.
pub(super) struct Phrases {
    /// The phrases by their first parts, in the order in which those are looked for.
    all: Vec<Vec<Phrase>>,
    search: Option<AhoCorasick>,
    /// The entries of known words.
    pub(super) words: WordTable<KnownWord>,
    /// The number of German among the languages.
    pub(super) german: Option<usize>,
    /// The letters that few languages have.
    pub(super) letters: HashMap<char, u32>,
    pub(super) task_words: WordTable<()>,
    pub(super) months: WordTable<u64>,
    pub(super) weekdays: WordTable<u64>,
    kinds: WordTable<u32>,
    /// Parts of words that belong to a kind: those of ASCII letters, and all others.
    kind_parts: [Vec<(String, u32)>; 2],
    /// The words of who plays along in a simulated conversation, and of what it is made from.
    pub(super) meta: [Words; 2],
    /// The words before a thing that say whose it is.
    pub(super) possessives: WordTable<Owner>,
}

/// The owner of a thing: the speaker, or the one who is addressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Speaker,
    Addressed,
}

pub(super) static PHRASES: LazyLock<Phrases> = LazyLock::new(Phrases::load);

/// The lines of a file: what stands before the colon, and what behind it.
fn lines(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    file.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "))
}

impl Phrases {
    fn load() -> Phrases {
        let phrases = LISTS
            .into_iter()
            .flat_map(|(list, file)| lines(file).flat_map(move |(_, line)| line.split(" | ").map(move |it| (list, it))))
            .flat_map(|(list, text)| alternatives(text).into_iter().filter_map(move |it| Phrase::parse(list, &it)));
        let (mut all, mut places): (Vec<Vec<Phrase>>, WordTable<usize>) = Default::default();
        for phrase in phrases {
            let place = *places.entry(phrase.parts[0].0.clone()).or_insert(all.len());
            match all.get_mut(place) {
                Some(of_part) => of_part.push(phrase),
                None => all.push(vec![phrase]),
            }
        }
        let search = AhoCorasick::new(all.iter().map(|phrases| phrases[0].parts[0].0.as_str())).ok();
        let mut phrases = Phrases {
            all,
            search,
            words: WordTable::default(),
            german: None,
            letters: HashMap::new(),
            task_words: WordTable::default(),
            months: WordTable::default(),
            weekdays: WordTable::default(),
            kinds: WordTable::default(),
            kind_parts: [Vec::new(), Vec::new()],
            meta: [Words::default(), Words::default()],
            possessives: WordTable::default(),
        };
        phrases.load_words();
        phrases
    }

    /// Where phrases of the lists stand in a plain text.
    pub(super) fn find(&self, plain: &str) -> Vec<Hit> {
        let Some(search) = &self.search else { return Vec::new() };
        let mut hits = Vec::new();
        let bytes = plain.as_bytes();
        for found in search.find_overlapping_iter(plain) {
            // By far the most places end here: within a word.
            if found.start() > 0
                && bytes[found.start() - 1].is_ascii_alphanumeric()
                && bytes[found.start()].is_ascii_alphanumeric()
            {
                continue;
            }
            for phrase in &self.all[found.pattern().as_usize()] {
                if let Some(end) = phrase.ends_at(plain, found.start(), found.end()) {
                    hits.push(Hit { list: phrase.list, start: found.start(), end });
                }
            }
        }
        hits
    }

    /// The kinds of thing that the words of a text ask for or say, a bit each.
    pub(super) fn kinds<'a>(&self, plain: &str, words: impl Iterator<Item = &'a str>) -> u32 {
        let by_words = words.fold(0, |kinds, word| kinds | self.kinds.get(word).copied().unwrap_or_default());
        let [ascii, others] = &self.kind_parts;
        let others = if plain.is_ascii() { &[] } else { others.as_slice() };
        let is_in = |(part, _): &&(String, u32)| plain.contains(part.as_str());
        ascii.iter().chain(others).filter(is_in).fold(by_words, |all, (_, bit)| all | bit)
    }
}

/// Each phrase that a text means, where alternatives stand in brackets: "has been … (booked/cancelled)".
fn alternatives(text: &str) -> Vec<String> {
    let Some((before, (within, after))) =
        text.split_once('(').and_then(|(before, rest)| Some((before, rest.split_once(')')?)))
    else {
        return vec![text.to_owned()];
    };
    let rests = alternatives(after);
    within.split('/').flat_map(|one| rests.iter().map(move |rest| format!("{before}{one}{rest}"))).collect()
}

impl Phrase {
    fn parse(list: List, text: &str) -> Option<Phrase> {
        let text = text.trim();
        let (begins_clause, text) = text.strip_prefix('^').map_or((false, text), |rest| (true, rest));
        let (ends_clause, text) = text.strip_suffix('$').map_or((false, text), |rest| (true, rest));
        let text = plain(&text.replace("* ", "*…"));
        let part = |part: &str| match part.trim().strip_suffix('*') {
            Some(begin) => (begin.trim().to_owned(), true),
            None => (part.trim().to_owned(), false),
        };
        let parts: Vec<(String, bool)> = text.split('…').map(part).filter(|(part, _)| !part.is_empty()).collect();
        (!parts.is_empty()).then_some(Phrase { list, begins_clause, ends_clause, parts })
    }

    /// Where the phrase ends in a text in which its first part stands.
    fn ends_at(&self, plain: &str, start: usize, end: usize) -> Option<usize> {
        if self.begins_clause && !begins_clause(plain, start) || !is_bounded(plain, start, end, self.parts[0].1) {
            return None;
        }
        let mut end = end;
        for (part, any_ending) in &self.parts[1..] {
            let rest = &plain[end..];
            let most = rest.char_indices().map(|(at, _)| at).find(|at| *at > GAP).unwrap_or(rest.len());
            let most = rest[..most].find(is_sentence_end).unwrap_or(most);
            let after = (rest.match_indices(part.as_str()).map(|(at, _)| (end + at, end + at + part.len())))
                .take_while(|(_, to)| *to <= end + most + part.len())
                .find(|(from, to)| is_bounded(plain, *from, *to, *any_ending))?;
            end = after.1;
        }
        (!self.ends_clause || ends_clause(plain, end)).then_some(end)
    }
}

/// The ends of sentences.
pub(super) fn is_sentence_end(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '؟' | '।' | '\n' | '…')
}

fn begins_clause(plain: &str, start: usize) -> bool {
    let before = plain[..start].trim_end_matches([' ', '"', '\'', '*', '(', '¡', '¿', '_']);
    match before.chars().next_back() {
        None => true,
        Some(c) => !is_of_word(c) || Script::from_char(c) == Script::Thai && before.len() < start,
    }
}

fn ends_clause(plain: &str, end: usize) -> bool {
    let after = plain[end..].trim_start_matches([' ', '"', '\'', '*', ')', '_']);
    after.chars().next().is_none_or(|c| !is_of_word(c))
}

/// Whether a part stands by itself: no letter goes on before or after it, in scripts with spaces.
fn is_bounded(plain: &str, start: usize, end: usize, any_ending: bool) -> bool {
    let joins = |one: Option<char>, other: Option<char>| {
        let (Some(one), Some(other)) = (one, other) else { return false };
        let is_spaced = |c: char| {
            is_of_word(c)
                && !matches!(
                    Script::from_char(c),
                    Script::Han | Script::Hiragana | Script::Katakana | Script::Thai | Script::Hangul
                )
        };
        is_spaced(one) && is_spaced(other)
    };
    let before = plain[..start].chars().next_back();
    let is_prefixed =
        before == Some('و') && !plain[..start - 'و'.len_utf8()].chars().next_back().is_some_and(is_of_word);
    (is_prefixed || !joins(before, plain[start..].chars().next()))
        && (any_ending || !joins(plain[..end].chars().next_back(), plain[end..].chars().next()))
}
