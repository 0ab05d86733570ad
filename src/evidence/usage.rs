//! Tokens and calls.

use serde::{Deserialize, Serialize};

/// Tokens and calls of one role. A number that the endpoint did not report is `None`, never 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Requests that were answered.
    pub calls: u64,
    /// Answered requests without reported tokens: the sums are without them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unreported_calls: u64,
    /// Tokens of the requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens of the requests from the provider's prompt cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    /// Tokens of the replies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Tokens of the replies that were spent on reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Tokens of the longest single request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_input_tokens: Option<u64>,
    /// Tokens of the longest single reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_output_tokens: Option<u64>,
    /// Tokens of the longest request together with its reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_total_tokens: Option<u64>,
}

/// The most tokens of one request that are believed: −1 as an unsigned number is no count.
const MOST_TOKENS: u64 = 1 << 40;

impl Usage {
    /// One answered request of which nothing is known but these two sums. A count beyond any model's is taken as not reported.
    pub fn from_counts(input_tokens: Option<u64>, output_tokens: Option<u64>) -> Usage {
        let believed = |tokens: Option<u64>| tokens.filter(|tokens| *tokens <= MOST_TOKENS);
        let (input_tokens, output_tokens) = (believed(input_tokens), believed(output_tokens));
        Usage {
            calls: 1,
            unreported_calls: u64::from(input_tokens.is_none() || output_tokens.is_none()),
            input_tokens,
            output_tokens,
            largest_input_tokens: input_tokens,
            largest_output_tokens: output_tokens,
            largest_total_tokens: input_tokens.zip(output_tokens).map(|(input, output)| input.saturating_add(output)),
            ..Usage::default()
        }
    }

    /// The sum of several replies' usage; `None` if none reported any. Where only some did, the others count as calls
    /// without reported tokens.
    pub fn sum_reported(replies: impl IntoIterator<Item = Option<Usage>>) -> Option<Usage> {
        let (mut sum, mut is_reported) = (Usage::default(), false);
        for reported in replies {
            is_reported |= reported.is_some();
            sum = sum.plus(reported.unwrap_or(Usage::from_counts(None, None)));
        }
        is_reported.then_some(sum)
    }

    /// Tokens of requests and replies; `None` where one of the two is unknown.
    pub fn total_tokens(&self) -> Option<u64> {
        Some(self.input_tokens?.saturating_add(self.output_tokens?))
    }

    /// Both together: a number that only one side knows is the sum of what is known.
    pub fn plus(self, other: Usage) -> Usage {
        let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        Usage {
            calls: self.calls.saturating_add(other.calls),
            unreported_calls: self.unreported_calls.saturating_add(other.unreported_calls),
            input_tokens: add(self.input_tokens, other.input_tokens),
            cached_input_tokens: add(self.cached_input_tokens, other.cached_input_tokens),
            output_tokens: add(self.output_tokens, other.output_tokens),
            reasoning_tokens: add(self.reasoning_tokens, other.reasoning_tokens),
            // `None` is less than any number.
            largest_input_tokens: self.largest_input_tokens.max(other.largest_input_tokens),
            largest_output_tokens: self.largest_output_tokens.max(other.largest_output_tokens),
            largest_total_tokens: self.largest_total_tokens.max(other.largest_total_tokens),
        }
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_keep_the_unknown_apart_from_zero_and_the_largest_of_each() {
        let known = Usage { reasoning_tokens: Some(0), ..Usage::from_counts(Some(100), Some(5)) };
        let sum = known.plus(Usage::from_counts(Some(40), Some(50))).plus(Usage::from_counts(None, Some(1)));
        assert_eq!((sum.calls, sum.input_tokens, sum.output_tokens), (3, Some(140), Some(56)));
        assert_eq!((sum.cached_input_tokens, sum.reasoning_tokens), (None, Some(0)));
        assert_eq!((sum.unreported_calls, sum.total_tokens()), (1, Some(196)));
        let largest = (sum.largest_input_tokens, sum.largest_output_tokens, sum.largest_total_tokens);
        assert_eq!(largest, (Some(100), Some(50), Some(105)));
    }

    #[test]
    fn a_count_that_no_model_can_have_is_not_reported() {
        let usage = Usage::from_counts(Some(u64::MAX), Some(5));
        assert_eq!((usage.input_tokens, usage.unreported_calls, usage.largest_total_tokens), (None, 1, None));
    }

    #[test]
    fn a_reply_that_reports_nothing_is_missing_among_others_wherever_it_stands() {
        let reported = Some(Usage::from_counts(Some(100), Some(5)));
        for replies in [[reported, None], [None, reported]] {
            let sum = Usage::sum_reported(replies).unwrap();
            assert_eq!((sum.calls, sum.unreported_calls, sum.total_tokens()), (2, 1, Some(105)));
        }
        assert_eq!(Usage::sum_reported([None, None]), None);
        assert_eq!(Usage::sum_reported([]), None);
        assert_eq!(Usage::sum_reported([reported]), reported);
    }

    #[test]
    fn what_an_earlier_version_kept_is_read() {
        let kept = r#"{"calls":2,"inputTokens":10,"cachedInputTokens":null,"outputTokens":3,"reasoningTokens":null}"#;
        let shorter = r#"{"calls":2,"inputTokens":10,"outputTokens":3}"#;
        let usage: Usage = serde_json::from_str(kept).unwrap();
        assert_eq!((usage.calls, usage.input_tokens, usage.largest_input_tokens), (2, Some(10), None));
        assert_eq!(serde_json::to_string(&usage).unwrap(), shorter);
    }
}
