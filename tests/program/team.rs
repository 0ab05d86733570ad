//! The store of a team, in a real PostgreSQL: what is held on one machine is there on another one, and a database that is away
//! loses nothing.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{eval_job, words};
use crate::servers::postgres::{Database, database};

const JOB: &str = "name: Reminders\ntarget: {user: u, chatbot: c, demo: {}}\nevaluator: {model: scripted}\nscorer: {model: scripted}\n\
                   facts: []\ntasks: [{task: Ask for a reminder to call Bob, acceptanceCriteria: A reminder to call Bob is created}]\n";

/// A machine of the team: a folder with the job and its own runs.
struct Machine {
    folder: tempfile::TempDir,
    store: Option<String>,
}

impl Machine {
    fn new(store: Option<String>) -> Machine {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("job.yml"), JOB).unwrap();
        Machine { folder, store }
    }

    /// Another machine with copies of its runs, made at the same times.
    fn copy(&self, store: Option<String>) -> Machine {
        let other = Machine::new(store);
        super::copy(&self.runs(), &other.runs());
        for (from, to) in self.run_folders().iter().zip(other.run_folders()) {
            let modified = fs::metadata(from.join("journal.ndjson")).unwrap().modified().unwrap();
            fs::File::options().append(true).open(to.join("journal.ndjson")).unwrap().set_modified(modified).unwrap();
        }
        other
    }

    /// The status, and what was printed to both streams.
    fn typed(&self, line: &str) -> (Option<i32>, String) {
        let (status, data, notes) = self.apart(line);
        (status, format!("{data}{notes}"))
    }

    fn apart(&self, line: &str) -> (Option<i32>, String, String) {
        let mut command = eval_job(self.folder.path());
        if let Some(url) = &self.store {
            command.env("EVAL_JOB_STORE", url);
        }
        let output = command.args(line.split(' ')).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let told = words(&output);
        if let Some(password) = self.store.as_ref().and_then(|url| url.split(['@']).next()?.rsplit(':').next()) {
            assert!(!told.contains(password), "{line}: {told}");
        }
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    fn hold(&self) -> String {
        let (status, told) = self.typed("run job.yml --no-progress");
        assert_eq!(status, Some(0), "{told}");
        told
    }

    fn ids(&self) -> Vec<String> {
        let (_, data, notes) = self.apart("list --json");
        let listed: Value = serde_json::from_str(&data).unwrap_or_else(|error| panic!("{error}: {data}{notes}"));
        listed.as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
    }

    fn runs(&self) -> PathBuf {
        self.folder.path().join("runs")
    }

    fn run_folders(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.runs()).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut folders: Vec<_> = entries.filter(|path| path.join("journal.ndjson").is_file()).collect();
        folders.sort();
        folders
    }
}

/// What every store does: the same runs in the same order, found by the same names, with the same words for what is not there.
fn contract(store: &Machine, truth: &Machine) {
    let same = |line: &str| {
        let (status, data, _) = truth.apart(line);
        let (own_status, own_data, notes) = store.apart(line);
        assert_eq!((own_status, own_data), (status, data), "{line}: {notes}");
    };
    let ids = truth.ids();
    let name = truth.run_folders()[0].file_name().unwrap().to_string_lossy().into_owned();
    same("list");
    same("list --json");
    // Without a name the newest one here, and of the team where there is none.
    same("show --json");
    same(&format!("show {} --json", ids[0]));
    same(&format!("show {} -v", ids[1]));
    same(&format!("show {name} --json"));
    same(&format!("compare {} {} --json", ids[0], ids[1]));
    same(&format!("export {} --format junit", ids[0]));
    same("show nobody");
    same(&format!("show {}", &name[..4]));
    same(&format!("baseline set release {}", ids[1]));
    same("show release --json");
    same(&format!("compare {} release --json", ids[0]));
    same("baseline rm release");
    same("show release");
}

#[test]
fn folders_index_and_a_teams_store_are_one_store() {
    let truth = Machine::new(None);
    for _ in 0..3 {
        truth.hold();
    }
    let copied = truth.copy(None);
    contract(&copied, &truth);
    let indexed = truth.copy(None);
    fs::write(indexed.runs().join("index.sqlite"), "").unwrap();
    contract(&indexed, &truth);
    assert!(fs::metadata(indexed.runs().join("index.sqlite")).unwrap().len() > 0, "it was used");
    let Some(database) = database("the contract of a team's store") else { return };
    let sender = truth.copy(Some(database.url()));
    let (status, told) = sender.typed("reindex");
    assert_eq!(status, Some(0), "{told}");
    assert!(told.contains("3 runs sent to the team's store"), "{told}");
    let (_, told) = sender.typed("reindex");
    assert!(!told.contains("sent"), "nothing is sent twice: {told}");
    contract(&Machine::new(Some(database.url())), &truth);
}

