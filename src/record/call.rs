//! One call of one of our own models.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::TrialRecord;
use crate::evidence::Usage;
use crate::money::Amount;

/// The role for which a model was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Asker {
    /// The persona: it poses as the user.
    Persona,
    /// The reviewer: it reads the persona's messages before they are sent.
    Reviewer,
    /// The judge: it scores.
    Judge,
}

/// One call of one of our own models, its tries included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelCall {
    /// When the answer was there.
    pub at: DateTime<Utc>,
    /// The role for which it was asked.
    pub asker: Asker,
    /// Which model, `provider/model`.
    pub model: String,
    /// Its usage; more than one call where a blank reply was paid for too.
    pub usage: Usage,
}

impl ModelCall {
    /// Sorts calls in the same way whenever they were made: the time decides only between those that are the same otherwise.
    pub fn sort_key(&self) -> impl Ord + '_ {
        let Usage {
            calls, unreported_calls, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, ..
        } = self.usage;
        let tokens = [input_tokens, output_tokens, cached_input_tokens, reasoning_tokens];
        let Usage { largest_input_tokens, largest_output_tokens, largest_total_tokens, .. } = self.usage;
        let largest = [largest_input_tokens, largest_output_tokens, largest_total_tokens];
        (&self.model, [calls, unreported_calls], tokens, largest, self.at)
    }
}

/// A call of one of our own models of which the end is not known.
#[derive(Debug, Clone, PartialEq)]
pub struct CallUnderWay {
    /// Its number in the process that made it.
    pub number: u64,
    /// What it came to if nothing more is heard of it.
    pub call: ModelCall,
    /// The most that it can have cost beyond that.
    pub set_aside: Amount,
}

impl TrialRecord {
    /// A request is about to be sent.
    pub(super) fn is_asking(&mut self, under_way: CallUnderWay) {
        self.under_way.retain(|it| it.number != under_way.number);
        self.under_way.push(under_way);
    }

    /// A call is over.
    pub(super) fn has_asked(&mut self, number: Option<u64>, call: ModelCall, set_aside: Option<Amount>) {
        if let Some(number) = number {
            self.settle(number, call.usage, set_aside.unwrap_or_default());
        }
        // Requests that were refused cost nothing.
        self.set_aside.add(&call.model, set_aside.unwrap_or_default());
        if call.usage.calls > 0 {
            self.add_call(call);
        }
    }

    /// The last request of a call is over: with it the call has taken so much, and at most so much beside.
    fn settle(&mut self, number: u64, taken: Usage, set_aside: Amount) {
        let Some(place) = self.under_way.iter().position(|it| it.number == number) else { return };
        let before = self.under_way.remove(place);
        let since = |now: Option<u64>, before: Option<u64>| now.map(|now| now.saturating_sub(before.unwrap_or(0)));
        let usage = before.call.usage;
        let took = Usage {
            cached_input_tokens: since(taken.cached_input_tokens, usage.cached_input_tokens),
            ..Usage::from_counts(
                since(taken.input_tokens, usage.input_tokens),
                since(taken.output_tokens, usage.output_tokens),
            )
        };
        self.margins.add(&before.call.model, before.set_aside.minus(set_aside), took);
    }

    /// Adds a call. Judges that are asked at the same time answer in any order: their calls are ordered by what they were.
    fn add_call(&mut self, call: ModelCall) {
        let first = self.calls.iter().rposition(|it| it.asker != Asker::Judge).map_or(0, |last| last + 1);
        let place = match call.asker {
            Asker::Judge => first + self.calls[first..].partition_point(|it| it.sort_key() <= call.sort_key()),
            Asker::Persona | Asker::Reviewer => self.calls.len(),
        };
        self.calls.insert(place, call);
    }

    /// Nothing more will be heard of the calls that are under way: they count as what they can have come to.
    pub fn give_up_calls(&mut self) {
        for CallUnderWay { call, set_aside, .. } in std::mem::take(&mut self.under_way) {
            self.set_aside.add(&call.model, set_aside);
            self.add_call(call);
        }
    }
}
