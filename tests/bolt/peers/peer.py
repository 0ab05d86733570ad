"""The official Python driver against the Bolt door. Arguments: the door's URI and its password."""

import sys
import threading
import traceback
from datetime import date, time, datetime, timedelta

import pytz
from neo4j import GraphDatabase, READ_ACCESS
from neo4j.exceptions import (
    AuthError, ClientError, ConstraintError, CypherSyntaxError, CypherTypeError, TransientError,
)
from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import CartesianPoint
from neo4j.time import Date, DateTime, Duration, Time

URI, PASSWORD = sys.argv[1], sys.argv[2]


def connect(uri=URI, password=PASSWORD, **settings):
    return GraphDatabase.driver(uri, auth=("neo4j", password), **settings)


def raises(kind, code, work):
    try:
        work()
    except kind as error:
        assert error.code == code, f"{error.code} instead of {code}: {error.message}"
        return error
    raise AssertionError(f"no {kind.__name__} was raised")


def connects(driver):
    driver.verify_connectivity()
    assert driver.get_server_info().agent.startswith("Neo4j/"), driver.get_server_info().agent
    assert driver.verify_authentication(), "the password is right"


def wrong_password(driver):
    with connect(password="wrong") as stranger:
        raises(AuthError, "Neo.ClientError.Security.Unauthorized", stranger.verify_connectivity)
    with GraphDatabase.driver(URI, auth=None) as stranger:
        raises(AuthError, "Neo.ClientError.Security.Unauthorized", stranger.verify_connectivity)


def routing(driver):
    with connect(URI.replace("bolt://", "neo4j://")) as router:
        router.verify_connectivity()
        assert router.execute_query("RETURN 1 AS x").records[0]["x"] == 1


def auto_commit(driver):
    with driver.session() as session:
        result = session.run("CREATE (n:Auto {x: $x}) RETURN n.x AS x", x=7)
        assert result.keys() == ["x"]
        assert result.single()["x"] == 7
        summary = session.run("CREATE (:Auto)").consume()
        assert summary.query_type == "w" and summary.counters.contains_updates, summary.counters
        summary = session.run("MATCH (n:Auto) RETURN n").consume()
        assert summary.query_type == "r" and not summary.counters.contains_updates
        assert summary.database == "neo4j" and summary.result_available_after >= 0
        empty = session.run("MATCH (n:None) RETURN n.a AS a, n.b")
        assert empty.keys() == ["a", "n.b"] and list(empty) == []
        assert session.run("MATCH (n:Auto) RETURN count(n)").single()[0] == 2


def explicit_transactions(driver):
    def count():
        return driver.execute_query("MATCH (n:Explicit) RETURN count(n)").records[0][0]

    with driver.session() as session:
        with session.begin_transaction() as transaction:
            transaction.run("CREATE (:Explicit)")
            assert transaction.run("MATCH (n:Explicit) RETURN count(n)").single()[0] == 1
            assert count() == 0, "nobody else sees what is not committed"
            transaction.rollback()
        assert count() == 0
        with session.begin_transaction() as transaction:
            first = transaction.run("UNWIND range(1, 5000) AS x RETURN x")
            transaction.run("CREATE (:Explicit)")
            assert sum(1 for _ in first) == 5000, "two results are open at once"
            transaction.commit()
        assert count() == 1
        assert session.last_bookmarks().raw_values


def managed_transactions(driver):
    def work(transaction, name):
        transaction.run("CREATE (:Managed {name: $name})", name=name)
        return transaction.run("MATCH (n:Managed) RETURN collect(n.name)").single()[0]

    tries = []

    def flaky(transaction):
        tries.append(1)
        if len(tries) < 3:
            raise TransientError("not yet")
        return transaction.run("RETURN 1").single()[0]

    def forbidden(transaction):
        return transaction.run("CREATE (:Managed)").consume()

    with driver.session() as session:
        assert session.execute_write(work, "Ada") == ["Ada"]
        assert session.execute_read(lambda t: t.run("MATCH (n:Managed) RETURN count(n)").single()[0]) == 1
        assert session.execute_write(flaky) == 1 and len(tries) == 3
        code = "Neo.ClientError.Statement.AccessMode"
        raises(ClientError, code, lambda: session.execute_read(forbidden))
    with driver.session(default_access_mode=READ_ACCESS) as session:
        raises(ClientError, code, lambda: session.run("CREATE (:Managed)").consume())
    assert driver.execute_query("MATCH (n:Managed) RETURN count(n)").records[0][0] == 1


