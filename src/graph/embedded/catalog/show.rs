//! The answers to SHOW.

use graphdblite::Value as Engine;

use super::call::NamedRows;
use super::procedures::{self, list, text};
use super::rules::{Constraint, EntityKind, Index, IndexKind, Rules};
use crate::cypher::{Statement, is_one_of};
use crate::graph::embedded::engine::OpenDatabase;
use crate::graph::embedded::error::StatementError;

/// The answer to a SHOW, and where the statement goes on.
pub(super) struct ShowAnswer {
    /// Without YIELD.
    pub(super) brief: NamedRows,
    /// All columns, from which YIELD chooses.
    pub(super) full: NamedRows,
    pub(super) next: usize,
}

const INDEX: &str = "id name state populationPercent type entityType labelsOrTypes properties indexProvider \
                     owningConstraint lastRead readCount trackedSince options failureMessage createStatement";
const CONSTRAINT: &str =
    "id name type entityType labelsOrTypes properties ownedIndex propertyType options createStatement";
const PROCEDURE: &str = "name description mode worksOnSystem signature";
const FUNCTION: &str = "name category description isBuiltIn";
const DATABASE: &str = "name type aliases access address role writer requestedStatus currentStatus statusMessage default home \
                        constituents";
const USER: &str = "user roles passwordChangeRequired suspended home";

/// The functions of the graph, by Neo4j's names for their kinds.
const FUNCTIONS: &[(&str, &str)] = &[
    ("Aggregating", "avg collect count max min percentileCont percentileDisc stDev sum"),
    ("Duration", "duration duration.between duration.inDays duration.inMonths duration.inSeconds"),
    ("List", "keys labels nodes range relationships reverse tail"),
    ("Logarithmic", "e exp log log10 sqrt"),
    ("Numeric", "abs ceil floor rand round sign"),
    ("Predicate", "all any exists isEmpty none single"),
    (
        "Scalar",
        "coalesce elementId endNode head id last length properties randomUUID size startNode timestamp toBoolean \
         toFloat toInteger type",
    ),
    ("String", "left lTrim replace right rTrim split substring toLower toString toUpper trim"),
    (
        "Temporal",
        "date date.truncate datetime datetime.fromepoch datetime.fromepochmillis datetime.truncate localdatetime \
         localdatetime.truncate localtime localtime.truncate time time.truncate",
    ),
];

/// The answer to a SHOW; `None` when nothing is known of it.
pub(super) fn shown(store: &OpenDatabase, s: &Statement<'_>) -> Result<Option<ShowAnswer>, StatementError> {
    let found = |most: usize, keywords: &str| (1..=most).find(|at| s.keyword(*at, keywords));
    let shown = if let Some(last) = found(3, "INDEX INDEXES") {
        let kind = if last == 1 { "ALL".to_owned() } else { s.at(1).to_uppercase() };
        let known = last < 3 && is_one_of(&kind, "ALL RANGE TEXT POINT LOOKUP FULLTEXT VECTOR");
        let rules = store.rules()?;
        known.then(|| shown_as(12, INDEX, indexes(&rules, &kind), last + 1))
    } else if let Some(last) = found(5, "CONSTRAINT CONSTRAINTS") {
        let rows = constraints(&store.rules()?, &s.text(&(1..last)).to_uppercase());
        rows.map(|rows| shown_as(8, CONSTRAINT, rows, last + 1))
    } else if s.keyword(1, "PROCEDURE PROCEDURES") {
        Some(shown_as(4, PROCEDURE, procedures::listed(), executable(s, 2)))
    } else if let Some(last) = found(3, "FUNCTION FUNCTIONS") {
        let names = FUNCTIONS.iter().filter(|_| !s.keyword(1, "USER")).flat_map(|(category, names)| {
            names.split_whitespace().map(|name| vec![text(name), text(category), text(""), Engine::Bool(true)])
        });
        Some(shown_as(3, FUNCTION, by_name(names.collect(), 0), executable(s, last + 1)))
    } else if let Some(last) = found(2, "DATABASE DATABASES") {
        Some(databases(s, last))
    } else if s.keyword(1, "CURRENT") && s.keyword(2, "USER") || s.keyword(1, "USERS") {
        let next = if s.keyword(1, "USERS") { 2 } else { 3 };
        let row = vec![text("neo4j"), Engine::Null, Engine::Bool(false), Engine::Null, Engine::Null];
        Some(shown_as(usize::MAX, USER, vec![row], next))
    } else {
        None
    };
    Ok(shown)
}

/// Rows of which so many columns are shown without YIELD.
fn shown_as(brief: usize, columns: &'static str, rows: Vec<Vec<Engine>>, next: usize) -> ShowAnswer {
    let full = NamedRows { columns: columns.split(' ').collect(), rows };
    let cut = |row: &Vec<Engine>| row.iter().take(brief).cloned().collect();
    let columns = full.columns.iter().take(brief).copied().collect();
    ShowAnswer { brief: NamedRows { columns, rows: full.rows.iter().map(cut).collect() }, full, next }
}

fn by_name(mut rows: Vec<Vec<Engine>>, column: usize) -> Vec<Vec<Engine>> {
    rows.sort_by_key(|row| if let Engine::String(name) = &row[column] { name.clone() } else { String::new() });
    rows
}

/// Behind `EXECUTABLE BY …`, which makes no difference where there is one user.
fn executable(s: &Statement<'_>, next: usize) -> usize {
    match (s.keyword(next, "EXECUTABLE"), s.keyword(next + 1, "BY"), s.keyword(next + 2, "CURRENT")) {
        (false, ..) => next,
        (_, false, _) => next + 1,
        (.., false) => next + 3,
        (.., true) => next + 4,
    }
}

