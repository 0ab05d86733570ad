//! trpc-agent-go's criteria of a text and of its length.

use serde_json::Value;

use super::{LengthConfig, TextConfig, TextMatch, TextMeasure};
use crate::metric::criterion::{flag, keyword, object, refuse_registered};
use crate::metric::measured::MeasureProblem;

/// The options of a text criterion; `None` where it compares nothing.
///
/// # Errors
/// A key has a value that it can't have, or a registered Go function is named.
pub fn text_criterion(criterion: &Value, strict: bool) -> Result<Option<TextConfig>, MeasureProblem> {
    if flag(criterion, "ignore") {
        return Ok(None);
    }
    refuse_registered(criterion, "compareName")?;
    let length = criterion.get("length").filter(|it| !it.is_null()).map(length_criterion).transpose()?.flatten();
    let config = TextConfig {
        text_match: keyword(criterion, "matchStrategy")?,
        expected: None,
        case_insensitive: flag(criterion, "caseInsensitive"),
        length,
        strict,
        re2: true,
    };
    if config.text_match == TextMatch::Skip && config.length.is_none() {
        return Ok(None);
    }
    TextMeasure::new(&config)?;
    Ok(Some(config))
}

/// The options of a length criterion; `None` where it compares nothing.
///
/// # Errors
/// There is no bound, or an impossible one.
pub fn length_criterion(criterion: &Value) -> Result<Option<LengthConfig>, MeasureProblem> {
    if flag(criterion, "ignore") {
        return Ok(None);
    }
    let config = LengthConfig { min: object(criterion, "min")?, max: object(criterion, "max")? };
    config.check()?;
    Ok(Some(config))
}
