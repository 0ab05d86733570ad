//! The edges against a server that misbehaves in every way that the table names.

mod embabel;
mod http;
mod openai;
mod server;
