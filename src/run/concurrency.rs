//! The limit on concurrent conversations by the file descriptors of this process.
//!
//! The numbers are estimates, a little above those counted. Where they are too low, the error says that descriptors ran out, and
//! it is not counted as the agent's failure.

use crate::agent::Hosting;
use crate::descriptors;
use crate::graph::GraphConfig;
use crate::job::{Isolation, ModelName};
use crate::plan::Plan;

/// The descriptors of a process without conversations, some of them for a moment only: its own files, starting a process, looking
/// up a name, writing the record.
const RESERVE: u64 = 40;

/// An embedded graph that other processes can reach: its engines' files, its listener, and the connections of one agent.
const REACHABLE_GRAPH: u64 = 24;

/// The connections to one database.
const NEO4J: u64 = 16;

/// The descriptors of a process that was started: its pipes, its handle, the claim on its port.
const STARTED: u64 = 5;

/// A limit on concurrent conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DescriptorLimit {
    /// The largest number of conversations.
    pub most: u64,
    /// The descriptors of each.
    pub each: u64,
    /// The descriptors that this process may have.
    pub limit: u64,
    /// The descriptors that the wanted number would need.
    pub needed: u64,
}

/// The limit on conversations at once; `None` where there is room for all that are wanted.
pub fn descriptor_limit(plan: &Plan, wanted: usize) -> Option<DescriptorLimit> {
    let limit = descriptors::limit()?;
    let open = descriptors::open_now().unwrap_or(RESERVE);
    let (each, shared) = (each(plan), shared(plan));
    // Never more than there are lanes.
    let wanted = wanted.min(plan.lane_count()) as u64;
    let taken = open + RESERVE + shared;
    let most = limit.saturating_sub(taken) / each;
    (most < wanted).then_some(DescriptorLimit { most, each, limit, needed: taken + wanted * each })
}

fn is_own(plan: &Plan) -> bool {
    matches!(plan.isolation, Isolation::Database | Isolation::Process)
}

/// The descriptors of one conversation.
fn each(plan: &Plan) -> u64 {
    let job = &plan.job;
    let agent = match job.target.transport.hosting() {
        Hosting::OwnProcess => STARTED,
        // Both ends of its connections are ours.
        Hosting::InProcess => 5,
        Hosting::Elsewhere => 3,
    };
    let is_asked = |name: &ModelName| u64::from(*name != ModelName::Scripted);
    let samples = job.review().map_or(0, |review| u64::from(review.samples));
    let persona = job.persona_model().map_or(0, |model| is_asked(&model.name)).max(samples);
    let own = is_own(plan);
    let started = if job.target.start.is_some() && own { STARTED } else { 0 };
    let graph = match &plan.graph {
        Some(GraphConfig::Embedded(_)) if own && job.target.start.is_some() => REACHABLE_GRAPH,
        Some(GraphConfig::Neo4j(_)) if plan.isolation == Isolation::Database => 3,
        _ => 0,
    };
    agent + persona + job.judges().map(|model| is_asked(&model.name)).sum::<u64>() + started + graph
}

/// The descriptors that all conversations share.
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
