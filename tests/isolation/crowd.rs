//! 64 conversations at once: each sees its own and nothing else.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use eval_job::cassette::Cassette;
use eval_job::clock::Clock;
use eval_job::job::{self, Isolation};
use eval_job::plan::{Environment, Overrides, Plan};
use eval_job::prompt::Templates;
use eval_job::record::{Entry, RunRecord};
use eval_job::run::{self, Credentials, Engine, RunDeps};
use eval_job::score::Outcome;
use eval_job::secret::Secret;

use crate::servers::neo4j;

const CROWD: u32 = 64;

/// Each user has a reminder whose title is the trial's name, asks for it, and has another one created.
const JOB: &str = "
evaluator:
  script:
    - Which reminders do I have?
    - Please create a reminder to call the dentist for tomorrow at 9am.
    - UTC
    - How many reminders do I have?
scorer: {model: scripted}
greetings: [Hello]
facts: []
conditions: [withoutFacts, withFacts]
tasks: [{type: question, task: Ask how many reminders the user has, acceptanceCriteria: There are 2 reminders}]
target: {user: ann, chatbot: c, demo: {}}
setups:
  - cypher: \"MERGE (u:User {id: $user}) CREATE (u)-[:HAS_REMINDER]->(:Reminder {title: $trial})\"
assertions:
  - cypher: \"MATCH (:User {id: $user})-[:HAS_REMINDER]->(r:Reminder) RETURN r.title = $trial AS own, r.timeZone\"
    expected: [[true, null], [false, UTC]]
  - expression: objectContext.entities.size == 2
";

struct NoTemplates;

impl job::TemplateCheck for NoTemplates {
    fn problem(&self, _: &str, _: job::PromptRole) -> Option<job::TemplateProblem> {
        None
    }
}

/// Holds the conversations, all at once.
async fn crowd(more: &str, isolation: Isolation, credentials: Credentials) -> RunRecord {
    let job = job::load("crowd.yml", &format!("{JOB}{more}"), &NoTemplates).unwrap();
    let wanted = Overrides { repeat: Some(CROWD / 2), ..Overrides::default() };
    let plan = Plan::new(job, wanted, Environment::default()).unwrap();
    assert_eq!((plan.isolation, plan.lane_count()), (isolation, CROWD as usize));
    let (clock, drawn) = (Clock::system(), AtomicU64::new(1));
    let random = move || fastrand::Rng::with_seed(drawn.fetch_add(1, Ordering::Relaxed)).u64(..1 << 53);
    let entries: Arc<Mutex<Vec<Entry>>> = Arc::default();
    let kept = entries.clone();
    let sink = Arc::new(move |entry| {
        kept.lock().unwrap().push(entry);
        Ok(())
    });
    let deps = RunDeps {
        id: "crowd".to_owned(),
        templates: Templates::embedded(),
        credentials,
        clock,
        rng_seed: 1,
        random: Box::new(random),
        on_wait: None,
        max_concurrency: CROWD as usize,
        sink,
        person: None,
        cassette: Cassette::Off,
        cache: eval_job::cache::Cache::OFF,
    };
    let engine = Engine::new(plan, deps).unwrap();
    let (lanes, provenance) = (engine.plan.lanes(), engine.provenance("crowd.yml"));
    run::run(Arc::new(engine), provenance, run::Rounds::one(lanes), Default::default()).await.unwrap();
    let entries = std::mem::take(&mut *entries.lock().unwrap());
    assert_eq!(most_at_once(&entries), CROWD, "they were to talk at the same time");
    RunRecord::from_entries(entries).unwrap()
}

/// How many trials were under way at the same time.
fn most_at_once(entries: &[Entry]) -> u32 {
    let (mut now, mut most) = (0, 0);
    for entry in entries {
        match entry {
            Entry::TrialStarted { .. } => now += 1,
            Entry::TrialFinished { .. } => now -= 1,
            _ => {}
        }
        most = most.max(now);
    }
    most
}

/// Each has seen its own and nothing else; how many users there were.
fn check(record: &RunRecord) -> usize {
    let mut users = BTreeSet::new();
    for trial in &record.trials {
        let number = trial.trial.number;
        assert_eq!(trial.outcome, Some(Outcome::Graded), "{number}");
        let card = trial.scorecard.as_ref().unwrap();
        let assertions = card.dimensions.iter().find(|dimension| dimension.name == "assertions").unwrap();
        assert_eq!(assertions.component.score().unwrap().get(), 1.0, "{number}: {:?}", trial.evidence);
        let evidence = trial.evidence.as_ref().unwrap();
        let told = evidence.transcript.turns[1].agent.as_deref().unwrap();
        assert!(told.contains(&format!("crowd-{number}\"")), "{number} was told: {told}");
        users.insert(evidence.user.clone());
    }
    users.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn on_one_embedded_graph_with_a_user_each() {
    let record = crowd("isolation: user\n", Isolation::User, Credentials::default()).await;
    assert_eq!(check(&record), CROWD as usize);
}

#[tokio::test(flavor = "multi_thread")]
async fn on_an_embedded_graph_each() {
    // Here a query may look at everything there is.
    let more = "  - {cypher: MATCH (n) RETURN count(n), expected: 3}\nisolation: database\n";
    let record = crowd(more, Isolation::Database, Credentials::default()).await;
    assert_eq!(check(&record), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn on_one_neo4j_with_a_user_each() {
    let Some(database) = neo4j::database("on_one_neo4j_with_a_user_each").await else { return };
    let server = &database.server;
    let credentials = Credentials {
        neo4j_uri: Some(server.uri.clone()),
        neo4j_username: Some(server.username.clone()),
        neo4j_password: Some(Secret::new(&server.password)),
        ..Credentials::default()
    };
    let record = crowd("graph: {neo4j: {}}\nisolation: user\n", Isolation::User, credentials).await;
    assert_eq!(check(&record), CROWD as usize);
    assert_eq!(server.value("MATCH (u:User) RETURN count(u)").await, CROWD.to_string());
}
