/**
 * The promises of every implementation of the shards' homes, as one suite. A harness defines how to make nodes and
 * which faults it can cause; tests of other faults are skipped (a single node cannot lose a neighbour).
 *
 * Run as a program, this file is a node in a process of its own, for faults that only processes can have:
 * `node leases-suite.ts '{"redisUrl": …, "namespace": …, "nodeId": …, "nodeUrl": …}'`. See `NodeProcess`.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import type { Test } from 'tap'

import { systemClock } from '../../lib/base/clock.ts'
import { SHARD_COUNT } from '../../lib/shards/shard.ts'
import type { ShardHome, Shards } from '../../lib/shards/shards.ts'
import type { RedisShardsOptions } from '../../storage/redis/redis-shards-options.ts'

const ALL = Array.from({ length: SHARD_COUNT }, (_, shard) => shard)

/**
 * The longest time for any state to settle. The shards of a dead node have a home after four seconds; a machine that is
 * busy with other tests may keep this process from running meanwhile.
 */
export const SETTLE_MAX_MS = 20_000
/** How long the shards of a dead node may be without a home. */
const HOMELESS_MAX_MS = 5_000
/** Time in which the other nodes must have a stopping node's shards, on a busy machine; no lease has to end first. */
const HAND_OVER_MAX_MS = 2_500
/**
 * The lease in the implementation's own settings. A shard may be held this long without an answer from Redis, not
 * longer.
 */
export const LEASE_MS = 3_000
/** A process that did not run for longer than this may have lost a lease, beside a stall of half a lease. */
export const GAP_MAX_MS = LEASE_MS / 10
/** How often a trial is made in which this process did not run for so long, because it proves nothing. */
export const TRIALS_MAX = 5
/** Shards beyond the fair share that may move when a node joins or leaves: rendezvous hashing with full nodes. */
const SLACK_MAX = 20
const SAMPLE_MS = 5

export interface TestNode {
  readonly shards: Shards
  readonly nodeUrl: string
}

/** Nodes of one cluster; each test has a cluster of its own. */
export interface TestCluster {
  /** Makes a node that is not started. The harness stops it at the end if the test does not. */
  node(): TestNode
  /** Makes a node in a process of its own, started. */
  process(): Promise<NodeProcess>
}

export interface LeasesHarness {
  readonly nodesMax: number
  open(test: Test): TestCluster
}

