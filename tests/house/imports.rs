//! Who may import whom. A room that is not in the table may not be imported by the room that is.

use std::collections::BTreeMap;

use super::{code, files, root};

/// What a room may import. `agent::Config` means: of that edge, only what a job file may say.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("evidence", &[]),
    ("score", &[]),
    ("clock", &[]),
    ("cypher", &["text"]),
    ("secret", &[]),
    ("descriptors", &[]),
    ("text", &[]),
    ("tool_list", &[]),
    ("retry", &["clock"]),
    ("http", &["clock", "secret", "text", "retry", "descriptors"]),
    ("limiter", &["clock", "secret", "retry"]),
    ("money", &["evidence"]),
    ("prompt", &["clock", "evidence"]),
    ("conversation", &["evidence", "text"]),
    ("script", &["clock", "score", "text"]),
    ("metric", &["clock", "evidence", "score", "prompt", "script", "text"]),
    ("assertion", &["clock", "cypher", "evidence", "score", "script", "text"]),
    (
        "job",
        &[
            "evidence",
            "score",
            "money",
            "secret",
            "text",
            "agent::Config",
            "graph::Config",
            "assertion::Config",
            "metric::Config",
        ],
    ),
    ("dataset", &["evidence", "secret", "text", "job", "metric"]),
    ("generate", &["evidence", "job", "metric", "secret", "text", "tool_list"]),
    (
        "plan",
        &[
            "evidence",
            "score",
            "money",
            "secret",
            "text",
            "job",
            "assertion::Config",
            "metric::Config",
            "agent::Config",
            "graph::Config",
            "llm::Config",
        ],
    ),
    ("grade", &["clock", "evidence", "score", "prompt", "job", "metric", "assertion"]),
    ("statistics", &[]),
    ("record", &["evidence", "score", "money", "limiter", "statistics"]),
    ("compare", &["evidence", "score", "record", "statistics"]),
    ("trend", &["compare", "evidence", "money", "record", "score", "statistics"]),
    ("coverage", &["assertion", "cypher", "evidence", "job", "metric", "text"]),
    ("calibration", &["evidence", "score", "record", "statistics"]),
    (
        "report",
        &["calibration", "compare", "evidence", "score", "money", "text", "record", "coverage", "statistics", "trend"],
    ),
    ("store", &["evidence", "score", "secret", "text", "record"]),
    ("graph", &["evidence", "clock", "cypher", "secret", "retry", "http", "descriptors", "text"]),
    ("agent", &["evidence", "clock", "secret", "retry", "http", "descriptors", "limiter", "text"]),
    ("agent/demo", &["evidence", "clock", "secret", "retry", "http", "graph"]),
    ("llm", &["evidence", "clock", "secret", "retry", "http", "descriptors", "limiter", "money", "text"]),
    ("cache", &["clock", "evidence", "llm", "secret"]),
    ("cassette", &["evidence", "secret", "agent", "graph", "llm", "text"]),
    (
        "run",
        &[
            "cache",
            "cassette",
            "evidence",
            "score",
            "money",
            "clock",
            "secret",
            "retry",
            "http",
            "limiter",
            "prompt",
            "conversation",
            "metric",
            "assertion",
            "job",
            "plan",
            "grade",
            "record",
            "graph",
            "agent",
            "llm",
            "descriptors",
            "text",
        ],
    ),
];

/// Names of an edge that say what a job file may say: pure, and all that `job` and `plan` may know of it.
fn is_config(import: &str) -> bool {
    [
        "Config",
        "Check",
        "Problem",
        "SettingError",
        "Ability",
        "_MODELS",
        "Expectation",
        "MetricEntry",
        "MetricKind",
        "Weights",
        "_problem",
        "_problems",
        "_use",
        "::looks_at_calls",
        "::check",
        "agent::transports",
    ]
    .iter()
    .any(|ending| import.ends_with(ending))
}

