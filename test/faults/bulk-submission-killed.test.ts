/** Nodes that die in the middle of a bulk payment's submission: every row becomes one payment, and none becomes two. */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import t from 'tap'
import type { BulkPayment } from '../../lib/bulk-payments/bulk-payment-schema.ts'
import { submit } from '../http/bulk-payments/submitting.ts'
import { sendFile, table, validated } from '../http/bulk-payments/support.ts'
import { Client } from '../support/client.ts'
import { createDataDir, startNode, type NodeProcess } from '../support/node-process.ts'
import { until } from '../support/until.ts'
import { addCustomer } from '../support/world.ts'

/** Enough that nodes can be killed on the way, and few enough for a busy machine. */
const ROWS = 2_400
/** There is money for all but the last rows, a euro each. */
const PAID = 2_300
const [FIRST_KILL, SECOND_KILL] = [800, 1_400]

t.test('kill -9 in the middle of a submission, of both nodes that run it, one after the other', async (t) => {
  await using dataDir = await createDataDir()
  let node: NodeProcess = await startNode(dataDir.path)
  t.teardown(() => node[Symbol.asyncDispose]())
  const customer = await addCustomer(await dataDir.databaseUrl(), (await dataDir.sandbox()).operator.id, {
    balances: [{ currency: 'EUR', amount: BigInt(PAID) * 100n }],
  })
  const client = new Client({ url: () => node.url, apiKey: customer.apiKey, tenantId: customer.id })
  const file = table(
    ['recipient_id', 'currency', 'amount', 'reference'],
    ...Array.from({ length: ROWS }, (_, nth) => [customer.recipients.EUR, 'EUR', '1.00', `Row ${nth + 1}`]),
  )
  const bulk = await validated(client, (await sendFile(client, file)).body)
  t.match(bulk, { status: 'ready', counts: { total: ROWS, valid: ROWS } })
  const state = async () =>
    (
      await dataDir.query<{ submitted: number; status: string; lease: string | null }>(
        'select b.submitted, b.status, j.lease from bulk_payment b join job j on j.id = b.job_id where b.id = $1',
        [bulk.id],
      )
    )[0]!
  const made = (count: number) =>
    until(`${count} payments are made`, async () => (await state()).submitted >= count, {
      deadlineMs: 60_000,
      pollMs: 5,
    })
  /** No request passes while the work goes on; requests from before it are answered all the same. */
  const standingStill = async (work: () => Promise<void>) => {
    const lock = new pg.Client({ connectionString: await dataDir.databaseUrl() })
    await lock.connect()
    try {
      await lock.query('begin')
      await lock.query('select from bulk_payment where id = $1 for update', [bulk.id])
      await work()
    } finally {
      await lock.end()
    }
  }
  t.equal((await submit(client, bulk.id, randomUUID())).status, 202)
  await made(1)
  const { promise: started, resolve } = Promise.withResolvers<NodeProcess>()
  await standingStill(async () => {
    const { lease } = await state()
    resolve(await startNode(dataDir.path, { DATABASE_URL: await dataDir.databaseUrl() }))
    node.kill('SIGSTOP')
    await until('another has it', async () => (await state()).lease !== lease, { deadlineMs: 60_000 })
    node.kill('SIGCONT')
  })
  const other = await started
  t.teardown(() => other[Symbol.asyncDispose]())
  // The former owner goes on until it learns of the loss, so for a moment both nodes work on the same rows.
  await made(FIRST_KILL)
  await standingStill(async () => {
    t.equal((await state()).status, 'submitting', 'it is not over')
    node.kill('SIGKILL')
    await node.ended
  })
  await made(SECOND_KILL)
  await standingStill(async () => {
    t.equal((await state()).status, 'submitting', 'nor then')
    other.kill('SIGKILL')
    await other.ended
  })
  node = await startNode(dataDir.path)
  const done = await until(
    'the run is over',
    async () => {
      const { body } = await client.get<BulkPayment>(`/bulk-payments/${bulk.id}`)
      return body.status !== 'submitting' && body
    },
    { deadlineMs: 120_000 },
  )
  t.match(done, {
    status: 'partially_submitted',
    counts: { total: ROWS, valid: 0, submitting: 0, submitted: PAID, failed: ROWS - PAID },
  })
  t.strictSame(
    await dataDir.query(
      `select count(*)::int as payments, count(distinct details::jsonb->'bulk'->>'bulkRowId')::int as rows, sum(amount)::int as amount from payment where created_via = 'bulk'`,
    ),
    [{ payments: PAID, rows: PAID, amount: PAID * 100 }],
    'no payment twice, none missing',
  )
  await until(
    'all are completed',
    async () =>
      (await dataDir.query(`select from payment where created_via = 'bulk' and status <> 'completed' limit 1`))
        .length === 0,
    { deadlineMs: 120_000 },
  )
  t.strictSame(
    await dataDir.query(
      `select sum(amount)::int as amount from posting where rule = 'L10' and source_object = 'payment' and customer_id = $1`,
      [customer.id],
    ),
    [{ amount: PAID * 100 }],
    'the journal has what the rows say',
  )
  t.equal((await client.balance(customer.balanceIds[0]!)).availableBalance.amountMinor, '0')
  const report = await dataDir.audit()
  t.ok(report.ok, 'the books are right', { broken: report.checks.filter(({ disagreeing }) => disagreeing > 0) })
  t.equal(node.stderr, '')
  node.kill('SIGTERM')
  await node.ended
})