/** Runs the suite against the nodes that the harness makes. */
export function testLeases(test: Test, harness: LeasesHarness): void {
  // The tests wait for leases to end, not for the processor, so three may run at a time.
  test.jobs = 3
  test.test('one node has everything, from soon after its start until its stop', { buffered: true }, async (t) => {
    const { shards } = harness.open(t).node()
    await shards.start()
    await until('the node owns all', () => ALL.every((shard) => shards.owns(shard)))
    t.ok(ALL.every((shard) => shards.homeOf(shard).kind === 'here'))
    t.strictSame(shards.owned() ?? ALL, ALL)
    t.match(shards.state(), { held: SHARD_COUNT, total: SHARD_COUNT, nodes: 1 })
    t.ok(shards.state().nodeId !== '')
    await shards.stop()
    await shards.stop()
  })

  if (harness.nodesMax < 4) return

  test.test(
    'four nodes share fairly and agree on the homes, and what a listener hears adds up',
    { buffered: true },
    async (t) => {
      const cluster = harness.open(t)
      const nodes = [cluster.node(), cluster.node(), cluster.node(), cluster.node()]
      const overlaps = watchOverlaps(t, nodes)
      const heard = nodes.map(({ shards }) => listen(shards))
      await Promise.all(nodes.map(({ shards }) => shards.start()))
      await until('four nodes settle', () => settled(nodes))
      for (const [index, { shards }] of nodes.entries()) {
        t.match(shards.state(), { held: SHARD_COUNT / 4, nodes: 4 })
        t.strictSame(
          [...heard[index]!].sort((a, b) => a - b),
          shards.owned(),
        )
      }
      await Promise.all(nodes.map(({ shards }) => shards.stop()))
      for (const [index, { shards }] of nodes.entries()) {
        t.strictSame(shards.owned(), [], 'a stopped node owns nothing')
        t.ok(ALL.every((shard) => shards.homeOf(shard).kind === 'nowhere'))
        t.equal(heard[index]!.size, 0, 'and said so')
      }
      t.strictSame(overlaps(), [])
    },
  )

  test.test(
    'few shards move when a node joins, and what it gives up on leaving is taken at once',
    { buffered: true },
    async (t) => {
      const cluster = harness.open(t)
      const [first, second, third] = [cluster.node(), cluster.node(), cluster.node()]
      const overlaps = watchOverlaps(t, [first, second, third])
      await Promise.all([first.shards.start(), second.shards.start()])
      await until('two nodes settle', () => settled([first, second]))
      const before = homes([first, second])

      const told: number[] = []
      const early: number[] = []
      first.shards.onChange(({ lost }) => {
        told.push(...lost)
        early.push(...lost.filter((shard) => first.shards.owns(shard) || third.shards.owns(shard)))
      })
      await third.shards.start()
      await until('three nodes settle', () => settled([first, second, third]))
      const joined = homes([first, second, third])
      const moves = ALL.filter((shard) => before[shard] !== joined[shard])
      t.ok(moves.length <= Math.ceil(SHARD_COUNT / 3) + SLACK_MAX, `${moves.length} shards moved to the joiner`)
      t.strictSame(early, [], 'a node has stopped owning when it says so, and nobody else owns it before')
      t.ok(told.length > 0 && told.every((shard) => moves.includes(shard)))

      const longestGap = watchGaps()
      await third.shards.stop()
      const stopped = performance.now()
      await until('the others have its shards', () => settled([first, second]))
      const isInTime = performance.now() - stopped <= HAND_OVER_MAX_MS
      // A process that the machine keeps from running is late by that.
      t.ok(longestGap() >= GAP_MAX_MS || isInTime, 'no lease had to end')
      t.strictSame(homes([first, second]), before)
      t.strictSame(overlaps(), [])
    },
  )

  test.test('the shards of a node that was killed have a new home within 5 s', { buffered: true }, async (t) => {
    const cluster = harness.open(t)
    const survivors = [cluster.node(), cluster.node()]
    await Promise.all(survivors.map(({ shards }) => shards.start()))
    for (let trial = 1; ; trial++) {
      const victim = await cluster.process()
      await until('three nodes settle', () => settled([...survivors, victim]))
      const longestGap = watchGaps()
      const died = performance.now()
      victim.kill('SIGKILL')
      await until('the survivors have all', () => settled(survivors))
      const isInTime = performance.now() - died <= HOMELESS_MAX_MS
      if (longestGap() < GAP_MAX_MS || isInTime || trial === TRIALS_MAX) return t.ok(isInTime)
    }
  })

  test.test(
    'a node that was stopped for three leases owns nothing from its first instruction on',
    { buffered: true },
    async (t) => {
      const cluster = harness.open(t)
      const other = cluster.node()
      const sleeper = await cluster.process()
      await other.shards.start()
      await until('two nodes settle', () => settled([other, sleeper]))

      const woken = sleeper.sleep(3 * LEASE_MS)
      await until('the other has all', () => settled([other]))
      t.strictSame(await woken, { ownedBefore: SHARD_COUNT / 2, ownedAfter: 0, homesAfter: ['nowhere'] })
      await until('it is given its share again', () => settled([other, sleeper]))
    },
  )
}

/** Begins to watch for how long this process does not run. @returns what ends it and tells the longest gap, ms */
export function watchGaps(): () => number {
  const everyMs = 10
  let [last, longest] = [performance.now(), 0]
  const timer = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - last - everyMs)
    last = now
  }, everyMs)
  return () => {
    clearInterval(timer)
    return longest
  }
}

