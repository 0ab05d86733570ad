//! `CREATE` and `DROP`, `INDEX` and `CONSTRAINT`.

use super::rules::{EntityKind, IndexKind, RuleSubject, Rules, SchemaFault, fault};
use crate::cypher::{Statement, Token, TokenKind, unquoted};
use crate::graph::embedded::counts::WriteCounts;
use crate::graph::embedded::error::StatementError;
use crate::graph::embedded::gap;
use crate::graph::{GraphError, GraphErrorKind, Parameters, Value};

/// A schema command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::graph::embedded) struct SchemaCommand {
    name: Option<SchemaName>,
    /// IF EXISTS, IF NOT EXISTS.
    lenient: bool,
    action: SchemaAction,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum SchemaName {
    Written(String),
    Parameter(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum SchemaAction {
    CreateIndex(IndexKind, RuleSubject),
    CreateUnique(RuleSubject),
    DropIndex,
    DropConstraint,
}

/// Reads a schema command; `None` for any other statement.
pub(in crate::graph::embedded) fn command(statement: &Statement<'_>) -> Option<Result<SchemaCommand, GraphError>> {
    let mut cursor = TokenCursor { s: statement, at: 0 };
    let creates = if cursor.keyword("CREATE") {
        true
    } else if cursor.keyword("DROP") {
        false
    } else {
        return None;
    };
    let replaces = cursor.keyword("OR") && cursor.keyword("REPLACE");
    let kinds = ["RANGE", "TEXT", "POINT", "LOOKUP", "BTREE", "FULLTEXT", "VECTOR"];
    let kind = kinds.into_iter().find(|kind| cursor.keyword(kind));
    let index = cursor.keyword("INDEX");
    if !index && (kind.is_some() || !cursor.keyword("CONSTRAINT")) {
        return None;
    }
    Some(match (replaces, creates, index) {
        (true, _, _) => Err(mistake("OR REPLACE can't be used with an index or a constraint. Try IF NOT EXISTS.")),
        (_, false, _) => cursor.drop(index),
        (_, true, true) => cursor.index(kind),
        (_, true, false) => cursor.constraint(),
    })
}

impl SchemaCommand {
    /// Changes the rules and returns the counts of what was changed.
    pub(super) fn apply(&self, rules: &mut Rules, parameters: &Parameters) -> Result<WriteCounts, StatementError> {
        let name = match &self.name {
            None => None,
            Some(SchemaName::Written(name)) => Some(name.clone()),
            Some(SchemaName::Parameter(parameter)) => match parameters.get(parameter) {
                Some(Value::String(name)) => Some(name.clone()),
                _ => return Err(StatementError::statement(format!("The parameter ${parameter} is no name."))),
            },
        };
        let mut counts = WriteCounts::default();
        match &self.action {
            SchemaAction::CreateIndex(kind, subject) => {
                counts.indexes_added = rules.add_index(name, *kind, subject.clone(), self.lenient)?.into();
            }
            SchemaAction::CreateUnique(subject) => {
                counts.constraints_added = rules.add_constraint(name, subject.clone(), self.lenient)?.into();
            }
            SchemaAction::DropIndex => {
                counts.indexes_removed = rules.drop_index(&name.unwrap_or_default(), self.lenient)?.into();
            }
            SchemaAction::DropConstraint => {
                counts.constraints_removed = rules.drop_constraint(&name.unwrap_or_default(), self.lenient)?.into();
            }
        }
        Ok(counts)
    }
}

struct TokenCursor<'s, 'a> {
    s: &'s Statement<'a>,
    at: usize,
}

impl<'a> TokenCursor<'_, 'a> {
    fn keyword(&mut self, keyword: &str) -> bool {
        self.take(|token| token.keyword(keyword)).is_some()
    }

    fn symbols(&mut self, symbols: &str) -> bool {
        symbols.chars().all(|symbol| self.take(|token| token.is(symbol.encode_utf8(&mut [0; 4]))).is_some())
    }

    fn take(&mut self, fits: impl Fn(&Token<'a>) -> bool) -> Option<Token<'a>> {
        let token = self.s.tokens.get(self.at).copied().filter(fits)?;
        self.at += 1;
        Some(token)
    }

    fn identifier(&mut self) -> Option<String> {
        let token = self.take(|token| matches!(token.kind, TokenKind::Word | TokenKind::Backtick))?;
        Some(unquoted(token.text))
    }

    fn name(&mut self) -> Option<SchemaName> {
        if let Some(parameter) = self.take(|token| token.kind == TokenKind::Parameter) {
            return Some(SchemaName::Parameter(unquoted(&parameter.text[1..])));
        }
        self.identifier().map(SchemaName::Written)
    }

    fn end(&self) -> bool {
        self.at == self.s.len()
    }

    fn drop(&mut self, index: bool) -> Result<SchemaCommand, GraphError> {
        let sort = if index { "INDEX" } else { "CONSTRAINT" };
        let wrong = || mistake(&format!("This DROP {sort} is not understood. Try DROP {sort} name IF EXISTS."));
        let name = Some(self.name().ok_or_else(wrong)?);
        let lenient = self.keyword("IF");
        if lenient && !self.keyword("EXISTS") {
            return Err(wrong());
        }
        let action = if index { SchemaAction::DropIndex } else { SchemaAction::DropConstraint };
        if self.end() { Ok(SchemaCommand { name, lenient, action }) } else { Err(wrong()) }
    }

    /// `name IF NOT EXISTS FOR`.
    fn head(&mut self) -> Option<(Option<SchemaName>, bool)> {
        let (s, at) = (self.s, self.at);
        let starts = s.keyword(at, "FOR") && s.is(at + 1, "(") || s.keyword(at, "IF") && s.keyword(at + 1, "NOT");
        let name = if starts { None } else { Some(self.name()?) };
        let lenient = self.keyword("IF");
        if lenient && !(self.keyword("NOT") && self.keyword("EXISTS")) {
            return None;
        }
        self.keyword("FOR").then_some((name, lenient))
    }

    /// `(n:A)` or `()-[r:R]-()`: the variable, and what it is of.
    fn pattern(&mut self) -> Option<(String, EntityKind, Vec<String>)> {
        self.symbols("(").then_some(())?;
        let (entity, variable) = if self.symbols(")") {
            self.take(|token| token.is("<"));
            self.symbols("-[").then_some(())?;
            (EntityKind::Relationship, self.identifier()?)
        } else {
            (EntityKind::Node, self.identifier()?)
        };
        let mut names = Vec::new();
        if self.symbols(":") {
            names.push(self.identifier()?);
            while self.symbols("|") {
                names.push(self.identifier()?);
            }
        }
        match entity {
            EntityKind::Node => self.symbols(")").then_some(())?,
            EntityKind::Relationship => {
                self.symbols("]-").then_some(())?;
                self.take(|token| token.is(">"));
                self.symbols("()").then_some(())?;
            }
        }
        Some((variable, entity, names))
    }

    /// `n.x` or `(n.x, n.y)`.
    fn properties(&mut self, variable: &str) -> Option<Vec<String>> {
        let bracket = self.symbols("(");
        let mut properties = Vec::new();
        loop {
            if self.identifier()? != variable || !self.symbols(".") {
                return None;
            }
            properties.push(self.identifier()?);
            if !bracket {
                return Some(properties);
            }
            if !self.symbols(",") {
                return self.symbols(")").then_some(properties);
            }
        }
    }

    /// `OPTIONS {…}` and the end.
    fn options(&mut self) -> bool {
        if self.keyword("OPTIONS") {
            self.at = self.s.past(self.at);
        }
        self.end()
    }

    fn index(&mut self, kind: Option<&str>) -> Result<SchemaCommand, GraphError> {
        let kind = match kind {
            None | Some("RANGE") => IndexKind::Range,
            Some("TEXT") => IndexKind::Text,
            Some("POINT") => IndexKind::Point,
            Some("LOOKUP") => IndexKind::Lookup,
            Some("BTREE") => return Err(mistake("Neo4j 5 has no BTREE indexes any more. Try CREATE INDEX.")),
            Some(_) => return Err(gap::unsupported("A full-text or vector index", None)),
        };
        self.index_of(kind).ok_or_else(|| {
            mistake(
                "This CREATE INDEX is not understood. Try CREATE INDEX name IF NOT EXISTS FOR (n:Label) ON (n.property).",
            )
        })
    }

    fn index_of(&mut self, kind: IndexKind) -> Option<SchemaCommand> {
        let (name, lenient) = self.head()?;
        let (variable, entity, names) = self.pattern()?;
        self.keyword("ON").then_some(())?;
        let properties = if kind == IndexKind::Lookup {
            self.keyword("EACH");
            let function = if entity == EntityKind::Node { "labels" } else { "type" };
            let calls = self.keyword(function) && self.symbols("(");
            let same = calls && self.identifier()? == variable && self.symbols(")");
            (same && names.is_empty()).then(Vec::new)?
        } else {
            let properties = self.properties(&variable)?;
            let one = matches!(kind, IndexKind::Range) || properties.len() == 1;
            (names.len() == 1 && one).then_some(properties)?
        };
        let action = SchemaAction::CreateIndex(kind, RuleSubject { entity, names, properties });
        self.options().then_some(SchemaCommand { name, lenient, action })
    }

    fn constraint(&mut self) -> Result<SchemaCommand, GraphError> {
        let wrong = || {
            mistake(
                "This CREATE CONSTRAINT is not understood. Try CREATE CONSTRAINT name IF NOT EXISTS FOR (n:Label) \
                 REQUIRE n.property IS UNIQUE.",
            )
        };
        let (name, lenient) = self.head().ok_or_else(wrong)?;
        let (variable, entity, names) = self.pattern().ok_or_else(wrong)?;
        let properties = if self.keyword("REQUIRE") { self.properties(&variable) } else { None };
        let properties = properties.filter(|_| names.len() == 1 && self.keyword("IS")).ok_or_else(wrong)?;
        if self.keyword("NOT") && self.keyword("NULL") {
            return Err(enterprise("Property existence"));
        }
        if self.symbols("::") || self.keyword("TYPED") {
            return Err(enterprise("Property type"));
        }
        let sort = self.keyword("NODE") || self.keyword("RELATIONSHIP") || self.keyword("REL");
        if sort && self.keyword("KEY") {
            return Err(enterprise("Key"));
        }
        let unique = self.keyword("UNIQUE");
        let action = SchemaAction::CreateUnique(RuleSubject { entity, names, properties });
        if unique && self.options() { Ok(SchemaCommand { name, lenient, action }) } else { Err(wrong()) }
    }
}

fn mistake(message: &str) -> GraphError {
    GraphError::new(GraphErrorKind::Statement, message)
}

fn enterprise(sort: &str) -> GraphError {
    let message = format!(
        "{sort} constraints are for Neo4j's Enterprise Edition; the embedded graph, as the Community Edition, knows \
         uniqueness constraints."
    );
    fault(SchemaFault::ConstraintCreation, message).error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> Option<Result<SchemaCommand, GraphError>> {
        super::command(&Statement::parse(text))
    }

    fn read(statement: &str) -> SchemaCommand {
        command(statement).unwrap().unwrap()
    }

    #[test]
    fn commands_are_read_in_all_their_forms() {
        for statement in [
            "CREATE INDEX FOR (n:Person) ON (n.name)",
            "create index person_name if not exists for (n:Person) on (n.name, n.age)",
            "CREATE RANGE INDEX x FOR ()-[r:KNOWS]-() ON (r.since)",
            "CREATE INDEX x FOR ()-[r:KNOWS]->() ON r.since OPTIONS {indexProvider: 'range-1.0'}",
            "CREATE TEXT INDEX `a b` FOR (n:Person) ON (n.name)",
            "CREATE LOOKUP INDEX x FOR (n) ON EACH labels(n)",
            "CREATE LOOKUP INDEX x FOR ()-[r]-() ON EACH type(r)",
            "CREATE INDEX $name FOR (n:Person) ON (n.name)",
            "CREATE CONSTRAINT FOR (n:A) REQUIRE n.id IS UNIQUE",
            "CREATE CONSTRAINT c IF NOT EXISTS FOR (n:`A`) REQUIRE (n.id, n.`y`) IS NODE UNIQUE",
            "CREATE CONSTRAINT c FOR ()-[r:R]-() REQUIRE r.id IS RELATIONSHIP UNIQUE",
            "DROP INDEX person_name IF EXISTS",
            "DROP INDEX $name",
            "DROP CONSTRAINT one",
        ] {
            assert!(matches!(command(statement), Some(Ok(_))), "{statement}: {:?}", command(statement));
        }
        let subject = RuleSubject {
            entity: EntityKind::Node,
            names: vec!["A".to_owned()],
            properties: vec!["x".to_owned(), "y".to_owned()],
        };
        assert_eq!(
            read("CREATE CONSTRAINT if IF NOT EXISTS FOR (n:A) REQUIRE (n.x, n.y) IS UNIQUE"),
            SchemaCommand {
                name: Some(SchemaName::Written("if".to_owned())),
                lenient: true,
                action: SchemaAction::CreateUnique(subject)
            }
        );
    }

    #[test]
    fn what_neo4j_refuses_is_refused() {
        for (statement, part) in [
            ("CREATE INDEX ON :Person(name)", "not understood"),
            ("CREATE INDEX x FOR (n:A) ON (m.name)", "not understood"),
            ("CREATE CONSTRAINT ON (n:A) ASSERT n.x IS UNIQUE", "not understood"),
            ("CREATE CONSTRAINT x FOR (n:A) REQUIRE n.x IS UNIQUE FOO", "not understood"),
            ("CREATE OR REPLACE INDEX x FOR (n:A) ON (n.name)", "OR REPLACE"),
            ("CREATE CONSTRAINT x FOR (n:A) REQUIRE n.x IS NOT NULL", "Enterprise"),
            ("CREATE CONSTRAINT x FOR (n:A) REQUIRE n.x IS NODE KEY", "Enterprise"),
            ("CREATE CONSTRAINT x FOR (n:A) REQUIRE n.x IS :: STRING", "Enterprise"),
            ("CREATE FULLTEXT INDEX x FOR (n:Person) ON EACH [n.name]", "full-text"),
            ("CREATE VECTOR INDEX x FOR (n:Person) ON n.e", "vector"),
            ("DROP INDEX ON :A(x)", "not understood"),
            ("DROP CONSTRAINT one IF", "not understood"),
        ] {
            let message = command(statement).unwrap().unwrap_err().message;
            assert!(message.contains(part), "{statement}: {message}");
        }
        for statement in ["CREATE (:Index)", "CREATE (n:Constraint) RETURN n", "MATCH (n) RETURN n", "DROP DATABASE x"]
        {
            assert_eq!(command(statement), None, "{statement}");
        }
    }
}
