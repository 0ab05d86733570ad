use rusqlite::Connection;

use crate::edge;
use crate::id::next_node_id;
use crate::stats;
use crate::storage::kv;
use crate::types::{
    validate_name, Direction, GraphError, Node, NodeId, NodeRecord, Properties, Result, Value,
};

/// Create a new node with the given labels and properties.
///
/// An empty `labels` slice creates an unlabeled node (valid in openCypher).
pub fn create_node(conn: &Connection, labels: &[String], properties: Properties) -> Result<NodeId> {
    for label in labels {
        validate_name(label)?;
    }
    for key in properties.keys() {
        validate_name(key)?;
    }
    let id = next_node_id(conn)?;
    let sorted_labels = normalize_labels(labels);
    // eval-job: counts.
    crate::counts::remember_keys(conn, &properties)?;
    crate::counts::count(|counts| {
        counts.nodes_created += 1;
        counts.labels_added += sorted_labels.len() as u64;
        counts.properties_set += properties.values().filter(|value| **value != Value::Null).count() as u64;
    });
    crate::counts::touch(&sorted_labels);
    let record = NodeRecord {
        labels: sorted_labels.clone(),
        properties,
    };
    let data = rmp_serde::to_vec(&record).map_err(|e| GraphError::Serialization {
        context: String::new(),
        source: e.to_string(),
        hint: None,
    })?;
    let label_col = sorted_labels.join(":");
    put_node(conn, &id.to_be_bytes(), &label_col, &data)?;
    for label in &sorted_labels {
        stats::increment_label_count(conn, label)?;
    }
    Ok(id)
}

/// The label set as stored on a node: sorted, each label once. `CREATE
/// (n:A:A)` must store `[A]`, otherwise the label counter drifts.
pub fn normalize_labels(labels: &[String]) -> Vec<String> {
    let mut sorted = labels.to_vec();
    sorted.sort();
    sorted.dedup();
    sorted
}

/// Get a node by ID.
pub fn get_node(conn: &Connection, id: NodeId) -> Result<Node> {
    let data = kv::get(conn, kv::TABLE_NODES, &id.to_be_bytes())?
        .ok_or(GraphError::NodeNotFound { id, hint: None })?;
    crate::bounds::room_to_read(data.len()); // eval-job
    let record: NodeRecord =
        rmp_serde::from_slice(&data).map_err(|e| GraphError::Serialization {
            context: String::new(),
            source: e.to_string(),
            hint: None,
        })?;
    Ok(Node {
        id,
        labels: record.labels,
        properties: record.properties,
    })
}

/// Check if a node exists (without fetching the full BLOB).
pub fn node_exists(conn: &Connection, id: NodeId) -> Result<bool> {
    let mut stmt = conn.prepare_cached("SELECT 1 FROM nodes WHERE key = ?1 LIMIT 1")?;
    let exists = stmt.query_row([&id.to_be_bytes()[..]], |_| Ok(())).is_ok();
    Ok(exists)
}

/// Check if a node has any edges (incoming or outgoing).
pub fn node_has_edges(conn: &Connection, id: NodeId) -> Result<bool> {
    let out = edge::get_all_edge_labels(conn, id, Direction::Outgoing)?;
    if !out.is_empty() {
        return Ok(true);
    }
    let inc = edge::get_all_edge_labels(conn, id, Direction::Incoming)?;
    Ok(!inc.is_empty())
}

/// Delete a node and all its edges (cascading).
pub fn delete_node(conn: &Connection, id: NodeId) -> Result<()> {
    // Read the node to get its label for stats tracking.
    let node = get_node(conn, id)?;

    // Delete all outgoing edges.
    let out_edges = edge::get_all_edge_labels(conn, id, Direction::Outgoing)?;
    for (label, neighbors) in &out_edges {
        for &dst in neighbors {
            edge::delete_edge(conn, id, NodeId(dst), label)?;
        }
    }

    // Delete all incoming edges.
    let in_edges = edge::get_all_edge_labels(conn, id, Direction::Incoming)?;
    for (label, neighbors) in &in_edges {
        for &src in neighbors {
            edge::delete_edge(conn, NodeId(src), id, label)?;
        }
    }

    // Delete the node record.
    kv::delete(conn, kv::TABLE_NODES, &id.to_be_bytes())?;
    // eval-job: counts.
    crate::counts::count(|counts| counts.nodes_deleted += 1);
    for label in &node.labels {
        stats::decrement_label_count(conn, label)?;
    }
    Ok(())
}

