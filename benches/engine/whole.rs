//! eval-job's whole engine, journal included.

use std::ffi::OsString;
use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use eval_job::cassette::Cassette;
use eval_job::clock::Clock;
use eval_job::job::{self, Isolation};
use eval_job::plan::{Environment, Overrides, Plan};
use eval_job::prompt::Templates;
use eval_job::record::{Entry, TrialRecord};
use eval_job::run::{self, Credentials, Durability, Engine, RunDeps};
use eval_job::secret::Variables;
use eval_job::store::folder::{Journal, JournalFile, RunsFolder};
use eval_job::store::{Store, StoredRun};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

struct NoTemplates;

impl job::TemplateCheck for NoTemplates {
    fn problem(&self, _: &str, _: job::PromptRole) -> Option<job::TemplateProblem> {
        None
    }
}

/// Eight turns with an agent that is served elsewhere, on an embedded graph if it has one.
pub fn job(address: &str, with_graph: bool) -> String {
    let extra = if with_graph {
        "setups: [{cypher: 'CREATE (:Thing {name: \"a\"})'}]\n\
         assertions:\n  - {cypher: 'MATCH (t:Thing) RETURN count(t)', expected: 1, holdsBefore: true}\n  \
         - {expression: 'objectContext.resources.size == 1', holdsBefore: true}\n"
    } else {
        ""
    };
    format!(
        "target: {{user: u, chatbot: c, embabel: {{baseUrl: \"{address}\"}}}}\nmaxTurns: 100\ngreetings: [Hello]\n\
         tasks: [{{task: Ask for everything on the list, acceptanceCriteria: All of it is noted}}]\nfacts: []\nconditions: [withoutFacts, withFacts]\n{extra}"
    )
}

/// Eight turns with the demo agent, which writes in each of them.
pub fn job_that_writes() -> String {
    let line = |number: usize| format!("'Remind me to call N{number} on 7 March 2031 at 9:00'");
    let lines: Vec<String> = (2..=8).map(line).collect();
    format!(
        "target: {{user: u, chatbot: c, demo: {{}}}}\nevaluator: {{script: [{}]}}\nscorer: {{model: scripted}}\n\
         greetings: [{}]\ntasks: [{{task: Ask for calls, acceptanceCriteria: They are created}}]\nfacts: []\nconditions: [withoutFacts, withFacts]\n\
         setups: [{{cypher: \"CREATE (:User {{id: $user, timeZone: 'UTC'}})\"}}]\n\
         assertions: [{{cypher: 'MATCH (r:Reminder) RETURN count(r)', expected: 8}}]\n",
        lines.join(", "),
        line(1)
    )
}

/// Holds the conversations, all at once; returns how many turns there were.
pub async fn run(conversations: usize, text: &str, watched: bool) -> usize {
    let mut job = job::load("bench.yml", text, &NoTemplates).unwrap();
    let is_demo = matches!(job.target.transport, eval_job::agent::TransportConfig::Demo(_));
    let with_graph = is_demo || !job.cases[0].setups.is_empty();
    job.graph.watch.max_nodes = (!watched).then_some(0);
    let graph = with_graph.then(|| eval_job::graph::GraphConfig::Embedded(Default::default()));
    let base_url = model_endpoint(text).unwrap_or_default();
    let variables: Variables = [("OPENAI_API_KEY", "sk-bench"), ("OPENAI_BASE_URL", &base_url)].into_iter().collect();
    let surroundings = Environment { variables: variables.clone(), ..Environment::default() };
    let model = if is_demo { "demo-careful" } else { "mock" };
    let repeat = Some(conversations as u32 / 2);
    let wanted = Overrides { models: vec![model.to_owned()], repeat, ..Overrides::default() };
    let mut plan = Plan::new(job, wanted, surroundings).unwrap();
    plan.graph = graph;
    plan.isolation = Isolation::Database;
    let credentials = Credentials { variables, ..Credentials::default() };
    let clock = Clock::system();
    let folder = tempfile::tempdir().unwrap();
    let new = RunsFolder::at(folder.path()).create("bench", clock.wall(), &mut fastrand::Rng::with_seed(1)).unwrap();
    let kept = Arc::new(Keeper { journal: new.journal, turns: AtomicUsize::new(0) });
    let deps = RunDeps {
        person: None,
        cassette: Cassette::Off,
        id: new.id,
        templates: Templates::embedded(),
        credentials,
        clock,
        rng_seed: 1,
        random: Box::new(|| 1),
        on_wait: None,
        max_concurrency: conversations,
        sink: kept.clone(),
        cache: eval_job::cache::Cache::OFF,
    };
    let engine = Engine::new(plan, deps).unwrap();
    let (lanes, provenance) = (engine.plan.lanes(), engine.provenance("bench.yml"));
    run::run(Arc::new(engine), provenance, run::Rounds::one(lanes), Default::default()).await.unwrap();
    JournalFile::from_journal(&new.folder, &kept.journal).read(|_, trial| check(trial)).unwrap();
    kept.turns.load(Ordering::Relaxed)
}

/// `eval-job run`, from its command line to its report; returns how many turns there were.
pub fn run_as_users_do(conversations: usize, address: &str) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("job.yml");
    std::fs::write(&file, format!("{}isolation: user\n", job(address, false))).unwrap();
    let (runs, repeat, most) = (folder.path().join("runs"), (conversations / 2).to_string(), conversations.to_string());
    let mut line: Vec<OsString> =
        vec!["eval-job".into(), "run".into(), file.into(), "--runs-dir".into(), runs.clone().into()];
    line.extend(["--model", "mock", "--repeat", &repeat, "-j", &most, "--no-progress"].map(OsString::from));
    let ended = eval_job::cli::main(line);
    assert_eq!(format!("{ended:?}"), format!("{:?}", std::process::ExitCode::SUCCESS));
    let kept = std::fs::read_dir(&runs).unwrap().flatten().map(|kept| kept.path().join("journal.ndjson"));
    let journal = std::fs::File::open(kept.into_iter().find(|path| path.exists()).unwrap()).unwrap();
    let lines = std::io::BufReader::new(journal).lines().map(Result::unwrap);
    lines.filter(|line| line.contains("\"kind\":\"turnFinished\"")).count()
}

/// The journal, and how many turns are in it.
struct Keeper {
    journal: Journal,
    turns: AtomicUsize,
}

impl run::Sink for Keeper {
    fn append(&self, entry: Entry) -> std::io::Result<()> {
        self.journal.append(&entry)?;
        self.turns.fetch_add(usize::from(matches!(entry, Entry::TurnFinished { .. })), Ordering::Relaxed);
        Ok(())
    }

    fn kept(&self, durability: Durability) -> BoxFuture<'_, std::io::Result<()>> {
        match durability {
            Durability::Process => self.journal.written().boxed(),
            Durability::Machine => self.journal.synced().boxed(),
        }
    }
}

/// A benchmark of conversations that failed would be a fast one.
fn check(trial: &TrialRecord) {
    assert!(trial.score().is_some(), "{:?}", trial.why_no_score());
}

/// Persona and judge are served where the agent is.
fn model_endpoint(job: &str) -> Option<String> {
    let (_, rest) = job.split_once("baseUrl: \"")?;
    Some(format!("{}/v1", rest.split('"').next()?))
}
