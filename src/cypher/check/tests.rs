use proptest::prelude::*;

use super::*;

fn problem(text: &str, used: CypherUse) -> Option<(usize, usize, String)> {
    let problem = cypher_problem(text, used)?;
    let help = problem.help.map(|help| format!("; {help}")).unwrap_or_default();
    Some((problem.line, problem.column, format!("{}{help}", problem.message)))
}

#[test]
fn what_no_backend_takes_is_found_with_its_place() {
    for (text, line, column, part) in [
        ("MATCH (u:User {id: $usr}) RETURN u", 1, 20, "there is no parameter `$usr`; did you mean `$user`?"),
        ("RETURN\n $session", 2, 2, "there is no parameter `$session`; did you mean `$sessionId`?"),
        ("RETURN $sessionid", 1, 8, "did you mean `$sessionId`?"),
        ("RETURN $`a b`", 1, 8, "there is no parameter `$`a b``"),
        ("MATCH (u {id: '$user'}) RETURN u", 1, 15, "`$user` is a text, and no parameter; write $user without"),
        ("CREATE (n:Thing) RETURN 1", 1, 1, "this writes to the graph: `CREATE`; move CREATE, MERGE"),
        ("MATCH (n)\ndetach delete n RETURN 1", 2, 8, "`delete`"),
        ("MATCH (n) SET n.x = 1 RETURN n", 1, 11, "`SET`"),
        ("MATCH (n) SET n:Label RETURN n", 1, 11, "`SET`"),
        ("MATCH (n) REMOVE n.x RETURN n", 1, 11, "`REMOVE`"),
        ("MATCH (n) MERGE (n)-[:R]->(m) RETURN 1", 1, 11, "`MERGE`"),
        ("CREATE INDEX x FOR (n:N) ON (n.x)", 1, 1, "`CREATE`"),
        ("CALL { CREATE (n) RETURN n } RETURN 1", 1, 8, "`CREATE`"),
        ("CREATE p = (a)-[:R]->(b) RETURN p", 1, 1, "`CREATE`"),
        ("RETURN 1; RETURN 2", 1, 11, "one statement, not 2"),
        ("MATCH (n RETURN count(n)", 1, 7, "this `(` is never closed"),
        ("RETURN [1, 2)", 1, 8, "this `[` is closed by `)`"),
        ("RETURN 1)", 1, 9, "this `)` closes nothing"),
        ("RETURN 'open", 1, 8, "this text is never closed"),
        ("RETURN `open", 1, 8, "this name is never closed"),
        ("MTCH (n) RETURN n", 1, 1, "no statement begins with `MTCH`; did you mean `MATCH`?"),
        ("// nothing", 1, 1, "there is no statement"),
        ("MATCH (n) WHERE n.a == 1 RETURN n", 1, 21, "`==` is no operator of Cypher; it is written `=`"),
        ("MATCH (n)\nWHERE n.a != 1 RETURN n", 2, 11, "it is written `<>`"),
        ("MATCH (n) WHERE n.a && n.b RETURN n", 1, 21, "it is written `AND`"),
        ("MATCH (n) RETRUN n", 1, 11, "no clause begins with `RETRUN`; did you mean `RETURN`?"),
        ("MATCH (n)-[r] Wehre n.a = 1 RETURN n", 1, 15, "did you mean `WHERE`?"),
        ("MATCH (n {id: {{ user }}}) RETURN n", 1, 15, "the parameters are $user"),
        (
            "MATCH (u:User {id: user}) RETURN u",
            1,
            20,
            "no clause binds the variable `user`; did you mean the parameter `$user`?",
        ),
        ("MATCH (u)\nWHERE u.user = user AND u.x = 1 RETURN u", 2, 16, "the parameter `$user`?"),
        ("RETURN {model: model, user: 1} AS all", 1, 16, "the parameter `$model`?"),
        ("SELECT * FROM users", 1, 1, "that is SQL; in Cypher: `MATCH (n:Label)"),
    ] {
        let found = problem(text, CypherUse::Reads).unwrap_or_else(|| panic!("{text} has no problem"));
        assert!(found.2.contains(part), "{text}: {found:?}");
        assert_eq!((found.0, found.1), (line, column), "{text}: {found:?}");
    }
    assert_eq!(problem("CREATE (:A); CREAT (n)", CypherUse::Writes).unwrap().1, 14);
}

#[test]
fn what_only_looks_wrong_is_left_alone() {
    for text in [
        "MATCH (u:User {id: $user})-[:SET]->(n:Create) WHERE n.delete = $trial RETURN n.set AS set, n.merge",
        "RETURN 'CREATE (n) $nope' AS create // $nope",
        "MATCH (user:User) MATCH (a {of: user.id, user: user}) WHERE a.b = user RETURN a",
        "WITH 1 AS model MATCH (m {id: model}) RETURN m",
        "UNWIND [1] AS trial RETURN {trial: trial}",
        "MATCH (n:user {model: 1}) RETURN [user IN n.list WHERE user = 1] AS all",
        "MATCH trial = (a)-->(b) RETURN {path: trial}",
        "CALL { RETURN 1 AS user } RETURN {user: user}",
        "MATCH (n) RETURN n {.*, user: n.user}",
        "RETURN {set: 1, delete: 2, create: 3} AS remove",
        "MATCH (n:$all($model)) RETURN n",
        "MATCH (n) WHERE n.`$nope` = 1 RETURN count { (n)-->() }",
        "CALL db.labels() YIELD label RETURN label",
        "MATCH (create) WHERE create.x = 1 RETURN create",
        "WITH 1 AS set WITH set RETURN set",
        "UNWIND [1] AS delete WITH delete ORDER BY delete RETURN delete",
        "USE movies MATCH (n) RETURN n;",
        "CYPHER runtime=slotted MATCH (n) RETURN n",
        "RETURN 'it\\'s', \"x\"",
        "MATCH (a)-[r:R*1..2]->(b) RETURN r[0..1]",
        "FINISH",
        "MATCH (n:A&B) WHERE n.a >= 1 AND n.b <= 2 RETURN n.a = 1 AS same",
        "RETURN '==' + \"!=\" AS `&&` // ==",
        "MATCH p = (a)-[:R]->(b) WITH p ORDER BY length(p) ASC RETURN p",
    ] {
        assert_eq!(problem(text, CypherUse::Reads), None, "{text}");
    }
    for text in ["MATCH (n) DETACH DELETE n; CREATE (:A {u: $user})", "CREATE INDEX x FOR (n:N) ON (n.x)"] {
        assert_eq!(problem(text, CypherUse::Writes), None, "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read(text in "(CREATE |SET |MATCH |\\$x|;|[a-z ()\\[\\]{}'\"`.:é\n]){0,20}") {
        let _ = cypher_problem(&text, CypherUse::Reads);
    }
}
