//! eval-job evaluates conversational agents by behaviour.
//!
//! # The road
//!
//! ```text
//! job file ─load→ Job ─plan→ Plan ─run→ Evidence ─judge→ Judgements ─grade→ Scorecard → RunRecord → report · store
//!  text           meaning    trials     what happened     what judges said   worth       one document
//!  └────────── pure ──────────────┘└─ I/O: agent llm graph ────────────────┘└────────── pure ──────────┘└─ I/O ─┘
//! ```
//!
//! Nothing points left. All contact with agent and graph ends at [`evidence::Evidence`]; the judge's raw replies are
//! [`evidence::Judgement`]s, kept beside it. An old run can be graded again without the agent.

// In reading order.
pub mod conversation;
pub mod evidence;
pub mod score;

pub mod metric;

pub mod agent;
pub mod assertion;
pub mod clock;
pub mod secret;

pub mod graph;
pub mod job;
pub mod llm;
