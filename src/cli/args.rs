//! The command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::{FalseyValueParser, NonEmptyStringValueParser, Resettable};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use super::env_file::EnvFile;
use super::init::InitTarget;
use crate::evidence::Condition;
use crate::graph::embedded::Megabytes;
use crate::job::ModelName;
use crate::money::Dollars;
use crate::score::Score;
use crate::text::nearest;

/// Evaluates conversational agents by behaviour: a persona talks with the running agent, a judge scores the tasks,
/// assertions check what really happened.
#[derive(Debug, Parser)]
#[command(name = "eval-job", version, about, max_term_width = 100, after_help = EXIT_STATUS, disable_help_subcommand = true)]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Command,
}

impl Args {
    /// Parses the command line; an argument that was not typed is taken from its environment variable, else from the env file.
    ///
    /// # Errors
    /// clap's words, which are help, the version or what is wrong.
    pub(super) fn typed(typed: &[OsString], file: &EnvFile) -> Result<Args, clap::Error> {
        let twin = |arg: Arg| of_file(unset_where_empty(negative_as_value(arg)), file);
        let command = Args::command()
            .mut_subcommands(|command| command.mut_args(twin).mut_subcommands(|inner| inner.mut_args(twin)));
        let outer = typed.iter().skip(1).find_map(|word| command.find_subcommand(word));
        let outer = outer.filter(|inner| inner.has_subcommands()).unwrap_or(&command);
        let subcommands: Vec<String> = outer.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
        let matches = command.try_get_matches_from(typed).map_err(|error| with_subcommands(error, &subcommands))?;
        Args::from_arg_matches(&matches)
    }

    /// The file of variables that a subcommand reads: `None` where it reads none, `Some(None)` for the usual one.
    pub(super) fn env_file(&self) -> Option<Option<&Path>> {
        match &self.command {
            Command::Run(args) => Some(args.plan.env_file.as_deref()),
            Command::Validate(args) => Some(args.plan.env_file.as_deref()),
            Command::Probe(args) => Some(args.env_file.as_deref()),
            Command::Grade(args) => Some(args.env_file.as_deref()),
            _ => None,
        }
    }
}

/// A subcommand that there is not: the nearest one, and all that there are.
fn with_subcommands(mut error: clap::Error, subcommands: &[String]) -> clap::Error {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    let near = nearest(typed, subcommands.iter().map(String::as_str)).map(str::to_owned);
    // A longer name has clap's own suggestion.
    if error.get(ContextKind::SuggestedSubcommand).is_none()
        && let Some(near) = near
    {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![near]));
    }
    let all = format!("the subcommands are {}", subcommands.join(", "));
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![all.into()]));
    error
}

/// `--repeat -1` is a number that is wrong, not a flag that there is not.
fn negative_as_value(arg: Arg) -> Arg {
    let takes_value = arg.get_action().takes_values() && !arg.is_positional();
    if takes_value { arg.allow_negative_numbers(true) } else { arg }
}

/// What the file says of an argument's twin, which goes before a default only. A variable that is set, though it be empty,
/// is the environment's word.
fn of_file(arg: Arg, file: &EnvFile) -> Arg {
    let value = arg.get_env().and_then(|name| Some((name, file.get(name.to_str()?)?)));
    match value {
        Some((name, value)) if !value.is_empty() && !super::context::is_set(name) => {
            let delimiter = arg.get_value_delimiter();
            let values: Vec<String> = match delimiter {
                Some(delimiter) => value.split(delimiter).map(str::to_owned).collect(),
                None => vec![value.clone()],
            };
            arg.default_values(values)
        }
        _ => arg,
    }
}

/// An empty variable says nothing: that is how CI systems pass on what is not set.
fn unset_where_empty(arg: Arg) -> Arg {
    let is_empty = arg.get_env().is_some_and(super::context::is_empty);
    if is_empty { arg.env(Resettable::Reset) } else { arg }
}

const EXIT_STATUS: &str = "\
Exit status: 0 passed · 1 eval-job itself failed · 2 bad usage or invalid job · 100 gate failed
· 102 incomplete (agent unreachable, persona, judge or graph broken, limit reached) · 130 interrupted";

