//! Who is let in.

use tokio::io::AsyncWrite;

use super::{Protocol, State, Step};
use crate::graph::bolt::failure::Failure;
use crate::graph::bolt::outlet::Outlet;
use crate::graph::bolt::packstream::{Pack, map};
use crate::graph::bolt::request::Credentials;

/// Drivers look for the product's name before they go on.
const SERVER: &str = "Neo4j/5.26.0 (eval-job embedded graph)";

impl Protocol {
    pub(super) fn hello<W: AsyncWrite + Unpin>(
        &mut self,
        credentials: &Credentials,
        utc_patch: bool,
        outlet: &mut Outlet<W>,
    ) -> Step {
        if !self.version.has_logon() && !self.is_known(credentials) {
            outlet.failure(Failure::unauthorized());
            return Step::HangUp;
        }
        let mut metadata = vec![
            ("server".to_owned(), SERVER.into()),
            ("connection_id".to_owned(), format!("bolt-{}", self.room.connection()).into()),
            ("hints".to_owned(), map([("telemetry.enabled", false.into())])),
        ];
        if utc_patch && !self.version.is_five() {
            self.dialect.utc = true;
            metadata.push(("patch_bolt".to_owned(), Pack::List(vec!["utc".into()])));
        }
        if self.version.has_logon() {
            self.state = State::Introduced;
        } else {
            self.let_in();
        }
        outlet.succeed(Pack::Map(metadata));
        Step::Next
    }

    pub(super) fn logon<W: AsyncWrite + Unpin>(&mut self, credentials: &Credentials, outlet: &mut Outlet<W>) -> Step {
        if !self.is_known(credentials) {
            outlet.failure(Failure::unauthorized());
            return Step::HangUp;
        }
        self.let_in();
        outlet.success([]);
        Step::Next
    }

    fn is_known(&self, credentials: &Credentials) -> bool {
        let settings = &self.room.settings;
        let given = credentials.password.as_ref().map_or("", |password| password.expose());
        credentials.scheme.as_deref() == Some("basic")
            && credentials.principal.as_deref() == Some(&settings.username)
            && same(given, settings.password.expose())
    }

    fn let_in(&mut self) {
        self.state = State::Ready;
        self.signals.trust(true);
    }
}

/// Compares in a time that does not tell where two texts differ.
fn same(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && differences == 0
}
