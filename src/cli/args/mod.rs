//! The command line.

mod audit;
mod baseline;
mod cache;
mod cases;
mod cassette;
mod check;
mod compare;
mod coverage;
mod data;
mod export;
mod gate;
mod generate;
mod grade;
mod judging;
mod label;
mod merge;
mod parse;
mod plan;
mod resume;
mod retyped;
mod selection;
mod until;
mod trend;
mod values;

use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::{ArgAction, Parser, Subcommand};

use super::init::InitTarget;
use crate::graph::embedded::Megabytes;

pub(super) use audit::AuditArgs;
pub(super) use baseline::{BaselineCommand, BaselineListArgs, BaselineRemoveArgs, BaselineSetArgs};
pub(super) use cache::{CacheArgs, CacheCommand, CacheListArgs, CachePruneArgs};
pub(super) use cases::{CasesAddArgs, CasesCommand, CasesListArgs, CasesRemoveArgs, CasesShowArgs};
pub(super) use cassette::CassetteArgs;
pub(super) use check::CheckArgs;
pub(super) use compare::CompareArgs;
pub(super) use coverage::CoverageArgs;
pub(super) use data::{DataArgs, MetricSetArg, ReadingArgs};
pub(super) use export::{AnalyzeArgs, ExportArgs};
pub(super) use gate::GateArgs;
pub(super) use generate::GenerateArgs;
pub(super) use grade::{GradeArgs, RecordedArgs};
pub(super) use judging::JudgingArgs;
pub(super) use label::{CalibrateArgs, LabelArgs};
pub(super) use merge::MergeArgs;
pub(super) use plan::{FileArgs, PlanArgs, RunArgs};
pub(super) use resume::{ResumeArgs, ResumeMode};
pub(super) use retyped::{CommandChanges, quoted, rebuilt_command, runs_dir_flag};
pub(super) use selection::SelectionArgs;
pub(super) use trend::TrendArgs;
pub(super) use until::UntilArgs;
pub(super) use values::{ColorArg, ConditionArg};
use values::{parse_agent_model, parse_case_id, times, whole_number};

/// Evaluates conversational agents by behaviour: a persona talks with the running agent, a judge scores the tasks,
/// assertions check what really happened.
#[derive(Debug, Parser)]
#[command(name = "eval-job", version, about, max_term_width = 100, after_help = EXIT_STATUS)]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Command,

    /// Colours
    #[arg(long, global = true, env = "EVAL_JOB_COLOR", value_name = "WHEN", default_value = "auto")]
    pub(super) color: ColorArg,

    /// The store of a team: runs are sent there when they have ended, and those that are named and not here are fetched;
    /// postgres://HOST/DATABASE?sslmode=verify-full, with USER:PASSWORD@ before the host
    #[arg(long, global = true, env = "EVAL_JOB_STORE", value_name = "URL", hide_env_values = true)]
    pub(super) store: Option<String>,
}

const EXIT_STATUS: &str = "\
Exit status: 0 passed · 1 eval-job itself failed · 2 bad usage or invalid job · 100 gate failed
· 101 inconclusive · 102 incomplete (agent unreachable, persona, judge or graph broken, limit reached) · 130 interrupted";

