//! Checks, before the first trial, that all that a run needs is there. No session is opened, no message sent, no token paid.

use std::fmt;
use std::time::Duration;

use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use super::Engine;
use super::agent_model::{AGENT_ROLE, agent_models};
use super::clients::Credentials;
use super::models::{EMBEDDINGS, ModelAddress};
use crate::agent::{Hosting, Missing};
use crate::graph::neo4j::Neo4jGraph;
use crate::graph::{Graph, GraphConfig, GraphErrorKind, Parameters, statements};
use crate::http::{HttpFault, Url};
use crate::job::Job;
use crate::llm::KeyAnswer;
use crate::secret::Variables;

/// The time limit of each check.
pub(super) const LIMIT: Duration = Duration::from_secs(10);

/// The time limit of the look whether a model's name is known, which is no more than a help.
const NAME_LIMIT: Duration = Duration::from_secs(3);

/// The variables that send requests through a proxy.
const PROXIES: [&str; 6] = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// Something that a run needs is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreflightFailure {
    /// The problem, in a sentence.
    pub what: String,
    /// A hint at what to change.
    pub help: String,
}

impl fmt::Display for PreflightFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if self.help.is_empty() { Ok(()) } else { write!(f, "; {}", self.help) }
    }
}

/// The result of the checks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preflight {
    /// The parts that are ready, a short phrase each.
    pub ready: Vec<String>,
    /// The parts that are not.
    pub failures: Vec<PreflightFailure>,
}

/// Whether the keys of our models are checked at their endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyCheck {
    /// They are, by requests that cost no token.
    Ask,
    /// They are not: the first request of a conversation checks them. But a model whose name its endpoint does not know is refused.
    Names,
    /// They are not: the first request checks key and name.
    Skip,
}

/// Checks all that a run needs. `None` where it was interrupted.
pub async fn preflight(engine: &Engine, keys: KeyCheck, interrupt: &CancellationToken) -> Option<Preflight> {
    if engine.cassette.is_replayed() {
        return Some(Preflight::default());
    }
    tokio::select! {
        biased;
        () = interrupt.cancelled() => None,
        found = look(engine, keys) => Some(found),
        seconds = out_of_time(engine) => {
            let what = format!("limits.time ({seconds} s) ran out before all that a run needs had answered");
            Some(Preflight::failed(what, "try a longer limits.time, or without one to see what does not answer".to_owned()))
        }
    }
}

/// Looks whether the judge is there and takes the key, before many requests. `None` where it was interrupted.
pub async fn preflight_of_judge(engine: &Engine, interrupt: &CancellationToken) -> Option<Preflight> {
    if engine.cassette.is_replayed() {
        return Some(Preflight::default());
    }
    tokio::select! {
        biased;
        () = interrupt.cancelled() => None,
        found = models(engine, KeyCheck::Skip) => Some(found),
    }
}

/// The seconds of `limits.time`, when they have run out.
async fn out_of_time(engine: &Engine) -> f64 {
    let Some(seconds) = engine.plan.job.limits.run_seconds else { return std::future::pending().await };
    let left = seconds - engine.since.elapsed_ms() / 1000.0;
    tokio::time::sleep(Duration::from_secs_f64(left.max(0.0))).await;
    seconds
}

async fn look(engine: &Engine, keys: KeyCheck) -> Preflight {
    let (agent, graph, models) = tokio::join!(agent(engine), graph(engine), models(engine, keys));
    let mut found = Preflight::default();
    for part in [agent, graph, models] {
        found.ready.extend(part.ready);
        found.failures.extend(part.failures);
    }
    found
}

impl Preflight {
    fn ready(part: &str) -> Preflight {
        Preflight { ready: vec![part.to_owned()], failures: Vec::new() }
    }

    fn failed(what: String, help: String) -> Preflight {
        Preflight { ready: Vec::new(), failures: vec![PreflightFailure { what, help }] }
    }
}

/// The reason why the program that is to be started can't be, by this machine's files.
pub fn missing_program(job: &Job, variables: &Variables) -> Option<PreflightFailure> {
    let path = variables.text("PATH");
    let missing = match &job.target.start {
        Some(start) => start.missing(&job.folder, path),
        None => job.target.transport.missing(&job.folder, path),
    };
    missing.map(|Missing { what, help }| PreflightFailure { what, help })
}

/// Checks that the agent is there, or the program that is to be started.
async fn agent(engine: &Engine) -> Preflight {
    let job = &engine.plan.job;
    let transport = &job.target.transport;
    if job.target.start.is_some() || transport.hosting() == Hosting::OwnProcess {
        return match missing_program(job, &engine.clients.credentials.variables) {
            Some(trouble) => Preflight { ready: Vec::new(), failures: vec![trouble] },
            None => Preflight::ready("agent can be started"),
        };
    }
    let Some(url) = transport.address().and_then(address) else { return Preflight::default() };
    match reach(engine, &url).await {
        Ok(()) => user_tools(engine, &url).await,
        Err(problem) => {
            let (transport, key) = (transport.key(), transport.address_key());
            let says = if key.contains(" and ") { "say" } else { "says" };
            let help = format!("is the agent running? target.{transport}.{key} {says} where it is looked for");
            Preflight::failed(format!("the agent is not reachable: {problem}"), help)
        }
    }
}

