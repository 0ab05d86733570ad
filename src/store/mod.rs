//! Where runs are kept: one folder a kind of store.

pub mod folder;
