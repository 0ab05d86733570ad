//! The door itself: it listens on loopback and gives each connection a task of its own.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::lobby::{Brake, Lobby, Stranger};
use super::peer;
use super::settings::BoltSettings;
use super::value::Numbers;
use crate::graph::embedded::{EmbeddedGraph, Sessions};

/// An embedded graph served over Bolt on loopback, until it is stopped or dropped.
#[derive(Debug)]
pub struct BoltDoor {
    address: SocketAddr,
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// What all connections of a door share.
#[derive(Debug)]
pub(super) struct Room {
    pub(super) settings: BoltSettings,
    pub(super) sessions: Sessions,
    pub(super) numbers: Arc<Numbers>,
    pub(super) address: SocketAddr,
    /// The places of those who have shown the password.
    pub(super) places: Arc<Semaphore>,
    pub(super) brake: Brake,
    lobby: Arc<Lobby>,
    connections: AtomicU64,
}

impl Room {
    /// A number for a new connection.
    pub(super) fn connection(&self) -> u64 {
        self.connections.fetch_add(1, Ordering::Relaxed)
    }
}

impl BoltDoor {
    /// Opens a door to a graph that was made by [`EmbeddedGraph::shareable`]. Fails when it was not, or when the port
    /// is taken.
    pub async fn open(graph: &EmbeddedGraph, settings: BoltSettings) -> io::Result<BoltDoor> {
        let sessions = graph.sessions().ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "Only a shareable embedded graph can have a Bolt door.")
        })?;
        let port = settings.port.unwrap_or(0);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| {
            let hint = if port == 0 { "" } else { " Try another port, or `auto`." };
            io::Error::new(error.kind(), format!("The Bolt door could not listen on 127.0.0.1:{port}: {error}.{hint}"))
        })?;
        let address = listener.local_addr()?;
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let limits = settings.limits;
        let room = Arc::new(Room {
            sessions,
            numbers: Arc::default(),
            address,
            places: Arc::new(Semaphore::new(limits.connections)),
            brake: Brake::new(settings.clock),
            lobby: Lobby::new(limits.strangers),
            settings,
            connections: AtomicU64::new(1),
        });
        tasks.spawn(listen(listener, room, stop.clone(), tasks.clone()));
        tasks.close();
        Ok(BoltDoor { address, stop, tasks })
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

impl Drop for BoltDoor {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn listen(listener: TcpListener, room: Arc<Room>, stop: CancellationToken, tasks: TaskTracker) {
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
        let stranger = room.lobby.enter();
        let (room, stop) = (Arc::clone(&room), stop.clone());
        tasks.spawn(async move {
            let sent_away = stranger.sent_away();
            tokio::select! {
                () = serve(stream, &room, stranger) => {}
                () = sent_away.cancelled() => {}
                () = stop.cancelled() => {}
            }
        });
    }
}

async fn serve(stream: TcpStream, room: &Arc<Room>, stranger: Stranger) {
    // Answers are small and awaited. Without it they would come 40 ms late; it can't fail on an open socket.
    let _ = stream.set_nodelay(true);
    // A connection that breaks is its client's matter.
    let _ = peer::serve(stream, room, stranger).await;
}
