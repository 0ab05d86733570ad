//! A run of the first format that is graded again.

use super::{eval_job, words};

/// A run that a version kept which had neither the job in its journal nor the queries of its assertions.
#[test]
fn a_run_of_format_1_is_graded_by_a_job_file_as_far_as_it_tells() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("runs/20261120-233240-bkp5zv");
    std::fs::create_dir_all(&run).unwrap();
    let journal = std::fs::read(crate::house::root().join("tests/fixtures/runs/format-1.ndjson")).unwrap();
    std::fs::write(run.join("journal.ndjson"), &journal).unwrap();
    let job = "name: Address book\ntarget: {user: u, chatbot: c, demo: {}}\nevaluator: {script: [Hey]}\nfacts: [x]\n\
               metrics: [{assertions: {}}]\nassertions:\n\
               - {name: greta, expression: 'evaluation.transcript.any(|it| it.content.contains(\"Greta Olsen\"))'}\n";
    let graded = |job: &str| {
        std::fs::write(folder.path().join("job.yml"), job).unwrap();
        let output = eval_job(folder.path()).args(["grade", "bkp5zv", "--job", "job.yml"]).output().unwrap();
        (output.status.code(), words(&output).split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let (status, told) = graded(job);
    assert_eq!(status, Some(0), "{told}");
    assert!(told.contains("assertions × 4 1.00 1.00"), "{told}");
    // What its own queries returned is not known to be of this one.
    let query = "- {cypher: 'MATCH (c:Contact) RETURN count(c)', expected: 2}\n";
    let (status, told) = graded(&format!("{job}{query}"));
    assert_eq!(status, Some(102), "{told}");
    assert!(told.contains("was never run, and what it returns can't be determined without the graph"), "{told}");
    assert_eq!(std::fs::read(run.join("journal.ndjson")).unwrap(), journal);
}
