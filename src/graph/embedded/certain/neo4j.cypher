// Statements that Neo4j 5.26 takes, a line each.
MATCH (n:A WHERE n.x = 1) RETURN n
MATCH (n:A|B) RETURN n
MATCH (n:!A) RETURN n
MATCH (n:A&B) RETURN n
MATCH (n)-[r:R WHERE r.x = 1]->(m) RETURN count(r)
MATCH ((a)-[:R]->(b)){1,3} RETURN count(*)
MATCH (a)-[:R]->{1,3}(b) RETURN count(*)
MATCH (a)-[:R]->+(b) RETURN count(*)
MATCH (a)-[:R]->*(b) RETURN count(*)
MATCH p = SHORTEST 1 (a)-[:R]-+(b) RETURN p
MATCH p = ALL SHORTEST (a)-[:R]-+(b) RETURN p
MATCH p = ANY (a)-[:R]-+(b) RETURN p
MATCH ANY SHORTEST (a)-[:R]-+(b) RETURN a
MATCH p = shortestPath((a)-[*]-(b)) RETURN p
MATCH (n) WHERE EXISTS { (n)-->(:A) } RETURN n
MATCH (n) WHERE EXISTS { MATCH (n)-->(m) WHERE m.x = n.x } RETURN n
MATCH (n) RETURN COUNT { (n)-->() } AS c
MATCH (n) RETURN COLLECT { MATCH (n)-->(m) RETURN m.x } AS c
CALL { MATCH (n) RETURN n } RETURN n
MATCH (n) CALL { WITH n MATCH (n)-->(m) RETURN m } RETURN n, m
MATCH (n) CALL (n) { MATCH (n)-->(m) RETURN m } RETURN n, m
MATCH (n) RETURN n {.x, .y, z: 1} AS m
MATCH (n) RETURN collect(n {.x}) AS m
MATCH (n) RETURN n {.*} AS m
MATCH (n) WITH n, 1 AS a RETURN n {a} AS m
RETURN 'a' || 'b' AS x
RETURN [1] || [2] AS x
RETURN 1 IS :: INTEGER AS x
RETURN 'x' IS NORMALIZED AS x
RETURN 1 IS TYPED INTEGER AS x
MATCH (n:$($model)) RETURN n
MATCH (n:$all([$model])) RETURN n
MATCH (n) RETURN n[$model] AS x
MATCH (n) WHERE n:A OR n:B RETURN n
MATCH (n) WHERE n:A|B RETURN n
MATCH (n) WHERE n IS :: NODE RETURN n
MATCH (n) RETURN n ORDER BY n.x SKIP 1 LIMIT 2
MATCH (n) RETURN n OFFSET 1 LIMIT 2
MATCH (n) RETURN n.x AS x ORDER BY n.y
MATCH (n) WITH n.x AS x ORDER BY n.y RETURN x
MATCH (n) WITH DISTINCT n.x AS x ORDER BY n.x RETURN x
MATCH (n) RETURN n.x AS x, count(*) AS c ORDER BY x, n.x
MATCH (n) WITH n.x AS x WHERE n.y = 1 RETURN x
RETURN 1 AS a UNION ALL RETURN 2 AS a
RETURN 1 AS a UNION DISTINCT RETURN 2 AS a
UNWIND [1,2] AS x RETURN sum(x) AS s, collect(x)[0] AS f
UNWIND [1,2] AS x RETURN [y IN [1,2] WHERE y > x | y * 2] AS ys
RETURN any(x IN [1] WHERE x = 1) AS a, all(x IN [1] WHERE x > 0), none(x IN [] WHERE x), single(x IN [1] WHERE x = 1)
RETURN reduce(s = 0, x IN [1,2] | s + x) AS r
MATCH (n) RETURN [(n)-->(m) WHERE m.x > 1 | m.x] AS xs
MATCH (n) RETURN [p = (n)-->(m) | length(p)] AS xs
MATCH (n) RETURN size([(n)-->(m) | 1]) AS xs
MATCH (n) WHERE (n)-->() RETURN n
MATCH (n) WHERE NOT (n)-->(:B) RETURN n
MATCH (n) WHERE exists((n)-->()) RETURN n
MATCH (n) WHERE n.x IS NOT NULL AND n.y IS NULL RETURN n
MATCH (n) WHERE n.name STARTS WITH 'a' OR n.name ENDS WITH 'b' OR n.name CONTAINS 'c' RETURN n
MATCH (n) WHERE n.name =~ 'a.*' RETURN n
MATCH (n) RETURN CASE n.x WHEN 1 THEN 'a' WHEN 2, 3 THEN 'b' ELSE 'c' END AS x
MATCH (n) RETURN CASE WHEN n.x = 1 THEN 'a' END AS x
MATCH (n) RETURN CASE n.x WHEN > 3 THEN 'a' ELSE 'b' END AS x
MATCH (n) RETURN CASE n.x WHEN IS NULL THEN 'a' ELSE 'b' END AS x
MATCH (a)-[r:R*1..3]->(b) RETURN size(r) AS x
MATCH (a)-[*]->(b) RETURN count(*)
MATCH (a)-[:R|S]->(b) RETURN a
MATCH (a)-[:R|:S]->(b) RETURN a
MATCH (a)<-[:R]-(b)--(c) RETURN a
MATCH (a)<-[:R]->(b) RETURN a
MATCH (a), (b) WHERE a.x = b.x RETURN a, b
OPTIONAL MATCH (n:A) RETURN n
MATCH (n) OPTIONAL MATCH (n)-->(m) RETURN n, m
MATCH (n) RETURN *
MATCH (n) WITH *, 1 AS x RETURN *
MATCH (n) WITH *, n.x AS y RETURN y, n
MATCH (n) RETURN n.`a b` AS `c d`
MATCH (n {x: 1, y: 'a'}) RETURN n
MATCH (n:Order {limit: 1}) RETURN n.order AS order
MATCH (order:Order) RETURN order
MATCH (end:A) RETURN end
MATCH (count) RETURN count
MATCH (n) RETURN n AS match
MATCH (where) RETURN where
MATCH (n) RETURN n.match, n.return, n.where
MATCH (n) RETURN 0x1F, 1e3, 1.5e-3, .5, 0o17
RETURN 1_000
RETURN date('2024-01-01') AS d, duration({days: 1}) AS u, datetime().year AS y
RETURN point({x: 1, y: 2}) AS p
MATCH (n) RETURN elementId(n) AS x, id(n) AS i
MATCH (n) RETURN toIntegerList(n.x), char_length('a')
CALL db.labels() YIELD label RETURN label
CALL db.labels()
SHOW INDEXES
USE neo4j MATCH (n) RETURN n
MATCH (n:A) USING INDEX n:A(x) WHERE n.x = 1 RETURN n
RETURN {a: 1, b: {c: [1, 2]}}.b.c[0] AS x
RETURN [1,2,3][0..2] AS x, [1,2,3][..2], [1,2][-1]
RETURN NOT true XOR false AS x
RETURN -1 + +2 AS x
RETURN 2 ^ 3 % 4 AS x
RETURN 1 < 2 < 3 AS x
RETURN $user AS u, $`user` AS v
RETURN "it's" AS x, 'a\'b' AS y, 'a\u00e9' AS z
MATCH (n) WHERE n.x IN [1,2] AND NOT n.y IN ['a'] RETURN n
MATCH (n) WHERE n.x <> 1 RETURN n
MATCH (n) RETURN count(n) = 1
MATCH (n) RETURN count(DISTINCT n.x) AS c, avg(n.x), min(n.x), max(n.x), stDev(n.x), percentileCont(n.x, 0.5)
MATCH (n) WITH n LIMIT 1 RETURN n
MATCH (n) RETURN n LIMIT toInteger(1.0)
MATCH (n) RETURN n; 
MATCH p = (a)-[r]->(b) RETURN nodes(p), relationships(p), length(p)
MATCH (a)-[r]->(b) RETURN type(r), startNode(r), endNode(r), labels(a), keys(b), properties(r)
MATCH (n) WHERE n.x = 1 OR (n.y = 2 AND (n.z = 3)) RETURN (n.x + 1) * 2
MATCH (a) MATCH (b) WHERE a <> b RETURN a
MATCH (a) WITH a MATCH (a)-->(b) WITH a, count(b) AS c WHERE c > 1 RETURN a, c ORDER BY c DESC
MATCH (a) UNWIND a.xs AS x WITH DISTINCT x RETURN x
UNWIND [1] AS x UNWIND [2] AS y RETURN x, y
MATCH (n)-[r]->(m) RETURN r:R
MATCH (n) RETURN n:A AS isA
MATCH (n) FINISH
WITH [1,2] AS xs RETURN xs[0], xs[1..], size(xs)
WITH {a: 1} AS m RETURN m.a, m['a'], keys(m)
MATCH (a:A) RETURN a.x AS foo ORDER BY a.z
MATCH (a) RETURN a. x
MATCH (a) SKIP 1 RETURN a
MATCH (a) LIMIT 1 RETURN a
MATCH (a) ORDER BY a.x RETURN a
MATCH (a) ORDER BY a.x LIMIT 1 RETURN a
MATCH (n) RETURN coalesce(n.x, 0) AS x
MATCH (n) WHERE n.x = null RETURN n
MATCH (n) WHERE n.x IS null RETURN n
MATCH (n) WHERE n.x = TRUE RETURN n
MATCH (é:A) RETURN é
MATCH (n:Übung) RETURN n
MATCH (n) WHERE n.größe > 1 RETURN n
MATCH (n) WHERE all(x IN n.xs WHERE x > 0) RETURN n
MATCH p=(n)-[*]-() WHERE any(r IN relationships(p) WHERE r.x) RETURN n
MATCH (n) WHERE isEmpty(n.x) RETURN n
MATCH (n)-[r {x: 1}]->() RETURN r
MATCH (n)-->(m {x: n.x}) RETURN m
MATCH (n {x: m.x}), (m) RETURN n
MATCH (n), (m {x: n.x}) RETURN n
MATCH (n) RETURN labels(n)[0] = 'A' AND size(keys(n)) > 0 AS ok
MATCH (n)<--(m) RETURN n
MATCH (n)<-->(m) RETURN n
MATCH (n)-[]-(m) RETURN n
MATCH (n)-[]->()<-[]-(m) RETURN n
MATCH (n:A:B) RETURN n
MATCH (n:A :B) RETURN n
MATCH (n IS A) RETURN n
MATCH (n:%) RETURN n
MATCH ()-[r:!R]->() RETURN r
MATCH ()-[r:R&S]->() RETURN r
MATCH ()-[:R*..3]->() RETURN 1
MATCH ()-[:R*3]->() RETURN 1
MATCH (n) WHERE (n:A) RETURN n
MATCH (n) WHERE (n.x) RETURN n
MATCH (n) WHERE ((n)-->()) RETURN n
MATCH (n) WHERE ((n.x = 1)) RETURN ((n.x))
MATCH ((n)) RETURN n
MATCH ((n)-->(m)) RETURN n
MATCH p = ((n)-->(m)) RETURN p
MATCH ((n)-->(m) WHERE n.x = m.x) RETURN n
WITH 1 AS filter RETURN filter
WITH 1 AS offset RETURN offset
MATCH (shortest) RETURN shortest
MATCH (any) RETURN any
MATCH (all) RETURN all
MATCH (n) RETURN n.any, n.all
MATCH (n) RETURN n AS case
MATCH (n) WITH n AS case RETURN case
WITH 1 AS null RETURN null
WITH 1 AS not RETURN not
WITH 1 AS in RETURN in
MATCH (null) RETURN null
MATCH (n) WITH n AS order ORDER BY order RETURN order
MATCH (n) WITH n AS limit RETURN limit LIMIT 1
MATCH (skip) RETURN skip SKIP 1
MATCH (with) WITH with RETURN with
MATCH (optional) OPTIONAL MATCH (optional)-->(x) RETURN x
MATCH (union) RETURN union UNION MATCH (union) RETURN union
UNWIND [1] AS unwind RETURN unwind
MATCH (contains) WHERE contains.x CONTAINS 'a' RETURN contains
MATCH (n) WHERE trim(BOTH 'x' FROM n.x) = 'a' RETURN n
RETURN normalize('a', NFC)
RETURN trim(LEADING FROM ' a')
MATCH (n) RETURN percentileDisc(DISTINCT n.x, 0.5)
MATCH (n) RETURN count(ALL n.x)
MATCH (n) RETURN sum(ALL n.x), collect(DISTINCT n)
MATCH ALL PATHS (a)-->(b) RETURN a
MATCH p = ANY 2 PATHS (a)-->(b) RETURN a
MATCH (a) RETURN a ORDER BY a.x ASC, a.y DESCENDING
MATCH (a) RETURN count(a) ORDER BY count(a)
MATCH (a) RETURN a.x, count(a) ORDER BY count(a), a.x
MATCH (a) WITH a.x AS b, count(*) AS c ORDER BY a.x RETURN b
MATCH (a)-[r]->(b) WITH a, r AS b RETURN b
MATCH (n) WHERE n.x = {a: 1}.a RETURN n
MATCH (n) WHERE n['x'] = 1 RETURN n
MATCH (n) WHERE n.x.y = 1 RETURN n
RETURN localdatetime('2024-01-01T00:00') < localdatetime() AS x
RETURN 1 = 1.0 AND 'a' < 'b' AS x
RETURN 5 / 0
RETURN [x IN range(1, 3)] AS x
RETURN [x IN range(1, 3) | x ^ 2] AS x
RETURN [x IN range(1, 3) WHERE x % 2 = 0] AS x
RETURN 1 as x, 2 as y
return 1 as x
match (n) where n.x = 1 return n.y order by n.z limit 3
Match (n) Where n.x = 1 Return n.y
MATCH order = (a)-->(b) RETURN order
RETURN any(case IN [1] WHERE case = 1)
RETURN [case IN [1] | case]
WITH 1 AS a, 2 AS order RETURN a, order
MATCH (n) WITH n LIMIT 1 SKIP 1 RETURN n
MATCH (n) WITH n WHERE n.x = 1 ORDER BY n.x RETURN n
MATCH (n)-[limit:R]->() RETURN limit
UNWIND [1] AS desc RETURN desc ORDER BY desc DESC
UNWIND [1] AS asc RETURN asc
UNWIND [1] AS ends RETURN ends
UNWIND [1] AS count RETURN count
UNWIND [1] AS exists RETURN exists
UNWIND [1] AS any RETURN any
UNWIND [1] AS by RETURN by
UNWIND [1] AS on RETURN on
UNWIND [1] AS set RETURN set
UNWIND [1] AS create RETURN create
UNWIND [1] AS is RETURN is IS NULL
UNWIND [1] AS null RETURN null
MATCH (n:`A B`) RETURN n
MATCH (n:Set)-[:ON]->(m:In) RETURN n
MATCH (n) WHERE n.set = 1 AND n.in IN [1] RETURN n.as AS b
MATCH (n:Order) WHERE n.order = 1 RETURN n.by
RETURN {order: 1, set: 2, where: 3} AS m
MATCH (n {order: 1, set: 2, in: 3}) RETURN n
MATCH (n) RETURN n.x AS x UNION MATCH (m) RETURN m.x AS x
MATCH (n)WHERE(n.x=1)RETURN n
MATCH(n)RETURN(n)
MATCH (n)RETURN[n.x]
MATCH (n) WHERE n.x =-1 RETURN n
MATCH (n) RETURN -n.x, - 1, +1, 1+-1
MATCH (n) RETURN n.x*-1
MATCH (a)--(b), (b)-->(c) WHERE a.x<b.x AND b.x>-1 RETURN a
MATCH (a) WHERE a.x>+1 RETURN a
MATCH (n) RETURN 'MATCH (n' AS x
MATCH (n) RETURN /* x */ n // MATCH (
MATCH (n) WHERE n.x IN [1, 2, 3][..2] RETURN n
MATCH (n) WHERE n.x IN keys(n) RETURN n
MATCH (n) WHERE 'A' IN labels(n) RETURN n
MATCH (n) RETURN n.x IN [1] AS a, NOT n.x IN [2] AS b
MATCH (n) WHERE NOT EXISTS((n)-->()) RETURN n
MATCH (a:A)-[r]->(b:B) WHERE type(r) IN ['R','S'] RETURN a, collect(b) AS bs ORDER BY size(bs) DESC
MATCH (a:A) RETURN a.x AS x ORDER BY x DESC SKIP 0 LIMIT 10
MATCH (a:A) WITH a ORDER BY a.x LIMIT 3 MATCH (a)-->(b) RETURN b
MATCH (a:A) WITH collect(a) AS xs UNWIND xs AS x RETURN x
MATCH (a:A) WITH count(*) AS c RETURN c = 1 AS ok
MATCH (a:A) RETURN count(*) = 1 AS ok, count(a) > 0
MATCH (a:A) RETURN count { (a)-->() } AS ok
MATCH (a:A) RETURN exists { (a)-->() } AS ok
MATCH (u:User {id: $user})-[:BOOKED]->(t:Train) RETURN count(t)
MATCH (u:User {id: $user}) OPTIONAL MATCH (u)-[:HAS]->(r:Reminder) WHERE r.done = false RETURN r.title AS title, r.at AS at ORDER BY at
MATCH (u:User {id: $user})-[:HAS]->(r) WHERE date(r.at) = date('2024-01-01') RETURN r.title
MATCH (u:User)-[:HAS]->(r) WHERE r.at > datetime() - duration('P1D') RETURN r.title
MATCH (u:User)-[:HAS]->(r) WHERE r.at > datetime() - duration({days: 1}) AND date.truncate('day', r.at) = date() RETURN r.title
MATCH (u:User)-[:HAS]->(r) WITH u, r ORDER BY r.at WITH u, collect(r)[0] AS first RETURN first.title
MATCH (u:User)-[:HAS]->(r) RETURN u.name, [x IN collect(r.title) WHERE x STARTS WITH 'a'] AS ts
MATCH (u:User) WHERE u.id = "x" and u.n = 2 or u.k = 3 xor u.l = 4 RETURN u
MATCH (u:User) WHERE u.id = $user RETURN u.name AS name, CASE u.x WHEN 1 THEN 'one' ELSE null END AS w
MATCH (u:User) RETURN DISTINCT u
MATCH (u:User) WITH DISTINCT u.name AS n RETURN n
MATCH p=(a)-[:R*0..]->(b) WHERE all(n IN nodes(p) WHERE n.x > 0) RETURN p
MATCH (a), p=(a)-->(b) RETURN p
MATCH p=allShortestPaths((a)-[*..3]-(b)) RETURN p
MATCH (a)-[r:R]->(b) RETURN r.x, r{.*}, a{.x}
MATCH (a)-[r:R]->(b) WHERE elementId(a) = 'x' RETURN 1
MATCH (n) SET n.x = 1
MATCH (n) SET n:A:B
MATCH (n) SET n += {x: 1}
MATCH (n) SET n:$($model)
MATCH (n) REMOVE n:$($model)
MATCH (n) REMOVE n.x, n:A
MATCH (n) DETACH DELETE n
MATCH (n) NODETACH DELETE n
CREATE (a:A {x: 1})-[:R {y: 2}]->(b:B), (c)
CREATE (a:A&B)
CREATE (a IS A)
CREATE (a:A) RETURN a
CREATE p = (a)-[:R]->(b) RETURN p
CREATE (a:$($model))
MERGE (a:A {x: 1}) ON CREATE SET a.y = 1 ON MATCH SET a.y = 2
MERGE (a:A) MERGE (b:B) MERGE (a)-[:R]->(b)
MERGE (a)-[:R]-(b)
UNWIND [{x: 1}] AS row CREATE (a:A {x: row.x}) SET a.y = row.y
UNWIND range(1, 10) AS i CREATE (:A {i: i}) 
FOREACH (x IN [1] | CREATE (:A {x: x}))
MATCH (n) FOREACH (x IN [1] | SET n.x = x)
CREATE INDEX x IF NOT EXISTS FOR (n:A) ON (n.x)
CREATE CONSTRAINT c IF NOT EXISTS FOR (n:A) REQUIRE n.x IS UNIQUE
CREATE FULLTEXT INDEX f IF NOT EXISTS FOR (n:A) ON EACH [n.x]
MATCH (n) CALL { WITH n DETACH DELETE n } IN TRANSACTIONS OF 10 ROWS
MATCH (n) WITH n CREATE (m:M {x: n.x}) WITH m MATCH (o) RETURN o
MATCH (a) INSERT (b:B)
INSERT (b:B)
