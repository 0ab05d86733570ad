//! Conversations that are known to be bad or good: a judge must tell them apart.

use serde::{Deserialize, Serialize};

use crate::score::{Component, Dimension, Item, Scorecard, Weight};

/// The metric that is about the user.
const SIMULATED_USER: &str = "simulatedUser";

/// The label of a known conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Known {
    /// It must fail.
    Bad,
    /// It must pass.
    Good,
}

impl Known {
    /// As files and reports have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Known::Bad => "bad",
            Known::Good => "good",
        }
    }
}

/// The result of a judge on a conversation that is known to be bad or good.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Finding {
    /// It is as it is known to be.
    AsKnown {
        /// The failed parts of a bad one, each with its score.
        failed: Vec<Failed>,
    },
    /// It is not.
    Otherwise {
        /// The failed parts, each with its score: of a good one what should not have, of a bad one only what it need not have.
        failed: Vec<Failed>,
    },
    /// The judge gave no usable verdict.
    Unknown {
        /// Why, in a sentence.
        why: String,
    },
}

/// Something that failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failed {
    /// The dimension, or one of its parts.
    pub name: String,
    /// Its score, 0 to 1.
    pub score: f64,
}

/// The result by a judge's scorecard. A bad one must fail in what `must_fail` names (a metric, or one of its parts),
/// or in anything where that names nothing.
pub fn finding(known: Known, must_fail: &[String], card: &Scorecard, is_judged: impl Fn(&str) -> bool) -> Finding {
    let is_named =
        |it: &Dimension| [it.name.as_str(), it.metric()].iter().any(|name| must_fail.iter().any(|it| it == name));
    // A user who forgets its part is no fault of the agent's.
    let is_about_agent = |it: &Dimension| it.metric() != SIMULATED_USER || is_named(it);
    let judged: Vec<&Dimension> =
        card.dimensions.iter().filter(|it| is_judged(it.metric()) && is_about_agent(it)).collect();
    let of_dimension = |dimension: &&Dimension| failures(dimension, is_named(dimension));
    let failed: Vec<(String, Vec<String>, f64)> = judged.iter().flat_map(of_dimension).collect();
    let of_parts = |dimension: &Dimension| dimension.items.iter().map(|it| it.component.clone()).collect::<Vec<_>>();
    let missing = judged.iter().find_map(|dimension| {
        let all = [vec![dimension.component.clone()], of_parts(dimension)].concat();
        all.into_iter().find_map(|component| match component {
            Component::Missing { error } => Some(format!("{}: {error}", dimension.name)),
            _ => None,
        })
    });
    let is_wanted = |names: &[String]| must_fail.is_empty() || names.iter().any(|name| must_fail.contains(name));
    let has_failed = failed.iter().any(|(_, names, _)| is_wanted(names));
    let unnoticed = must_fail.iter().any(|name| !failed.iter().any(|(_, names, _)| names.contains(name)));
    let failed = failed.into_iter().map(|(name, _, score)| Failed { name, score }).collect::<Vec<_>>();
    match (known, has_failed && !unnoticed) {
        (Known::Bad, true) => Finding::AsKnown { failed },
        (Known::Good, _) if !failed.is_empty() => Finding::Otherwise { failed },
        _ => match (missing, judged.iter().any(|dimension| dimension.component.score().is_some())) {
            (Some(why), _) => Finding::Unknown { why },
            (None, false) => Finding::Unknown { why: "no judge scored anything in it".to_owned() },
            (None, true) if known == Known::Bad => Finding::Otherwise { failed },
            (None, true) => Finding::AsKnown { failed },
        },
    }
}

/// The failed parts of a dimension: itself where the job asks for a threshold, else each of its parts; each with all its names. The
/// flag says whether the conversation is known to fail in it: a tone that counts for nothing fails only then.
fn failures(dimension: &Dimension, is_named: bool) -> Vec<(String, Vec<String>, f64)> {
    let line = dimension.pass_line();
    let of_item = |item: &&Item| item.has_failed(line);
    let names = |items: &[&Item]| {
        let items = items.iter().flat_map(|item| [item.label.clone(), item.key().to_owned()]);
        [dimension.name.clone(), dimension.metric().to_owned()].into_iter().chain(items).collect::<Vec<_>>()
    };
    if let (Some(threshold), Some(score)) = (dimension.threshold, dimension.component.score()) {
        let items: Vec<&Item> = dimension.items.iter().filter(of_item).collect();
        let failed = score.is_below(threshold).then(|| (dimension.name.clone(), names(&items), score.get()));
        return failed.into_iter().collect();
    }
    if dimension.items.is_empty() {
        let counts = is_named || dimension.weight > Weight::ZERO || dimension.metric() != "tone";
        let score = dimension.component.score().filter(|score| !line.is_met(*score) && counts);
        return score.map(|score| (dimension.name.clone(), names(&[]), score.get())).into_iter().collect();
    }
    let failed = |item: &Item| {
        let score = item.component.score().map(|score| score.get()).unwrap_or_default();
        (format!("{} ({})", dimension.name, item.label), names(&[item]), score)
    };
    dimension.items.iter().filter(of_item).map(failed).collect()
}

