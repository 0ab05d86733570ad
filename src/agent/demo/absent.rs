//! Replaces the demo agent in a build without the feature `demo`: its settings are read, and it can't be started.

mod config;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use crate::clock::Clock;
use crate::graph::Graph;
use crate::graph::absent::Absent;
pub use crate::graph::absent::Absent as DemoAgent;

pub use config::DemoConfig;

impl Absent {
    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub async fn start(_: Arc<dyn Graph>, _: Clock) -> io::Result<Absent> {
        Err(io::Error::other(DemoConfig::ABSENT.unwrap_or_default()))
    }

    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub async fn start_on(_: SocketAddr, graph: Arc<dyn Graph>, clock: Clock) -> io::Result<Absent> {
        Absent::start(graph, clock).await
    }
}