fn indexes(rules: &Rules, kind: &str) -> Vec<Vec<Engine>> {
    let rows = rules.indexes.iter().filter(|index| kind == "ALL" || kind_text(index.kind) == kind).map(index);
    by_name(rows.collect(), 1)
}

fn kind_text(kind: IndexKind) -> &'static str {
    match kind {
        IndexKind::Range => "RANGE",
        IndexKind::Text => "TEXT",
        IndexKind::Point => "POINT",
        IndexKind::Lookup => "LOOKUP",
    }
}

fn entity(entity: EntityKind) -> Engine {
    text(match entity {
        EntityKind::Node => "NODE",
        EntityKind::Relationship => "RELATIONSHIP",
    })
}

/// A list that is null where it stands for everything.
fn some(items: &[String]) -> Engine {
    if items.is_empty() { Engine::Null } else { list(items) }
}

fn options(provider: &str) -> Engine {
    Engine::Map(
        [("indexConfig".to_owned(), Engine::Map(Default::default())), ("indexProvider".to_owned(), text(provider))]
            .into_iter()
            .collect(),
    )
}

fn index(index: &Index) -> Vec<Engine> {
    let provider = match index.kind {
        IndexKind::Range => "range-1.0",
        IndexKind::Text => "text-2.0",
        IndexKind::Point => "point-1.0",
        IndexKind::Lookup => "token-lookup-1.0",
    };
    vec![
        Engine::I64(index.id),
        text(&index.name),
        text("ONLINE"),
        Engine::F64(100.0),
        text(kind_text(index.kind)),
        entity(index.subject.entity),
        some(&index.subject.names),
        some(&index.subject.properties),
        text(provider),
        index.owner.as_deref().map_or(Engine::Null, text),
        Engine::Null,
        Engine::Null,
        Engine::Null,
        options(provider),
        text(""),
        text(&created(index)),
    ]
}

/// The statement that makes it again.
fn created(index: &Index) -> String {
    let (name, subject) = (&index.name, &index.subject);
    let of = subject.names.iter().map(|name| format!(":`{name}`")).collect::<String>();
    let (variable, pattern) = match subject.entity {
        EntityKind::Node => ("n", format!("(n{of})")),
        EntityKind::Relationship => ("r", format!("()-[r{of}]-()")),
    };
    let properties: Vec<String> = subject.properties.iter().map(|key| format!("{variable}.`{key}`")).collect();
    let properties = properties.join(", ");
    if index.owner.is_some() {
        return format!("CREATE CONSTRAINT `{name}` FOR {pattern} REQUIRE ({properties}) IS UNIQUE");
    }
    match (index.kind, subject.entity) {
        (IndexKind::Lookup, EntityKind::Node) => {
            format!("CREATE LOOKUP INDEX `{name}` FOR {pattern} ON EACH labels(n)")
        }
        (IndexKind::Lookup, _) => format!("CREATE LOOKUP INDEX `{name}` FOR {pattern} ON EACH type(r)"),
        (kind, _) => format!("CREATE {} INDEX `{name}` FOR {pattern} ON ({properties})", kind_text(kind)),
    }
}

/// The constraints of a sort, as SHOW names it.
fn constraints(rules: &Rules, sort: &str) -> Option<Vec<Vec<Engine>>> {
    let parts = || sort.split_whitespace();
    let is = |part: &str| parts().any(|other| other == part);
    let relationships = is("RELATIONSHIP") || is("REL");
    let unique = sort.is_empty() || sort == "ALL" || is("UNIQUE") || is("UNIQUENESS");
    if !parts()
        .all(|part| is_one_of(part, "ALL UNIQUE UNIQUENESS NODE RELATIONSHIP REL PROPERTY KEY EXIST EXISTENCE TYPE"))
    {
        return None;
    }
    let row = |rule: &Constraint| {
        let owned = rules.indexes.iter().find(|index| index.id == rule.index);
        vec![
            Engine::I64(rule.id),
            text(&rule.name),
            text(rule.kind()),
            entity(rule.subject.entity),
            list(&rule.subject.names),
            list(&rule.subject.properties),
            text(&rule.name),
            Engine::Null,
            options("range-1.0"),
            text(&owned.map(created).unwrap_or_default()),
        ]
    };
    let wanted = |rule: &&Constraint| match rule.subject.entity {
        EntityKind::Node => unique && !relationships,
        EntityKind::Relationship => unique && !is("NODE"),
    };
    Some(by_name(rules.constraints.iter().filter(wanted).map(row).collect(), 1))
}

/// `SHOW DATABASES`, `SHOW DATABASE name`, `SHOW DEFAULT DATABASE`, `SHOW HOME DATABASE`.
fn databases(s: &Statement<'_>, last: usize) -> ShowAnswer {
    let one = last == 1 && s.keyword(1, "DATABASE") && !s.keyword(2, "YIELD WHERE");
    let wanted = !one || s.len() < 3 || s.at(2).trim_matches('`').eq_ignore_ascii_case("neo4j");
    let next = if one { 3 } else { last + 1 };
    let row = vec![
        text("neo4j"),
        text("standard"),
        list(&[]),
        text("read-write"),
        text("127.0.0.1"),
        text("primary"),
        Engine::Bool(true),
        text("online"),
        text("online"),
        text(""),
        Engine::Bool(true),
        Engine::Bool(true),
        list(&[]),
    ];
    let rows = if wanted { vec![row] } else { Vec::new() };
    shown_as(usize::MAX, DATABASE, rows, next)
}
