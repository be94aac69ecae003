/** Metrics for Prometheus, on a separate port (METRICS_PORT): they are for operators, not for integrators. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import type { JournalChain } from '../../actors/journal/journal-chain.ts'
import type { NoticeService } from '../../actors/notices/notice-service.ts'
import type { QueueService } from '../../actors/payments/queue-service.ts'
import type { ReconciliationService } from '../../actors/reconciliation/reconciliation-service.ts'
import type { ClockWatch } from '../../actors/runtime/clock-watch.ts'
import type { HorizonWatch } from '../../actors/runtime/horizon-watch.ts'
import type { Node } from '../../actors/runtime/node.ts'
import type { TransactionService } from '../../actors/transactions/transaction-service.ts'
import type { WebhookService } from '../../actors/webhooks/webhook-service.ts'
import { StartError } from '../../lib/base/errors.ts'
import type { Admission } from '../access/admission.ts'
import type { Arrivals } from '../access/arrivals.ts'

/** The parts of a node whose values are measured, by noun. */
export interface MeasuredParts {
  readonly node: Pick<Node, 'system' | 'shards'>
  readonly clockWatch: Pick<ClockWatch, 'aheadSeconds'>
  readonly horizonWatch: Pick<HorizonWatch, 'ageSeconds'>
  readonly admission: Admission
  readonly arrivals: Arrivals
  readonly journalChain: Pick<JournalChain, 'lag'>
  readonly notices: Pick<NoticeService, 'mails'>
  readonly paymentQueue: Pick<QueueService, 'queue'>
  readonly reconciliation: Pick<ReconciliationService, 'countBreaks'>
  readonly transactions: Pick<TransactionService, 'follower'>
  readonly webhooks: Pick<WebhookService, 'relay'>
}

/** Registers instruments whose value is read at each scrape. */
function instrumentsOf(registry: Registry) {
  const registers = [registry]
  return {
    gauge(name: string, help: string, value: () => number | Promise<number>): void {
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          this.set(await value())
        },
      })
    },
    /** The count is kept elsewhere, so each scrape sets the counter to the current value. */
    counter(name: string, help: string, value: () => number): void {
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset()
          this.inc(value())
        },
      })
    },
  }
}

/**
 * Builds the registry of all metrics for graphs and alerts. Values are read at each scrape; nothing is counted twice.
 */
export function createRegistry({
  node: { system, shards },
  clockWatch,
  horizonWatch,
  admission,
  arrivals,
  journalChain,
  notices: { mails },
  paymentQueue: { queue },
  reconciliation: { countBreaks },
  transactions: { follower },
  webhooks: { relay },
}: MeasuredParts): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'vostro_' })
  const instruments = instrumentsOf(registry)
  const { gauge, counter } = instruments
  const sum = (of: 'commits' | 'conflicts') => () => system.lanes.reduce((total, lane) => total + lane.counters[of], 0)
  counter('vostro_commits_total', 'Commits of the ledger.', sum('commits'))
  counter('vostro_commands_total', 'Commands decided and committed.', () => system.commandsCommitted)
  counter(
    'vostro_commit_conflicts_total',
    'Commits that wrote nothing because a decision was stale or recorded before.',
    sum('conflicts'),
  )
  counter(
    'vostro_admission_refused_total',
    'Requests refused because too many commands were under way or the event loop was late.',
    () => admission.counters.refused,
  )
  gauge(
    'vostro_commands_under_way',
    'Commands that have arrived whole and are not answered yet.',
    () => admission.counters.underWay,
  )
  gauge('vostro_overloaded', '1 while this node is full and busy, and takes fewer commands.', () =>
    Number(admission.counters.overloaded),
  )
  gauge(
    'vostro_bodies_arriving',
    'Requests of known callers whose JSON bodies are still arriving.',
    () => arrivals.counters.bodies,
  )
  gauge('vostro_uploads_arriving', 'Files that are still arriving.', () => arrivals.counters.uploads)
  gauge('vostro_lane_backlog', 'Commands that wait for a commit.', () =>
    system.lanes.reduce((total, lane) => total + lane.backlog, 0),
  )
  gauge('vostro_actors_balance', 'Balances in memory.', () => system.size.balance)
  gauge('vostro_actors_payment', 'Payments in memory.', () => system.size.payment)
  gauge('vostro_payment_queue_backlog', 'Payments that wait for the bank.', () => queue.backlog)
  counter('vostro_webhook_attempts_total', 'Callbacks attempted.', () => relay.counters.attempts)
  counter('vostro_webhook_failures_total', 'Callbacks that failed.', () => relay.counters.failures)
  gauge('vostro_webhooks_under_way', 'Callbacks under way.', () => relay.underWay)
  gauge('vostro_webhook_endpoints_busy', 'Webhook endpoints with an actor in memory.', () => relay.endpoints)
  gauge(
    'vostro_journal_chain_lag_lines',
    'Journal lines without a hash at the last pass of this node.',
    () => journalChain.lag,
  )
  measureMails(instruments, mails)
  gauge('vostro_reconciliation_breaks', 'Open reconciliation breaks of all operators.', countBreaks)
  gauge(
    'vostro_transactions_lag_seconds',
    'The age of the oldest event in the last pass that updated the list of transactions.',
    () => follower.lagSeconds,
  )
  gauge(
    'vostro_clock_ahead_seconds',
    'The difference by which the clock of this node is ahead of the clock of the database.',
    () => clockWatch.aheadSeconds,
  )
  gauge(
    'vostro_event_horizon_age_seconds',
    'The age of the oldest open transaction of the database; later events wait for its end.',
    () => horizonWatch.ageSeconds,
  )
  gauge('vostro_shards_held', 'Shards at home on this node.', () => shards.state().held)
  gauge('vostro_nodes', 'Live nodes that this node knows, itself included.', () => shards.state().nodes)
  return registry
}

