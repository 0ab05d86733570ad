//! What a conversation did to the graph: the same on both backends, through the Bolt door too, and told where it can't
//! be known.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod jobs;
mod snapshots;
