use super::*;
use crate::record::{Entry, FORMAT_VERSION};
use crate::store::StoredRun;

#[test]
fn a_name_from_anywhere_makes_a_harmless_folder() {
    assert_eq!(slug("../../etc/passwd"), "etc-passwd");
    assert_eq!(slug("Reminders & contacts"), "reminders-contacts");
    assert_eq!(slug("提醒"), "job");
    assert_eq!(slug(&"x".repeat(500)).len(), 40);
}

#[test]
fn two_runs_of_one_second_get_a_folder_each() {
    let dir = tempfile::tempdir().unwrap();
    let runs = RunsFolder::at(dir.path());
    let at = DateTime::UNIX_EPOCH;
    let first = runs.create("job", at, &mut fastrand::Rng::with_seed(1)).unwrap();
    let second = runs.create("job", at, &mut fastrand::Rng::with_seed(1)).unwrap();
    assert_ne!(first.folder, second.folder);
    assert_eq!(runs.names().unwrap().len(), 2);
    assert_eq!(runs.find(Some(&first.id)).unwrap(), first.folder);
    assert!(matches!(runs.find(Some("19700101")), Err(StoreError::Ambiguous { .. })));
    assert!(matches!(runs.find(Some("nope")), Err(StoreError::NoSuchRun { .. })));
}

#[test]
fn the_newest_run_of_a_second_is_the_one_that_was_written_last() {
    let dir = tempfile::tempdir().unwrap();
    let runs = RunsFolder::at(dir.path());
    let mut rng = fastrand::Rng::with_seed(1);
    for (job, age) in [("zebra", 2), ("ape", 1)] {
        let run = runs.create(job, DateTime::UNIX_EPOCH, &mut rng).unwrap();
        let journal = fs::File::options().append(true).open(run.folder.join(JOURNAL)).unwrap();
        journal.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(10 - age)).unwrap();
    }
    let newest = runs.find(None).unwrap();
    assert!(newest.to_string_lossy().contains("-ape-"), "{newest:?}");
    assert!(runs.names().unwrap()[0].contains("-zebra-"));
}

#[test]
fn runs_of_one_second_are_in_the_order_in_which_they_began_whatever_the_times_of_their_files() {
    let dir = tempfile::tempdir().unwrap();
    let runs = RunsFolder::at(dir.path());
    let mut rng = fastrand::Rng::with_seed(1);
    for (millis, job) in ["zebra", "ape", "marten"].into_iter().enumerate() {
        let at = DateTime::UNIX_EPOCH + chrono::TimeDelta::milliseconds(millis as i64);
        let run = runs.create(job, at, &mut rng).unwrap();
        let mut started = entries(&run.id, false).remove(0);
        if let Entry::RunStarted { at: started_at, .. } = &mut started {
            *started_at = at;
        }
        run.journal.append(&started).unwrap();
        drop(run.journal);
        let journal = File::options().append(true).open(run.folder.join(JOURNAL)).unwrap();
        // As after a copy, or where the first was resumed.
        let written = std::time::Duration::from_secs(10 - millis as u64);
        journal.set_modified(SystemTime::UNIX_EPOCH + written).unwrap();
        if millis == 1 {
            let started = format!("{{\"startedAt\": \"{}\"}}", at.to_rfc3339());
            fs::write(run.folder.join("summary.json"), started).unwrap();
            fs::write(run.folder.join(JOURNAL), "not read").unwrap();
        }
    }
    let names = runs.names().unwrap();
    let jobs: Vec<&str> = names.iter().filter_map(|name| name.split('-').nth(2)).collect();
    assert_eq!(jobs, ["zebra", "ape", "marten"]);
}

#[cfg(unix)]
#[test]
fn a_run_is_the_users_alone() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let runs = RunsFolder::at(dir.path());
    let run = runs.create("job", DateTime::UNIX_EPOCH, &mut fastrand::Rng::with_seed(1)).unwrap();
    let entry = Entry::RunStarted {
        version: FORMAT_VERSION,
        id: run.id.clone(),
        at: DateTime::UNIX_EPOCH,
        provenance: Box::default(),
        job: None,
        templates: Default::default(),
        trials: Default::default(),
    };
    run.journal.append(&entry).unwrap();
    drop(run.journal);
    let mut stored = runs.open(None).unwrap();
    let summary = stored.read(|_, _| ()).unwrap().summary;
    stored.write_summary(&summary).unwrap();
    assert_eq!(runs.runs().unwrap().next().unwrap().unwrap(), ListedRun::from(&summary));
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&run.folder), 0o700);
    assert_eq!(mode(&run.folder.join(JOURNAL)), 0o600);
    assert_eq!(mode(&run.folder.join("summary.json")), 0o600);
}

