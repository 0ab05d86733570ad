//! Arguments about the evaluation files of other systems.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;

use super::values::whole_number;
use crate::cli::datasets::TargetArg;
use crate::dataset::{MetricSet, System};

/// How other systems' evaluation files are read.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct DataArgs {
    /// The files are another system's (Google ADK, trpc-agent-go, watsonx Orchestrate, Red Hat), and this is the agent that
    /// their cases are run with: adk=http://localhost:8000
    #[arg(long, env = "EVAL_JOB_TARGET", value_name = "TRANSPORT[=ADDRESS][,app=NAME]")]
    pub(in crate::cli) target: Option<TargetArg>,

    /// A second agent, whose replies and tool calls are expected in the cases that ask for one (trpc-agent-go's expected runner)
    #[arg(long, env = "EVAL_JOB_EXPECTED_TARGET", value_name = "TRANSPORT[=ADDRESS][,app=NAME]")]
    pub(in crate::cli) expected_target: Option<TargetArg>,

    /// Hold so many live conversations for each scenario with a simulated user, with the users of the file's list in turn
    #[arg(long, env = "EVAL_JOB_GENERATE", value_name = "N", value_parser = whole_number::<u32>(1, 10_000))]
    pub(in crate::cli) generate: Option<u32>,

    #[command(flatten)]
    pub(in crate::cli) reading: ReadingArgs,
}

/// The files beside other systems' evaluation files, and how those are scored.
#[derive(Debug, Default, clap::Args)]
pub(in crate::cli) struct ReadingArgs {
    /// The test_config.json or the metrics file, instead of the one beside the cases
    #[arg(long, env = "EVAL_JOB_CONFIG_FILE_PATH", value_name = "FILE")]
    pub(in crate::cli) config_file_path: Option<PathBuf>,

    /// The initial session of ADK's old files
    #[arg(long, env = "EVAL_JOB_SESSION_FILE", value_name = "FILE")]
    pub(in crate::cli) session_file: Option<PathBuf>,

    /// Score as the other system does, also where that is unsound
    #[arg(long, env = "EVAL_JOB_DIALECT_STRICT", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) dialect_strict: bool,

    /// The word that stands for any value in arguments of watsonx Orchestrate's cases, instead of <IGNORE>
    #[arg(long, env = "EVAL_JOB_ANY_VALUE", value_name = "WORD")]
    pub(in crate::cli) any_value: Option<String>,

    /// The same by watsonx Orchestrate's own variable
    #[arg(long, hide = true, env = "RESERVED_KEYWORD_FOR_GROUND_TRUTH_ARGS", value_name = "WORD")]
    pub(in crate::cli) reserved_keyword: Option<String>,

    /// The metrics of the Red Hat quickstart's files: the fifteen of today, or the thirteen of 2025
    #[arg(long, env = "EVAL_JOB_METRIC_SET", value_name = "SET", value_enum, default_value_t)]
    pub(in crate::cli) metric_set: MetricSetArg,
}

impl ReadingArgs {
    /// A note about flags that mean nothing for files of this system, or for jobs of our own; nothing where there are none.
    pub(in crate::cli) fn without_effect(&self, system: Option<System>) -> Option<String> {
        let is_of = |systems: &[System]| system.is_some_and(|system| systems.contains(&system));
        let typed = [
            (self.session_file.is_some() && !is_of(&[System::Adk]), "--session-file (for ADK's files)"),
            (
                self.config_file_path.is_some() && !is_of(&[System::Adk, System::Trpc]),
                "--config-file-path (for ADK's and trpc-agent-go's files)",
            ),
            (self.any_value.is_some() && !is_of(&[System::Watsonx]), "--any-value (for watsonx Orchestrate's files)"),
            (
                self.metric_set != MetricSetArg::default() && !is_of(&[System::Redhat]),
                "--metric-set (for the Red Hat quickstart's files)",
            ),
        ];
        let flags: Vec<&str> = typed.into_iter().filter(|(is, _)| *is).map(|(_, flag)| flag).collect();
        (!flags.is_empty()).then(|| format!("nothing comes of {}", flags.join(", ")))
    }
}

/// A generation of the Red Hat quickstart's metrics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum MetricSetArg {
    #[default]
    #[value(name = "quickstart-15")]
    Quickstart15,
    #[value(name = "quickstart-13")]
    Quickstart13,
}

impl From<MetricSetArg> for MetricSet {
    fn from(set: MetricSetArg) -> MetricSet {
        match set {
            MetricSetArg::Quickstart15 => MetricSet::Quickstart15,
            MetricSetArg::Quickstart13 => MetricSet::Quickstart13,
        }
    }
}
