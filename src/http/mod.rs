//! All HTTP requests and WebSocket connections of this program.
//!
//! In: a [`Call`] with its options ([`Extra`]), or a [`Handshake`]. Out: an [`HttpReply`], an [`HttpStream`] or a [`Socket`];
//! everything that can fail is an [`HttpFault`].
//!
//! Invariants: no redirect is followed; no body is held in memory beyond its cap; every wait is bounded; a fault names the call
//! and the reason, and has neither keys nor the user part of an address; a reply's times count from the moment when the last
//! byte of its request was given to the connection.

mod address;
mod certificate;
mod client;
mod excerpt;
mod exchange;
mod extra;
mod fault;
mod iam;
mod json;
mod splitter;
mod port;
mod reach;
mod reply;
mod socket;
mod send;
mod sse;
mod stream;

pub use address::{BaseUrl, BaseUrlError, address_problem, is_same_origin};
pub use certificate::certificate_problem;
pub use client::{HttpClient, install_tls};
pub use excerpt::excerpt;
pub use exchange::{Call, KeyHeader};
pub use extra::{Extra, header_problem, key_problem};
pub use fault::{HttpFault, HttpFaultKind};
pub use iam::{IAM_URL, IamDenial, IamSettings, IamTokens};
pub(crate) use json::{chat_text, is_too_deep, read_json};
pub use port::PortConfig;
pub use reply::HttpReply;
pub use reqwest::{Method, Url};
pub use socket::{Frame, Handshake, HandshakeOutcome, Socket};
pub use splitter::EventSplitter;
pub use sse::{SseEvent, SseReader, TooLong};
pub use stream::{HttpStream, Opened};

// The limits of what is read; docs/transports.md names them.

/// The longest reply that is read from an agent or a model: 8 MiB.
pub const BODY_CAP: usize = 8 * 1024 * 1024;

/// The longest reply that is read as a stream, in which every piece of text is wrapped in JSON, and the longest event of one:
/// 64 MiB.
pub const STREAM_CAP: usize = 64 * 1024 * 1024;

/// How deep lists and mappings of a reply's JSON may stand in each other. serde_json reads 127 levels, and what holds a reply in a
/// run's journal takes some of them.
pub const JSON_DEPTH: usize = 100;

/// The message about JSON that is nested deeper than what is read.
pub(crate) fn too_deep(whose: &str) -> String {
    format!("{whose}'s JSON is nested deeper than {JSON_DEPTH} levels, the most that is read")
}

/// The message about something that is larger than what is read of it.
pub fn too_long(what: &str, cap: usize) -> String {
    format!("{what} is longer than {}; reading stopped there", exchange::size(cap))
}
