//! A server that listens on loopback and gives each connection a task of its own.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::admission::{LoginThrottle, PendingClient, PendingClients};
use super::connection;
use super::settings::BoltSettings;
use super::value::RelationshipNumbers;
use crate::graph::embedded::{EmbeddedGraph, Sessions};

/// An embedded graph served over Bolt on loopback, until it is stopped or dropped.
#[derive(Debug)]
pub struct BoltServer {
    address: SocketAddr,
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// State that all connections of a server share.
#[derive(Debug)]
pub(super) struct ServerState {
    pub(super) settings: BoltSettings,
    pub(super) sessions: Sessions,
    pub(super) numbers: Arc<RelationshipNumbers>,
    pub(super) address: SocketAddr,
    /// The places of those who have shown the password.
    pub(super) places: Arc<Semaphore>,
    pub(super) throttle: LoginThrottle,
    pending: Arc<PendingClients>,
    connections: AtomicU64,
}

impl ServerState {
    /// A number for a new connection.
    pub(super) fn connection(&self) -> u64 {
        self.connections.fetch_add(1, Ordering::Relaxed)
    }
}

impl BoltServer {
    /// Serves a graph that was made by [`EmbeddedGraph::shareable`]. Fails when it was not, or when the port
    /// is taken.
    pub async fn open(graph: &EmbeddedGraph, settings: BoltSettings) -> io::Result<BoltServer> {
        let sessions = graph.sessions().ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "Only a shareable embedded graph can have a Bolt server.")
        })?;
        let port = settings.port.unwrap_or(0);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| {
            let hint = if port == 0 { "" } else { " Try another port, or `auto`." };
            io::Error::new(
                error.kind(),
                format!("The Bolt server could not listen on 127.0.0.1:{port}: {error}.{hint}"),
            )
        })?;
        let address = listener.local_addr()?;
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let limits = settings.limits;
        let server = Arc::new(ServerState {
            sessions,
            numbers: Arc::default(),
            address,
            places: Arc::new(Semaphore::new(limits.connections)),
            throttle: LoginThrottle::new(settings.clock),
            pending: PendingClients::new(limits.unauthenticated),
            settings,
            connections: AtomicU64::new(1),
        });
        tasks.spawn(listen(listener, server, stop.clone(), tasks.clone()));
        tasks.close();
        Ok(BoltServer { address, stop, tasks })
    }

    /// Where drivers connect to: `bolt://127.0.0.1:PORT`.
    pub fn uri(&self) -> String {
        format!("bolt://{}", self.address)
    }

    /// Hangs up on all clients, undoes their open transactions, and waits until that is done.
    pub async fn stop(self) {
        self.stop.cancel();
        self.tasks.wait().await;
    }
}

impl Drop for BoltServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn listen(listener: TcpListener, server: Arc<ServerState>, stop: CancellationToken, tasks: TaskTracker) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => return,
        };
        let Ok((stream, _)) = accepted else {
            // Out of file descriptors, most likely: some will be free soon.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            continue;
        };
        let pending_client = server.pending.enter();
        let (server, stop) = (Arc::clone(&server), stop.clone());
        tasks.spawn(async move {
            let evicted = pending_client.eviction_token();
            tokio::select! {
                () = serve(stream, &server, pending_client) => {}
                () = evicted.cancelled() => {}
                () = stop.cancelled() => {}
            }
        });
    }
}

async fn serve(stream: TcpStream, server: &Arc<ServerState>, pending_client: PendingClient) {
    // Answers are small and awaited. Without it they would come 40 ms late; it can't fail on an open socket.
    let _ = stream.set_nodelay(true);
    // A connection that breaks is its client's matter.
    let _ = connection::serve(stream, server, pending_client).await;
}
