//! Stands for the Bolt server in a build without the feature `embedded`: there is no graph that it could serve.

mod settings;

use std::convert::Infallible;
use std::io;

use crate::graph::embedded::EmbeddedGraph;

pub use settings::{BoltLimits, BoltSettings};

/// A Bolt server; there is none in this build.
#[derive(Debug)]
pub struct BoltServer(Infallible);

impl BoltServer {
    /// Nobody has a graph to serve.
    pub async fn open(graph: &EmbeddedGraph, _: BoltSettings) -> io::Result<BoltServer> {
        match graph.0 {}
    }

    /// Where drivers connect to.
    pub fn uri(&self) -> String {
        match self.0 {}
    }

    /// Stops it.
    pub async fn stop(self) {
        match self.0 {}
    }
}
