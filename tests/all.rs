//! The one integration binary.

mod edges;
