//! What the engine costs: whole conversations, journal included, beside a bare tokio + reqwest loop that makes the same
//! exchanges. `cargo bench --bench engine` prints the table; `cargo bench --bench engine -- --help` says what it shows.
//!
//! Three processes: this one counts, one serves instant (or slow) mock replies, one a row does the work, so that CPU and
//! memory are the working process's alone.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that can't go on must stop, and prints its table"
)]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads clocks and arguments")]

mod bare;
mod guards;
mod look;
mod redact;
mod served;
mod trajectory;
mod whole;

use std::process::{Command, Stdio};
use std::time::Duration;

use graphdblite::allocator::use_system;

const HELP: &str = "\
cargo bench --bench engine            the table: 200 and 2,000 conversations of 8 turns, all at once
cargo bench --bench engine -- quick   200 conversations only
cargo bench --bench engine -- redact  the lines of redact only
cargo bench --bench engine -- trajectory  the lines of trajectory only
cargo bench --bench engine -- guards  the lines of guards only

bare     the same exchanges by tokio and reqwest alone, with the system's allocator as such a program has it
engine   eval-job's whole engine: persona, agent, judge, grading, journal, read once; no graph
run      the same as `eval-job run` does it, from its command line to its report
cpu      user and system time of the working process, milliseconds a turn
ratio    to bare of the same round: the figure to watch
peak     the working process's largest resident size
slow     500 conversations at once against servers that take 200 ms, over the ideal
graph    the same as engine, with an embedded graph that is not watched and an expression in each conversation
watched  the same as graph, photographed after each turn; nothing is written
writes   the demo agent, which writes to its graph in each of 8 turns, not watched; its ratio is to itself
+ watch  the same, photographed after each turn; its ratio is to writes
redact   one entry of the journal without secrets, searched for them; the first one builds the search
look     one snapshot of an embedded graph, by its nodes: when nothing was written, and after one write
trajectory  recorded tool calls compared with the expected ones, on one core; every tenth case differs and is explained
guards   all guards on one turn of the persona, after a short conversation and a long one";

/// Rounds of each row; the medians are shown.
const ROUNDS: usize = 3;

/// The rows of the table.
const KINDS: [&str; 7] = ["bare", "engine", "run", "graph", "watched", "writes", "+ watch"];

/// What one working process came to.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Figures {
    conversations: usize,
    turns: usize,
    cpu_ms: f64,
    wall_ms: f64,
    peak_mb: f64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--help"] => println!("{HELP}"),
        ["serve", delay] => served::serve(Duration::from_millis(delay.parse().unwrap())),
        ["work", kind, conversations, address] => {
            let figures = work(kind, conversations.parse().unwrap(), address);
            println!("{}", serde_json::to_string(&figures).unwrap());
        }
        ["quick"] => table(&[200]),
        ["redact"] => redact::table(),
        ["trajectory"] => trajectory::table(),
        ["guards"] => guards::table(),
        _ => table(&[200, 2000]),
    }
}

fn table(sizes: &[usize]) {
    println!("{:<8} {:>6} {:>12} {:>10} {:>9} {:>7}", "", "conv.", "cpu ms/turn", "wall s", "peak MB", "ratio");
    for size in sizes {
        let server = served::Server::start(Duration::ZERO);
        // In turn, so that a machine whose speed drifts drifts for all; the medians are shown.
        let rounds: Vec<[Figures; 7]> =
            (0..ROUNDS).map(|_| KINDS.map(|kind| run(kind, *size, &server.address))).collect();
        for (place, kind) in KINDS.into_iter().enumerate() {
            row(kind, *size, &rounds, place);
        }
    }
    look::table();
    trajectory::table();
    redact::table();
    guards::table();
    let server = served::Server::start(Duration::from_millis(200));
    // Opening, eight turns, seven lines of the persona between them, a verdict: one after the other.
    let ideal = 200.0 * (1.0 + 8.0 + 7.0 + 1.0);
    for kind in ["bare", "engine", "run"] {
        let slow = run(kind, 500, &server.address);
        println!(
            "slow {kind:<8} {:>6} wall {:.2} s, {:.3} of the ideal {:.2} s",
            500,
            slow.wall_ms / 1e3,
            slow.wall_ms / ideal,
            ideal / 1e3
        );
    }
}

fn row(kind: &str, conversations: usize, rounds: &[[Figures; 7]], place: usize) {
    let middle = |figure: &dyn Fn(&[Figures; 7]) -> f64| {
        let mut figures: Vec<f64> = rounds.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2]
    };
    println!(
        "{kind:<8} {conversations:>6} {:>12.3} {:>10.2} {:>9.0} {:>7.2}",
        middle(&|round| round[place].cpu_ms / round[place].turns as f64),
        middle(&|round| round[place].wall_ms / 1e3),
        middle(&|round| round[place].peak_mb),
        middle(&|round| round[place].cpu_ms / round[if place < 5 { 0 } else { 5 }].cpu_ms),
    );
}

fn run(kind: &str, conversations: usize, address: &str) -> Figures {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["work", kind, &conversations.to_string(), address])
        .envs([("OPENAI_API_KEY", "sk-bench"), ("OPENAI_BASE_URL", &format!("{address}/v1"))])
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success(), "{kind} failed");
    // After the report, where there is one.
    let last = output.stdout.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap();
    serde_json::from_slice(last).unwrap()
}

fn work(kind: &str, conversations: usize, address: &str) -> Figures {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if kind == "bare" {
        use_system();
        builder.on_thread_start(use_system);
    }
    let runtime = builder.enable_all().build().unwrap();
    let started = std::time::Instant::now();
    let turns = match kind {
        "run" => whole::run_as_users_do(conversations, address),
        "bare" => runtime.block_on(bare::run(conversations, address)),
        "engine" => runtime.block_on(whole::run(conversations, &whole::job(address, false), false)),
        "graph" => runtime.block_on(whole::run(conversations, &whole::job(address, true), false)),
        "watched" => runtime.block_on(whole::run(conversations, &whole::job(address, true), true)),
        "writes" => runtime.block_on(whole::run(conversations, &whole::job_that_writes(), false)),
        "+ watch" => runtime.block_on(whole::run(conversations, &whole::job_that_writes(), true)),
        _ => panic!("{kind}"),
    };
    let wall_ms = started.elapsed().as_secs_f64() * 1e3;
    Figures { conversations, turns, cpu_ms: cpu_ms(), wall_ms, peak_mb: peak_mb() }
}

/// User and system time of this process so far.
fn cpu_ms() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// The largest resident size of this process so far.
fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}
