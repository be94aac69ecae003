/** Processor time by part: the lines of /proc are read right, and each thread's time lands where it belongs. */
import t from 'tap'
import {
  cpuPerOperation,
  cpuText,
  meanCpu,
  parseStat,
  partOf,
  totalCpu,
  type CpuPerOperation,
  type ThreadTime,
} from '../../bench/cpu-shares.ts'

/** A line as Linux writes it: user 113, system 39, of children 7 and 5. */
const line = (id: number, name: string): string =>
  `${id} (${name}) S 4001 30241 0 0 -1 4194304 9 0 1 0 113 39 7 5 20 0 11 0 4900 9 8 18446744073709551615 1 1 0 0\n`

t.test('a line of /proc/PID/stat', async (t) => {
  for (const name of ['node-MainThread', 'a name', 'tmux: (1) ) S 2', ''])
    t.same(parseStat(line(30242, name)), { id: 30242, name, parent: 4001, ticks: 152, childTicks: 12 })
  for (const text of ['', 'no line', '12 (short) S 1', line(1, 'a').replace('113', 'x')])
    t.throws(() => parseStat(text), /no line/)
})

const CONNECTIONS = new Map([
  [20, 'vostro lane 0'],
  [21, 'vostro'],
  [22, 'vostro bench'],
  [23, 'vostro bench ceiling'],
  [24, 'vostro bench row-lock'],
])
const server = (thread: number | null, name: string, ticks: number): ThreadTime => ({
  role: 'server',
  process: 10,
  thread,
  name,
  ticks,
})
const whole = (role: ThreadTime['role'], process: number, ticks: number): ThreadTime => ({
  role,
  process,
  thread: process,
  name: 'postgres',
  ticks,
})

t.test('threads and processes belong to parts', async (t) => {
  const part = (time: ThreadTime) => partOf(time, CONNECTIONS)
  t.equal(part(server(10, 'node-MainThread', 0)), 'main')
  t.equal(part(server(11, 'node-V8Worker', 0)), 'gc')
  t.equal(part(server(11, 'V8Worker', 0)), 'gc')
  t.equal(part(server(12, 'DelayedTaskSche', 0)), 'gc')
  t.equal(part(server(13, 'libuv-worker', 0)), 'pool')
  t.equal(part(server(14, 'WorkerThread', 0)), 'pool')
  t.equal(part(server(null, 'ended', 0)), 'pool')
  t.equal(part(whole('backend', 20, 0)), 'lane')
  t.equal(part(whole('backend', 21, 0)), 'postgres')
  t.equal(part(whole('backend', 22, 0)), 'generator', 'the connection of the bench')
  t.equal(part(whole('backend', 23, 0)), 'lane')
  t.equal(part(whole('backend', 24, 0)), 'lane')
  t.equal(part(whole('backend', 99, 0)), 'postgres', 'a process without a connection')
  t.equal(part(whole('postmaster', 5, 0)), 'postgres')
  t.equal(part(whole('other', 6, 0)), 'other')
  t.equal(part(whole('generator', 7, 0)), 'generator')
})

t.test('between two readings, an operation', async (t) => {
  const before = [
    server(10, 'node-MainThread', 100),
    server(11, 'node-V8Worker', 50),
    whole('backend', 20, 10),
    // Ends before the second reading; then it is in what Postgres says of its children.
    whole('backend', 31, 4),
    whole('postmaster', 5, 1),
    whole('generator', 7, 3),
  ]
  const after = [
    server(10, 'node-MainThread', 217),
    server(11, 'node-V8Worker', 60),
    // Began after the first reading.
    server(14, 'WorkerThread', 2),
    whole('backend', 20, 76),
    whole('backend', 32, 15),
    whole('postmaster', 5, 12),
    whole('generator', 7, 20),
  ]
  const cpu = cpuPerOperation({ before, after }, CONNECTIONS, 10_000)
  t.same(cpu, { main: 117, gc: 10, pool: 2, lane: 66, postgres: 15 + 11 - 4, other: 0, generator: 17 })
  t.equal(totalCpu(cpu), 234)
  t.equal(cpuText(cpu), '117/10/2.0/66/22/0/17 = 234')
  t.same(cpuPerOperation({ before, after }, CONNECTIONS, 0).main, 1_170_000, 'without operations no division by zero')
})

t.test('the mean of several processes, without those that were not taken', async (t) => {
  const all = (micros: number): CpuPerOperation => ({
    main: micros,
    gc: micros,
    pool: micros,
    lane: micros,
    postgres: micros,
    other: micros,
    generator: micros,
  })
  t.same(meanCpu([all(10), null, all(20)]), all(15))
  t.equal(meanCpu([null]), null)
  t.equal(meanCpu([]), null)
})
