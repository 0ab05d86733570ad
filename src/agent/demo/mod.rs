//! The agent that is built into eval-job: a small rule-based assistant for reminders. In: Embabel's protocol over HTTP on
//! loopback, and a graph. Out: replies with their events, and reminders in the graph.
//!
//! It is here to be evaluated. It needs a fact that it is not given (the user's time zone), asks for it once, and states its
//! assumption when the user does not know. Its models: `demo-careful` does what it says; `demo-sloppy` says the same
//! and does nothing, which only the graph and the object context show.
//!
//! Invariants: understanding and dialogue are pure (`requests`, `dialogue`, over the data of `reminders`); only `storage`
//! touches the graph, through the `Graph` trait; statements and values are never spliced.

mod assistant;
mod config;
mod dialogue;
mod reminders;
mod requests;
mod server;
mod storage;
mod time_zone;
mod when;

pub use config::DemoConfig;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::clock::Clock;
use crate::graph::Graph;

/// A running demo agent. It stops when it is dropped.
#[derive(Debug)]
pub struct DemoAgent {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<io::Result<()>>>,
}

impl DemoAgent {
    /// Starts it on a free port of the loopback interface. It reads and writes this graph.
    ///
    /// # Errors
    /// There is no free port.
    pub async fn start(graph: Arc<dyn Graph>, clock: Clock) -> io::Result<DemoAgent> {
        DemoAgent::start_on(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), graph, clock).await
    }

    /// Starts it on this address.
    ///
    /// # Errors
    /// The address is in use.
    pub async fn start_on(address: SocketAddr, graph: Arc<dyn Graph>, clock: Clock) -> io::Result<DemoAgent> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let router = server::router(Arc::new(assistant::Assistant::new(graph, clock)));
        let serving = tokio::spawn(async move {
            axum::serve(listener, router)
                .with_graceful_shutdown(async {
                    // A sender that was dropped means the same as one that sent.
                    let _ = stopped.await;
                })
                .await
        });
        Ok(DemoAgent { address, stop: Some(stop), serving: Some(serving) })
    }

    /// Its address: `http://127.0.0.1:PORT`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops it and waits until requests under way are answered.
    pub async fn stop(mut self) {
        self.stop = None;
        if let Some(serving) = self.serving.take() {
            let _ = serving.await;
        }
    }
}

#[cfg(test)]
mod tests;
