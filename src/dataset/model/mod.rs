//! The evaluation files of all systems in one set of types: close to what a job's cases are.
//!
//! Nothing that a file says is lost: what has no place here stands in an `extra`, with a warning.

mod case;
mod expected;
mod lowered;
mod measure;

pub use crate::metric::Rubric;
pub use case::{
    CaseSession, CaseUser, ContextFile, ContextMessage, DatasetCase, PersonaBehavior, RecordedTurn, Scenario,
    ScenarioDriver, ScenarioPersona, UserLine,
};
pub use expected::{
    AuthoredText, CaseExpectation, DatasetCall, DatasetGoals, Goal, GoalKind, JudgedCheck, JudgedScope,
    LineExpectation, ToolMock,
};
pub use measure::{DatasetMetric, MeasureKind};

use serde::Serialize;
use serde_json::{Map, Value};

use super::Kind;
use crate::job::{Problem, UserPersona};

/// The cases of a file, and by what they are measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dataset {
    /// The format of the file.
    pub kind: Kind,
    /// Its id, or the name of the file without its ending.
    pub name: String,
    /// The purpose of the cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The cases, in the file's order.
    pub cases: Vec<DatasetCase>,
    /// By what they are measured.
    pub metrics: Vec<DatasetMetric>,
    /// How often each case is to be run; `None` where the file does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
    /// The kinds of people with each of whom the simulated users' cases are held, where a case has none of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub personas: Vec<UserPersona>,
    /// When it was made, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<f64>,
    /// All other content of the file.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
    /// The name of the folder that the file lies in.
    #[serde(skip)]
    pub folder: Option<String>,
    /// Deviations that were accepted: what is odd, and what means nothing.
    #[serde(skip)]
    pub warnings: Vec<Problem>,
    /// Whole numbers of which not all digits are kept: as they are read, and as the file writes them.
    #[serde(skip)]
    pub(in crate::dataset) long_integers: Vec<(String, String)>,
    /// The ids of users for whom conversations can be run.
    #[serde(skip)]
    pub(in crate::dataset) known_users: Vec<String>,
}

impl Dataset {
    /// A dataset without cases.
    pub(in crate::dataset) fn new(kind: Kind, name: impl Into<String>) -> Dataset {
        Dataset {
            kind,
            name: name.into(),
            description: None,
            cases: Vec::new(),
            metrics: Vec::new(),
            runs: None,
            personas: Vec::new(),
            created: None,
            extra: Map::new(),
            folder: None,
            warnings: Vec::new(),
            long_integers: Vec::new(),
            known_users: Vec::new(),
        }
    }
}
