//! Authentication.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::{AdmissionSlot, ConnectionState, ConnectionStep, Protocol, ValueFormat, session};
use crate::graph::bolt::admission::HandshakeProgress;
use crate::graph::bolt::failure::BoltFailure;
use crate::graph::bolt::packstream::{Pack, map};
use crate::graph::bolt::request::BoltCredentials;
use crate::graph::embedded::NEO4J;

impl Protocol {
    pub(super) async fn hello(&mut self, credentials: &BoltCredentials, utc_patch: bool) -> ConnectionStep {
        if !self.version.has_logon()
            && let Err(failure) = self.admit(credentials).await
        {
            self.client.failure(failure);
            return ConnectionStep::HangUp;
        }
        let mut metadata = vec![
            // Drivers look for the product's name before they go on.
            ("server".to_owned(), format!("Neo4j/{NEO4J} (eval-job embedded graph)").into()),
            ("connection_id".to_owned(), format!("bolt-{}", self.server.connection()).into()),
            ("hints".to_owned(), map([("telemetry.enabled", false.into())])),
        ];
        if utc_patch && !self.version.is_five() {
            self.session = session(&self.server, ValueFormat { element_ids: false, utc: true });
            metadata.push(("patch_bolt".to_owned(), Pack::List(vec!["utc".into()])));
        }
        if self.version.has_logon() {
            self.state = ConnectionState::Introduced;
        } else {
            self.let_in();
        }
        self.client.succeed(Pack::Map(metadata));
        ConnectionStep::Next
    }

    pub(super) async fn logon(&mut self, credentials: &BoltCredentials) -> ConnectionStep {
        if let Err(failure) = self.admit(credentials).await {
            self.client.failure(failure);
            return ConnectionStep::HangUp;
        }
        self.let_in();
        self.client.success([]);
        ConnectionStep::Next
    }

    /// Gives the connection a place inside when the password is right, after what wrong ones have added to the wait.
    async fn admit(&mut self, credentials: &BoltCredentials) -> Result<(), BoltFailure> {
        if let AdmissionSlot::Outside(pending_client) = &self.place {
            pending_client.reached(HandshakeProgress::Waits);
        }
        // Also with the right one: not waiting for the answer tells nothing.
        tokio::time::sleep(self.server.throttle.delay()).await;
        if !self.is_known(credentials) {
            self.server.throttle.failed().await;
            return Err(BoltFailure::unauthorized());
        }
        if let AdmissionSlot::Outside(_) = self.place {
            let permit = Arc::clone(&self.server.places).try_acquire_owned();
            let permit =
                permit.map_err(|_| BoltFailure::too_many_connections(self.server.settings.limits.connections))?;
            self.place = AdmissionSlot::Inside { _permit: permit };
        }
        Ok(())
    }

    fn is_known(&self, credentials: &BoltCredentials) -> bool {
        let settings = &self.server.settings;
        let given = credentials.password.as_ref().map_or("", |password| password.expose());
        let basic = credentials.scheme.as_deref() == Some("basic");
        let user = same(credentials.principal.as_deref().unwrap_or_default(), &settings.username);
        let password = same(given, settings.password.expose());
        basic & user & password
    }

    fn let_in(&mut self) {
        self.state = ConnectionState::Ready;
        self.signals.trust(true);
    }
}

/// Compares in constant time, so that neither the first difference nor the expected length leaks.
fn same(given: &str, expected: &str) -> bool {
    let (given, expected) = (Sha256::digest(given), Sha256::digest(expected));
    given.iter().zip(&expected).fold(0, |all, (one, other)| all | (one ^ other)) == 0
}
