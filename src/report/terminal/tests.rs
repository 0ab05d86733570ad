use chrono::{DateTime, Utc};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use super::*;
use crate::evidence::{Condition, TrialId, Turn, Usage};
use crate::record::{Asker, Entry, FORMAT_VERSION, Fold, ModelCall, Provenance};
use crate::report::Ink;
use crate::score::{Component, Dimension, Item, Outcome, Score, Scorecard, Weight};

/// A run of our own making.
#[derive(Debug, Clone)]
struct Made {
    models: Vec<String>,
    cases: Vec<String>,
    repeats: u32,
    /// Of which each trial has the next one, again and again.
    scores: Vec<Option<f64>>,
    gate: Option<f64>,
    why: String,
    /// Whether a metric of the simulated user has no figure.
    is_user_unjudged: bool,
}

fn at() -> DateTime<Utc> {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

impl Made {
    fn trials(&self) -> Vec<TrialId> {
        let mut trials = Vec::new();
        for case in &self.cases {
            for repeat in 1..=self.repeats {
                for model in &self.models {
                    for condition in [Condition::WithoutFacts, Condition::WithFacts] {
                        let number = trials.len() as u32 + 1;
                        trials.push(TrialId { number, case: case.clone(), model: model.clone(), condition, repeat });
                    }
                }
            }
        }
        trials
    }

    fn scorecard(&self, score: f64) -> Scorecard {
        let scored = |score| Component::scored(Score::new(score).unwrap(), self.why.clone());
        let item = |label: &str, score| Item {
            weight: Weight::new(2.0).unwrap(),
            ..Item::new(format!("{label} {}", self.why), scored(score))
        };
        let dimension = |name: &str, items: Vec<Item>| Dimension {
            good_above: (name == "tasks").then(|| Score::new(0.6).unwrap()),
            items,
            ..Dimension::new(name, Weight::ONE, scored(score))
        };
        // With parts, and a name of the job's own.
        let user = self.is_user_unjudged.then(|| Dimension {
            metric: Some("simulatedUser".to_owned()),
            threshold: Score::new(0.5),
            items: vec![item("says", 1.0)],
            ..Dimension::new("caller", Weight::ZERO, Component::missing("no usable verdict on the user"))
        });
        let dimensions = vec![
            dimension("timing", Vec::new()),
            dimension("tasks", vec![item("say", score), item("ask", 1.0)]),
            dimension("assertions", vec![item("holds", f64::from(u8::from(score > 0.5)))]),
            Dimension::new("tone", Weight::ZERO, scored(score)),
        ];
        Scorecard {
            dimensions: dimensions.into_iter().chain(user).collect(),
            failure_count: 1,
            penalty: 0.3,
            composite: scored(score),
        }
    }

    fn page(&self, width: usize, is_unfolded: bool) -> String {
        let trials = self.trials();
        let provenance = Provenance {
            job: "A job".to_owned(),
            job_file: "job.yml".to_owned(),
            agent: format!("embabel at http://127.0.0.1:8080/{}", self.why),
            models: self.models.clone(),
            persona_model: "openai/gpt-4.1-mini".to_owned(),
            judge_model: "openai/gpt-4.1-mini".to_owned(),
            min_score: self.gate.and_then(Score::new),
            ..Provenance::default()
        };
        let (provenance, version) = (Box::new(provenance), FORMAT_VERSION);
        let (id, job, templates) = ("id".to_owned(), None, BTreeMap::new());
        let begun = Entry::RunStarted {
            version,
            id,
            at: at(),
            provenance,
            job,
            templates,
            trials: trials.iter().cloned().collect(),
        };
        let mut fold = Fold::begin(begun).unwrap();
        let mut over = Vec::new();
        for (id, score) in trials.iter().zip(self.scores.iter().cycle()) {
            let trial = id.number;
            let (session_id, user) = (String::new(), String::new());
            let usage = Usage::from_counts(Some(1_234_567_890), Some(98_765_432));
            let model = "openai/gpt-4.1-mini".to_owned();
            let call = ModelCall { at: at(), asker: Asker::Judge, model, usage };
            let (outcome, scorecard) = match score {
                Some(score) => (Outcome::Graded, Some(self.scorecard(*score))),
                None => (Outcome::Broken { error: format!("{}: {}", id.model, self.why) }, None),
            };
            for entry in [
                Entry::TrialStarted { trial, at: at(), case: None },
                Entry::SessionOpened { trial, session_id, user },
                Entry::TurnFinished {
                    trial,
                    turn: Turn { usage: Some(usage), ..Turn::answered(3, "a", "b") },
                    resume_point: None,
                },
                Entry::ModelAsked { trial, number: None, call, set_aside: None },
                Entry::TrialFinished { trial, at: at(), outcome, scorecard },
            ] {
                over.extend(fold.take(entry));
            }
        }
        fold.take(Entry::RunFinished { at: at(), interrupted: false });
        let mut gathered = Gathered::new(&Provenance { models: self.models.clone(), ..Provenance::default() });
        for (group, trial) in &over {
            gathered.add(*group, trial);
        }
        let overview = fold.end(|_, _| {});
        terminal(&overview, &gathered, Screen { ink: Ink::None, width, is_unfolded })
    }
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z0-9/.-]{1,12}", "[a-z0-9/.-]{40,160}", "[提醒者]{20,70}", "([a-z]{1,30} ){1,9}[a-z]"]
}

