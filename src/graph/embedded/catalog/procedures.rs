//! The procedures that drivers' libraries call, as Neo4j 5 Community has them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;

use graphdblite::{Edge, GraphError as Theirs, Node, NodeId, Properties, Value as Engine};

use super::NEO4J;
use super::call::NamedRows;
use super::rules::EntityKind;
use crate::graph::embedded::engine::OpenDatabase;
use crate::graph::embedded::error::StatementError;

/// Virtual nodes have ids that no stored one ever gets.
const VIRTUAL: u64 = 1 << 62;

/// A procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Procedure {
    name: &'static str,
    columns: &'static str,
    /// The most arguments.
    arguments: usize,
    mode: &'static str,
    description: &'static str,
}

const fn reads(name: &'static str, columns: &'static str, description: &'static str) -> Procedure {
    Procedure { name, columns, arguments: 0, mode: "READ", description }
}

const PROCEDURES: &[Procedure] = &[
    Procedure { arguments: 2, ..reads("db.awaitIndex", "", "Wait for an index to come online.") },
    Procedure { arguments: 1, ..reads("db.awaitIndexes", "", "Wait for all indexes to come online.") },
    Procedure { mode: "DBMS", ..reads("db.clearQueryCaches", "value", "Clears all query caches.") },
    reads("db.info", "id name creationDate", "Provides information regarding the database."),
    reads("db.labels", "label", "List all labels attached to nodes within a database."),
    reads(
        "db.ping",
        "success",
        "This procedure can be used by client side tooling to test whether they are connected.",
    ),
    reads("db.propertyKeys", "propertyKey", "List all property keys in the database."),
    reads("db.relationshipTypes", "relationshipType", "List all types attached to relationships within a database."),
    reads(
        "db.schema.nodeTypeProperties",
        "nodeType nodeLabels propertyName propertyTypes mandatory",
        "Show the derived property schema of the nodes in tabular form.",
    ),
    reads(
        "db.schema.relTypeProperties",
        "relType propertyName propertyTypes mandatory",
        "Show the derived property schema of the relationships in tabular form.",
    ),
    reads(
        "db.schema.visualization",
        "nodes relationships",
        "Visualizes the schema of the data based on available statistics.",
    ),
    Procedure {
        mode: "DBMS",
        ..reads("dbms.components", "name versions edition", "List DBMS components and their versions.")
    },
    Procedure {
        mode: "DBMS",
        ..reads("dbms.info", "id name creationDate", "Provides information regarding the DBMS.")
    },
    Procedure { mode: "DBMS", ..reads("dbms.showCurrentUser", "username roles flags", "Shows the current user.") },
    Procedure { mode: "DBMS", ..reads("tx.getMetaData", "metadata", "Provides attached transaction metadata.") },
];

/// The procedure of this name.
pub(super) fn procedure(name: &str) -> Option<&'static Procedure> {
    PROCEDURES.iter().find(|procedure| procedure.name == name)
}

/// All procedures, for SHOW PROCEDURES.
pub(super) fn listed() -> Vec<Vec<Engine>> {
    let row = |procedure: &Procedure| {
        let columns = procedure.columns.replace(' ', ", ");
        vec![
            text(procedure.name),
            text(procedure.description),
            text(procedure.mode),
            Engine::Bool(true),
            text(&format!("{}() :: ({columns})", procedure.name)),
        ]
    };
    PROCEDURES.iter().map(row).collect()
}

impl Procedure {
    /// Whether it is about the server.
    pub(super) fn administers(&self) -> bool {
        self.mode == "DBMS"
    }

    /// Refuses more arguments than it takes; the arguments' values make no difference to those procedures that take
    /// some.
    pub(super) fn accepts(&self, arguments: usize) -> Result<(), StatementError> {
        if arguments <= self.arguments {
            return Ok(());
        }
        Err(StatementError::statement(format!(
            "Procedure call provides too many arguments: {} takes {}, got {arguments}.",
            self.name, self.arguments,
        )))
    }

