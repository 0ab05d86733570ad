//! What is written → what it means. Whatever can be wrong has been refused before.

use std::path::{Path, PathBuf};

use super::written::{
    AssertionFile, EvaluatorFile, GateFile, GraphFile, JobFile, ModelFile, ModelMapping, ScorerFile, SeedFile,
    TargetFile, TaskFile,
};
use super::{
    Assertion, Gate, Job, Judge, Limits, Mind, Model, ModelName, Persona, RunLimits, Seed, Setup, Target, Task,
};
use crate::agent::TransportConfig;
use crate::assertion::AssertionCheck;
use crate::assertion::changes::ChangesCheck;
use crate::assertion::cypher::CypherCheck;
use crate::assertion::expression::ExpressionCheck;
use crate::evidence::Message;
use crate::graph::GraphConfig;
use crate::money::{Dollars, SpendLimits};
use crate::score::{Score, Weight};

/// The job, with every default filled in.
///
/// # Errors
/// A sentence, if something slipped through the checks.
pub(super) fn job(written: JobFile, file_name: &str, digest: String) -> Result<Job, String> {
    Ok(Job {
        name: written.name.unwrap_or_else(|| stem(file_name)),
        description: written.description,
        tags: written.tags,
        persona: persona(written.evaluator)?,
        judge: judge(written.scorer)?,
        target: target(written.target),
        aspirational_average_ms: written.aspirational_average,
        timing_on: written.timing.on,
        max_turns: written.max_turns,
        greetings: written.greetings,
        seeds: written.seeds.into_iter().map(seed).collect::<Result<_, _>>()?,
        setups: written.setups.into_iter().map(|setup| Setup { cypher: setup.cypher }).collect(),
        tasks: written.tasks.into_iter().map(task).collect(),
        facts: written.facts,
        assertions: written.assertions.into_iter().map(assertion).collect::<Result<_, _>>()?,
        watch: written.graph.as_ref().map(|graph| graph.watch.clone()).unwrap_or_default(),
        graph: written.graph.and_then(graph),
        isolation: written.isolation,
        gate: gate(written.gate.unwrap_or_default())?,
        limits: Limits {
            turn_seconds: written.limits.turn,
            trial_seconds: written.limits.trial,
            query_seconds: written.limits.query,
            run: RunLimits {
                spend: SpendLimits { cost: written.limits.cost.and_then(Dollars::new), tokens: written.limits.tokens },
                seconds: written.limits.time,
            },
        },
        folder: folder(file_name),
        digest,
    })
}

/// The file's name without folders and extension.
fn stem(file_name: &str) -> String {
    let name = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
}

/// The folder part of the file's name.
fn folder(file_name: &str) -> PathBuf {
    Path::new(file_name).parent().map(Path::to_path_buf).unwrap_or_default()
}

fn model(written: Option<ModelFile>) -> Result<Model, String> {
    let Some(written) = written else {
        return Ok(Model { is_named: false, ..Model::of(ModelName::parse(ModelName::DEFAULT)?) });
    };
    match written {
        ModelFile::Name(name) => Ok(Model::of(ModelName::parse(&name)?)),
        ModelFile::Mapping(mapping) => {
            let ModelMapping { name, base_url, api_key_env, max_tokens, reasoning_effort, rng_seed } = *mapping;
            let name = ModelName::parse(&name)?;
            Ok(Model { name, is_named: true, base_url, api_key_env, max_tokens, reasoning_effort, rng_seed })
        }
    }
}

fn persona(written: EvaluatorFile) -> Result<Persona, String> {
    Ok(Persona {
        name: written.name,
        voice: written.voice,
        prompt: written.prompt,
        temperature: written.temperature,
        signoff: written.signoff,
        mind: match written.script {
            Some(lines) => Mind::Lines(lines),
            None => Mind::Model(model(written.model)?),
        },
    })
}

fn judge(written: ScorerFile) -> Result<Judge, String> {
    Ok(Judge { prompt: written.prompt, temperature: written.temperature, model: model(written.model)? })
}

fn target(written: TargetFile) -> Target {
    let transport = written
        .demo
        .map(TransportConfig::Demo)
        .or(written.openai.map(TransportConfig::OpenAi))
        .or(written.responses.map(Box::new).map(TransportConfig::Responses))
        .or(written.http.map(Box::new).map(TransportConfig::Http))
        .or(written.websocket.map(Box::new).map(TransportConfig::WebSocket))
        .or(written.command.map(TransportConfig::Command))
        .or(written.adk.map(TransportConfig::Adk))
        .or(written.a2a.map(TransportConfig::A2a))
        .or(written.trpc.map(TransportConfig::Trpc))
        .or(written.watsonx.map(Box::new).map(TransportConfig::Watsonx))
        .unwrap_or_else(|| TransportConfig::Embabel(written.embabel.unwrap_or_default()));
    let max_concurrency = written.max_concurrency;
    Target { user: written.user, chatbot: written.chatbot, transport, start: written.start, max_concurrency }
}

fn graph(written: GraphFile) -> Option<GraphConfig> {
    written.embedded.map(GraphConfig::Embedded).or(written.neo4j.map(GraphConfig::Neo4j))
}

fn seed(written: SeedFile) -> Result<Seed, String> {
    match (written.text, written.conversation) {
        (Some(text), None) => Ok(Seed::Text(text)),
        (None, Some(messages)) => Ok(Seed::Conversation(
            messages.into_iter().map(|message| Message::new(message.role, message.content)).collect(),
        )),
        _ => Err("a seed is either a text or a conversation".to_owned()),
    }
}

fn task(written: TaskFile) -> Task {
    Task { kind: written.kind, task: written.task, acceptance_criteria: written.acceptance_criteria }
}

fn assertion(written: AssertionFile) -> Result<Assertion, String> {
    let check = match (written.cypher, written.expected, written.expression, written.changes) {
        (Some(cypher), Some(expected), None, None) => AssertionCheck::Cypher(CypherCheck { cypher, expected }),
        (None, None, Some(expression), None) => AssertionCheck::Expression(ExpressionCheck { expression }),
        (None, None, None, Some(changes)) => AssertionCheck::Changes(ChangesCheck::of(changes)?),
        _ => return Err("an assertion is either `cypher` with `expected`, `expression` or `changes`".to_owned()),
    };
    let weight = Weight::new(written.weight).ok_or("a weight is 0 or more")?;
    Ok(Assertion { name: written.name, weight, when: written.when, holds_before: written.holds_before, check })
}

fn gate(written: GateFile) -> Result<Gate, String> {
    let min_score = written.min_score.map(|score| Score::new(score).ok_or("a score is from 0 to 1"));
    Ok(Gate { min_score: min_score.transpose()?, vacuous: written.vacuous })
}
