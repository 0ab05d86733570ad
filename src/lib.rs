//! eval-job evaluates conversational agents by behaviour.
//!
//! # The road
//!
//! ```text
//! job file ─load→ Job ─plan→ Plan ─run→ Evidence ─judge→ Judgements ─grade→ Scorecard → RunRecord → report · store
//!  text           cases      trials     what happened     what judges said   worth       one document
//!  └────────── pure ──────────────┘└─ I/O: agent llm graph ────────────────┘└────────── pure ──────────┘└─ I/O ─┘
//! ```
//!
//! Nothing points left; a test (`tests/house/imports.rs`) holds who may import whom. All contact with agent and graph
//! ends at [`evidence::Evidence`]; the judge's raw replies are [`evidence::Judgement`]s, kept beside it. An old run can be
//! graded again without the agent.
//!
//! # To read it
//!
//! `main.rs` → [`cli`] (`cli/run.rs` is the road in one page) → [`job::load`] → [`plan::Plan::new`] → [`run::run`]
//! (`run/trial.rs` is one trial, top to bottom) → [`grade::grade`] → [`record::RunRecord`] → [`report::terminal`].
//!
//! # Where things live, and why there
//!
//! - The journal is the truth: a [`record::RunRecord`] is nothing but the fold of its [`record::Entry`]s, so a run that
//!   was killed reads like one that ended. The verdict is part of the record; the exit status comes from it.
//! - Run folders are the truth (`store/folder`). `store/sqlite` indexes them, so that lists and trends open none of a thousand;
//!   `store/postgres` is a team's store, to which they are sent when they have ended and from which they are fetched.
//! - A run that was cut off goes on in its own journal (`cli/resume`): a trial that is run again replaces, in the fold, what was
//!   run of it. The process that writes a journal has a lock on it.
//! - A [`job::Job`] is configuration and cases; a trial is one conversation `{case, model, condition, repeat}`.
//! - The job's schema is derived from the types that it is read into, and the loader checks a file against that schema:
//!   there is one description of what may be written. Whatever else can be known early is refused by [`plan`], by the pure
//!   `check` functions of the edges.
//! - [`dataset`] reads the evaluation files of other systems into one set of types, whatever they are called.
//! - [`generate`] makes cases of what is known of an agent, its tools ([`tool_list`]) or stories, to be reviewed.
//! - [`calibration`] shows how far a judge can be believed: beside people, and beside itself.
//! - [`compare`] says of two runs or models, pair by pair, which one is better, or that nothing shows it.
//! - [`trend`] puts the runs of a job in a row: since when the score has another level, and which cases flip.
//! - [`coverage`] tells what the cases of runs touch of their agent, and what they do not.
//! - [`statistics`] says what numbers can carry: intervals over cases, agreement beyond chance, means corrected by the truth.
//! - A metric asks questions and never a model; `run` carries them to the judge and `grade` scores what came back.
//! - What keeps conversations apart (`isolation`) is settled by [`plan`], which lays the lanes by it, lazily: [`run::run`] asks
//!   for a lane when it can begin. `run/contamination.rs` looks for what leaked.
//! - A trial runs on four owners: `run/clients.rs` (models, HTTP, database), `run/trial_env.rs` (its graph, agent and user),
//!   `run/resources.rs` (what trials share and what must be ended or deleted in the end), `run/budget.rs` (money, tokens, rate).
//! - [`graph`] has a Bolt server, `graph/bolt`, by which agents in other processes reach the embedded graph, and
//!   `graph/snapshot`, whose differences become [`evidence::Change`]s (`run/watch.rs`, turn by turn).
//! - [`cypher`] parses a statement once into tokens, brackets and projections: both graphs and the assertions read those.
//! - Every started process is ended: `agent/managed` keeps every process group, `run/resources.rs` whatever trials share, and both
//!   let go of it also after Ctrl-C, a panic or a failed start; after `kill -9` `agent/watchdog`, a process of its own, does,
//!   and `agent/launcher.rs` lets nothing begin of which that one does not know.
//! - What may be spent is in [`money`]: `llm/client.rs` sets aside the most that a request can cost before it is made, which
//!   `run/metered_call.rs` keeps in the journal before it leaves, so that it counts also after `kill -9`;
//!   `run/budget.rs` lets trials begin only while they can be paid.
//! - Agents that do nothing (`agent/trivial`) take the road of any other: [`plan::Plan::for_audit`] changes what they need.
//! - [`cassette`] stands where a run meets agent, models and graph, and records or replays what they say; what the clock decides
//!   is noted beside it, so that a replay takes the same road.
//! - [`cache`] keeps what judges said at temperature 0; `run/judge.rs` decides which questions may be answered from it.
//! - The results of assertions before the first message, and on an empty graph, are evidence too: `grade/vacuous.rs` tells
//!   from it which ones may not be able to fail.
//!
//! # To add a member
//!
//! A transport, a backend, a provider or a kind of assertion is a folder with its `config.rs` (what the YAML may say),
//! `wire.rs` (their bytes ↔ our types, pure) and, where the shared session does not fit, `client.rs` or `calls.rs` (I/O),
//! and an arm in the room's `match`. A transport and a metric take two lines outside of their folders instead: `mod`, and a
//! row in the table, `agent/config.rs` or `metric/table.rs`. Nothing else has to know.

// In reading order. The road:
pub mod cli;
pub mod job;
pub mod dataset;
pub mod generate;
pub mod plan;
pub mod run;
pub mod conversation;
pub mod evidence;
pub mod prompt;
pub mod metric;
pub mod assertion;
pub mod grade;
pub mod score;
pub mod statistics;
pub mod record;
pub mod compare;
pub mod trend;
pub mod coverage;
pub mod calibration;
pub mod report;
pub mod store;

// The edges, where the world begins:
pub mod agent;
pub mod graph;
pub mod llm;

// Recordings of the edges, and the cache of judges' replies:
pub mod cassette;
pub mod cache;

// Shared by the edges:
pub mod clock;
pub mod cypher;
pub mod descriptors;
pub mod http;
pub mod limiter;
pub mod money;
pub mod retry;
pub mod script;
pub mod secret;
pub mod text;
pub mod tool_list;
