//! Starts an agent only when its watchdog knows of it: otherwise a `kill -9` between the two would leave it behind.
//!
//! This same program is started first, as the leader of the agent's process group. It waits for a byte on a socket,
//! which is its standard input, and then becomes the agent (`exec`: the same process, the same group). When the socket ends
//! without that byte, its sender is gone, and nothing is started. With the byte comes the agent's own
//! standard input, if it has one. Where the agent can't be started the number of the error comes back; otherwise the socket
//! ends with the `exec`.
//!
//! What it can't help: a process that leaves the group (`setsid`, a daemon that forks twice) is nobody's to end any more,
//! neither after `kill -9` nor at the usual end.

use std::ffi::OsString;
use std::process::ExitCode;

/// The argument that makes this program an agent's launcher.
const ARGUMENT: &str = "start-an-agent-when-told";

/// Whether these arguments make this process an agent's launcher.
pub fn is_launcher(arguments: &[OsString]) -> bool {
    matches!(arguments, [_, first, _, ..] if first == ARGUMENT)
}

/// Waits for the byte and becomes the agent. Returns where there is none, or where the agent can't be started; so it does
/// where nothing can be started late, without `exec`.
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
        waiting: Waiting,
    }

    /// A launcher that waits for its byte, with the agent's standard input.
    pub(in super::super) struct Waiting {
        word: UnixStream,
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
            let (word, other_end) = UnixStream::pair()?;
            launcher.stdin(OwnedFd::from(other_end));
            let input = match has_input {
                true => {
                    let (agents_end, our_end) = io::pipe()?;
                    Some((agents_end, ChildStdin::from_std(OwnedFd::from(our_end).into())?))
                }
                false => None,
            };
            Ok(Launch { command: launcher, waiting: Waiting { word, input } })
        }

        /// The command to start, and the launcher that then waits.
        pub(in super::super) fn parts(&mut self) -> (&mut Command, &Waiting) {
            (&mut self.command, &self.waiting)
        }

        /// Waits until the agent was started, and gives its standard input. The error is why it can't be.
        pub(in super::super) async fn input(self, child: &mut Child) -> io::Result<Option<ChildStdin>> {
            let Launch { command, waiting: Waiting { word, input } } = self;
            // It holds the launcher's end of the socket.
            drop(command);
            word.set_nonblocking(true)?;
            let mut word = tokio::net::UnixStream::from_std(word)?;
            let mut number = [0; 4];
            // A launcher that was killed closes it, too.
            match word.read_exact(&mut number).await {
                Err(_) => Ok(input.map(|(_, our_end)| our_end)),
                Ok(_) => {
                    child.wait().await?;
                    Err(io::Error::from_raw_os_error(i32::from_ne_bytes(number)))
                }
            }
        }
    }

    impl Waiting {
        /// Sends the byte. Where nobody reads it the process has ended, as whoever waits for it will see.
        pub(in super::super) fn start(&self) {
            let agents_end = self.input.as_ref().map(|(agents_end, _)| [agents_end.as_fd()]);
            let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
            let mut beside = SendAncillaryBuffer::new(&mut space);
            if let Some(files) = &agents_end {
                beside.push(SendAncillaryMessage::ScmRights(files));
            }
            let _ = sendmsg(&self.word, &[IoSlice::new(START)], &mut beside, SendFlags::empty());
        }
    }

    /// Is the launcher.
    pub(super) fn launch(program: &OsStr, arguments: &[OsString]) {
        // Both are closed when the agent takes over.
        let Ok(socket) = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else { return };
        let Some(input) = heard(&socket) else { return };
        let error = std::process::Command::new(program).args(arguments).stdin(input).exec();
        let _ = (&socket).write_all(&error.raw_os_error().unwrap_or_default().to_ne_bytes());
    }

    /// The standard input that comes with the word; `None` where the word does not come.
    fn heard(socket: &UnixStream) -> Option<Stdio> {
        let mut word = [0; START.len()];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let count = loop {
            match recvmsg(socket, &mut [IoSliceMut::new(&mut word)], &mut beside, RecvFlags::empty()) {
                Err(rustix::io::Errno::INTR) => {}
                answer => break answer.ok()?.bytes,
            }
        };
        let file = beside.drain().find_map(|message| match message {
            // A copy that ends with the `exec`; not every system can receive one.
            RecvAncillaryMessage::ScmRights(mut files) => files.next()?.try_clone().ok(),
            _ => None,
        });
        (count == START.len() && word == START).then(|| file.map_or_else(Stdio::null, Stdio::from))
    }
}
