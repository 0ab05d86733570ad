//! Deviations from JSON that are read.

/// Something that was read although it is no JSON, where it stands first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::dataset) struct JsonNote {
    /// Its first byte.
    pub(in crate::dataset) start: usize,
    /// The byte after its last.
    pub(in crate::dataset) end: usize,
    /// Its description, in a sentence.
    pub(in crate::dataset) message: String,
}

/// A deviation that is reported once, with its count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deviation {
    Comment,
    TrailingComma,
    LineBreak,
    NotANumber,
    LoneSurrogate,
    LongInteger,
}

impl Deviation {
    const ALL: [(Deviation, &str); 6] = [
        (Deviation::Comment, "a comment: JSON has none; it is skipped"),
        (Deviation::TrailingComma, "a comma before a closing bracket: JSON allows none there; it is skipped"),
        (
            Deviation::LineBreak,
            "a control character or line break within a text: JSON wants an escape such as \\n; it is kept",
        ),
        (Deviation::NotANumber, "JSON has no NaN and no Infinity; it is read as null"),
        (Deviation::LoneSurrogate, "half a character (a surrogate without its pair); it is read as \u{fffd}"),
        (Deviation::LongInteger, "a whole number with more digits than are kept; as text it would keep them"),
    ];
}

/// The deviations of a file, and its keys that come twice.
#[derive(Default)]
pub(super) struct Deviations {
    first: [Option<(usize, usize)>; Deviation::ALL.len()],
    count: [usize; Deviation::ALL.len()],
    twice: Vec<JsonNote>,
}

/// The most duplicate keys that are reported.
const MOST_TWICE: usize = 20;

impl Deviations {
    /// Another one.
    pub(super) fn add(&mut self, deviation: Deviation, start: usize, end: usize) {
        let index = deviation as usize;
        self.first[index].get_or_insert((start, end));
        self.count[index] += 1;
    }

    /// A key that its object has already.
    pub(super) fn add_twice(&mut self, key: &str, start: usize, end: usize) {
        if self.twice.len() < MOST_TWICE {
            let key: String = key.chars().take(60).collect();
            let message = format!("the key `{key}` comes twice in this object; the last one counts");
            self.twice.push(JsonNote { start, end, message });
        }
    }

    /// Where a text over several lines began last.
    pub(super) fn has_line_break(&self) -> Option<usize> {
        self.first[Deviation::LineBreak as usize].map(|(start, _)| start)
    }

    /// All of them, in the order in which they stand.
    pub(super) fn notes(self) -> Vec<JsonNote> {
        let mut notes = self.twice;
        for (deviation, message) in Deviation::ALL {
            let index = deviation as usize;
            let Some((start, end)) = self.first[index] else { continue };
            let times = if self.count[index] > 1 { format!(" ({} times)", self.count[index]) } else { String::new() };
            notes.push(JsonNote { start, end, message: format!("{message}{times}") });
        }
        notes.sort_by_key(|note| note.start);
        notes
    }
}
