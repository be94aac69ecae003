/** Nodes that are killed by the dozen while jobs of several kinds run: no job is lost, and none is done twice. */
import t from 'tap'
import type { BulkPayment } from '../../lib/bulk-payments/bulk-payment-schema.ts'
import type { Job } from '../../lib/jobs/job-schema.ts'
import { sendFile, table } from '../http/bulk-payments/support.ts'
import { Client } from '../support/client.ts'
import { createDataDir, startNode, type NodeProcess } from '../support/node-process.ts'
import { until } from '../support/until.ts'
import { addCustomer } from '../support/world.ts'

const NODES = 3
const ROUNDS = 4
/** Lines of a journal, and rows of a file: a job takes some seconds. */
const LINES = 20_000
const ROWS = 4_000

t.test('a dozen kills', async (t) => {
  await using dataDir = await createDataDir()
  await using stack = new AsyncDisposableStack()
  const first = await startNode(dataDir.path)
  stack.defer(() => first[Symbol.asyncDispose]())
  const DATABASE_URL = await dataDir.databaseUrl()
  const operatorId = (await dataDir.sandbox()).operator.id
  const start = async (): Promise<NodeProcess> => {
    const node = await startNode(dataDir.path, { DATABASE_URL })
    stack.defer(() => node[Symbol.asyncDispose]())
    return node
  }
  let nodes = [first, ...(await Promise.all(Array.from({ length: NODES - 1 }, start)))]

  const customers = await Promise.all(
    Array.from({ length: 2 }, async () => {
      const made = await addCustomer(DATABASE_URL, operatorId, { balances: [{ currency: 'EUR', amount: 100n }] })
      const balanceId = made.balanceIds[0]!
      // A journal that is long, whatever else the books say of it: jobs are what this test is about.
      await dataDir.query(
        `with start as (select id, posted, sequence from balance where id = $1), account as (select id from account where key = 'nostro' limit 1)
        insert into posting (entry_id, ordinal, customer_id, rule, occurrence, source_object, source_id, currency, amount, debit_account, credit_account, debit_sequence, debit_balance, credit_sequence, credit_balance, booked_at, value_date)
        select gen_random_uuid(), 0, $2, 'L01', 0, 'incoming_payment', gen_random_uuid(), 'EUR', 100, account.id, start.id, null, null, start.sequence + n, start.posted + n * 100, now(), now()::date
        from start, account, generate_series(1, ${LINES}) n`,
        [balanceId, made.id],
      )
      await dataDir.query(
        `update balance set sequence = sequence + ${LINES}, posted = posted + ${LINES} * 100, version = version + 1 where id = $1`,
        [balanceId],
      )
      const client = new Client({ url: () => nodes[0]!.url, apiKey: made.apiKey, tenantId: made.id })
      return { ...made, balanceId, client }
    }),
  )
  const day = new Date().toISOString().slice(0, 10)
  const file = (recipientId: string, round: number) =>
    table(
      ['recipient_id', 'currency', 'amount', 'reference'],
      ...Array.from({ length: ROWS }, (_, nth) => [recipientId, 'EUR', '1.00', `Row ${round}-${nth}`]),
    )
  const files: string[] = []
  const jobs: { readonly client: Client; readonly id: string }[] = []

  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all(
      customers.map(async ({ client, balanceId, recipients }) => {
        const { body: statement } = await client.post<Job>(`/balances/${balanceId}/statements`, {
          from: day,
          to: day,
          // Each round asks for something else, because equal requests are one job while it is open.
          formats: [['csv'], ['camt053'], ['mt940'], ['csv', 'camt053']][round],
        })
        jobs.push({ client, id: statement.id })
        const { body: bulk } = await sendFile(client, file(recipients.EUR, round))
        files.push(bulk.id)
        jobs.push({ client, id: bulk.jobId! })
      }),
    )
    await until('jobs run', async () => (await running(dataDir)) > 0, { deadlineMs: 60_000, pollMs: 5 })
    for (const node of nodes) node.kill('SIGKILL')
    await Promise.all(nodes.map(({ ended }) => ended))
    t.ok((await running(dataDir)) > 0, 'jobs were under way')
    nodes = await Promise.all(Array.from({ length: NODES }, start))
  }

  await until(
    'all jobs are over',
    async () => (await dataDir.query('select from job where due_at is not null')).length === 0,
    { deadlineMs: 240_000, pollMs: 100 },
  )
  t.equal(new Set(jobs.map(({ id }) => id)).size, ROUNDS * customers.length * 2)
  for (const { client, id } of jobs) t.match((await client.get<Job>(`/jobs/${id}`)).body, { status: 'succeeded' })
  t.strictSame(
    await dataDir.query(
      `select j.id from job j left join outbox o on o.object = 'job' and o.object_id = j.id group by j.id having count(o.id) <> 1`,
    ),
    [],
    'one event for each job',
  )
  t.strictSame(
    await dataDir.query(
      `select count(*)::int as statements, count(distinct job_id)::int as jobs, count(*) filter (where status = 'ready' and last_sequence - first_sequence + 1 >= ${LINES})::int as whole from statement`,
    ),
    [{ statements: ROUNDS * 2, jobs: ROUNDS * 2, whole: ROUNDS * 2 }],
    'one whole statement for each job',
  )
  t.strictSame(
    await dataDir.query(
      `select count(*)::int as files, bool_and(f.rows = ${ROWS} and f.numbers = ${ROWS}) as whole from (
        select bulk_payment_id, count(*) as rows, count(distinct row_number) as numbers from bulk_payment_row group by 1) f`,
    ),
    [{ files: files.length, whole: true }],
    'each row of each file once',
  )
  for (const [index, id] of files.entries()) {
    const { client } = jobs[index * 2]!
    const found = await client.get<BulkPayment>(`/bulk-payments/${id}`)
    if (found.status === 200) t.match(found.body, { counts: { total: ROWS } })
  }
  await until(
    'no task of a job is left',
    async () =>
      (await dataDir.query(`select from graphile_worker.jobs where task_identifier = 'jobs.run'`)).length === 0,
  )
})

/** Counts the jobs that an attempt is working on. */
async function running({ query }: { query<Row extends object>(sql: string): Promise<Row[]> }): Promise<number> {
  const [row] = await query<{ count: number }>(
    `select count(*)::int as count from job j join graphile_worker.jobs g on g.key = 'jobs.run:' || j.id where j.status = 'running' and g.locked_by is not null`,
  )
  return row!.count
}
