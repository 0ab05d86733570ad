//! Starts an agent only when its watchdog knows the process group: otherwise a `kill -9` between the two would leave the agent
//! running.
//!
//! This same program is started first, as the leader of the agent's process group. It waits for a byte on a socket, which is
//! its standard input, and then becomes the agent (`exec`: the same process, the same group). When the socket is closed without
//! that byte, its sender is gone, and nothing is started. The byte carries the agent's own standard input, if it has one. Where
//! the agent can't be started, the number of the error is sent back; otherwise the `exec` closes the socket.
//!
//! A process that leaves the group (`setsid`, a daemon that forks twice) can't be ended, neither after `kill -9` nor at the
//! usual end.

use std::ffi::OsString;
use std::process::ExitCode;

/// The argument that makes this program an agent's launcher.
const ARGUMENT: &str = "start-an-agent-on-signal";

/// Whether these arguments make this process an agent's launcher.
pub fn is_launcher(arguments: &[OsString]) -> bool {
    matches!(arguments, [_, first, _, ..] if first == ARGUMENT)
}

/// Waits for the byte and becomes the agent. Returns where there is no byte, where the agent can't be started, and on systems
/// without `exec`.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there is no `exec`"))]
pub fn launch(arguments: &[OsString]) -> ExitCode {
    #[cfg(unix)]
    if let [_, _, program, arguments @ ..] = arguments {
        system::launch(program, arguments);
    }
    ExitCode::from(127)
}

#[cfg(unix)]
pub(super) use system::Launch;

#[cfg(unix)]
mod system {
    use std::ffi::{OsStr, OsString};
    use std::io::{self, IoSlice, IoSliceMut, PipeReader, Write};
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::net::UnixStream;
    use std::os::unix::process::CommandExt;
    use std::path::Path;
    use std::process::Stdio;

    use rustix::cmsg_space;
    use rustix::net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
        recvmsg, sendmsg,
    };
    use tokio::io::AsyncReadExt;
    use tokio::process::{Child, ChildStdin, Command};

    /// The byte that starts the agent.
    const START: &[u8] = b"!";

    /// A command that begins with a launcher.
    pub(in super::super) struct Launch {
        command: Command,
        waiting: PausedLaunch,
    }

    /// A launcher that waits for its byte, with the agent's standard input.
    pub(in super::super) struct PausedLaunch {
        socket: UnixStream,
        input: Option<(PipeReader, ChildStdin)>,
    }

    impl Launch {
        /// The same command behind a launcher, which is started by this path.
        pub(in super::super) fn new(program: &Path, command: &Command, has_input: bool) -> io::Result<Launch> {
            let agent = command.as_std();
            let mut launcher = Command::new(program);
            launcher.arg0("agent-launcher").arg(super::ARGUMENT).arg(agent.get_program()).args(agent.get_args());
            launcher.env_clear().stdout(Stdio::piped()).stderr(Stdio::piped());
            launcher.envs(agent.get_envs().filter_map(|(name, value)| Some((name, value?))));
            if let Some(folder) = agent.get_current_dir() {
                launcher.current_dir(folder);
            }
            let (socket, other_end) = UnixStream::pair()?;
            launcher.stdin(OwnedFd::from(other_end));
            let input = match has_input {
                true => {
                    let (agents_end, our_end) = io::pipe()?;
                    Some((agents_end, ChildStdin::from_std(OwnedFd::from(our_end).into())?))
                }
                false => None,
            };
            Ok(Launch { command: launcher, waiting: PausedLaunch { socket, input } })
        }

        /// The command to start, and the launcher that then waits.
        pub(in super::super) fn parts(&mut self) -> (&mut Command, &PausedLaunch) {
            (&mut self.command, &self.waiting)
        }

        /// Waits until the agent was started, and returns its standard input.
        ///
        /// # Errors
        /// The agent can't be started.
        pub(in super::super) async fn input(self, child: &mut Child) -> io::Result<Option<ChildStdin>> {
            let Launch { command, waiting: PausedLaunch { socket, input } } = self;
            // It holds the launcher's end of the socket.
            drop(command);
            socket.set_nonblocking(true)?;
            let mut socket = tokio::net::UnixStream::from_std(socket)?;
            let mut number = [0; 4];
            // A launcher that was killed closes it, too.
            match socket.read_exact(&mut number).await {
                Err(_) => Ok(input.map(|(_, our_end)| our_end)),
                Ok(_) => {
                    child.wait().await?;
                    Err(io::Error::from_raw_os_error(i32::from_ne_bytes(number)))
                }
            }
        }
    }

    impl PausedLaunch {
        /// Sends the byte. An error means that the process has ended, which its owner notices.
        pub(in super::super) fn start(&self) {
            let agents_end = self.input.as_ref().map(|(agents_end, _)| [agents_end.as_fd()]);
            let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
            let mut ancillary = SendAncillaryBuffer::new(&mut space);
            if let Some(files) = &agents_end {
                ancillary.push(SendAncillaryMessage::ScmRights(files));
            }
            let _ = sendmsg(&self.socket, &[IoSlice::new(START)], &mut ancillary, SendFlags::empty());
        }
    }

    /// Runs as the launcher.
    pub(super) fn launch(program: &OsStr, arguments: &[OsString]) {
        // Both are closed when the agent takes over.
        let Ok(socket) = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else { return };
        let Some(input) = receive_start(&socket) else { return };
        let error = std::process::Command::new(program).args(arguments).stdin(input).exec();
        let _ = (&socket).write_all(&error.raw_os_error().unwrap_or_default().to_ne_bytes());
    }

    /// Waits for the start byte and returns the standard input that comes with it; `None` where there is no byte.
    fn receive_start(socket: &UnixStream) -> Option<Stdio> {
        let mut byte = [0; START.len()];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let count = loop {
            match recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, RecvFlags::empty()) {
                Err(rustix::io::Errno::INTR) => {}
                answer => break answer.ok()?.bytes,
            }
        };
        let file = ancillary.drain().find_map(|message| match message {
            // A copy that ends with the `exec`; not every system can receive one.
            RecvAncillaryMessage::ScmRights(mut files) => files.next()?.try_clone().ok(),
            _ => None,
        });
        (count == START.len() && byte == START).then(|| file.map_or_else(Stdio::null, Stdio::from))
    }
}
