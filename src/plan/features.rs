//! Parts of eval-job that this build was made without.

use super::Refusal;
use crate::graph::GraphConfig;
use crate::job::Job;
use crate::llm::local_embeddings::LocalEmbeddingsConfig;

/// The refusal of whatever needs a part that isn't there; `None` where it is.
pub fn refusal(absent: Option<&str>) -> Option<Refusal> {
    let help = "build it with its default features: cargo build --release";
    absent.map(|what| Refusal::new(what, help))
}

/// The parts that the job needs and that aren't there.
pub(super) fn refusals(job: &Job, graph: Option<&GraphConfig>) -> Vec<Refusal> {
    let agent = job.target.transport.absent();
    let default = [agent, graph.and_then(GraphConfig::absent)].into_iter().filter_map(refusal);
    default.chain(job.embeddings_folder().and(local_embeddings(LocalEmbeddingsConfig::ABSENT))).collect()
}

/// The refusal of a local model of embeddings: no default feature.
fn local_embeddings(absent: Option<&str>) -> Option<Refusal> {
    let help = "build it with that feature: cargo build --release --features local-embeddings; or name an endpoint: \
        scorer: {embeddings: {name: openai/MODEL, baseUrl: …}}";
    absent.map(|what| Refusal::for_key("scorer.embeddings.folder", what, help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_not_there_is_refused_by_name() {
        assert_eq!(refusal(None), None);
        let refusal = refusal(Some("this eval-job was built without wings (the feature `wings`)")).unwrap();
        assert!(refusal.what.contains("`wings`") && refusal.help.contains("default features"), "{refusal:?}");
        let refusal = local_embeddings(Some("built without wings")).unwrap();
        assert!(refusal.what.contains("wings") && refusal.help.contains("--features local-embeddings"), "{refusal:?}");
    }
}
