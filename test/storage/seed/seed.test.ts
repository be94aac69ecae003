import t from 'tap'

import {
  apiKeyHash,
  CUSTOMER_SCOPES,
  generateApiKey,
  isApiKeyText,
  OPERATOR_SCOPES,
} from '../../../lib/identity/api-key.ts'
import { ManualClock, systemClock } from '../../../lib/base/clock.ts'
import { createIdSource } from '../../../lib/base/ids.ts'
import { createSecretBox } from '../../../lib/security/secret-box.ts'
import { shardOf, SHARD_COUNT } from '../../../lib/shards/shard.ts'
import { audit } from '../../../storage/audit/audit.ts'
import { Database } from '../../../storage/db/database.ts'
import { createBalanceReads } from '../../../actors/balances/balance-reads.ts'
import { createRecipientReads } from '../../../actors/recipients/recipient-reads.ts'
import { findApiKey } from '../../../storage/identity/api-key-queries.ts'
import { createSandboxCustomers, createSandboxOperator } from '../../../storage/seed/seed-customers.ts'
import { seedSandbox } from '../../../storage/seed/seed.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { Test } from 'tap'

async function setUp(t: Test) {
  const testDatabase = await createTestDatabase()
  const database = new Database(testDatabase.url)
  t.teardown(async () => {
    await database.close()
    await testDatabase[Symbol.asyncDispose]()
  })
  const clock = new ManualClock(Date.parse('2026-05-04T09:30:00.000Z'))
  const world = { database, clock, ids: createIdSource(clock) }
  const reads = { ...createBalanceReads({ database }), ...createRecipientReads({ database, clock }) }
  const keyOf = async (secret: string) => findApiKey(database, apiKeyHash(secret))
  const audited = async () => {
    const client = await database.pool.connect()
    try {
      return (await audit(client)).ok
    } finally {
      client.release()
    }
  }
  const count = async (table: string) =>
    (
      await database.query<[number]>({ name: `count_${table}`, text: `select count(*)::int from ${table}`, values: [] })
    )[0]![0]
  return { database, clock, world, reads, keyOf, audited, count }
}

t.test('a new sandbox has money, recipients and working keys', async (t) => {
  const { world, reads, keyOf, audited } = await setUp(t)
  const { operator, customer } = await seedSandbox({ ...world, kept: null })
  t.match(await keyOf(operator.apiKey), {
    level: 'operator',
    tenantId: operator.id,
    status: 'active',
    environment: 'test',
    scopes: OPERATOR_SCOPES,
    expiresAtMs: null,
  })
  t.match(await keyOf(customer.apiKey), {
    level: 'customer',
    tenantId: customer.id,
    status: 'active',
    environment: 'test',
    scopes: CUSTOMER_SCOPES,
  })
  const tenant = { id: customer.id, kind: 'customer' } as const
  for (const currency of ['EUR', 'GBP', 'USD', 'JPY'] as const) {
    const balance = await reads.getBalance(tenant, customer.balances[currency])
    t.match(balance?.view, {
      currency,
      status: 'active',
      detailsStatus: 'active',
      isDefault: true,
      bookBalance: { amountMinor: currency === 'JPY' ? '0' : '10000000', currency },
    })
  }
  t.match((await reads.getRecipient(tenant, customer.recipients.EUR))?.view, {
    status: 'active',
    currency: 'EUR',
    maskedIdentifier: 'NL77****0001',
    bank: { iban: 'NL77SBOX0100000001', bic: 'SBOXNL2A', sortCode: null },
  })
  t.match((await reads.getRecipient(tenant, customer.recipients.GBP))?.view, {
    status: 'active',
    maskedIdentifier: '****0001',
    bank: { sortCode: '990001' },
  })
  t.match((await reads.getRecipient(tenant, customer.recipients.USD))?.view, {
    status: 'active',
    bank: { routingNumber: '099000011', accountType: 'checking' },
  })
  const all = { tenant, filters: {}, metadata: [], limit: 100, position: null, withTotal: false, q: null }
  const recipients = await reads.listRecipients({ ...all, sort: 'name' })
  t.strictSame(recipients.rows.map(({ status }) => status).sort(), ['active', 'active', 'active', 'pending_approval'])
  t.match(
    recipients.rows.find(({ status }) => status === 'pending_approval')?.approval,
    { mode: 'customer_tier', status: 'pending', stage: 'customer', approvalId: String },
    'somebody is asked about the one that waits',
  )
  t.equal(await audited(), true)
})

t.test('a second start finds the first', async (t) => {
  const { world, count } = await setUp(t)
  const first = await seedSandbox({ ...world, kept: null })
  t.strictSame(await seedSandbox({ ...world, kept: first }), first)
  t.equal(await count('api_key'), 2)
  t.equal(await count('posting'), 3)
})

