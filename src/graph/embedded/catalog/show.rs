//! What SHOW shows.

use graphdblite::Value as Engine;

use super::call::Rows;
use super::procedures::{self, list, text};
use super::rules::{Entity, Index, IndexKind, Rules};
use crate::graph::cypher::Token;
use crate::graph::embedded::engine::Store;
use crate::graph::embedded::refusal::Refusal;

/// What a SHOW shows, and where the statement goes on.
pub(super) struct Shown {
    /// Without YIELD.
    pub(super) brief: Rows,
    /// What YIELD can choose from.
    pub(super) full: Rows,
    pub(super) next: usize,
}

const INDEX: &[&str] = &[
    "id",
    "name",
    "state",
    "populationPercent",
    "type",
    "entityType",
    "labelsOrTypes",
    "properties",
    "indexProvider",
    "owningConstraint",
    "lastRead",
    "readCount",
    "trackedSince",
    "options",
    "failureMessage",
    "createStatement",
];
const CONSTRAINT: &[&str] = &[
    "id",
    "name",
    "type",
    "entityType",
    "labelsOrTypes",
    "properties",
    "ownedIndex",
    "propertyType",
    "options",
    "createStatement",
];
const PROCEDURE: &[&str] = &["name", "description", "mode", "worksOnSystem", "signature"];
const FUNCTION: &[&str] = &["name", "category", "description", "isBuiltIn"];
const DATABASE: &[&str] = &[
    "name",
    "type",
    "aliases",
    "access",
    "address",
    "role",
    "writer",
    "requestedStatus",
    "currentStatus",
    "statusMessage",
    "default",
    "home",
    "constituents",
];
const USER: &[&str] = &["user", "roles", "passwordChangeRequired", "suspended", "home"];

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

/// What the SHOW that these tokens begin with shows; `None` when nothing is known of it.
pub(super) fn shown(store: &Store, tokens: &[Token<'_>]) -> Result<Option<Shown>, Refusal> {
    let at =
        |at: usize, words: &[&str]| tokens.get(at).is_some_and(|token| words.iter().any(|word| token.is_word(word)));
    let found = |at: usize, words: &[&str]| (1..=at).find(|at| self::at(tokens, *at, words));
    if let Some(last) = found(3, &["INDEX", "INDEXES"]) {
        return indexes(&store.rules()?, &tokens[1..last], last + 1);
    }
    if let Some(last) = found(5, &["CONSTRAINT", "CONSTRAINTS"]) {
        return constraints(&store.rules()?, &tokens[1..last], last + 1);
    }
    if at(1, &["PROCEDURE", "PROCEDURES"]) {
        return Ok(Some(shown_as(4, PROCEDURE, procedures::listed(), executable(tokens, 2))));
    }
    if let Some(last) = found(3, &["FUNCTION", "FUNCTIONS"]) {
        let own = at(1, &["USER"]);
        let mut rows: Vec<Vec<Engine>> = FUNCTIONS
            .iter()
            .flat_map(|(category, names)| names.split_whitespace().map(move |name| (name, category)))
            .filter(|_| !own)
            .map(|(name, category)| vec![text(name), text(category), text(""), Engine::Bool(true)])
            .collect();
        by_name(&mut rows, 0);
        return Ok(Some(shown_as(3, FUNCTION, rows, executable(tokens, last + 1))));
    }
    if let Some(last) = found(2, &["DATABASE", "DATABASES"]) {
        return Ok(Some(databases(tokens, last)));
    }
    if at(1, &["CURRENT"]) && at(2, &["USER"]) || at(1, &["USERS"]) {
        let next = if at(1, &["USERS"]) { 2 } else { 3 };
        let row = vec![text("neo4j"), Engine::Null, Engine::Bool(false), Engine::Null, Engine::Null];
        return Ok(Some(shown_as(USER.len(), USER, vec![row], next)));
    }
    Ok(None)
}

fn at(tokens: &[Token<'_>], at: usize, words: &[&str]) -> bool {
    tokens.get(at).is_some_and(|token| words.iter().any(|word| token.is_word(word)))
}

fn shown_as(brief: usize, columns: &'static [&'static str], rows: Vec<Vec<Engine>>, next: usize) -> Shown {
    let cut = |row: &Vec<Engine>| row.iter().take(brief).cloned().collect();
    Shown {
        brief: Rows { columns: &columns[..brief], rows: rows.iter().map(cut).collect() },
        full: Rows { columns, rows },
        next,
    }
}

fn by_name(rows: &mut [Vec<Engine>], column: usize) {
    let name = |row: &Vec<Engine>| match &row[column] {
        Engine::String(name) => name.clone(),
        _ => String::new(),
    };
    rows.sort_by_key(name);
}

/// Behind `EXECUTABLE BY …`, which says nothing where there is one user.
fn executable(tokens: &[Token<'_>], mut next: usize) -> usize {
    if at(tokens, next, &["EXECUTABLE"]) {
        next += 1;
        if at(tokens, next, &["BY"]) {
            next += if at(tokens, next + 1, &["CURRENT"]) { 3 } else { 2 };
        }
    }
    next
}

fn indexes(rules: &Rules, kinds: &[Token<'_>], next: usize) -> Result<Option<Shown>, Refusal> {
    let kind = kinds.first().map_or("ALL".to_owned(), |kind| kind.text.to_uppercase());
    if !["ALL", "RANGE", "TEXT", "POINT", "LOOKUP", "FULLTEXT", "VECTOR"].contains(&kind.as_str()) || kinds.len() > 1 {
        return Ok(None);
    }
    let mut rows: Vec<Vec<Engine>> =
        rules.indexes.iter().filter(|index| kind == "ALL" || kind_text(index.kind) == kind).map(index).collect();
    by_name(&mut rows, 1);
    Ok(Some(shown_as(12, INDEX, rows, next)))
}

fn kind_text(kind: IndexKind) -> &'static str {
    match kind {
        IndexKind::Range => "RANGE",
        IndexKind::Text => "TEXT",
        IndexKind::Point => "POINT",
        IndexKind::Lookup => "LOOKUP",
    }
}

fn entity(entity: Entity) -> Engine {
    text(match entity {
        Entity::Node => "NODE",
        Entity::Relationship => "RELATIONSHIP",
    })
}

/// A list that is null where everything is meant.
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
        Entity::Node => ("n", format!("(n{of})")),
        Entity::Relationship => ("r", format!("()-[r{of}]-()")),
    };
    let properties: Vec<String> = subject.properties.iter().map(|key| format!("{variable}.`{key}`")).collect();
    let properties = properties.join(", ");
    if index.owner.is_some() {
        return format!("CREATE CONSTRAINT `{name}` FOR {pattern} REQUIRE ({properties}) IS UNIQUE");
    }
    match (index.kind, subject.entity) {
        (IndexKind::Lookup, Entity::Node) => format!("CREATE LOOKUP INDEX `{name}` FOR {pattern} ON EACH labels(n)"),
        (IndexKind::Lookup, _) => format!("CREATE LOOKUP INDEX `{name}` FOR {pattern} ON EACH type(r)"),
        (kind, _) => format!("CREATE {} INDEX `{name}` FOR {pattern} ON ({properties})", kind_text(kind)),
    }
}

