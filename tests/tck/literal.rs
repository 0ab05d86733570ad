//! The TCK's way to write a value, and when a value is the one that was written.

use std::collections::BTreeMap;

use eval_job::graph::{Node, Path, Relationship, Value};

/// Reads one value: a literal, `(:A {x: 1})`, `[:T {x: 1}]` or `<(:A)-[:T]->()>`.
pub fn value(text: &str) -> Result<Value, String> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value().ok_or_else(|| format!("no value at byte {} of {text}", reader.at))?;
    reader.space();
    if reader.at == text.len() { Ok(value) } else { Err(format!("more than a value: {text}")) }
}

/// Whether a result is what is written: ids don't count, a temporal value is written as its text, and perhaps the order
/// of a list does not count.
pub fn same(written: &Value, got: &Value, any_order: bool) -> bool {
    match (written, got) {
        (Value::Float(written), Value::Float(got)) => written == got || written.is_nan() && got.is_nan(),
        // The TCK leaves out seconds of zero, Neo4j does not.
        (Value::String(written), Value::Temporal(got)) => {
            *written == got.text || *written == without_seconds(&got.text)
        }
        (Value::List(written), Value::List(got)) if any_order => all_found(written, got, |a, b| same(a, b, true)),
        (Value::List(written), Value::List(got)) => {
            written.len() == got.len() && written.iter().zip(got).all(|(a, b)| same(a, b, false))
        }
        (Value::Map(written), Value::Map(got)) => same_map(written, got, any_order),
        (Value::Node(written), Value::Node(got)) => same_node(written, got),
        (Value::Relationship(written), Value::Relationship(got)) => same_relationship(written, got),
        (Value::Path(written), Value::Path(got)) => {
            written.nodes.len() == got.nodes.len()
                && written.relationships.len() == got.relationships.len()
                && written.nodes.iter().zip(&got.nodes).all(|(a, b)| same_node(a, b))
                && written.relationships.iter().zip(&got.relationships).all(|(a, b)| same_relationship(a, b))
                && (0..got.relationships.len())
                    .all(|at| goes(written, at).iter().any(|way| goes(got, at).contains(way)))
        }
        _ => written == got,
    }
}

fn without_seconds(time: &str) -> String {
    let zone =
        time.find(['Z', '+', '[']).or(time.rfind('-').filter(|at| time[..*at].contains(':'))).unwrap_or(time.len());
    let (clock, zone) = time.split_at(zone);
    match clock.strip_suffix(":00") {
        Some(short) if clock.matches(':').count() == 2 => format!("{short}{zone}"),
        _ => time.to_owned(),
    }
}

/// Whether each one is found once, in any order.
pub fn all_found<T>(written: &[T], got: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
    let mut left: Vec<&T> = got.iter().collect();
    written.len() == got.len()
        && written.iter().all(|one| left.iter().position(|got| same(one, got)).map(|at| left.swap_remove(at)).is_some())
}

fn same_map(written: &BTreeMap<String, Value>, got: &BTreeMap<String, Value>, any_order: bool) -> bool {
    written.len() == got.len()
        && written.iter().zip(got).all(|((a, written), (b, got))| a == b && same(written, got, any_order))
}

fn same_node(written: &Node, got: &Node) -> bool {
    written.labels == got.labels && same_map(&written.properties, &got.properties, false)
}

fn same_relationship(written: &Relationship, got: &Relationship) -> bool {
    written.kind == got.kind && same_map(&written.properties, &got.properties, false)
}

