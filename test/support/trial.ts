/** Runs a cluster under load, causes a fault, and checks the result: the common part of the tests of faults. */
import type { Test } from 'tap'

import type { CreatedCustomer } from '../../storage/seed/seed-customers.ts'
import { Clients, OPENING } from '../torture/clients.ts'
import { judge } from '../torture/verify.ts'
import { Cluster, type ClusterOptions } from './cluster.ts'
import { until } from './until.ts'

/** Low enough for two such tests beside each other on two cores, yet most commands get a commit of their own. */
const WORKERS = 8
const COMMANDS_PER_SECOND = 80
const CUSTOMERS = 4
/** Commands that are not finished by then are named in the failure; the test runner would only report a timeout. */
const DRAIN_MS = 45_000
const SEED = 20_260_504

export interface TrialScene {
  readonly cluster: Cluster
  readonly clients: Clients
  readonly customers: readonly CreatedCustomer[]
  /** Waits until this many more commands are decided, which proves that the cluster works. */
  answers(count?: number, deadlineMs?: number): Promise<void>
}

export interface TrialOptions extends ClusterOptions {
  readonly before?: (cluster: Cluster) => Promise<void>
  /** Number of customers; each has its home on one node. */
  readonly customers?: number
}

/**
 * Runs clients against a cluster while `happen` causes faults. Asserts that nothing was lost or done twice, that every
 * balance is one that a single account could have had, and that the books are right.
 */
export async function trial(
  t: Test,
  options: TrialOptions,
  happen: (scene: TrialScene) => Promise<void>,
): Promise<void> {
  await using cluster = await Cluster.open(options)
  await options.before?.(cluster)
  const customers: CreatedCustomer[] = []
  for (let i = 0; i < (options.customers ?? CUSTOMERS); i++) customers.push(await cluster.customer(OPENING))
  const clients = new Clients({
    nodes: cluster.nodes,
    customers,
    workers: WORKERS,
    pace: COMMANDS_PER_SECOND,
    seed: SEED,
  })
  const answers = async (count = 40, deadlineMs?: number) => {
    const before = clients.counts.decided
    await until(`${count} more answers`, () => clients.counts.decided >= before + count, { deadlineMs })
  }
  // Clients that never end must not hide a failure.
  using stack = new DisposableStack()
  stack.defer(() => clients.abandon())
  clients.start()
  await answers()
  await happen({ cluster, clients, customers, answers })
  await answers()
  const { verdict, brokenBooks, stuck, errors } = await judge(cluster, { clients, customers, drainMs: DRAIN_MS })
  t.comment(
    `${verdict.commands} commands in ${clients.counts.calls} calls: ${verdict.acknowledged} acknowledged, ${verdict.refused} refused`,
  )
  t.strictSame(verdict.violations.slice(0, 5).map(readable), [], 'clients and books agree')
  t.equal(verdict.unknown, 0, 'every command is decided in the end')
  t.ok(verdict.acknowledged > 0 && verdict.refused > 0, 'and there were both yeses and noes')
  t.strictSame(stuck, [], 'every payment has come to its end')
  t.strictSame(brokenBooks, [], 'the audit is clean')
  t.strictSame(errors.slice(0, 5), [], 'no node has met a bug')
}

const readable = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each)))
