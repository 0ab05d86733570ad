//! Stands for the demo agent in a build without the feature `demo`: its settings are read, and it can't be started.

mod config;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use crate::clock::Clock;
use crate::graph::Graph;

pub use config::DemoConfig;

/// A running demo agent; there is none in this build.
#[derive(Debug)]
pub struct DemoAgent(Infallible);

impl DemoAgent {
    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub async fn start(_: Arc<dyn Graph>, _: Clock) -> io::Result<DemoAgent> {
        Err(io::Error::other(DemoConfig::ABSENT.unwrap_or_default()))
    }

    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub async fn start_on(_: SocketAddr, graph: Arc<dyn Graph>, clock: Clock) -> io::Result<DemoAgent> {
        DemoAgent::start(graph, clock).await
    }

    /// Where it listens.
    pub fn base_url(&self) -> String {
        match self.0 {}
    }

    /// Stops it.
    pub async fn stop(self) {
        match self.0 {}
    }
}
