//! The command line of `eval-job trend`.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use clap::builder::FalseyValueParser;

use super::RunsArgs;
use super::values::{parse_agent_model, whole_number};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct TrendArgs {
    /// The job: its name, or its file [default: that of the newest run]
    #[arg(value_name = "JOB")]
    pub(in crate::cli) job: Option<String>,

    #[command(flatten)]
    pub(in crate::cli) runs_dir: RunsArgs,

    /// Only this model of the agent; several, separated by commas
    #[arg(long, env = "EVAL_JOB_MODEL", value_delimiter = ',', value_name = "MODEL", value_parser = parse_agent_model)]
    pub(in crate::cli) model: Vec<String>,

    /// Only this case; a part of its id is enough
    #[arg(long, env = "EVAL_JOB_CASE", value_name = "ID")]
    pub(in crate::cli) case: Option<String>,

    /// Show only so many nights, the newest; what is said of changes rests on all [default: 20; all with --json]
    #[arg(long, env = "EVAL_JOB_LAST", value_name = "N", value_parser = whole_number::<usize>(1, 100_000))]
    pub(in crate::cli) last: Option<usize>,

    /// Look only at nights from this day on (UTC), such as 2026-11-25, or from a time such as 2026-11-25T03:00:00Z
    #[arg(long, env = "EVAL_JOB_SINCE", value_name = "DATE", value_parser = since)]
    pub(in crate::cli) since: Option<DateTime<Utc>>,

    /// Show every case that flips
    #[arg(short, long, env = "EVAL_JOB_VERBOSE", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) verbose: bool,

    /// Print it as JSON instead
    #[arg(long, env = "EVAL_JOB_JSON", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) json: bool,
}

fn since(text: &str) -> Result<DateTime<Utc>, String> {
    let day = || Some(text.parse::<NaiveDate>().ok()?.and_time(NaiveTime::MIN).and_utc());
    let time = text.parse::<DateTime<Utc>>().ok();
    time.or_else(day).ok_or_else(|| "a day is written 2026-11-25, a time 2026-11-25T03:00:00Z".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_midnight_and_a_time_may_have_a_zone() {
        let shown = |text: &str| since(text).map(|at| at.to_rfc3339()).ok();
        assert_eq!(shown("2026-11-25").as_deref(), Some("2026-11-25T00:00:00+00:00"));
        assert_eq!(shown("2026-11-25T03:00:00+01:00").as_deref(), Some("2026-11-25T02:00:00+00:00"));
        assert_eq!([shown("yesterday"), shown("2026-13-01"), shown("")], [None, None, None]);
    }
}
