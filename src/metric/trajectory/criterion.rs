//! Criteria that another system's file gives.

/// An error of a criterion, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CriterionError(String);

impl From<String> for CriterionError {
    fn from(why: String) -> CriterionError {
        CriterionError(why)
    }
}

impl From<CriterionError> for String {
    fn from(error: CriterionError) -> String {
        error.0
    }
}