t.test('a start without the file gets new keys and revokes the lost ones', async (t) => {
  const { world, clock, keyOf, count } = await setUp(t)
  const first = await seedSandbox({ ...world, kept: null })
  clock.advance(60_000)
  const second = await seedSandbox({ ...world, kept: null })
  t.strictSame({ ...second.customer, apiKey: '' }, { ...first.customer, apiKey: '' })
  t.equal(second.operator.id, first.operator.id)
  for (const secret of [first.operator.apiKey, first.customer.apiKey]) t.equal((await keyOf(secret))?.status, 'revoked')
  for (const secret of [second.operator.apiKey, second.customer.apiKey])
    t.equal((await keyOf(secret))?.status, 'active')
  t.equal(await count('customer'), 1)
  // The file of another database, or an old one, is no better than none.
  clock.advance(60_000)
  const third = await seedSandbox({ ...world, kept: first })
  t.not(third.customer.apiKey, first.customer.apiKey)
  t.equal((await keyOf(third.customer.apiKey))?.status, 'active')
})

t.test('keys follow from the secret: nodes that share it agree on them, whenever they start', async (t) => {
  const { world, clock, database, keyOf, count } = await setUp(t)
  const shared = { ...world, secrets: createSecretBox('a secret that nodes share') }
  const first = await seedSandbox({ ...shared, kept: null })
  clock.advance(3_600_000)
  t.strictSame(await seedSandbox({ ...shared, kept: null }), first, 'a lost file comes back as it was')
  t.equal(await count('api_key'), 2)
  t.not(first.operator.apiKey, first.customer.apiKey)

  await database.pool.query(
    `update api_key set status = 'revoked', revoked_at = now() where sha256 = decode($1, 'hex')`,
    [apiKeyHash(first.customer.apiKey)],
  )
  const second = await seedSandbox({ ...shared, kept: null })
  t.not(second.customer.apiKey, first.customer.apiKey, 'what somebody has revoked stays so')
  for (const secret of [second.operator.apiKey, second.customer.apiKey])
    t.equal((await keyOf(secret))?.status, 'active')
  clock.advance(60_000)
  const other = await seedSandbox({ ...world, secrets: createSecretBox('another secret'), kept: null })
  t.equal((await keyOf(second.customer.apiKey))?.status, 'revoked')
  t.equal((await keyOf(other.customer.apiKey))?.status, 'active')
  clock.advance(60_000)
  t.strictSame(
    await seedSandbox({ ...world, secrets: createSecretBox('another secret'), kept: null }),
    other,
    'and they stay',
  )
})

t.test('nodes that start at once seed one sandbox, and each has keys that work', async (t) => {
  const { world, keyOf, count, audited } = await setUp(t)
  const nodes = await Promise.all([1, 2, 3, 4].map(() => seedSandbox({ ...world, kept: null })))
  t.equal(new Set(nodes.map(({ customer }) => customer.id)).size, 1)
  t.equal(await count('balance'), 4)
  for (const { customer } of nodes) t.equal((await keyOf(customer.apiKey))?.status, 'active')
  t.equal(await audited(), true)
})

t.test('many customers are made in one go', async (t) => {
  const { world, reads, audited } = await setUp(t)
  const operator = await createSandboxOperator(world)
  const created = await createSandboxCustomers(
    { ...world, ...operator },
    Array.from({ length: 300 }, (_, n) => ({
      legalName: `Company ${n}`,
      number: `N-${n}`,
      recipients: n === 0,
      balances: [
        { currency: 'EUR', amount: 100n },
        { currency: 'EUR', amount: 200n, name: 'Second' },
        { currency: 'JPY', amount: 0n },
      ] as const,
    })),
  )
  t.equal(created.length, 300)
  const last = created.at(-1)!
  const tenant = { id: last.id, kind: 'customer' } as const
  t.match((await reads.getBalance(tenant, last.balanceIds[1]!))?.view, {
    name: 'Second',
    isDefault: false,
    availableBalance: { amountMinor: '200' },
  })
  t.ok(created[0]?.recipients)
  t.equal(last.recipients, null)
  t.equal((await findApiKey(world.database, apiKeyHash(last.apiKey)))?.tenantId, last.id)
  t.equal(await audited(), true)
})

t.test('keys have a checksum, and their prefix is their beginning', async (t) => {
  const made = generateApiKey('live', (bytes) => new Uint8Array(bytes).fill(7))
  t.equal(made.secret.length, 55)
  t.equal(made.prefix, made.secret.slice(0, 17))
  t.equal(isApiKeyText(made.secret), true)
  t.equal(isApiKeyText(made.secret.slice(0, -1) + (made.secret.endsWith('0') ? '1' : '0')), false)
  t.equal(isApiKeyText(made.secret.replace('live', 'test')), false)
  t.equal(made.sha256, apiKeyHash(made.secret))
})

t.test('shards spread customers and never change', async (t) => {
  const ids = createIdSource(systemClock)
  const counts = new Map<number, number>()
  for (let n = 0; n < 51_200; n += 1) {
    const shard = shardOf(ids.next())
    counts.set(shard, (counts.get(shard) ?? 0) + 1)
  }
  t.equal(counts.size, SHARD_COUNT)
  t.ok(Math.max(...counts.values()) < 300, 'no shard has more than half as much again as its share of 200')
  t.equal(shardOf('01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'), shardOf('01980D6E-7F3A-7C21-9F58-0A1B2C3D4E5F'))
})