/// The job that is meant when none is named.
pub(super) const DEFAULT_JOB: &str = "data/eval/agent.yml";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run jobs: hold the conversations, judge them, check the assertions, and show what came of it
    Run(Box<RunArgs>),
    /// Write a first job for your agent, with its schema for your editor, an example of .env and a CI workflow
    Init(InitArgs),
    /// Check job files: whatever `run` would refuse with these flags and variables is told; without --live this touches
    /// no network
    Validate(Box<ValidateArgs>),
    /// Say hello to a job's agent and print what was found: is it there, what can it do, what does it answer. Nothing is
    /// kept, and no other model is asked
    Probe(ProbeArgs),
    /// Print the JSON Schema of job files
    Schema,
    /// Show the runs that are kept
    List(RunsArgs),
    /// Show a run again, also one that was interrupted or killed
    Show(ShowArgs),
    /// Grade runs again from what was kept of them, without the agent: with a corrected job, other weights or another judge
    Grade(GradeArgs),
    /// Serve the demo agent, as if it were your own; it writes to the Neo4j of NEO_URI
    DemoAgent(DemoAgentArgs),
    /// Serve an empty throw-away graph over Bolt, for an agent that uses a Neo4j driver
    #[command(subcommand)]
    Graph(GraphCommand),
}

#[derive(Debug, clap::Args)]
pub(super) struct RunArgs {
    /// Job files
    #[arg(value_name = "FILE", default_value = DEFAULT_JOB)]
    pub(super) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) plan: PlanArgs,

    /// How many conversations may be held at once
    #[arg(short = 'j', long, env = "EVAL_JOB_MAX_CONCURRENCY", value_name = "N", default_value_t = 10,
          value_parser = whole_number::<u16>(1, u16::MAX.into()))]
    pub(super) max_concurrency: u16,

    /// The seed of every random choice [default: drawn, and kept in the record]
    #[arg(long, env = "EVAL_JOB_RNG_SEED", value_name = "N", value_parser = whole_number::<u64>(0, u64::MAX))]
    pub(super) rng_seed: Option<u64>,

    /// Also write the record to a file; its ending tells the format: .json, or tokens.json for what the models took, in
    /// the shape of Red Hat's token files
    #[arg(short, long, env = "EVAL_JOB_OUTPUT", value_name = "PATH")]
    pub(super) output: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) runs: RunsArgs,

    /// Show what is said and done, word for word, as it happens
    #[arg(short, long, env = "EVAL_JOB_VERBOSE", value_parser = FalseyValueParser::new())]
    pub(super) verbose: bool,

    /// Show nothing while the job runs, whatever --verbose says
    #[arg(long, env = "EVAL_JOB_NO_PROGRESS", value_parser = FalseyValueParser::new())]
    pub(super) no_progress: bool,
}