    pub(super) fn rows(&self, store: &OpenDatabase) -> Result<NamedRows, StatementError> {
        let rows = match self.name {
            "db.labels" => column(names(store, EntityKind::Node)?),
            "db.relationshipTypes" => column(names(store, EntityKind::Relationship)?),
            "db.propertyKeys" => column(keys(store)?),
            "db.schema.nodeTypeProperties" => property_types(store, EntityKind::Node)?,
            "db.schema.relTypeProperties" => property_types(store, EntityKind::Relationship)?,
            "db.schema.visualization" => drawn(store)?,
            name => fixed(name),
        };
        Ok(NamedRows { columns: self.columns.split_terminator(' ').collect(), rows })
    }
}

fn fixed(name: &str) -> Vec<Vec<Engine>> {
    // One graph a process, that begins when it does: its id and its date say nothing.
    let about = |name: &str| vec![text("eval-job"), text(name), text("1970-01-01T00:00:00Z")];
    match name {
        "dbms.components" => vec![vec![text("Neo4j Kernel"), list(&[NEO4J.to_owned()]), text("community")]],
        "db.ping" => vec![vec![Engine::Bool(true)]],
        "db.info" => vec![about("neo4j")],
        "dbms.info" => vec![about("system")],
        "db.clearQueryCaches" => vec![vec![text("Query caches cleared.")]],
        "dbms.showCurrentUser" => vec![vec![text("neo4j"), Engine::Null, list(&[])]],
        "tx.getMetaData" => vec![vec![Engine::Map(Default::default())]],
        _ => Vec::new(),
    }
}

pub(super) fn text(text: &str) -> Engine {
    Engine::String(text.to_owned())
}

pub(super) fn list(items: &[String]) -> Engine {
    Engine::List(items.iter().map(|item| text(item)).collect())
}

fn column(names: impl IntoIterator<Item = String>) -> Vec<Vec<Engine>> {
    names.into_iter().map(|name| vec![Engine::String(name)]).collect()
}

/// The labels or types that are in use, by data or by rules.
fn names(store: &OpenDatabase, entity: EntityKind) -> Result<BTreeSet<String>, Theirs> {
    let mut names: BTreeSet<String> = match entity {
        EntityKind::Node => store.database.labels()?.into_iter().collect(),
        EntityKind::Relationship => store.database.relationship_types()?.into_iter().collect(),
    };
    if let Ok(rules) = store.rules() {
        let of = rules.indexes.into_iter().filter(|index| index.subject.entity == entity);
        names.extend(of.flat_map(|index| index.subject.names));
    }
    Ok(names)
}

