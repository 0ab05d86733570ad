//! The settings of a run, below its conversations.

use serde::Serialize;

use super::super::canaries::{canary_text, steps_text, trivial_text};
use super::super::personas::persona_lines;
use super::super::plain;
use super::super::validity::{discarded_texts, fault_text, remedy_text, validity_text};
use crate::record::Overview;

/// The settings of the run, as pairs of name and value.
#[derive(Serialize)]
pub(super) struct RunSettings {
    level: u8,
    made: Vec<(&'static str, String)>,
}

impl RunSettings {
    pub(super) fn new(run: &Overview, is_one_of_several: bool) -> RunSettings {
        let provenance = &run.summary.provenance;
        let mut made = vec![
            ("agent", plain(&provenance.agent)),
            ("models", plain(&provenance.models.join(", "))),
            ("persona", format!("{} · {}", plain(&provenance.persona), plain(&provenance.persona_model))),
            ("judge", plain(&provenance.judge_model)),
        ];
        made.extend(provenance.reviewer_model.iter().map(|model| ("reviewer", plain(model))));
        let validity = validity_text(run).into_iter().chain(discarded_texts(run)).chain(remedy_text(run));
        let validity = validity.chain(fault_text(run));
        let validity = validity.collect::<Vec<_>>().join("; ");
        if !validity.is_empty() {
            made.push(("validity", validity));
        }
        made.extend(persona_lines(run).into_iter().map(|line| ("users", line)));
        made.extend(provenance.steps.iter().map(|it| ("steps", format!("the judge {}", steps_text(it)))));
        made.extend(provenance.canaries.iter().map(|it| ("canaries", format!("the judge {}", canary_text(it)))));
        made.extend(provenance.trivial_score.map(|score| ("audit", trivial_text(score))));
        made.extend(provenance.graph.iter().map(|graph| ("graph", plain(graph))));
        if !provenance.isolation.is_empty() {
            made.push(("isolation", plain(&provenance.isolation)));
        }
        made.push(("seed of random choices", provenance.rng_seed.to_string()));
        made.push(("job, SHA-256", provenance.job_digest.clone()));
        made.push(("eval-job", provenance.tool_version.clone()));
        RunSettings { level: if is_one_of_several { 3 } else { 2 }, made }
    }
}
