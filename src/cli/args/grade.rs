//! The command line of `eval-job grade`.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;

use super::values::{parse_score, parse_weight};
use super::{CacheArgs, FileArgs, JudgingArgs, ReadingArgs, RunsArgs, SelectionArgs};
use crate::job::Panel;
use crate::score::{Score, Weight};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct GradeArgs {
    /// The runs' ids, or the beginnings of their folders' names [default: the newest run]
    #[arg(value_name = "RUN")]
    pub(in crate::cli) runs: Vec<String>,

    #[command(flatten)]
    pub(in crate::cli) recorded: RecordedArgs,

    #[command(flatten)]
    pub(in crate::cli) runs_dir: RunsArgs,

    /// The job file to grade by [default: the job that each run was made with]. What no judge was ever asked, since the
    /// criteria are others, is missing unless --scorer-model asks it
    #[arg(long, env = "EVAL_JOB_JOB", value_name = "FILE")]
    pub(in crate::cli) job: Option<PathBuf>,

    /// How much the dimensions count, such as tasks=2,assertions=4 [default: as before]
    #[arg(long, env = "EVAL_JOB_WEIGHTS", value_name = "NAME=WEIGHT", value_delimiter = ',', value_parser = parse_weight)]
    pub(in crate::cli) weights: Vec<(String, Weight)>,

    /// Ask this judge all questions about the stored conversations, which costs tokens: openai/MODEL, anthropic/MODEL,
    /// gemini/MODEL, watsonx/MODEL or scripted. Without it nobody is asked and nothing is spent
    #[arg(long, env = "EVAL_JOB_GRADE_SCORER_MODEL", value_name = "MODEL", value_parser = Panel::parse)]
    pub(in crate::cli) scorer_model: Option<Panel>,

    #[command(flatten)]
    pub(in crate::cli) judging: JudgingArgs,

    #[command(flatten)]
    pub(in crate::cli) cache: CacheArgs,

    #[command(flatten)]
    pub(in crate::cli) files: FileArgs,

    /// Also write the run with its new grades to a file: .json, .html, .xml (JUnit), .md, .csv, or tokens.json
    #[arg(short, long, env = "EVAL_JOB_OUTPUT", value_name = "PATH")]
    pub(in crate::cli) output: Vec<PathBuf>,

    /// Show also what passed, part by part
    #[arg(short, long, env = "EVAL_JOB_VERBOSE", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) verbose: bool,
}

/// Recorded conversations, and their expectations.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct RecordedArgs {
    /// Grade recorded conversations, without an agent, by the cases of this file: another system's (Google ADK, trpc-agent-go,
    /// watsonx Orchestrate, Red Hat), a folder of them, or a job file whose cases have `expected`
    #[arg(long, env = "EVAL_JOB_DATASET", value_name = "FILE", conflicts_with_all = ["runs", "job", "weights"])]
    pub(in crate::cli) dataset: Option<String>,

    /// What was said and done: a file or a folder of results of ADK or trpc-agent-go, messages of watsonx Orchestrate, results of Red
    /// Hat's, message lists as OpenAI writes them, OpenTelemetry's JSON, or a run of eval-job's, by its id or its record.
    /// Several: --actual A --actual B [default: what the file of --dataset has recorded itself, beside what it expects]
    #[arg(long, env = "EVAL_JOB_ACTUAL", value_name = "RECORDED", requires = "dataset")]
    pub(in crate::cli) actual: Vec<String>,

    /// With --dataset: the run fails (status 100) if the score is below this, 0 to 1
    #[arg(long, env = "EVAL_JOB_MIN_SCORE", value_name = "SCORE", value_parser = parse_score)]
    pub(in crate::cli) min_score: Option<Score>,

    #[command(flatten)]
    pub(in crate::cli) selection: SelectionArgs,

    #[command(flatten)]
    pub(in crate::cli) reading: ReadingArgs,
}
