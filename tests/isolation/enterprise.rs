//! A database for each conversation: refused by a real Community edition, granted by a server that only looks like the
//! Enterprise edition.

use std::collections::BTreeSet;

use super::{broken, run};
use crate::program::eval_job;
use crate::servers::enterprise::Enterprise;
use crate::servers::neo4j;

const JOB: &str = "
evaluator: {script: [one]}
scorer: {model: scripted}
greetings: [Hello]
facts: []
conditions: [withoutFacts, withFacts]
tasks: [{task: Ask for anything, acceptanceCriteria: Anything is said}]
target: {user: u, chatbot: c, demo: {}}
graph: {neo4j: {}}
isolation: database
setups: [{cypher: 'CREATE (:Prepared)'}]
";

/// The database that a statement is about or runs on.
fn name_in(message: &str) -> Option<String> {
    let at = message.find("evaljob")?;
    Some(message[at..].chars().take_while(char::is_ascii_alphanumeric).collect())
}

#[test]
fn each_conversation_has_a_database_that_is_deleted_afterwards() {
    let server = Enterprise::start();
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), JOB, &[], &[("NEO_URI", &server.uri), ("NEO_PASSWORD", "x")]);
    let messages = server.messages();
    let about = |what: &str| -> Vec<String> {
        messages.iter().filter(|message| message.contains(what)).filter_map(|message| name_in(message)).collect()
    };
    let (created, deleted) = (about("CREATE DATABASE $name WAIT"), about("DROP DATABASE $name IF EXISTS"));
    let names: BTreeSet<&String> = created.iter().collect();
    assert_eq!((created.len(), names.len()), (2, 2), "{messages:?}");
    assert_eq!(deleted.iter().collect::<BTreeSet<_>>(), names);
    for message in messages.iter().filter(|message| message.contains(" DATABASE ")) {
        assert!(message.contains("system"), "{message}");
    }
    for name in &created {
        assert!(name.len() == 23 && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()), "{name}");
        let place =
            |part: &str| messages.iter().position(|message| message.contains(part) && message.contains(name.as_str()));
        // In this order: it is made, written to, and deleted.
        let (made, used, deleted) = (place("CREATE DATABASE"), place("db"), place("DROP DATABASE"));
        assert!(made.is_some() && made < deleted && used.is_some(), "{messages:?}");
    }
}

#[test]
fn a_database_is_deleted_when_the_conversation_breaks() {
    let server = Enterprise::start();
    let folder = tempfile::tempdir().unwrap();
    // No started agent comes of this, but the database was made before.
    let job = JOB.replace("demo: {}", "start: {command: 'false'}");
    let (_, record) = run(folder.path(), &job, &[], &[("NEO_URI", &server.uri), ("NEO_PASSWORD", "x")]);
    assert!(broken(&record.trials[0]).contains("ended"), "{}", broken(&record.trials[0]));
    let count = |what: &str| server.messages().iter().filter(|message| message.contains(what)).count();
    assert_eq!((count("CREATE DATABASE"), count("DROP DATABASE")), (2, 2));
}

#[test]
fn a_look_without_a_word_runs_the_setups_in_a_database_of_its_own() {
    let server = Enterprise::start();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job.yml"), JOB).unwrap();
    let mut command = eval_job(folder.path());
    command.args(["validate", "--live", "job.yml"]).env("NEO_URI", &server.uri).env("NEO_PASSWORD", "x");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    let count = |what: &str| server.messages().iter().filter(|message| message.contains(what)).count();
    assert_eq!((count("CREATE DATABASE"), count("DROP DATABASE")), (2, 2));
    // It is explained once, before anything begins.
    assert_eq!((count("CREATE (:Prepared)"), count("EXPLAIN CREATE (:Prepared)")), (3, 1));
}

#[tokio::test]
async fn the_community_edition_refuses_and_that_is_told_with_what_to_try() {
    let test = "the_community_edition_refuses_and_that_is_told_with_what_to_try";
    let Some(database) = neo4j::database(test).await else { return };
    let server = &database.server;
    let env = [
        ("NEO_URI", server.uri.as_str()),
        ("NEO_USERNAME", server.username.as_str()),
        ("NEO_PASSWORD", server.password.as_str()),
    ];
    let folder = tempfile::tempdir().unwrap();
    let (output, record) = run(folder.path(), JOB, &[], &env);
    assert_eq!(output.status.code(), Some(102));
    let error = broken(&record.trials[0]);
    assert!(error.contains("that needs its Enterprise edition") && error.contains("isolation: user"), "{error}");
    assert_eq!(server.value("MATCH (n) RETURN count(n)").await, "0");
}
