//! Stands for backends and servers that a build leaves out: their settings are read, and they can't be made.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Graph, GraphError, Parameters, Table};
use crate::retry::OnWait;

/// A backend or a server that this build does not have: there is no value of it.
#[derive(Debug)]
pub enum Absent {}

impl Absent {
    /// Reports its retries from now on.
    pub fn report_waits(&mut self, _: Option<Arc<OnWait>>) {
        match *self {}
    }

    /// The address of the server.
    pub fn uri(&self) -> String {
        match *self {}
    }

    /// The address of the server.
    pub fn base_url(&self) -> String {
        match *self {}
    }

    /// Stops the server.
    pub async fn stop(self) {
        match self {}
    }
}

#[async_trait]
impl Graph for Absent {
    fn backend(&self) -> &'static str {
        match *self {}
    }

    async fn read(&self, _: &str, _: &Parameters) -> Result<Table, GraphError> {
        match *self {}
    }

    async fn write(&self, _: &str, _: &Parameters) -> Result<Table, GraphError> {
        match *self {}
    }
}