function measureMails({ gauge, counter }: ReturnType<typeof instrumentsOf>, mails: NoticeService['mails']): void {
  gauge(
    'vostro_mail_backlog',
    'Mails of all nodes that wait for the mail server.',
    async () => (await mails.backlog()).count,
  )
  gauge(
    'vostro_mail_oldest_age_seconds',
    'The age of the oldest mail that waits for the mail server.',
    async () => (await mails.backlog()).oldestSeconds,
  )
  counter('vostro_mails_sent_total', 'Mails that the mail server has taken.', () => mails.counters.sent)
  counter(
    'vostro_mails_bounced_total',
    'Mails that the mail server has refused for good, or that were given up.',
    () => mails.counters.bounced,
  )
  counter(
    'vostro_mails_expired_total',
    'Mails that were not sent before their link ended.',
    () => mails.counters.expired,
  )
  counter(
    'vostro_mail_failures_total',
    'Attempts to send a mail that are repeated later.',
    () => mails.counters.failures,
  )
  counter(
    'vostro_mails_repeated_total',
    'Mails sent again although an attempt without an answer may have delivered them.',
    () => mails.counters.repeated,
  )
}

/** The text of metrics, from one process or several. */
export interface MetricsText {
  readonly contentType: string
  metrics(): Promise<string>
}

/** Returns the metrics of all workers, each with the label `worker`. For their primary. */
export function metricsOfWorkers(): MetricsText {
  const workers = new AggregatorRegistry()
  return { contentType: workers.contentType, metrics: () => workers.clusterMetrics() }
}

/** Lets a worker answer when its primary asks for metrics, from the beginning: without metrics until it has some. */
export function answerForMetrics(): void {
  // The constructor subscribes to the primary's messages.
  new AggregatorRegistry()
}

/** Lets a worker answer its primary with these metrics. The label keeps workers apart, so nothing is added up. */
export function tellMetrics(registry: Registry, worker: number): void {
  registry.setDefaultLabels({ worker: `${worker}` })
  AggregatorRegistry.setRegistries([registry])
}

/** Serves metrics at `/metrics`. @throws StartError when the port cannot be opened */
export async function serveMetrics(
  registry: MetricsText,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'Content-Type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  server.listen(port, host)
  await once(server, 'listening').catch((cause: unknown) => {
    throw new StartError(`Port ${port} on ${host} cannot be opened for metrics; set another METRICS_PORT.`, { cause })
  })
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/metrics`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