PARAMETERS = [
    None, True, False, 0, -1, 127, 128, -129, 65536, 2**63 - 1, -(2**63), 1.5, -0.0, float("inf"), "", "ü" * 300,
    [], [1, "a", None, [2]], {}, {"a": {"b": [1, 2]}}, list(range(1000)),
    Date(2020, 2, 29), Date(1, 1, 1), Date(9999, 12, 31),
    Time(12, 30, 15, 123456789), Time(12, 30, 0, tzinfo=pytz.FixedOffset(-210)),
    DateTime(2020, 2, 29, 1, 2, 3, 4), DateTime(1969, 12, 31, 23, 59, 59, 999999999),
    DateTime(2020, 7, 1, 12, 0, 0, 5, tzinfo=pytz.FixedOffset(120)),
    Duration(months=14, days=3, seconds=4, nanoseconds=5), Duration(months=-1, seconds=-1, nanoseconds=-500000000),
    Duration(),
]


def parameters(driver):
    for value in PARAMETERS:
        back = driver.execute_query("RETURN $value AS value", value=value).records[0]["value"]
        assert back == value and (value is None or type(back) is type(value)), f"{value!r} came back as {back!r}"
        stored = {"value": value}
        if not isinstance(value, dict) and not (isinstance(value, list) and None in value):
            records = driver.execute_query("CREATE (n:P) SET n.v = $value RETURN n.v", stored).records
            assert records[0][0] == value, f"{value!r} was stored as {records[0][0]!r}"
    for value, expected in [(date(2020, 1, 2), Date(2020, 1, 2)), (time(1, 2), Time(1, 2)),
                            (timedelta(days=1, seconds=5), Duration(days=1, seconds=5))]:
        assert driver.execute_query("RETURN $value", value=value).records[0][0] == expected
    for zone, moment in [("Europe/Berlin", datetime(2020, 7, 1, 12)), ("America/New_York", datetime(2020, 1, 1, 0, 30))]:
        given = pytz.timezone(zone).localize(moment)
        back = driver.execute_query("RETURN $value", value=given).records[0][0]
        assert back.to_native() == given and back.tzinfo.zone == zone, f"{given!r} came back as {back!r}"
    for value, what in [(b"bytes", "byte array"), ([CartesianPoint((1.0, 2.0))], "point")]:
        with driver.session() as session:
            try:
                session.run("RETURN $value", value=value).consume()
                raise AssertionError(f"{value!r} was taken")
            except ClientError as error:
                assert what in error.message and "$value" in error.message, error.message


def values(driver):
    def one(text):
        return driver.execute_query(f"RETURN {text} AS value").records[0]["value"]

    assert one("date('2020-02-29')") == Date(2020, 2, 29)
    assert one("time('12:30:01.5+01:00')") == Time(12, 30, 1, 500000000, tzinfo=pytz.FixedOffset(60))
    assert one("localtime('12:30')") == Time(12, 30)
    assert one("localdatetime('2020-02-29T01:02:03')") == DateTime(2020, 2, 29, 1, 2, 3)
    assert one("datetime('2020-02-29T01:02:03Z')") == DateTime(2020, 2, 29, 1, 2, 3, tzinfo=pytz.UTC)
    zoned = one("datetime('2020-07-01T12:00:00[Europe/Berlin]')")
    assert zoned.tzinfo.zone == "Europe/Berlin" and zoned.utcoffset() == timedelta(hours=2), zoned
    assert one("duration('P1Y2M3DT4H5M6.7S')") == Duration(months=14, days=3, seconds=14706, nanoseconds=700000000)
    assert one("duration('PT-1.5S')") == Duration(seconds=-1, nanoseconds=-500000000)
    assert one("[1, {a: [date('2020-01-01')]}]") == [1, {"a": [Date(2020, 1, 1)]}]
    driver.execute_query("CREATE (:V {n: 1})-[:R {w: 0.5}]->(:V:W {n: 2})-[:R]->(:V {n: 3})")
    a, r, b = driver.execute_query("MATCH (a:V {n: 1})-[r]->(b) RETURN a, r, b").records[0]
    assert isinstance(a, Node) and set(b.labels) == {"V", "W"} and dict(a) == {"n": 1}
    assert isinstance(r, Relationship) and r.type == "R" and r["w"] == 0.5
    assert (r.start_node, r.end_node) == (a, b) and a.element_id and r.element_id
    found = driver.execute_query("MATCH (n) WHERE elementId(n) = $id RETURN n", id=a.element_id).records[0]["n"]
    assert found.element_id == a.element_id and dict(found) == dict(a)
    query = "MATCH p = (:V {n: 3})<--()<--() RETURN p"
    path = driver.execute_query(query).records[0]["p"]
    assert isinstance(path, Path) and [n["n"] for n in path.nodes] == [3, 2, 1]
    assert [(r.start_node["n"], r.end_node["n"]) for r in path.relationships] == [(2, 3), (1, 2)]
    assert driver.execute_query("MATCH p = (:V {n: 1}) RETURN p").records[0]["p"].relationships == ()


