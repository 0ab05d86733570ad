//! The arguments that decide what is run, and how it is carried out.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;

use super::values::{parse_agent_model, parse_dollars, parse_seconds, whole_number};
use super::{
    CacheArgs, CassetteArgs, ConditionArg, DEFAULT_JOB, DataArgs, GateArgs, ResumeArgs, RunsArgs, SelectionArgs,
    UntilArgs,
};
use crate::job::{ModelName, Panel};
use crate::money::Dollars;
use crate::plan::Partition;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct RunArgs {
    /// Job files, folders of them, or patterns such as 'eval/**/*.yml'
    #[arg(value_name = "FILE", default_value = DEFAULT_JOB)]
    pub(in crate::cli) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(in crate::cli) plan: PlanArgs,

    #[command(flatten)]
    pub(in crate::cli) resume: ResumeArgs,

    /// How many conversations may run at once
    #[arg(short = 'j', long, env = "EVAL_JOB_MAX_CONCURRENCY", value_name = "N", default_value_t = 10,
          value_parser = whole_number::<u16>(1, u16::MAX.into()))]
    pub(in crate::cli) max_concurrency: u16,

    /// The seed of every random choice [default: drawn, and kept in the record]
    #[arg(long, env = "EVAL_JOB_RNG_SEED", value_name = "N", value_parser = whole_number::<u64>(0, u64::MAX))]
    pub(in crate::cli) rng_seed: Option<u64>,

    /// Also write a file; its ending tells the format: .json (the record), .html (a page for a browser), .xml (JUnit), .md (a
    /// step's summary; $GITHUB_STEP_SUMMARY too), .csv (a row a conversation), or tokens.json in the shape of Red Hat's token
    /// files. A format before the path: adk=, trpc=, watsonx=, redhat= (the last two are folders), otlp=. Several: -o a.json
    /// -o b.html. `-` prints the record as JSON, and the report to stderr
    #[arg(short, long, env = "EVAL_JOB_OUTPUT", value_name = "PATH")]
    pub(in crate::cli) output: Vec<PathBuf>,

    #[command(flatten)]
    pub(in crate::cli) cache: CacheArgs,

    #[command(flatten)]
    pub(in crate::cli) runs: RunsArgs,

    /// Show what is said and done, word for word, as it happens
    #[arg(short, long, env = "EVAL_JOB_VERBOSE", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) verbose: bool,

    /// After the report, show each turn with what was expected, what came, and its scores
    #[arg(long, env = "EVAL_JOB_PRINT_DETAILED_RESULTS", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) print_detailed_results: bool,

    /// Show nothing while the job runs, whatever --verbose says
    #[arg(long, env = "EVAL_JOB_NO_PROGRESS", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) no_progress: bool,
}

