//! Jobs of several cases.

use serde_json::json;

use super::*;
use crate::evidence::Condition::{WithFacts, WithoutFacts};

fn job(text: &str) -> Job {
    load("job.yml", text, &AllTemplates).unwrap_or_else(|problems| panic!("{}", render_problems(&problems)))
}

#[test]
fn a_case_adds_to_what_the_file_says_for_all() {
    let job = job(CASES);
    assert_eq!((job.cases.len(), job.repeat), (2, 3));
    let (train, fixed) = (&job.cases[0], &job.cases[1]);
    assert_eq!(train.facts, ["The user's name is Ada", "The train leaves at nine"]);
    assert_eq!(fixed.facts, ["The user's name is Ada"]);
    let ids: Vec<&str> = train.assertions.iter().map(|assertion| assertion.id.as_str()).collect();
    assert_eq!(ids[0], "nothing broke");
    assert_eq!(format!("{}#2", ids[1]), ids[2], "the same twice");
    assert_eq!(
        (train.conditions.as_slice(), fixed.conditions.as_slice()),
        ([WithFacts].as_slice(), [WithoutFacts, WithFacts].as_slice())
    );
    assert_eq!(fixed.user, User::Lines(["Book a bus", "Thanks"].map(|say| Line::from(say.to_owned())).to_vec()));
    assert_eq!((train.seeds.len(), train.setups.len(), fixed.setups.len()), (1, 1, 0));
    assert!(job.persona_model().is_some(), "the first case has no lines of its own");
}

#[test]
fn a_file_without_cases_is_one_case_with_the_jobs_name() {
    let job = job(LEAST);
    assert_eq!(job.cases.iter().map(|case| case.id.as_str()).collect::<Vec<_>>(), ["job"]);
    assert_eq!(job.cases[0].conditions, [WithoutFacts], "nobody pays twice for the same talk");
    let with = self::job(&LEAST.replace("facts: []", "facts: [f]"));
    assert_eq!(with.cases[0].conditions, [WithoutFacts, WithFacts]);
    let reversed = self::job(&least_and("conditions: [withFacts, withoutFacts]\n"));
    assert_eq!(reversed.cases[0].conditions, [WithoutFacts, WithFacts]);
}

#[test]
fn a_complete_job_is_stored_and_read_again() {
    for text in [CASES, FULL, EMBABEL, LEAST, MANAGED, OPENAI, HTTP, COMMAND] {
        let job = job(text);
        let stored = serde_json::to_string(&job).unwrap();
        let again = load("job.yml", &stored, &AllTemplates).unwrap_or_else(|it| panic!("{}", render_problems(&it)));
        assert_eq!(Job { digest: job.digest.clone(), ..again }, job);
    }
}

#[test]
fn cases_need_tasks_and_ids_of_their_own() {
    let text =
        "target: {user: u, chatbot: c}\ncases:\n  - id: a\n  - id: a\n    tasks: [{task: t, acceptanceCriteria: a}]\n";
    problems(
        text,
        "
job.yml:3:5: the case `a` has no tasks
  |
3 |   - id: a
  |     ^^
  = help: give it `tasks` or a `plan`, or write tasks for all cases at the start of a line; or give it the lines of a `script`

job.yml:4:9: the case in line 3 has the id `a` too
  |
4 |   - id: a
  |         ^
  = help: give each case an id of its own: results are kept by it
",
    );
    problems(
        "target: {user: u, chatbot: c}\n",
        "
job.yml:1:1: missing keys `tasks` and `facts` in the job file
  |
1 | target: {user: u, chatbot: c}
  | ^^^^^^
  = help: write `facts: []` if there are none
",
    );
}

#[test]
fn an_id_is_one_short_line() {
    let long = "x".repeat(101);
    for id in ["\"a\\nScore 1.00\"", "' a'", &long] {
        let text = least_and(&format!("cases: [{{id: {id}}}]\n"));
        assert!(rendered(&text).contains("an id is one line of at most 100 characters"), "{id}: {}", rendered(&text));
    }
}

#[test]
fn problems_of_a_case_come_with_their_place() {
    let text = least_and("cases:\n  - id: a\n    assertions:\n      - expression: objectContext.x(\n");
    assert!(rendered(&text).starts_with("job.yml:9:"), "{}", rendered(&text));
    let text = least_and("cases:\n  - {id: a, task: []}\n");
    assert!(rendered(&text).contains("did you mean `tasks`?"), "{}", rendered(&text));
    assert_eq!(json!(job(CASES).cases[1].user), json!(["Book a bus", "Thanks"]));
}
