/** Tasks on several nodes over one database: begun once, begun again, and taken over. */
import pg from 'pg'
import t, { type Test } from 'tap'
import { Tasks, type Task, type TaskContext } from '../../../actors/runtime/tasks.ts'
import { HOUR_MS, ManualClock, systemClock, type Clock } from '../../../lib/base/clock.ts'
import type { SqlStatement } from '../../../storage/db/connection.ts'
import { Database } from '../../../storage/db/database.ts'
import { PgListener } from '../../../storage/db/pg-listener.ts'
import { addTask } from '../../../storage/tasks/task-rows.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { createWakes } from '../../support/wakes.ts'

const shards = { owned: () => null, onChange: () => undefined }

/** A clock that runs as the machine's does, and can be moved. */
class MovedClock implements Clock {
  #aheadMs = 0
  readonly #jumped: (() => void)[] = []

  now(): number {
    return systemClock.now() + this.#aheadMs
  }

  onJump(listener: () => void): void {
    this.#jumped.push(listener)
  }

  advance(ms: number): void {
    this.#aheadMs += ms
    for (const jumped of this.#jumped) jumped()
  }
}

/** Counts the looks for tasks that are due. */
class CountingDatabase extends Database {
  looks = 0

  override query<Row extends unknown[]>(statement: SqlStatement): Promise<Row[]> {
    if (statement.name === 'due_tasks') this.looks += 1
    return super.query(statement)
  }
}

async function open(t: Test) {
  const made = await createTestDatabase()
  const database = new Database(made.url, 2)
  t.teardown(async () => {
    await database.close()
    await made[Symbol.asyncDispose]()
  })
  const errors: string[] = []
  const nodes: CountingDatabase[] = []
  const query = (text: string, values: unknown[] = []) => database.query({ name: '', text, values })
  return {
    url: made.url,
    looks: () => nodes.reduce((sum, { looks }) => sum + looks, 0),
    errors,
    query,
    add: (name: string, payload: object = {}) =>
      addTask(database, { name, key: name, payload, queue: null, flags: [], delayMs: 0 }),
    left: async () => Number((await query('select count(*) from graphile_worker.jobs'))[0]?.[0]),
    /** Starts a node; it stops before the database is closed. */
    async node(clock: Clock, tasks: readonly Task[], owned: readonly number[] | null = null) {
      const own = new CountingDatabase(made.url, 4)
      nodes.push(own)
      const onError = (error: unknown, what: string) => errors.push(`${what}: ${String(error)}`)
      const listener = new PgListener({ url: made.url, onError })
      const wakes = createWakes({ clock, shards })
      const node = new Tasks({
        database: own,
        databaseUrl: made.url,
        listener,
        clock,
        wakes,
        shards: { owned: () => owned },
        tasks,
        onError,
      })
      await listener.start()
      await node.start()
      t.teardown(async () => {
        await node.stop()
        await listener.stop()
        await own.close()
      })
      return node
    },
  }
}

/** Whatever is opened later is closed first. */
t.jobs = 1

t.test('a task runs once, whichever node takes it, and nothing is left of it', async (t) => {
  const world = await open(t)
  const runs: string[] = []
  const tasks: Task[] = [{ name: 'a.task', run: async (id) => void runs.push(id) }]
  await world.node(systemClock, tasks)
  await world.node(systemClock, tasks)
  for (let nth = 0; nth < 20; nth++)
    await world.query(`select graphile_worker.add_job('a.task', json_build_object('id', $1::text))`, [nth])
  await until('all have run', async () => (await world.left()) === 0)
  t.strictSame(
    runs.map(Number).sort((a, b) => a - b),
    Array.from({ length: 20 }, (_, nth) => nth),
  )
  t.strictSame(world.errors, [])
})

t.test('a task of a shard is left to the node that owns it', async (t) => {
  const world = await open(t)
  const runs: string[] = []
  const on = (node: string): Task[] => [{ name: 'a.task', run: async () => void runs.push(node) }]
  await world.node(systemClock, on('even'), [0, 2, 4])
  await world.node(systemClock, on('odd'), [1, 3, 5])
  await world.query(`select graphile_worker.add_job('a.task', '{}', flags := array['shard:3'])`)
  await until('it has run', async () => (await world.left()) === 0)
  t.strictSame(runs, ['odd'])
})

t.test('a task that fails is begun again, later', async (t) => {
  const world = await open(t)
  const clock = new MovedClock()
  const attempts: number[] = []
  await world.node(clock, [
    {
      name: 'a.task',
      async run(_, { attempt }) {
        attempts.push(attempt)
        if (attempt === 1) throw new Error('not yet')
      },
    },
  ])
  await world.add('a.task')
  const later = `select last_error from graphile_worker.jobs where locked_at is null and run_at > now() + interval '1 second'`
  await until('it waits', async () => (await world.query(later))[0]?.[0] === 'not yet', { pollMs: 5 })
  clock.advance(10_000)
  await until('it has run', async () => (await world.left()) === 0)
  t.strictSame(attempts, [1, 2])
  t.match(world.errors, [/not yet/])
})

t.test('a task that fails is begun again by a node that rests', async (t) => {
  const world = await open(t)
  const attempts: number[] = []
  const gate = Promise.withResolvers<void>()
  const node = await world.node(systemClock, [
    {
      name: 'a.task',
      async run(_, { attempt }) {
        attempts.push(attempt)
        await gate.promise
        if (attempt === 1) throw new Error('not yet')
      },
    },
  ])
  await world.add('a.task')
  await until('it has begun', () => attempts.length === 1)
  await node.runOnce()
  gate.resolve()
  await until('it has run', async () => (await world.left()) === 0, { deadlineMs: 20_000 })
  t.strictSame(attempts, [1, 2])
})

t.test('a task that waits for another of its queue is begun when the end of that one is written', async (t) => {
  const world = await open(t)
  const runs: string[] = []
  const gate = Promise.withResolvers<void>()
  const node = await world.node(systemClock, [
    {
      name: 'a.task',
      workers: 'lengthy',
      async run(id) {
        runs.push(id)
        await gate.promise
      },
    },
  ])
  const add = (id: string) =>
    world.query(
      `select graphile_worker.add_job('a.task', json_build_object('id', $1::text), queue_name := 'a queue')`,
      [id],
    )
  await add('first')
  await until('the first has begun', () => runs.length === 1)
  await node.runOnce()
  const looks = world.looks()
  await add('second')
  await until('the node has heard of the second', () => world.looks() > looks)
  await node.runOnce()
  // The end of the first is written late, as on a busy node: workers have looked for the second in vain by then.
  const busy = new pg.Client({ connectionString: world.url })
  await busy.connect()
  await busy.query('begin')
  await busy.query('select from graphile_worker._private_job_queues for update')
  gate.resolve()
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await until('the end of the first waits', async () => (await world.query(waiting)).length === 1)
  await busy.end()
  await until('the second has run', async () => (await world.left()) === 0, { deadlineMs: 20_000 })
  t.strictSame(runs, ['first', 'second'])
})

t.test('a task that is due is begun by the clock of the service, not by that of Postgres', async (t) => {
  const world = await open(t)
  // A clock that stands in the past: for Postgres all is due.
  const clock = new ManualClock(Date.UTC(2026, 2, 2))
  const runs: number[] = []
  await world.node(clock, [{ name: 'a.task', run: async () => void runs.push(clock.now()) }])
  await world.add('a.task', { due: clock.now() + HOUR_MS })
  await until(
    'it was looked at',
    async () => (await world.query('select revision from graphile_worker.jobs where run_at > created_at')).length === 1,
  )
  clock.advance(HOUR_MS)
  await until('it has run', async () => (await world.left()) === 0)
  t.strictSame(runs, [clock.now()])
})

t.test('a clock that is moved over a time of the calendar runs the tasks of that time', async (t) => {
  const world = await open(t)
  const clock = new ManualClock(Date.UTC(2026, 2, 2, 5))
  const runs: string[] = []
  const task = (name: string, cron: string): Task => ({ name, cron, run: async () => void runs.push(name) })
  await world.node(clock, [task('a.daily', '0 6 * * *'), task('a.monthly', '0 0 1 * *')])
  clock.advance(59 * 60_000)
  t.equal(await world.left(), 0, 'not yet')
  clock.advance(60_000)
  await until('it has run', () => runs.length === 1)
  t.strictSame(runs, ['a.daily'])
})

t.test('a node that has lost its lock gives its task up, and the task is begun again', async (t) => {
  const world = await open(t)
  const contexts: TaskContext[] = []
  const ended: number[] = []
  const tasks: Task[] = [
    {
      name: 'a.task',
      workers: 'lengthy',
      async run(_, context) {
        contexts.push(context)
        // The first attempt ends only when it is given up.
        if (context.attempt === 1)
          await new Promise((resolve) => context.signal.addEventListener('abort', resolve, { once: true }))
        ended.push(context.attempt)
      },
    },
  ]
  await world.node(systemClock, tasks)
  await world.node(systemClock, tasks)
  await world.add('a.task')
  await until('it has begun', () => contexts.length === 1)
  await world.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'vostro tasks' and datname = current_database()`,
  )
  await until('it has run', async () => (await world.left()) === 0, { deadlineMs: 60_000 })
  t.strictSame(ended.sort(), [1, 2], 'each attempt ended')
  t.strictSame(
    contexts.map(({ signal, attempt }) => [attempt, signal.aborted]),
    [
      [1, true],
      [2, false],
    ],
  )
})

t.test('a task of a node that is gone is begun by another within seconds', async (t) => {
  const world = await open(t)
  const runs: number[] = []
  // As a node leaves it that was killed: its name, and no lock.
  await world.add('a.task')
  await world.query(`select graphile_worker.add_job('a.other')`)
  await world.query(
    `update graphile_worker._private_jobs set locked_by = 'pool-of-the-dead', locked_at = now(), attempts = 1 where key = 'a.task'`,
  )
  const begun = performance.now()
  await world.node(systemClock, [{ name: 'a.task', run: async (_, { attempt }) => void runs.push(attempt) }])
  await until('it has run', () => runs.length === 1)
  t.strictSame(runs, [2])
  t.ok(performance.now() - begun < 30_000)
})
