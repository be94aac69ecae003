import { randomUUID } from 'node:crypto'
import { defineEntity, p, type EntitySchema } from '@mikro-orm/core'
import pg from 'pg'
import t, { type Test } from 'tap'

import { ProblemError } from '../../../lib/base/problems.ts'
import { CustomerAddress } from '../../../storage/customers/customer-address-entity.ts'
import { Database } from '../../../storage/db/database.ts'
import { entitiesOf, entitiesOfEveryTenant, type TenantScope } from '../../../storage/db/entities.ts'
import { managed } from '../../../storage/db/entity-types.ts'
import { inTransaction, type TransactionClient } from '../../../storage/db/transaction.ts'
import { Team } from '../../../storage/identity/team-entity.ts'
import { ENTITIES } from '../../../storage/schema/entities.ts'
import { createTestDatabase } from '../../support/postgres.ts'

/** A table of teams whose entity leaves out whose they are. */
const StrayTeam = managed(
  defineEntity({ name: 'StrayTeam', tableName: 'stray_team', properties: { id: p.uuid().primary(), name: p.text() } }),
)
for (const entity of ENTITIES) managed(entity)

/** An empty database whose tables take rows with nothing but keys and tenants, gone when the test ends. */
async function openLoose(t: Test) {
  const made = await createTestDatabase()
  const database = new Database(made.url, 4)
  const client = new pg.Client({ connectionString: made.url })
  await client.connect()
  t.teardown(async () => {
    await client.end()
    await database.close()
    await made[Symbol.asyncDispose]()
  })
  await client.query(`do $$
    declare found record;
    begin
      for found in select conrelid::regclass as name, conname from pg_constraint
          where contype in ('c', 'f') and connamespace = 'public'::regnamespace and conparentid = 0 loop
        execute format('alter table %s drop constraint if exists %I', found.name, found.conname);
      end loop;
    end $$; set session_replication_role = replica`)
  return { database, client }
}

interface Column {
  readonly name: string
  readonly type: string
  readonly needed: boolean
}