/// Arguments that decide whether a job can work, the same for `run` and `validate`.
#[derive(Debug, clap::Args)]
pub(super) struct PlanArgs {
    /// The agent's model, sent with every message; several, separated by commas, are compared
    /// [default: gpt-4.1-mini; demo-careful for the demo agent]
    #[arg(long, env = "EVAL_JOB_MODEL", value_delimiter = ',', value_name = "MODEL",
          value_parser = NonEmptyStringValueParser::new())]
    pub(super) model: Vec<String>,

    /// The persona's model instead of the job's: openai/MODEL, anthropic/MODEL, gemini/MODEL, watsonx/MODEL or scripted
    #[arg(long, env = "EVAL_JOB_EVALUATOR_MODEL", value_name = "MODEL", value_parser = ModelName::parse)]
    pub(super) evaluator_model: Option<ModelName>,

    /// The judge's model instead of the job's: openai/MODEL, anthropic/MODEL, gemini/MODEL, watsonx/MODEL or scripted
    #[arg(long, env = "EVAL_JOB_SCORER_MODEL", value_name = "MODEL", value_parser = ModelName::parse)]
    pub(super) scorer_model: Option<ModelName>,

    /// Hold each conversation so often [default: the job's `repeat`, 1]
    #[arg(long, env = "EVAL_JOB_REPEAT", value_name = "N", value_parser = whole_number::<u32>(1, 10_000))]
    pub(super) repeat: Option<u32>,

    /// Only this condition [default: both where there are facts]
    #[arg(long, env = "EVAL_JOB_CONDITION", value_name = "CONDITION")]
    pub(super) condition: Option<ConditionArg>,

    /// The run fails (status 100) if the score is below this, 0 to 1
    #[arg(long, env = "EVAL_JOB_MIN_SCORE", value_name = "SCORE", value_parser = parse_score)]
    pub(super) min_score: Option<Score>,

    /// Stop before the run costs more than so many US dollars; what the agent costs counts where it tells its tokens
    #[arg(long, env = "EVAL_JOB_COST_LIMIT", value_name = "USD", value_parser = parse_dollars)]
    pub(super) cost_limit: Option<Dollars>,

    /// Stop before the run takes more than so many tokens
    #[arg(long, env = "EVAL_JOB_TOKEN_LIMIT", value_name = "N", value_parser = whole_number::<u64>(1, u64::MAX))]
    pub(super) token_limit: Option<u64>,

    /// Stop after so many seconds; what goes on then is kept as far as it went
    #[arg(long, env = "EVAL_JOB_TIME_LIMIT", value_name = "SECONDS", value_parser = parse_seconds)]
    pub(super) time_limit: Option<f64>,

    /// A YAML file of prices that go before the embedded ones, in US dollars a million tokens:
    /// models: {openai/my-model: {input: 0.4, cachedInput: 0.1, output: 1.6}}
    #[arg(long, env = "EVAL_JOB_PRICES", value_name = "FILE")]
    pub(super) prices: Option<PathBuf>,

    /// A folder of templates that go before the embedded ones: DIR/eval/socrates.jinja
    #[arg(long, env = "EVAL_JOB_PROMPTS", value_name = "DIR")]
    pub(super) prompts: Option<PathBuf>,

    /// A file of NAME=value lines: variables that the environment does not set [default: .env, if there is one]
    #[arg(long, env = "EVAL_JOB_ENV_FILE", value_name = "FILE")]
    pub(super) env_file: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(super) struct RunsArgs {
    /// Where runs are kept
    #[arg(long, env = "EVAL_JOB_RUNS_DIR", value_name = "DIR", default_value = "runs")]
    pub(super) runs_dir: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(super) struct ValidateArgs {
    /// Job files
    #[arg(value_name = "FILE", default_value = DEFAULT_JOB)]
    pub(super) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) plan: PlanArgs,

    /// Also look whether agent, graph and models can be reached, ask the agent for a session and look at the graph, without
    /// a word and without a token: could a run begin, and can each assertion fail? On a database of your own the setups are left out
    #[arg(long, env = "EVAL_JOB_LIVE", value_parser = FalseyValueParser::new())]
    pub(super) live: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct ProbeArgs {
    /// The job file
    #[arg(value_name = "FILE", default_value = DEFAULT_JOB)]
    pub(super) file: PathBuf,

    /// A file of NAME=value lines: variables that the environment does not set [default: .env, if there is one]
    #[arg(long, env = "EVAL_JOB_ENV_FILE", value_name = "FILE")]
    pub(super) env_file: Option<PathBuf>,
    /// The agent's model, sent with the message; of several only the first [default: that of a run]
    #[arg(long, env = "EVAL_JOB_MODEL", value_delimiter = ',', value_name = "MODEL",
          value_parser = NonEmptyStringValueParser::new())]
    pub(super) model: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// The run's id, or the beginning of its folder's name [default: the newest run]
    #[arg(value_name = "ID")]
    pub(super) id: Option<String>,

    #[command(flatten)]
    pub(super) runs: RunsArgs,

    /// Show the conversations too, word for word
    #[arg(short, long, env = "EVAL_JOB_VERBOSE", value_parser = FalseyValueParser::new())]
    pub(super) verbose: bool,

    /// Also write the record to a file; its ending tells the format: .json, or tokens.json for what the models took, in
    /// the shape of Red Hat's token files
    #[arg(short, long, env = "EVAL_JOB_OUTPUT", value_name = "PATH")]
    pub(super) output: Vec<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(super) struct GradeArgs {
    /// The runs' ids, or the beginnings of their folders' names [default: the newest run]
    #[arg(value_name = "RUN")]
    pub(super) runs: Vec<String>,

    #[command(flatten)]
    pub(super) runs_dir: RunsArgs,

    /// The job file to grade by [default: the job that each run was held with]. What no judge was ever asked, since the
    /// criteria are others, is missing unless --scorer-model asks it
    #[arg(long, env = "EVAL_JOB_JOB", value_name = "FILE")]
    pub(super) job: Option<PathBuf>,

    /// How much the dimensions count, such as tasks=2,assertions=4 [default: as before]
    #[arg(long, env = "EVAL_JOB_WEIGHTS", value_name = "NAME=WEIGHT", value_delimiter = ',', value_parser = super::grade::weight)]
    pub(super) weights: Vec<(String, crate::score::Weight)>,

    /// Ask this judge all questions about the stored conversations, which costs tokens: openai/MODEL, anthropic/MODEL,
    /// gemini/MODEL, watsonx/MODEL or scripted. Without it nobody is asked and nothing is spent
    #[arg(long, env = "EVAL_JOB_GRADE_SCORER_MODEL", value_name = "MODEL", value_parser = ModelName::parse)]
    pub(super) scorer_model: Option<ModelName>,

    /// How many conversations the judge is asked about at once
    #[arg(short = 'j', long, env = "EVAL_JOB_MAX_CONCURRENCY", value_name = "N", default_value_t = 10,
          value_parser = whole_number::<u16>(1, u16::MAX.into()))]
    pub(super) max_concurrency: u16,

    /// Stop before the judge costs more than so many US dollars
    #[arg(long, env = "EVAL_JOB_COST_LIMIT", value_name = "USD", value_parser = parse_dollars)]
    pub(super) cost_limit: Option<Dollars>,

    /// Stop before the judge takes more than so many tokens
    #[arg(long, env = "EVAL_JOB_TOKEN_LIMIT", value_name = "N", value_parser = whole_number::<u64>(1, u64::MAX))]
    pub(super) token_limit: Option<u64>,

    /// A YAML file of prices that go before the embedded ones, as for `run`
    #[arg(long, env = "EVAL_JOB_PRICES", value_name = "FILE")]
    pub(super) prices: Option<PathBuf>,

    /// A folder of templates that go before those of --job
    #[arg(long, env = "EVAL_JOB_PROMPTS", value_name = "DIR")]
    pub(super) prompts: Option<PathBuf>,

    /// A file of NAME=value lines: variables that the environment does not set [default: .env, if there is one]
    #[arg(long, env = "EVAL_JOB_ENV_FILE", value_name = "FILE")]
    pub(super) env_file: Option<PathBuf>,

    /// Also write the run with its new grades to a file (.json, or tokens.json)
    #[arg(short, long, env = "EVAL_JOB_OUTPUT", value_name = "PATH")]
    pub(super) output: Vec<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(super) struct InitArgs {
    /// The folder to write to
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(super) folder: PathBuf,
    /// How your agent is reached
    #[arg(long, env = "EVAL_JOB_TARGET", value_name = "KIND", default_value = "embabel")]
    pub(super) target: InitTarget,
    /// Replace files that are there
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct DemoAgentArgs {
    /// Where it listens on loopback; 0 takes a free port
    #[arg(long, env = "EVAL_JOB_PORT", value_name = "PORT", default_value_t = 8081,
          value_parser = whole_number::<u16>(0, u16::MAX.into()))]
    pub(super) port: u16,
}