/// The result of a judge on a whole set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckVerdict {
    /// All bad ones fail and all good ones pass.
    Passed,
    /// A bad one slipped through, or a good one failed.
    Missed,
    /// The judge gave no usable verdict on some.
    Unknown,
    /// None is known to be bad: nothing shows that the judge finds fault.
    NoneBad,
}

impl CheckVerdict {
    /// The verdict on these findings. As Red Hat's quickstart decides (`is_strict`), one bad conversation that fails is enough, and none at all are
    /// fine.
    pub fn new(findings: &[(Known, Finding)], is_strict: bool) -> CheckVerdict {
        let is = |known: Known| move |it: &&(Known, Finding)| it.0 == known;
        let is_otherwise = |it: &&(Known, Finding)| matches!(it.1, Finding::Otherwise { .. });
        let is_unknown = findings.iter().any(|(_, finding)| matches!(finding, Finding::Unknown { .. }));
        let mut bad = findings.iter().filter(is(Known::Bad)).peekable();
        let has_bad = bad.peek().is_some();
        let is_one_caught = bad.any(|(_, finding)| matches!(finding, Finding::AsKnown { .. }));
        let is_good_wrong = findings.iter().filter(is(Known::Good)).any(|it| is_otherwise(&it));
        match is_strict {
            true if is_unknown => CheckVerdict::Unknown,
            true if (has_bad && !is_one_caught) || is_good_wrong => CheckVerdict::Missed,
            true => CheckVerdict::Passed,
            false if findings.is_empty() => CheckVerdict::NoneBad,
            false if findings.iter().any(|it| is_otherwise(&it)) => CheckVerdict::Missed,
            false if is_unknown => CheckVerdict::Unknown,
            // A judge that passes everything would.
            false if !has_bad => CheckVerdict::NoneBad,
            false => CheckVerdict::Passed,
        }
    }

