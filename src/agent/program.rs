//! A program that a job names: whether it can be started, and the command that starts it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;

use tokio::process::Command;

use super::SettingError;
use crate::secret::Variables;

/// The variables of eval-job's own environment that every program gets: paths, the user, the language, the time zone, the
/// terminal, and trusted certificates.
const PASSED_ON: [&str; 18] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LANGUAGE",
    "TMPDIR",
    "TZ",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NO_PROXY",
    // Without these hardly any program starts on Windows.
    "SystemRoot",
    "SystemDrive",
    "ComSpec",
    "PATHEXT",
    "windir",
];

/// More variables that Windows' programs need: where their files are.
const PASSED_ON_WINDOWS: [&str; 9] = [
    "TEMP",
    "TMP",
    "USERPROFILE",
    "USERNAME",
    "APPDATA",
    "LOCALAPPDATA",
    "ProgramData",
    "ProgramFiles",
    "ProgramFiles(x86)",
];

/// Proxies; passed on where they hold no password.
const PROXIES: [&str; 3] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

fn is_passed_on(name: &str) -> bool {
    let is_among = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    is_among(&PASSED_ON) || name.starts_with("LC_") || cfg!(windows) && is_among(&PASSED_ON_WINDOWS)
}

/// Why a program can't be started now, with a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The part that is missing, in a sentence that names its key.
    pub what: String,
    /// The hint.
    pub help: String,
}

/// A folder in which nothing can be started, with a hint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}; {help}")]
pub(super) struct NoFolder {
    what: String,
    help: String,
}

/// A program as a job names it.
#[derive(Clone, Copy)]
pub(super) struct Program<'a> {
    /// Its key: `target.start`.
    pub(super) key: &'a str,
    pub(super) command: &'a str,
    pub(super) args: &'a [String],
    pub(super) env: &'a BTreeMap<String, String>,
    /// Variables of eval-job's own environment that are passed on, beside [`PASSED_ON`].
    pub(super) inherit_env: &'a [String],
    pub(super) cwd: Option<&'a str>,
}

impl<'a> Program<'a> {
    /// The problems of its settings, each with its key.
    pub(super) fn problems(&self) -> Vec<SettingError> {
        let (key, mut problems) = (self.key, Vec::new());
        let mut add = |below: &str, problem: String| problems.push(SettingError::new(format!("{key}{below}"), problem));
        if self.command.contains('\0') || self.args.iter().any(|arg| arg.contains('\0')) {
            add("", "a command can't hold a NUL character".to_owned());
        }
        for (name, value) in self.env {
            // The part behind the `=` was intended as a value, and may be secret.
            let own = name.split('=').next().unwrap_or_default();
            if own.is_empty() {
                add(".env", "a variable needs a name".to_owned());
            } else if name.contains('=') {
                add(".env", format!("a name can't hold a `=`; write `{own}: VALUE`, not `{own}=VALUE`"));
            } else if name.contains('\0') || value.contains('\0') {
                add(".env", format!("`{}` holds a NUL character", own.replace('\0', "")));
            }
        }
        for name in self.inherit_env {
            let own = name.split('=').next().unwrap_or_default();
            if own.trim() != own || own.contains('\0') {
                add(".inheritEnv", format!("`{}` is no variable's name", name.replace('\0', "")));
            } else if own.is_empty() || name.contains('=') {
                let set = if own.is_empty() { "NAME: VALUE".to_owned() } else { format!("{own}: VALUE") };
                let problem = format!(
                    "it holds names of eval-job's own variables, without a `=`; to set one write {key}.env: {{{set}}}"
                );
                add(".inheritEnv", problem);
            }
        }
        problems
    }

    /// The variables to pass on that are not set.
    pub(super) fn unset(&self, variables: &Variables) -> Vec<&'a str> {
        let is_set = |name: &str| variables.text(name).is_some() || self.env.contains_key(name);
        self.inherit_env.iter().map(String::as_str).filter(|name| !is_set(name)).collect()
    }

    /// Why it can't be started now: its folder or the program itself does not exist, or it is not executable. `path` is the
    /// PATH; without one, a program without a slash in its name is not checked.
    pub(super) fn missing(&self, folder: &Path, path: Option<&str>) -> Option<Missing> {
        let (key, name) = (self.key, self.command);
        let missing = |what: String, help: String| Some(Missing { what: format!("{key}: {what}"), help });
        if let Err(NoFolder { what, help }) = self.command(folder, &Variables::default()) {
            return missing(what, help);
        }
        let missing = |what: String, help: String| missing(format!("the agent can't be started: {what}"), help);
        let no_program = || {
            missing(
                format!("there is no program `{name}`"),
                format!(
                    "{key}.command is looked for on the PATH, or relative to the job file's folder if it has a slash"
                ),
            )
        };
        if name.contains('/') {
            let file = folder.join(name);
            return match file.metadata() {
                Err(_) => no_program(),
                Ok(found) if !found.is_file() || !is_executable(&found) => {
                    missing(format!("`{name}` may not be executed"), "chmod +x makes it a program".to_owned())
                }
                Ok(_) => None,
            };
        }
        let mut folders = std::env::split_paths(self.env.get("PATH").map(String::as_str).or(path)?);
        let is_there = folders.any(|folder| {
            let names = [folder.join(name), folder.join(format!("{name}.exe")), folder.join(format!("{name}.cmd"))];
            names.iter().any(|file| file.metadata().is_ok_and(|found| found.is_file() && is_executable(&found)))
        });
        if is_there { None } else { no_program() }
    }

    /// The command, with its output piped. Paths are relative to the job file's folder; a program without a slash is
    /// looked for on the PATH. Of eval-job's own environment, `variables`, it gets those that every program needs and those that
    /// the job names.
    ///
    /// # Errors
    /// The folder does not exist.
    pub(super) fn command(&self, folder: &Path, variables: &Variables) -> Result<Command, NoFolder> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let folder = std::path::absolute(folder).map_err(|error| NoFolder {
            what: format!("the job file's folder can't be determined: {error}"),
            help: "run eval-job in a folder that exists".to_owned(),
        })?;
        let cwd = self.cwd.map_or(folder.clone(), |cwd| folder.join(cwd));
        if !cwd.is_dir() {
            return Err(NoFolder {
                what: format!("the agent can't be started in {}: there is no such folder", cwd.display()),
                help: format!("{}.cwd names one relative to the job file's", self.key),
            });
        }
        let program = if self.command.contains('/') { folder.join(self.command) } else { self.command.into() };
        let mut command = Command::new(program);
        command.args(self.args).current_dir(cwd).env_clear();
        command.envs(variables.matching(is_passed_on)).envs(variables.without_login(PROXIES));
        let is_inherited = |name: &str| self.inherit_env.iter().any(|inherited| inherited == name);
        command.envs(variables.matching(is_inherited)).envs(self.env);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(command)
    }
}

#[cfg(unix)]
fn is_executable(file: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    true
}
