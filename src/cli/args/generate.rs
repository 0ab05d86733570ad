//! The command line of `eval-job generate`.

use std::path::PathBuf;

use super::super::datasets::TargetArg;
use super::values::whole_number;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct GenerateArgs {
    /// The agent's tools: an OpenAPI document, MCP's list of tools, an A2A card, OpenAI's or Gemini's declarations, watsonx
    /// Orchestrate's or ADK's tools (also as Python functions), or a list of names. Each is something that a user wants
    #[arg(long, env = "EVAL_JOB_TOOLS", value_name = "FILE", required_unless_present = "stories")]
    pub(in crate::cli) tools: Vec<PathBuf>,

    /// A table (CSV) of users: `story`, and if you like `outcome`, `facts`, `tools`, `persona`, `agent`, `id`; facts and
    /// tools with semicolons between them
    #[arg(long, env = "EVAL_JOB_STORIES", value_name = "FILE")]
    pub(in crate::cli) stories: Option<PathBuf>,

    /// At most so many cases
    #[arg(short = 'n', long, env = "EVAL_JOB_CASES", value_name = "N", default_value_t = 10,
          value_parser = whole_number::<u32>(1, 1_000))]
    pub(in crate::cli) cases: u32,

    /// The kinds of users, in turn, with commas between them: a persona that is built in (`terse`, `hostile`, …), or one of
    /// your own in prompts/personas
    #[arg(long, env = "EVAL_JOB_PERSONA", value_name = "NAME", value_delimiter = ',')]
    pub(in crate::cli) persona: Vec<String>,

    /// The agent that the job is for: adk=http://localhost:8000
    #[arg(long, env = "EVAL_JOB_TARGET", value_name = "TRANSPORT[=ADDRESS][,app=NAME]")]
    pub(in crate::cli) target: Option<TargetArg>,

    /// A folder of templates and personas that go before the embedded ones: DIR/personas/NAME.yml
    #[arg(long, env = "EVAL_JOB_PROMPTS", value_name = "DIR")]
    pub(in crate::cli) prompts: Option<PathBuf>,

    /// The job file; without it, the job is printed
    #[arg(short, long, value_name = "PATH")]
    pub(in crate::cli) output: Option<PathBuf>,
}