    /// The exit status that stands for it.
    pub fn exit_status(self) -> u8 {
        match self {
            CheckVerdict::Passed => 0,
            CheckVerdict::NoneBad => 2,
            CheckVerdict::Missed => 100,
            CheckVerdict::Unknown => 102,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Score;

    fn card(tasks: Component, completeness: f64) -> Scorecard {
        let scored = Component::scored(Score::clamped(completeness), "");
        let tasks = Dimension {
            good_above: Score::new(0.6),
            items: vec![Item::new("book", tasks.clone())],
            ..Dimension::new("tasks", Weight::ONE, tasks.clone())
        };
        let completeness =
            Dimension { threshold: Score::new(0.8), ..Dimension::new("completeness", Weight::ONE, scored) };
        let dimensions =
            vec![tasks, completeness, Dimension::new("timing", Weight::ONE, Component::missing("no times"))];
        Scorecard { dimensions, failure_count: 0, penalty: 0.0, composite: Component::missing("") }
    }

    fn found(known: Known, must_fail: &[&str], tasks: f64, completeness: f64) -> Finding {
        let must_fail: Vec<String> = must_fail.iter().map(|name| (*name).to_owned()).collect();
        let card = card(Component::scored(Score::clamped(tasks), ""), completeness);
        finding(known, &must_fail, &card, |metric| metric != "timing")
    }

    #[test]
    fn a_bad_one_fails_where_it_must() {
        let is_as_known = |finding: Finding| matches!(finding, Finding::AsKnown { .. });
        assert!(is_as_known(found(Known::Bad, &[], 0.2, 1.0)));
        assert!(is_as_known(found(Known::Bad, &["tasks"], 0.2, 1.0)));
        assert!(is_as_known(found(Known::Bad, &["book"], 0.2, 1.0)));
        assert!(is_as_known(found(Known::Bad, &["tasks", "completeness"], 0.2, 0.1)));
        for slipped in [
            found(Known::Bad, &[], 0.9, 1.0),
            found(Known::Bad, &["completeness"], 0.2, 1.0),
            found(Known::Bad, &["tasks", "completeness"], 0.2, 1.0),
            found(Known::Bad, &["nothing of that name"], 0.2, 0.2),
        ] {
            assert!(matches!(slipped, Finding::Otherwise { .. }), "{slipped:?}");
        }
        assert!(is_as_known(found(Known::Good, &[], 0.9, 1.0)));
        let Finding::Otherwise { failed } = found(Known::Good, &[], 0.5, 1.0) else { panic!() };
        assert_eq!(failed, [Failed { name: "tasks (book)".to_owned(), score: 0.5 }]);
    }

    fn alone(dimension: Dimension, known: Known, must_fail: &[&str]) -> Finding {
        let must_fail: Vec<String> = must_fail.iter().map(|name| (*name).to_owned()).collect();
        let dimensions = vec![Dimension::new("tasks", Weight::ONE, Component::scored(Score::ONE, "")), dimension];
        let card = Scorecard { dimensions, failure_count: 0, penalty: 0.0, composite: Component::missing("") };
        finding(known, &must_fail, &card, |_| true)
    }

    #[test]
    fn a_tone_fails_where_it_must_or_counts() {
        let tone = |weight| Dimension {
            good_above: Score::new(0.6),
            ..Dimension::new("tone", weight, Component::scored(Score::ZERO, ""))
        };
        let is_as_known = |finding: Finding| matches!(finding, Finding::AsKnown { .. });
        assert!(is_as_known(alone(tone(Weight::ZERO), Known::Bad, &["tone"])));
        assert!(is_as_known(alone(tone(Weight::ONE), Known::Bad, &[])), "it counts");
        assert!(!is_as_known(alone(tone(Weight::ZERO), Known::Bad, &[])), "it counts for nothing");
        assert!(is_as_known(alone(tone(Weight::ZERO), Known::Good, &[])));
        assert!(!is_as_known(alone(tone(Weight::ZERO), Known::Bad, &["tone", "tasks"])));
    }

    #[test]
    fn a_user_who_forgets_its_part_is_no_fault_of_the_agents() {
        let user = |component: Component| Dimension {
            items: vec![Item::new("the user's message of turn 1", component.clone())],
            ..Dimension::new(SIMULATED_USER, Weight::ZERO, component)
        };
        let bad = || user(Component::scored(Score::ZERO, ""));
        assert!(matches!(alone(bad(), Known::Bad, &[]), Finding::Otherwise { .. }));
        assert!(matches!(alone(bad(), Known::Good, &[]), Finding::AsKnown { .. }));
        assert!(matches!(alone(bad(), Known::Bad, &[SIMULATED_USER]), Finding::AsKnown { .. }), "it is named");
        assert!(matches!(alone(user(Component::missing("")), Known::Good, &[]), Finding::AsKnown { .. }));
    }

    #[test]
    fn what_the_judge_did_not_say_is_unknown() {
        let silent = card(Component::missing("no usable verdict"), 1.0);
        for known in [Known::Bad, Known::Good] {
            let found = finding(known, &[], &silent, |metric| metric != "timing");
            assert_eq!(found, Finding::Unknown { why: "tasks: no usable verdict".to_owned() });
        }
        let caught =
            finding(Known::Bad, &[], &card(Component::missing("no verdict"), 0.1), |metric| metric != "timing");
        assert!(matches!(caught, Finding::AsKnown { .. }), "another metric caught it");
    }

    #[test]
    fn one_that_slips_through_is_enough() {
        let (caught, slipped) =
            (|| Finding::AsKnown { failed: Vec::new() }, || Finding::Otherwise { failed: Vec::new() });
        let unknown = || Finding::Unknown { why: String::new() };
        let bad = |findings: Vec<Finding>, strict| {
            CheckVerdict::new(&findings.into_iter().map(|it| (Known::Bad, it)).collect::<Vec<_>>(), strict)
                .exit_status()
        };
        assert_eq!((bad(vec![caught(), caught()], false), bad(vec![caught(), slipped()], false)), (0, 100));
        assert_eq!(bad(vec![caught(), slipped()], true), 0, "the quickstart's own rule");
        assert_eq!((bad(vec![slipped(), unknown()], false), bad(vec![caught(), unknown()], false)), (100, 102));
        assert_eq!((bad(Vec::new(), false), bad(Vec::new(), true)), (2, 0));
        assert_eq!(CheckVerdict::new(&[(Known::Good, slipped())], false).exit_status(), 100);
    }
}
