//! Starting an agent and waiting until it is ready.

use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_util::task::TaskTracker;

use super::process::{ManagedAgent, Port};
use super::{ReadyConfig, StartSettings};
use crate::agent::output::{Listener, Output};
use crate::descriptors;
use crate::http::{Call, HttpClient, HttpFaultKind, Method, Url};

/// How often an agent is started again when somebody else took its port.
const TRIES: usize = 3;

/// How long one look at whether it is ready may take.
const LOOK: Duration = Duration::from_secs(2);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(25);

/// How many of its last lines are shown when it can't be started.
const LAST_LINES: usize = 12;

/// All agents that a run starts.
#[derive(Default)]
pub struct ManagedAgents {
    keepers: TaskTracker,
    /// The ports that were handed out.
    ports: Mutex<BTreeSet<u16>>,
    http: HttpClient,
}

/// Why an agent is not ready.
enum NotReady {
    /// Its process has ended, with these words about how.
    Ended(String),
    /// It took too long; whether the last look failed for want of a file descriptor of our own.
    TooSlow { no_descriptor: bool },
}

impl ManagedAgents {
    /// Starts an agent and waits until it is ready. `listener` collects its output.
    ///
    /// # Errors
    /// A sentence that says why it can't be used, with the last lines that it printed.
    pub async fn start(&self, settings: &StartSettings, listener: &Listener) -> Result<ManagedAgent, String> {
        let mut tries = 1;
        loop {
            let port = match settings.port {
                Some(port) => Port { number: untaken(port).await?, claim: None },
                None => self.free_port().map_err(|error| match descriptors::is_exhausted(&error) {
                    true => no_descriptor("no free port was found for the agent"),
                    false => format!("no free port was found for the agent: {error}"),
                })?,
            };
            let number = port.number;
            let own = Listener::default();
            settings.learn_secrets();
            let output = Arc::new(Output::new(settings.redactor.clone(), settings.pattern()?));
            output.add_listener(&own);
            output.add_listener(listener);
            let mut agent = self.spawn(settings, port, output).await?;
            let not_ready = match self.until_ready(settings, &mut agent).await {
                Ok(()) => return Ok(agent),
                Err(not_ready) => not_ready,
            };
            agent.stop().await;
            let words = own.last_lines(LAST_LINES);
            let said = words
                .as_deref()
                .map_or("; it printed nothing".to_owned(), |words| format!("; its output ends with:\n{words}"));
            match not_ready {
                NotReady::Ended(_) if tries < TRIES && settings.port.is_none() && is_port_taken(words.as_deref()) => {
                    tries += 1
                }
                NotReady::Ended(how) => {
                    return Err(format!("the agent's process ended ({how}) before it was ready{said}"));
                }
                NotReady::TooSlow { no_descriptor: true } => {
                    return Err(no_descriptor("nobody could look whether the agent is ready"));
                }
                NotReady::TooSlow { no_descriptor: false } => {
                    let within = settings.config.ready.within;
                    let what = waited_for(&settings.config.ready, number);
                    return Err(format!(
                        "the agent was not ready within {within} s (target.start.ready.within): {what}{said}"
                    ));
                }
            }
        }
    }

    /// Waits until nothing is left of any agent. Those that are in use are not asked to end.
    pub async fn all_ended(&self) {
        self.keepers.close();
        self.keepers.wait().await;
    }

    async fn spawn(&self, settings: &StartSettings, port: Port, output: Arc<Output>) -> Result<ManagedAgent, String> {
        let mut command = settings.command(port.number)?;
        ManagedAgent::spawn(&mut command, port, &settings.config.stop, output, &self.keepers)
            .await
            .map_err(|error| unstartable(&settings.config.command, &error))
    }

    async fn until_ready(&self, settings: &StartSettings, agent: &mut ManagedAgent) -> Result<(), NotReady> {
        let mut lifeline = agent.lifeline();
        let within = Duration::from_secs_f64(settings.config.ready.within);
        let lacked = AtomicBool::new(false);
        tokio::select! {
            biased;
            how = lifeline.ended() => Err(NotReady::Ended(how)),
            () = self.ready(&settings.config.ready, agent, &lacked) => match lifeline.has_ended() {
                // Then somebody else is ready at its port.
                Some(how) => Err(NotReady::Ended(how)),
                None => Ok(()),
            },
            () = sleep(within) => Err(NotReady::TooSlow { no_descriptor: lacked.load(Ordering::Relaxed) }),
        }
    }

    /// `lacked` is set where the last probe failed for want of a file descriptor.
    async fn ready(&self, config: &ReadyConfig, agent: &ManagedAgent, lacked: &AtomicBool) {
        if config.log.is_some() {
            return agent.output().pattern_seen().await;
        }
        let address = config.http.as_ref().map(|http| health_address(http, agent.port()));
        loop {
            let seen = match &address {
                Some(address) => self.answers(address).await,
                None => look(agent.port()).await,
            };
            if seen == Seen::Ready {
                return;
            }
            lacked.store(seen == Seen::Nothing, Ordering::Relaxed);
            sleep(PAUSE).await;
        }
    }

