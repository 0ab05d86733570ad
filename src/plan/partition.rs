//! The parts of a suite, for machines that share it: `--partition 2/4`.

use std::collections::HashMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::Plan;
use crate::job::Case;

/// The most parts of a suite.
const MOST_PARTS: u32 = 1000;

/// One of the parts of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partition {
    /// Which, counted from 1.
    pub part: u32,
    /// How many there are.
    pub of: u32,
}

/// Why a text names no part of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PartitionError {
    /// It is not of the form `2/4`, or there would be too many parts.
    #[error("which part of how many: 1/4; of {MOST_PARTS} at most")]
    Malformed,
    /// The part is 0.
    #[error("parts are counted from 1: 1/{of} is the first")]
    Zero {
        /// How many parts there are.
        of: u32,
    },
    /// The part is beyond the last one.
    #[error("there is no part {part} of {of}")]
    BeyondLast {
        /// Which part.
        part: u32,
        /// How many there are.
        of: u32,
    },
}

impl Partition {
    /// Reads `2/4`.
    ///
    /// # Errors
    /// It names no part.
    pub fn parse(text: &str) -> Result<Partition, PartitionError> {
        let numbers = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((part, of)) if 1 <= part && part <= of && of <= MOST_PARTS => Ok(Partition { part, of }),
            Some((0, of)) if of >= 1 => Err(PartitionError::Zero { of }),
            Some((part, of)) if part > of && of >= 1 => Err(PartitionError::BeyondLast { part, of }),
            _ => Err(PartitionError::Malformed),
        }
    }
}

/// A case of a suite, as far as its part depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteCase {
    /// The name that keeps it in its part: that of its job, and its id.
    pub key: String,
    /// How many conversations are run about it.
    pub conversations: u64,
}

/// The part of each case, counted from 1. The parts differ by no more than the conversations of the largest case; which part a
/// case goes to depends on its key first, so that few cases move where others are added.
pub fn parts(suite: &[SuiteCase], of: u32) -> Vec<u32> {
    let all: u64 = suite.iter().map(|case| case.conversations).sum();
    let share = all / u64::from(of);
    let mut order: Vec<(u64, usize)> = suite.iter().map(|case| hash(&case.key)).zip(0..).collect();
    // The large ones come first: what is small fills up the parts at the end.
    order.sort_by_key(|(hash, at)| (std::cmp::Reverse(suite[*at].conversations), *hash, *at));
    let (mut held, mut parts) = (vec![0_u64; of as usize], vec![1; suite.len()]);
    for (hash, at) in order {
        let conversations = suite[at].conversations;
        let mut affinities: Vec<(u64, usize)> = (0..of as usize).map(|part| (affinity(hash, part), part)).collect();
        affinities.sort_unstable();
        let has_room = affinities.iter().find(|(_, part)| held[*part] + conversations <= share);
        let emptiest = || affinities.iter().min_by_key(|(_, part)| held[*part]);
        let part = has_room.or_else(emptiest).map_or(0, |(_, part)| *part);
        held[part] += conversations;
        parts[at] = part as u32 + 1;
    }
    parts
}

fn hash(key: &str) -> u64 {
    Sha256::digest(key.as_bytes()).iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

/// The affinity of a case to a part (rendezvous hashing): drawn for each pair of them.
fn affinity(hash: u64, part: usize) -> u64 {
    fastrand::Rng::with_seed(hash ^ (part as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).u64(..)
}

impl Plan {
    /// Its cases, as parts are made of them.
    pub fn suite_cases(&self) -> Vec<SuiteCase> {
        let mut conversations: HashMap<*const Case, u64> = HashMap::new();
        for (case, ..) in self.schedule.round.iter() {
            *conversations.entry(Arc::as_ptr(case)).or_default() += u64::from(self.schedule.repeats);
        }
        let suite_case = |case: &Arc<Case>| SuiteCase {
            key: format!("{}/{}", self.job.name, case.id),
            conversations: conversations.get(&Arc::as_ptr(case)).copied().unwrap_or_default(),
        };
        self.job.cases.iter().map(suite_case).collect()
    }

    /// Leaves out all cases but those at these places, counted from 0.
    pub fn keep_cases(&mut self, places: &[u32]) {
        let job = Arc::make_mut(&mut self.job);
        job.cases = places.iter().filter_map(|place| job.cases.get(*place as usize).cloned()).collect();
        self.schedule = self.schedule.for_cases(&job.cases);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn suite(cases: impl IntoIterator<Item = u64>) -> Vec<SuiteCase> {
        let case = |(at, conversations)| SuiteCase { key: format!("Travel desk/case-{at}"), conversations };
        cases.into_iter().enumerate().map(case).collect()
    }

    fn held(suite: &[SuiteCase], of: u32) -> Vec<u64> {
        let parts = parts(suite, of);
        let of_part = |part| suite.iter().zip(&parts).filter(move |(_, own)| **own == part);
        (1..=of).map(|part| of_part(part).map(|(case, _)| case.conversations).sum()).collect()
    }

    #[test]
    fn a_part_is_written_as_which_of_how_many() {
        assert_eq!(Partition::parse("2/4"), Ok(Partition { part: 2, of: 4 }));
        for (text, part) in [
            ("0/4", "counted from 1: 1/4"),
            ("5/4", "no part 5 of 4"),
            ("1/0", "which part of how many"),
            ("1", "which part of how many"),
            ("1/4/2", "which part of how many"),
            ("-1/4", "which part of how many"),
            ("1/5000", "of 1000 at most"),
        ] {
            let error = Partition::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn cases_of_one_size_are_dealt_out_evenly_whatever_their_number() {
        for (cases, of) in [(0, 3), (1, 4), (9, 4), (10, 4), (100, 7), (3, 10)] {
            let held = held(&suite(std::iter::repeat_n(2, cases)), of);
            let (least, most) = (held.iter().min().unwrap(), held.iter().max().unwrap());
            assert!(most - least <= 2, "{cases} cases in {of} parts: {held:?}");
        }
    }

    #[test]
    fn few_cases_move_where_one_is_added_or_the_order_is_another() {
        let mut suite = suite(std::iter::repeat_n(4, 100));
        let before = parts(&suite, 4);
        suite.push(SuiteCase { key: "Travel desk/new".to_owned(), conversations: 4 });
        let moved = parts(&suite, 4).iter().zip(&before).filter(|(now, before)| now != before).count();
        assert!(moved <= 8, "{moved} of 100 moved");
        suite.pop();
        suite.reverse();
        let mut reversed = parts(&suite, 4);
        reversed.reverse();
        assert_eq!(reversed, before);
    }

    proptest! {
        #[test]
        fn parts_differ_by_no_more_than_the_largest_case(sizes in proptest::collection::vec(0u64..9, 0..60), of in 1u32..9) {
            let suite = suite(sizes.clone());
            let (parts, held) = (parts(&suite, of), held(&suite, of));
            prop_assert_eq!(parts.len(), sizes.len());
            prop_assert!(parts.iter().all(|part| (1..=of).contains(part)));
            let (least, most) = (held.iter().min().unwrap(), held.iter().max().unwrap());
            prop_assert!(most - least <= sizes.iter().copied().max().unwrap_or(0), "{:?}", held);
        }
    }
}
