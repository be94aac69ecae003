/** A node that dies in the middle of a job: another takes it up, and there is one statement, whole. */
import t from 'tap'
import type { Job } from '../../lib/jobs/job-schema.ts'
import type { Statement } from '../../lib/statements/statement-schema.ts'
import { Client } from '../support/client.ts'
import { createDataDir, startNode } from '../support/node-process.ts'
import { until } from '../support/until.ts'

/** Enough that the job takes a while: a node is killed when it has begun, and not yet ended. */
const LINES = 40_000

t.test('kill -9 in the middle of a statement', async (t) => {
  await using dataDir = await createDataDir()
  let node = await startNode(dataDir.path)
  t.teardown(() => node[Symbol.asyncDispose]())
  const { customer } = await dataDir.sandbox()
  const client = new Client({ url: () => node.url, apiKey: customer.apiKey, tenantId: customer.id })
  const from = customer.balances.EUR
  // A journal that is long, whatever else the books say of it: what is looked at here are jobs.
  await dataDir.query(
    `
    with start as (select id, posted, sequence from balance where id = $1), account as (select id from account where key = 'nostro' limit 1)
    insert into posting (entry_id, ordinal, customer_id, rule, occurrence, source_object, source_id, currency, amount, debit_account, credit_account, debit_sequence, debit_balance, credit_sequence, credit_balance, booked_at, value_date)
    select gen_random_uuid(), 0, $2, 'L01', 0, 'incoming_payment', gen_random_uuid(), 'EUR', 100, account.id, start.id, null, null, start.sequence + n, start.posted + n * 100, now(), now()::date
    from start, account, generate_series(1, ${LINES}) n`,
    [from, customer.id],
  )
  await dataDir.query(
    `update balance set sequence = sequence + ${LINES}, posted = posted + ${LINES} * 100, version = version + 1 where id = $1`,
    [from],
  )
  const day = new Date().toISOString().slice(0, 10)
  const { id } = (
    await client.post<Job>(`/balances/${from}/statements`, { from: day, to: day, formats: ['csv', 'camt053'] })
  ).body
  await until(
    'it has begun',
    async () => (await dataDir.query(`select from statement where status = 'preparing'`)).length === 1,
  )
  node.kill('SIGKILL')
  await node.ended
  const [held] = await dataDir.query<{ status: string; attempts: number }>(
    `select j.status, g.attempts from job j join graphile_worker.jobs g on g.key = 'jobs.run:' || j.id where j.id = $1`,
    [id],
  )
  t.match(held, { status: 'running', attempts: 1 }, 'it was not over')
  node = await startNode(dataDir.path)
  const job = await until(
    'it is over',
    async () => {
      const { body } = await client.get<Job>(`/jobs/${id}`)
      return body.status !== 'running' && body
    },
    { deadlineMs: 120_000 },
  )
  t.match(job, { status: 'succeeded' })
  const { data } = (await client.list<Statement>(`/balances/${from}/statements`)).body
  t.equal(data.length, 1, 'one statement')
  t.match(data[0], { status: 'ready', sequenceNumber: 1, formats: ['csv', 'camt053'], jobId: id })
  t.equal(job.result!.rows, data[0]!.lineCount)
  t.ok(data[0]!.lineCount > LINES)
  const files = await dataDir.query<{ size_bytes: string; expires_at: Date | null }>(
    `select f.size_bytes, f.expires_at from statement_file s join stored_file f on f.id = s.file_id`,
  )
  t.ok(
    files.length === 2 && files.every(({ size_bytes, expires_at }) => Number(size_bytes) > 0 && expires_at === null),
    'whose files are kept',
  )
  t.strictSame(
    await dataDir.query(`select count(*)::int as count from outbox where object = 'job' and object_id = $1`, [id]),
    [{ count: 1 }],
    'one event',
  )
  node.kill('SIGTERM')
  await node.ended
})
