//! A text as guards look at it: its words, and the phrases in it, each found once and only if needed.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

pub(super) use super::content_word::Content;
use super::content_word::ContentWord;
use super::phrases::{Hit, KnownWord, List, PHRASES, is_sentence_end};
use super::values::TextValue;
use super::words::{Script, Word, is_same_stem, plain, stem_bit, words};
use crate::text::is_of_word;

/// The most words of a text that are compared: replies may be megabytes long.
const MAX_COMPARED_WORDS: usize = 400;

#[derive(Debug)]
pub(super) struct TextView<'a> {
    pub(super) raw: Cow<'a, str>,
    plain: OnceCell<String>,
    words: OnceCell<Vec<Word>>,
    known: OnceCell<Vec<Option<&'static KnownWord>>>,
    hits: OnceCell<Vec<Hit>>,
    content: OnceCell<Vec<ContentWord>>,
    weights: OnceCell<Vec<(ContentWord, f64)>>,
    languages: OnceCell<[f32; 32]>,
    script: OnceCell<Option<Script>>,
    kinds: OnceCell<u32>,
    values: OnceCell<Vec<TextValue>>,
    outline: OnceCell<Outline>,
    digits: OnceCell<String>,
    clauses: OnceCell<Vec<TextView<'static>>>,
    question: OnceCell<Option<Box<TextView<'static>>>>,
    questions: OnceCell<Vec<TextView<'static>>>,
    asks: OnceCell<bool>,
    marks: OnceCell<u8>,
    closes: OnceCell<bool>,
    value: OnceCell<Vec<ContentWord>>,
}

/// What decides of most words at once that a text does not have them.
#[derive(Debug, Clone, Copy, Default)]
struct Outline {
    /// A bit for the first letters of each word.
    stems: u128,
    /// The groups of synonyms of all content words.
    synonyms: u128,
    has_numbers: bool,
}

impl<'a> TextView<'a> {
    pub(super) fn new(raw: impl Into<Cow<'a, str>>) -> TextView<'a> {
        TextView {
            raw: raw.into(),
            plain: OnceCell::new(),
            words: OnceCell::new(),
            known: OnceCell::new(),
            hits: OnceCell::new(),
            content: OnceCell::new(),
            weights: OnceCell::new(),
            languages: OnceCell::new(),
            script: OnceCell::new(),
            kinds: OnceCell::new(),
            values: OnceCell::new(),
            outline: OnceCell::new(),
            digits: OnceCell::new(),
            clauses: OnceCell::new(),
            question: OnceCell::new(),
            questions: OnceCell::new(),
            asks: OnceCell::new(),
            marks: OnceCell::new(),
            closes: OnceCell::new(),
            value: OnceCell::new(),
        }
    }

    pub(super) fn plain(&self) -> &str {
        self.plain.get_or_init(|| plain(&self.raw))
    }

    pub(super) fn places(&self) -> &[Word] {
        self.words.get_or_init(|| words(self.plain()))
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.places().iter().map(|word| &self.plain()[word.start..word.end])
    }

    pub(super) fn hits(&self) -> &[Hit] {
        self.hits.get_or_init(|| PHRASES.find(self.plain()))
    }

    pub(super) fn hits_in(&self, list: List) -> impl Iterator<Item = &Hit> {
        self.hits().iter().filter(move |hit| hit.list == list)
    }

    pub(super) fn has(&self, list: List) -> bool {
        self.hits_in(list).next().is_some()
    }

    /// The words that say something: no function words, nothing short.
    pub(super) fn content(&self) -> impl Iterator<Item = Content<'_>> {
        let words = self
            .content
            .get_or_init(|| self.known().filter_map(|(word, known)| self.content_word(word, known)).collect());
        words.iter().map(|content| self.text_of(content))
    }

