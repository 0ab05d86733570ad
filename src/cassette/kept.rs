//! What of a trial was kept when the time limit of its run cut it off: its replay keeps the same, and no more.

use std::collections::{BTreeMap, BTreeSet};

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
    /// The places of the answers, by attempt.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    answers: BTreeMap<u32, BTreeSet<u32>>,
    /// The places of the answers in all attempts: so earlier versions kept them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    verdicts: BTreeSet<u32>,
}

impl KeptEntries {
    pub(super) fn add(&mut self, attempt: u32, entry: KeptEntry) {
        match entry {
            KeptEntry::InOrder => self.in_order += 1,
            KeptEntry::Verdict(place) => drop(self.answers.entry(attempt).or_default().insert(place)),
        }
    }

    /// Whether one more of an attempt is among all that were kept.
    pub(super) fn has_room_for(&self, attempt: u32, entry: KeptEntry, all: &KeptEntries) -> bool {
        match entry {
            KeptEntry::InOrder => self.in_order < all.in_order,
            KeptEntry::Verdict(place) => {
                all.verdicts.contains(&place) || all.answers.get(&attempt).is_some_and(|own| own.contains(&place))
            }
        }
    }

    /// Whether these are all that were kept.
    pub(super) fn is_all_of(&self, all: &KeptEntries) -> bool {
        let has_answers = match all.verdicts.is_empty() {
            true => self.answers == all.answers,
            false => self.answers.values().flatten().copied().collect::<BTreeSet<u32>>() == all.verdicts,
        };
        self.in_order == all.in_order && has_answers
    }

    /// Whether it is as far in order as all that were kept.
    pub(super) fn is_as_far_as(&self, all: &KeptEntries) -> bool {
        self.in_order >= all.in_order
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.in_order as usize + self.answers.values().map(BTreeSet::len).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
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
    async fn an_answer_that_was_kept_in_one_attempt_is_not_kept_in_the_next_where_it_was_not() {
        let folder = tempfile::tempdir().unwrap();
        let recording = Cassette::record(folder.path(), header(), nobody()).unwrap();
        let open = recording.open(&trial());
        for attempt in 0..2 {
            open.tape().begin_attempt(attempt);
            open.tape().request(Party::Judge, &0).answered(&0);
            if attempt == 0 {
                open.tape().kept(KeptEntry::Verdict(0));
                open.tape().kept(KeptEntry::InOrder);
            }
        }
        recording.cut_off();
        drop(open);
        let replay = Cassette::replay(folder.path(), nobody()).unwrap();
        let open = replay.open(&trial());
        for attempt in 0..2 {
            open.tape().begin_attempt(attempt);
            assert!(answer(open.tape(), 0).await);
            assert_eq!(open.tape().may_keep(KeptEntry::Verdict(0)), attempt == 0);
            if attempt == 0 {
                open.tape().kept(KeptEntry::Verdict(0));
                open.tape().kept(KeptEntry::InOrder);
            }
        }
        assert_eq!(open.tape().stopped().now_or_never(), Some(Stopped::CutOff));
    }

    #[test]
    fn what_an_earlier_version_kept_is_that_of_any_attempt() {
        let all: KeptEntries = serde_json::from_str(r#"{"inOrder": 1, "verdicts": [0, 2]}"#).unwrap();
        let mut kept = KeptEntries::default();
        for (attempt, place) in [(0, 0), (1, 0), (1, 2)] {
            assert!(!kept.is_all_of(&all) && kept.has_room_for(attempt, KeptEntry::Verdict(place), &all));
            kept.add(attempt, KeptEntry::Verdict(place));
        }
        assert!(!kept.has_room_for(1, KeptEntry::Verdict(1), &all) && kept.has_room_for(1, KeptEntry::InOrder, &all));
        kept.add(1, KeptEntry::InOrder);
        assert!(kept.is_all_of(&all) && kept.is_as_far_as(&all));
        let written = serde_json::to_value(&kept).unwrap();
        assert_eq!(written, serde_json::json!({"inOrder": 1, "answers": {"0": [0], "1": [0, 2]}}));
        assert_eq!(serde_json::from_value::<KeptEntries>(written).unwrap(), kept);
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
