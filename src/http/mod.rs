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
pub(crate) use json::{chat_text, read_json};
pub use port::PortConfig;
pub use reply::HttpReply;
pub use reqwest::{Method, Url};
pub use socket::{Frame, Handshake, HandshakeOutcome, Socket};
pub use splitter::EventSplitter;
pub use sse::{SseEvent, SseReader, TooLong};
pub use stream::{HttpStream, Opened};

/// The longest reply that is read from an agent or a model: 8 MiB.
pub const BODY_CAP: usize = 8 * 1024 * 1024;

/// The longest reply that is read as a stream, in which every piece of text is wrapped in JSON, and the longest event of one:
/// 64 MiB.
pub const STREAM_CAP: usize = 64 * 1024 * 1024;