/// Checks that the tools of the user are there, where they are not at the agent's own address, which listens.
async fn user_tools(engine: &Engine, agent: &Url) -> Preflight {
    let job = &engine.plan.job;
    let ready = Preflight::ready("agent listens");
    let own = job.target.transport.user_tools_address().filter(|_| !job.persona.tools.is_empty());
    let Some(url) = own.and_then(address).filter(|url| url != agent) else { return ready };
    match reach(engine, &url).await {
        Ok(()) => ready,
        Err(problem) => {
            let key = job.target.transport.key();
            let help =
                format!("is what carries them out running? target.{key}.userTools.url says where it is looked for");
            let failed = Preflight::failed(format!("the user's tools are not reachable: {problem}"), help);
            Preflight { ready: ready.ready, ..failed }
        }
    }
}

/// The origin of an address; `None` where a template decides it.
fn address(text: &str) -> Option<Url> {
    let text = text.trim();
    let start = text.find("://")? + 3;
    let end = text[start..].find('/').map_or(text.len(), |end| start + end);
    let origin = &text[..end];
    if origin.contains("{{") || origin.contains("{%") { None } else { Url::parse(origin).ok() }
}

/// Checks that the endpoints of our models are there.
async fn models(engine: &Engine, keys: KeyCheck) -> Preflight {
    let mut looked: Vec<Vec<&ModelAddress>> = Vec::new();
    let of_agent = if keys == KeyCheck::Ask { agent_models(engine) } else { Vec::new() };
    for model in engine.clients.models.addresses.iter().chain(&of_agent) {
        match looked.iter_mut().find(|models| models[0].url == model.url) {
            Some(models) => models.push(model),
            None => looked.push(vec![model]),
        }
    }
    let found = join_all(looked.iter().map(|models| async move {
        let Some(url) = address(&models[0].url) else { return (Vec::new(), Vec::new()) };
        match reach(engine, &url).await {
            Ok(()) if keys != KeyCheck::Skip => check_keys(models, keys).await,
            Ok(()) => (models.iter().map(|model| (model.role.as_str(), KeyAnswer::Taken)).collect(), Vec::new()),
            Err(problem) => {
                let from = &models[0].from;
                let roles: Vec<&str> = models.iter().map(|model| model.role.as_str()).collect();
                let help = format!("is the endpoint up, and is its address right? {from} says where it is");
                let what = format!("the model of {} is not reachable: {problem}", of_roles(&roles));
                (Vec::new(), vec![PreflightFailure { what, help }])
            }
        }
    }));
    // The roles by what is known of their endpoints.
    let (mut known, mut failures): (Vec<(String, Vec<&str>)>, _) = (Vec::new(), Vec::new());
    for (roles, refused) in found.await {
        for (role, key) in roles {
            let more = match key {
                KeyAnswer::Unknown => ", not known whether the key is taken".to_owned(),
                KeyAnswer::Doubtful(reply) => format!(", warning: {reply}"),
                _ => String::new(),
            };
            match known.iter_mut().find(|(other, _)| *other == more) {
                Some((_, roles)) => roles.push(role),
                None => known.push((more, vec![role])),
            }
        }
        failures.extend(refused);
    }
    let ready = known.into_iter().map(|(more, roles)| format!("{} reachable{more}", roles.join(" and "))).collect();
    Preflight { ready, failures }
}