#[test]
fn a_run_that_could_not_be_sent_is_kept_and_sent_with_the_next_one() {
    let Some(database) = database("unsent runs") else { return };
    let mut machine = Machine::new(Some(database.url().replace(database.password(), "not-the-password")));
    let told = machine.hold();
    assert!(told.contains("refuses: password authentication failed"), "{told}");
    assert!(told.contains("1 run is kept in runs, and sent with the next run, or by eval-job reindex"), "{told}");
    machine.store = Some(database.url_at("127.0.0.1:9"));
    assert!(machine.hold().contains("can't be reached: "));
    let (status, _, notes) = machine.apart("list");
    assert_eq!(status, Some(0));
    assert!(
        notes.contains("can't be reached: ") && notes.contains("only the runs of this machine are listed"),
        "{notes}"
    );
    let (status, told) = machine.typed("reindex");
    assert_eq!(status, Some(1));
    assert!(told.contains("can't be reached") && told.contains("try: again, once it can be reached"), "{told}");
    assert!(machine.run_folders().iter().all(|run| run.join("unsent").exists()));

    machine.store = Some(database.url());
    let told = machine.hold();
    assert!(told.contains("3 runs sent to the team's store"), "{told}");
    assert!(!machine.run_folders().iter().any(|run| run.join("unsent").exists()));
    let colleague = Machine::new(Some(database.url()));
    assert_eq!(colleague.ids(), machine.ids());
    assert_eq!(colleague.run_folders().len(), 0, "a list fetches nothing");
}