/// Set a property on an existing node (read-modify-write).
pub fn set_node_property(conn: &Connection, id: NodeId, key: &str, value: Value) -> Result<()> {
    validate_name(key)?;
    let data = kv::get(conn, kv::TABLE_NODES, &id.to_be_bytes())?
        .ok_or(GraphError::NodeNotFound { id, hint: None })?;
    let mut record: NodeRecord =
        rmp_serde::from_slice(&data).map_err(|e| GraphError::Serialization {
            context: String::new(),
            source: e.to_string(),
            hint: None,
        })?;
    if value == Value::Null {
        record.properties.remove(key);
    } else {
        record.properties.insert(key.to_string(), value);
    }
    let new_data = rmp_serde::to_vec(&record).map_err(|e| GraphError::Serialization {
        context: String::new(),
        source: e.to_string(),
        hint: None,
    })?;
    let label_col = record.labels.join(":");
    put_node(conn, &id.to_be_bytes(), &label_col, &new_data)?;
    Ok(())
}

/// Remove a property from an existing node.
pub fn remove_node_property(conn: &Connection, id: NodeId, key: &str) -> Result<()> {
    let data = kv::get(conn, kv::TABLE_NODES, &id.to_be_bytes())?
        .ok_or(GraphError::NodeNotFound { id, hint: None })?;
    let mut record: NodeRecord =
        rmp_serde::from_slice(&data).map_err(|e| GraphError::Serialization {
            context: String::new(),
            source: e.to_string(),
            hint: None,
        })?;
    record.properties.remove(key);
    let new_data = rmp_serde::to_vec(&record).map_err(|e| GraphError::Serialization {
        context: String::new(),
        source: e.to_string(),
        hint: None,
    })?;
    let label_col = record.labels.join(":");
    put_node(conn, &id.to_be_bytes(), &label_col, &new_data)?;
    Ok(())
}

/// Remove a label from an existing node.
pub fn remove_node_label(conn: &Connection, id: NodeId, label: &str) -> Result<()> {
    let data = kv::get(conn, kv::TABLE_NODES, &id.to_be_bytes())?
        .ok_or(GraphError::NodeNotFound { id, hint: None })?;
    let mut record: NodeRecord =
        rmp_serde::from_slice(&data).map_err(|e| GraphError::Serialization {
            context: String::new(),
            source: e.to_string(),
            hint: None,
        })?;
    if !record.labels.contains(&label.to_string()) {
        return Ok(());
    }
    record.labels.retain(|l| l != label);
    let new_data = rmp_serde::to_vec(&record).map_err(|e| GraphError::Serialization {
        context: String::new(),
        source: e.to_string(),
        hint: None,
    })?;
    let label_col = record.labels.join(":");
    put_node(conn, &id.to_be_bytes(), &label_col, &new_data)?;
    stats::decrement_label_count(conn, label)?;
    // eval-job: counts.
    crate::counts::count(|counts| counts.labels_removed += 1);
    Ok(())
}

/// Add a label to an existing node. No-op if already present.
pub fn add_node_label(conn: &Connection, id: NodeId, label: &str) -> Result<()> {
    let data = kv::get(conn, kv::TABLE_NODES, &id.to_be_bytes())?
        .ok_or(GraphError::NodeNotFound { id, hint: None })?;
    let mut record: NodeRecord =
        rmp_serde::from_slice(&data).map_err(|e| GraphError::Serialization {
            context: String::new(),
            source: e.to_string(),
            hint: None,
        })?;
    if record.labels.contains(&label.to_string()) {
        return Ok(());
    }
    record.labels.push(label.to_string());
    record.labels.sort();
    let new_data = rmp_serde::to_vec(&record).map_err(|e| GraphError::Serialization {
        context: String::new(),
        source: e.to_string(),
        hint: None,
    })?;
    let label_col = record.labels.join(":");
    put_node(conn, &id.to_be_bytes(), &label_col, &new_data)?;
    stats::increment_label_count(conn, label)?;
    // eval-job: counts.
    crate::counts::count(|counts| counts.labels_added += 1);
    crate::counts::touch(&record.labels);
    Ok(())
}

/// Replace all properties on an existing node.
pub fn set_all_node_properties(
    conn: &Connection,
    id: NodeId,
    properties: Properties,
) -> Result<()> {
    let data = kv::get(conn, kv::TABLE_NODES, &id.to_be_bytes())?
        .ok_or(GraphError::NodeNotFound { id, hint: None })?;
    let mut record: NodeRecord =
        rmp_serde::from_slice(&data).map_err(|e| GraphError::Serialization {
            context: String::new(),
            source: e.to_string(),
            hint: None,
        })?;
    record.properties = properties;
    // eval-job: counts.
    crate::counts::remember_keys(conn, &record.properties)?;
    crate::counts::touch(&record.labels);
    let new_data = rmp_serde::to_vec(&record).map_err(|e| GraphError::Serialization {
        context: String::new(),
        source: e.to_string(),
        hint: None,
    })?;
    let label_col = record.labels.join(":");
    put_node(conn, &id.to_be_bytes(), &label_col, &new_data)?;
    Ok(())
}