    async fn answers(&self, address: &str) -> Seen {
        let Ok(url) = Url::parse(address) else { return Seen::NotReady };
        let call = Call { method: Method::GET, url, key: None, body: None, time_limit: LOOK, body_cap: 1 << 20 };
        match self.http.exchange(call).await {
            Ok(reply) if reply.is_success() => Seen::Ready,
            Err(fault) if fault.kind == HttpFaultKind::NoDescriptor => Seen::Nothing,
            _ => Seen::NotReady,
        }
    }

    /// A port on which nothing listens now, and which no other agent of this run was given.
    fn free_port(&self) -> io::Result<Port> {
        let mut ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let number = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
            // Until the agent listens there, any other eval-job on this machine could be given the same port, and would
            // then talk with the wrong agent. A claim of the same number for datagrams is in nobody's way, can be had
            // once, and goes with this process.
            match UdpSocket::bind((Ipv4Addr::LOCALHOST, number)) {
                Ok(claim) if ports.insert(number) => return Ok(Port { number, claim: Some(claim) }),
                Err(error) if descriptors::is_exhausted(&error) => return Err(error),
                _ => {}
            }
        }
    }
}

/// The port, unless somebody listens there: that one would be taken for the agent.
async fn untaken(port: u16) -> Result<u16, String> {
    if connects(port).await {
        return Err(format!(
            "something listens at 127.0.0.1:{port} already, where the agent is to be started: end it, or leave the port \
             out (target.start.ready.port, target.embabel.baseUrl), so that each agent is given a free one"
        ));
    }
    Ok(port)
}

async fn connects(port: u16) -> bool {
    look(port).await == Seen::Ready
}

/// The result of a readiness probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Ready,
    NotReady,
    /// Nothing could be seen, for want of a file descriptor of our own.
    Nothing,
}

async fn look(port: u16) -> Seen {
    match timeout(LOOK, TcpStream::connect((Ipv4Addr::LOCALHOST, port))).await {
        Ok(Ok(_)) => Seen::Ready,
        Ok(Err(error)) if descriptors::is_exhausted(&error) => Seen::Nothing,
        _ => Seen::NotReady,
    }
}

/// The error of something that failed for want of a file descriptor, with a hint.
fn no_descriptor(what: &str) -> String {
    format!("{what}: {}; try {}", descriptors::NONE_LEFT, descriptors::HINT)
}

fn health_address(http: &str, port: u16) -> String {
    if http.starts_with('/') { format!("http://127.0.0.1:{port}{http}") } else { http.to_owned() }
}

/// Whether the output says that somebody else has the port.
fn is_port_taken(output: Option<&str>) -> bool {
    let words = output.unwrap_or_default().to_lowercase();
    ["address already in use", "address in use", "eaddrinuse", "address is already in use"]
        .iter()
        .any(|phrase| words.contains(phrase))
        || words.contains("port") && words.contains("already in use")
}

fn waited_for(ready: &ReadyConfig, port: u16) -> String {
    match (&ready.http, &ready.log) {
        (Some(http), _) => format!("{} never answered with a status from 200 to 299", health_address(http, port)),
        (_, Some(pattern)) => format!("it printed no line with /{pattern}/"),
        _ => format!("nothing listened at 127.0.0.1:{port}, the port that it was given as PORT"),
    }
}

fn unstartable(command: &str, error: &io::Error) -> String {
    match error.kind() {
        _ if descriptors::is_exhausted(error) => no_descriptor("the agent could not be started"),
        io::ErrorKind::NotFound => format!(
            "the agent could not be started: there is no program `{command}`; target.start.command is looked for on the \
             PATH, or relative to the job file's folder if it has a slash"
        ),
        io::ErrorKind::PermissionDenied => format!(
            "the agent could not be started: `{command}` may not be executed; try chmod +x, or name what runs it: \
             {{command: python3, args: [{command}]}}"
        ),
        _ => format!("the agent could not be started: `{command}`: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_known_by_its_words() {
        for words in
            ["OSError: [Errno 98] Address already in use", "Error: listen EADDRINUSE: …", "Port 8081 is already in use"]
        {
            assert!(is_port_taken(Some(words)), "{words}");
        }
        assert!(!is_port_taken(Some("the address book is in use")) && !is_port_taken(None));
    }

    #[cfg(unix)]
    #[test]
    fn what_lacked_a_file_descriptor_is_not_the_agents_doing() {
        let words = unstartable("agent", &io::Error::from_raw_os_error(24));
        assert!(
            words.contains("eval-job had no file descriptor left; try fewer conversations at once (-j)"),
            "{words}"
        );
        let words = unstartable("agent", &io::Error::from_raw_os_error(2));
        assert!(words.contains("there is no program `agent`"), "{words}");
    }

    #[test]
    fn no_port_is_handed_out_twice() {
        let agents = ManagedAgents::default();
        // Another process would be another one that claims.
        let other = ManagedAgents::default();
        let held: Vec<Port> = (0..400)
            .map(|at| if at % 2 == 0 { agents.free_port() } else { other.free_port() })
            .map(Result::unwrap)
            .collect();
        let ports: BTreeSet<u16> = held.iter().map(|port| port.number).collect();
        assert_eq!(ports.len(), 400);
        assert!(UdpSocket::bind((Ipv4Addr::LOCALHOST, held[0].number)).is_err(), "it is claimed");
    }
}
