//! Stands for the Bolt server in a build without the feature `embedded`: there is no graph that it could serve.

mod settings;

use std::io;

use crate::graph::absent::Absent;
pub use crate::graph::absent::Absent as BoltServer;

pub use settings::{BoltLimits, BoltSettings};

impl Absent {
    /// Never called: there is no graph to serve.
    pub async fn open(graph: &Absent, _: BoltSettings) -> io::Result<Absent> {
        match *graph {}
    }
}
