/** Pollers that rest: they run when work is due and when they are woken, and not otherwise. */
import t from 'tap'
import { Poller, REST_MS } from '../../../actors/runtime/poller.ts'
import { earliest, untilDue } from '../../../actors/runtime/rest.ts'
import { Wakes } from '../../../actors/runtime/wakes.ts'
import { InProcessShards } from '../../../actors/runtime/in-process-shards.ts'
import { ManualClock, systemClock } from '../../../lib/base/clock.ts'
import { Database } from '../../../storage/db/database.ts'
import { DUE_TABLES, nextDue, type DueWork } from '../../../storage/db/due-work.ts'
import { PgListener } from '../../../storage/db/pg-listener.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { createWakes } from '../../support/wakes.ts'

const MONDAY = Date.UTC(2026, 0, 5, 12)
const shards = new InProcessShards('node')
/** Far longer than a busy machine takes, and less than a poller rests that nothing wakes. */
const SOON_MS = REST_MS / 2
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A poller of one row, which is due at a time; each run notes the time and takes the row when it is due. */
function onePoller(clock: ManualClock | typeof systemClock, everyMs = 10) {
  const runs: number[] = []
  const done: number[] = []
  let due: number | null = null
  let during = (): void => undefined
  const wakes = createWakes({ clock, shards })
  const poller = new Poller({
    everyMs,
    poll: async () => {
      runs.push(clock.now())
      during()
      if (due === null || due > clock.now()) return
      done.push(due)
      due = null
    },
    onError: (error) => t.fail(String(error)),
    rest: { clock, wakes, on: ['approval'], next: async () => due },
  })
  return {
    poller,
    wakes,
    runs,
    done,
    /** Calls this once, in the next run. */
    inNextRun: (work: () => void) => {
      during = () => {
        during = () => undefined
        work()
      }
    },
    write: (at: number) => {
      due = at
    },
  }
}

t.test('a row that is due later is done at its time, and the poller rests until then', async (t) => {
  const one = onePoller(systemClock)
  const at = systemClock.now() + 400
  one.write(at)
  one.poller.start()
  t.teardown(() => one.poller.stop())
  await until('it is done', async () => one.done.length === 1, { pollMs: 1 })
  t.ok(systemClock.now() - at < SOON_MS, 'soon after its time')
  t.ok(one.runs.length <= 3, `${one.runs.length} runs: at the start, and when it is due`)
  const runs = one.runs.length
  await sleep(100)
  t.equal(one.runs.length, runs, 'nothing is due: no run')
})

t.test('a jump of the clock wakes the poller', async (t) => {
  const clock = new ManualClock(MONDAY)
  const one = onePoller(clock)
  one.write(MONDAY + 5_000)
  one.poller.start()
  t.teardown(() => one.poller.stop())
  await until('it rests', async () => one.runs.length === 1)
  clock.advance(4_999)
  await until('it has looked', async () => one.runs.length === 2)
  t.strictSame(one.done, [])
  clock.advance(1)
  await until('it is done', async () => one.done.length === 1)
  t.strictSame(one.done, [MONDAY + 5_000])
})

t.test('a wake during a run is not lost, and wakes for other work are not heard', async (t) => {
  const clock = new ManualClock(MONDAY)
  const one = onePoller(clock)
  one.poller.start()
  t.teardown(() => one.poller.stop())
  await until('it rests', async () => one.runs.length === 1)
  one.wakes.wake('funds_request')
  await sleep(50)
  t.equal(one.runs.length, 1)
  one.inNextRun(() => one.wakes.wake('approval'))
  one.wakes.wake('approval')
  await until('it runs again', async () => one.runs.length === 3)
  await one.poller.stop()
  one.wakes.wakeAll()
  await sleep(50)
  t.equal(one.runs.length, 3, 'a stopped poller stays still')
})

