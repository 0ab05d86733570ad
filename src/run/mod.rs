//! Carries out a plan: lanes side by side, each trial top to bottom.
//!
//! In: a [`Plan`](crate::plan::Plan) with its [`RunDeps`], and an iterator of lanes, of which each is taken when it can
//! begin. Out: the entries of the journal, appended to a [`Sink`]. A trial runs on four owners: [`Clients`], its
//! [`TrialEnv`](trial_env::TrialEnv), the [`RunResources`](resources::RunResources) and the [`Budget`](budget::Budget).
//!
//! Invariants: each step is appended to the sink before the next one begins; nothing in here prints, knows a folder or reads
//! the environment; memory grows by only a few bytes per trial.

mod abort;
mod agent_model;
mod ask_again;
mod audit;
mod budget;
mod clients;
mod concurrency;
mod contamination;
mod conversation_seed;
mod engine;
mod evaluate;
mod hint;
mod judge;
mod lanes;
mod live_check;
mod managed;
mod metered_call;
mod models;
mod mutation;
mod observe;
mod parameters;
mod persona_driver;
mod persona_review;
mod preflight;
mod probe;
mod provenance;
mod reference;
mod refusals;
mod resources;
mod seeds;
mod sink;
mod steps;
mod stuck_persona;
mod talk;
mod trial;
mod trial_env;
mod trial_graph;
mod trial_limit;
mod turn;
mod turn_parts;
mod watch;
mod written_results;

pub use abort::SetupError;
pub use ask_again::{AskingStopped, StoredConversation, ask_again};
pub use clients::{ClientError, Clients, Credentials, check_clients, neo4j_connection};
pub use concurrency::{DescriptorLimit, descriptor_limit};
pub use engine::{Engine, Lanes, RandomSource, Rounds, RunBreak, RunDeps, refuse, resume, run};
pub use hint::hint;
pub use judge::PlacedQuestion;
pub use live_check::{AssertionPlace, LiveCheck, live_check};
pub use mutation::{RecordedTrial, mutate};
pub use preflight::{KeyCheck, Preflight, PreflightFailure, missing_program, preflight, preflight_of_judge};
pub use probe::{ProbeError, ProbeReport, probe};
pub use provenance::{prices, without_user};
pub use sink::{Durability, Sink};
pub use steps::{NoSteps, StepsError, StepsReplyError, WrittenSteps, write_steps};
pub use trial::fact_uses;