    /// Its words, with what is known of each in general.
    pub(super) fn known(&self) -> impl Iterator<Item = (&Word, Option<&'static KnownWord>)> {
        let known = self.known.get_or_init(|| self.words().map(|word| PHRASES.words.get(word)).collect());
        self.places().iter().zip(known.iter().copied())
    }

    /// The rules that look for one of its words, a bit each.
    pub(super) fn marks(&self) -> u8 {
        let all = || self.known().filter_map(|(_, known)| known).fold(0, |all, known| all | known.marks);
        *self.marks.get_or_init(all)
    }

    fn text_of(&self, ContentWord { word, synonyms, number }: &ContentWord) -> Content<'_> {
        let text = &self.plain()[word.start..word.end];
        Content { text, synonyms: *synonyms, number: *number, script: word.script }
    }

    /// The number that a known word is. "Due" counts nothing in English, nor does "on"; a word alone may be either.
    pub(super) fn number(&self, word: &str, known: Option<&KnownWord>) -> Option<u64> {
        let number = known?.number?;
        let homograph = PHRASES.homographs.iter().find(|(other, _)| *other == word);
        let is_of = |language: usize| {
            let own = self.languages()[language];
            let has_others = || {
                self.language().is_none()
                    && self.known().any(|(place, known)| {
                        known.is_some_and(|known| known.number.is_some())
                            && &self.plain()[place.start..place.end] != word
                    })
            };
            let is_likely = || own > 0.0 && self.languages().iter().all(|other| *other <= own);
            self.places().len() == 1 || is_likely() || has_others()
        };
        homograph.is_none_or(|(_, language)| is_of(*language)).then_some(number)
    }

    fn content_word(&self, word: &Word, known: Option<&KnownWord>) -> Option<ContentWord> {
        let text = &self.plain()[word.start..word.end];
        let is_long = match word.script {
            Script::Latin | Script::Cyrillic | Script::Greek => text.chars().nth(2).is_some(),
            Script::Digit => true,
            Script::Han if self.plain().contains(Script::is_kana) => true,
            _ => text.chars().nth(1).is_some(),
        };
        let number = self.number(text, known);
        if !is_long || number.is_none() && known.is_some_and(|known| known.is_function) {
            return None;
        }
        let digits = || text.starts_with(|c: char| c.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        let number = number.filter(|number| *number > 1).or_else(digits);
        Some(ContentWord { word: *word, synonyms: known.map_or(0, |known| known.synonyms), number })
    }

    /// The language, where its function words leave no doubt.
    pub(super) fn language(&self) -> Option<usize> {
        super::wrong_language::language(self.languages())
    }

    /// How much speaks for each language.
    pub(super) fn languages(&self) -> &[f32; 32] {
        self.languages.get_or_init(|| super::wrong_language::scores(self, &[]))
    }

    /// The script of most letters.
    pub(super) fn script(&self) -> Option<Script> {
        *self.script.get_or_init(|| super::wrong_language::script(self))
    }

    /// The kinds of thing that it asks for or says, a bit each.
    pub(super) fn kinds(&self) -> u32 {
        *self.kinds.get_or_init(|| PHRASES.kinds(self.plain(), self.words()))
    }

    /// The numbers, times, dates, ids and addresses in it.
    pub(super) fn values(&self) -> &[TextValue] {
        self.values.get_or_init(|| super::values::find_values(self))
    }

    /// All its digits, without what is between them.
    pub(super) fn digits(&self) -> &str {
        self.digits.get_or_init(|| super::values::digits(self.plain()))
    }

    /// Its parts that say something each.
    pub(super) fn clauses(&self) -> &[TextView<'static>] {
        self.clauses
            .get_or_init(|| super::fact_leak::clauses(&self.raw).map(|it| TextView::new(it.to_owned())).collect())
    }

    /// The sentence with which it asks.
    pub(super) fn question(&self) -> Option<&TextView<'static>> {
        let find = || super::asked_kind::question(self).map(|text| Box::new(TextView::new(text.to_owned())));
        self.question.get_or_init(find).as_deref()
    }

    /// All sentences with which it asks, without their marks.
    pub(super) fn questions(&self) -> &[TextView<'static>] {
        self.questions.get_or_init(|| super::role_swap::questions(self.plain()).map(TextView::new).collect())
    }

    /// Whether it has a word that says the same.
    pub(super) fn says(&self, wanted: &Content<'_>) -> bool {
        match wanted.script {
            Script::Han | Script::Thai | Script::Katakana => self.plain().contains(wanted.text),
            _ => self.may_say(wanted) && self.content().any(|word| wanted.is_same(&word)),
        }
    }

    fn may_say(&self, wanted: &Content<'_>) -> bool {
        let outline = self.outline();
        outline.stems & stem_bit(wanted.text) != 0
            || outline.synonyms & wanted.synonyms != 0
            || outline.has_numbers && wanted.number.is_some()
    }

    fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| {
            let mut outline =
                Outline { stems: self.words().fold(0, |bits, word| bits | stem_bit(word)), ..Outline::default() };
            for word in self.content() {
                outline.synonyms |= word.synonyms;
                outline.has_numbers |= word.number.is_some();
            }
            outline
        })
    }

    /// Whether it asks something.
    pub(super) fn asks(&self) -> bool {
        *self.asks.get_or_init(|| {
            self.raw.contains(['?', '？', '؟'])
                || !self.raw.is_ascii()
                    && [
                        "ですか",
                        "ますか",
                        "でしょうか",
                        "吗",
                        "呢",
                        "나요",
                        "까요",
                        "습니까",
                        "ไหม",
                        "หรือไม่",
                        "क्या आप",
                    ]
                    .iter()
                    .any(|part| self.raw.contains(part))
        })
    }

    /// How many characters of words there are outside the phrases of these lists, and how many at all.
    pub(super) fn outside(&self, lists: &[List]) -> (usize, usize) {
        let mut hits: Vec<&Hit> = self.hits().iter().filter(|hit| lists.contains(&hit.list)).collect();
        hits.sort_by_key(|hit| hit.start);
        let (mut outside, mut all, mut next, mut covered) = (0, 0, 0, 0);
        for (at, c) in self.plain().char_indices() {
            while next < hits.len() && hits[next].start <= at {
                covered = covered.max(hits[next].end);
                next += 1;
            }
            if is_of_word(c) {
                all += 1;
                outside += usize::from(at >= covered);
            }
        }
        (outside, all)
    }

    /// Whether it only closes a conversation or thanks.
    pub(super) fn only_closes(&self) -> bool {
        *self.closes.get_or_init(|| {
            let has_phrase = self.has(List::Goodbye) || self.has(List::Polite);
            let (outside, all) = if has_phrase { self.outside(&[List::Goodbye, List::Polite]) } else { (0, 0) };
            let most = if self.has(List::Goodbye) { 14 } else { 2 };
            all > 0 && outside <= most && outside * 5 <= all * 2
        })
    }

    /// What it says of something: its words behind "is", or all.
    pub(super) fn value(&self) -> impl Iterator<Item = Content<'_>> {
        let find = || {
            let all: Vec<Content<'_>> = super::fact_leak::find_value(self);
            let start = |word: &Content<'_>| word.text.as_ptr() as usize - self.plain().as_ptr() as usize;
            let word = |it: &Content<'_>| Word { start: start(it), end: start(it) + it.text.len(), script: it.script };
            all.iter().map(|it| ContentWord { word: word(it), synonyms: it.synonyms, number: it.number }).collect()
        };
        self.value.get_or_init(find).iter().map(|content| self.text_of(content))
    }

    /// Whether it says goodbye, and not only in a quotation.
    pub(super) fn says_goodbye(&self) -> bool {
        self.hits_in(List::Goodbye).any(|hit| !self.is_quoted(hit.start))
    }

    /// Whether a place of the plain text stands between quotation marks.
    pub(super) fn is_quoted(&self, at: usize) -> bool {
        let plain = self.plain();
        plain[..at].matches('"').count() % 2 == 1 && plain[at..].contains('"')
            || plain[..at].rfind(" '").is_some_and(|quote| {
                !plain[quote + 2..at].contains("' ")
                    && plain[at..].contains('\'')
                    && !plain[quote + 2..at].contains('\n')
            })
    }

    /// The sentence of the plain text around a place.
    pub(super) fn sentence(&self, at: usize) -> &str {
        self.plain()[self.sentence_range(at)].trim()
    }

    /// Where the sentence around a place begins and ends.
    pub(super) fn sentence_range(&self, at: usize) -> Range<usize> {
        let plain = self.plain();
        let ends = |(place, c): &(usize, char)| {
            is_sentence_end(*c)
                && plain[place + c.len_utf8()..].chars().next().is_none_or(|next| !next.is_ascii_alphanumeric())
        };
        let start = plain[..at].char_indices().rfind(ends).map_or(0, |(place, c)| place + c.len_utf8());
        let end = plain[at..]
            .char_indices()
            .map(|(place, c)| (at + place, c))
            .find(ends)
            .map_or(plain.len(), |(place, c)| place + c.len_utf8());
        start..end
    }

    /// The raw text of a phrase, as near as it can be shown.
    pub(super) fn shown(&self, hit: &Hit) -> String {
        self.plain()[hit.start..hit.end].to_owned()
    }

    /// Its words with what they count, without greetings: words that say something count four times as much as function words
    /// and politeness.
    pub(super) fn weights(&self) -> impl Iterator<Item = (Content<'_>, f64)> {
        let weights =
            self.weights.get_or_init(|| self.known().filter_map(|(word, known)| self.weight(word, known)).collect());
        weights.iter().map(|(content, weight)| (self.text_of(content), *weight))
    }

    fn weight(&self, place: &Word, known: Option<&KnownWord>) -> Option<(ContentWord, f64)> {
        let within = |list| self.hits_in(list).any(|hit| hit.start <= place.start && place.end <= hit.end);
        if within(List::Greeting) {
            return None;
        }
        match self.content_word(place, known).filter(|_| !within(List::Polite)) {
            Some(content) => Some((content, 1.0)),
            None => Some((ContentWord { word: *place, synonyms: 0, number: None }, 0.25)),
        }
    }

    /// Whether it has a word of the same stem or number, be it a function word.
    pub(super) fn has_word(&self, wanted: &Content<'_>) -> bool {
        match wanted.script {
            Script::Han | Script::Thai | Script::Katakana => self.plain().contains(wanted.text),
            _ => {
                self.outline().stems & stem_bit(wanted.text) != 0
                    && self.words().any(|word| is_same_stem(wanted.text, word))
                    || wanted.number.is_some() && self.says(wanted)
            }
        }
    }

    /// How alike two texts are by their words, from 0 to 1.
    pub(super) fn likeness(&self, other: &TextView<'_>) -> f64 {
        let one: Vec<&str> = self.words().take(MAX_COMPARED_WORDS).collect();
        let two: Vec<&str> = other.words().take(MAX_COMPARED_WORDS).collect();
        if one.is_empty() || two.is_empty() {
            return if self.plain().trim() == other.plain().trim() { 1.0 } else { 0.0 };
        }
        let mut used = vec![false; two.len()];
        let stems = other.outline().stems;
        let shared = one
            .iter()
            .filter(|word| stems & stem_bit(word) != 0)
            .filter(|word| {
                let place = (0..two.len()).find(|at| !used[*at] && is_same_stem(word, two[*at]));
                place.is_some_and(|at| !std::mem::replace(&mut used[at], true))
            })
            .count();
        2.0 * shared as f64 / (one.len() + two.len()) as f64
    }
}
