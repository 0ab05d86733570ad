//! The rows of a stored conversation under the assertions of a corrected job.

use crate::assertion::AssertionCheck;
use crate::evidence::{AssertionId, Evidence, QueryObservation};
use crate::job::Assertion;

/// The query of an assertion, where it has one.
fn query(assertion: &Assertion) -> Option<&str> {
    match &assertion.check {
        AssertionCheck::Cypher(check) => Some(&check.cypher),
        AssertionCheck::Expression(_) | AssertionCheck::Changes(_) => None,
    }
}

/// The evidence with the rows of each query under the id of the assertion that asks it today: an assertion gets the rows of its
/// own query only, whatever it is called. A query that was not run has none.
pub(super) fn with_rows_of(evidence: &Evidence, held: &[Assertion], today: &[Assertion]) -> Evidence {
    let rows = |queries: &[QueryObservation]| rows_of(queries, held, today);
    let mut evidence = evidence.clone();
    evidence.queries = rows(&evidence.queries);
    for state in [&mut evidence.before, &mut evidence.empty].into_iter().flatten() {
        state.queries = rows(&state.queries);
    }
    evidence
}

fn rows_of(queries: &[QueryObservation], held: &[Assertion], today: &[Assertion]) -> Vec<QueryObservation> {
    let of = |id: &AssertionId| queries.iter().find(|observation| observation.assertion == *id);
    let found = today.iter().filter_map(|assertion| {
        let same: Vec<&Assertion> = held.iter().filter(|held| query(held) == query(assertion)).collect();
        let namesake = same.iter().find(|held| held.id == assertion.id);
        let observation = namesake.into_iter().chain(&same).find_map(|held| of(&held.id))?;
        query(assertion).map(|_| QueryObservation { assertion: assertion.id.clone(), ..observation.clone() })
    });
    found.chain(of(&AssertionId::labels()).cloned()).collect()
}
