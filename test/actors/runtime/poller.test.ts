/** Pollers that are run by hand. */
import t from 'tap'
import { Poller } from '../../../actors/runtime/poller.ts'

/** A poller whose runs end when the test says so. */
function controlled() {
  const runs: PromiseWithResolvers<void>[] = []
  const errors: unknown[] = []
  const poller = new Poller({
    everyMs: 60_000,
    poll: () => {
      const run = Promise.withResolvers<void>()
      runs.push(run)
      return run.promise
    },
    onError: (error) => errors.push(error),
  })
  return { poller, runs, errors }
}

t.test('a run by hand ends with its poll, without a start', async (t) => {
  const { poller, runs } = controlled()
  let over = false
  const run = poller.runOnce().then(() => {
    over = true
  })
  await Promise.resolve()
  t.equal(runs.length, 1)
  t.notOk(over)
  runs[0]!.resolve()
  await run
  t.equal(runs.length, 1)
})

t.test('a run by hand follows the run in progress, which may have read the clock already', async (t) => {
  const { poller, runs } = controlled()
  poller.nudge()
  const run = poller.runOnce()
  t.equal(runs.length, 1, 'runs never overlap')
  runs[0]!.resolve()
  while (runs.length < 2) await new Promise(setImmediate)
  runs[1]!.resolve()
  await run
  t.equal(runs.length, 2)
})

t.test('a run that fails is told, and does not reject', async (t) => {
  const { poller, runs, errors } = controlled()
  const run = poller.runOnce()
  await Promise.resolve()
  runs[0]!.reject(new Error('The database is away.'))
  await run
  t.match(errors, [{ message: 'The database is away.' }])
})
