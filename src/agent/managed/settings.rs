//! The settings of a started agent: its command, folder and environment, and the secrets among them.

use std::path::PathBuf;

use regex::bytes::Regex;
use tokio::process::Command;

use super::StartConfig;
use crate::agent::program::NoFolder;
use crate::secret::{Redactor, Secret, Variables};

/// All that is needed to start an agent.
#[derive(Debug, Clone)]
pub struct StartSettings {
    /// The job's settings.
    pub config: StartConfig,
    /// The job file's folder.
    pub folder: PathBuf,
    /// The port on which it must listen; `None` for a free one.
    pub port: Option<u16>,
    /// The access to its graph.
    pub graph: Option<GraphAccess>,
    /// eval-job's own environment, of which it gets a part.
    pub variables: Variables,
    /// Clears its output of secrets.
    pub redactor: Redactor,
}

/// The access to a graph, for an agent in a process of its own.
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
    /// The command, with its folder and its environment.
    pub(super) fn command(&self, port: u16) -> Result<Command, NoFolder> {
        let mut command = self.config.program().command(&self.folder, &self.variables)?;
        command.env("PORT", port.to_string());
        if let Some(graph) = &self.graph {
            command.env("NEO_URI", &graph.uri).env("NEO_USERNAME", &graph.username);
            command.env("NEO_PASSWORD", graph.password.expose());
            match &graph.database {
                Some(database) => command.env("NEO_DATABASE", database),
                // One that happens to be set here is not the one that the assertions query.
                None => command.env_remove("NEO_DATABASE"),
            };
        }
        Ok(command)
    }

    /// The pattern of the output that says that it is ready.
    pub(super) fn pattern(&self) -> Result<Option<Regex>, regex::Error> {
        self.config.ready.log.as_deref().map(Regex::new).transpose()
    }

    /// Adds the secrets of the agent's environment to the redactor: the graph's password, and values with a secret's name.
    pub(super) fn learn_secrets(&self) {
        for (name, value) in &self.config.env {
            self.redactor.learn_named(name, value);
        }
        if let Some(graph) = &self.graph {
            self.redactor.learn_login(&graph.username, &graph.password);
        }
    }
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
            inherit_env: vec!["MODEL_KEY".to_owned()],
            cwd: cwd.map(str::to_owned),
            ready: ReadyConfig::default(),
            stop: StopConfig::default(),
        };
        let graph = GraphAccess {
            uri: "bolt://h:1".to_owned(),
            username: "neo4j".to_owned(),
            password: Secret::new("longer-hush-1"),
            database: None,
        };
        let of_ours =
            [("PATH", "/bin"), ("LC_ALL", "C"), ("MODEL_KEY", "m"), ("JUDGE_KEY", "j"), ("NEO_DATABASE", "x")];
        let more = [("https_proxy", "http://me:pw@h"), ("HTTP_PROXY", "http://h"), ("http", "x")];
        StartSettings {
            config,
            folder: folder.to_path_buf(),
            port: None,
            graph: Some(graph),
            variables: of_ours.into_iter().chain(more).collect(),
            redactor: Redactor::default(),
        }
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
            assert_eq!(variable("NEO_DATABASE"), None, "another one's database");
        }
    }

    #[test]
    fn of_our_own_environment_it_gets_what_every_program_needs_and_what_the_job_names() {
        let made = settings("sh", None, Path::new("")).command(1).unwrap();
        let names: Vec<&str> = made.as_std().get_envs().map(|(name, _)| name.to_str().unwrap()).collect();
        let expected =
            ["DB_PASS", "HTTP_PROXY", "LC_ALL", "MODEL_KEY", "NEO_PASSWORD", "NEO_URI", "NEO_USERNAME", "PATH", "PORT"];
        assert_eq!(names, expected);
    }

    #[test]
    fn what_is_secret_in_an_environment_is_known_by_its_name_or_as_a_login() {
        let mut settings = settings("agent", None, Path::new("."));
        let env = [
            ("MY_TOKEN", "tok-123456"),
            ("MAX_TOKENS", "4096"),
            ("AUTH_ENABLED", "True"),
            ("DATABASE_URL", "postgres://bob:s3cret@h:5432/db?x=a@b"),
            ("PLAIN_URL", "http://h:8080/a:b@c"),
            ("PIN_PASS", "190283"),
        ];
        settings.config.env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        settings.learn_secrets();
        let text = "longer-hush-1, tok-123456, 4096, True, bob, s3cret, h:8080, 190283";
        assert_eq!(settings.redactor.redact(text), "***, ***, 4096, True, bob, ***, h:8080, ***");
    }
}
