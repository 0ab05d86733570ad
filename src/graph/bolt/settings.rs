//! Settings of a server.

use std::time::Duration;

use crate::clock::Clock;
use crate::secret::Secret;

/// Settings of a server.
#[derive(Debug, Clone)]
pub struct BoltSettings {
    /// The port on loopback; `None` takes a free one.
    pub port: Option<u16>,
    /// The one user.
    pub username: String,
    /// Its password.
    pub password: Secret,
    /// Limits of its clients.
    pub limits: BoltLimits,
    /// Measures the durations in summaries.
    pub clock: Clock,
}

/// Limits of its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoltLimits {
    /// The most connections at once of authenticated clients; one more is refused with that reason.
    pub connections: usize,
    /// The most connections of others. When one more comes, the one of them that has got least far has to go.
    pub unauthenticated: usize,
    /// The most bytes of a message. Before a client has shown its password it is 64 KiB at most.
    pub message: usize,
    /// The longest from connecting to showing the right password.
    pub handshake: Duration,
    /// The longest that a message may take from its first byte to its last, and that a client may leave an answer
    /// unread.
    pub stall: Duration,
    /// The longest that a statement may take.
    pub query: Duration,
    /// The longest that a transaction may be open; a client may ask for less.
    pub transaction: Duration,
    /// How long a writer waits for another one before it fails with a retryable error.
    pub turn: Duration,
}

impl Default for BoltLimits {
    fn default() -> BoltLimits {
        BoltLimits {
            connections: 256,
            unauthenticated: 256,
            message: 16 << 20,
            handshake: Duration::from_secs(10),
            stall: Duration::from_secs(60),
            query: Duration::from_secs(30),
            transaction: Duration::from_secs(120),
            turn: Duration::from_secs(10),
        }
    }
}
