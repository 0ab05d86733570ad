//! `scorer.embeddings: {folder: …}`, in builds with the feature `local-embeddings` and in those without it.

use std::fs;

use super::eval_job;

const JOB: &str = "target: {user: u, chatbot: c, demo: {}}\nscorer: {embeddings: {folder: model}}\ngreetings: []\n\
    metrics: [{trajectory: {}, threshold: 1}]\n\
    cases: [{id: a, script: [Hello], expected: {calls: [{tool: t, args: {to: the capital}, match: {to: fuzzy}}]}}]\n";

/// What `validate` and `run` print about the job.
fn refusals() -> [String; 2] {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("jobs")).unwrap();
    fs::write(folder.path().join("jobs/job.yml"), JOB).unwrap();
    ["validate", "run"].map(|command| {
        let output = eval_job(folder.path()).args([command, "jobs/job.yml"]).output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words}");
        words
    })
}

#[cfg(not(feature = "local-embeddings"))]
#[test]
fn a_build_without_the_feature_refuses_the_job_and_says_how_to_build_it() {
    for words in refusals() {
        let needed = "scorer.embeddings.folder: this eval-job was built without local embeddings (the feature `local-embeddings`)";
        assert!(words.contains(needed), "{words}");
        assert!(words.contains("cargo build --release --features local-embeddings"), "{words}");
    }
}

#[cfg(feature = "local-embeddings")]
#[test]
fn a_folder_that_is_not_there_is_refused_where_the_job_file_is() {
    for words in refusals() {
        assert!(words.contains("scorer.embeddings.folder: there is no folder jobs/model"), "{words}");
    }
}
