//! Whether the user of a recording says what the user of its case says.

use super::keeper::RecordedGrader;
use crate::evidence::{Ending, Evidence, TrialId, Turn};
use crate::grade;
use crate::job::{Case, User};
use crate::report::{count, one_line};
use crate::score::Outcome;

/// The most characters of a message that are shown.
const SHOWN: usize = 80;

/// The most turns of a recording whose difference is shown.
const TURNS: usize = 3;

/// The messages of a recording beside those of its case.
#[derive(Debug, PartialEq, Eq)]
enum ScriptMatch {
    /// They are the same, or the case does not say what they are.
    Same,
    /// Some differ; each difference is a sentence.
    Partly(Vec<String>),
    /// They don't allow the recording to be graded by this case, for this reason.
    Other(String),
}

impl RecordedGrader<'_> {
    /// The outcome of a recording that is not to be graded by this case, because its user says other things.
    pub(super) fn outcome_by_script(&self, evidence: &Evidence, id: &TrialId, case: &Case) -> Option<Outcome> {
        let script = grade::script(&self.loaded.job, case);
        if !matches!(case.user, User::Lines(_)) {
            let opening = differences_of_opening(&evidence.transcript.turns, &script);
            if !opening.is_empty() {
                self.note(id, &opening.join("; "));
            }
            return None;
        }
        // Our own run ends early for a reason that it records.
        let may_end_early = self.is_own || matches!(evidence.ending, Ending::AgentFailed { .. });
        let compares_turns =
            matches!(&case.user, User::Lines(lines) if lines.iter().any(|line| line.expected.is_some()));
        let found = compare(&evidence.transcript.turns, &script, Lengths { may_end_early, must_end: compares_turns });
        let (note, outcome) = match found {
            ScriptMatch::Same => return None,
            ScriptMatch::Partly(differences) => (differences.join("; "), None),
            ScriptMatch::Other(why) => (why.clone(), Some(broken(why))),
        };
        self.note(id, &note);
        outcome
    }

    fn note(&self, id: &TrialId, note: &str) {
        let repeat = if id.repeat > 1 { format!(" (repeat {})", id.repeat) } else { String::new() };
        self.notes.borrow_mut().push(format!("{}{repeat}: {note}", id.case));
    }
}

/// How the lengths of a recording and its case may differ.
#[derive(Debug, Clone, Copy)]
struct Lengths {
    /// Whether it may end early, as where it is known why.
    may_end_early: bool,
    /// Whether it must end with the case: each turn is compared, and no further one could be.
    must_end: bool,
}

/// Compares them turn by turn, whatever the white space.
fn compare(turns: &[Turn], script: &[(u32, &str)], lengths: Lengths) -> ScriptMatch {
    let Lengths { may_end_early, must_end } = lengths;
    let Some((last, _)) = script.last().copied() else { return ScriptMatch::Same };
    let (mut same, mut absent, mut differences) = (0, 0, Vec::new());
    for &(number, say) in script {
        match turns.iter().find(|turn| turn.number == number).map(|turn| turn.user.as_str()) {
            None => absent += 1,
            Some(user) if says(user, say) => same += 1,
            Some(user) => differences.push(difference(number, user, say)),
        }
    }
    let more = turns.iter().filter(|turn| turn.number > last).count();
    if same == 0
        && let Some(first) = differences.first()
    {
        let help = "give the recording the id of the case that it is about, or record this case again";
        return ScriptMatch::Other(format!("the recording is of another conversation: {first}; try {help}"));
    }
    if absent > 0 && !may_end_early {
        let help = "record the whole case, or shorten the case";
        let of = count(same + differences.len() + absent, "message");
        let held = same + differences.len();
        return ScriptMatch::Other(format!("the recording has {held} of the {of} of the case's user; try {help}"));
    }
    if more > 0 && must_end {
        let help = "record the case alone, or add its messages to the case";
        let more = count(more, "more turn");
        return ScriptMatch::Other(format!(
            "the recording has {more} than the case, of which nothing is expected; try {help}"
        ));
    }
    let hidden = differences.len().saturating_sub(TURNS);
    differences.truncate(TURNS);
    if hidden > 0 {
        differences.push(format!("{} not shown", count(hidden, "more difference")));
    }
    if more > 0 {
        differences.push(format!("the recording has {} than the case", count(more, "more turn")));
    }
    if differences.is_empty() { ScriptMatch::Same } else { ScriptMatch::Partly(differences) }
}

