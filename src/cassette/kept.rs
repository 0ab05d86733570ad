//! What of a trial was kept when the time limit of its run cut it off: its replay keeps the same, and no more.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// An entry of a trial in the journal of its run, as far as a recording has to know of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptEntry {
    /// One of those that stand in the same order in every replay.
    InOrder,
    /// The answer to the question of this place: answers come in any order.
    Verdict(u32),
}

/// The entries of a trial that were kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct KeptEntries {
    in_order: u32,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    verdicts: BTreeSet<u32>,
}

impl KeptEntries {
    pub(super) fn add(&mut self, entry: KeptEntry) {
        match entry {
            KeptEntry::InOrder => self.in_order += 1,
            KeptEntry::Verdict(place) => drop(self.verdicts.insert(place)),
        }
    }

    /// Whether one more is among all that were kept.
    pub(super) fn has_room_for(&self, entry: KeptEntry, all: &KeptEntries) -> bool {
        match entry {
            KeptEntry::InOrder => self.in_order < all.in_order,
            KeptEntry::Verdict(place) => all.verdicts.contains(&place),
        }
    }

    /// Whether it is as far in order as all that were kept.
    pub(super) fn is_as_far_as(&self, all: &KeptEntries) -> bool {
        self.in_order >= all.in_order
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.in_order as usize + self.verdicts.len()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use futures_util::FutureExt;

    use super::super::tape::RequestOutcome;
    use super::super::{Cassette, Party, RunHeader, Stopped, Tape, VERSION};
    use super::*;
    use crate::evidence::{Condition, TrialId};
    use crate::secret::Redactor;

    fn header() -> RunHeader {
        RunHeader {
            version: VERSION,
            tool_version: "0".to_owned(),
            job: "j".to_owned(),
            job_digest: String::new(),
            run_id: "r".to_owned(),
            rng_seed: 1,
            variables: BTreeMap::new(),
            token_key: [0; 4],
        }
    }

    fn trial() -> TrialId {
        let (case, model) = ("c".to_owned(), "m".to_owned());
        TrialId { number: 1, case, model, condition: Condition::WithFacts, repeat: 1 }
    }

    fn nobody() -> Redactor {
        Redactor::new([])
    }

    async fn answer(tape: &Tape, question: u32) -> bool {
        let answer = tape.replayed::<u32, ()>(Party::Judge, &question).await;
        matches!(answer, Some(RequestOutcome::Answered(_)))
    }

    #[tokio::test]
    async fn of_the_answers_before_the_cut_a_replay_keeps_those_that_were_kept() {
        // Both questions were answered when the time was up, and so many of the answers were in the journal.
        for verdicts in 0..=2 {
            let folder = tempfile::tempdir().unwrap();
            let recording = Cassette::record(folder.path(), header(), nobody()).unwrap();
            let open = recording.open(&trial());
            open.tape().kept(KeptEntry::InOrder);
            for question in 0..2 {
                open.tape().request(Party::Judge, &question).answered(&question);
                if question < verdicts {
                    open.tape().kept(KeptEntry::Verdict(question));
                }
            }
            recording.cut_off();
            drop(open);

            let replay = Cassette::replay(folder.path(), nobody()).unwrap();
            let open = replay.open(&trial());
            let tape = open.tape();
            tape.begin_attempt(0);
            assert!(tape.may_keep(KeptEntry::InOrder) && !tape.was_cut_off(), "{verdicts}");
            tape.kept(KeptEntry::InOrder);
            assert!(tape.was_cut_off() && !tape.may_keep(KeptEntry::InOrder), "{verdicts}: nothing comes after that");
            for question in 0..2 {
                assert_eq!(tape.stopped().now_or_never(), None, "{verdicts}: {question} is still to be answered");
                assert!(answer(tape, question).await);
                assert_eq!(tape.may_keep(KeptEntry::Verdict(question)), question < verdicts);
                if question < verdicts {
                    assert_eq!(tape.stopped().now_or_never(), None, "{verdicts}: the answer is still to be kept");
                    tape.kept(KeptEntry::Verdict(question));
                }
            }
            assert_eq!(tape.stopped().now_or_never(), Some(Stopped::CutOff), "{verdicts}");
        }
    }

    #[tokio::test]
    async fn a_trial_of_which_all_was_kept_comes_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let recording = Cassette::record(folder.path(), header(), nobody()).unwrap();
        let open = recording.open(&trial());
        // It was over, and only the recording of it was not.
        (0..2).for_each(|_| open.tape().kept(KeptEntry::InOrder));
        recording.cut_off();
        drop(open);
        let replay = Cassette::replay(folder.path(), nobody()).unwrap();
        let open = replay.open(&trial());
        open.tape().begin_attempt(0);
        open.tape().kept(KeptEntry::InOrder);
        assert!(!open.tape().was_cut_off() && open.tape().may_keep(KeptEntry::InOrder), "its end is still to come");
    }
}