fn keys(store: &OpenDatabase) -> Result<Vec<String>, Theirs> {
    let mut keys = store.database.property_keys()?;
    if let Ok(rules) = store.rules() {
        for key in rules.indexes.into_iter().flat_map(|index| index.subject.properties) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    Ok(keys)
}

/// The properties of nodes with the same labels, or relationships of a type.
#[derive(Default)]
struct SeenProperties {
    number: u64,
    properties: BTreeMap<String, (u64, BTreeSet<String>)>,
}

impl SeenProperties {
    fn add(&mut self, properties: &Properties) {
        self.number += 1;
        for (key, value) in properties {
            let (number, types) = self.properties.entry(key.clone()).or_default();
            *number += 1;
            types.insert(type_of(value));
        }
    }

    /// Name, types, and whether all have it.
    fn rows(self) -> Vec<[Engine; 3]> {
        if self.properties.is_empty() {
            return vec![[Engine::Null, Engine::Null, Engine::Bool(false)]];
        }
        let all = self.number;
        let row = |(key, (number, types)): (String, (u64, BTreeSet<String>))| {
            let types: Vec<String> = types.into_iter().collect();
            [Engine::String(key), list(&types), Engine::Bool(number == all)]
        };
        self.properties.into_iter().map(row).collect()
    }
}

fn type_of(value: &Engine) -> String {
    match value {
        Engine::Bool(_) => "Boolean",
        Engine::I64(_) => "Long",
        Engine::F64(_) => "Double",
        Engine::String(_) => "String",
        Engine::Date(_) => "Date",
        Engine::LocalTime(_) => "LocalTime",
        Engine::Time(_) => "Time",
        Engine::LocalDateTime(_) => "LocalDateTime",
        Engine::DateTime(_) => "DateTime",
        Engine::Duration(_) => "Duration",
        Engine::List(items) => return format!("{}Array", items.first().map_or("String".to_owned(), type_of)),
        _ => "Any",
    }
    .to_owned()
}

/// The properties of nodes by their labels, or of relationships by their type.
fn property_types(store: &OpenDatabase, entity: EntityKind) -> Result<Vec<Vec<Engine>>, Theirs> {
    let mut seen: BTreeMap<Vec<String>, SeenProperties> = BTreeMap::new();
    match entity {
        EntityKind::Node => store.database.each_node(&mut |node: &Node| {
            let mut labels = node.labels.clone();
            labels.sort();
            seen.entry(labels).or_default().add(&node.properties);
            ControlFlow::Continue(())
        })?,
        EntityKind::Relationship => store.database.each_edge(&mut |edge: &Edge| {
            seen.entry(vec![edge.label.clone()]).or_default().add(&edge.properties);
            ControlFlow::Continue(())
        })?,
    };
    let rows = seen.into_iter().flat_map(|(names, seen)| {
        let sort = text(&names.iter().map(|name| format!(":`{name}`")).collect::<String>());
        let labels = (entity == EntityKind::Node).then(|| list(&names));
        let first: Vec<Engine> = std::iter::once(sort).chain(labels).collect();
        seen.rows().into_iter().map(move |row| first.iter().cloned().chain(row).collect())
    });
    Ok(rows.collect())
}

/// One node for each label, and one relationship for each type between two labels.
fn drawn(store: &OpenDatabase) -> Result<Vec<Vec<Engine>>, Theirs> {
    let rules = store.rules().unwrap_or_default();
    let labels: Vec<String> = names(store, EntityKind::Node)?.into_iter().collect();
    let nodes = labels.iter().enumerate().map(|(at, label)| {
        let about = |owned: bool| {
            let of = rules.indexes.iter().filter(|index| index.subject.names.contains(label));
            let texts: Vec<String> = of
                .filter(|index| index.subject.entity == EntityKind::Node && index.owner.is_some() == owned)
                .map(|index| index.subject.properties.join(","))
                .collect();
            list(&texts)
        };
        let properties = [("name", text(label)), ("indexes", about(false)), ("constraints", about(true))];
        Engine::Node(Node {
            id: NodeId(VIRTUAL + at as u64),
            labels: vec![label.clone()],
            properties: properties.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        })
    });
    let nodes: Vec<Engine> = nodes.collect();
    let place = |label: &String| labels.iter().position(|known| known == label);
    let mut of_node: HashMap<u64, Vec<usize>> = HashMap::new();
    store.database.each_node(&mut |node: &Node| {
        of_node.insert(node.id.0, node.labels.iter().filter_map(place).collect());
        ControlFlow::Continue(())
    })?;
    let mut drawn: BTreeSet<(String, usize, usize)> = BTreeSet::new();
    store.database.each_edge(&mut |edge: &Edge| {
        for start in of_node.get(&edge.src.0).into_iter().flatten() {
            for end in of_node.get(&edge.dst.0).into_iter().flatten() {
                drawn.insert((edge.label.clone(), *start, *end));
            }
        }
        ControlFlow::Continue(())
    })?;
    let relationships = drawn.into_iter().enumerate().map(|(at, (kind, start, end))| {
        Engine::Edge(Edge {
            src: NodeId(VIRTUAL + start as u64),
            dst: NodeId(VIRTUAL + end as u64),
            properties: [("name".to_owned(), text(&kind))].into_iter().collect(),
            label: kind,
            seq: at as u64,
        })
    });
    Ok(vec![vec![Engine::List(nodes), Engine::List(relationships.collect())]])
}