/// Where a simulated user does not begin with the fixed messages of its case, in a sentence each. What it says afterwards is its own.
fn differences_of_opening(turns: &[Turn], opening: &[(u32, &str)]) -> Vec<String> {
    let of_turn = |&(number, say): &(u32, &str)| {
        let user = turns.iter().find(|turn| turn.number == number)?.user.as_str();
        (!says(user, say)).then(|| difference(number, user, say))
    };
    opening.iter().filter_map(of_turn).take(TURNS).collect()
}

/// Whether a message is the one of the case, whatever the white space. Not every recording holds what the user said.
fn says(user: &str, say: &str) -> bool {
    user.trim().is_empty() || user.split_whitespace().eq(say.split_whitespace())
}

pub(super) fn broken(error: String) -> Outcome {
    Outcome::Broken { error }
}

fn difference(number: u32, recorded: &str, expected: &str) -> String {
    let (recorded, expected) = (one_line(recorded, SHOWN), one_line(expected, SHOWN));
    format!("in turn {number} the recording's user says {recorded:?}, and the case's {expected:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARLY: Lengths = Lengths { may_end_early: true, must_end: false };
    const WHOLE: Lengths = Lengths { may_end_early: false, must_end: false };

    fn script<'a>(says: &[&'a str]) -> Vec<(u32, &'a str)> {
        (1..).zip(says.iter().copied()).collect()
    }

    fn turns(says: &[&str]) -> Vec<Turn> {
        says.iter().zip(1..).map(|(say, number)| Turn::begun(number, (*say).to_owned())).collect()
    }

    #[test]
    fn messages_are_the_same_whatever_their_white_space_and_where_nobody_knows_them() {
        let found = turns(&[" Order\u{a0}two\n pens ", "Bye", ""]);
        assert_eq!(compare(&found, &script(&["Order two pens", "Bye", "Thanks"]), WHOLE), ScriptMatch::Same);
        assert_eq!(compare(&found, &script(&[]), WHOLE), ScriptMatch::Same);
        let after_greeting = turns(&["Hi", "Bye"]);
        assert_eq!(compare(&after_greeting, &[(2, "Bye")], WHOLE), ScriptMatch::Same);
    }

    #[test]
    fn a_simulated_user_begins_with_the_fixed_messages_of_its_case() {
        let held = turns(&["Hi", "I want a pen", "Two", "Bye"]);
        assert_eq!(differences_of_opening(&held, &script(&["Hi"])), [""; 0]);
        assert_eq!(differences_of_opening(&held[..1], &script(&["Hi", "A pen"])), [""; 0], "it ended early");
        let differs = "in turn 2 the recording's user says \"I want a pen\", and the case's \"A pen\"";
        assert_eq!(differences_of_opening(&held, &script(&["Hi", "A pen"])), [differs]);
    }

    #[test]
    fn another_message_and_more_turns_are_shown_with_their_place() {
        let found = compare(&turns(&["Hello", "Order a pen", "Bye"]), &script(&["Hello", "Order two pens"]), WHOLE);
        let expected = "in turn 2 the recording's user says \"Order a pen\", and the case's \"Order two pens\"";
        let more = "the recording has 1 more turn than the case";
        assert_eq!(found, ScriptMatch::Partly(vec![expected.to_owned(), more.to_owned()]));
        let five = compare(&turns(&["a", "1", "2", "3", "4"]), &script(&["a", "b", "c", "d", "e"]), WHOLE);
        let ScriptMatch::Partly(five) = five else { panic!("{five:?}") };
        assert_eq!((five.len(), five[3].as_str()), (4, "1 more difference not shown"));
    }

    #[test]
    fn turns_of_which_nothing_is_expected_are_not_passed_over_where_turns_are_compared() {
        let longer = turns(&["Hello", "Delete all"]);
        let found = compare(&longer, &script(&["Hello"]), Lengths { must_end: true, ..EARLY });
        assert!(matches!(&found, ScriptMatch::Other(why) if why.contains("1 more turn than the case")), "{found:?}");
        let same = compare(&longer[..1], &script(&["Hello"]), Lengths { must_end: true, ..EARLY });
        assert_eq!(same, ScriptMatch::Same);
    }

    #[test]
    fn another_conversation_and_one_that_breaks_off_are_not_graded() {
        let other = compare(&turns(&["Bye", "Hello"]), &script(&["Hello", "Bye"]), EARLY);
        assert!(matches!(&other, ScriptMatch::Other(why) if why.contains("another conversation")), "{other:?}");
        let short = compare(&turns(&["Hello"]), &script(&["Hello", "Bye"]), WHOLE);
        assert!(matches!(&short, ScriptMatch::Other(why) if why.contains("1 of the 2 messages")), "{short:?}");
        assert_eq!(compare(&turns(&["Hello"]), &script(&["Hello", "Bye"]), EARLY), ScriptMatch::Same);
    }
}
