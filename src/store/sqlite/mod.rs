//! The index of runs, `runs/index.sqlite`: the data of lists and trends, so that they need not open a thousand folders.
//!
//! In: the run folders. Out: runs as a list shows them, and their figures.
//!
//! Invariants: the folders are the truth, and the index holds nothing else than they do; each row has the size and time of its
//! run's files ([`Stamp`]), so that a folder which is newer, which was copied there or deleted is never shown as it was; an index
//! that can't be used costs time and nothing else; many processes use it at once, each in short transactions; an index is made
//! where there are [`MANY`] runs or more.

mod indexed;
mod listing;
mod rebuild;
mod run_index;
mod schema;
mod stamp;
#[cfg(test)]
mod tests;
mod trouble;

pub use indexed::{IndexedRuns, MANY};
pub use listing::Listing;
pub use run_index::RunIndex;
pub use stamp::Stamp;
pub use trouble::IndexTrouble;
