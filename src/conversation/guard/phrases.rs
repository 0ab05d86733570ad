//! The phrases that guards look for, all of them in one pass over a text.

mod index;
mod lexicon;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::text_view::TextView;
use super::words::{Script, plain};
use crate::text::is_of_word;
use index::PhraseIndex;
use lexicon::WordTable;
pub(super) use lexicon::{GOAL, KnownWord, META, NOW, PLAYS, WE, Words, word_set};

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
    Vague,
}

const LISTS: [(List, &str); 28] = [
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
    (List::Vague, include_str!("phrases/vague.txt")),
];

/// About as many phrases as there are.
const LEAST_CAPACITY: usize = 12_000;

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
    first: PhrasePart,
    /// The parts behind gaps.
    rest: Vec<PhrasePart>,
}

/// A part of a phrase, and whether any ending may follow.
#[derive(Debug)]
struct PhrasePart {
    text: Cow<'static, str>,
    any_ending: bool,
}

/// All lists, ready to be looked for, and the words of all languages that say little or belong to a kind.
pub(super) struct Phrases {
    /// The phrases, those with the same first part side by side.
    all: Vec<Phrase>,
    index: PhraseIndex,
    /// The entries of known words.
    pub(super) words: WordTable<KnownWord>,
    /// The number of German among the languages.
    pub(super) german: Option<usize>,
    /// Numbers that are frequent words of another language, with the number of the language in which they are numbers.
    pub(super) homographs: Vec<(&'static str, usize)>,
    /// The letters that few languages have.
    pub(super) letters: HashMap<char, u32>,
    pub(super) task_words: WordTable<()>,
    pub(super) months: WordTable<u64>,
    pub(super) weekdays: WordTable<u64>,
    /// The words and pairs of words that ask, with the kinds of answers that they want; and those of languages that join their words.
    question_words: WordTable<u8>,
    joined_question_words: Vec<(&'static str, u8)>,
    kinds: WordTable<u32>,
    /// Parts of words that belong to a kind: those of ASCII letters, and all others.
    kind_parts: [Vec<(&'static str, u32)>; 2],
    /// The words of who plays along in a simulated conversation, and of what it is made from.
    pub(super) meta: [Words; 2],
    /// Words for goals, for that they are reached, and for their parts.
    pub(super) goals: [Words; 3],
    /// Words for persons, as `phrases/persons.txt` has them.
    pub(super) persons: [Words; 6],
    /// Words by which it is due to say something; those for now; and the beginnings of those for saying.
    pub(super) due: Words,
    pub(super) now: Words,
    pub(super) says: Vec<&'static str>,
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

/// A file in the form in which words are compared. It is kept as long as the program runs, so that what it says can be pointed at.
fn plain_file(file: &str) -> &'static str {
    String::leak(plain(file))
}

/// The first eight bytes of a text, so that they are in the order of the texts.
fn first_bytes(text: &str) -> u64 {
    match text.as_bytes().first_chunk() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => text.bytes().chain(std::iter::repeat(0)).take(8).fold(0, |all, byte| all << 8 | u64::from(byte)),
    }
}

impl Phrases {
    fn load() -> Phrases {
        let mut all = Vec::with_capacity(LEAST_CAPACITY);
        for (list, file) in LISTS {
            for (_, line) in lines(plain_file(file)) {
                for text in line.split('|') {
                    match text.contains('(') {
                        true => alternatives(text).iter().for_each(|it| all.extend(Phrase::parse(list, it))),
                        false => all.extend(Phrase::parse_static(list, text)),
                    }
                }
            }
        }
        // What was written first is found first. Most texts differ in their first bytes, which are one number.
        all.sort_by_cached_key(|phrase| (first_bytes(&phrase.first.text), phrase.first.text.clone()));
        let index = PhraseIndex::new(all.iter().map(|phrase| &*phrase.first.text));
        let mut phrases = Phrases {
            all,
            index,
            words: WordTable::default(),
            german: None,
            homographs: Vec::new(),
            letters: HashMap::new(),
            task_words: WordTable::default(),
            months: WordTable::default(),
            weekdays: WordTable::default(),
            question_words: WordTable::default(),
            joined_question_words: Vec::new(),
            kinds: WordTable::default(),
            kind_parts: [Vec::new(), Vec::new()],
            meta: [Words::default(), Words::default()],
            goals: [Words::default(), Words::default(), Words::default()],
            persons: std::array::from_fn(|_| Words::default()),
            due: Words::default(),
            now: Words::default(),
            says: Vec::new(),
            possessives: WordTable::default(),
        };
        phrases.load_words();
        phrases
    }

    /// The kinds of answers that the question words of a text want, a bit each, in the order of `phrases/question_words.txt`.
    pub(super) fn wants(&self, text: &TextView<'_>) -> u8 {
        let (plain, places) = (text.plain(), text.places());
        let word = |start: usize, end: usize| self.question_words.get(&plain[start..end]).copied().unwrap_or_default();
        let of_words = places.iter().fold(0, |all, it| all | word(it.start, it.end));
        let of_pairs = places.windows(2).fold(0, |all, pair| all | word(pair[0].start, pair[1].end));
        let joined = self.joined_question_words.iter().filter(|(part, _)| !plain.is_ascii() && plain.contains(part));
        joined.fold(of_words | of_pairs, |all, (_, wants)| all | wants)
    }

    /// Where phrases of the lists stand in a plain text.
    pub(super) fn find(&self, plain: &str) -> Vec<Hit> {
        let text = |at: usize| &*self.all[at].first.text;
        let mut hits = Vec::new();
        for found in self.index.find(plain, text) {
            for phrase in &self.all[found.phrases.clone()] {
                if let Some(end) = phrase.ends_at(plain, found.start, found.end) {
                    hits.push(Hit { list: phrase.list, start: found.start, end });
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
        let is_in = |(part, _): &&(&str, u32)| plain.contains(*part);
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
    within.split('/').flat_map(|one| rests.iter().map(move |rest| [before, one, rest].concat())).collect()
}

impl Phrase {
    fn parse(list: List, text: &str) -> Option<Phrase> {
        Phrase::of_parts(list, text, |part| Cow::Owned(part.to_owned()))
    }

    fn parse_static(list: List, text: &'static str) -> Option<Phrase> {
        Phrase::of_parts(list, text, Cow::Borrowed)
    }

    /// A phrase by its parts, each made with `keep`.
    fn of_parts<'t>(list: List, text: &'t str, keep: impl Fn(&'t str) -> Cow<'static, str>) -> Option<Phrase> {
        let text = text.trim();
        let (begins_clause, text) = text.strip_prefix('^').map_or((false, text), |rest| (true, rest));
        let (ends_clause, text) = text.strip_suffix('$').map_or((false, text), |rest| (true, rest));
        let part = |part: &'t str| {
            let part = part.trim();
            let (text, any_ending) = part.strip_suffix('*').map_or((part, false), |begin| (begin.trim(), true));
            (!text.is_empty()).then(|| PhrasePart { text: keep(text), any_ending })
        };
        if !text.as_bytes().contains(&b'*') && (text.is_ascii() || !text.contains('…')) {
            return Some(Phrase { list, begins_clause, ends_clause, first: part(text)?, rest: Vec::new() });
        }
        // An ending ends a part as well: "bestatig* sie".
        let mut parts = text.split('…').flat_map(|text| text.split_inclusive("* ")).filter_map(part);
        Some(Phrase { list, begins_clause, ends_clause, first: parts.next()?, rest: parts.collect() })
    }

    /// Where the phrase ends in a text in which its first part stands.
    fn ends_at(&self, plain: &str, start: usize, end: usize) -> Option<usize> {
        if self.begins_clause && !begins_clause(plain, start) || !is_bounded(plain, start, end, self.first.any_ending) {
            return None;
        }
        let mut end = end;
        for PhrasePart { text: part, any_ending } in &self.rest {
            let rest = &plain[end..];
            let most = rest.char_indices().map(|(at, _)| at).find(|at| *at > GAP).unwrap_or(rest.len());
            let most = rest[..most].find(is_sentence_end).unwrap_or(most);
            let near = (most + part.len()).min(rest.len());
            let near = &rest[..(most..=near).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(most)];
            let after = (near.match_indices(&**part).map(|(at, _)| (end + at, end + at + part.len())))
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

/// Whether a word goes on with a character, in scripts with spaces: no phrase begins there.
fn goes_on(before_that: Option<char>, before: Option<char>, c: char) -> bool {
    let is_prefixed = before == Some('و') && !before_that.is_some_and(is_of_word);
    !is_prefixed && joins(before, Some(c))
}

fn joins(one: Option<char>, other: Option<char>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return false };
    let is_spaced = |c: char| {
        c.is_ascii_alphanumeric()
            || is_of_word(c)
                && !matches!(
                    Script::from_char(c),
                    Script::Han | Script::Hiragana | Script::Katakana | Script::Thai | Script::Hangul
                )
    };
    is_spaced(one) && is_spaced(other)
}

/// Whether a part stands by itself: no letter goes on before or after it, in scripts with spaces.
fn is_bounded(plain: &str, start: usize, end: usize, any_ending: bool) -> bool {
    let mut before = plain[..start].chars().rev();
    let (before, before_that) = (before.next(), before.next());
    !plain[start..].chars().next().is_some_and(|c| goes_on(before_that, before, c))
        && (any_ending || !joins(plain[..end].chars().next_back(), plain[end..].chars().next()))
}