/// The job that is run when none is named.
pub(super) const DEFAULT_JOB: &str = "data/eval/agent.yml";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run jobs: have the conversations, judge them, check the assertions, and show what came of it
    Run(Box<RunArgs>),
    /// Write a first job for your agent, with its schema for your editor, an example of .env and a CI workflow
    Init(InitArgs),
    /// Check job files: report whatever `run` would refuse with these flags and variables; without --live this touches
    /// no network
    Validate(Box<ValidateArgs>),
    /// Write the cases of another system's evaluation file (Google ADK, trpc-agent-go, watsonx Orchestrate, Red Hat) as a job
    /// file that means the same
    Import(ImportArgs),
    /// Write a job with cases made from the agent's tools or from stories of its users, to be reviewed before it is run; without
    /// any model
    Generate(GenerateArgs),
    /// List, show, add and remove the cases of a job file or of another system's file
    #[command(subcommand)]
    Cases(CasesCommand),
    /// Say hello to a job's agent and print what was found: is it there, what can it do, what does it answer. Nothing is
    /// kept, and no other model is asked
    Probe(ProbeArgs),
    /// Play the user yourself, in the terminal, against the live agent; the conversation becomes a case
    Record(Box<RecordArgs>),
    /// Print the JSON Schema of job files
    Schema,
    /// Show the runs that are kept
    List(ListArgs),
    /// Make the index of runs again from their folders; it is kept up to date anyway, so this is for one that is damaged
    Reindex(ReindexArgs),
    /// Name a run that later ones are compared with; wherever a run is named, its baseline's name will do
    #[command(subcommand)]
    Baseline(BaselineCommand),
    /// Show or remove what judges said at temperature 0, which is kept so that it is not paid for twice
    #[command(subcommand)]
    Cache(CacheCommand),
    /// Show a run again, also one that was interrupted or killed
    Show(ShowArgs),
    /// Join the runs of the parts of a suite, which `run --partition` made on several machines, into one run for each job; the
    /// status is that of the whole
    Merge(MergeArgs),
    /// Compare runs, or the models of one, pair by pair: better, worse, the same or not decided (status 0, 100, 0, 101), and what
    /// would decide it
    Compare(CompareArgs),
    /// Show the runs of a job night by night: since when its score has another level, and which cases flip
    Trend(TrendArgs),
    /// Grade runs again from what was kept of them, without the agent: with a corrected job, other weights or another judge
    Grade(Box<GradeArgs>),
    /// Score jobs against four agents that do nothing (silent, echo, "Done!", listing all), without any model: what lets them pass
    /// is named
    Audit(Box<AuditArgs>),
    /// Show what the cases of runs touch, and what they do not: the agent's tools, labels and relationship types of the graph,
    /// edges between goals, facts
    Coverage(CoverageArgs),
    /// Check a judge against conversations that are known to be bad, and good: each bad one must fail, each good one pass
    Check(Box<CheckArgs>),
    /// Ask a person what the judge was asked about a run, in the terminal: each answer is given before the judge's is shown
    Label(LabelArgs),
    /// Show how far the judge of runs can be believed: beside people's labels, and beside assertions that verify tasks
    Calibrate(Box<CalibrateArgs>),
    /// Show what went wrong in a run: failures grouped by tool, argument and reason, or by metric and part, with how often and in
    /// which cases
    Analyze(AnalyzeArgs),
    /// Write a run, or the cases of a file, in another system's format: Google ADK, trpc-agent-go, watsonx Orchestrate, Red
    /// Hat, and runs also as OpenTelemetry's traces or any format of -o
    Export(ExportArgs),
    /// Print the completions for a shell: bash, elvish, fish, powershell or zsh
    Completions(CompletionsArgs),
    /// Write a man page for each subcommand into a folder
    Man(ManArgs),
    /// Serve the demo agent, as if it were your own; it writes to the Neo4j of NEO_URI
    DemoAgent(DemoAgentArgs),
    /// Serve an empty throw-away graph over Bolt, for an agent that uses a Neo4j driver
    #[command(subcommand)]
    Graph(GraphCommand),
}

#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    pub(super) shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// The folder, made where there is none
    #[arg(value_name = "FOLDER")]
    pub(super) folder: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(super) struct ImportArgs {
    /// The file, FILE:case1,case2 for some of its cases, or a folder
    #[arg(value_name = "FILE", required_unless_present = "from_trace", conflicts_with = "from_trace")]
    pub(super) file: Option<String>,

    /// A recorded conversation (what `grade --actual` takes: traces, message lists, results, a run): its user's lines become a
    /// script, the tool calls and replies what is expected of them
    #[arg(long, env = "EVAL_JOB_FROM_TRACE", value_name = "RECORDED")]
    pub(super) from_trace: Option<String>,

    /// The job file; without it, the job is printed
    #[arg(short, long, value_name = "PATH")]
    pub(super) output: Option<PathBuf>,

    #[command(flatten)]
    pub(super) data: DataArgs,

    #[command(flatten)]
    pub(super) runs: RunsArgs,
}

