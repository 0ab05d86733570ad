//! One sentence, cut up for the rules.

/// A sentence without its lead-in (`Could you please …`).
pub(super) struct Sentence<'a> {
    pub(super) text: &'a str,
    pub(super) words: &'a [&'a str],
    pub(super) lower: &'a [String],
    pub(super) verb: &'a str,
}

impl Sentence<'_> {
    pub(super) fn has(&self, any: &[&str]) -> bool {
        self.lower.iter().any(|word| any.contains(&word.as_str()))
    }

    pub(super) fn place(&self, any: &[&str]) -> Option<usize> {
        self.lower.iter().position(|word| any.contains(&word.as_str()))
    }

    pub(super) fn is(&self, verbs: &[&str]) -> bool {
        verbs.contains(&self.verb)
    }

    pub(super) fn starts(&self, words: &[&str]) -> bool {
        self.lower.len() >= words.len() && self.lower.iter().zip(words).all(|(has, wanted)| has == wanted)
    }
}

pub(super) const CREATE: &[&str] =
    &["create", "add", "set", "make", "save", "store", "schedule", "put", "new", "enter", "book"];
pub(super) const DELETE: &[&str] = &["cancel", "delete", "remove", "drop", "erase"];
pub(super) const CHANGE: &[&str] =
    &["move", "reschedule", "change", "postpone", "push", "shift", "update", "correct", "set", "bring"];
pub(super) const SHOW: &[&str] = &["list", "show", "which", "what", "give", "read", "do", "who", "are"];
