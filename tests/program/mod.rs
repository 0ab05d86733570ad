//! The built program, as its users meet it: kills, a real Neo4j, and what leaves the machine.

mod agent_limits;
mod answered;
mod audit;
mod baseline;
mod browser;
mod bridge;
mod compare;
mod coverage;
mod budget;
mod calibrate;
mod cache;
mod cases;
pub mod cassette;
mod check;
mod dataset_turns;
mod datasets;
mod descriptors;
mod faults;
mod grade;
mod grade_recorded;
mod grade_systems;
mod gate;
mod generate;
mod generate_cases;
mod geval_steps;
mod graph_serve;
mod hostile;
mod index;
mod init;
mod jobs;
mod judges;
mod junit;
mod kill;
mod local_embeddings;
mod memory;
mod mistakes;
mod mistakes_with_data;
mod model_limits;
mod model_refusals;
mod neo4j;
mod nightly;
mod order;
mod outputs;
mod partition;
mod panel;
mod persona_faults;
mod personas;
mod providers;
mod readme;
mod record;
mod real_model;
mod reference;
mod secrets;
mod seeds;
mod refusals;
mod regrade;
mod regrade_format_1;
mod regrade_kills;
mod resume;
mod resume_continues;
mod resume_kills;
mod resume_limits;
mod resume_sessions;
mod shell;
mod signals;
mod stuck_personas;
mod team;
mod terminal;
mod traps;
mod trend;
mod twice;
mod until;
mod user_tools;
mod user_tools_faults;
mod wire;
mod worth;
mod wrong_jobs;

use std::path::Path;
use std::process::Command;

/// The built program, with nothing of this machine's environment that could change what it does.
pub fn eval_job(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eval-job"));
    command.current_dir(folder).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

/// Does this with each, four at once: for what mostly waits.
pub fn at_once<T: Send>(items: impl IntoIterator<Item = T, IntoIter: Send>, each: impl Fn(T) + Sync) {
    let items = std::sync::Mutex::new(items.into_iter());
    let next = || items.lock().unwrap().next();
    let work = || {
        while let Some(item) = next() {
            each(item);
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
}

/// Interrupts a command as soon as this arrives; its status, and all that it printed.
#[cfg(unix)]
pub fn interrupted(mut command: Command, arrived: &std::sync::mpsc::Receiver<()>) -> (Option<i32>, String) {
    use std::process::Stdio;
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    arrived.recv().unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code(), words(&output))
}

/// What a command printed, to both streams.
pub fn words(output: &std::process::Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Pastes the command that these words offer for the rest into a shell; its status, and all that it printed.
pub fn pasted(folder: &Path, offered: &str) -> (Option<i32>, String) {
    pasted_after(folder, offered, "ask for the rest: ")
}

/// The same of the command that stands after these words.
pub fn pasted_after(folder: &Path, offered: &str, before: &str) -> (Option<i32>, String) {
    let line = offered.lines().find_map(|line| line.split_once(before)).unwrap_or_else(|| panic!("{offered}"));
    let programs = Path::new(env!("CARGO_BIN_EXE_eval-job")).parent().unwrap();
    let path = std::env::join_paths(
        [programs.to_path_buf()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let mut shell = Command::new("sh");
    let output =
        shell.args(["-c", line.1]).current_dir(folder).env_clear().env("PATH", path.unwrap()).output().unwrap();
    (output.status.code(), words(&output))
}

/// A path on which `python3` finds the packages of this folder. A started agent has no `PYTHONPATH` unless its job says so.
pub fn path_with_driver(folder: &Path, driver: &Path) -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let python = std::env::split_paths(&path).map(|place| place.join("python3")).find(|file| file.is_file());
    let python = python.unwrap_or_else(|| panic!("there is no python3 on the path"));
    let places = folder.join("python-with-driver");
    std::fs::create_dir_all(&places).unwrap();
    let script = format!("#!/bin/sh\nPYTHONPATH='{}' exec '{}' \"$@\"\n", driver.display(), python.display());
    let program = places.join("python3");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::env::join_paths(std::iter::once(places).chain(std::env::split_paths(&path))).unwrap()
}

/// The folder of the first run that is kept, beside whatever else is.
pub fn kept_run(folder: &Path) -> Option<std::path::PathBuf> {
    let kept = std::fs::read_dir(folder.join("runs")).ok()?.flatten().map(|kept| kept.path());
    kept.into_iter().find(|path| path.join("journal.ndjson").exists())
}

/// Copies a folder with everything in it.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

/// The figures of a run, but for how long replies took.
pub fn without_times(figures: &serde_json::Value) -> serde_json::Value {
    let mut figures = figures.clone();
    for figure in figures.as_array_mut().into_iter().flatten() {
        if let Some(estimates) = figure.get_mut("estimates").and_then(serde_json::Value::as_object_mut) {
            estimates.remove("latency");
        }
    }
    figures
}
