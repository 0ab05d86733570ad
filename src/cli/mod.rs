//! The command line: one file per subcommand.
//!
//! Invariants: the environment and the terminal are read in `context` alone; `printer` alone writes to stdout and
//! stderr; the text of every error is made in `error`.

mod analyze;
mod args;
mod baseline;
mod calibrate;
mod audit;
mod before_run;
mod cache;
mod cases;
mod cassettes;
mod certificates;
mod compare;
mod context;
mod context_files;
mod coverage;
mod datasets;
mod demo_agent;
mod detailed;
mod ended;
mod env_file;
mod error;
mod export;
mod generate;
mod grade;
mod graph;
mod import;
mod init;
mod invocation;
mod job_files;
mod keeper;
mod jobs;
mod panics;
mod planning;
mod label;
mod list;
mod lost_trials;
mod mutate;
mod merge;
mod outputs;
mod partition;
mod printer;
mod probe;
mod progress;
mod prompts;
mod rows;
mod record;
mod recordings;
mod reindex;
mod resume;
mod run;
mod schema;
mod selection;
mod shell;
mod show;
mod signals;
mod steps;
mod stored;
mod until;
mod team;
mod trend;
mod validate;
mod whole_file;

use std::ffi::OsString;
use std::process::ExitCode;

use args::{Args, Command, GraphCommand};
use context::Context;
use env_file::EnvFile;
use error::CliError;
use printer::Printer;

use crate::agent::{is_launcher, is_watchdog, launch, stop_watching, watch, watch_over_groups};
use crate::descriptors;
use crate::report::Ink;
use crate::secret::Redactor;

/// The whole program: what was typed → context → subcommand → exit status.
pub fn main(typed: impl IntoIterator<Item = OsString>) -> ExitCode {
    let typed: Vec<OsString> = typed.into_iter().collect();
    if is_watchdog(&typed) {
        watch();
        return ExitCode::SUCCESS;
    }
    if is_launcher(&typed) {
        return launch(&typed);
    }
    let args = match Args::typed(&typed, &EnvFile::new()) {
        Ok(args) => args,
        Err(usage) => return print_usage(&usage, &context::redactor_of_process(&EnvFile::new())),
    };
    let file = args.env_file().map_or_else(|| Ok(EnvFile::new()), env_file::read);
    // Where the file was found is typed or set, so the second reading finds the same.
    let args = match file.as_ref().map(|file| Args::typed(&typed, file)) {
        Ok(Ok(with_file)) => with_file,
        Ok(Err(usage)) => {
            return print_usage(&usage, &context::redactor_of_process(file.as_ref().unwrap_or(&EnvFile::new())));
        }
        Err(_) => args,
    };
    let context =
        Context::from_process(typed, file.as_ref().unwrap_or(&EnvFile::new()), args.color, args.store.as_deref());
    let printer = std::sync::Arc::new(Printer::new(&context));
    panics::report_to(printer.clone());
    if let Err(error) = file {
        printer.error(&error);
        return ExitCode::from(error.exit_status());
    }
    let ours = context.credentials.variables.matching(|name| name.starts_with("EVAL_JOB_"));
    for unknown in Args::unknown_variables(ours.map(|(name, _)| name)) {
        printer.note(&format!("note: {unknown}"));
    }
    // Before anything is run that could not be sent.
    if let Err(error) = team::store(&context) {
        printer.error(&error);
        return ExitCode::from(error.exit_status());
    }
    descriptors::raise();
    let noting = printer.clone();
    watch_over_groups(Box::new(move |note| noting.note(note)));
    let result = panics::caught(|| match args.command {
        Command::Run(args) => run::run(&args, &context, &printer),
        Command::Init(args) => init::init(&args, &printer),
        Command::Import(args) => import::import(&args, &context, &printer),
        Command::Generate(args) => generate::generate(&args, &context, &printer),
        Command::Cases(command) => cases::cases(&command, &context, &printer),
        Command::Validate(args) => validate::validate(&args, &context, &printer),
        Command::Probe(args) => probe::probe(&args, &context, &printer),
        Command::Record(args) => record::record(&args, &context, &printer),
        Command::Schema => schema::schema(&printer),
        Command::Completions(args) => shell::completions(&args, &printer),
        Command::Man(args) => shell::man(&args, &printer),
        Command::Baseline(command) => baseline::baseline(&command, &context, &printer),
        Command::Cache(command) => cache::cache(&command, &context, &printer),
        Command::List(args) => list::list(&args, &context, &printer),
        Command::Reindex(args) => reindex::reindex(&args, &context, &printer),
        Command::Graph(GraphCommand::Serve(args)) => graph::serve(&args, &context, &printer),
        Command::DemoAgent(args) => demo_agent::demo_agent(&args, &context, &printer),
        Command::Merge(args) => merge::merge(&args, &context, &printer),
        Command::Grade(args) => grade::grade(&args, &context, &printer),
        Command::Show(args) => show::show(&args, &context, &printer),
        Command::Audit(args) => audit::audit(&args, &context, &printer),
        Command::Compare(args) => compare::compare(&args, &context, &printer),
        Command::Trend(args) => trend::trend(&args, &context, &printer),
        Command::Coverage(args) => coverage::coverage(&args, &context, &printer),
        Command::Check(args) => grade::check(&args, &context, &printer),
        Command::Label(args) => label::label(&args, &context, &printer),
        Command::Calibrate(args) => calibrate::calibrate(&args, &context, &printer),
        Command::Analyze(args) => analyze::analyze(&args, &context, &printer),
        Command::Export(args) => export::export(&args, &context, &printer),
    });
    stop_watching();
    match result {
        None => ExitCode::from(CliError::FAILED),
        Some(Ok(status)) => ExitCode::from(status),
        Some(Err(error)) => {
            printer.error(&error);
            ExitCode::from(error.exit_status())
        }
    }
}

/// Prints an error or a text of clap. Help and version go to stdout with status 0, wrong usage to stderr with status 2.
fn print_usage(usage: &clap::Error, redactor: &Redactor) -> ExitCode {
    let status = if usage.use_stderr() { CliError::USAGE } else { 0 };
    let text = usage.render().to_string();
    let cleared = printer::shown(&redactor.redact(&text), Ink::None);
    // clap's own colours only where there is nothing to clear.
    let _ = if cleared == text { usage.print() } else { printer::usage(&cleared, usage.use_stderr()) };
    ExitCode::from(status)
}
