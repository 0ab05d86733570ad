//! `eval-job completions` and `eval-job man`: what a shell and its reader know of the command line.

use std::fs;

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::{Args, CompletionsArgs, ManArgs};
use super::error::CliError;
use super::printer::Printer;

/// Prints a script that completes the command line in a shell.
pub(super) fn completions(args: &CompletionsArgs, printer: &Printer) -> Result<u8, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "eval-job", &mut script);
    let script = String::from_utf8_lossy(&script);
    // The program's name has a dash: clap_complete writes the labels of its subcommands otherwise than it looks for them.
    let script = match args.shell {
        Shell::Bash => script.replace("eval__subcmd__job", "eval__job").into(),
        _ => script,
    };
    printer.data(&script)?;
    Ok(0)
}

/// Writes a man page for the program and for each of its subcommands.
pub(super) fn man(args: &ManArgs, printer: &Printer) -> Result<u8, CliError> {
    let folder = &args.folder;
    let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Args::command(), folder));
    written.map_err(|source| CliError::Unwritable { path: folder.clone(), source, help: None })?;
    printer.data(&format!("{}\n", folder.join("eval-job.1").display()))?;
    Ok(0)
}
