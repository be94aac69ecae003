/**
 * Nodes that die in the middle of a bulk payment's validation: all of its rows are looked at, and none is there twice.
 */
import t from 'tap'
import { rowsOf, sendFile, table, validated } from '../http/bulk-payments/support.ts'
import { newIban } from '../http/recipients/support.ts'
import { Client } from '../support/client.ts'
import { createDataDir, startNode, type NodeProcess } from '../support/node-process.ts'
import { until } from '../support/until.ts'
import { addCustomer } from '../support/world.ts'

/** Enough that nodes can be killed on the way, and few enough for a busy machine. */
const ROWS = 12_000
const [FIRST_KILL, BOTH_RUN] = [2_000, 4_000]
/** So many of them describe a recipient that is not there yet. */
const NEW = 40

t.test('kill -9 in the middle of a validation, and another node while two are at it', async (t) => {
  await using dataDir = await createDataDir()
  let node: NodeProcess = await startNode(dataDir.path)
  t.teardown(() => node[Symbol.asyncDispose]())
  const customer = await addCustomer(await dataDir.databaseUrl(), (await dataDir.sandbox()).operator.id, {
    balances: [{ currency: 'EUR', amount: 1n }],
  })
  const client = new Client({ url: () => node.url, apiKey: customer.apiKey, tenantId: customer.id })
  const ibans = Array.from({ length: NEW }, () => newIban())
  const rows = Array.from({ length: ROWS }, (_, nth) => {
    const isNew = nth % (ROWS / NEW) === 0
    return [
      isNew ? '' : customer.recipients.EUR,
      isNew ? `New ${nth}` : '',
      isNew ? ibans[nth / (ROWS / NEW)]! : '',
      'EUR',
      '1.00',
      `Row ${nth + 1}`,
    ]
  })
  const bulk = (
    await sendFile(
      client,
      table(['recipient_id', 'recipient_name', 'iban', 'currency', 'amount', 'reference'], ...rows),
      { fields: { createMissingRecipients: 'true' } },
    )
  ).body

  const state = async () =>
    (
      await dataDir.query<{ total: number; status: string }>('select total, status from bulk_payment where id = $1', [
        bulk.id,
      ])
    )[0]!
  const read = (count: number) =>
    until(`${count} rows are read`, async () => (await state()).total >= count, { deadlineMs: 60_000, pollMs: 5 })
  const readLease = async () =>
    (await dataDir.query<{ lease: string | null }>('select lease from job where id = $1', [bulk.jobId]))[0]!.lease
  await read(FIRST_KILL)
  node.kill('SIGKILL')
  await node.ended
  t.equal((await state()).status, 'validating', 'it was not over')
  const before = await dataDir.query<{ id: string }>(
    'select id from bulk_payment_row where bulk_payment_id = $1 order by row_number',
    [bulk.id],
  )
  t.ok(before.length >= FIRST_KILL && before.length < ROWS)

  const dead = await readLease()
  const stalled = await startNode(dataDir.path, { DATABASE_URL: await dataDir.databaseUrl() })
  t.teardown(() => stalled[Symbol.asyncDispose]())
  await until('it was begun again', async () => (await readLease()) !== dead, { deadlineMs: 60_000, pollMs: 5 })
  const lease = await readLease()
  t.not(lease, null, 'nor was it over then')
  // The node that has it is held to be dead, and then goes on all the same: for a moment both are at the same rows.
  stalled.kill('SIGSTOP')
  node = await startNode(dataDir.path, { DATABASE_URL: await dataDir.databaseUrl() })
  await until('another has it', async () => (await readLease()) !== lease, { deadlineMs: 60_000, pollMs: 5 })
  stalled.kill('SIGCONT')
  await read(BOTH_RUN)
  stalled.kill('SIGKILL')
  await stalled.ended
  const ready = await validated(client, bulk)
  t.match(ready, {
    status: 'ready',
    counts: { total: ROWS, pending: 0, valid: ROWS - NEW, invalid: NEW },
    totals: [{ currency: 'EUR', amountMinor: String((ROWS - NEW) * 100), rows: ROWS - NEW }],
  })
  t.strictSame(
    await dataDir.query(
      'select count(*)::int as rows, count(distinct row_number)::int as numbers, max(row_number) as last, count(distinct id)::int as ids from bulk_payment_row where bulk_payment_id = $1',
      [bulk.id],
    ),
    [{ rows: ROWS, numbers: ROWS, last: ROWS, ids: ROWS }],
  )
  t.strictSame(
    await dataDir.query<{ id: string }>(
      'select id from bulk_payment_row where bulk_payment_id = $1 order by row_number limit $2',
      [bulk.id, before.length],
    ),
    before,
    'rows that were there are the same ones',
  )
  t.strictSame(
    await dataDir.query(
      `select count(*)::int as made, count(distinct account_identity)::int as accounts from recipient where customer_id = $1 and name ~ '^New [0-9]+$'`,
      [customer.id],
    ),
    [{ made: NEW, accounts: NEW }],
    'no recipient twice',
  )
  t.equal((await rowsOf(client, bulk, { 'filter[errorCode]': 'recipient_not_approved' })).length, NEW)
  t.strictSame(
    await dataDir.query(`select status from outbox where object_id = $1 order by created_at, id`, [bulk.id]),
    [{ status: 'validating' }, { status: 'ready' }],
    'one event for each change',
  )
  t.ok((await dataDir.audit()).ok, 'the books are right')
  t.equal(node.stderr, '')
  node.kill('SIGTERM')
  await node.ended
})
