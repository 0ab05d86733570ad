//! The seeds that persona and judge are asked with.

use sha2::{Digest, Sha256};

use crate::evidence::TrialId;
use crate::llm::LlmRole;

/// The seed of one of our own models in a conversation, below 2³¹ as providers want it. It derives from the run's, the case, the
/// condition and the repetition, and not from the agent's model: models that are compared meet the same user and the same
/// judge. A conversation that is run again, as `attempt` says, gets another one.
pub(super) fn conversation_seed(rng_seed: u64, id: &TrialId, role: LlmRole, attempt: u32) -> u32 {
    let role = match role {
        LlmRole::Persona => "persona",
        LlmRole::Reviewer => "reviewer",
        LlmRole::Judge => "judge",
    };
    let drawn = Sha256::new()
        .chain_update(rng_seed.to_le_bytes())
        .chain_update(id.repeat.to_le_bytes())
        .chain_update(attempt.to_le_bytes())
        .chain_update([role, id.condition.as_str(), &id.case].join("/"))
        .finalize();
    u32::from_le_bytes([drawn[0], drawn[1], drawn[2], drawn[3]]) & 0x7fff_ffff
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::evidence::Condition;

    fn id(case: &str, model: &str, condition: Condition, repeat: u32) -> TrialId {
        TrialId { number: repeat, case: case.to_owned(), model: model.to_owned(), condition, repeat }
    }

    #[test]
    fn compared_models_get_the_same_seed_and_everything_else_another_one() {
        let first = id("a", "m", Condition::WithFacts, 1);
        let of_model = |model| conversation_seed(7, &id("a", model, Condition::WithFacts, 1), LlmRole::Persona, 0);
        assert_eq!(of_model("m"), of_model("another"));
        let seeds = [
            conversation_seed(7, &first, LlmRole::Persona, 0),
            conversation_seed(8, &first, LlmRole::Persona, 0),
            conversation_seed(7, &first, LlmRole::Judge, 0),
            conversation_seed(7, &first, LlmRole::Persona, 1),
            conversation_seed(7, &id("b", "m", Condition::WithFacts, 1), LlmRole::Persona, 0),
            conversation_seed(7, &id("a", "m", Condition::WithoutFacts, 1), LlmRole::Persona, 0),
            conversation_seed(7, &id("a", "m", Condition::WithFacts, 2), LlmRole::Persona, 0),
        ];
        assert_eq!(BTreeSet::from(seeds).len(), seeds.len(), "{seeds:?}");
        assert!(seeds.iter().all(|seed| *seed < 1 << 31));
    }
}
