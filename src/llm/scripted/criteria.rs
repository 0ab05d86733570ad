//! Looks for what acceptance criteria name in the agent's replies.

use std::str::FromStr;

use super::fact::Fact;
use super::words::{Bag, Word, content_words};

/// What the criteria of one task are held against.
pub(super) struct Heard<'a> {
    /// The agent's replies while the task was at hand.
    pub(super) replies: &'a str,
    /// The facts, and for each of them whether the agent has asked for it by then.
    pub(super) facts: &'a [(Fact, bool)],
    /// Whether the user knew the facts.
    pub(super) user_knew: bool,
}

/// What was found and what was not.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Findings {
    pub(super) found: Vec<String>,
    /// Facts that nobody could give: the agent asked for them or said what it assumed.
    pub(super) excused: Vec<String>,
    pub(super) missing: Vec<String>,
    /// 0 to 1: the weighted share of what was found; what is excused counts half.
    pub(super) share: f64,
}

/// A fact that the criteria speak of counts as much as this many words.
const FACT_WEIGHT: f64 = 2.0;

/// Looks for each content word of the criteria in the replies. Where the criteria speak of what a fact is about, the fact's value is
/// looked for.
pub(super) fn look(criteria: &str, heard: &Heard<'_>) -> Findings {
    let mut words = content_words(criteria);
    let asked_for = Bag::of(criteria);
    let replies = Bag::of(heard.replies);
    let mut tally = Tally::default();
    for (fact, asked) in heard.facts {
        if fact.subject.is_empty() || asked_for.coverage(&fact.subject) < 1.0 {
            continue;
        }
        let surfaces: Vec<&str> = fact.subject.iter().map(|word| word.surface.as_str()).collect();
        let subject = Bag::of(&surfaces.join(" "));
        let named = subject.covered(&words);
        let mut keep = named.into_iter().map(|named| !named);
        words.retain(|_| keep.next().unwrap_or(true));
        let name = surfaces.join(" ");
        if replies.coverage(&fact.value) >= 0.5 {
            tally.found(format!("{name} ({})", fact.said), FACT_WEIGHT);
        } else if !heard.user_knew && (*asked || assumes(&replies)) {
            tally.excused(name, FACT_WEIGHT);
        } else {
            tally.missing(format!("{name} ({})", fact.said), FACT_WEIGHT);
        }
    }
    for (at, word) in words.iter().enumerate() {
        let repeated = words[..at].iter().any(|earlier| earlier.stem == word.stem);
        if repeated || IDLE.iter().any(|idle| content_words(idle).iter().any(|idle| idle.stem == word.stem)) {
            continue;
        }
        let neighbours = &words[at.saturating_sub(1)..words.len().min(at + 2)];
        let within = replies.covered(neighbours)[usize::from(at > 0)];
        if within || same_action(word, &replies) || shaped(&word.surface, heard.replies) {
            tally.found(word.surface.clone(), 1.0);
        } else {
            tally.missing(word.surface.clone(), 1.0);
        }
    }
    tally.close()
}

#[derive(Default)]
struct Tally {
    findings: Findings,
    earned: f64,
    possible: f64,
}

impl Tally {
    fn found(&mut self, name: String, weight: f64) {
        self.findings.found.push(name);
        self.earned += weight;
        self.possible += weight;
    }

    fn excused(&mut self, name: String, weight: f64) {
        self.findings.excused.push(name);
        self.earned += weight / 2.0;
        self.possible += weight;
    }

    fn missing(&mut self, name: String, weight: f64) {
        self.findings.missing.push(name);
        self.possible += weight;
    }

    fn close(mut self) -> Findings {
        // Criteria without a single content word ask for nothing that could be missing.
        self.findings.share = if self.possible == 0.0 { 1.0 } else { self.earned / self.possible };
        self.findings
    }
}

fn assumes(replies: &Bag) -> bool {
    content_words("assume assumption assuming suppose presume").iter().any(|word| replies.has(&word.stem))
}

