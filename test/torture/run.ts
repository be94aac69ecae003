/**
 * `npm run torture`: a cluster of real processes, clients that never stop, and one fault after another.
 *
 *   npm run torture -- [--minutes 5] [--seed N] [--nodes 3] [--only 'node killed'] [--calm]
 *
 * Prints the seed first: the same seed makes the same faults in the same order with the same clients, though not at the
 * same instant. Ends with a drain, the checker, the audit and a table of what was survived. Exits 1 on any violation,
 * with the evidence.
 */
import { parseArgs } from 'node:util'
import { setTimeout as pause } from 'node:timers/promises'

import { Cluster } from '../support/cluster.ts'
import { Random } from '../support/random.ts'
import { Clients, now, OPENING } from './clients.ts'
import { FAULTS, type Scene } from './faults.ts'
import { flood } from './flood.ts'
import { Partner } from './partner.ts'
import { judge, type Trial } from './verify.ts'

const CUSTOMERS = 12
/** Customers whose larger payments wait for people, and from which amount on, minor units of the euro. */
const CAREFUL = 4
const APPROVED_ABOVE = 1_000n
/** Payments of this many cents of the euro and more leave through the second connection. */
const ROUTED_FROM = 500n
const WORKERS = 12
const COMMANDS_PER_SECOND = 150
/** Commands that are asked for again at the end. */
const REPLAYS = 3_000
const FLOOD_PER_SECOND = 4_000
/** The load before a fault, and what may pass until the shards have settled after it. */
const CALM_MS: readonly [number, number] = [500, 3_000]
const SETTLE_MS = 30_000

interface Survived {
  times: number
  longestMs: number
  calls: number
  unknown: number
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string' },
    nodes: { type: 'string', default: '3' },
    only: { type: 'string', multiple: true },
    calm: { type: 'boolean', default: false },
  },
})
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(values.seed)
const minutes = Number(values.minutes)
const nodes = Number(values.nodes)
if (!Number.isInteger(seed) || !(minutes > 0) || !(Number.isInteger(nodes) && nodes > 0)) {
  console.error('Usage: npm run torture -- [--minutes 5] [--seed N] [--nodes 3]')
  process.exit(2)
}
// Resources are released at `exit`, which a signal by itself does not cause.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
console.log(`seed ${seed}, ${minutes} minutes, ${nodes} nodes`)
// A client that was given up may wait for an answer for good.
process.exit((await torture()) ? 0 : 1)