#[derive(Debug, clap::Args)]
pub(super) struct RunsArgs {
    /// Where runs are kept
    #[arg(long, env = "EVAL_JOB_RUNS_DIR", value_name = "DIR", default_value = "runs")]
    pub(super) runs_dir: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(super) struct ReindexArgs {
    #[command(flatten)]
    pub(super) runs: RunsArgs,
}

#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    pub(super) runs: RunsArgs,

    /// Print an array of JSON, a line a run, oldest first
    #[arg(long, env = "EVAL_JOB_JSON", value_parser = FalseyValueParser::new())]
    pub(super) json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct ValidateArgs {
    /// Job files, folders of them, or patterns such as 'eval/**/*.yml'
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
pub(super) struct RecordArgs {
    /// The job whose agent you talk with, as the user of its first case; or, with --target, another system's file
    #[arg(value_name = "FILE", default_value = DEFAULT_JOB)]
    pub(super) file: PathBuf,

    /// The file of the case: a job or another system's file that is there gets one more case, else a job is written
    #[arg(short, long, value_name = "PATH")]
    pub(super) output: Option<PathBuf>,

    /// The id of the case [default: its own]
    #[arg(long, env = "EVAL_JOB_ID", value_name = "ID", value_parser = parse_case_id)]
    pub(super) id: Option<String>,

    /// The agent's model, sent with every message; of several only the first [default: that of a run]
    #[arg(long, env = "EVAL_JOB_MODEL", value_delimiter = ',', value_name = "MODEL",
          value_parser = parse_agent_model)]
    pub(super) model: Vec<String>,

    #[command(flatten)]
    pub(super) data: DataArgs,

    #[command(flatten)]
    pub(super) files: FileArgs,

    #[command(flatten)]
    pub(super) runs: RunsArgs,
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
          value_parser = parse_agent_model)]
    pub(super) model: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// The run's id, or the beginning of its folder's name [default: the newest run]
    #[arg(value_name = "ID")]
    pub(super) id: Option<String>,

    #[command(flatten)]
    pub(super) runs: RunsArgs,

    /// Show the conversations too, word for word; twice (-vv): also each prompt of the judge whole
    #[arg(short, long, env = "EVAL_JOB_VERBOSE", action = ArgAction::Count, value_parser = times)]
    pub(super) verbose: u8,

    /// Show only the conversations of this case, word for word, with what they are worth and why; a part of its id is enough
    #[arg(long, env = "EVAL_JOB_CASE", value_name = "ID")]
    pub(super) case: Option<String>,

    /// Show the conversations turn by turn: a few words of both sides, times, tokens, failed tries, events and changes
    #[arg(long, env = "EVAL_JOB_TURNS", value_parser = FalseyValueParser::new())]
    pub(super) turns: bool,

    /// Print the record as JSON instead, as -o writes it; with --case only those conversations
    #[arg(long, env = "EVAL_JOB_JSON", value_parser = FalseyValueParser::new())]
    pub(super) json: bool,

    /// Also write a file; its ending tells the format: .json (the record), .html (a page for a browser), .xml (JUnit), .md (a
    /// step's summary; $GITHUB_STEP_SUMMARY too), .csv (a row a conversation), or tokens.json in the shape of Red Hat's token
    /// files. A format before the path: adk=, trpc=, watsonx=, redhat= (the last two are folders), otlp=. Several: -o a.json
    /// -o b.html
    #[arg(short, long, env = "EVAL_JOB_OUTPUT", value_name = "PATH")]
    pub(super) output: Vec<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(super) struct InitArgs {
    /// The folder to write to
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(super) folder: PathBuf,
    /// How your agent is reached
    #[arg(long, env = "EVAL_JOB_INIT_TARGET", value_name = "KIND", default_value = "embabel")]
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
