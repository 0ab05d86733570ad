//! trpc-agent-go's criterion of ROUGE.

use serde_json::Value;

use super::{RougeConfig, RougeMinimum, RougeType};
use crate::metric::criterion::{flag, keyword, object, refuse_registered};
use crate::metric::measured::{MeasureProblem, problem};
use crate::score::Score;
use crate::text::Tokenizer;

/// The options of a ROUGE criterion; `None` where it compares nothing. Its own tokenizer, which knows English letters only, is
/// kept under `strict`.
///
/// # Errors
/// A key has a value that it can't have, the type is missing, or a registered Go tokenizer is named.
pub fn rouge_criterion(criterion: &Value, strict: bool) -> Result<Option<RougeConfig>, MeasureProblem> {
    if flag(criterion, "ignore") {
        return Ok(None);
    }
    refuse_registered(criterion, "tokenizerName")?;
    let Some(rouge_type) = object::<RougeType>(criterion, "rougeType")? else {
        return problem("`rougeType` is missing: try rouge1, rouge2, rougeL or rougeLsum");
    };
    // A threshold that is left out is 0 there: whatever comes passes.
    let any = RougeMinimum { f1: Some(Score::ZERO), ..RougeMinimum::default() };
    let minimum = object(criterion, "threshold")?.filter(|it| *it != RougeMinimum::default()).unwrap_or(any);
    Ok(Some(RougeConfig {
        rouge_type,
        measure: keyword(criterion, "measure")?,
        minimum: Some(minimum),
        exact_minimum: strict,
        tokenizer: if strict { Tokenizer::Classic } else { Tokenizer::Unicode },
        use_stemmer: flag(criterion, "useStemmer"),
        split_summaries: flag(criterion, "splitSummaries"),
        absent_is_zero: false,
        references: Vec::new(),
    }))
}