async function columnsOf(client: pg.Client, table: string): Promise<readonly Column[]> {
  const { rows } = await client.query<Column>(
    `select attname as name, format_type(atttypid, null) as type, attnotnull and not atthasdef and attidentity = '' as needed
      from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  )
  return rows
}

/** A value of each type that a column may need; distinct where keys need it. */
function anyValue(type: string): unknown {
  if (type === 'uuid') return randomUUID()
  if (type.endsWith('[]')) return '{}'
  if (type.startsWith('json')) return '{}'
  if (type.startsWith('timestamp') || type === 'date') return '2026-05-04'
  if (type === 'boolean') return false
  if (type === 'bytea') return Buffer.alloc(32)
  return ['integer', 'bigint', 'smallint', 'numeric'].includes(type) ? 1 : '1'
}

/** The scopes under which a row with these columns is read. */
const SCOPES: Readonly<Record<string, (id: string) => TenantScope>> = {
  customer_id: (customerId) => ({ customerId }),
  operator_id: (operatorId) => ({ operatorId }),
  tenant_id: (tenantId) => ({ tenantId }),
  owner_id: (ownerId) => ({ ownerId }),
}

/**
 * Writes a row of each entity whose table says whose its rows are, and reads it under its own tenant and a foreign one.
 * Returns the entities and scopes that do not keep tenants apart.
 */
async function leaksOf(
  { database, client }: { readonly database: Database; readonly client: pg.Client },
  entities: readonly EntitySchema[],
): Promise<{ readonly leaks: readonly string[]; readonly read: number }> {
  const leaks: string[] = []
  let read = 0
  for (const entity of entities) {
    const table = entity.meta.tableName
    const columns = await columnsOf(client, table)
    const needed = columns.filter(({ name, needed }) => needed || name in SCOPES || name === 'id')
    const values = needed.map(({ type }) => anyValue(type))
    const places = needed.map((_, nth) => `$${nth + 1}`)
    await client.query(
      `insert into ${table} (${needed.map(({ name }) => name).join()}) values (${places.join()})`,
      values,
    )
    const own = needed.map(({ name }, nth) => [name, values[nth] as string] as const)
    const keys = own.flatMap(([name, id]) => {
      const scope = SCOPES[name === 'id' && ['customer', 'operator'].includes(table) ? `${table}_id` : name]
      return scope === undefined ? [] : [{ name, id, scope }]
    })
    for (const { name, id, scope } of keys) {
      read += 1
      const rows = async (tenant: string) =>
        await inTransaction(database, async (tx) => {
          const open = entitiesOf(tx, scope(tenant))
          const found = await open.find(entity, {})
          return [found.length, await open.count(entity), (await open.lock(entity, {})) === null ? 0 : 1]
        }).catch((error: Error) => error.message)
      const [mine, foreign] = [await rows(id), await rows(randomUUID())]
      if (String(mine) !== '1,1,1' || String(foreign) !== '0,0,0')
        leaks.push(`${entity.meta.className} by ${name}: ${mine} own, ${foreign} foreign`)
    }
  }
  return { leaks, read }
}

t.test('a row of each entity is seen by its own tenant and by no other', async (t) => {
  const loose = await openLoose(t)
  const { leaks, read } = await leaksOf(loose, ENTITIES as unknown as EntitySchema[])
  t.strictSame(leaks, [])
  t.ok(read > 50, `${read} pairs of an entity and a column`)
})

t.test('an entity that leaves out whose its rows are is found by this test', async (t) => {
  const loose = await openLoose(t)
  await loose.client.query('create table stray_team (like team)')
  const { leaks } = await leaksOf(loose, [StrayTeam as unknown as EntitySchema])
  t.equal(leaks.length, 1)
  t.match(leaks[0], /^StrayTeam by customer_id: No column of stray_team says/)
})

const address = { line1: 'Dam 1', city: 'Amsterdam', country: 'NL' } as never
const at = Date.parse('2026-05-04T09:30:00.123Z')

/** A customer's address in a database where the customer need not exist. */
async function openAddress(t: Test) {
  const { database } = await openLoose(t)
  const customerId = randomUUID()
  const id = randomUUID()
  const of = (client: TransactionClient) => entitiesOf(client, { customerId })
  await inTransaction(database, async (client) => {
    const made = await of(client).insert(CustomerAddress, {
      id,
      customerId,
      kind: 'operating',
      address,
      createdAt: at,
      updatedAt: at,
    })
    t.equal(made.version, 1)
  })
  return { database, customerId, id, of }
}

t.test('a changed row is written with its next version, and read back as it was written', async (t) => {
  const { database, customerId, id, of } = await openAddress(t)
  await inTransaction(database, async (client) => {
    const found = await of(client).get(CustomerAddress, id)
    t.equal(found.createdAt, at)
    Object.assign(found, { kind: 'correspondence', updatedAt: at + 1 })
    await of(client).save()
    t.equal(found.version, 2)
    await of(client).save()
    t.equal(found.version, 2, 'nothing has changed since')
  })
  const [read] = await entitiesOf(database.pool, { customerId }).find(CustomerAddress, {})
  t.match(read, { id, customerId, kind: 'correspondence', address, version: 2, createdAt: at, updatedAt: at + 1 })
})

t.test('of two transactions that read the same version, the second is refused', async (t) => {
  const { database, id, of } = await openAddress(t)
  const change = async (client: TransactionClient, kind: string) => {
    Object.assign(await of(client).get(CustomerAddress, id), { kind })
    await of(client).save()
  }
  const read = Promise.withResolvers<void>()
  const written = Promise.withResolvers<void>()
  const second = inTransaction(database, async (client) => {
    await of(client).get(CustomerAddress, id)
    read.resolve()
    await written.promise
    await change(client, 'registered')
  }).catch((error: unknown) => error)
  await read.promise
  await inTransaction(database, async (client) => await change(client, 'correspondence'))
  written.resolve()
  const refusal = await second
  t.type(refusal, ProblemError)
  t.match(refusal, { message: /^precondition-failed/ })
})

t.test('a lock reads the row as it is now', async (t) => {
  const { database, id, of } = await openAddress(t)
  await inTransaction(database, async (client) => {
    const before = await of(client).get(CustomerAddress, id)
    await client.query(`update customer_address set kind = 'registered', version = 2 where id = '${id}'`)
    t.equal((await of(client).get(CustomerAddress, id)).kind, 'operating', 'the unit of work holds what it read')
    t.equal(await of(client).lock(CustomerAddress, { id }), before)
    t.match(before, { kind: 'registered', version: 2 })
  })
})

t.test('what a transaction has read is forgotten when it ends', async (t) => {
  const { database, id, of } = await openAddress(t)
  const open: object[] = []
  for (const kind of ['operating', 'registered']) {
    await inTransaction(database, async (client) => {
      open.push(of(client))
      t.equal(of(client), of(client), 'one for the transaction')
      t.equal((await of(client).get(CustomerAddress, id)).kind, kind)
      await client.query(`update customer_address set kind = 'registered' where id = '${id}'`)
    })
  }
  t.not(open[0], open[1])
})

t.test('rows of another tenant are not added, and none are written on the pool', async (t) => {
  const { database, customerId, id } = await openAddress(t)
  const row = { id: randomUUID(), customerId, name: 'Treasury', createdAt: at, updatedAt: at }
  await inTransaction(database, async (client) => {
    await t.rejects(entitiesOf(client, { customerId: randomUUID() }).insert(Team, row), /another tenant/)
    await entitiesOfEveryTenant(client, 'the test').insert(Team, row)
  })
  const reading = entitiesOf(database.pool, { customerId })
  await t.rejects(reading.insert(Team, row), /in a transaction/)
  await t.rejects(reading.lock(CustomerAddress, { id }), /in a transaction/)
  await t.rejects(reading.save(), /in a transaction/)
  t.equal((await entitiesOfEveryTenant(database.pool, 'the test').find(Team, {})).length, 1)
})

t.test('without a tenant nothing is read, and errors keep their SQLSTATE', async (t) => {
  const { database, customerId } = await openAddress(t)
  t.throws(() => entitiesOf(database.pool, undefined as never))
  await t.rejects(entitiesOf(database.pool, {} as never).find(Team, {}))
  const row = { id: randomUUID(), customerId, name: 'Treasury', createdAt: at, updatedAt: at }
  await inTransaction(database, async (client) => {
    await entitiesOf(client, { customerId }).insert(Team, row)
  })
  await t.rejects(
    inTransaction(database, async (client) => {
      await entitiesOf(client, { customerId }).insert(Team, row)
    }),
    { code: '23505' },
  )
  await t.rejects(entitiesOf(database.pool, { customerId: 'no uuid' }).find(Team, {}), { code: '22P02' })
})