/// The entries of a run about one conversation that never began.
fn entries(id: &str, is_ended: bool) -> Vec<Entry> {
    let provenance = serde_json::from_str(r#"{"job": "Travel desk", "models": ["m"]}"#).unwrap();
    let started = Entry::RunStarted {
        version: FORMAT_VERSION,
        id: id.to_owned(),
        at: DateTime::UNIX_EPOCH,
        provenance,
        job: None,
        templates: Default::default(),
        trials: [crate::record::TrialRecord::planned(
            serde_json::from_str(r#"{"number": 1, "case": "c", "model": "m", "condition": "withFacts", "repeat": 1}"#)
                .unwrap(),
        )
        .trial]
        .into_iter()
        .collect(),
    };
    let finished = Entry::RunFinished { at: DateTime::UNIX_EPOCH, interrupted: false };
    std::iter::once(started).chain(is_ended.then_some(finished)).collect()
}

#[test]
fn a_run_without_a_summary_is_listed_by_its_first_line_and_one_that_ended_is_added_up_once() {
    let dir = tempfile::tempdir().unwrap();
    let runs = RunsFolder::at(dir.path());
    let mut rng = fastrand::Rng::with_seed(1);
    for is_ended in [false, true] {
        let run = runs.create("job", DateTime::UNIX_EPOCH, &mut rng).unwrap();
        for entry in entries(&run.id, is_ended) {
            run.journal.append(&entry).unwrap();
        }
        drop(run.journal);
        let summary = run.folder.join("summary.json");
        for _ in 0..2 {
            let listed = runs.runs().unwrap().map(Result::unwrap).find(|it| it.id == run.id).unwrap();
            assert_eq!((listed.provenance.job.as_str(), listed.finished_at.is_some()), ("Travel desk", is_ended));
            assert_eq!(listed.figures.len(), usize::from(is_ended));
            assert_eq!(summary.exists(), is_ended);
        }
        if is_ended {
            let opened = runs.open(Some(&run.id)).unwrap().read(|_, _| ()).unwrap().summary;
            assert_eq!(runs.runs().unwrap().last().unwrap().unwrap().verdict, opened.verdict);
        }
    }
}

#[test]
fn a_summary_that_several_write_at_once_is_written_by_each_and_nothing_is_left_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let runs = RunsFolder::at(dir.path());
    let run = runs.create("job", DateTime::UNIX_EPOCH, &mut fastrand::Rng::with_seed(1)).unwrap();
    for entry in entries(&run.id, true) {
        run.journal.append(&entry).unwrap();
    }
    drop(run.journal);
    let summary = runs.open(None).unwrap().read(|_, _| ()).unwrap().summary;
    for left in ["summary.json.partial", "summary.json.7-0.partial"] {
        let killed = File::create(run.folder.join(left)).unwrap();
        killed.set_modified(DateTime::<chrono::Utc>::UNIX_EPOCH.into()).unwrap();
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..25).for_each(|_| summary::write(&run.folder, "summary.json", &summary, 2).unwrap()));
        }
    });
    let mut files: Vec<_> =
        fs::read_dir(&run.folder).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, ["journal.ndjson", "summary.json"]);
    assert!(fs::create_dir(run.folder.join("taken")).is_ok());
    assert!(summary::write(&run.folder, "taken", &summary, 2).is_err());
    assert_eq!(fs::read_dir(&run.folder).unwrap().count(), 3, "what could not be renamed is deleted");
}

#[test]
fn a_run_that_never_began_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let runs = RunsFolder::at(dir.path());
    assert!(matches!(runs.find(None), Err(StoreError::NoRuns { .. })));
    let run = runs.create("job", DateTime::UNIX_EPOCH, &mut fastrand::Rng::with_seed(1)).unwrap();
    let read = |id: &str| runs.open(Some(id)).unwrap().read(|_, _| ()).unwrap_err();
    assert!(matches!(read(&run.id), StoreError::JustBegun(_)), "somebody holds its journal");
    let id = run.id.clone();
    drop(run);
    let error = read(&id).to_string();
    assert!(error.contains("cut off before it began"), "{error}");
}

#[test]
fn the_newest_run_that_is_meant_is_no_persons_conversation() {
    let dir = tempfile::tempdir().unwrap();
    let runs = RunsFolder::at(dir.path());
    let mut rng = fastrand::Rng::with_seed(1);
    let mut add = |second: i64, by_person: bool| {
        let run = runs.create("job", DateTime::from_timestamp(second, 0).unwrap(), &mut rng).unwrap();
        for mut entry in entries(&run.id, true) {
            if let Entry::RunStarted { provenance, .. } = &mut entry {
                provenance.by_person = by_person;
            }
            run.journal.append(&entry).unwrap();
        }
        drop(run.journal);
        run.folder
    };
    let only = add(10, true);
    assert_eq!(runs.open_unattended(None).unwrap().path(), runs.open(None).unwrap().path());
    let night = add(20, false);
    let newer = add(30, true);
    let path = |run: JournalFile| run.path().to_path_buf();
    assert!(path(runs.open_unattended(None).unwrap()).starts_with(&night));
    assert!(path(runs.open(None).unwrap()).starts_with(&newer));
    // Only their first lines were read: none was added up.
    assert!([&only, &night, &newer].iter().all(|run| !run.join("summary.json").exists()));
    let id = only.file_name().unwrap().to_string_lossy().rsplit('-').next().unwrap().to_owned();
    assert!(path(runs.open_unattended(Some(&id)).unwrap()).starts_with(&only));
}

#[test]
fn a_run_that_is_read_for_the_last_time_holds_neither_its_job_nor_its_templates() {
    let dir = tempfile::tempdir().unwrap();
    let runs = RunsFolder::at(dir.path());
    let run = runs.create("job", DateTime::UNIX_EPOCH, &mut fastrand::Rng::with_seed(1)).unwrap();
    for mut entry in entries(&run.id, true) {
        if let Entry::RunStarted { job, templates, .. } = &mut entry {
            *job = Some(Box::new(serde_json::json!({"cases": []})));
            templates.insert("judge/tone".to_owned(), "Be kind.".to_owned());
        }
        run.journal.append(&entry).unwrap();
    }
    drop(run.journal);
    let mut file = runs.open(None).unwrap();
    file.planned().unwrap();
    assert_eq!((file.job.is_some(), file.templates.len()), (true, 1));
    file.read_through(|_, _| ()).unwrap();
    assert_eq!((file.job.is_some(), file.templates.len()), (false, 0));
    file.read(|_, _| ()).unwrap();
    assert_eq!((file.job.is_some(), file.templates.len()), (true, 1));
    file.read_trials(false, |_| ()).unwrap();
    assert_eq!((file.job.is_some(), file.templates.len()), (false, 0));
}
