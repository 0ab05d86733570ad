//! The example jobs, run by the built program: scripted persona, the demo agent over HTTP, scripted judge, real graph.
//! What a new user sees first must hold: the conditions come apart, and talk alone is found out.

mod example;

use example::{Condition, Example, JOBS};

#[test]
fn every_job_beside_the_main_one_is_tested_here() {
    let folder = crate::house::root().join("data/eval");
    // Known conversations are no jobs.
    let mut there: Vec<String> = crate::house::files(&folder, "yml")
        .iter()
        .filter(|path| !path.starts_with(folder.join("known")))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    there.sort();
    let mut tested = JOBS.to_vec();
    // The agent of the second is started: tests/isolation.
    tested.extend(["memory", "python-agent"]);
    tested.sort_unstable();
    assert_eq!(there, tested);
}

#[test]
fn the_careful_model_does_what_it_says_and_the_facts_make_the_difference() {
    for job in JOBS {
        let example = Example::run(job, "demo-careful");
        let [without, with] = Condition::BOTH.map(|condition| example.trial(condition));
        assert_eq!(with.dimension("assertions"), 1.0, "{job}: {with}");
        assert!(with.dimension("tasks") >= 0.95, "{job}: {with}");
        assert!(with.composite() >= 0.97, "{job}: {with}");
        assert!(without.composite() <= with.composite() - 0.05, "{job}: without {without}, with {with}");
        assert!(without.dimension("tasks") < with.dimension("tasks"), "{job}: without {without}, with {with}");
        assert!(
            without.dimension("tasks") >= 0.8,
            "{job}: asking and saying what is assumed is worth something: {without}"
        );
        assert_eq!(example.exit_status, 0, "{job}");
    }
}

#[test]
fn the_sloppy_model_talks_as_well_and_only_the_assertions_show_it() {
    for job in JOBS {
        let (careful, sloppy) = (Example::run(job, "demo-careful"), Example::run(job, "demo-sloppy"));
        for condition in Condition::BOTH {
            let (careful, sloppy) = (careful.trial(condition), sloppy.trial(condition));
            let apart = (careful.dimension("tasks") - sloppy.dimension("tasks")).abs();
            assert!(apart < 0.1, "{job}: the judge was to tell no difference: {careful}, {sloppy}");
            assert!(sloppy.dimension("assertions") <= 0.2, "{job}: {sloppy}");
            // What was said after the greeting, which is drawn at random, is the same to the letter.
            assert_eq!(careful.said()[1..], sloppy.said()[1..], "{job}");
        }
    }
    assert_eq!(Example::run("agent", "demo-sloppy").exit_status, 100, "the main job's gate is for this");
}

#[test]
fn every_conversation_brings_all_tasks_up_and_ends_with_goodbye() {
    for job in JOBS {
        for model in ["demo-careful", "demo-sloppy"] {
            let example = Example::run(job, model);
            for condition in Condition::BOTH {
                let trial = example.trial(condition);
                assert_eq!(trial.ending(), "signedOff", "{job}: {trial}");
                let reasons = trial.reasons("tasks");
                assert!(!reasons.contains("never brought it up"), "{job}: {reasons}");
                let said = trial.said();
                assert!(!said.iter().any(|(_, agent)| agent.contains("didn't understand")), "{job}: {said:#?}");
            }
        }
    }
}

#[test]
fn facts_are_unknown_without_and_told_only_when_asked_for_with() {
    for job in JOBS {
        let example = Example::run(job, "demo-careful");
        for fact in example.facts() {
            let (user, agent) = example.trial(Condition::WithoutFacts).both_sides();
            assert!(!user.contains(&fact) && !agent.contains(&fact), "{job}: `{fact}` was told without being known");
        }
        let said = example.trial(Condition::WithFacts).said();
        let mut told = 0;
        for fact in example.facts() {
            let Some(at) = said.iter().position(|(user, _)| user.contains(&fact)) else { continue };
            told += 1;
            assert!(said[at - 1].1.ends_with('?'), "{job}: `{fact}` was told without being asked for: {said:#?}");
        }
        assert_eq!(told, 1, "{job}: one fact is asked for, the others are kept");
    }
}

#[test]
fn what_was_told_in_earlier_sessions_is_used_and_not_asked_for() {
    let (careful, sloppy) = (Example::run("memory", "demo-careful"), Example::run("memory", "demo-sloppy"));
    assert_eq!((careful.exit_status, sloppy.exit_status), (0, 100));
    // The job has no facts: it is held once.
    let (careful, sloppy) = (careful.trial(Condition::WithoutFacts), sloppy.trial(Condition::WithoutFacts));
    assert_eq!((careful.dimension("tasks"), careful.dimension("assertions")), (1.0, 1.0), "{careful}");
    assert_eq!(sloppy.dimension("tasks"), 1.0, "{sloppy}");
    assert!(sloppy.dimension("assertions") < 0.5, "{sloppy}");
}
