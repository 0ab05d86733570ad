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
use super::{ReadyConfig, StartError, StartSettings};
use crate::agent::output::{Listener, Output};
use crate::descriptors;
use crate::http::{Call, HttpClient, HttpFaultKind, Method, Url};

/// The most times that an agent is started when another program takes its port.
const TRIES: usize = 3;

/// The time limit of one readiness probe.
const PROBE_LIMIT: Duration = Duration::from_secs(2);

/// The pause between two probes.
const PAUSE: Duration = Duration::from_millis(25);

/// The number of its last lines that an error shows.
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
    /// Its process has ended with this status.
    Ended(String),
    /// It took too long; `no_descriptor` where the last probe failed for want of a file descriptor of our own.
    TooSlow { no_descriptor: bool },
}

impl ManagedAgents {
    /// Starts an agent and waits until it is ready. `listener` collects its output.
    ///
    /// # Errors
    /// The agent can't be used.
    pub async fn start(&self, settings: &StartSettings, listener: &Listener) -> Result<ManagedAgent, StartError> {
        let mut tries = 1;
        loop {
            let port = match settings.port {
                // What listens there already would be taken for the agent.
                Some(port) if connects(port).await => return Err(StartError::PortTaken(port)),
                Some(port) => Port { number: port, claim: None },
                None => self.free_port().map_err(|error| StartError::no_free_port(&error))?,
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
            let output = own.last_lines(LAST_LINES);
            match not_ready {
                NotReady::Ended(_) if tries < TRIES && settings.port.is_none() && is_port_taken(output.as_deref()) => {
                    tries += 1
                }
                NotReady::Ended(status) => return Err(StartError::Ended { status, output }),
                NotReady::TooSlow { no_descriptor: true } => {
                    return Err(StartError::NoDescriptor("nobody could look whether the agent is ready"));
                }
                NotReady::TooSlow { no_descriptor: false } => {
                    let seconds = settings.config.ready.within.to_string();
                    let what = waited_for(&settings.config.ready, number);
                    // Its log of our own looks would hide what it says of itself.
                    let path = settings.config.ready.http.as_deref().map(path_of);
                    let is_look = |line: &str| path.is_some_and(|path| line.contains(&format!("GET {path} ")));
                    let output = own.last_lines_without(LAST_LINES, is_look);
                    return Err(StartError::NotReady { seconds, what, output });
                }
            }
        }
    }

    /// Waits until all agents have ended. It does not ask those in use to end.
    pub async fn all_ended(&self) {
        self.keepers.close();
        self.keepers.wait().await;
    }

    async fn spawn(
        &self,
        settings: &StartSettings,
        port: Port,
        output: Arc<Output>,
    ) -> Result<ManagedAgent, StartError> {
        let mut command = settings.command(port.number)?;
        ManagedAgent::spawn(&mut command, port, &settings.config.stop, output, &self.keepers)
            .await
            .map_err(|error| StartError::not_started(&settings.config.command, &error))
    }

    async fn until_ready(&self, settings: &StartSettings, agent: &mut ManagedAgent) -> Result<(), NotReady> {
        let mut lifeline = agent.lifeline();
        let within = Duration::from_secs_f64(settings.config.ready.within);
        let no_descriptor = AtomicBool::new(false);
        tokio::select! {
            biased;
            how = lifeline.ended() => Err(NotReady::Ended(how)),
            () = self.ready(&settings.config.ready, agent, &no_descriptor) => match lifeline.has_ended() {
                // Then another program is ready at its port.
                Some(how) => Err(NotReady::Ended(how)),
                None => Ok(()),
            },
            () = sleep(within) => Err(NotReady::TooSlow { no_descriptor: no_descriptor.load(Ordering::Relaxed) }),
        }
    }

    /// `no_descriptor` is set where the last probe failed for want of a file descriptor.
    async fn ready(&self, config: &ReadyConfig, agent: &ManagedAgent, no_descriptor: &AtomicBool) {
        if config.log.is_some() {
            return agent.output().pattern_seen().await;
        }
        let address = config.http.as_ref().map(|http| health_address(http, agent.port()));
        loop {
            let result = match &address {
                Some(address) => self.answers(address).await,
                None => probe(agent.port()).await,
            };
            if result == ProbeResult::Ready {
                return;
            }
            no_descriptor.store(result == ProbeResult::NoDescriptor, Ordering::Relaxed);
            sleep(PAUSE).await;
        }
    }

    async fn answers(&self, address: &str) -> ProbeResult {
        let Ok(url) = Url::parse(address) else { return ProbeResult::NotReady };
        let call = Call { method: Method::GET, url, key: None, body: None, time_limit: PROBE_LIMIT, body_cap: 1 << 20 };
        match self.http.exchange(call).await {
            Ok(reply) if reply.is_success() => ProbeResult::Ready,
            Err(fault) if fault.kind == HttpFaultKind::NoDescriptor => ProbeResult::NoDescriptor,
            _ => ProbeResult::NotReady,
        }
    }

    /// A port on which nothing listens now, and which no other agent of this run has.
    fn free_port(&self) -> io::Result<Port> {
        let mut ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let number = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
            // Until the agent listens there, another eval-job on this machine could get the same port and talk to the wrong
            // agent. Binding the same number for datagrams reserves it until this process ends.
            match UdpSocket::bind((Ipv4Addr::LOCALHOST, number)) {
                Ok(claim) if ports.insert(number) => return Ok(Port { number, claim: Some(claim) }),
                Err(error) if descriptors::is_exhausted(&error) => return Err(error),
                _ => {}
            }
        }
    }
}