async function torture(): Promise<boolean> {
  const random = new Random(seed)
  // Whichever node answers, links are those of the service.
  const secretsKey = Partner.newSecretsKey()
  const env = { PUBLIC_URL: 'https://vostro.example', SECRETS_KEY: secretsKey }
  await using cluster = await Cluster.open({ nodes, env })
  await cluster.secondConnection(ROUTED_FROM)
  const customers = []
  for (let i = 0; i < CUSTOMERS; i++) customers.push(await cluster.customer(OPENING))
  const careful = []
  for (let i = 0; i < CAREFUL; i++) careful.push(await cluster.customer(OPENING))
  for (const { id } of careful) await cluster.approvesAbove(id, APPROVED_ABOVE)
  const owners = new Map<string, string>()
  for (const { id } of [...customers, ...careful])
    owners.set(id, await cluster.session({ level: 'customer', tenantId: id, role: 'owner' }))
  const { operatorId } = cluster.operator
  const person = (role: string) => cluster.session({ level: 'operator', tenantId: operatorId, role })
  const people = {
    careful,
    owners,
    operatorId,
    staff: [await person('operations'), await person('operator_admin')] as const,
  }
  const flooded = await cluster.customer([1_000_000n, 0n])
  const disk = await cluster.smallDisk()
  if (typeof disk === 'string') console.log(`without a full disk: ${disk}`)
  const scene: Scene = {
    cluster,
    random,
    disk: typeof disk === 'string' ? null : disk,
    partner: await Partner.connect(cluster, new Random(seed + 1), secretsKey),
    flood: async (ms) => {
      await flood({ urls: cluster.live.map(({ url }) => url), customer: flooded, perSecond: FLOOD_PER_SECOND, ms })
    },
  }
  const clients = new Clients({
    nodes: cluster.nodes,
    customers,
    workers: WORKERS,
    pace: COMMANDS_PER_SECOND,
    seed,
    stories: true,
    people,
  })
  clients.start()
  const survived = new Map<string, Survived>()
  const failures: string[] = []
  const begin = now()
  while (now() - begin < minutes * 60_000) {
    await pause(random.int(...CALM_MS))
    if (values.calm) continue
    const possible = FAULTS.filter(
      ({ name, possible: can }) => (values.only === undefined || values.only.includes(name)) && (can?.(scene) ?? true),
    )
    const fault = random.pick(possible)
    const at = now()
    const before = clients.counts
    clients.takeLongest()
    try {
      // Now and then two at once.
      const second = random.chance(0.2) ? random.pick(possible) : null
      const name = second === null || second === fault ? fault.name : `${fault.name} + ${second.name}`
      console.log(`${((at - begin) / 1_000).toFixed(0).padStart(4)} s  ${name}`)
      const results = await Promise.allSettled([
        fault.happen(scene),
        ...(second === null || second === fault ? [] : [second.happen(scene)]),
      ])
      for (const result of results)
        if (result.status === 'rejected')
          failures.push(`${name}: ${(result.reason as Error).stack ?? String(result.reason)}`)
      for (const node of cluster.nodes) if (!node.running) await node.start()
      await cluster.settled(SETTLE_MS)
      const { commands } = clients.counts
      await Promise.race([
        until(() => clients.counts.decided > before.decided && clients.counts.commands > commands),
        pause(SETTLE_MS),
      ])
      const row = survived.get(name) ?? { times: 0, longestMs: 0, calls: 0, unknown: 0 }
      survived.set(name, row)
      row.times += 1
      row.longestMs = Math.max(row.longestMs, clients.takeLongest())
      row.calls += clients.counts.calls - before.calls
      row.unknown += clients.unanswered(at)
    } catch (error) {
      failures.push(`after ${fault.name}: ${(error as Error).stack ?? String(error)}`)
      if (failures.length > 5) break
    }
  }
  console.log('draining …')
  let trial: Trial
  try {
    trial = await judge(cluster, { clients, customers: [...customers, ...careful], replays: REPLAYS })
  } catch (error) {
    console.log(`FAILED  ${(error as Error).stack ?? String(error)}`)
    for (const failure of failures) console.log(`FAILED  ${failure}`)
    return false
  }
  printTable(survived)
  return printTrial(trial, failures, clients)
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(20)
}

function printTable(survived: ReadonlyMap<string, Survived>): void {
  const rows = [
    ['fault', 'times', 'longest without an answer', 'calls meanwhile', 'without answer'],
    ...[...survived]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, { times, longestMs, calls, unknown }]) => [
        name,
        String(times),
        `${(longestMs / 1_000).toFixed(1)} s`,
        String(calls),
        String(unknown),
      ]),
  ]
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  console.log(
    `\n${rows.map((row) => row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join('  ')).join('\n')}\n`,
  )
}

function printTrial(
  { verdict, brokenBooks, stuck, errors }: Trial,
  failures: readonly string[],
  clients: Clients,
): boolean {
  const evidence = [
    ...failures.map((what) => ({ what })),
    ...verdict.violations.map((violation) => ({ ...violation })),
    ...brokenBooks.map((broken) => ({ what: 'the books are wrong', broken })),
    ...stuck.map((open) => ({ what: 'something came to no end', open })),
    ...errors.map((line) => ({ what: 'a node has logged an error', line })),
  ]
  for (const each of evidence.slice(0, 40)) {
    console.log(
      `FAILED  ${JSON.stringify(each, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))}`,
    )
  }
  if (evidence.length > 40) console.log(`        … and ${evidence.length - 40} more`)
  console.log(
    `${verdict.commands} commands in ${clients.counts.calls} calls: ${verdict.acknowledged} acknowledged, ${verdict.refused} refused, ${verdict.unknown} unknown; ${verdict.looks} looks at balances`,
  )
  console.log(
    `seed ${seed}: ${evidence.length === 0 ? 'nothing was lost, nothing was done twice, the books are right' : `${evidence.length} violations`}`,
  )
  return evidence.length === 0
}
