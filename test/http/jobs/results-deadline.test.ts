/** The results of jobs: kept for seven days to the millisecond; then the file is gone, and the job says so. */
import t from 'tap'
import type { Job } from '../../../lib/jobs/job-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

await using world = await createWorld({ stillClock: true, nodes: 2, dispatch: false })
const { client, balances } = world.seeded

const read = async ({ id }: Job): Promise<Job> => (await client.get<Job>(`/jobs/${id}`)).body
async function exported(): Promise<Job> {
  const body = { format: 'json', filter: { balanceId: balances.EUR } }
  const asked = (await client.post<Job>('/transactions/exports', body)).body
  return await until('the export is ready', async () => {
    const job = await read(asked)
    return job.status === 'succeeded' ? job : null
  })
}
const filesOf = async ({ id }: Job): Promise<number> =>
  (await world.query('select from stored_file f join job j on j.file_id = f.id where j.id = $1', [id])).length
/** Waits until results whose time is over are gone: jobs are looked at once a minute, files every ten minutes. */
async function gone(jobs: readonly Job[]): Promise<void> {
  world.advance(MINUTE_MS)
  for (const job of jobs) await until('the job says so', async () => (await read(job)).status === 'expired')
  world.advance(10 * MINUTE_MS)
  for (const job of jobs) await until('the file is gone', async () => (await filesOf(job)) === 0)
}

await t.test('its file can be had until a millisecond before its deadline, and not from it on', async (t) => {
  const job = await exported()
  t.match(job, { status: 'succeeded', result: { download: { url: String } } })
  const deadline = Date.parse(job.expiresAt!)
  t.equal(deadline, Date.parse(job.finishedAt!) + 7 * DAY_MS)
  world.advanceTo(deadline - 1)
  const { result } = await read(job)
  t.equal((await fetch(result!.download!.url)).status, 200)
  world.advance(1)
  t.equal((await fetch(result!.download!.url)).status, 404, 'the link is good for minutes more, the file is gone')
  t.equal((await client.post(`/jobs/${job.id}/cancel`, {})).problem.code, 'not-cancellable')
  await gone([job])
  t.match(await read(job), { status: 'expired', result: null, expiresAt: null })
  await world.audit()
})

await t.test('a clock that jumps over the deadlines of many ends each once', async (t) => {
  const jobs = [await exported(), await exported()]
  world.advance(DAY_MS)
  jobs.push(await exported())
  const version = await versionOf(jobs[0]!)
  world.advance(6 * DAY_MS)
  const kept = await exported()
  world.advance(DAY_MS)
  await gone(jobs)
  for (const job of jobs) t.equal(await versionOf(job), version + 1)
  t.equal((await read(kept)).status, 'succeeded')
  t.equal(await filesOf(kept), 1)
  await world.audit()
})

async function versionOf({ id }: Job): Promise<number> {
  return (await world.query<{ version: number }>('select version from job where id = $1', [id]))[0]!.version
}