/// Checks the keys or the names of these models, as far as that costs no token. Returns the roles with keys that are not refused, and the
/// failures of the others.
async fn check_keys<'m>(
    models: &[&'m ModelAddress],
    keys: KeyCheck,
) -> (Vec<(&'m str, KeyAnswer)>, Vec<PreflightFailure>) {
    let asked = models.iter().map(|model| async move {
        let name =
            async || tokio::time::timeout(NAME_LIMIT, model.client.check_name()).await.unwrap_or(KeyAnswer::Taken);
        let key = match keys {
            KeyCheck::Names => name().await,
            _ => match tokio::time::timeout(LIMIT, model.client.check_key()).await.unwrap_or(KeyAnswer::Unknown) {
                // What a run would refuse for its name is refused here too; an agent is asked nothing before it.
                key if matches!(key, KeyAnswer::Refused(_)) || model.role == AGENT_ROLE => key,
                key => match name().await {
                    KeyAnswer::Refused(error) => KeyAnswer::Refused(error),
                    _ => key,
                },
            },
        };
        (model.role.as_str(), key)
    });
    let (mut there, mut refusals): (Vec<_>, Vec<(String, Vec<&str>)>) = Default::default();
    for (role, key) in join_all(asked).await {
        match key {
            KeyAnswer::Refused(error) => match refusals.iter_mut().find(|(known, _)| *known == error.message) {
                Some((_, roles)) => roles.push(role),
                None => refusals.push((error.message, vec![role])),
            },
            other => there.push((role, other)),
        }
    }
    let failure = |(message, roles): (String, Vec<&str>)| {
        // The message ends with a hint.
        PreflightFailure { what: format!("the model of {}: {message}", of_roles(&roles)), help: String::new() }
    };
    (there, refusals.into_iter().map(failure).collect())
}

/// `the persona and the judge`.
fn of_roles(roles: &[&str]) -> String {
    let named = |role: &&str| if *role == EMBEDDINGS { EMBEDDINGS.to_owned() } else { format!("the {role}") };
    roles.iter().map(named).collect::<Vec<_>>().join(" and ")
}

async fn reach(engine: &Engine, url: &Url) -> Result<(), HttpFault> {
    let variables = &engine.clients.credentials.variables;
    let behind_proxy = PROXIES.iter().any(|name| variables.text(name).is_some());
    engine.clients.http.reach(url, behind_proxy, LIMIT).await
}

/// The hint where nobody says where the database is, and none is at the default address.
const DEFAULT_ADDRESS: &str = "this address is the default, as nothing names another: say graph.neo4j.uri in the job or \
    NEO_URI in the environment; or let eval-job start the agent with a graph of its own (target.start), or serve one \
    (eval-job graph serve)";

fn is_default(graph: &GraphConfig, credentials: &Credentials) -> bool {
    matches!(graph, GraphConfig::Neo4j(config) if config.uri.is_none()) && credentials.neo4j_uri.is_none()
}

/// Whether the database answers, takes the password, and understands the job's statements. What an embedded graph does not
/// understand is refused before.
async fn graph(engine: &Engine) -> Preflight {
    let mut found = Preflight::default();
    if let Some(neo4j) = &engine.clients.neo4j {
        if let Err(error) = neo4j.read("RETURN 1", &Parameters::new()).await {
            let is_default =
                engine.plan.graph.as_ref().is_some_and(|graph| is_default(graph, &engine.clients.credentials));
            let help = match error.kind {
                GraphErrorKind::Unreachable if is_default => DEFAULT_ADDRESS,
                // The message ends with a hint.
                _ => "",
            };
            return Preflight::failed(format!("the graph: {}", error.message), help.to_owned());
        }
        found.ready.push("graph answers".to_owned());
        found.failures = uncompilable(engine, neo4j).await;
    }
    let assertions = engine.plan.job.assertions().count();
    if found.failures.is_empty() && assertions > 0 {
        let noun = if assertions == 1 { "assertion compiles" } else { "assertions compile" };
        found.ready.push(format!("{assertions} {noun}"));
    }
    found
}

/// The statements of setups and assertions that the database does not understand, by `EXPLAIN`.
async fn uncompilable(engine: &Engine, neo4j: &Neo4jGraph) -> Vec<PreflightFailure> {
    let job = &engine.plan.job;
    let Some(trial) = engine.plan.trials().next() else { return Vec::new() };
    let parameters = &engine.parameters(&trial, None);
    let explained = job.statements().map(|(place, cypher)| async move {
        for statement in statements(cypher) {
            let first = statement.split_whitespace().next().unwrap_or_default().to_uppercase();
            if ["EXPLAIN", "PROFILE"].contains(&first.as_str()) {
                continue;
            }
            if let Err(error) = neo4j.read(&format!("EXPLAIN {statement}"), parameters).await
                && matches!(error.kind, GraphErrorKind::Statement | GraphErrorKind::WriteRefused)
            {
                let what = format!("{place} can't run: {}", error.message);
                return Some(PreflightFailure { what, help: "correct it in the job file".to_owned() });
            }
        }
        None
    });
    join_all(explained).await.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::neo4j::Neo4jConfig;

    #[test]
    fn the_default_address_of_the_database_is_told_from_one_that_somebody_names() {
        let named = |uri: Option<&str>, variable: Option<&str>| {
            let config = Neo4jConfig { uri: uri.map(str::to_owned), ..Neo4jConfig::default() };
            let credentials = Credentials { neo4j_uri: variable.map(str::to_owned), ..Credentials::default() };
            is_default(&GraphConfig::Neo4j(config), &credentials)
        };
        assert!(named(None, None));
        assert!(!named(Some("bolt://h"), None) && !named(None, Some("bolt://h")));
    }

    #[test]
    fn an_address_is_looked_for_only_where_it_is_known() {
        for (text, expected) in [
            ("http://localhost:8080/chat/{{ sessionId }}", Some("http://localhost:8080/")),
            ("wss://h/chat", Some("wss://h/")),
            ("{{ baseUrl }}/chat", None),
            ("http://{{ user }}.example/chat", None),
            ("nonsense", None),
        ] {
            assert_eq!(address(text).map(|url| url.to_string()).as_deref(), expected, "{text}");
        }
    }
}
