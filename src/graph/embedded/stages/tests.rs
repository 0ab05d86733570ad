use proptest::prelude::*;

use super::*;

fn stages(text: &str) -> String {
    super::stages(&Statement::parse(text))
}

fn squeezed(statement: &str) -> String {
    stages(statement).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_sorts_or_groups_is_staged() {
    for (statement, expected) in [
        (
            "UNWIND [2, 1] AS x RETURN x AS y ORDER BY x DESC",
            "UNWIND [2, 1] AS x WITH x AS y, x AS _anon_s0 WITH y, _anon_s0 ORDER BY _anon_s0 DESC RETURN y",
        ),
        (
            "MATCH (p) RETURN p AS q ORDER BY q.x, p.y SKIP 1 LIMIT 2",
            "MATCH (p) WITH p AS q, p.y AS _anon_s1 WITH q, q.x AS _anon_s0, _anon_s1 ORDER BY _anon_s0 , _anon_s1 SKIP 1 LIMIT 2 RETURN q",
        ),
        (
            "MATCH (p) WITH p, p.x AS sum ORDER BY sum, {sum: 1} RETURN p, sum",
            "MATCH (p) WITH p AS p, p.x AS _item_1, {sum: 1} AS _anon_s1 WITH p, _item_1, _item_1 AS _anon_s0, _anon_s1 ORDER BY _anon_s0 , _anon_s1 WITH p, _item_1 AS sum RETURN p, sum",
        ),
        (
            "MATCH (p) RETURN p.x AS min, COUNT(DISTINCT p) AS n ORDER BY count(distinct p), min",
            "MATCH (p) WITH p.x AS _item_0, COUNT(DISTINCT p) AS n WITH _item_0, n, n AS _anon_s0, _item_0 AS _anon_s1 ORDER BY _anon_s0 , _anon_s1 RETURN _item_0 AS min, n",
        ),
        (
            "MATCH (p) RETURN p.x AS x ORDER BY x + p.y",
            "MATCH (p) WITH p.x AS x, (p.x) + p.y AS _anon_s0 WITH x, _anon_s0 ORDER BY _anon_s0 RETURN x",
        ),
        (
            "MATCH (p) RETURN p, count(*) LIMIT 3",
            "MATCH (p) WITH p AS p, count(*) AS _item_1 RETURN p, _item_1 LIMIT 3",
        ),
        (
            "MATCH (p) WITH p.x AS x, count(*) AS n ORDER BY count(*) + 1 DESC, p.x WHERE n > 1 RETURN x",
            "MATCH (p) WITH p.x AS x, count(*) AS n WITH x, n, n + 1 AS _anon_s0, x AS _anon_s1 ORDER BY _anon_s0 DESC, _anon_s1 WITH x, n WHERE n > 1 RETURN x",
        ),
        ("RETURN DISTINCT 1 AS x UNION RETURN 2 AS x", "WITH DISTINCT 1 AS x RETURN x UNION RETURN 2 AS x"),
        (
            "MATCH (n) RETURN n.x ORDER BY {x: n.x}",
            "MATCH (n) WITH n.x AS _item_0, {x: n.x} AS _anon_s0 WITH _item_0, _anon_s0 ORDER BY _anon_s0 RETURN _item_0",
        ),
    ] {
        assert_eq!(squeezed(statement), expected, "{statement}");
    }
}

#[test]
fn what_needs_no_stages_stays() {
    for statement in [
        "MATCH (n) RETURN n.x AS x LIMIT 2",
        "MATCH (n) RETURN count(n) AS n",
        "MATCH (n) WITH n.x AS x, count(*) AS n WHERE n > 1 RETURN x",
        "MATCH (n) RETURN * ORDER BY n.x",
        "MATCH (n) WHERE n.x STARTS WITH 'a' SET n.with = 1",
        "RETURN 'RETURN x ORDER BY y'",
    ] {
        assert_eq!(stages(statement), statement);
    }
}

proptest! {
    #[test]
    fn no_text_breaks_the_stages(text in "(RETURN |WITH |ORDER BY |DISTINCT |count\\(|[a-z_$ ;:`'*.,|0-9\\[\\]{}()-]){0,20}") {
        stages(&text);
    }
}
