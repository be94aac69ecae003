import t from 'tap'
import { moveJob, paceOf } from '../../../lib/jobs/job.ts'

t.test('how fast a job goes, and what is left of it', async (t) => {
  const job = { status: 'running', progress: { processed: 500, total: 2_000 }, startedAt: 10_000 } as const
  t.strictSame(paceOf(job, 14_000), { ratePerSecond: 125, etaSeconds: 12 })
  t.strictSame(paceOf({ ...job, progress: { processed: 1, total: 4 } }, 13_000), { ratePerSecond: 0.3, etaSeconds: 9 })
  t.strictSame(
    paceOf({ ...job, progress: { processed: 5, total: 4 } }, 11_000),
    { ratePerSecond: 5, etaSeconds: 0 },
    'more than was expected',
  )
  t.strictSame(paceOf({ ...job, progress: { processed: 500, total: null } }, 14_000), {
    ratePerSecond: 125,
    etaSeconds: null,
  })
  for (const other of [
    { status: 'succeeded' },
    { startedAt: null },
    { progress: { processed: 0, total: 9 } },
    { startedAt: 14_000 },
  ] as const) {
    t.strictSame(paceOf({ ...job, ...other }, 14_000), { ratePerSecond: null, etaSeconds: null }, JSON.stringify(other))
  }
})

t.test('what is over stays so', async (t) => {
  t.equal(moveJob('queued', 'start'), 'running')
  for (const move of ['start', 'succeed', 'fail', 'cancel'] as const) t.equal(moveJob('cancelled', move), null)
  t.equal(moveJob('succeeded', 'expire'), 'expired')
})
