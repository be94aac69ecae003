/** A database with one operator and one customer with funded balances, and the audit that ends every test. */
import pg from 'pg'
import type { Test } from 'tap'
import { systemClock, type Clock } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { audit } from '../../storage/audit/audit.ts'
import { Database } from '../../storage/db/database.ts'
import { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { RecipientCache, type PayableRecipient } from '../../storage/recipients/recipient-cache.ts'
import {
  createSandboxCustomer,
  createSandboxOperator,
  type SandboxOperator,
} from '../../storage/seed/seed-customers.ts'
import { ids } from './commands.ts'
import { createTestDatabase } from './postgres.ts'

export interface Ledger extends SandboxOperator {
  readonly url: string
  readonly database: Database
  readonly clock: Clock
  readonly customerId: string
  readonly apiKeyId: string
  readonly shard: number
  /** Ids, in the order of the amounts. */
  readonly balances: readonly string[]
  /** An active recipient in euro. */
  readonly recipient: PayableRecipient
  readonly accounts: InternalAccountCache
  /** Queries the database; rows are arrays. */
  read<Row extends unknown[]>(text: string, values?: unknown[]): Promise<Row[]>
  /** Reads the posted and held amounts of one balance. */
  funds(balanceId: string): Promise<{
    readonly posted: bigint
    readonly held: bigint
    readonly available: bigint
    readonly version: bigint
    readonly sequence: bigint
  }>
}

/** Opens a ledger whose balances have these amounts, in euro by default. It is removed when the test ends. */
export async function openLedger(
  t: Test,
  amounts: readonly (bigint | { readonly currency: CurrencyCode; readonly amount: bigint })[],
  clock: Clock = systemClock,
): Promise<Ledger> {
  const testDatabase = await createTestDatabase()
  const database = new Database(testDatabase.url)
  t.teardown(async () => {
    await database.close()
    await testDatabase[Symbol.asyncDispose]()
  })
  const operator = await createSandboxOperator({ database, clock, ids })
  const customer = await createSandboxCustomer(
    { database, clock, ids, ...operator },
    {
      legalName: 'Alice Ltd',
      number: 'ALICE-1',
      recipients: true,
      balances: amounts.map((each) => (typeof each === 'bigint' ? { currency: 'EUR' as const, amount: each } : each)),
    },
  )
  const read = async <Row extends unknown[]>(text: string, values: unknown[] = []): Promise<Row[]> =>
    (await database.pool.query({ text, values, rowMode: 'array' })).rows as Row[]
  return {
    ...operator,
    url: testDatabase.url,
    database,
    clock,
    read,
    customerId: customer.id,
    apiKeyId: customer.apiKeyId,
    shard: shardOf(customer.id),
    balances: customer.balanceIds,
    accounts: new InternalAccountCache(database, ids),
    recipient: (await new RecipientCache(database).find(customer.recipients!.EUR)) as PayableRecipient,
    async funds(balanceId) {
      const [row] = await read<[string, string, string, string]>(
        'select posted, held, version, sequence from balance where id = $1',
        [balanceId],
      )
      const [posted, held, version, sequence] = row!.map(BigInt) as [bigint, bigint, bigint, bigint]
      return { posted, held, available: posted - held, version, sequence }
    },
  }
}

/** Asserts that the audit finds nothing. */
export async function auditIsClean(t: Test, { url }: Pick<Ledger, 'url'>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const report = await audit(client)
    t.strictSame(
      report.checks.filter(({ disagreeing }) => disagreeing > 0),
      [],
      'the audit is clean',
    )
  } finally {
    await client.end()
  }
}