fn made() -> impl Strategy<Value = Made> {
    (
        prop::collection::btree_set(name(), 1..=12),
        prop::collection::btree_set(name(), 1..=12),
        1..3u32,
        prop::collection::vec(prop::option::weighted(0.8, 0.0..=1.0), 1..9),
        prop::option::of(0.0..=1.0),
        name(),
    )
        .prop_map(|(models, cases, repeats, scores, gate, why)| Made {
            models: models.into_iter().collect(),
            cases: cases.into_iter().collect(),
            repeats,
            scores,
            gate,
            why,
            is_user_unjudged: false,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn no_line_is_wider_than_the_terminal(made in made(), width in 60..=140usize, is_unfolded: bool) {
        let page = made.page(width, is_unfolded);
        for line in page.lines() {
            prop_assert!(line.width() <= width, "{} columns of {width}: {line}", line.width());
        }
    }
}

fn some(models: &[&str], cases: usize, scores: &[f64]) -> Made {
    Made {
        models: models.iter().map(|model| (*model).to_owned()).collect(),
        cases: (1..=cases).map(|case| format!("case {case}")).collect(),
        repeats: 1,
        scores: scores.iter().copied().map(Some).collect(),
        gate: Some(0.87),
        why: "why".to_owned(),
        is_user_unjudged: false,
    }
}

#[test]
fn a_figure_and_a_gate_that_look_equal_are_distinguished() {
    let page = some(&["m"], 1, &[0.8667]).page(80, false);
    assert!(page.starts_with("gate failed: 0.867, the gate is 0.87\n"), "{page}");
    assert!(page.contains("\nScore 0.867 (mean of"), "{page}");
    let page = some(&["a", "b"], 1, &[0.9, 0.9, 0.901, 0.901]).page(80, false);
    assert!(page.contains("0.900") && page.contains("0.901  +0.001"), "{page}");
}

#[test]
fn a_figure_of_the_simulated_user_that_is_missing_is_told_whatever_its_name() {
    let page = Made { is_user_unjudged: true, ..some(&["m"], 1, &[0.9]) }.page(80, false);
    assert!(page.contains("\n  caller: no usable verdict on the user\n"), "{page}");
}

#[test]
fn of_many_cases_those_in_which_something_failed_are_shown() {
    let mut scores = vec![1.0; 1000];
    scores[20] = 0.25;
    let page = some(&["m"], 500, &scores).page(80, false);
    assert!(page.lines().count() < LONG, "{page}");
    for text in [
        "Failed: 1 of 1000 tasks, 1 of 500 assertions\n  case 11 · task 1 · say why × 2\n    0.25 without facts: why\n",
        "Passed: 499 of 500 cases, 999 tasks, 499 assertions (-v shows them)\n",
        "case 11           0.25        1.00   0.62\nand 499 of 500 cases more",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(some(&["m"], 500, &scores).page(80, true).contains("Tasks · case 500"));
}

#[test]
fn a_long_page_ends_with_the_verdict_too() {
    let page = some(&["m"], 12, &[0.1]).page(80, false);
    let verdict = "gate failed: 0.10, the gate is 0.87";
    assert!(page.starts_with(verdict) && page.trim_end().ends_with(verdict), "{page}");
}

/// The page of conversations with these scorecards, each of a case and a repetition of it.
fn page_of(held: &[(&str, u32, Dimension)]) -> String {
    let id = |(number, (case, repeat, _)): (u32, &(&str, u32, Dimension))| TrialId {
        number,
        case: (*case).to_owned(),
        model: "m".to_owned(),
        condition: Condition::WithoutFacts,
        repeat: *repeat,
    };
    let trials: Vec<TrialId> = (1..).zip(held).map(id).collect();
    let provenance = Box::new(Provenance { models: vec!["m".to_owned()], ..Provenance::default() });
    let (version, templates) = (FORMAT_VERSION, BTreeMap::new());
    let trials = trials.iter().cloned().collect();
    let (id, at, job) = ("id".to_owned(), at(), None);
    let mut fold = Fold::begin(Entry::RunStarted { version, id, at, provenance, job, templates, trials }).unwrap();
    let mut over = Vec::new();
    for (trial, (_, _, dimension)) in (1..).zip(held) {
        let composite = dimension.component.clone();
        let dimensions = vec![dimension.clone()];
        let scorecard = Some(Scorecard { dimensions, failure_count: 0, penalty: 0.0, composite });
        over.extend(fold.take(Entry::TrialStarted { trial, at, case: None }));
        over.extend(fold.take(Entry::TrialFinished { trial, at, outcome: Outcome::Graded, scorecard }));
    }
    let mut gathered = Gathered::default();
    over.iter().for_each(|(group, trial)| gathered.add(*group, trial));
    terminal(&fold.end(|_, _| {}), &gathered, Screen { ink: Ink::None, width: 100, is_unfolded: false })
}

fn of_task(component: Component) -> Dimension {
    let items = vec![Item::new("say it", component.clone())];
    let good_above = Score::new(0.6);
    Dimension { items, good_above, ..Dimension::new("tasks", Weight::ONE, component) }
}

#[test]
fn a_verdict_that_is_missing_is_told_of_its_own_conversations_and_apart_from_a_low_score() {
    let low = || of_task(Component::scored(Score::new(0.2).unwrap(), "it was rude"));
    let well = || of_task(Component::scored(Score::ONE, "all of it"));
    let missing = || of_task(Component::missing("the judge was cut off"));
    let page = page_of(&[("c", 1, well()), ("c", 2, low()), ("c", 3, well()), ("c", 4, missing())]);
    let line = |start: &str| page.lines().find(|line| line.trim_start().starts_with(start)).unwrap_or(&page).trim();
    assert_eq!(line("missing in"), "missing in 1 of 4 without facts (#4): the judge was cut off");
    assert!(line("0.").ends_with("(#2): it was rude"), "{page}");
    let page = page_of(&[("c", 1, well()), ("c", 2, missing()), ("c", 3, missing())]);
    assert!(page.contains("missing in 2 of 3 without facts (first #2): the judge was cut off"), "{page}");
}

#[test]
fn why_a_whole_metric_is_missing_is_told_of_several_cases_too() {
    let missing = || Dimension::new("plan", Weight::ONE, Component::missing("no verdict: 401"));
    let page = page_of(&[("a", 1, missing()), ("b", 1, missing())]);
    assert_eq!(page.matches("plan is missing, a without facts, b without facts: no verdict: 401").count(), 1, "{page}");
}