#[test]
fn nothing_points_left() {
    let source = root().join("src");
    let table: BTreeMap<&str, &[&str]> = MAY_IMPORT.iter().copied().collect();
    let mut wrong = Vec::new();
    let mut rooms_seen = std::collections::BTreeSet::new();
    for file in files(&source, "rs") {
        let path = file.strip_prefix(&source).unwrap().to_string_lossy().replace('\\', "/");
        let Some((room, rest)) = path.split_once('/') else { continue };
        if room == "cli" || path.ends_with("/tests.rs") || path.contains("/tests/") {
            continue;
        }
        rooms_seen.insert(room.to_owned());
        let member = rest.split_once('/').map(|(member, _)| format!("{room}/{member}")).unwrap_or_default();
        let may = table.get(member.as_str()).or_else(|| table.get(room));
        let Some(may) = may else {
            wrong.push(format!("{path}: the room `{room}` is not in the table"));
            continue;
        };
        for import in imports(&code(&file)) {
            let target = import.split("::").next().unwrap_or_default();
            let allowed = target == room
                || may.contains(&target)
                || (may.contains(&format!("{target}::Config").as_str()) && is_config(&import));
            if !allowed {
                wrong.push(format!("{path}: imports crate::{import}"));
            }
        }
    }
    assert!(wrong.is_empty(), "imports that the house forbids:\n{}", wrong.join("\n"));
    assert!(rooms_seen.len() >= 15, "only {rooms_seen:?} were read");
}

#[test]
fn members_of_an_edge_do_not_know_each_other() {
    let source = root().join("src");
    let mut wrong = Vec::new();
    for edge in ["agent", "graph", "llm", "assertion", "metric"] {
        let folder = source.join(edge);
        let members: Vec<String> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.path().is_dir())
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            // No members: the reading of Cypher text and the looking at graphs that all backends share; the functions of
            // bare models, the templates and picks of agents without a protocol, and conversations over HTTP, that several
            // transports share; what all questions to judges have in common.
            .filter(|name| !["cypher", "snapshot", "tools", "freeform", "rest", "judged"].contains(&name.as_str()))
            .collect();
        for member in &members {
            // Tests may set one beside another.
            for file in files(&folder.join(member), "rs").iter().filter(|file| !file.ends_with("tests.rs")) {
                for import in imports(&code(file)) {
                    let parts: Vec<&str> = import.split("::").collect();
                    if parts[0] == edge
                        && parts.len() > 2
                        && members.contains(&parts[1].to_owned())
                        && parts[1] != member
                    {
                        // The demo agent speaks Embabel's protocol, and trpc-agent-go's debug server ADK's.
                        if edge == "agent"
                            && [("demo", "embabel"), ("trpc", "adk")].contains(&(member.as_str(), parts[1]))
                        {
                            continue;
                        }
                        // Bolt is the embedded graph's own door.
                        if edge == "graph" && member == "bolt" && import.starts_with("graph::embedded::") {
                            continue;
                        }
                        wrong.push(format!("{edge}/{member}: imports crate::{import}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every `crate::…` path in the code, with braces multiplied out.
fn imports(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (start, _) in code.match_indices("crate::") {
        let before = code[..start].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        expand(&code[start + "crate::".len()..], "", &mut found);
    }
    found
}

/// Reads one path from the beginning of the text; returns how much of it was read.
fn expand(text: &str, prefix: &str, found: &mut Vec<String>) -> usize {
    let path: String = text.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | ':')).collect();
    let mut read = path.len();
    let whole = format!("{prefix}{path}");
    if text[read..].starts_with('{') {
        read += 1;
        loop {
            let skipped = text[read..].len() - text[read..].trim_start_matches([' ', '\n', ',']).len();
            read += skipped;
            match text[read..].chars().next() {
                None | Some('}') => return read + 1,
                Some(_) => {
                    let step = expand(&text[read..], &whole, found);
                    let rest = text[read + step..].find([',', '}']).unwrap_or(0);
                    read += step + rest;
                    if step + rest == 0 {
                        return read;
                    }
                }
            }
        }
    }
    found.push(whole.trim_end_matches(':').to_owned());
    read
}

#[test]
fn braces_are_multiplied_out() {
    let found =
        imports("use crate::agent::{Agent, demo::{DemoAgent, DEMO_MODELS}};\nlet x = crate::score::Score::ONE;");
    assert_eq!(
        found,
        ["agent::Agent", "agent::demo::DemoAgent", "agent::demo::DEMO_MODELS", "score::Score::ONE"].map(str::to_owned)
    );
}