t.test('a run that fails is repeated, and a next time that cannot be read does not end the polling', async (t) => {
  const clock = new ManualClock(MONDAY)
  const errors: unknown[] = []
  let runs = 0
  const poller = new Poller({
    everyMs: 10,
    poll: async () => {
      runs += 1
      if (runs === 1) throw new Error('first')
    },
    onError: (error) => errors.push((error as Error).message),
    rest: {
      clock,
      wakes: createWakes({ clock, shards }),
      on: [],
      next: async () => {
        if (runs === 2) throw new Error('second')
        return null
      },
    },
  })
  poller.start()
  t.teardown(() => poller.stop())
  await until('it runs on', async () => runs === 3)
  t.strictSame(errors, ['first', 'second'])
})

t.test('a row that another node writes wakes this one, at its time', async (t) => {
  await using made = await createTestDatabase()
  const here = new Database(made.url, 2)
  const there = new Database(made.url, 1)
  // No customer is needed here.
  await there.query({
    name: 'free',
    text: 'alter table customer_closure drop constraint customer_closure_customer_id_fkey',
    values: [],
  })
  const listener = new PgListener({ url: made.url, onError: (error) => t.fail(String(error)) })
  const wakes = new Wakes({ listener, clock: systemClock, shards })
  const rest = untilDue({ database: here, clock: systemClock, wakes, shards }, ['customer_closure'])
  const done: number[] = []
  let runs = 0
  const poller = new Poller({
    everyMs: 20,
    onError: (error) => t.fail(String(error)),
    rest,
    poll: async () => {
      runs += 1
      const rows = await here.query<[number]>({
        name: 'take',
        text: 'delete from customer_closure where due_at <= $1::timestamptz returning (extract(epoch from due_at) * 1000)::float8',
        values: [new Date(systemClock.now()).toISOString()],
      })
      for (const [at] of rows) done.push(at)
    },
  })
  await listener.start()
  poller.start()
  await using opened = new AsyncDisposableStack()
  opened.defer(() => here.close())
  opened.defer(() => there.close())
  opened.defer(() => listener.stop())
  opened.defer(() => poller.stop())
  let before = -1
  const sameAsBefore = () => {
    const same = runs > 0 && runs === before
    before = runs
    return same
  }
  t.equal(await until('it rests', sameAsBefore, { pollMs: 200 }), true, 'it rests')
  const at = Math.ceil(systemClock.now()) + 500
  await there.query({
    name: 'write',
    text: `insert into customer_closure (customer_id, shard, requested_by, requested_at, due_at) values (gen_random_uuid(), 7, gen_random_uuid(), now(), $1)`,
    values: [new Date(at).toISOString()],
  })
  await until('it is done', async () => done.length === 1, { pollMs: 1 })
  t.ok(systemClock.now() >= at, 'not before its time')
  t.ok(systemClock.now() - at < SOON_MS, 'soon after its time')
})

t.test('the next due time of every table can be read, and each table that notifies has its trigger', async (t) => {
  await using made = await createTestDatabase()
  const database = new Database(made.url, 1)
  await using opened = new AsyncDisposableStack()
  opened.defer(() => database.close())
  const triggers = await database.query<[string, string]>({
    name: 'triggers',
    values: [],
    text: `select distinct c.relname, p.proname from pg_trigger g join pg_class c on c.oid = g.tgrelid join pg_proc p on p.oid = g.tgfoid where p.proname = 'work_due'`,
  })
  const notifying = new Set(triggers.map(([table]) => table))
  for (const [work, { notifies }] of Object.entries(DUE_TABLES)) {
    t.equal(typeof (await nextDue(database, work as DueWork, [1, 2])), 'object', work)
    await nextDue(database, work as DueWork, null)
    t.equal(notifying.has(work), notifies, `${work} ${notifies ? 'notifies' : 'does not notify'}`)
  }
})

t.test('the earliest of several times', async (t) => {
  t.equal(earliest([null, null]), null)
  t.equal(earliest([null, 7, 3, null]), 3)
})
