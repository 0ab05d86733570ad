//! The one way in which requests leave this program.
//!
//! Invariants: no redirect is followed; no body is held in memory beyond its cap; every wait is bounded; a fault's words
//! say which call failed and why, and hold neither keys nor the user part of an address.

mod address;
mod client;
mod excerpt;
mod exchange;
mod fault;
mod port;
mod reply;

pub use address::BaseUrl;
pub use client::{HttpClient, install_tls};
pub use excerpt::excerpt;
pub use exchange::{Beside, Call, KeyHeader};
pub use fault::{HttpFault, HttpFaultKind};
pub use port::PortConfig;
pub use reply::HttpReply;
pub use reqwest::{Method, Url};

/// The longest reply that is read from an agent or a model: 8 MiB.
pub const BODY_CAP: usize = 8 * 1024 * 1024;
