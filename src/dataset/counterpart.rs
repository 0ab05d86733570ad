//! Why a metric of one system has no counterpart in another.

use crate::metric::trajectory::CriterionError;

/// What a metric asks for that the other system, or this program, doesn't have: a clause without a full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(in crate::dataset) struct NoCounterpart(String);

impl NoCounterpart {
    /// The failure of a part that has an error type of its own.
    pub(in crate::dataset) fn from_error(error: impl std::error::Error) -> NoCounterpart {
        NoCounterpart(error.to_string())
    }
}

impl From<String> for NoCounterpart {
    fn from(why: String) -> NoCounterpart {
        NoCounterpart(why)
    }
}

impl From<&str> for NoCounterpart {
    fn from(why: &str) -> NoCounterpart {
        NoCounterpart(why.to_owned())
    }
}

impl From<CriterionError> for NoCounterpart {
    fn from(error: CriterionError) -> NoCounterpart {
        NoCounterpart::from_error(error)
    }
}