fn constraints(rules: &Rules, kinds: &[Token<'_>], next: usize) -> Result<Option<Shown>, Refusal> {
    let words: Vec<String> = kinds.iter().map(|kind| kind.text.to_uppercase()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (nodes, relationships) = match words.as_slice() {
        [] | ["ALL"] | ["UNIQUE" | "UNIQUENESS"] | ["PROPERTY", "UNIQUE" | "UNIQUENESS"] => (true, true),
        ["NODE", "UNIQUE" | "UNIQUENESS"] | ["NODE", "PROPERTY", "UNIQUE" | "UNIQUENESS"] => (true, false),
        ["RELATIONSHIP" | "REL", "UNIQUE" | "UNIQUENESS"]
        | ["RELATIONSHIP" | "REL", "PROPERTY", "UNIQUE" | "UNIQUENESS"] => (false, true),
        _ if words.iter().all(|word| {
            ["NODE", "RELATIONSHIP", "REL", "PROPERTY", "KEY", "EXIST", "EXISTENCE", "TYPE"].contains(word)
        }) =>
        {
            (false, false)
        }
        _ => return Ok(None),
    };
    let mut rows: Vec<Vec<Engine>> = rules
        .constraints
        .iter()
        .filter(|rule| if rule.entity == Entity::Node { nodes } else { relationships })
        .map(|rule| {
            let owned = rules.indexes.iter().find(|index| index.id == rule.index);
            vec![
                Engine::I64(rule.id),
                text(&rule.name),
                text(rule.kind()),
                entity(rule.entity),
                list(std::slice::from_ref(&rule.name_of_entity)),
                list(&rule.properties),
                text(&rule.name),
                Engine::Null,
                options("range-1.0"),
                text(&owned.map(created).unwrap_or_default()),
            ]
        })
        .collect();
    by_name(&mut rows, 1);
    Ok(Some(shown_as(8, CONSTRAINT, rows, next)))
}

/// `SHOW DATABASES`, `SHOW DATABASE name`, `SHOW DEFAULT DATABASE`, `SHOW HOME DATABASE`.
fn databases(tokens: &[Token<'_>], last: usize) -> Shown {
    let mut next = last + 1;
    let mut wanted = true;
    if last == 1 && tokens[1].is_word("DATABASE") && !at(tokens, 2, &["YIELD", "WHERE"]) {
        wanted = tokens.get(2).is_none_or(|name| name.text.trim_matches('`').eq_ignore_ascii_case("neo4j"));
        next = 3;
    }
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
    shown_as(DATABASE.len(), DATABASE, rows, next)
}
