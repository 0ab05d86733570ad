use super::super::packed::tests::{json, values};
use super::*;
use crate::graph::embedded::{AccessMode, Timeouts};
use crate::graph::{Parameters, Value};

#[test]
fn a_folder_is_private_and_goes_with_its_last_owner() {
    let folder = Folder::make().unwrap();
    let path = folder.path().to_owned();
    fs::write(folder.file(), "x").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    }
    drop(folder);
    assert!(!path.exists());
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_has_vanished_is_not_missed() {
    let folder = Arc::new(Folder::make().unwrap());
    let sessions = Sessions::within(&folder, EmbeddedLimits::default()).unwrap();
    folder.vanish();
    assert!(!folder.path().exists());
    let timeouts = Timeouts { statement: Duration::from_secs(60), turn: Duration::from_secs(60) };
    let mut session = sessions.session(json());
    // Enough for the log to be written back into the file a few times.
    for round in 1..=4 {
        let many =
            "UNWIND range(1, 5000) AS x CREATE (:A {text: 'some text that fills a few pages'})-[:R]->(:B {x: x})";
        session.run(AccessMode::Write, many, &Parameters::new(), timeouts).await.unwrap();
        for _ in 0..2 * READERS {
            let count = "MATCH (n:B) RETURN count(n)";
            let answer = session.run(AccessMode::Read, count, &Parameters::new(), timeouts).await.unwrap();
            assert_eq!(values(answer.rows), [[Value::Int(round * 5000)]]);
        }
    }
    assert!(!folder.path().exists());
}
