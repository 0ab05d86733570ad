//! How many conversations may be held at once with the file descriptors that this process may have.
//!
//! These are estimates, a little more than was counted. Where they are too small the lack is told, and nobody is blamed.

use crate::agent::Hosting;
use crate::descriptors;
use crate::graph::GraphConfig;
use crate::job::{Isolation, ModelName};
use crate::plan::Plan;

/// What a process needs before any conversation, and for a moment now and then: its own files, starting a process, looking
/// up a name, writing the record.
const RESERVE: u64 = 40;

/// An embedded graph that other processes can reach: its engines' files, its door, and the connections of one agent.
const REACHABLE_GRAPH: u64 = 24;

/// The connections to one database.
const NEO4J: u64 = 16;

/// What a process that was started holds: its pipes, its handle, the claim on its port.
const STARTED: u64 = 5;

/// A limit on how many conversations are held at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtOnce {
    /// How many may be.
    pub most: u64,
    /// How many descriptors each takes.
    pub each: u64,
    /// How many descriptors this process may have.
    pub limit: u64,
    /// How many it would need for as many as were asked for.
    pub needed: u64,
}

/// How many of `wanted` conversations may be held at once, where it is fewer; `None` where there is room for all.
pub fn at_once(plan: &Plan, wanted: usize) -> Option<AtOnce> {
    let limit = descriptors::limit()?;
    let open = descriptors::open_now().unwrap_or(RESERVE);
    let (each, shared) = (each(plan), shared(plan));
    // Never more than there are lanes.
    let wanted = wanted.min(plan.lane_count()) as u64;
    let taken = open + RESERVE + shared;
    let most = limit.saturating_sub(taken) / each;
    (most < wanted).then_some(AtOnce { most, each, limit, needed: taken + wanted * each })
}

fn is_own(plan: &Plan) -> bool {
    matches!(plan.isolation, Isolation::Database | Isolation::Process)
}

/// What one conversation takes.
fn each(plan: &Plan) -> u64 {
    let job = &plan.job;
    let agent = match job.target.transport.hosting() {
        Hosting::OwnProcess => STARTED,
        // Both ends of its connections are ours.
        Hosting::InProcess => 5,
        Hosting::Elsewhere => 3,
    };
    let is_asked = |name: &ModelName| u64::from(*name != ModelName::Scripted);
    let persona = job.persona_model().map_or(0, |model| is_asked(&model.name));
    let own = is_own(plan);
    let started = if job.target.start.is_some() && own { STARTED } else { 0 };
    let graph = match &plan.graph {
        Some(GraphConfig::Embedded(_)) if own && job.target.start.is_some() => REACHABLE_GRAPH,
        Some(GraphConfig::Neo4j(_)) if plan.isolation == Isolation::Database => 3,
        _ => 0,
    };
    agent + persona + job.judge_model().map_or(0, |model| is_asked(&model.name)) + started + graph
}

/// What all of them take together.
fn shared(plan: &Plan) -> u64 {
    let own = is_own(plan);
    let started = plan.job.target.start.is_some();
    let graph = match &plan.graph {
        Some(GraphConfig::Neo4j(_)) => NEO4J,
        Some(GraphConfig::Embedded(_)) if started && !own => 2 * REACHABLE_GRAPH,
        _ => 0,
    };
    graph + if started && !own { STARTED } else { 0 }
}
