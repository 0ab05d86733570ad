"""What statements wrote, as the summary tells it. Arguments: the server's URI, its password, its user, the table.

A line of the table is `setup | statement | type counter=number …`; with `write` as a fifth argument the last part is
written as the server tells it, which is how the table was made from a Neo4j.
"""

import sys

from neo4j import GraphDatabase

URI, PASSWORD, USER, TABLE = sys.argv[1:5]
COUNTERS = ["nodes_created", "nodes_deleted", "relationships_created", "relationships_deleted", "properties_set",
            "labels_added", "labels_removed", "indexes_added", "indexes_removed", "constraints_added",
            "constraints_removed"]


def told(session, setup, statement):
    session.run("MATCH (n) DETACH DELETE n").consume()
    if setup:
        session.run(setup).consume()
    summary = session.run(statement).consume()
    counts = [f"{name}={getattr(summary.counters, name)}" for name in COUNTERS if getattr(summary.counters, name)]
    assert summary.counters.contains_updates == bool(counts), summary.counters
    return " ".join([summary.query_type, *counts])


failed = 0
with GraphDatabase.driver(URI, auth=(USER, PASSWORD), notifications_min_severity="OFF") as driver:
    with driver.session() as session:
        for line in open(TABLE, encoding="utf-8"):
            parts = [part.strip() for part in line.split(" | ")]
            if line.startswith("#") or len(parts) < 3:
                if sys.argv[5:]:
                    print(line, end="")
                continue
            answer = told(session, "" if parts[0] == "-" else parts[0], parts[1])
            if sys.argv[5:]:
                print(f"{parts[0]} | {parts[1]} | {answer}")
            elif answer != parts[2]:
                failed += 1
                print(f"FAILED  {parts[0]} | {parts[1]}\n  expected {parts[2]}\n  but was  {answer}")
            else:
                print("ok")
sys.exit(1 if failed else 0)
