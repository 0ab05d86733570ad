//! Arguments that select cases, the same for `run` and `validate`.

use clap::builder::NonEmptyStringValueParser;

use super::values::whole_number;

/// The selected cases of the jobs; all of them by default.
#[derive(Debug, Default, clap::Args)]
pub(in crate::cli) struct SelectionArgs {
    /// Only cases with this tag, their own or their job's; of several, separated by commas, any
    #[arg(long, env = "EVAL_JOB_TAG", value_name = "TAG", value_delimiter = ',',
          value_parser = NonEmptyStringValueParser::new())]
    pub(in crate::cli) tag: Vec<String>,

    /// Only cases whose id, or whose job's name or file, has this text in it; with * and ? it is the whole of one of them
    #[arg(long, env = "EVAL_JOB_FILTER", value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(in crate::cli) filter: Vec<String>,

    /// Only so many cases: the first ones of all jobs together
    #[arg(long, env = "EVAL_JOB_LIMIT", value_name = "N", value_parser = whole_number::<u32>(1, u32::MAX.into()))]
    pub(in crate::cli) limit: Option<u32>,
}