/// The ways in which a path goes along its relationship: both for one from a node to itself.
fn goes(path: &Path, at: usize) -> Vec<&'static str> {
    let (relationship, from, to) = (&path.relationships[at], &path.nodes[at].id, &path.nodes[at + 1].id);
    let forward = (relationship.start == *from && relationship.end == *to).then_some("forward");
    let backward = (relationship.start == *to && relationship.end == *from).then_some("backward");
    forward.into_iter().chain(backward).collect()
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn space(&mut self) {
        self.at += self.text[self.at..].len() - self.text[self.at..].trim_start().len();
    }

    /// Takes this symbol if it is next.
    fn takes(&mut self, symbol: &str) -> bool {
        self.space();
        let found = self.text[self.at..].starts_with(symbol);
        self.at += if found { symbol.len() } else { 0 };
        found
    }

    fn span(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        self.space();
        let rest = &self.text[self.at..];
        let span = &rest[..rest.find(|c| !belongs(c)).unwrap_or(rest.len())];
        self.at += span.len();
        span
    }

    fn value(&mut self) -> Option<Value> {
        self.space();
        match self.text[self.at..].chars().next()? {
            '\'' => self.string().map(Value::String),
            '{' => self.map().map(Value::Map),
            '(' => self.node(0).map(Value::Node),
            '<' => self.path().map(Value::Path),
            '[' if self.text[self.at + 1..].trim_start().starts_with(':') => {
                self.relationship().map(Value::Relationship)
            }
            '[' => self.list().map(Value::List),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Option<Value> {
        Some(match self.span(|c| c.is_alphanumeric() || "+-.".contains(c)) {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "NaN" => Value::Float(f64::NAN),
            "Inf" => Value::Float(f64::INFINITY),
            "-Inf" => Value::Float(f64::NEG_INFINITY),
            number if number.contains(['.', 'e', 'E']) => Value::Float(number.parse().ok()?),
            number => Value::Int(number.parse().ok()?),
        })
    }

    fn string(&mut self) -> Option<String> {
        let mut string = String::new();
        let mut escaped = false;
        for (at, c) in self.text[self.at..].char_indices().skip(1) {
            match c {
                c if escaped => {
                    string.push(match c {
                        'n' => '\n',
                        't' => '\t',
                        c => c,
                    });
                    escaped = false;
                }
                '\\' => escaped = true,
                '\'' => {
                    self.at += at + 1;
                    return Some(string);
                }
                c => string.push(c),
            }
        }
        None
    }

    fn list(&mut self) -> Option<Vec<Value>> {
        let mut items = Vec::new();
        self.takes("[").then_some(())?;
        while !self.takes("]") {
            (items.is_empty() || self.takes(",")).then_some(())?;
            items.push(self.value()?);
        }
        Some(items)
    }

    fn map(&mut self) -> Option<BTreeMap<String, Value>> {
        let mut entries = BTreeMap::new();
        self.takes("{").then_some(())?;
        while !self.takes("}") {
            (entries.is_empty() || self.takes(",")).then_some(())?;
            let key = self.name();
            self.takes(":").then_some(())?;
            entries.insert(key, self.value()?);
        }
        Some(entries)
    }

    fn name(&mut self) -> String {
        if self.takes("`") {
            let name = self.span(|c| c != '`').to_owned();
            self.takes("`");
            return name;
        }
        self.span(|c| c.is_alphanumeric() || c == '_').to_owned()
    }

    fn properties(&mut self) -> Option<BTreeMap<String, Value>> {
        self.space();
        if self.text[self.at..].starts_with('{') { self.map() } else { Some(BTreeMap::new()) }
    }

    fn node(&mut self, id: usize) -> Option<Node> {
        self.takes("(").then_some(())?;
        let mut labels = Vec::new();
        while self.takes(":") {
            labels.push(self.name());
        }
        labels.sort();
        let properties = self.properties()?;
        self.takes(")").then_some(Node { id: id.to_string(), labels, properties })
    }

    fn relationship(&mut self) -> Option<Relationship> {
        (self.takes("[") && self.takes(":")).then_some(())?;
        let kind = self.name();
        let properties = self.properties()?;
        let (id, start, end) = (String::new(), String::new(), String::new());
        self.takes("]").then_some(Relationship { id, kind, start, end, properties })
    }

    fn path(&mut self) -> Option<Path> {
        self.takes("<").then_some(())?;
        let (mut nodes, mut relationships) = (vec![self.node(0)?], Vec::new());
        while !self.takes(">") {
            let at = nodes.len();
            let backward = self.takes("<-");
            (backward || self.takes("-")).then_some(())?;
            let mut relationship = self.relationship()?;
            self.takes(if backward { "-" } else { "->" }).then_some(())?;
            let (start, end) = if backward { (at, at - 1) } else { (at - 1, at) };
            (relationship.start, relationship.end) = (start.to_string(), end.to_string());
            relationships.push(relationship);
            nodes.push(self.node(at)?);
        }
        Some(Path { nodes, relationships })
    }
}

#[test]
fn what_is_written_reads_back() {
    for (written, shown) in [
        ("null", "null"),
        ("-1", "-1"),
        ("1e3", "1000.0"),
        (".5", "0.5"),
        ("'it\\'s'", "'it\\'s'"),
        ("[1, [], {a: 'x', `b c`: null}]", "[1, [], {a: 'x', `b c`: null}]"),
        ("( :B:A{x: true } )", "(:A:B {x: true})"),
        ("[ :T {x: 1.0}]", "[:T {x: 1.0}]"),
        ("<(:A)<-[:T]-()-[:T {x: 1}]->(:A)>", "(:A)<-[:T]-()-[:T {x: 1}]->(:A)"),
    ] {
        assert_eq!(value(written).map(|value| value.to_string()).as_deref(), Ok(shown));
    }
    for wrong in ["", "[1", "'open", "1 2", "{a 1}", "<()-[:T]-()>", "nope"] {
        assert!(value(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_differs_is_told_apart() {
    let compared = |written, got, any_order| same(&value(written).unwrap(), &value(got).unwrap(), any_order);
    assert!(compared("NaN", "NaN", false));
    assert!(compared("[[1, 2], 2]", "[2, [2, 1]]", true));
    assert!(compared("{a: [1, 2]}", "{a: [2, 1]}", true));
    for (written, got) in [
        ("1", "1.0"),
        ("[1, 2]", "[2, 1]"),
        ("(:A)", "(:A {x: 1})"),
        ("<(:A)-[:T]->()>", "<(:A)<-[:T]-()>"),
        ("null", "false"),
        ("{a: 1}", "{b: 1}"),
    ] {
        assert!(!compared(written, got, false), "{written} and {got}");
    }
    assert!(!compared("[1, 1, 2]", "[1, 2, 2]", true));
}
