/** Processor time read from `/proc`: of this process, and of the Postgres that serves the tests. */
import { existsSync } from 'node:fs'
import pg from 'pg'
import t from 'tap'
import { CpuWatch, parentOf } from '../../bench/cpu-time.ts'
import { createTestDatabase } from '../support/postgres.ts'

const skip = existsSync('/proc/self/stat') ? false : 'there is no /proc here'
const NONE = { servers: [], others: [], generators: [], postmaster: null }
/** Ten times what Linux counts in. */
const BUSY_MICROS = 100_000

/** Keeps the main thread busy until it has used this much processor time. */
function keepBusy(): void {
  const before = process.cpuUsage()
  for (let spent = 0; spent < BUSY_MICROS; ) {
    const { user, system } = process.cpuUsage(before)
    spent = user + system
  }
}

t.test('what the main thread and a lane of Postgres did between two moments', { skip }, async (t) => {
  const { url, [Symbol.asyncDispose]: drop } = await createTestDatabase()
  t.teardown(drop)
  const lane = new pg.Client({ connectionString: url, application_name: 'vostro lane 0' })
  await lane.connect()
  t.teardown(() => lane.end())
  const { rows } = await lane.query<{ pid: number }>('select pg_backend_pid() as pid')
  const pid = rows[0]!.pid
  const postmaster = parentOf(pid)
  t.ok(postmaster !== null && postmaster > 1)
  const watch = new CpuWatch(
    { ...NONE, servers: [process.pid], postmaster },
    async () => new Map([[pid, 'vostro lane 0']]),
  )
  // Before the first moment and after the last it does not count.
  keepBusy()
  watch.onMoment('begin')
  watch.onMoment('end')
  const idle = await watch.perOperation(1)

  watch.onMoment('begin')
  keepBusy()
  await lane.query('select sum(sqrt(n)) from generate_series(1, 2000000) n')
  watch.onMoment('end')
  keepBusy()
  const busy = await watch.perOperation(1)
  t.ok(idle!.main < BUSY_MICROS / 2, `${idle!.main} µs`)
  t.ok(busy!.main > BUSY_MICROS / 2, `${busy!.main} µs`)
  t.ok(busy!.lane > 0, `${busy!.lane} µs`)
  t.equal((await watch.perOperation(2))!.lane, busy!.lane / 2)
})

t.test('a lane that closes its connection with its last answer is a lane', { skip }, async (t) => {
  const { url, [Symbol.asyncDispose]: drop } = await createTestDatabase()
  t.teardown(drop)
  const lane = new pg.Client({ connectionString: url })
  await lane.connect()
  const { rows } = await lane.query<{ pid: number }>('select pg_backend_pid() as pid')
  const pid = rows[0]!.pid
  const names = new Map([[pid, 'vostro lane 0']])
  const watch = new CpuWatch({ ...NONE, servers: [process.pid], postmaster: parentOf(pid) }, async () => new Map(names))
  watch.onMoment('warm')
  // Read in the warm-up, and gone when the next names are read.
  names.clear()
  watch.onMoment('begin')
  await lane.query('select sum(sqrt(n)) from generate_series(1, 2000000) n')
  watch.onMoment('end')
  await lane.end()
  t.ok((await watch.perOperation(1))!.lane > 0)
})

t.test('without both readings nothing is told', { skip }, async (t) => {
  const watch = new CpuWatch({ ...NONE, servers: [process.pid] }, async () => new Map())
  t.equal(await watch.perOperation(1), null)
  watch.onMoment('begin')
  t.equal(await watch.perOperation(1), null)
  watch.onMoment('end')
  t.ok(await watch.perOperation(1))
})

t.test('a process that is not there has no time, and no parent', { skip }, async (t) => {
  const gone = 2 ** 22 + 1
  const watch = new CpuWatch({ ...NONE, servers: [gone] }, async () => new Map())
  watch.onMoment('begin')
  watch.onMoment('end')
  t.equal(await watch.perOperation(1), null)
  t.equal(parentOf(gone), null)
})
