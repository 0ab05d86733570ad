//! Arguments of `eval-job run` that go on with a run.

use std::path::{Path, PathBuf};

use super::DEFAULT_JOB;

/// The value that means the newest run, and stands where none is typed.
const NEWEST: &str = "newest";

/// Which run is resumed; by default a new one is made.
#[derive(Debug, Default, clap::Args)]
pub(in crate::cli) struct ResumeArgs {
    /// Go on with a run that was killed, interrupted, or stopped by a limit or a full disk: what is finished stays, the rest is
    /// run [default: the newest unfinished run of the job files; of any job where none is named]
    #[arg(long, env = "EVAL_JOB_RESUME", value_name = "ID", num_args = 0..=1, default_missing_value = NEWEST,
          conflicts_with_all = ["retry_errors", "cassette_record", "cassette_replay"])]
    pub(in crate::cli) resume: Option<String>,

    /// Run again what says nothing about the agent in a run (persona, judge, graph or network broken, a figure missing), and
    /// what is unfinished; the rest stays [default: the newest run of the job files; of any job where none is named]
    #[arg(long, env = "EVAL_JOB_RETRY_ERRORS", value_name = "ID", num_args = 0..=1, default_missing_value = NEWEST,
          conflicts_with_all = ["cassette_record", "cassette_replay"])]
    pub(in crate::cli) retry_errors: Option<String>,
}

/// The trials of a run that are run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum ResumeMode {
    /// Unfinished ones.
    Unfinished,
    /// That, and what says nothing about the agent.
    Errors,
}

impl ResumeMode {
    /// The flag that asks for it.
    pub(in crate::cli) fn flag(self) -> &'static str {
        match self {
            ResumeMode::Unfinished => "--resume",
            ResumeMode::Errors => "--retry-errors",
        }
    }
}

impl ResumeArgs {
    /// The trials to run again, if a run is resumed.
    pub(in crate::cli) fn mode(&self) -> Option<ResumeMode> {
        match (&self.resume, &self.retry_errors) {
            (Some(_), _) => Some(ResumeMode::Unfinished),
            (None, Some(_)) => Some(ResumeMode::Errors),
            (None, None) => None,
        }
    }

    /// The run that is named, if one is: a job file that stands behind the flag is none.
    pub(in crate::cli) fn id(&self) -> Option<&str> {
        self.value().filter(|value| *value != NEWEST && !is_job_file(value))
    }

    /// The job files, with the one that stands behind the flag; `None` where none is named at all.
    pub(in crate::cli) fn files(&self, typed: &[PathBuf]) -> Option<Vec<PathBuf>> {
        let own = self.value().filter(|value| is_job_file(value)).map(PathBuf::from);
        let typed = if typed == [Path::new(DEFAULT_JOB)] { &[] } else { typed };
        let files: Vec<PathBuf> = own.into_iter().chain(typed.iter().cloned()).collect();
        (!files.is_empty()).then_some(files)
    }

    fn value(&self) -> Option<&str> {
        self.resume.as_deref().or(self.retry_errors.as_deref())
    }
}

/// Whether this is the name of a job file, a folder of them or a pattern, and not that of a run.
fn is_job_file(value: &str) -> bool {
    let has_ending = [".yml", ".yaml", ".json"].iter().any(|ending| value.ends_with(ending));
    let path = Path::new(value);
    has_ending || value.contains(['*', '?']) || (path.exists() && !crate::store::folder::RunsFolder::is_run(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_file_behind_the_flag_is_no_id() {
        let files = |resume: &str, typed: &[&str]| {
            let args = ResumeArgs { resume: Some(resume.to_owned()), retry_errors: None };
            let typed: Vec<PathBuf> = typed.iter().map(PathBuf::from).collect();
            (args.id().map(str::to_owned), args.files(&typed))
        };
        let named = |names: &[&str]| Some(names.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(files("k3f9qz", &[DEFAULT_JOB]), (Some("k3f9qz".to_owned()), None));
        assert_eq!(files(NEWEST, &["a.yml"]), (None, named(&["a.yml"])));
        assert_eq!(files("a.yml", &[DEFAULT_JOB]), (None, named(&["a.yml"])));
        assert_eq!(files("eval/**/*.yml", &["b.yml"]), (None, named(&["eval/**/*.yml", "b.yml"])));
        assert_eq!(files("src", &[DEFAULT_JOB]), (None, named(&["src"])), "a folder");
    }
}
