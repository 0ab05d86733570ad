//! `eval-job schema`

use super::error::CliError;
use super::printer::Printer;
use crate::job;

/// Prints the JSON Schema of job files.
pub(super) fn schema(printer: &Printer) -> Result<u8, CliError> {
    printer.data(&format!("{:#}\n", job::schema()))?;
    Ok(0)
}