/// Whether the replies tell of the same action in another word.
fn same_action(word: &Word, replies: &Bag) -> bool {
    ACTIONS
        .iter()
        .map(|action| content_words(action))
        .filter(|action| action.iter().any(|other| other.stem == word.stem))
        .any(|action| action.iter().any(|other| replies.has(&other.stem)))
}

/// Whether a word that stands for a kind of value meets such a value.
fn shaped(word: &str, replies: &str) -> bool {
    match word {
        "time" | "hour" | "hours" => replies.split_whitespace().any(is_time_of_day),
        "date" | "day" | "dates" => replies.split_whitespace().any(is_day),
        "number" | "count" | "total" => replies.chars().any(|c| c.is_ascii_digit()),
        _ => false,
    }
}

fn is_time_of_day(word: &str) -> bool {
    let core = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let digits = |text: &str| !text.is_empty() && text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    match core.split_once(':') {
        Some((hours, rest)) => digits(hours) && rest.get(..2).is_some_and(digits),
        None => core.strip_suffix("am").or_else(|| core.strip_suffix("pm")).is_some_and(digits) || core == "noon",
    }
}

fn is_day(word: &str) -> bool {
    let core = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let iso = core.len() == 10 && core.split('-').all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    iso || chrono::Weekday::from_str(&core).is_ok() || chrono::Month::from_str(&core).is_ok() || core == "today"
}

/// Words by which criteria speak of the answer as such.
const IDLE: &[&str] = &[
    "correct correctly right rightly proper properly accurate accurately exact exactly clear clearly plain plainly",
    "list listed display enumerate answer say state mention give name reply respond confirm show report contain include hold exist result",
    "entity named called titled own new given real really actual actually true simply each every all",
];

/// Verbs that tell of the same action, a group a line.
const ACTIONS: &[&str] = &[
    "create add make set save store schedule record register enter note",
    "delete remove cancel drop erase clear",
    "change update move edit modify replace reschedule shift postpone correct",
    "remember recall keep note learn",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn share(criteria: &str, replies: &str, user_knew: bool, asked: bool) -> f64 {
        let facts = [(Fact::read("The user's shoesize is 43"), asked)];
        look(criteria, &Heard { replies, facts: &facts, user_knew }).share
    }

    #[test]
    fn the_share_is_that_of_the_words_found() {
        assert_eq!(share("The fence is painted green", "I've painted the fence green.", true, false), 1.0);
        assert_eq!(share("The assistant correctly answers Bern", "It is Bern.", true, false), 1.0);
        assert_eq!(share("Green fence", "A red fence.", true, false), 0.5);
        assert_eq!(share("The right answer is given", "Hm.", true, false), 1.0);
    }

    #[test]
    fn another_word_for_the_same_action_counts() {
        assert_eq!(share("A parcel is removed", "I deleted the parcel.", true, false), 1.0);
        assert_eq!(share("A parcel is removed", "I painted the parcel.", true, false), 0.5);
    }

    #[test]
    fn days_and_hours_are_known_by_their_shape() {
        assert_eq!(share("The date and the time", "See you on 2026-03-04 at 9:30.", true, false), 1.0);
        assert_eq!(share("The date and the time", "See you on Friday.", true, false), 0.5);
        assert_eq!(share("The date and the time", "See you.", true, false), 0.0);
    }

    #[test]
    fn a_fact_that_the_criteria_speak_of_is_looked_for_by_its_value() {
        let criteria = "Boots in the user's shoe size";
        assert_eq!(share(criteria, "Boots in 43.", true, false), 1.0);
        assert_eq!(share(criteria, "Boots in your shoe size.", true, false), 1.0 / 3.0);
    }

    #[test]
    fn a_fact_that_nobody_could_give_is_excused_by_asking_or_a_stated_assumption() {
        let criteria = "Boots in the user's shoe size";
        assert_eq!(share(criteria, "Boots in 40.", false, true), 2.0 / 3.0);
        assert_eq!(share(criteria, "Boots; I assume 40.", false, false), 2.0 / 3.0);
        assert_eq!(share(criteria, "Boots in 40.", false, false), 1.0 / 3.0);
        assert_eq!(share(criteria, "Boots; I assume 40.", true, true), 1.0 / 3.0);
    }
}
