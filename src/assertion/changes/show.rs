//! A `changes` assertion as text.

use serde_json::Value as Json;

use super::config::{ChangeConfig, ChangesConfig, EndConfig, PropertiesConfig, PropertyConfig};
use super::union::{AllowedConfig, LabelsConfig, MatcherConfig, NumbersConfig};

/// All that it allows for, on one line: `created (:A), [:R] ×2; deleted nothing; changed nothing; in turn 4`.
pub(super) fn label(check: &ChangesConfig) -> String {
    let mut parts = vec![
        allowed("created", &check.created),
        allowed("deleted", &check.deleted),
        allowed("changed", &check.changed),
    ];
    parts.extend(check.turn.map(|turns| format!("in {}", self::turns(turns))));
    parts.join("; ")
}

fn allowed(verb: &str, allowed: &AllowedConfig) -> String {
    let what = match allowed {
        AllowedConfig::None => "nothing".to_owned(),
        AllowedConfig::Any => "anything".to_owned(),
        AllowedConfig::Lines(lines) if lines.is_empty() => "nothing".to_owned(),
        AllowedConfig::Lines(lines) => lines.iter().map(line).collect::<Vec<_>>().join(", "),
    };
    format!("{verb} {what}")
}

/// `(:A {name: "x"})`, `()-[:R]->(:B)`, with what is set behind it.
pub(super) fn line(line: &ChangeConfig) -> String {
    let set = line.set.as_ref().map(|set| format!(" set {}", entries(set))).unwrap_or_default();
    match &line.relationship {
        None => format!("{}{set}", node(line.node.as_ref(), &line.properties)),
        Some(kind) => {
            let own =
                if line.properties.is_empty() { String::new() } else { format!(" {}", entries(&line.properties)) };
            format!("{}-[:{kind}{own}]->{}{set}", end(line.from.as_ref()), end(line.to.as_ref()))
        }
    }
}

/// `1`, `at least 1`, `at most 3`, `2 to 4`.
pub(super) fn count(numbers: NumbersConfig) -> String {
    match (numbers.min.unwrap_or(0), numbers.max) {
        (min, Some(max)) if min == max => min.to_string(),
        (min, None) => format!("at least {min}"),
        (0, Some(max)) => format!("at most {max}"),
        (min, Some(max)) => format!("{min} to {max}"),
    }
}

/// `turn 4`, `turns 2 to 4`, `turn 3 and later`.
pub(super) fn turns(numbers: NumbersConfig) -> String {
    match (numbers.min.unwrap_or(0), numbers.max) {
        (min, Some(max)) if min == max => format!("turn {min}"),
        (min, None) => format!("turn {min} and later"),
        (min, Some(max)) => format!("turns {} to {max}", min.max(1)),
    }
}

fn end(end: Option<&EndConfig>) -> String {
    end.map_or("()".to_owned(), |end| node(end.node.as_ref(), &end.properties))
}

fn node(labels: Option<&LabelsConfig>, properties: &PropertiesConfig) -> String {
    let labels: String = labels.iter().flat_map(|labels| &labels.0).map(|label| format!(":{label}")).collect();
    match (labels.is_empty(), properties.is_empty()) {
        (_, true) => format!("({labels})"),
        (true, false) => format!("({})", entries(properties)),
        (false, false) => format!("({labels} {})", entries(properties)),
    }
}

fn entries(properties: &PropertiesConfig) -> String {
    let entries = properties.iter().map(|(name, matcher)| match matcher {
        MatcherConfig::Equal(value) => format!("{name}: {value}"),
        MatcherConfig::Like(property) => format!("{name}: {}", like(property)),
    });
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}

fn like(property: &PropertyConfig) -> String {
    let Ok(Json::Object(entries)) = serde_json::to_value(property) else { return "…".to_owned() };
    let entries = entries.iter().map(|(key, value)| match value {
        Json::String(name) if key == "type" => format!("{key}: {name}"),
        _ => format!("{key}: {value}"),
    });
    format!("<{}>", entries.collect::<Vec<_>>().join(", "))
}