def streaming(driver):
    with driver.session(fetch_size=100) as session:
        numbers = [record["x"] for record in session.run("UNWIND range(1, 10000) AS x RETURN x")]
        assert numbers == list(range(1, 10001))
        result = session.run("UNWIND range(1, 10000) AS x RETURN x")
        assert next(iter(result))["x"] == 1
        assert result.consume().query_type == "r", "the rest is discarded"
    with driver.session(fetch_size=-1) as session:
        assert len(list(session.run("UNWIND range(1, 10000) AS x RETURN x"))) == 10000
    with driver.session() as session:
        assert sum(1 for _ in session.run("UNWIND range(1, 150000) AS x RETURN x")) == 150000
    long = driver.execute_query("RETURN $text AS text", text="x" * 900_000).records[0]["text"]
    assert len(long) == 900_000, "a message of many chunks"


def errors(driver):
    statement = "Neo.ClientError.Statement."
    with driver.session() as session:
        for kind, code, query in [
            (CypherSyntaxError, statement + "SyntaxError", "RETRUN 1"),
            (CypherSyntaxError, statement + "SyntaxError", "RETURN nope"),
            (CypherSyntaxError, statement + "SyntaxError", "RETURN 1; RETURN 2"),
            (ClientError, statement + "ParameterMissing", "RETURN $missing"),
            (ClientError, statement + "ArithmeticError", "RETURN 1 / 0"),
            (CypherTypeError, statement + "TypeError", "UNWIND [1, 'a'] AS x RETURN range(1, x)"),
            (ClientError, statement + "UnsupportedOperationError", "FOREACH (x IN [1] | CREATE (:X))"),
        ]:
            raises(kind, code, lambda: session.run(query).consume())
            assert session.run("RETURN 1").single()[0] == 1, "the session goes on after a failure"
        session.run("CREATE (:Tied)-[:TO]->(:Tied)").consume()
        raises(ConstraintError, "Neo.ClientError.Schema.ConstraintValidationFailed",
               lambda: session.run("MATCH (n:Tied) DELETE n").consume())
        transaction = session.begin_transaction()
        transaction.run("CREATE (:Lost)")
        raises(CypherSyntaxError, statement + "SyntaxError", lambda: transaction.run("RETRUN").consume())
        transaction.close()
        assert session.run("MATCH (n:Lost) RETURN count(n)").single()[0] == 0, "a failed transaction is undone"
    with driver.session(database="other") as session:
        raises(ClientError, "Neo.ClientError.Database.DatabaseNotFound", lambda: session.run("RETURN 1").consume())
    endless = "UNWIND range(1, 99999) AS x UNWIND range(1, 1000) AS y RETURN count(*)"
    with driver.session() as session:
        transaction = session.begin_transaction(timeout=0.05)
        raises(ClientError, "Neo.ClientError.Transaction.TransactionTimedOut",
               lambda: transaction.run(endless).consume())
        transaction.close()



def locked(driver):
    with driver.session() as one, driver.session() as other:
        holder = one.begin_transaction()
        holder.run("CREATE (:Locked)").consume()
        raises(TransientError, "Neo.TransientError.Transaction.LockAcquisitionTimeout",
               lambda: other.run("CREATE (:Locked)").consume())
        assert other.run("MATCH (n:Locked) RETURN count(n)").single()[0] == 0
        holder.commit()
        other.run("CREATE (:Locked)").consume()
        assert other.run("MATCH (n:Locked) RETURN count(n)").single()[0] == 2


def many_at_once(driver):
    failures = []

    def increment(transaction):
        transaction.run("MERGE (n:Counter) SET n.x = coalesce(n.x, 0) + 1")

    def work():
        try:
            for _ in range(5):
                with driver.session() as session:
                    session.execute_write(increment)
                    session.run("MATCH (n:Counter) RETURN n.x").consume()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    assert driver.execute_query("MATCH (n:Counter) RETURN n.x").records[0][0] == 80


CASES = [connects, wrong_password, routing, auto_commit, explicit_transactions, managed_transactions, parameters,
         values, streaming, errors, locked, many_at_once]

with connect() as driver:
    failed = 0
    for case in CASES:
        try:
            case(driver)
            print(f"ok      {case.__name__}")
        except Exception as error:
            failed += 1
            print(f"FAILED  {case.__name__}: {type(error).__name__}: {error}")
            traceback.print_exc(file=sys.stdout)
sys.exit(1 if failed else 0)
