//! Finds a task's acceptance criteria in the agent's replies.

use std::fmt;

use super::fact::Fact;
use super::words::{WordSet, alternatives, content_words};

/// The facts of the case, and whether the user knew them.
pub(super) struct Facts {
    pub(super) list: Vec<Fact>,
    pub(super) known_to_user: bool,
}

/// Which words and numbers of the criteria were found.
#[derive(Default)]
pub(super) struct CriteriaFindings {
    found: Vec<String>,
    missing: Vec<String>,
    /// Facts that the user could not give: the agent asked for them or said what it assumed.
    excused: Vec<String>,
    /// The share of the criteria's words that was found, 0 to 1; what is excused counts half.
    pub(super) share: f64,
}

impl CriteriaFindings {
    /// Looks for the criteria's words in what the agent stated. Words that name a fact stand for its value; of alternatives the one of
    /// which most is found counts.
    pub(super) fn new(criteria: &str, stated: &str, questions: &[String], facts: &Facts) -> CriteriaFindings {
        let found = |criteria: String| CriteriaFindings::of_one(&criteria, stated, questions, facts);
        let mut all = alternatives(criteria).into_iter().map(found);
        let first = all.next().unwrap_or_default();
        all.fold(first, |best, next| if next.share > best.share { next } else { best })
    }

    fn of_one(criteria: &str, stated: &str, questions: &[String], facts: &Facts) -> CriteriaFindings {
        if contains(criteria, NOT_KNOWING) {
            let is_said = contains(stated, NOT_KNOWING);
            let said = vec!["that it is not known".to_owned()];
            let (found, missing) = if is_said { (said, Vec::new()) } else { (Vec::new(), said) };
            return CriteriaFindings { found, missing, share: f64::from(u8::from(is_said)), ..Default::default() };
        }
        let stated = WordSet::new(stated);
        let assumed = ["assume", "assumed", "assuming", "assumption"].iter().any(|word| stated.has(word));
        let named = WordSet::new(criteria);
        let mut words = content_words(criteria);
        let (possible, mut earned) = (words.len(), 0.0);
        let mut findings = CriteriaFindings::default();
        for fact in facts.list.iter().filter(|fact| named.has_all(&fact.subject)) {
            let before = words.len();
            // `shoe` and `size` are parts of `shoesize`.
            words.retain(|word| !fact.subject.iter().any(|part| part.contains(word.as_str())));
            let weight = (before - words.len()) as f64;
            let name = fact.subject.join(" ");
            let asked = || questions.iter().any(|question| fact.is_asked_for_by(question));
            if stated.has_all(&content_words(&fact.value)) {
                findings.found.push(format!("{name} ({})", fact.value));
                earned += weight;
            } else if !facts.known_to_user && (assumed || asked()) {
                findings.excused.push(name);
                earned += weight / 2.0;
            } else {
                findings.missing.push(format!("{name} ({})", fact.value));
            }
        }
        let (found, missing): (Vec<String>, Vec<String>) = words.into_iter().partition(|word| stated.has(word));
        earned += found.len() as f64;
        findings.found.extend(found);
        findings.missing.extend(missing);
        // Criteria without a single content word ask for nothing that could be missing.
        findings.share = if possible == 0 { 1.0 } else { earned / possible as f64 };
        findings
    }
}

/// Whether one of these phrases is in a text.
pub(super) fn contains(text: &str, phrases: &[&str]) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    phrases.iter().any(|phrase| lower.contains(phrase))
}

/// How criteria and replies say that something is not known.
pub(super) const NOT_KNOWING: &[&str] = &[
    "not known",
    "isn't known",
    "unknown",
    "not know",
    "n't know",
    "no information",
    "not told me",
    "haven't told me",
];

/// The reason for a score, without a full stop.
impl fmt::Display for CriteriaFindings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = self.found.join(", ");
        match (self.found.is_empty(), self.missing.is_empty() && self.excused.is_empty()) {
            (true, true) => write!(f, "The criteria name nothing that could be looked for")?,
            (true, false) => write!(f, "The replies show nothing of what the criteria name")?,
            (false, true) => write!(f, "The replies show all that the criteria name: {found}")?,
            (false, false) => write!(f, "The replies show {found}")?,
        }
        if !self.missing.is_empty() {
            write!(f, "; missing: {}", self.missing.join(", "))?;
        }
        if !self.excused.is_empty() {
            let excused = self.excused.join(", ");
            write!(
                f,
                "; half credit for {excused}, which the user did not know: the agent asked or said what it assumed"
            )?;
        }
        Ok(())
    }
}
