//! What one look at an embedded graph costs.

use std::time::Instant;

use eval_job::graph::embedded::EmbeddedGraph;
use eval_job::graph::snapshot::{GraphSnapshot, Window, difference};
use eval_job::graph::{Graph, Parameters, WatchConfig};

const LOOKS: u32 = 30;

/// Prints a line for each size.
pub fn table() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for nodes in [10, 1_000, 10_000] {
        runtime.block_on(size(nodes));
    }
}

async fn size(nodes: u32) {
    let graph = EmbeddedGraph::new().unwrap();
    let none = Parameters::new();
    let fill =
        format!("UNWIND range(1, {}) AS x CREATE (:A {{x: x, name: 'some name'}})-[:R]->(:B {{x: x}})", nodes / 2);
    graph.write(&fill, &none).await.unwrap();
    let window = Window::new(&WatchConfig::default(), 100_000);
    let mut last = GraphSnapshot::take(&graph, &window, &none, None).await.unwrap().unwrap();
    let started = Instant::now();
    for _ in 0..LOOKS {
        assert!(GraphSnapshot::take(&graph, &window, &none, Some(&last)).await.unwrap().is_none());
    }
    let unchanged = started.elapsed() / LOOKS;
    let (mut writing, mut looking) = (std::time::Duration::ZERO, std::time::Duration::ZERO);
    for _ in 0..LOOKS {
        let started = Instant::now();
        graph.write("CREATE (:C)-[:S]->(:D)", &none).await.unwrap();
        writing += started.elapsed();
        let started = Instant::now();
        let next = GraphSnapshot::take(&graph, &window, &none, Some(&last)).await.unwrap().unwrap();
        assert_eq!(difference(&last, &next, eval_job::evidence::ChangeTime { turn: 1, late: false }).len(), 3);
        last = next;
        looking += started.elapsed();
    }
    println!(
        "look {nodes:>7} nodes: {:>9.4} ms unchanged, {:>9.3} ms after a write of {:.3} ms",
        unchanged.as_secs_f64() * 1e3,
        (looking / LOOKS).as_secs_f64() * 1e3,
        (writing / LOOKS).as_secs_f64() * 1e3,
    );
}
