//! The words that guards know: numbers, months, function words, synonyms, kinds of facts.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use super::{Owner, Phrases, lines, plain_file};
use crate::conversation::guard::text_view::TextView;
use crate::conversation::guard::words::Script;
use crate::text::is_of_word;

/// The entry of a word in any language.
#[derive(Debug, Default)]
pub(in crate::conversation::guard) struct KnownWord {
    pub(in crate::conversation::guard) is_function: bool,
    pub(in crate::conversation::guard) number: Option<u64>,
    /// Whether it is a month or a day of the week.
    pub(in crate::conversation::guard) is_date: bool,
    /// The languages in which it is frequent, a bit each.
    pub(in crate::conversation::guard) languages: u32,
    /// The groups of synonyms that it is in, a bit each.
    pub(in crate::conversation::guard) synonyms: u128,
    /// The rules that look for it, a bit each.
    pub(in crate::conversation::guard) marks: u8,
}

/// The rules that look for a word, of which most texts have none.
pub(in crate::conversation::guard) const NOW: u8 = 1;
pub(in crate::conversation::guard) const GOAL: u8 = 1 << 1;
pub(in crate::conversation::guard) const WE: u8 = 1 << 2;
pub(in crate::conversation::guard) const PLAYS: u8 = 1 << 3;
pub(in crate::conversation::guard) const META: u8 = 1 << 4;

/// A set of plain words, with spaces between them.
pub(in crate::conversation::guard) fn word_set(words: &'static str) -> Words {
    words.split_whitespace().collect()
}

/// A set of plain words.
pub(in crate::conversation::guard) type Words = HashSet<&'static str, BuildHasherDefault<WordHasher>>;
pub(super) type WordTable<V> = HashMap<&'static str, V, BuildHasherDefault<WordHasher>>;

/// Fowler-Noll-Vo: short words, all of them ours, are looked up for every word of a conversation.
#[derive(Default)]
pub(in crate::conversation::guard) struct WordHasher(u64);

/// Numbers that are frequent words of another language too, and the language in which they are numbers.
const HOMOGRAPHS: [(&str, &str); 3] = [("on", "tr"), ("due", "it"), ("once", "es")];

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    }
}
/// Short words within the names of kinds that are everywhere.
const SAYS_NOTHING: [&str; 24] = [
    "|", "por", "que", "ou", "sur", "le", "a", "di", "e", "is", "es", "in", "so", "as", "mark", "much", "many", "ne",
    "ha", "via", "posta", "art", "uhr", "viel",
];

