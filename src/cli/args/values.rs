//! Values of the command line, and the sentences about wrong ones.

use clap::ValueEnum;

use crate::evidence::Condition;
use crate::money::Dollars;
use crate::score::Score;

/// A condition, as it is typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(in crate::cli) enum ConditionArg {
    /// Only the conversation in which the persona does not know the facts
    WithoutFacts,
    /// Only the conversation in which the persona knows the facts
    WithFacts,
}

/// Where colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ColorArg {
    /// On a terminal, unless NO_COLOR says otherwise; CLICOLOR_FORCE=1: everywhere
    Auto,
    /// Everywhere, also in a file
    Always,
    /// Nowhere
    Never,
}

impl From<ConditionArg> for Condition {
    fn from(arg: ConditionArg) -> Condition {
        match arg {
            ConditionArg::WithoutFacts => Condition::WithoutFacts,
            ConditionArg::WithFacts => Condition::WithFacts,
        }
    }
}

/// A parser of whole numbers that tells which ones it takes.
pub(super) fn whole_number<T: TryFrom<u64>>(least: u64, most: u64) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text: &str| {
        let number = text.parse::<u64>().ok().filter(|number| (least..=most).contains(number));
        number
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| format!("a whole number from {least} to {most}"))
    }
}

pub(super) fn parse_dollars(text: &str) -> Result<Dollars, String> {
    let amount = text.parse::<f64>().ok().and_then(Dollars::new).filter(|amount| *amount > Dollars::ZERO);
    amount.ok_or_else(|| "a cost is a number of US dollars, more than 0".to_owned())
}

pub(super) fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0 && *seconds <= 31_536_000.0);
    seconds.ok_or_else(|| "a time is a number of seconds, more than 0".to_owned())
}

pub(super) fn parse_score(text: &str) -> Result<Score, String> {
    text.parse::<f64>().ok().and_then(Score::new).ok_or_else(|| "a score is a number from 0 to 1".to_owned())
}
