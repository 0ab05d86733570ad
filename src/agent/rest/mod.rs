//! Conversations over HTTP: one session, one caller and one reader for every transport with a [`Wire`], which makes the
//! requests and reads the replies.
//!
//! In: the requests of a wire. Out: the bytes and events of their replies, timed; failed attempts, retried and recorded.
//!
//! Invariants: a message that may have arrived is only sent again with that being recorded; what the agent itself reports
//! as its failure is never tried again; the time of a reply is that of the successful attempt alone.

mod caller;
mod reader;
mod request;
mod session;
mod settings;
mod wire;

pub(super) use caller::Caller;
pub(super) use reader::{EventOutcome, Received};
pub(super) use request::{AgentRequest, BEARER, Hints, ReplyForm, hints};
pub(super) use session::HttpAgent;
pub(super) use settings::{RestSettings, RestTransport};
pub(super) use wire::{NextStep, TurnInput, Wire};