/// Arguments that decide whether a job can work, the same for `run` and `validate`.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct PlanArgs {
    #[command(flatten)]
    pub(in crate::cli) selection: SelectionArgs,

    /// Only this part of the cases of all jobs, such as 1/4 on the first of four machines; `eval-job merge` joins the runs
    #[arg(long, env = "EVAL_JOB_PARTITION", value_name = "K/N", value_parser = Partition::parse)]
    pub(in crate::cli) partition: Option<Partition>,

    #[command(flatten)]
    pub(in crate::cli) data: DataArgs,

    /// The agent's model, sent with every message; several, separated by commas, are compared
    /// [default: gpt-4.1-mini; demo-careful for the demo agent]
    #[arg(long, env = "EVAL_JOB_MODEL", value_delimiter = ',', value_name = "MODEL",
          value_parser = parse_agent_model)]
    pub(in crate::cli) model: Vec<String>,

    /// The persona's model instead of the job's: openai/MODEL, anthropic/MODEL, gemini/MODEL, watsonx/MODEL or scripted
    #[arg(long, env = "EVAL_JOB_EVALUATOR_MODEL", value_name = "MODEL", value_parser = ModelName::parse)]
    pub(in crate::cli) evaluator_model: Option<ModelName>,

    /// Hold each case with each of these kinds of users, with commas between them: a persona that is built in (`terse`,
    /// `hostile`, …), or one of your own in prompts/personas
    #[arg(long, env = "EVAL_JOB_PERSONA", value_name = "NAME", value_delimiter = ',')]
    pub(in crate::cli) persona: Vec<String>,

    /// The judge's model instead of the job's: openai/MODEL, anthropic/MODEL, gemini/MODEL, watsonx/MODEL or scripted;
    /// several, with commas between them, are a panel
    #[arg(long, env = "EVAL_JOB_SCORER_MODEL", value_name = "MODEL", value_parser = Panel::parse)]
    pub(in crate::cli) scorer_model: Option<Panel>,

    /// Hold each conversation so often [default: the job's `repeat`, 1]
    #[arg(long, env = "EVAL_JOB_REPEAT", value_name = "N", value_parser = whole_number::<u32>(1, 10_000))]
    pub(in crate::cli) repeat: Option<u32>,

    #[command(flatten)]
    pub(in crate::cli) until: UntilArgs,

    /// Only this condition [default: both where there are facts]
    #[arg(long, env = "EVAL_JOB_CONDITION", value_name = "CONDITION")]
    pub(in crate::cli) condition: Option<ConditionArg>,

    #[command(flatten)]
    pub(in crate::cli) gate: GateArgs,

    /// How many messages, of both sides, a conversation may have, instead of the job's `maxTurns`
    #[arg(long, env = "EVAL_JOB_MAX_TURNS", value_name = "N", value_parser = whole_number::<u32>(2, u32::MAX.into()))]
    pub(in crate::cli) max_turns: Option<u32>,

    /// How long one conversation may take, instead of the job's `limits.trial`: seconds, or `10m`
    #[arg(long, env = "EVAL_JOB_TIMEOUT", value_name = "TIME", value_parser = parse_seconds)]
    pub(in crate::cli) timeout: Option<f64>,

    /// Stop before the run costs more than so many US dollars; what the agent costs counts where it tells its tokens
    #[arg(long, env = "EVAL_JOB_COST_LIMIT", value_name = "USD", value_parser = parse_dollars)]
    pub(in crate::cli) cost_limit: Option<Dollars>,

    /// Stop before the run takes more than so many tokens
    #[arg(long, env = "EVAL_JOB_TOKEN_LIMIT", value_name = "N", value_parser = whole_number::<u64>(1, u64::MAX))]
    pub(in crate::cli) token_limit: Option<u64>,

    /// Stop after so many seconds, or `10m`, `1h30m`; what goes on then is kept as far as it went
    #[arg(long, env = "EVAL_JOB_TIME_LIMIT", value_name = "TIME", value_parser = parse_seconds)]
    pub(in crate::cli) time_limit: Option<f64>,

    #[command(flatten)]
    pub(in crate::cli) cassette: CassetteArgs,

    #[command(flatten)]
    pub(in crate::cli) files: FileArgs,
}

/// Files that a plan reads beside its jobs.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct FileArgs {
    /// A YAML file of prices that go before the embedded ones, in US dollars a million tokens:
    /// models: {openai/my-model: {input: 0.4, cachedInput: 0.1, output: 1.6}}
    #[arg(long, env = "EVAL_JOB_PRICES", value_name = "FILE")]
    pub(in crate::cli) prices: Option<PathBuf>,

    /// A folder of templates that go before the embedded ones: DIR/eval/socrates.jinja
    #[arg(long, env = "EVAL_JOB_PROMPTS", value_name = "DIR")]
    pub(in crate::cli) prompts: Option<PathBuf>,

    /// A file of NAME=value lines: variables that the environment does not set [default: .env, if there is one]
    #[arg(long, env = "EVAL_JOB_ENV_FILE", value_name = "FILE")]
    pub(in crate::cli) env_file: Option<PathBuf>,
}
