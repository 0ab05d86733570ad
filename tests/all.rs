//! The one integration binary: the built program and its real servers.

mod bolt;
mod contract;
