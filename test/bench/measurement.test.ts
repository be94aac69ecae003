/** Measuring in turn: each round in a fresh process, and never two subjects at once. */
import t from 'tap'
import { Histogram } from '../../bench/histogram.ts'
import { alternate, mergeConditions, summarise, Turn, type Sample } from '../../bench/measurement.ts'
import { judge, type Bench } from '../../bench/scenario.ts'
import { measureSide } from '../../bench/scenarios/p4.ts'
import {
  measureFresh,
  startBare,
  startNodes,
  startRowLock,
  startService,
  type Measurement,
  type Subject,
} from '../../bench/subject.ts'

const CPU = { main: 100, gc: 10, pool: 1, lane: 60, postgres: 20, other: 0, generator: 17 }

function sample(rate: number, micros: readonly number[] = [1_000]): Sample {
  const histogram = new Histogram()
  for (const each of micros) histogram.record(each)
  return { rate, histogram: histogram.sparse(), failures: 0, cpu: { ...CPU, main: rate / 10 }, conditions: [] }
}

t.test('subjects are measured A B A B, and each time its own is started and stopped before the next', async (t) => {
  const turn = new Turn()
  const log: string[] = []
  const seconds: number[] = []
  let started = 0
  const start = (name: string) => async (): Promise<Subject> => {
    const mine = turn.take(name)
    log.push(`start ${name} ${++started}`)
    return {
      conditions: async () => {
        log.push(`check ${name}`)
        return [{ name: `${name}: clean`, holds: true }]
      },
      [Symbol.asyncDispose]: async () => {
        // A process takes a while to end.
        await new Promise((resolve) => setImmediate(resolve))
        log.push(`stop ${name}`)
        mine[Symbol.dispose]()
      },
    } as Partial<Subject> as Subject
  }
  const measured = (name: string) => (part: number) =>
    measureFresh(start(name), async () => {
      seconds.push(part)
      log.push(`measure ${name}`)
      return sample(started) as Partial<Measurement> as Measurement
    })
  const { a, b } = await alternate(10, { a: measured('a'), b: measured('b') })
  t.same(
    log,
    ['a 1', 'b 2', 'a 3', 'b 4'].flatMap((each) => {
      const [name] = each.split(' ')
      return [`start ${each}`, `measure ${name}`, `check ${name}`, `stop ${name}`]
    }),
  )
  t.same(seconds, [5, 5, 5, 5])
  t.same(a.rates.each, [1, 3])
  t.equal(a.rate, 2)
  t.same(b.rates.each, [2, 4])
  t.same(b.conditions, [{ name: 'b: clean', holds: true }])
})

t.test('a subject that is not measured leaves no process behind', async (t) => {
  let stopped = false
  const start = async () =>
    ({
      [Symbol.asyncDispose]: async () => {
        stopped = true
      },
    }) as Partial<Subject> as Subject
  await t.rejects(
    measureFresh(start, async () => {
      throw new Error('no figure')
    }),
    /no figure/,
  )
  t.ok(stopped)
})

t.test('a second subject is refused while the first still runs', async (t) => {
  const turn = new Turn()
  const first = turn.take('service')
  t.throws(() => turn.take('bare'), /bare is started while service still runs/)
  first[Symbol.dispose]()
  const second = turn.take('bare')
  first[Symbol.dispose]()
  t.throws(() => turn.take('service'), /while bare/, 'giving back twice gives back one turn')
  second[Symbol.dispose]()
})

t.test('a summary has the median of the processes, and each of them', async (t) => {
  const summary = summarise([sample(900, [1_000, 1_000]), sample(1_100, [3_000, 9_000])])
  t.equal(summary.rate, 1_000)
  t.same(summary.rates.each, [900, 1_100])
  t.equal(summary.rates.cpu?.main, 100)
  t.ok(Math.abs(summary.p99Ms - 9) < 0.1)
  t.ok(Math.abs(summary.p99s.each[0]! - 1) < 0.02)
  t.ok(Math.abs(summary.p99s.each[1]! - 9) < 0.1)
})

t.test('a condition holds for a row when it held for every process', async (t) => {
  t.same(
    mergeConditions([
      [
        { name: 'clean', holds: true },
        { name: 'none lost', holds: true, found: '0' },
      ],
      [
        { name: 'clean', holds: false, found: 'a sum' },
        { name: 'none lost', holds: true, found: '1' },
      ],
    ]),
    [
      { name: 'clean', holds: false, found: 'a sum' },
      { name: 'none lost', holds: true, found: '0' },
    ],
  )
  const [merged] = mergeConditions([
    [{ name: 'clean', holds: false, found: 'first' }],
    [{ name: 'clean', holds: true }],
  ])
  t.equal(
    judge({
      id: 'X',
      scenario: 'x',
      value: 1,
      unit: 'ms',
      p50Ms: null,
      p99Ms: null,
      baselines: {},
      targets: [],
      conditions: [merged!],
    }).met,
    false,
  )
})

t.test('every way to start a subject waits for its turn', async (t) => {
  const turn = new Turn()
  let made = 0
  const bench = {
    takeTurn: (name: string) => turn.take(name),
    start: () => {
      made += 1
      throw new Error('a process was started')
    },
    databases: {
      payers: [],
      clone: async () => {
        made += 1
        throw new Error('a database was made')
      },
    } as Partial<Bench['databases']>,
  } as Partial<Bench> as Bench
  using running = turn.take('the one before')
  const starts: Record<string, () => Promise<unknown>> = {
    bare: () => startBare(bench),
    rowLock: () => startRowLock(bench),
    service: () => startService(bench, { dispatch: false }),
    nodes: () => startNodes(bench, 2),
    engine: () => measureSide(bench, 'engine', [], 1),
    ceiling: () => measureSide(bench, 'ceiling', [], 1),
  }
  for (const [name, start] of Object.entries(starts)) await t.rejects(start(), /while the one before still runs/, name)
  t.equal(made, 0)
  running[Symbol.dispose]()
  await t.rejects(starts['service']!(), /a database was made/, 'and then starts')
  await t.rejects(starts['bare']!(), /a process was started/, 'a start that failed has given its turn back')
})
