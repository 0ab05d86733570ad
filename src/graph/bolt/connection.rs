//! One connection from its first byte to its last.
//!
//! A task of its own reads ahead, so that a RESET or a hang-up is noticed while a statement runs.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc};

use super::admission::{HandshakeProgress, PendingClient};
use super::client::ClientWriter;
use super::frame::{self, FrameLimits};
use super::protocol::{ConnectionStep, Protocol};
use super::request::{BoltRequest, Unreadable, request};
use super::server::ServerState;
use super::version::{BoltVersion, MAGIC, VersionAgreement, agree, chosen, manifest};

/// The number of messages that the reading task may be ahead.
const AHEAD: usize = 64;

/// The largest message of a client that has not shown its password yet.
const UNAUTHENTICATED: usize = 64 << 10;

/// Flags that the reading and the answering task share outside of the queue.
#[derive(Debug, Default)]
pub(super) struct ConnectionFlags {
    resets: AtomicUsize,
    gone: AtomicBool,
    trusted: AtomicBool,
    changed: Notify,
}

impl ConnectionFlags {
    /// Whether a RESET is on its way: messages before it are not carried out.
    pub(super) fn reset(&self) -> bool {
        self.resets.load(Ordering::Acquire) > 0
    }

    /// Waits for a reason to stop what is being done.
    pub(super) async fn interrupted(&self) {
        loop {
            let changed = self.changed.notified();
            if self.reset() || self.gone.load(Ordering::Acquire) {
                return;
            }
            changed.await;
        }
    }

    /// A RESET has arrived at its place in the queue.
    pub(super) fn reset_done(&self) {
        self.resets.fetch_sub(1, Ordering::AcqRel);
    }

    /// From now on the client may send large messages.
    pub(super) fn trust(&self, trusted: bool) {
        self.trusted.store(trusted, Ordering::Release);
    }
}

/// Serves a connection until either side hangs up.
pub(super) async fn serve(
    stream: TcpStream,
    server: &Arc<ServerState>,
    pending_client: PendingClient,
) -> io::Result<()> {
    let limits = server.settings.limits;
    let (mut incoming, outgoing) = stream.into_split();
    let mut client = ClientWriter::new(outgoing, limits.stall);
    let login = tokio::time::sleep(limits.handshake);
    tokio::pin!(login);
    let version = tokio::select! {
        version = handshake(&mut incoming, &mut client) => version?,
        () = &mut login => return Ok(()),
    };
    let Some(version) = version else { return client.flush().await };
    pending_client.reached(HandshakeProgress::Speaks);
    let signals = Arc::new(ConnectionFlags::default());
    let (queue, mut inbox) = mpsc::channel(AHEAD);
    let bounds = bounds(&signals, limits.message, limits.stall);
    let reader = tokio::spawn(read_ahead(incoming, queue, Arc::clone(&signals), bounds));
    let _reader = AbortOnDrop(reader);
    let mut protocol = Protocol::new(Arc::clone(server), version, Arc::clone(&signals), client, pending_client);
    loop {
        if inbox.is_empty() {
            protocol.client.flush().await?;
        }
        let received = tokio::select! {
            received = inbox.recv() => received,
            () = protocol.expire() => continue,
            () = &mut login, if !protocol.is_trusted() => return Ok(()),
        };
        let step = match received {
            None => return Ok(()),
            Some(Ok(request)) => protocol.answer(request).await?,
            Some(Err(unreadable)) => protocol.refuse(unreadable),
        };
        if step == ConnectionStep::LogIn {
            login.set(tokio::time::sleep(limits.handshake));
        }
        if step == ConnectionStep::HangUp {
            return protocol.client.flush().await;
        }
    }
}

fn bounds(signals: &Arc<ConnectionFlags>, size: usize, time: Duration) -> impl Fn() -> FrameLimits + use<> {
    let signals = Arc::clone(signals);
    move || {
        let trusted = signals.trusted.load(Ordering::Acquire);
        FrameLimits { size: if trusted { size } else { size.min(UNAUTHENTICATED) }, time }
    }
}

/// Agrees on a version; `None` when there is none, or the client speaks something else than Bolt.
async fn handshake(
    incoming: &mut (impl AsyncRead + Unpin),
    client: &mut ClientWriter,
) -> io::Result<Option<BoltVersion>> {
    let mut magic = [0; 4];
    incoming.read_exact(&mut magic).await?;
    if magic != MAGIC {
        return Ok(None);
    }
    let mut offers = [0; 16];
    incoming.read_exact(&mut offers).await?;
    let version = match agree(offers) {
        VersionAgreement::Speak(version) => version,
        VersionAgreement::Nothing => {
            client.raw(&[0; 4]);
            return Ok(None);
        }
        VersionAgreement::Choose => {
            client.raw(&manifest());
            client.flush().await?;
            let mut choice = [0; 4];
            incoming.read_exact(&mut choice).await?;
            // Its abilities, seven bits a byte. We have none in common.
            while incoming.read_u8().await? & 0x80 != 0 {}
            return Ok(chosen(choice));
        }
    };
    client.raw(&version.bytes());
    client.flush().await?;
    Ok(Some(version))
}

async fn read_ahead(
    mut incoming: impl AsyncRead + Unpin,
    queue: mpsc::Sender<Result<BoltRequest, Unreadable>>,
    signals: Arc<ConnectionFlags>,
    bounds: impl Fn() -> FrameLimits,
) {
    loop {
        let received = match frame::read(&mut incoming, &bounds).await {
            Ok(Some(message)) => request(&message),
            Ok(None) => break,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(Unreadable::new(&error)),
            Err(_) => break,
        };
        let last = received.is_err();
        if matches!(received, Ok(BoltRequest::Reset)) {
            signals.resets.fetch_add(1, Ordering::AcqRel);
            signals.changed.notify_waiters();
        }
        if queue.send(received).await.is_err() || last {
            return;
        }
    }
    signals.gone.store(true, Ordering::Release);
    signals.changed.notify_waiters();
}

struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
