//! What was typed and what is shown: one file a subcommand.
//!
//! Invariants: the environment and the terminal are read in `context` alone; `printer` alone writes to stdout and
//! stderr; every error is data until `error` words it.

mod args;
mod context;
mod demo_agent;
mod env_file;
mod error;
mod graph;
mod jobs;
mod list;
mod printer;
mod probe;
mod progress;
mod prompts;
mod run;
mod schema;
mod show;
mod validate;

use std::ffi::OsString;
use std::process::ExitCode;

use args::{Args, Command, GraphCommand};
use context::Context;
use env_file::EnvFile;
use error::CliError;
use printer::Printer;

/// The whole program: what was typed → context → subcommand → exit status.
pub fn main(typed: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args = match Args::typed(typed) {
        Ok(args) => args,
        Err(usage) => {
            // Help and version go to stdout with status 0, wrong usage to stderr with status 2.
            let status = if usage.use_stderr() { CliError::USAGE } else { 0 };
            let _ = usage.print();
            return ExitCode::from(status);
        }
    };
    let file = match &args.command {
        Command::Run(args) => env_file::read(args.env_file.as_deref()),
        Command::Validate(args) => env_file::read(args.env_file.as_deref()),
        _ => Ok(EnvFile::new()),
    };
    let context = Context::of_process(file.as_ref().unwrap_or(&EnvFile::new()));
    let printer = std::sync::Arc::new(Printer::new(&context));
    if let Err(error) = file {
        printer.error(&error);
        return ExitCode::from(error.exit_status());
    }
    let result = match args.command {
        Command::Run(args) => run::run(&args, &context, &printer),
        Command::Validate(args) => validate::validate(&args, &context, &printer),
        Command::Probe(args) => probe::probe(&args, &context, &printer),
        Command::Schema => schema::schema(&printer),
        Command::List(args) => list::list(&args, &context, &printer),
        Command::Graph(GraphCommand::Serve(args)) => graph::serve(&args, &context, &printer),
        Command::DemoAgent(args) => demo_agent::demo_agent(&args, &context, &printer),
        Command::Show(args) => show::show(&args, &context, &printer),
    };
    match result {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            printer.error(&error);
            ExitCode::from(error.exit_status())
        }
    }
}