async fn connects(port: u16) -> bool {
    probe(port).await == ProbeResult::Ready
}

/// The result of a readiness probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProbeResult {
    Ready,
    NotReady,
    /// The probe failed for want of a file descriptor of our own.
    NoDescriptor,
}

async fn probe(port: u16) -> ProbeResult {
    match timeout(PROBE_LIMIT, TcpStream::connect((Ipv4Addr::LOCALHOST, port))).await {
        Ok(Ok(_)) => ProbeResult::Ready,
        Ok(Err(error)) if descriptors::is_exhausted(&error) => ProbeResult::NoDescriptor,
        _ => ProbeResult::NotReady,
    }
}

fn health_address(http: &str, port: u16) -> String {
    if http.starts_with('/') { format!("http://127.0.0.1:{port}{http}") } else { http.to_owned() }
}

/// The path of a health address, which may be no more than that.
fn path_of(http: &str) -> &str {
    let after = http.split_once("://").map_or(http, |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
    if after.is_empty() { "/" } else { after }
}

/// Whether the output says that another program has the port.
fn is_port_taken(output: Option<&str>) -> bool {
    let output = output.unwrap_or_default().to_lowercase();
    ["address already in use", "address in use", "eaddrinuse", "address is already in use"]
        .iter()
        .any(|phrase| output.contains(phrase))
        || output.contains("port") && output.contains("already in use")
}

fn waited_for(ready: &ReadyConfig, port: u16) -> String {
    match (&ready.http, &ready.log) {
        (Some(http), _) => format!("{} never answered with a status from 200 to 299", health_address(http, port)),
        (_, Some(pattern)) => format!("it printed no line with /{pattern}/"),
        _ => format!("nothing listened at 127.0.0.1:{port}, the port that it was given as PORT"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_known_by_its_words() {
        for output in
            ["OSError: [Errno 98] Address already in use", "Error: listen EADDRINUSE: …", "Port 8081 is already in use"]
        {
            assert!(is_port_taken(Some(output)), "{output}");
        }
        assert!(!is_port_taken(Some("the address book is in use")) && !is_port_taken(None));
    }

    #[cfg(unix)]
    #[test]
    fn a_missing_file_descriptor_is_not_the_agents_failure() {
        let error = StartError::not_started("agent", &io::Error::from_raw_os_error(24)).to_string();
        assert!(
            error.contains("eval-job had no file descriptor left; try fewer conversations at once (-j)"),
            "{error}"
        );
        let error = StartError::not_started("agent", &io::Error::from_raw_os_error(2)).to_string();
        assert!(error.contains("there is no program `agent`"), "{error}");
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
