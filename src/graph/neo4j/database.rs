//! Databases that come and go within one server: Neo4j's Enterprise edition can do that.

use tokio::time::timeout;

use super::client::{Neo4jGraph, query};
use crate::graph::{GraphError, Parameters, Value};

/// The database that knows of all others.
const SYSTEM: &str = "system";

/// The error code of the Community edition.
const REFUSED: &str = "UnsupportedAdministrationCommand";

impl Neo4jGraph {
    /// Creates an empty database and waits until it can be used. The Community edition has no second database and
    /// refuses. This has been tested with a server that only looks like the Enterprise edition.
    pub async fn create_database(&self, name: &str) -> Result<(), GraphError> {
        self.administer("CREATE DATABASE $name WAIT", name).await.map_err(|error| {
            if !error.message.contains(REFUSED) {
                return error;
            }
            let message = "Neo4j refuses to create a database: that needs its Enterprise edition, and this seems to be \
                           the Community edition. With isolation: user or isolation: shared conversations get along with \
                           one database; with graph: {embedded: {}} each has a graph of its own."
                .to_owned();
            GraphError { message, ..error }
        })
    }

    /// Deletes a database with all that is in it; one that is not there is as good.
    pub async fn drop_database(&self, name: &str) -> Result<(), GraphError> {
        self.administer("DROP DATABASE $name IF EXISTS DESTROY DATA WAIT", name).await
    }

    async fn administer(&self, statement: &str, name: &str) -> Result<(), GraphError> {
        self.reach().await?;
        let parameters = Parameters::from([("name".to_owned(), Value::String(name.to_owned()))]);
        let run = self.driver().run_on(SYSTEM, query(statement, &parameters)?);
        match timeout(self.limits().time, run).await {
            Ok(ran) => ran.map(drop).map_err(|theirs| self.ours(&theirs).error),
            Err(_) => Err(self.too_long("was not waited for")),
        }
    }
}
