//! What eval-job says for others in the turns of a conversation: results of tools, and messages before the user's.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use super::{ToolConfig, ToolMockConfig};
use crate::evidence::Message;

/// Makes up the results of tools that a case leaves to a model.
#[async_trait]
pub trait ResultWriter: Send + Sync {
    /// The result of a call.
    ///
    /// # Errors
    /// There is none: the conversation can't go on.
    async fn write(&self, wanted: WantedResult<'_>) -> Result<Value, ResultError>;
}

/// A call whose result is made up.
#[derive(Debug, Clone, Copy)]
pub struct WantedResult<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The instructions for the model.
    pub prompt: &'a str,
    /// The arguments of the call.
    pub args: &'a Value,
}

/// Why a model made no result up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResultError {
    /// Nobody makes results up.
    #[error("no model makes results up here")]
    NoModel,
    /// The model answered nothing that is a result.
    #[error("the model's answer is {0}")]
    NoResult(&'static str),
    /// The model could not be asked.
    #[error("{0}")]
    Model(String),
}

/// One turn's part of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnPart {
    /// The results of tools.
    pub mocks: Vec<ToolMockConfig>,
    /// Messages that are put before the user's.
    pub before: Vec<Message>,
}

/// What eval-job says for others, turn by turn. It has no `Debug`: a model stands behind it.
#[derive(Clone, Default)]
pub struct TurnParts {
    /// Of each turn, in order; none where nothing is left.
    pub turns: Arc<Vec<TurnPart>>,
    /// Who makes results up.
    pub writer: Option<Arc<dyn ResultWriter>>,
}

impl TurnParts {
    /// The messages that are put before the user's in a turn, from 0.
    pub(in crate::agent) fn before(&self, turn: usize) -> &[Message] {
        self.turns.get(turn).map(|part| part.before.as_slice()).unwrap_or_default()
    }

    /// All results of tools.
    pub(in crate::agent) fn mocks(&self) -> impl Iterator<Item = &ToolMockConfig> {
        self.turns.iter().flat_map(|part| &part.mocks)
    }

    /// Who answers the calls of a turn, from 0.
    pub(in crate::agent) fn answers<'a>(&'a self, turn: usize, tools: &'a [ToolConfig]) -> CallAnswers<'a> {
        let mocks = self.turns.get(turn).map(|part| part.mocks.as_slice()).unwrap_or_default();
        CallAnswers { tools, mocks, writer: self.writer.as_deref() }
    }
}

/// Who answers the calls of one turn.
#[derive(Clone, Copy)]
pub(in crate::agent) struct CallAnswers<'a> {
    pub(super) tools: &'a [ToolConfig],
    pub(super) mocks: &'a [ToolMockConfig],
    writer: Option<&'a dyn ResultWriter>,
}

impl CallAnswers<'_> {
    /// The result that a model makes up.
    pub(super) async fn written(self, wanted: WantedResult<'_>) -> Result<Value, ResultError> {
        match self.writer {
            Some(writer) => writer.write(wanted).await,
            None => Err(ResultError::NoModel),
        }
    }
}
