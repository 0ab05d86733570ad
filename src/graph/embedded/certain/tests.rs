use super::*;

fn problem(text: &str) -> Option<String> {
    certain_problem(text, &["user", "sessionId", "trial", "model"]).map(|problem| problem.to_string())
}

#[test]
fn what_no_backend_takes_is_found_without_one() {
    for text in [
        r#"MATCH (n:A) WHERE n.x = RETURN m"#,
        r#"MATCH (n) RETURN m"#,
        r#"MATCH (n) RETURN n.x,"#,
        r#"MATCH (n) WHERE RETURN n"#,
        r#"MATCH (n)-[r]-> RETURN n"#,
        r#"MATCH (n) WITH n.x AS x RETURN n"#,
        r#"RETURN 1 AS a UNION RETURN 2 AS b"#,
        r#"MATCH (n) WHERE n.x = 1 AND RETURN n"#,
        r#"MATCH a RETURN a"#,
        r#"MATCH (a) RETURN a ORDER a.x"#,
        r#"MATCH (a) RETURN a LIMIT"#,
        r#"MATCH (n) WHERE n.x = 1, n.y = 2 RETURN n"#,
        r#"RETURN {a = 1} AS x"#,
        r#"MATCH (u:User {id: $user}) WHERE u.x > m.y RETURN u"#,
        r#"MATCH (u:User)-[:HAS]->(r) WITH u, count(r) AS c WHERE c > 1 RETURN u, c, r"#,
        r#"MATCH p=(a)-[:R*0..]->(b) WHERE none(n IN nodes(q) WHERE n.x > 0) RETURN p"#,
        r#"MATCH (n) SET n.x = 1, n.y = m.x"#,
        r#"CREATE (:A); MATCH (n) DELETE m"#,
        r#"UNWIND [{x: 1}] AS row CREATE (a:A {x: rw.x})"#,
    ] {
        assert!(problem(text).is_some(), "{text} has no problem");
    }
    assert_eq!(problem("MATCH (n:A) WHERE n.x = RETURN m").unwrap(), "line 1, column 25: `RETURN` can't stand here");
}

/// Statements that a Neo4j 5.26 accepts by `EXPLAIN`, much of them beyond openCypher.
#[test]
fn what_neo4j_takes_is_left_alone() {
    let statements = include_str!("neo4j.cypher").lines().filter(|line| !line.starts_with("//"));
    let refused: Vec<_> = statements.filter_map(|text| Some((text, problem(text)?))).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}
