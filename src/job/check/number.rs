//! Numbers: finite, exact, in range.

use serde_json::Value;

use super::wording::percent;
use super::{Check, ValueContext};
use crate::job::source::{YamlContent, YamlNode};

/// A bound above this is there for the machine's sake and not worth mentioning when the other one is broken.
const MENTIONED: f64 = 1e6;

impl Check<'_, '_> {
    pub(super) fn number(&mut self, schema: &Value, node: &YamlNode, place: &ValueContext<'_>) {
        if !self.exact(node) {
            return;
        }
        let value = match &node.content {
            YamlContent::Int(number) => number.as_f64().unwrap_or(f64::NAN),
            YamlContent::Float(number) => *number,
            _ => return,
        };
        let (least, above, most) =
            (schema["minimum"].as_f64(), schema["exclusiveMinimum"].as_f64(), schema["maximum"].as_f64());
        let too_low = least.is_some_and(|least| value < least) || above.is_some_and(|above| value <= above);
        let too_high = most.is_some_and(|most| value > most);
        if too_low || too_high {
            let bounds = match (least, above, most) {
                (Some(least), _, Some(most)) if most < MENTIONED => format!("from {least} to {most}"),
                (_, _, Some(most)) if too_high => format!("at most {most}"),
                (Some(least), _, _) => format!("at least {least}"),
                (_, Some(above), _) => format!("more than {above}"),
                _ => return,
            };
            let written = self.report.lines.written(node.span);
            let help = (too_high && most == Some(1.0) && (2.0..=100.0).contains(&value)).then(|| percent(value));
            self.report.add(node.span, format!("{} must be {bounds}, found {written}", place.label)).try_this(help);
        }
    }

    /// Reports a number that JSON can't hold, or not exactly.
    pub(super) fn exact(&mut self, node: &YamlNode) -> bool {
        let written = self.report.lines.written(node.span);
        match &node.content {
            YamlContent::Float(number) if !number.is_finite() => {
                self.report.add(node.span, format!("expected a finite number, found {written}"));
                false
            }
            YamlContent::Float(_) if is_integer(written) => {
                self.report
                    .add(node.span, format!("the integer {written} does not fit in 64 bits"))
                    .try_this(format!("if it is meant as text, put it in quotes: \"{written}\""));
                false
            }
            _ => true,
        }
    }
}

fn is_integer(written: &str) -> bool {
    let digits = written.trim_start_matches(['+', '-']);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
