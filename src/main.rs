//! The process's edge: arguments in, exit status out.

use std::process::ExitCode;

fn main() -> ExitCode {
    eval_job::cli::main(std::env::args_os())
}
