// The official JavaScript driver against the Bolt door. Arguments: the door's URI and its password.

'use strict'

const assert = require('node:assert/strict')
const neo4j = require('neo4j-driver')

const [uri, password] = process.argv.slice(2)
const { int } = neo4j

function connect (to = uri, secret = password, settings = {}) {
  return neo4j.driver(to, neo4j.auth.basic('neo4j', secret), settings)
}

async function fails (code, work) {
  await assert.rejects(work, error => {
    assert.equal(error.code, code, error.message)
    return true
  })
}

// Integers and temporal values with numbers or integers inside, as something that can be compared.
function plain (value) {
  if (neo4j.isInt(value)) return value.toBigInt()
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value
  if (Array.isArray(value)) return value.map(plain)
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).filter(([, entry]) => entry !== undefined)
    return [value.constructor.name, Object.fromEntries(entries.map(([key, entry]) => [key, plain(entry)]))]
  }
  return value
}

async function one (driver, query, parameters) {
  const { records } = await driver.executeQuery(query, parameters)
  return records[0].get(0)
}

const cases = {
  async connects (driver) {
    const info = await driver.getServerInfo()
    assert.match(info.agent, /^Neo4j\//)
    assert.ok(await driver.verifyAuthentication())
  },

  async wrongPassword () {
    const stranger = connect(uri, 'wrong')
    await fails('Neo.ClientError.Security.Unauthorized', () => stranger.verifyConnectivity())
    await stranger.close()
  },

  async routing () {
    const router = connect(uri.replace('bolt://', 'neo4j://'))
    assert.equal((await one(router, 'RETURN 1')).toNumber(), 1)
    await router.close()
  },

  async autoCommit (driver) {
    const session = driver.session()
    const result = await session.run('CREATE (n:Auto {x: $x}) RETURN n.x AS x', { x: int(7) })
    assert.deepEqual(result.records[0].keys, ['x'])
    assert.equal(result.summary.queryType, 'rw')
    assert.ok(result.summary.counters.containsUpdates())
    const empty = await session.run('MATCH (n:None) RETURN n.a AS a, n.b')
    assert.equal(empty.records.length, 0)
    assert.equal(empty.summary.queryType, 'r')
    assert.equal(empty.summary.database.name, 'neo4j')
    await session.close()
  },

  async explicitTransactions (driver) {
    const count = async () => (await one(driver, 'MATCH (n:Explicit) RETURN count(n)')).toNumber()
    const session = driver.session()
    let transaction = session.beginTransaction()
    await transaction.run('CREATE (:Explicit)')
    assert.equal(await count(), 0)
    await transaction.rollback()
    assert.equal(await count(), 0)
    transaction = session.beginTransaction()
    await transaction.run('CREATE (:Explicit)')
    await transaction.commit()
    assert.equal(await count(), 1)
    await session.close()
  },

  async managedTransactions (driver) {
    const session = driver.session()
    await session.executeWrite(transaction => transaction.run('CREATE (:Managed)'))
    const read = await session.executeRead(transaction => transaction.run('MATCH (n:Managed) RETURN count(n)'))
    assert.equal(read.records[0].get(0).toNumber(), 1)
    await fails('Neo.ClientError.Statement.AccessMode', () =>
      session.executeRead(transaction => transaction.run('CREATE (:Managed)')))
    await assert.rejects(session.executeWrite(async transaction => {
      await transaction.run('CREATE (:Managed)')
      throw new Error('changed my mind')
    }), /changed my mind/)
    assert.equal((await one(driver, 'MATCH (n:Managed) RETURN count(n)')).toNumber(), 1)
    await session.close()
  },

  async parameters (driver) {
    const { types } = neo4j
    for (const value of [
      null, true, false, int(0), int(-17), int('9223372036854775807'), 1.5, '', 'ü'.repeat(300), [], [int(1), 'a', null],
      {}, { a: { b: [1.5] } },
      new types.Date(2020, 2, 29), new types.LocalTime(12, 30, 1, 5), new types.Time(12, 30, 1, 5, -5400),
      new types.LocalDateTime(1969, 12, 31, 23, 59, 59, 999999999),
      new types.DateTime(2020, 7, 1, 12, 0, 0, 5, 7200),
      new types.DateTime(2020, 7, 1, 12, 0, 0, 5, 7200, 'Europe/Berlin'),
      new types.Duration(14, 3, 4, 5)
    ]) {
      const back = await one(driver, 'RETURN $value', { value })
      assert.deepEqual(plain(back), plain(value))
    }
    for (const [value, what] of [[new Int8Array([1]), /byte array/], [new types.Point(int(7203), 1, 2), /point/]]) {
      await assert.rejects(driver.executeQuery('RETURN $value', { value }), what)
    }
  },

  async values (driver) {
    for (const text of [
      "date('2020-02-29')", "localtime('12:30:00')", "time('12:30:01.5+01:00')", "duration('P1Y2M3DT4H5M6.7S')", "localdatetime('2020-02-29T01:02:03')",
      "datetime('2020-07-01T12:00:00Z')", "datetime('2020-07-01T12:00:00+02:00[Europe/Berlin]')"
    ]) {
      const back = await one(driver, `RETURN ${text}`)
      assert.ok(await one(driver, `RETURN ${text} = $back`, { back }), `${text} came as ${back}`)
    }
    await driver.executeQuery('CREATE (:V {n: 1})-[:R {w: 0.5}]->(:V:W {n: 2})-[:R]->(:V {n: 3})')
    const { records } = await driver.executeQuery('MATCH (a:V {n: 1})-[r]->(b) RETURN a, r, b')
    const [a, r, b] = records[0].map(value => value)
    assert.ok(neo4j.isNode(a) && neo4j.isRelationship(r))
    assert.deepEqual([a.elementId, b.elementId], [r.startNodeElementId, r.endNodeElementId])
    assert.deepEqual([...b.labels].sort(), ['V', 'W'])
    assert.equal(r.properties.w, 0.5)
    const path = await one(driver, 'MATCH p = (:V {n: 3})<--()<--() RETURN p')
    assert.ok(neo4j.isPath(path))
    assert.deepEqual(path.segments.map(s => [s.start.properties.n.toNumber(), s.end.properties.n.toNumber()]), [[3, 2], [2, 1]])
    assert.equal(path.segments[0].relationship.startNodeElementId, path.segments[0].end.elementId)
  },

  async streaming (driver) {
    const session = driver.session({ fetchSize: 100 })
    const result = await session.run('UNWIND range(1, 10000) AS x RETURN x')
    assert.deepEqual(result.records.map(record => record.get('x').toNumber()), Array.from({ length: 10000 }, (_, i) => i + 1))
    let seen = 0
    for await (const record of session.run('UNWIND range(1, 10000) AS x RETURN x')) {
      if (record.get('x').toNumber() !== ++seen || seen === 150) break
    }
    assert.equal(seen, 150)
    await session.close()
  },

  async errors (driver) {
    const session = driver.session()
    for (const [code, query] of [
      ['Neo.ClientError.Statement.SyntaxError', 'RETRUN 1'],
      ['Neo.ClientError.Statement.ParameterMissing', 'RETURN $missing'],
      ['Neo.ClientError.Statement.ArithmeticError', 'RETURN 1 / 0']
    ]) {
      await fails(code, () => session.run(query))
      assert.equal((await session.run('RETURN 1')).records[0].get(0).toNumber(), 1)
    }
    const transaction = session.beginTransaction()
    await transaction.run('CREATE (:Lost)')
    await fails('Neo.ClientError.Statement.SyntaxError', () => transaction.run('RETRUN'))
    await transaction.close()
    assert.equal((await one(driver, 'MATCH (n:Lost) RETURN count(n)')).toNumber(), 0)
    await session.close()
  },

  async manyAtOnce (driver) {
    await Promise.all(Array.from({ length: 40 }, async () => {
      const session = driver.session()
      await session.executeWrite(transaction => transaction.run('MERGE (n:Counter) SET n.x = coalesce(n.x, 0) + 1'))
      await session.close()
    }))
    assert.equal((await one(driver, 'MATCH (n:Counter) RETURN n.x')).toNumber(), 40)
  }
}

async function main () {
  const driver = connect()
  let failed = 0
  for (const [name, run] of Object.entries(cases)) {
    try {
      await run(driver)
      console.log(`ok      ${name}`)
    } catch (error) {
      failed++
      console.log(`FAILED  ${name}: ${error.stack}`)
    }
  }
  await driver.close()
  process.exitCode = failed ? 1 : 0
}

main()
