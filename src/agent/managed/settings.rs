//! With what an agent is started: its command, its place, its environment, and what of that is secret.

use std::path::PathBuf;
use std::process::Stdio;

use regex::bytes::Regex;
use tokio::process::Command;

use super::StartConfig;
use crate::secret::Secret;

/// How an agent is started, with everything filled in.
#[derive(Debug, Clone)]
pub struct StartSettings {
    /// What the job says.
    pub config: StartConfig,
    /// The job file's folder.
    pub folder: PathBuf,
    /// The port at which it must listen; `None` for a free one.
    pub port: Option<u16>,
    /// The graph that it is told of.
    pub graph: Option<GraphAccess>,
    /// What must not be seen in its output, beside the graph's password.
    pub secrets: Vec<Secret>,
}

/// How an agent gets to its graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphAccess {
    /// `NEO_URI`.
    pub uri: String,
    /// `NEO_USERNAME`.
    pub username: String,
    /// `NEO_PASSWORD`.
    pub password: Secret,
    /// `NEO_DATABASE`; `None` for the user's home database.
    pub database: Option<String>,
}

impl StartSettings {
    /// The command, with its place and its environment.
    pub(super) fn command(&self, port: u16) -> Result<Command, String> {
        let mut command = self.config.program().command(&self.folder)?;
        command.env("PORT", port.to_string()).stdin(Stdio::null());
        if let Some(graph) = &self.graph {
            command.env("NEO_URI", &graph.uri).env("NEO_USERNAME", &graph.username);
            command.env("NEO_PASSWORD", graph.password.expose());
            match &graph.database {
                Some(database) => command.env("NEO_DATABASE", database),
                // One that happens to be set here is not the one that the assertions look at.
                None => command.env_remove("NEO_DATABASE"),
            };
        }
        Ok(command)
    }

    /// The pattern that its output is searched for.
    pub(super) fn pattern(&self) -> Result<Option<Regex>, String> {
        self.config.ready.log.as_deref().map(Regex::new).transpose().map_err(|error| error.to_string())
    }

    /// The graph's password, ours, and what the job's environment seems to keep secret.
    pub(super) fn all_secrets(&self) -> Vec<Secret> {
        const TELLING: [&str; 7] = ["KEY", "TOKEN", "SECRET", "PASS", "PWD", "CREDENTIAL", "AUTH"];
        let looks_secret = |name: &str| TELLING.iter().any(|word| name.to_uppercase().contains(word));
        let environment = self.config.env.iter().filter(|(name, value)| looks_secret(name) && !is_setting(value));
        let mut secrets: Vec<Secret> = environment.map(|(_, value)| Secret::new(value)).collect();
        secrets.extend(self.config.env.values().filter_map(|value| login(value)).map(Secret::new));
        secrets.extend(self.graph.iter().map(|graph| graph.password.clone()));
        secrets.extend(self.secrets.iter().cloned());
        secrets.retain(|secret| !secret.expose().is_empty());
        // One may be a part of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose().len()));
        secrets
    }
}

/// Whether a value switches or counts something, like AUTH_ENABLED or MAX_TOKENS: blotted out, it would take innocent
/// words with it.
fn is_setting(value: &str) -> bool {
    const SWITCHES: [&str; 8] = ["true", "false", "yes", "no", "on", "off", "enabled", "disabled"];
    SWITCHES.contains(&value.to_lowercase().as_str()) || value.len() < 6 && value.chars().all(|c| c.is_ascii_digit())
}

/// The password in an address: `secret` in `postgres://bob:secret@host/db`.
fn login(value: &str) -> Option<&str> {
    let rest = value.split_once("://")?.1;
    let login = rest.split(['/', '?', '#']).next()?.rsplit_once('@')?.0;
    login.split_once(':').map(|(_, password)| password)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use std::collections::BTreeMap;

    use super::*;
    use crate::agent::managed::{ReadyConfig, StopConfig};

    fn settings(command: &str, cwd: Option<&str>, folder: &Path) -> StartSettings {
        let config = StartConfig {
            command: command.to_owned(),
            args: vec!["x".to_owned()],
            env: BTreeMap::from([("PORT".to_owned(), "1".to_owned()), ("DB_PASS".to_owned(), "hush".to_owned())]),
            cwd: cwd.map(str::to_owned),
            ready: ReadyConfig::default(),
            stop: StopConfig::default(),
        };
        let graph = GraphAccess {
            uri: "bolt://h:1".to_owned(),
            username: "neo4j".to_owned(),
            password: Secret::new("longer hush"),
            database: None,
        };
        let secrets = vec![Secret::new("")];
        StartSettings { config, folder: folder.to_path_buf(), port: None, graph: Some(graph), secrets }
    }

    #[test]
    fn what_is_relative_is_relative_to_the_jobs_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("agents")).unwrap();
        for (command, cwd, program, place) in [
            ("python3", None, PathBuf::from("python3"), folder.path().to_path_buf()),
            ("bin/agent", Some("agents"), folder.path().join("bin/agent"), folder.path().join("agents")),
            ("/bin/sh", None, PathBuf::from("/bin/sh"), folder.path().to_path_buf()),
        ] {
            let made = settings(command, cwd, folder.path()).command(8081).unwrap();
            let made = made.as_std();
            assert_eq!(
                (Path::new(made.get_program()), made.get_current_dir().unwrap()),
                (program.as_path(), place.as_path())
            );
            let variable = |name: &str| made.get_envs().find(|(key, _)| *key == name).map(|(_, value)| value);
            assert_eq!(variable("PORT"), Some(Some("8081".as_ref())), "ours win");
            assert_eq!(variable("NEO_DATABASE"), Some(None), "another one's database");
        }
    }

    #[test]
    fn what_seems_to_be_secret_is_the_longest_first() {
        let secrets = settings("a", None, Path::new("")).all_secrets();
        let words: Vec<&str> = secrets.iter().map(Secret::expose).collect();
        assert_eq!(words, ["longer hush", "hush"]);
    }

    #[test]
    fn what_is_secret_in_an_environment_is_known_by_its_name_or_as_a_login() {
        let mut settings = settings("agent", None, Path::new("."));
        let env = [
            ("MY_TOKEN", "tok"),
            ("MAX_TOKENS", "4096"),
            ("AUTH_ENABLED", "True"),
            ("DATABASE_URL", "postgres://bob:s3cret@h:5432/db?x=a@b"),
            ("PLAIN_URL", "http://h:8080/a:b@c"),
            ("PIN_PASS", "190283"),
        ];
        settings.config.env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let secrets = settings.all_secrets();
        let secrets: Vec<&str> = secrets.iter().map(Secret::expose).collect();
        assert_eq!(secrets, ["longer hush", "190283", "s3cret", "tok"]);
    }
}
