//! The kinds of users that a job names or describes.

use super::*;
use crate::evidence::Guard;
use crate::job::UserPersona;

fn with(personas: &str) -> String {
    least_and(&format!("evaluator: {{personas: {personas}}}\n"))
}

#[test]
fn every_shipped_persona_can_be_used() {
    for name in UserPersona::shipped_names() {
        let persona = UserPersona::shipped(name).unwrap_or_else(|problem| panic!("{name}: {}", problem.message));
        assert_eq!(persona.name, name);
        assert!(persona.is_shipped() && persona.style.is_some() && persona.traits().count() > 1, "{name}");
    }
    assert!(UserPersona::shipped("expert").unwrap().allow.allows(Guard::TwoTasks));
}

#[test]
fn a_name_stands_for_the_persona_and_a_mapping_describes_one() {
    let own = "{name: mine, patience: none, behaviours: [Shouts, Swears], allow: [restart]}";
    let text = with(&format!("[terse, {own}]")) + "cases: [{id: a}, {id: b, persona: hostile}]\n";
    let job = load("job.yml", &text, &AllTemplates).unwrap_or_else(|problems| panic!("{problems:?}"));
    let names: Vec<&str> = job.persona.personas.iter().map(|persona| persona.name.as_str()).collect();
    assert_eq!(names, ["terse", "mine"]);
    assert_eq!(job.persona.personas[0], UserPersona::shipped("terse").unwrap());
    let mine = &job.persona.personas[1];
    assert_eq!(mine.traits().collect::<Vec<_>>(), ["patience: none", "Shouts", "Swears"]);
    assert!(mine.allow.allows(Guard::Restart) && !mine.is_shipped());
    assert_eq!(job.cases[0].persona, None);
    assert_eq!(job.cases[1].persona.as_ref().unwrap().name, "hostile");
    // As a record holds it, the job can be read again.
    let again: Job = serde_json::from_value(serde_json::to_value(&job).unwrap()).unwrap();
    assert_eq!(again.persona, job.persona);
    assert_eq!(again.cases, job.cases);
    let other = load("job.yml", &text.replace("hostile", "impatient"), &AllTemplates).unwrap();
    assert_ne!(other.digest, job.digest);
}

#[test]
fn a_persona_that_is_not_there_or_says_nothing_is_shown_at_its_place() {
    let unknown = rendered(&with("[tersse, terse, terse]"));
    assert!(unknown.contains("There is no persona `tersse`. Did you mean `terse`? Built in are terse, "), "{unknown}");
    assert!(unknown.contains("the persona `terse` is there twice"), "{unknown}");
    for (personas, problem) in [
        ("[{name: mine}]", "the persona `mine` has none of `description`, `goals`, "),
        ("[{style: You shout}]", "a persona that the job describes needs a `name`"),
        ("[{name: mine, behaviors: [Shouts]}]", "behaviours"),
        ("[{name: mine, style: x, allow: [shouting]}]", "shouting"),
        ("[{name: a/b, style: x}]", "a/b"),
        ("[]", "personas"),
    ] {
        let report = rendered(&with(personas));
        assert!(report.contains(problem) && report.contains("job.yml:6:"), "{personas}: {report}");
    }
}

#[test]
fn a_fault_that_does_not_exist_is_shown_with_the_nearest() {
    let report = rendered(&least_and("evaluator: {allow: [roleSwop]}\n"));
    assert!(report.contains("job.yml:6:21") && report.contains("roleSwap"), "{report}");
    let report = rendered(&least_and("evaluator: {allow: everything}\n"));
    assert!(report.contains("job.yml:6:20") && report.contains("all"), "{report}");
}

#[test]
fn the_file_of_a_persona_is_read_with_places() {
    let read = |text: &str| UserPersona::read("mine", "prompts/personas/mine.yml", text);
    let mine = read("description: Shouts\nallow: all\n").unwrap();
    assert_eq!((mine.name.as_str(), mine.allow.is_all()), ("mine", true));
    let problem = read("description: Shouts\nbehaviour: [x]\n").unwrap_err();
    let place = problem.place.unwrap();
    assert_eq!((place.file.as_str(), place.line, place.column), ("prompts/personas/mine.yml", 2, 1));
    assert!(problem.message.contains("`behaviours`"), "{}", problem.message);
    for (text, part) in [
        ("name: yours\nstyle: x\n", "a persona has the name of its file"),
        ("allow: all\n", "the persona `mine` has none of"),
        ("- a\n", "mapping"),
        ("", "empty"),
        ("style: [", "mine.yml"),
    ] {
        let problem = read(text).unwrap_err();
        let place = problem.place.map(|place| place.file).unwrap_or_default();
        assert!(problem.message.contains(part) || place.contains(part), "{text}: {}", problem.message);
    }
}