#[test]
fn a_server_that_goes_away_while_a_run_is_sent_has_nothing_of_it() {
    let Some(database) = database("a server that goes away") else { return };
    let mut machine = Machine::new(None);
    machine.hold();
    let run = machine.run_folders().remove(0);
    // Long enough to be cut in the middle.
    let labels = "{\"text\": \"\"}\n".repeat(200_000);
    fs::write(run.join("labels.ndjson"), labels).unwrap();
    machine.store = Some(database.url_at(&database.cut_after(1_500_000)));
    let (status, told) = machine.typed("reindex");
    assert_eq!(status, Some(1), "{told}");
    assert!(told.contains("can't be reached"), "{told}");
    assert_eq!(database.count("SELECT count(*) FROM eval_job_runs"), 0);
    machine.store = Some(database.url());
    assert_eq!(machine.typed("reindex").0, Some(0));
    assert_eq!(database.count("SELECT count(*) FROM eval_job_runs"), 1);
    let colleague = Machine::new(Some(database.url()));
    assert_eq!(colleague.typed("show").0, Some(0));
    let fetched = colleague.run_folders().remove(0);
    for file in ["journal.ndjson", "summary.json", "labels.ndjson"] {
        assert!(fs::read(fetched.join(file)).unwrap() == fs::read(run.join(file)).unwrap(), "{file}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&fetched).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(fs::metadata(fetched.join("journal.ndjson")).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_gate_holds_a_run_to_the_teams_baseline() {
    let Some(database) = database("the baseline of a team") else { return };
    let [ann, ci] = [(), ()].map(|()| Machine::new(Some(database.url())));
    ann.hold();
    assert_eq!(ann.typed("baseline set main").0, Some(0));
    fs::write(ci.folder.path().join("job.yml"), format!("{JOB}gate: {{baseline: main}}\n")).unwrap();
    let (_, told) = ci.typed("run job.yml --no-progress");
    assert!(!told.contains("there is no baseline"), "{told}");
    assert_eq!(ci.run_folders().len(), 2, "the baseline's run was fetched: {told}");
    let (_, listed) = ci.typed("baseline list --json");
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!((&listed[0]["run"], &listed[0]["isDeleted"]), (&ann.ids()[0].as_str().into(), &false.into()));
    // One that is set anew goes before what is known here.
    ann.hold();
    assert_eq!(ann.typed("baseline set main").0, Some(0));
    let shown: Value = serde_json::from_str(&ci.apart("show main --json").1).unwrap();
    assert_eq!(shown["id"], ann.ids().last().unwrap().as_str());
    assert_eq!(ann.typed("baseline rm main").0, Some(0));
    assert_eq!(database.count("SELECT count(*) FROM eval_job_baselines"), 0);
}

#[test]
fn tables_of_the_first_version_become_these_and_newer_ones_are_left_alone() {
    let Some(database) = database("older and newer tables") else { return };
    database.run(&fs::read_to_string(crate::house::root().join("tests/fixtures/store/version-1.sql")).unwrap());
    let machine = Machine::new(Some(database.url()));
    let ids = machine.ids();
    assert_eq!(ids.len(), 1);
    assert_eq!(machine.typed(&format!("show {}", ids[0])).0, Some(0));
    assert_eq!(machine.typed(&format!("baseline set main {}", ids[0])).0, Some(0));
    assert_eq!(database.count("SELECT count(*) FROM eval_job_baselines"), 1);
    database.run(
        "INSERT INTO eval_job_migrations SELECT 99, 'later', applied_on, checksum FROM eval_job_migrations LIMIT 1",
    );
    let told = machine.hold();
    assert!(told.contains("is of a newer eval-job: 1 run is kept"), "{told}");
    assert_eq!(database.count("SELECT count(*) FROM eval_job_runs"), 1);
}

#[test]
fn two_machines_make_the_tables_and_send_at_once() {
    let Some(database) = database("two machines at once") else { return };
    let machines: Vec<Machine> = (0..3).map(|_| Machine::new(Some(database.url()))).collect();
    std::thread::scope(|scope| machines.iter().for_each(|machine| drop(scope.spawn(|| machine.hold()))));
    assert_eq!(database.count("SELECT count(*) FROM eval_job_runs"), 3);
    assert!(machines.iter().all(|machine| machine.ids().len() == 3));
}

#[test]
fn certificates_are_checked_as_far_as_the_address_says() {
    let Some(database) = database("certificates") else { return };
    let port = database.address.rsplit_once(':').unwrap().1;
    let at = |host: &str, query: &str| {
        let query = query.replace("CERT", &database.certificate);
        let machine = Machine::new(Some(format!("{}?{query}", database.url_at(&format!("{host}:{port}")))));
        machine.typed("list").1
    };
    let none = "there are no runs in runs yet";
    for (host, query) in [
        ("127.0.0.1", "sslmode=disable"),
        ("127.0.0.1", "sslmode=require"),
        ("127.0.0.1", "sslmode=verify-ca&sslrootcert=CERT"),
        ("localhost", "sslmode=verify-full&sslrootcert=CERT"),
    ] {
        let told = at(host, query);
        assert!(told.contains(none) && !told.contains("note:"), "{host} {query}: {told}");
    }
    for (host, query) in [
        ("localhost", "sslmode=verify-full".to_owned()),
        ("127.0.0.1", "sslmode=verify-full&sslrootcert=CERT".to_owned()),
        ("localhost", format!("sslmode=verify-ca&sslrootcert={}", tls_certificate().display())),
    ] {
        let told = at(host, &query);
        assert!(told.contains("can't be reached") && told.contains("certificate"), "{host} {query}: {told}");
    }
}

fn tls_certificate() -> PathBuf {
    crate::house::root().join("tests/fixtures/tls/certificate.pem")
}

#[test]
fn what_is_no_address_is_refused_before_anything_is_held() {
    let machine = Machine::new(Some("mysql://bob:s3cret-s3cret@db/evals".to_owned()));
    let (status, told) = machine.typed("run job.yml");
    assert_eq!(status, Some(2));
    assert!(told.contains("--store is no address of a PostgreSQL: it begins with postgres://"), "{told}");
    assert!(
        told.contains("try: postgres://HOST:5432/DATABASE?sslmode=verify-full, with USER:PASSWORD@ before the host"),
        "{told}"
    );
    assert!(!machine.runs().exists());
    let (_, help) = machine.typed("list --help");
    assert!(help.contains("EVAL_JOB_STORE"), "{help}");
}

#[test]
fn a_database_names_no_path_of_this_machine() {
    let Some(database) = database("a hostile database") else { return };
    let machine = Machine::new(Some(database.url()));
    machine.hold();
    database.run("INSERT INTO eval_job_runs SELECT '../../20990101-evil-evil66', 'evil66', job, job_file, now(), finished_at, verdict,
                  provenance_digest, journal_bytes, listed, figures FROM eval_job_runs LIMIT 1;
                  INSERT INTO eval_job_files SELECT '../../20990101-evil-evil66', name, place, bytes FROM eval_job_files;
                  INSERT INTO eval_job_files SELECT folder, '../escaped', 0, 'x' FROM eval_job_runs;");
    let colleague = Machine::new(Some(database.url()));
    let (status, told) = colleague.typed("show evil66");
    assert_eq!(status, Some(2));
    assert!(told.contains("is no name of a run's folder"), "{told}");
    assert_eq!(colleague.typed(&format!("show {}", machine.ids()[0])).0, Some(0));
    let beside: Vec<_> = fs::read_dir(colleague.runs()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(beside.len(), 1, "{beside:?}");
    assert!(!Path::new(&colleague.runs().join("escaped")).exists());
}

#[test]
fn what_was_sent_can_be_queried() {
    let Some(database) = database("queries") else { return };
    Machine::new(Some(database.url())).hold();
    let passed: i64 = of(&database, "WHERE verdict = 'passed' AND job = 'Reminders' AND finished_at >= started_at");
    assert_eq!(passed, 1);
    assert_eq!(of(&database, "WHERE figures #>> '{models,0,cells,0,n}' = '1'"), 1);
}

fn of(database: &Database, rest: &str) -> i64 {
    database.count(&format!("SELECT count(*) FROM eval_job_runs {rest}"))
}
