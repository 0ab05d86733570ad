//! A started agent, and the task that owns its processes.

use std::io;
use std::net::UdpSocket;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::StopConfig;
use crate::agent::output::{Listener, Output};
use crate::agent::process_group::{ProcessGroup, Started};

/// The time limit for output that a process outside of the group still holds open.
const DRAIN: Duration = Duration::from_secs(1);

/// The pause between two checks whether the group is gone.
const PAUSE: Duration = Duration::from_millis(10);

/// The port that an agent is given.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) number: u16,
    /// Reserves the port for as long as the agent may need it.
    pub(super) claim: Option<UdpSocket>,
}

/// A started agent. It is asked to end when this is dropped; [`super::ManagedAgents::all_ended`] waits for that.
#[derive(Debug)]
pub struct ManagedAgent {
    port: u16,
    lifeline: Lifeline,
    output: Arc<Output>,
    /// Set when its process has ended and its output was read to the end.
    drained: CancellationToken,
    stop: DropGuard,
    keeper: JoinHandle<()>,
}

/// Notifies when a started agent's process has ended.
#[derive(Debug, Clone)]
pub struct Lifeline(watch::Receiver<Option<String>>);

impl Lifeline {
    /// Waits for its end and returns its status: `exit status 1`.
    pub async fn ended(&mut self) -> String {
        match self.0.wait_for(Option::is_some).await {
            Ok(how) => how.clone().unwrap_or_default(),
            // The task that owned it is gone, and the process with it.
            Err(_) => "killed".to_owned(),
        }
    }

    /// Its status, if it has ended.
    pub fn has_ended(&self) -> Option<String> {
        let how = self.0.borrow().clone();
        how.or_else(|| self.0.has_changed().is_err().then(|| "killed".to_owned()))
    }
}

impl ManagedAgent {
    pub(super) async fn spawn(
        command: &mut Command,
        port: Port,
        config: &StopConfig,
        output: Arc<Output>,
        keepers: &TaskTracker,
    ) -> io::Result<ManagedAgent> {
        let Started { mut child, group, .. } = ProcessGroup::spawn(command, false).await?;
        let (ended, lifeline) = watch::channel(None);
        let stop = CancellationToken::new();
        let draining = keepers.spawn(drain(output.clone(), child.stdout.take(), child.stderr.take()));
        let drained = CancellationToken::new();
        let (asked, config, is_drained) = (stop.clone(), config.clone(), drained.clone());
        let Port { number: port, claim } = port;
        let keeper = keepers.spawn(async move {
            keep(child, group, asked, config, ended).await;
            // Another process that holds the pipes has left the group.
            let abort = draining.abort_handle();
            if timeout(DRAIN, draining).await.is_err() {
                abort.abort();
            }
            drop(claim);
            is_drained.cancel();
        });
        Ok(ManagedAgent { port, lifeline: Lifeline(lifeline), output, drained, stop: stop.drop_guard(), keeper })
    }

    /// Its address, unless the job names another one: `http://127.0.0.1:PORT`.
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The port that it was given.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Notifies when its process has ended.
    pub fn lifeline(&self) -> Lifeline {
        self.lifeline.clone()
    }

    /// Adds a listener for its output from now on.
    pub fn add_listener(&self, listener: &Listener) {
        self.output.add_listener(listener);
    }

    /// Waits until its output was read to the end, if its process has ended.
    pub async fn wait_for_output(&self) {
        if self.lifeline.has_ended().is_some() {
            self.drained.cancelled().await;
        }
    }

    pub(super) fn output(&self) -> &Output {
        &self.output
    }

    /// Asks it to end and waits until all its processes have ended and its output was read to the end.
    pub async fn stop(self) {
        drop(self.stop);
        // It fails only when the runtime itself ends, and then the group is killed.
        let _ = self.keeper.await;
    }
}

/// Reads both streams to their ends.
async fn drain(output: Arc<Output>, stdout: Option<ChildStdout>, stderr: Option<ChildStderr>) {
    let stdout = async {
        if let Some(stream) = stdout {
            output.drain(stream).await;
        }
    };
    let stderr = async {
        if let Some(stream) = stderr {
            output.drain(stream).await;
        }
    };
    tokio::join!(stdout, stderr);
}

/// Waits until a process ends or is to be stopped, and then ends the rest of its group.
async fn keep(
    mut child: Child,
    mut group: ProcessGroup,
    stop: CancellationToken,
    config: StopConfig,
    ended: watch::Sender<Option<String>>,
) {
    let status = tokio::select! {
        status = child.wait() => status,
        () = stop.cancelled() => {
            group.signal(config.signal);
            let limit = Duration::from_secs_f64(config.within);
            let ending = async {
                let status = child.wait().await;
                while !group.is_gone() {
                    sleep(PAUSE).await;
                }
                status
            };
            match timeout(limit, ending).await {
                Ok(status) => status,
                Err(_) => {
                    group.kill();
                    child.wait().await
                }
            }
        }
    };
    // Children that were left behind.
    group.kill();
    drop(group);
    ended.send_replace(Some(status.map_or_else(|error| error.to_string(), describe)));
}

fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("killed by signal {signal}");
    }
    status.code().map_or_else(|| status.to_string(), |code| format!("exit status {code}"))
}
