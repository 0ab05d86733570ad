//! `target` and `graph`: one key a transport, one key a backend.

use std::num::NonZeroU16;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::rules;
use crate::agent::managed::StartConfig;
use crate::agent::{TransportConfig, transports};
use crate::graph::embedded::EmbeddedConfig;
use crate::graph::neo4j::Neo4jConfig;
use crate::graph::{GraphConfig, WatchConfig};

/// The agent under test and how it is reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "TargetFile", into = "TargetFile")]
pub struct Target {
    /// The user that a session is opened for.
    pub user: String,
    /// The chatbot that a session is opened with.
    pub chatbot: String,
    /// How the agent is reached.
    pub transport: TransportConfig,
    /// How it is started; `None` for an agent that is running already.
    pub start: Option<StartConfig>,
    /// How many conversations may be held with it at once.
    pub max_concurrency: Option<NonZeroU16>,
}

macro_rules! target_file {
    (
        optional settings { $($(#[$doc:meta])* $key:ident: $variant:ident($config:ty),)* }
        required settings { $($(#[$own_doc:meta])* $own_key:ident: $own_variant:ident($own:ty) $schema:literal,)* }
    ) => {
        /// The agent under test and how it is reached: at most one transport key, none means `embabel`.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        #[schemars(title = "target", rename = "Target", transform = one_transport)]
        struct TargetFile {
            /// The user that a session is opened for.
            #[schemars(regex(pattern = r"\S"))]
            user: String,
            /// The chatbot that a session is opened with.
            #[schemars(regex(pattern = r"\S"))]
            chatbot: String,
            $(
                $(#[$doc])*
                #[serde(
                    default,
                    deserialize_with = "rules::present_or_empty",
                    skip_serializing_if = "Option::is_none"
                )]
                $key: Option<$config>,
            )*
            $(
                $(#[$own_doc])*
                #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
                #[schemars(with = $schema)]
                $own_key: Option<$own>,
            )*
            /// How many conversations may be held with it at once, whatever `-j` says.
            #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
            #[schemars(with = "NonZeroU16")]
            max_concurrency: Option<NonZeroU16>,
            /// How eval-job starts the agent and ends it. Without it, the agent must be running.
            #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
            #[schemars(with = "StartConfig")]
            start: Option<StartConfig>,
        }

        const TRANSPORTS: &[&str] = &[$(stringify!($key),)* $(stringify!($own_key),)*];

        impl From<TargetFile> for Target {
            fn from(file: TargetFile) -> Target {
                let TargetFile { user, chatbot, start, max_concurrency, $($key,)* $($own_key,)* } = file;
                let transport: Option<TransportConfig> = None;
                $(let transport = transport.or($key.map(TransportConfig::from));)*
                $(let transport = transport.or($own_key.map(TransportConfig::from));)*
                Target { user, chatbot, transport: transport.unwrap_or_default(), start, max_concurrency }
            }
        }

        impl From<Target> for TargetFile {
            fn from(target: Target) -> TargetFile {
                let Target { user, chatbot, transport, start, max_concurrency } = target;
                let mut file = TargetFile { user, chatbot, start, max_concurrency, ..TargetFile::default() };
                match transport {
                    $(TransportConfig::$variant(config) => file.$key = Some(*config),)*
                    $(TransportConfig::$own_variant(config) => file.$own_key = Some(*config),)*
                }
                file
            }
        }
    };
}
transports!(target_file);

fn one_transport(schema: &mut Schema) {
    // The demo agent is started anyway, and so is a command.
    let pairs = rules::pairs(TRANSPORTS);
    rules::apart(schema, &[pairs, vec![["demo", "start"], ["command", "start"]]].concat());
}

/// The graph that the agent writes to: at most one backend key.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "graph", transform = one_backend)]
pub struct JobGraph {
    /// In process: the default for the demo agent and for every agent that eval-job starts.
    #[serde(default, deserialize_with = "rules::present_or_empty", skip_serializing_if = "Option::is_none")]
    embedded: Option<EmbeddedConfig>,
    /// A Neo4j database: the default for every other job with Cypher.
    #[serde(default, deserialize_with = "rules::present_or_empty", skip_serializing_if = "Option::is_none")]
    neo4j: Option<Neo4jConfig>,
    /// The part of it that is captured before the conversation, after each turn and at the end, to find the changes.
    #[serde(default)]
    pub watch: WatchConfig,
}

fn one_backend(schema: &mut Schema) {
    rules::at_most_one(schema, &["embedded", "neo4j"]);
}

impl JobGraph {
    /// The backend that it names; `None` leaves the choice to the plan.
    pub fn backend(&self) -> Option<GraphConfig> {
        let embedded = self.embedded.clone().map(GraphConfig::Embedded);
        embedded.or(self.neo4j.clone().map(GraphConfig::Neo4j))
    }

    /// Names the backend.
    pub fn set_backend(&mut self, backend: GraphConfig) {
        (self.embedded, self.neo4j) = match backend {
            GraphConfig::Embedded(config) => (Some(config), None),
            GraphConfig::Neo4j(config) => (None, Some(config)),
        };
    }
}
