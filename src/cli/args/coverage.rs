//! The command line of `eval-job coverage`.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;

use super::RunsArgs;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct CoverageArgs {
    /// The runs' ids, or the beginnings of their folders' names: together they are the suite [default: the newest run]
    #[arg(value_name = "RUN")]
    pub(in crate::cli) runs: Vec<String>,

    #[command(flatten)]
    pub(in crate::cli) runs_dir: RunsArgs,

    /// The tools that the agent has: an A2A card, an OpenAPI document, MCP's list of tools, OpenAI's or Gemini's
    /// declarations, or a list of names, as JSON or YAML [default: those that were seen]
    #[arg(long, env = "EVAL_JOB_TOOLS", value_name = "FILE")]
    pub(in crate::cli) tools: Vec<PathBuf>,

    /// Compare with what these runs touch; status 100 if something of that is not touched any more
    #[arg(long, env = "EVAL_JOB_AGAINST", value_name = "RUN", value_delimiter = ',')]
    pub(in crate::cli) against: Vec<String>,

    /// Status 100 if less than so many per cent of all things are touched
    #[arg(long, env = "EVAL_JOB_FAIL_UNDER", value_name = "PERCENT", value_parser = parse_percent)]
    pub(in crate::cli) fail_under: Option<f64>,

    /// Also show what is touched, item by item
    #[arg(short, long, env = "EVAL_JOB_VERBOSE", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) verbose: bool,

    /// Print it as JSON instead
    #[arg(long, env = "EVAL_JOB_JSON", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) json: bool,
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim().parse::<f64>().ok();
    number.filter(|it| (0.0..=100.0).contains(it)).ok_or_else(|| "write a number from 0 to 100".to_owned())
}
