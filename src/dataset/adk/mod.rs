//! Files of Google's Agent Development Kit: eval sets of the new schema in both spellings, the two older list formats,
//! scenarios, initial sessions and `test_config.json`.

mod config;
mod content;
mod criteria;
mod eval_set;
mod invocation;
mod old;
mod persona;
mod result_criterion;
mod rubric;
mod scenario;
mod write;

pub(super) use config::{AdkEvalConfig, read_config};
pub(super) use content::read_content;
pub(super) use eval_set::{read_eval_set, read_session};
pub(super) use invocation::{AdkInvocation, read_intermediate_data, read_invocation};
pub(super) use old::{read_old_eval_set, read_test_list};
pub use result_criterion::adk_criterion;
pub(super) use scenario::read_scenarios;
pub(super) use write::write;

use super::cursor::Spelling;

/// ADK's models accept both spellings.
const KEYS: Spelling = Spelling::SnakeOrCamel;

/// The user for whom ADK opens sessions that name none.
const TEST_USER: &str = "test_user_id";
