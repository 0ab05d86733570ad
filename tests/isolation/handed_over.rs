//! Somebody else hands the trials over, one by one, and takes the entries over a channel that needs its time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use eval_job::cassette::Cassette;
use eval_job::clock::Clock;
use eval_job::job;
use eval_job::plan::{Environment, Lane, Overrides, Plan};
use eval_job::prompt::Templates;
use eval_job::record::{Entry, RunRecord};
use eval_job::run::{self, Credentials, Durability, Engine, RunDeps, Sink};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

const JOB: &str = "
evaluator: {script: [Please create a reminder to call the dentist for tomorrow at 9am.]}
scorer: {model: scripted}
greetings: [Hello]
facts: []
tasks: [{task: Ask for a call, acceptanceCriteria: It is noted}]
target: {user: ann, chatbot: c, demo: {}}
";

struct NoTemplates;

impl job::TemplateCheck for NoTemplates {
    fn problem(&self, _: &str, _: job::PromptRole) -> Option<job::TemplateProblem> {
        None
    }
}

enum Message {
    Entry(Box<Entry>),
    Acknowledge(oneshot::Sender<()>),
}

/// Hands entries to a task, as one that sends them to another machine would.
struct Remote {
    messages: mpsc::UnboundedSender<Message>,
}

impl Sink for Remote {
    fn append(&self, entry: Entry) -> std::io::Result<()> {
        self.messages.send(Message::Entry(Box::new(entry))).map_err(std::io::Error::other)
    }

    fn kept(&self, _: Durability) -> BoxFuture<'_, std::io::Result<()>> {
        let (acknowledge, acknowledged) = oneshot::channel();
        let sent = self.messages.send(Message::Acknowledge(acknowledge));
        async move {
            sent.map_err(std::io::Error::other)?;
            acknowledged.await.map_err(std::io::Error::other)
        }
        .boxed()
    }
}

/// Runs some lanes of a job with so many repeats, two at once. Returns the record and how many lanes were asked for at the
/// most before their time.
async fn run(repeat: u32, isolation: &str, pick: impl Fn(usize) -> bool + Send + Sync) -> (RunRecord, usize) {
    let job = job::load("job.yml", &format!("{JOB}isolation: {isolation}\n"), &NoTemplates).unwrap();
    let plan =
        Plan::new(job, Overrides { repeat: Some(repeat), ..Overrides::default() }, Environment::default()).unwrap();
    let (messages, mut received) = mpsc::unbounded_channel();
    let finished = Arc::new(AtomicUsize::new(0));
    let entries: Arc<Mutex<Vec<Entry>>> = Arc::default();
    let (kept, over) = (entries.clone(), finished.clone());
    let receiver = tokio::spawn(async move {
        while let Some(message) = received.recv().await {
            tokio::task::yield_now().await;
            match message {
                Message::Entry(entry) => {
                    over.fetch_add(usize::from(matches!(*entry, Entry::TrialFinished { .. })), Ordering::SeqCst);
                    kept.lock().unwrap().push(*entry);
                }
                Message::Acknowledge(acknowledge) => drop(acknowledge.send(())),
            }
        }
    });
    let deps = RunDeps {
        id: "handed-over".to_owned(),
        templates: Templates::embedded(),
        credentials: Credentials::default(),
        clock: Clock::system(),
        rng_seed: 1,
        random: Box::new(|| 1),
        on_wait: None,
        max_concurrency: 2,
        sink: Arc::new(Remote { messages }),
        person: None,
        cassette: Cassette::Off,
        cache: eval_job::cache::Cache::OFF,
    };
    let engine = Engine::new(plan, deps).unwrap();
    let provenance = engine.provenance("job.yml");
    let (asked, ahead) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let picked = engine.plan.lanes().enumerate().filter(|(place, _)| pick(*place));
    let lanes = picked.map(|(_, lane)| {
        let (asked, ahead, finished) = (asked.clone(), ahead.clone(), finished.clone());
        Lane::new(lane.inspect(move |_| {
            let asked = asked.fetch_add(1, Ordering::SeqCst) + 1;
            ahead.fetch_max(asked - finished.load(Ordering::SeqCst), Ordering::SeqCst);
        }))
    });
    run::run(Arc::new(engine), provenance, run::Rounds::one(Box::new(lanes)), Default::default()).await.unwrap();
    receiver.await.unwrap();
    let entries = std::mem::take(&mut *entries.lock().unwrap());
    (RunRecord::from_entries(entries).unwrap(), ahead.load(Ordering::SeqCst))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trial_is_asked_for_when_it_can_begin() {
    for (isolation, most) in [("database", 3), ("shared", 1)] {
        let (record, ahead) = run(12, isolation, |_| true).await;
        assert!(record.trials.iter().all(|trial| trial.outcome.is_some()), "{isolation}");
        // Two that are under way, and the one that waits for a place.
        assert!((1..=most).contains(&ahead), "{isolation}: {ahead} at once");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn some_of_the_trials_can_be_held_here_and_the_others_elsewhere() {
    let (record, _) = run(6, "database", |place| (2..4).contains(&place)).await;
    let held: Vec<u32> =
        record.trials.iter().filter(|trial| trial.outcome.is_some()).map(|trial| trial.trial.number).collect();
    assert_eq!(held, [3, 4]);
    let missing = record.trials.iter().find(|trial| trial.trial.number == 1).unwrap();
    assert_eq!(missing.why_no_score().as_deref(), Some("not started"));
}