/// Scan nodes by label using the indexed label column.
///
/// When `label` is empty, returns all nodes.
pub fn find_nodes_by_label(conn: &Connection, label: &str) -> Result<Vec<Node>> {
    let (sql, use_param) = if label.is_empty() {
        (
            "SELECT key, value FROM nodes ORDER BY key".to_string(),
            false,
        )
    } else {
        (
            // `instr` is an exact, case-sensitive substring test. `LIKE` must
            // not be used here: it is ASCII case-insensitive and treats `_`
            // (legal in labels) as a single-character wildcard, so
            // `:person` / `:A_B` would match `Person` / `AxB` nodes.
            "SELECT key, value FROM nodes WHERE label = ?1 OR instr(':' || label || ':', ':' || ?1 || ':') > 0 ORDER BY key".to_string(),
            true,
        )
    };

    let mut stmt = conn.prepare_cached(&sql)?;
    // eval-job: read one by one, so that they are not held twice.
    let mut rows = if use_param {
        stmt.query(rusqlite::params![label])?
    } else {
        stmt.query([])?
    };

    let mut nodes = Vec::new();
    while let Some(row) = rows.next()? {
        let (key, data) = (row.get::<_, Vec<u8>>(0)?, row.get::<_, Vec<u8>>(1)?);
        crate::bounds::check(); // eval-job
        crate::bounds::room_to_read(data.len());
        let record: NodeRecord =
            rmp_serde::from_slice(&data).map_err(|e| GraphError::Serialization {
                context: String::new(),
                source: e.to_string(),
                hint: None,
            })?;
        let id = NodeId::from_be_bytes(key.get(..8).and_then(|s| s.try_into().ok()).ok_or_else(
            || GraphError::Serialization {
                context: String::new(),
                source: "corrupt node key bytes".into(),
                hint: None,
            },
        )?);
        nodes.push(Node {
            id,
            labels: record.labels,
            properties: record.properties,
        });
    }
    Ok(nodes)
}

// eval-job: a scan that holds a few nodes at a time.
/// All nodes with a label (all nodes when it is empty), a batch at a time, in the order of
/// [`find_nodes_by_label`]. Nothing may be written between two batches but to nodes that were read.
pub(crate) struct Scan<'a> {
    label: &'a str,
    last: Vec<u8>,
    batch: usize,
    over: bool,
}

impl<'a> Scan<'a> {
    const MOST_NODES: usize = 1024;
    const MOST_BYTES: usize = 1 << 20;

    pub(crate) fn new(label: &'a str) -> Scan<'a> {
        Scan { label, last: Vec::new(), batch: 64, over: false }
    }

    pub(crate) fn next(&mut self, conn: &Connection) -> Result<Option<Vec<Node>>> {
        if self.over {
            return Ok(None);
        }
        let mut stmt = conn.prepare_cached(if self.label.is_empty() {
            "SELECT key, value FROM nodes WHERE key > ?1 ORDER BY key"
        } else {
            "SELECT key, value FROM nodes WHERE (label = ?2 OR instr(':' || label || ':', ':' || ?2 || ':') > 0) \
             AND key > ?1 ORDER BY key"
        })?;
        let mut rows = if self.label.is_empty() {
            stmt.query(rusqlite::params![self.last])?
        } else {
            stmt.query(rusqlite::params![self.last, self.label])?
        };
        let (mut nodes, mut bytes) = (Vec::new(), 0);
        while nodes.len() < self.batch && bytes < Self::MOST_BYTES {
            let Some(row) = rows.next()? else {
                self.over = true;
                break;
            };
            let corrupt = |source: String| GraphError::Serialization {
                context: String::new(),
                source,
                hint: None,
            };
            let key: Vec<u8> = row.get(0)?;
            let data = row.get_ref(1)?.as_blob().map_err(|e| corrupt(e.to_string()))?;
            crate::bounds::check();
            crate::bounds::room_to_read(data.len());
            bytes += data.len();
            let record: NodeRecord =
                rmp_serde::from_slice(data).map_err(|e| corrupt(e.to_string()))?;
            let id = key.get(..8).and_then(|s| s.try_into().ok());
            let id = id.ok_or_else(|| corrupt("corrupt node key bytes".into()))?;
            nodes.push(Node {
                id: NodeId::from_be_bytes(id),
                labels: record.labels,
                properties: record.properties,
            });
            self.last = key;
        }
        self.batch = (2 * self.batch).min(Self::MOST_NODES);
        Ok(if nodes.is_empty() { None } else { Some(nodes) })
    }
}

/// Insert or replace a node row in the v2 schema (key + label + value).
fn put_node(conn: &Connection, key: &[u8], label: &str, value: &[u8]) -> Result<()> {
    crate::bounds::check(); // eval-job
    let mut stmt = conn
        .prepare_cached("INSERT OR REPLACE INTO nodes (key, label, value) VALUES (?1, ?2, ?3)")?;
    stmt.execute(rusqlite::params![key, label, value])?;
    Ok(())
}
