/**
 * The composition root: builds one node of the service from its settings.
 *
 * Used by main.ts, by every HTTP test and by the bench. Tests and benches replace parts through `Overrides`; there is
 * no other way to build a service.
 */
import type { PaymentCommands } from '../../actors/payments/payment-operations.ts'
import type { PaymentQueue } from '../../actors/payments/payment-queue.ts'
import { background, type Background } from '../../actors/runtime/node.ts'
import type { ActorSystem } from '../../actors/runtime/system.ts'
import { Tasks } from '../../actors/runtime/tasks.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { Config } from '../../lib/config/config.ts'
import { NO_OPERATOR } from '../../lib/operators/first-entry.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import { findApiKey } from '../../storage/identity/api-key-queries.ts'
import { createAdmission } from '../access/admission.ts'
import { Arrivals } from '../access/arrivals.ts'
import { createAuthentication } from '../access/authentication.ts'
import { FailedCredentials } from '../access/failed-credentials.ts'
import { Forwarding } from '../cluster/forwarding.ts'
import type { Route } from '../route/route.ts'
import { servicesOf, type Services } from '../route/services.ts'
import { createApp } from './app.ts'
import { BUILD } from './build.ts'
import { addressOf, drain, DRAIN_MS, listen } from './listening.ts'
import { createRegistry, serveMetrics, tellMetrics } from './metrics.ts'
import { backgroundOf, createNouns, servedNouns, tasksOf } from './nouns.ts'
import type { NounOverrides } from './nouns/noun-groups.ts'
import { openNode, start, type NodeOverrides } from './open-node.ts'
import { overloaded } from './problem.ts'
import { Start } from './readiness.ts'
import { pages, routes } from './routes.ts'
import { keepSandbox, openSandbox, type Sandbox } from './sandbox.ts'

/** Parts of the service that a test or a bench replaces. */
export interface Overrides extends NodeOverrides, NounOverrides {
  /** Extra routes that a test adds, for behaviour that no operation of the API can show. */
  readonly routes?: readonly Route[]
  /**
   * False accepts requests however late the event loop runs, because most tests must not depend on the machine's load.
   */
  readonly refuseWhenLate?: boolean
  /** Replaces the payment commands, over the same storage: a baseline of the bench. */
  readonly commands?: (database: Database, services: Pick<Services, 'ids' | 'clock' | 'problemBase'>) => PaymentCommands
}

/** A running node of the service. */
export interface Service extends AsyncDisposable {
  /** Address where the node listens, without `/v1`. */
  readonly url: string
  readonly databaseUrl: string
  /** The seeded sandbox; null in production. */
  readonly sandbox: Sandbox | null
  readonly system: ActorSystem
  readonly queue: PaymentQueue
  readonly shards: Shards
  /**
   * Runs the pollers of payments and their schedules, of approvals, funds requests, bulk payments and holds, of recalls,
   * transfers, callbacks and the sandbox's bank once, as their timers do; resolves when what was due is done. A test that proves that something is not done yet runs them before it looks.
   */
  pollOnce(): Promise<void>
  /** Finishes the accepted requests and work, then stops. Takes at most 10 s. */
  close(): Promise<void>
}

/**
 * Starts a node.
 *
 * @throws StartError with one sentence for an operator.
 */
export async function createService(config: Config, overrides: Overrides = {}): Promise<Service> {
  await using started = new AsyncDisposableStack()
  const opened = await openNode(config, overrides, started)
  const { node, server, requestLog, rateLimits, instance } = opened
  const { clock, database, log, shards, system } = node
  const sandbox = config.sandbox ? await openSandbox({ ...node, hashPassword: node.workers.passwords.hash }) : null

  const table = overrides.routes === undefined ? routes : [...routes, ...overrides.routes]
  const nouns = await createNouns(node, table, overrides)
  const tasks = new Tasks({ ...node, tasks: [...opened.tasks, ...tasksOf(nouns)] })
  // Starts first and stops last: caches are told of changes as long as work reads them.
  await start(background('messages of other nodes', opened.listener), started)
  for (const part of backgroundOf(nouns)) await start(part, started)
  await start(background('tasks', tasks), started)
  await start(background('horizon of events', opened.horizonWatch), started)

  const startOfNode = new Start()
  const served = servicesOf(servedNouns(nouns))
  const services: Services = {
    ...node,
    ...served,
    payments: { ...served.payments, ...overrides.commands?.(database, node) },
    isWorkspace: (customerId) => customerId === sandbox?.customer.id,
    limitSignIn: (email) => rateLimits?.admitLogin(email),
    limitRendering: (customerId) => rateLimits?.admitRendering(customerId),
    health: () => ({ status: 'ok', version: BUILD.version, commit: BUILD.commit, time: timestamp(clock.now()) }),
    readiness: () => startOfNode.readiness(node),
    findApiKey: (sha256) => findApiKey(database, sha256),
  }
  const { nodeSecret } = config
  const forwarding = nodeSecret === null ? null : new Forwarding({ shards, nodeSecret, instance, clock, log })
  started.defer(() => forwarding?.close())
  const arrivals = new Arrivals()
  const admission = createAdmission({
    refusal: (path) => overloaded(services, path),
    linger: (request) => arrivals.linger(request),
    refuseWhenLate: overrides.refuseWhenLate ?? true,
  })
  started.defer(() => admission.close())
  const authentication = createAuthentication(services, new FailedCredentials(rateLimits))
  const app = createApp(table, services, {
    pages,
    forwarding,
    rateLimits,
    requestLog,
    security: config,
    trustedProxies: config.trustedProxies,
    admission,
    arrivals,
    authentication,
  })
  server.on('request', admission.guard(app.callback(), authentication.partyOf))
  forwarding?.listen(opened.nodeServer ?? server)
  await listen(server, config)
  started.defer(async () => {
    // A server has closed when its clients and the nodes that it serves have gone.
    await Promise.all([drain(server), forwarding?.leave(DRAIN_MS)])
  })
  // Shards start last and stop first: a node takes shards when it can work, and gives them up before it stops working.
  await shards.start()
  started.defer(() => shards.stop())
  if (config.metricsPort !== null || config.worker !== null) {
    const registry = createRegistry({ ...opened, ...nouns, admission, arrivals })
    if (config.worker !== null) tellMetrics(registry, config.worker)
    if (config.metricsPort !== null)
      started.use(await serveMetrics(registry, { host: config.host, port: config.metricsPort }))
  }
  const url = addressOf(server, config)
  if (sandbox !== null) await keepSandbox(config, url, sandbox)
  if (!(await startOfNode.isEntered(database))) log.warn({ check: 'operator' }, NO_OPERATOR)
  startOfNode.end()

  const running = started.move()
  const close = () => running.disposeAsync()
  const pollOnce = async () => {
    const { approvals, balances, bulkPayments, cards, debitOrders, fundsRequests, scheduledPayments } = nouns
    const { paymentQueue, payments, transfers, webhooks } = nouns
    const parts = [
      ...[approvals, balances, bulkPayments, cards, debitOrders, fundsRequests, scheduledPayments],
      ...[paymentQueue, payments, transfers, webhooks],
    ].flatMap((noun): readonly Background[] => noun.background)
    await Promise.all(parts.map((part) => part.runOnce?.()))
  }
  const { databaseUrl } = node
  const { queue } = nouns.paymentQueue
  return { url, databaseUrl, sandbox, system, queue, shards, pollOnce, close, [Symbol.asyncDispose]: close }
}