fn parts_of(word: &'static str) -> impl Iterator<Item = &'static str> {
    word.split(['\'', '-']).filter(|part| !part.is_empty())
}

impl Phrases {
    pub(super) fn load_words(&mut self) {
        self.words.reserve(8_000);
        let mut names: Vec<&str> = Vec::new();
        let mut bit = |name| {
            let at = names.iter().position(|it| *it == name).unwrap_or(names.len());
            if at == names.len() {
                names.push(name);
            }
            1u32.checked_shl(at as u32).unwrap_or_default()
        };
        for (language, words) in lines(plain_file(include_str!("functions.txt"))) {
            let bit = bit(language);
            for word in words.split_whitespace().flat_map(parts_of) {
                let word = self.words.entry(word).or_default();
                word.languages |= bit;
                word.is_function = true;
            }
        }
        for (language, words) in lines(plain_file(include_str!("languages.txt"))) {
            let bit = bit(language);
            for word in words.split_whitespace().flat_map(parts_of) {
                self.words.entry(word).or_default().languages |= bit;
            }
        }
        for (language, letters) in lines(include_str!("letters.txt")) {
            let bit = bit(language);
            letters.chars().for_each(|letter| *self.letters.entry(letter).or_default() |= bit);
        }
        let number = |name: &str| names.iter().position(|language| *language == name);
        self.german = number("de");
        self.homographs = HOMOGRAPHS.iter().filter_map(|(word, language)| Some((*word, number(language)?))).collect();
        for (_, words) in lines(plain_file(include_str!("task_words.txt"))) {
            self.task_words.extend(words.split_whitespace().map(|word| (word, ())));
        }
        for (_, words) in lines(plain_file(include_str!("numbers.txt"))) {
            let (ones, tens) = words.split_once(" ; ").unwrap_or((words, ""));
            let ones = ones.split(' ').zip(0..);
            let is_word = |(word, _): &(&str, u64)| *word != "-";
            for (word, number) in ones.chain(tens.split(' ').zip((2..).map(|tens| tens * 10))).filter(is_word) {
                self.words.entry(word).or_default().number = Some(number);
            }
        }
        for (_, words) in lines(plain_file(include_str!("months.txt"))) {
            let (months, days) = words.split_once(" ; ").unwrap_or((words, ""));
            self.months.extend(months.split(' ').zip(1..));
            self.weekdays.extend(days.split(' ').zip(1..));
        }
        for word in self.months.keys().chain(self.weekdays.keys()) {
            self.words.entry(word).or_default().is_date = true;
        }
        for (_, words) in lines(plain_file(include_str!("meta.txt"))) {
            let (who, what) = words.split_once(" ; ").unwrap_or((words, ""));
            self.meta[0].extend(who.split(' '));
            self.meta[1].extend(what.split(' '));
        }
        for (_, words) in lines(plain_file(include_str!("goals.txt"))) {
            self.goals.iter_mut().zip(words.split(" ; ")).for_each(|(goals, words)| goals.extend(words.split(' ')));
        }
        let persons = lines(plain_file(include_str!("persons.txt")));
        self.persons.iter_mut().zip(persons).for_each(|(set, (_, words))| set.extend(words.split(' ')));
        for (_, words) in lines(plain_file(include_str!("plans.txt"))) {
            let mut parts = words.split(" ; ").map(|words| words.split(' '));
            self.due.extend(parts.next().into_iter().flatten());
            self.now.extend(parts.next().into_iter().flatten());
            self.says.extend(parts.next().into_iter().flatten());
        }
        self.meta[1].iter().for_each(|word| self.words.entry(word).or_default().marks |= META);
        let [we, _, _, plays @ ..] = &self.persons;
        let [goals, _, parts] = &self.goals;
        let marked = [(&self.now, NOW), (goals, GOAL), (parts, GOAL), (we, WE)];
        for (set, mark) in marked.into_iter().chain(plays.iter().map(|set| (set, PLAYS))) {
            set.iter().for_each(|word| self.words.entry(word).or_default().marks |= mark);
        }
        for (_, words) in lines(plain_file(include_str!("question_words.txt"))) {
            for (bit, words) in words.split(" ; ").enumerate() {
                for word in words.split(" | ") {
                    let is_joined = |c: char| crate::text::is_unspaced(c) || Script::from_char(c) == Script::Hangul;
                    match word.starts_with(is_joined) {
                        true => self.joined_question_words.push((word, 1 << bit)),
                        false => *self.question_words.entry(word).or_default() |= 1 << bit,
                    }
                }
            }
        }
        for (_, words) in lines(plain_file(include_str!("possessives.txt"))) {
            let (speaker, addressed) = words.split_once(" ; ").unwrap_or((words, ""));
            for (words, owner) in [(speaker, Owner::Speaker), (addressed, Owner::Addressed)] {
                self.possessives.extend(words.split(' ').map(|word| (word, owner)));
            }
        }
        for (bit, (_, words)) in lines(plain_file(include_str!("synonyms.txt"))).enumerate() {
            for word in words.split_whitespace() {
                self.words.entry(word).or_default().synonyms |= 1 << bit;
            }
        }
        for (bit, (_, words)) in lines(plain_file(include_str!("kinds.txt"))).enumerate() {
            for word in words.split_whitespace().filter(|word| !SAYS_NOTHING.contains(word)) {
                let is_spaced = word.chars().all(|c| {
                    !matches!(
                        Script::from_char(c),
                        Script::Han | Script::Katakana | Script::Hiragana | Script::Thai | Script::Hangul
                    )
                });
                match word.strip_suffix('*') {
                    Some(begin) => self.kind_parts[usize::from(!begin.is_ascii())].push((begin, 1 << bit)),
                    None if is_spaced => *self.kinds.entry(word).or_default() |= 1 << bit,
                    None => self.kind_parts[usize::from(!word.is_ascii())].push((word, 1 << bit)),
                }
            }
        }
    }
}

/// Words by which somebody speaks of himself.
static FIRST_PERSON: LazyLock<Words> = LazyLock::new(|| {
    "\
    i my we our us me mine ich mein meine meiner meinen wir unser unsere mir je j mon ma mes nous notre mi mis yo \
    nuestro nuestra nosotros somos mio mia siamo meu minha eu nossa ik mijn wij onze moj moja moje mam я мой моя \
    мое мы меня нас benim bizim मेरा मेरी"
        .split(' ')
        .collect()
});

impl Phrases {
    pub(in crate::conversation::guard) fn is_function(&self, word: &str) -> bool {
        self.words.get(word).is_some_and(|word| word.is_function)
    }

    /// Whether a text is in English, as far as its words say.
    pub(in crate::conversation::guard) fn is_english(&self, text: &TextView<'_>) -> bool {
        text.languages().iter().all(|score| *score <= text.languages()[0])
    }

    /// Whether a word of a task or fact means the user.
    pub(in crate::conversation::guard) fn is_user(&self, word: &str) -> bool {
        self.meta[0].contains(word) || word.starts_with("user")
    }

    /// Whether a plain sentence speaks of the one who writes it.
    pub(in crate::conversation::guard) fn has_first_person(&self, sentence: &str) -> bool {
        sentence.split(|c: char| !is_of_word(c)).any(|word| FIRST_PERSON.contains(word))
            || ["私", "我", "제 ", "저희", "ผม", "ฉัน"].iter().any(|word| sentence.contains(word))
    }
}
