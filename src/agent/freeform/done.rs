//! The mark of a reply's last event or frame.

use serde_json::Value;
use serde_json_path::JsonPath;

use super::{DoneConfig, path};
use crate::agent::SettingError;

/// The mark of a reply's last event or frame.
#[derive(Debug, Clone)]
pub(in crate::agent) struct DoneMark {
    path: JsonPath,
    /// Null where any value will do.
    equals: Value,
}

impl DoneMark {
    /// Reads the mark of a job; `place` is its key.
    ///
    /// # Errors
    /// Its path can't be used.
    pub(in crate::agent) fn parse(place: &str, config: &DoneConfig) -> Result<DoneMark, SettingError> {
        Ok(DoneMark { path: path(&format!("{place}.path"), &config.path)?, equals: config.equals.clone() })
    }

    /// Whether an event or a frame has it.
    pub(in crate::agent) fn is_in(&self, document: &Value) -> bool {
        let found = self.path.query(document).all();
        if self.equals.is_null() { !found.is_empty() } else { found.contains(&&self.equals) }
    }
}
