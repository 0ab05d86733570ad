//! `eval-job cases`: the cases of any file, listed, shown, added and removed.

mod add;
mod file;
mod row;

pub(super) use add::check_addable;

use super::args::{CasesCommand, CasesListArgs, CasesRemoveArgs, CasesShowArgs};
use super::context::Context;
use super::error::CliError;
use super::printer::Printer;
use crate::report::{count, plain};
use file::{Cases, Edited, FoundCase};
use row::CaseRow;

/// Lists, shows, adds or removes cases.
pub(super) fn cases(command: &CasesCommand, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    match command {
        CasesCommand::List(args) => list(args, context, printer),
        CasesCommand::Show(args) => show(args, context, printer),
        CasesCommand::Add(args) => add::add(args, context, printer),
        CasesCommand::Remove(args) => remove(args, printer),
    }
}

fn list(args: &CasesListArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    let cases = Cases::read(&args.file, "eval-job cases list", context)?;
    let rows: Vec<CaseRow> = cases.list.iter().map(CaseRow::new).collect();
    if args.json {
        let lines: Vec<String> = rows.iter().map(json).collect::<Result<_, _>>()?;
        let text = if lines.is_empty() { "[]\n".to_owned() } else { format!("[\n{}\n]\n", lines.join(",\n")) };
        printer.data(&text)?;
        return Ok(0);
    }
    let width = rows.iter().map(|row| row.shown_id().chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for of_file in rows.chunk_by(|one, other| one.file == other.file) {
        let indent = if cases.is_folder { "  " } else { "" };
        if let (true, Some(first)) = (cases.is_folder, of_file.first()) {
            text += &format!("{}\n", plain(&first.file));
        }
        of_file.iter().for_each(|row| text += &format!("{indent}{}\n", row.line(width)));
    }
    printer.data(&text)?;
    if rows.is_empty() {
        printer.note(&format!("{} has no cases", plain(&args.file)));
    }
    Ok(0)
}

fn json(value: &impl serde::Serialize) -> Result<String, CliError> {
    serde_json::to_string(value).map_err(|error| CliError::Internal(error.to_string()))
}

fn show(args: &CasesShowArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    let cases = Cases::read(&args.file, "eval-job cases show", context)?;
    let (place, found) = cases.case(&args.file, &args.case)?;
    let value = match &found.case {
        FoundCase::OfJob(case) => serde_json::to_value(&**case),
        FoundCase::OfData(case) => serde_json::to_value(case),
    };
    let value = value.map_err(|error| CliError::Internal(error.to_string()))?;
    let of_file: Vec<usize> = (0..cases.list.len()).filter(|at| cases.list[*at].file == found.file).collect();
    let place = of_file.iter().position(|at| *at == place).unwrap_or_default();
    let text = match (args.json, Edited::open(&found.file, "eval-job cases show")) {
        (true, _) => format!("{value:#}\n"),
        (false, Ok(edited)) => match edited.cases() {
            Ok(file) if file.len() == of_file.len() => file.written(place).trim_end().to_owned() + "\n",
            // The file is the case.
            _ if of_file.len() == 1 => edited.text.trim_end().to_owned() + "\n",
            _ => as_yaml(&value)?,
        },
        (false, Err(_)) => as_yaml(&value)?,
    };
    printer.data(&plain(&text))?;
    Ok(0)
}

fn as_yaml(value: &serde_json::Value) -> Result<String, CliError> {
    serde_saphyr::to_string(value).map_err(|error| CliError::Internal(error.to_string()))
}

fn remove(args: &CasesRemoveArgs, printer: &Printer) -> Result<u8, CliError> {
    let mut edited = Edited::open(&args.file, "eval-job cases remove")?;
    let shown = args.file.display().to_string();
    let mut ids =
        file::ids_of(&shown, &edited.text, edited.is_data).map_err(|problems| CliError::InvalidJobs(vec![problems]))?;
    // The places are checked before anything is taken out.
    edited.cases()?;
    let unknown = args.cases.iter().find(|id| !ids.contains(id));
    if let Some(id) = unknown {
        return Err(file::no_case(&shown, id, &ids));
    }
    let mut text = edited.text.clone();
    for id in &args.cases {
        let Some(place) = ids.iter().position(|known| known == id) else { continue };
        edited.text = text;
        text = edited.cases()?.without(place).map_err(|problems| CliError::InvalidJobs(vec![problems]))?;
        ids.remove(place);
    }
    edited.replace(&text, &ids)?;
    let left = count(ids.len(), "case");
    printer.note(&format!("removed {} from {}: {left} left", plain(&args.cases.join(", ")), plain(&shown)));
    Ok(0)
}