/** Waits for a condition. @throws Error that names the condition when time is up */
export async function until(what: string, condition: () => boolean, deadlineMs = SETTLE_MAX_MS): Promise<void> {
  const started = performance.now()
  while (!condition()) {
    if (performance.now() - started > deadlineMs) throw new Error(`not within ${deadlineMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS))
  }
}

/** Whether these nodes alone hold all shards in fair shares, and every node in this process knows each shard's home. */
export function settled(nodes: readonly (TestNode | NodeProcess)[]): boolean {
  const here = nodes.filter((node) => 'shards' in node)
  const seen = homes(here)
  const loads = Map.groupBy(seen, (home) => home)
  return (
    here.every(({ shards, nodeUrl }) => {
      const view = ALL.map((shard) => urlOf(shards.homeOf(shard), nodeUrl))
      return shards.state().nodes === nodes.length && view.every((home, shard) => home !== null && home === seen[shard])
    }) &&
    loads.size === nodes.length &&
    nodes.every(({ nodeUrl }) => {
      const load = loads.get(nodeUrl)?.length ?? 0
      return load >= Math.floor(SHARD_COUNT / nodes.length) && load <= Math.ceil(SHARD_COUNT / nodes.length)
    })
  )
}

/** The address of every shard's owner; for an owner outside this process, the address that the first node knows. */
function homes(nodes: readonly TestNode[]): readonly (string | null)[] {
  return ALL.map((shard) => {
    const owner = nodes.find(({ shards }) => shards.owns(shard))
    if (owner !== undefined) return owner.nodeUrl
    const home = nodes[0]?.shards.homeOf(shard)
    return home === undefined ? null : urlOf(home, '')
  })
}

function urlOf(home: ShardHome, here: string): string | null {
  return home.kind === 'here' ? here : home.kind === 'there' ? home.nodeUrl : null
}

/**
 * Samples for shards that two nodes own at the same instant, by their own view. Returns a function that lists all seen.
 */
export function watchOverlaps(t: Test, nodes: readonly TestNode[]): () => readonly number[] {
  const twice = new Set<number>()
  const timer = setInterval(() => {
    for (const shard of ALL) if (nodes.filter(({ shards }) => shards.owns(shard)).length > 1) twice.add(shard)
  }, SAMPLE_MS)
  t.teardown(() => clearInterval(timer))
  return () => [...twice]
}

/** Collects the shards that a listener believes to be owned. */
function listen(shards: Shards): ReadonlySet<number> {
  const owned = new Set<number>()
  shards.onChange(({ gained, lost }) => {
    for (const shard of gained) owned.add(shard)
    for (const shard of lost) owned.delete(shard)
  })
  return owned
}

interface Woken {
  readonly ownedBefore: number
  readonly ownedAfter: number
  readonly homesAfter: readonly string[]
}

/** A node in a process of its own. */
export class NodeProcess {
  readonly nodeUrl: string
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>

  constructor(options: Omit<RedisShardsOptions, 'log' | 'clock'>) {
    this.nodeUrl = options.nodeUrl
    this.#child = spawn(process.execPath, [import.meta.filename, JSON.stringify(options)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#lines = createInterface(this.#child.stdout!)[Symbol.asyncIterator]()
  }

  /** Resolves when the node has joined. */
  async started(): Promise<void> {
    await this.#line()
  }

  kill(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal)
  }

  async ended(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit')
  }

  /**
   * Pauses the process for this long. Returns the shards it owned just before, and just after before other code could
   * run.
   */
  async sleep(ms: number): Promise<Woken> {
    this.#child.stdin!.write('look\n')
    await this.#line()
    this.kill('SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, ms))
    this.kill('SIGCONT')
    return JSON.parse(await this.#line()) as Woken
  }

  async #line(): Promise<string> {
    const { value, done } = await this.#lines.next()
    if (done === true) throw new Error('the process of a node ended')
    return value
  }
}

async function runNode(options: Omit<RedisShardsOptions, 'log' | 'clock'>): Promise<void> {
  const { RedisShards } = await import('../../storage/redis/redis-shards.ts')
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const shards = new RedisShards({ ...options, clock: systemClock, log: silent })
  await shards.start()
  process.stdout.write('started\n')
  for await (const _ of createInterface(process.stdin)) process.stdout.write(`${JSON.stringify(lookAround(shards))}\n`)
  await shards.stop()
}

/** Waits, while no other code runs, until the process was paused and continued. */
function lookAround(shards: Shards): Woken {
  const ownedBefore = shards.owned()?.length ?? SHARD_COUNT
  const cell = new Int32Array(new SharedArrayBuffer(4))
  // Read before the line is written, because the pause may follow it immediately.
  let last = performance.now()
  process.stdout.write('looking\n')
  while (performance.now() - last < LEASE_MS) {
    last = performance.now()
    Atomics.wait(cell, 0, 0, SAMPLE_MS)
  }
  const homesAfter = [...new Set(ALL.map((shard) => shards.homeOf(shard).kind))]
  return { ownedBefore, ownedAfter: shards.owned()?.length ?? SHARD_COUNT, homesAfter }
}

if (import.meta.main) await runNode(JSON.parse(process.argv[2] ?? '{}') as Omit<RedisShardsOptions, 'log' | 'clock'>)