/// A condition, as it is typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum ConditionArg {
    /// Only the conversation in which the persona does not know the facts
    WithoutFacts,
    /// Only the conversation in which the persona knows the facts
    WithFacts,
}

impl From<ConditionArg> for Condition {
    fn from(arg: ConditionArg) -> Condition {
        match arg {
            ConditionArg::WithoutFacts => Condition::WithoutFacts,
            ConditionArg::WithFacts => Condition::WithFacts,
        }
    }
}

/// A parser of whole numbers that tells which ones it takes.
fn whole_number<T: TryFrom<u64>>(least: u64, most: u64) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text: &str| {
        let number = text.parse::<u64>().ok().filter(|number| (least..=most).contains(number));
        number
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| format!("a whole number from {least} to {most}"))
    }
}

fn parse_dollars(text: &str) -> Result<Dollars, String> {
    let amount = text.parse::<f64>().ok().and_then(Dollars::new).filter(|amount| *amount > Dollars::ZERO);
    amount.ok_or_else(|| "a cost is a number of US dollars, more than 0".to_owned())
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0 && *seconds <= 31_536_000.0);
    seconds.ok_or_else(|| "a time is a number of seconds, more than 0".to_owned())
}

fn parse_score(text: &str) -> Result<Score, String> {
    text.parse::<f64>().ok().and_then(Score::new).ok_or_else(|| "a score is a number from 0 to 1".to_owned())
}

#[derive(Debug, Subcommand)]
pub(super) enum GraphCommand {
    /// Serve it on loopback until Ctrl-C; its address and password go to stdout. Nothing is kept
    Serve(GraphServeArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct GraphServeArgs {
    /// The port; 0 takes a free one
    #[arg(long, env = "EVAL_JOB_PORT", value_name = "PORT", default_value_t = 7687,
          value_parser = whole_number::<u16>(0, u16::MAX.into()))]
    pub(super) port: u16,
    /// The most memory that a statement may take, and the graph: 512, `512 MB` or `2 GB`
    #[arg(long, env = "EVAL_JOB_MEMORY", value_name = "SIZE", default_value_t = Megabytes::default())]
    pub(super) memory: Megabytes,
}
