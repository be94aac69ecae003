/**
 * The composition root: builds one node of the service from its settings.
 *
 * Used by main.ts, by every HTTP test and by the bench. Tests and benches replace parts through `Overrides`; there is
 * no other way to build a service.
 */
import { hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import pino, { type Logger } from 'pino'
import { AccountDetailsUpkeep } from '../../actors/accounts/account-details.ts'
import { Approvals } from '../../actors/approvals/approvals.ts'
import { BulkPayments } from '../../actors/bulk-payments/bulk-payment-pollers.ts'
import { ClockWatch } from '../../actors/runtime/clock-watch.ts'
import { Closures } from '../../actors/customers/closures.ts'
import { bulkPaymentSubject } from '../../actors/bulk-payments/approve-bulk-payment.ts'
import { exchangeSubject } from '../../actors/exchange/approve-exchange.ts'
import { paymentSubject } from '../../actors/payments/approve-payment.ts'
import { policySubject } from '../../actors/approvals/change-policy.ts'
import { heldIncoming } from '../../actors/incoming-payments/incoming-cases.ts'
import { IncomingPayments } from '../../actors/incoming-payments/incoming-payments.ts'
import { ComplianceGate } from '../../actors/payments/compliance-gate.ts'
import { ComplianceHolds } from '../../actors/compliance/compliance-holds.ts'
import { heldPayment } from '../../actors/payments/compliance-payments.ts'
import { createConversions } from '../../actors/payments/payment-conversions.ts'
import { DuePayments } from '../../actors/payments/due-payments.ts'
import { PaymentFollowUp } from '../../actors/payments/payment-follow-up.ts'
import { PaymentQueue } from '../../actors/payments/payment-queue.ts'
import { Recalls } from '../../actors/payments/recalls.ts'
import { Reconciliations } from '../../actors/reconciliation/reconciliations.ts'
import { Breaks } from '../../actors/reconciliation/resolve-break.ts'
import { exceptionalPayment, Exceptions } from '../../actors/compliance/resolve-exception.ts'
import { Webhooks, type WebhooksOptions } from '../../actors/webhooks/event-relay.ts'
import { DocumentScans } from '../../actors/documents/document-scans.ts'
import { FileUpkeep } from '../../actors/documents/file-upkeep.ts'
import { Contracts } from '../../actors/exchange/contracts.ts'
import { FundsRequests } from '../../actors/funds-requests/funds-request-poller.ts'
import { exchangeExceptions } from '../../actors/exchange/fx-orders.ts'
import { exportJob } from '../../actors/transactions/export-job.ts'
import { Jobs } from '../../actors/jobs/jobs.ts'
import { statementJob } from '../../actors/statements/statement-job.ts'
import { JournalChain } from '../../actors/journal/journal-chain.ts'
import type { PayeeVerifier } from '../../actors/providers/bank.ts'
import { SandboxAccountBook } from '../../actors/sandbox/sandbox-account-book.ts'
import { SandboxBank } from '../../actors/sandbox/sandbox-bank.ts'
import { SandboxBookTransfers } from '../../actors/sandbox/sandbox-book-transfers.ts'
import { SandboxCredits } from '../../actors/sandbox/sandbox-credits.ts'
import { SandboxStatements } from '../../actors/sandbox/sandbox-statements.ts'
import { HorizonWatch } from '../../actors/runtime/horizon-watch.ts'
import { IdleBalances } from '../../actors/accounts/idle-balances.ts'
import { KeyExpiry } from '../../actors/identity/key-expiry.ts'
import { InProcessShards } from '../../actors/runtime/in-process-shards.ts'
import { ShardBell } from '../../actors/runtime/shard-bell.ts'
import { Poller } from '../../actors/runtime/poller.ts'
import { ActorSystem } from '../../actors/runtime/system.ts'
import { ScheduledPayments } from '../../actors/scheduled-payments/scheduled-payments.ts'
import { TransactionFollower } from '../../actors/transactions/transaction-follower.ts'
import { StatementCalendar } from '../../actors/statements/statement-calendar.ts'
import { heldTransfer, transferExceptions, TransferOrders } from '../../actors/transfers/transfer-orders.ts'
import { createEndpointOwners } from '../../actors/webhooks/endpoint-owners.ts'
import { createResolve } from '../../actors/webhooks/sender.ts'
import { HOUR_MS, systemClock, timestamp, type Clock } from '../../lib/base/clock.ts'
import { sandboxScreener } from '../../lib/sandbox/sandbox-screener.ts'
import type { Screener } from '../../lib/compliance/screening.ts'
import type { Config } from '../../lib/config/config.ts'
import { StartError } from '../../lib/base/errors.ts'
import { createIdSource } from '../../lib/base/ids.ts'
import type { Scanner } from '../../lib/documents/scan.ts'
import { sandboxScanner } from '../../lib/sandbox/scanner.ts'
import { createSecretBox } from '../../lib/security/secret-box.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { loadBankDirectory } from '../../storage/recipients/bank-directory-file.ts'
import { loadUkModulusTable } from '../../storage/recipients/uk-modulus-files.ts'
import { BalanceCache } from '../../storage/balances/balance-cache.ts'
import { Database, isAnswering, type SecondConnection } from '../../storage/db/database.ts'
import { statusesOf } from '../../storage/documents/documents.ts'
import { startEmbeddedPostgres } from '../../storage/embedded/embedded.ts'
import { createMailOutbox } from '../../storage/notices/mail-outbox.ts'
import { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { migrate } from '../../storage/schema/migrate.ts'
import { OrderNumbers } from '../../storage/payments/order-numbers.ts'
import { maintainPartitions, makePartitions, type PartitionReport } from '../../storage/db/partitions.ts'
import { createIntegrationReads } from '../../storage/integration/integration-queries.ts'
import { createReads } from './reads.ts'
import { createRateCounters } from '../../storage/redis/rate-counters.ts'
import { RedisShards } from '../../storage/redis/redis-shards.ts'
import { connectRedis } from '../../storage/redis/redis.ts'
import { writeRequests } from '../../storage/integration/request-log.ts'
import { createWorkerPool } from '../../workers/pool/pool.ts'
import { createAdmission, TOO_MANY } from '../access/admission.ts'
import { createBalanceCommands } from '../../actors/accounts/balance-operations.ts'
import { createAddMoney } from '../../actors/accounts/add-money.ts'
import { createApp } from './app.ts'
import { Arrivals } from '../access/arrivals.ts'
import { createAuthentication } from '../access/authentication.ts'
import { createApprovalCommands, createApprovalReads } from '../../actors/approvals/approval-operations.ts'
import { createPaymentCommands, type PaymentCommands } from '../../actors/payments/payment-operations.ts'
import { createTransferCommands } from '../../actors/transfers/transfer-operations.ts'
import { createAnswers, storedAnswer } from '../../actors/commands/answers.ts'
import { createComplianceCommands, createComplianceReads } from '../../actors/compliance/compliance-operations.ts'
import { createContractCommands, createContractReads } from '../../actors/exchange/contract-operations.ts'
import { createBulkReportReads } from '../../actors/bulk-payments/bulk-reports.ts'
import { createBulkService } from '../../actors/bulk-payments/bulk-service.ts'
import { createBulkSubmissions } from '../../actors/bulk-payments/bulk-submissions.ts'
import { createCustomerLife } from '../../actors/customers/customer-life.ts'
import { createSettingsCommands, createSettingsReads } from '../../actors/customers/customer-settings.ts'
import { deprecatedOperations, documentation } from './deprecation.ts'
import { createDocuments } from '../../actors/documents/document-operations.ts'
import { createDownloads } from '../../actors/documents/downloads.ts'
import { createExportCommands } from '../../actors/transactions/exports.ts'
import { FailedCredentials } from '../access/failed-credentials.ts'
import { createForwarding } from '../access/forwarding.ts'
import { createExchangeService, type ExchangeService } from '../../actors/exchange/exchange-operations.ts'
import { createIncomingCommands } from '../../actors/incoming-payments/incoming-payment-operations.ts'
import {
  createFundsRequestCommands,
  createFundsRequestReads,
} from '../../actors/funds-requests/funds-request-operations.ts'
import { createJobCommands, createJobReads } from '../../actors/jobs/job-operations.ts'
import { createRegistry, serveMetrics } from './metrics.ts'
import { createNotices } from '../../actors/notices/notice-operations.ts'
import { createOperatorService } from '../../actors/operators/operator-operations.ts'
import { createPaymentChanges } from '../../actors/payments/payment-changes.ts'
import { createPaymentOutcomeCommands, createPaymentOutcomeReads } from '../../actors/payments/payment-outcomes.ts'
import { problemBody } from '../../lib/base/problem-document.ts'
import { RateLimits } from '../access/rate-limits.ts'
import { RequestLog } from '../access/request-log.ts'
import type { Route } from '../route/route.ts'
import { routes } from './routes.ts'
import { createConfirmations } from '../../actors/payments/payment-confirmations.ts'
import { createPeople } from '../../actors/identity/people.ts'
import { createConnectionCalendars } from '../../actors/providers/connection-calendars.ts'
import { createPricing } from '../../actors/pricing/pricing-operations.ts'
import { createRecipientService } from '../../actors/recipients/recipient-service.ts'
import { keepSandbox, openSandbox, type Sandbox } from './sandbox.ts'
import {
  createScheduledPaymentCommands,
  createScheduledPaymentReads,
} from '../../actors/scheduled-payments/schedule-operations.ts'
import { createHttpServer } from './server.ts'
import { createStatementCommands, createStatementReads } from '../../actors/statements/statement-operations.ts'
import { createTransactions } from '../../actors/transactions/transaction-operations.ts'
import { BUILD } from './build.ts'
import { createTreasuryCommands, createTreasuryReads } from '../../actors/reconciliation/treasury-operations.ts'
import { createWebhookCommands, createWebhookReads } from '../../actors/webhooks/webhook-operations.ts'
import type { Services } from '../route/services.ts'
import type { IdempotencyRecord } from '../../lib/commands/command.ts'

/** Parts of the service that a test or a bench replaces. */
export interface Overrides {
  readonly clock?: Clock
  /** Replaces the machine's clock in the comparison with the database's clock. */
  readonly wallClock?: Clock
  readonly log?: Logger
  /** False keeps payments in the queue: nothing is submitted to the bank. */
  readonly dispatch?: boolean
  /** Extra routes that a test adds, for behaviour that no operation of the API can show. */
  readonly routes?: readonly Route[]
  /** Rate limits with other quotas; null for none, to measure what they cost. */
  readonly rateLimits?: RateLimits | null
  /** Replaces the bank's check whether a name belongs to an account. */
  readonly payees?: PayeeVerifier
  /** Replaces the sandbox's screening list. */
  readonly screener?: Screener
  /** Replaces the sandbox's scanner for harmful files. */
  readonly scanner?: Scanner
  /** True accepts each code of a second factor only once, as a service without a sandbox does. */
  readonly singleUseCodes?: boolean
  /** Replaces the name resolution of webhook receivers, and the random part of the delay of retries. */
  readonly webhooks?: Partial<Pick<WebhooksOptions, 'resolve' | 'chance'>>
  /** False switches the request log off, to measure what it costs. */
  readonly requestLog?: boolean
  /**
   * False accepts requests however late the event loop runs, because most tests must not depend on the machine's load.
   */
  readonly refuseWhenLate?: boolean
  /** Replaces the payment commands, over the same storage: a baseline of the bench. */
  readonly commands?: (database: Database, world: Pick<Services, 'ids' | 'clock' | 'problemBase'>) => PaymentCommands
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
   * Runs the pollers of payments, recalls, transfers, callbacks and the sandbox's bank once, as their timers do; resolves
   * when what was due is done. A test that proves that something is not done yet runs them before it looks.
   */
  pollOnce(): Promise<void>
  /** Finishes the accepted requests and work, then stops. Takes at most 10 s. */
  close(): Promise<void>
}

/** Time between two runs of the maintenance of partitions. */
const MAINTENANCE_MS = HOUR_MS
/**
 * Connections for snapshots, which read many rows as of one moment while their results are written through other
 * connections: two reports and a statement.
 */
const SNAPSHOTS_MAX = 3
/** Time that accepted requests get when the service stops; after it, their connections are closed. */
const DRAIN_MS = 7_000

/**
 * Starts a node.
 *
 * @throws StartError with one sentence for an operator.
 */
export async function createService(config: Config, overrides: Overrides = {}): Promise<Service> {
  const clock = overrides.clock ?? systemClock
  const log = overrides.log ?? pino({ level: config.logLevel, base: { service: 'vostro' }, redact: REDACTED })
  await using started = new AsyncDisposableStack()

  let databaseUrl = config.databaseUrl
  if (databaseUrl === null) {
    const embedded = await startEmbeddedPostgres({ dataDir: config.dataDir, log: (line) => log.info(line) })
    started.defer(() => embedded.stop())
    databaseUrl = embedded.url
  }
  await migrate(databaseUrl)
  // Locally, a transaction that takes a second connection fails; in staging and production it goes on, and is logged.
  const reported = (error: SecondConnection) => log.error({ err: error }, 'second connection')
  const database =
    config.appEnv === 'local' ? new Database(databaseUrl) : new Database(databaseUrl, undefined, reported)
  started.defer(() => database.close())
  const snapshots = new Database(databaseUrl, SNAPSHOTS_MAX)
  started.defer(() => snapshots.close())
  const clockWatch = new ClockWatch({
    database,
    clock: overrides.wallClock ?? systemClock,
    onError: (error, what) => log.warn({ err: error }, what),
    onDifference: (aheadMs) => log.error({ aheadMs }, 'the clock of this machine is far from that of the database'),
  })
  await clockWatch.check()
  clockWatch.start()
  started.defer(() => clockWatch.stop())
  const partitionReport: PartitionReport = {
    moved: (what) => log.warn(what, 'rows were dated ahead of all partitions and have been moved to their own'),
    failed: (error, table) => log.warn({ err: error, table }, 'the maintenance of partitions failed'),
  }
  // The start waits for new partitions, because rows written before their partition exists must be moved later.
  // Dropping old partitions can wait.
  await makePartitions(database, clock.now(), partitionReport)
  const maintenance = new Poller({
    everyMs: MAINTENANCE_MS,
    poll: () => maintainPartitions(database, clock.now(), partitionReport),
    onError: (error) => log.warn({ err: error }, 'the maintenance of partitions failed'),
  })
  maintenance.start()
  maintenance.nudge()
  started.defer(() => maintenance.stop())

  const table = overrides.routes === undefined ? routes : [...routes, ...overrides.routes]
  const requestLog =
    overrides.requestLog === false
      ? null
      : new RequestLog({
          write: (requests) => writeRequests(database, requests),
          flushMs: config.requestLogFlushMs,
          onError: (error, what) => log.warn({ err: error }, what),
        })
  // Closes the request log after the last answer and before the database.
  started.defer(async () => {
    await requestLog?.close()
  })
  const rateLimits = started.adopt(openRateLimits(config, overrides, { clock, log }), ({ stop }) => stop()).limits

  const ids = createIdSource(clock)
  const workers = started.use(createWorkerPool())
  const masterSecret = config.secretsKey ?? (await ownSecret(config.dataDir))
  const secrets = createSecretBox(masterSecret)
  const sandbox = config.sandbox
    ? await openSandbox({ config, database, clock, ids, secrets, hashPassword: workers.passwords.hash })
    : null
  const mailer = createMailOutbox({
    directory: join(config.dataDir, 'outbox'),
    clock,
    ids,
    // Links in mails are credentials, so mails are logged only when the service runs locally.
    ...(config.appEnv === 'local'
      ? { announce: ({ to, subject, text }) => log.info({ mail: { to, subject, text } }, 'mail') }
      : {}),
  })
  const { identity, people, members, memberCommands, ...identityLife } = createPeople({
    database,
    databaseUrl,
    clock,
    ids,
    log,
    secrets,
    sandbox: config.sandbox,
    singleUse: overrides.singleUseCodes ?? !config.sandbox,
    random: randomBytes,
    passwords: workers.passwords,
    mailer,
  })
  await identityLife.start()
  started.defer(() => identityLife.stop())
  const onError = (error: unknown, what: string) => log.warn({ err: error }, what)
  // Commits begin before webhooks and caches exist, so these two functions get their real bodies later.
  let nudge = (): void => undefined
  let forgetUncommitted = (): void => undefined
  const system = new ActorSystem({
    databaseUrl,
    lanes: config.commitLanes,
    clock,
    onBug: (error, what) => log.error({ err: error }, what),
    onCommitted: () => nudge(),
    onReconnected: () => forgetUncommitted(),
  })
  started.defer(() => system.close())

  // Identifies this process to the other nodes.
  const instance = randomUUID()
  const shards = openShards(config, { log, clock, databaseUrl, instance })
  const bank = new SandboxBank({ database, clock, shards, onError })
  const accounts = new InternalAccountCache(database, ids)
  const screener = overrides.screener ?? sandboxScreener
  const gate = new ComplianceGate({ screener, database, system })
  // A single node owns every shard (`owned()` is null), so it needs no bell.
  const bell =
    shards.owned() === null
      ? null
      : new ShardBell({
          url: databaseUrl,
          database,
          shards,
          channel: 'payment_waits',
          onRing: () => queue.look(),
          onError,
        })
  const queue: PaymentQueue = new PaymentQueue({
    system,
    database,
    accounts,
    bank,
    screener,
    ids,
    clock,
    shards,
    elsewhere: (shard) => bell?.ring(shard),
    onError,
  })
  const balances = new BalanceCache(database)
  const credits = new SandboxCredits({ database, clock, shards, onError })
  const incoming = new IncomingPayments({
    system,
    database,
    accounts,
    balances,
    partner: credits,
    screener,
    ids,
    clock,
    shards,
    onError,
  })
  started.defer(async () => {
    await credits.stop()
    await incoming.stop()
  })
  incoming.start()
  credits.start(incoming.inbox)
  const polled: Pick<Poller, 'runOnce'>[] = []
  if (overrides.dispatch !== false) {
    started.defer(async () => {
      await bell?.stop()
      await bank.stop()
      await queue.stop()
    })
    await queue.start()
    await bell?.start()
    bank.start(queue.inbox)
    const recalls = new Recalls({ database, system, bank, clock, ids, shards, onError })
    recalls.start()
    started.defer(() => recalls.stop())
    polled.push(queue, bank, recalls)
  }

  const owners = createEndpointOwners({ database, ids, clock, mailer, log })
  const resolve = overrides.webhooks?.resolve ?? createResolve(config.webhookTargets)
  const webhooks = new Webhooks({
    databaseUrl,
    ids,
    clock,
    shards,
    secrets,
    signBatch: workers.signBatch,
    policy: config.webhookTargets,
    sandbox: config.sandbox,
    onError,
    chance: overrides.webhooks?.chance ?? (() => randomBytes(4).readUInt32LE() / 2 ** 32),
    resolve,
    onStatus: (change) => owners.tellStatus(change),
  })
  await webhooks.start()
  polled.push(webhooks)
  nudge = () => webhooks.nudge()
  started.defer(async () => {
    await webhooks.stop()
    await owners.settled()
  })

  const validation = {
    ukModulus: await loadUkModulusTable(config.ukModulusDir),
    banks: await loadBankDirectory(config.bankDirectory),
    sandbox: config.sandbox,
  }
  const recipients = createRecipientService({
    database,
    databaseUrl,
    clock,
    ids,
    shards,
    mailer,
    ...validation,
    payees: overrides.payees ?? bank,
    problemBase: config.problemBase,
    onError,
  })
  await recipients.start()
  started.defer(() => recipients.stop())
  const orderNumbers = new OrderNumbers(database)
  const exchange: ExchangeService = createExchangeService({
    database,
    databaseUrl,
    system,
    accounts,
    balances,
    orderNumbers,
    ids,
    clock,
    shards,
    sandbox: config.sandbox,
    onError,
    hasFeature: (customerId, feature) => operators.reads.hasFeature(customerId, feature),
  })
  forgetUncommitted = () => {
    orderNumbers.forget()
    exchange.world.quotes.forgetAll()
  }
  await exchange.start()
  started.defer(() => exchange.stop())
  const operators = createOperatorService({
    database,
    databaseUrl,
    ids,
    clock,
    sandbox: config.sandbox,
    onError,
    onChange: () => {
      recipients.directory.forgetAll()
      exchange.forgetAll()
    },
  })
  await operators.start()
  started.defer(() => operators.stop())
  const followUp = new PaymentFollowUp({ database, ids, clock, mailer, onError })
  followUp.start()
  started.defer(() => followUp.stop())
  const transferOrders = new TransferOrders({
    database,
    accounts,
    partner: new SandboxBookTransfers({ database, clock }),
    gate,
    clock,
    ids,
    shards,
    onError,
  })
  if (overrides.dispatch !== false) {
    started.defer(() => transferOrders.stop())
    transferOrders.start()
    polled.push(transferOrders)
    exchange.dispatch({ queue })
  }
  const reconciliations = new Reconciliations({
    database,
    accounts,
    partner: new SandboxStatements({ database: snapshots, clock }),
    readStatement: workers.readStatement,
    inbox: queue.inbox,
    ids,
    clock,
    mailer,
    onError,
  })
  reconciliations.start()
  started.defer(() => reconciliations.stop())
  const treasury = createTreasuryReads({ database, clock })
  const journalChain = new JournalChain({ database, clock, log, onError })
  journalChain.start()
  started.defer(() => journalChain.stop())
  const horizonWatch = new HorizonWatch({
    database,
    clock,
    onError,
    onStanding: (what) =>
      log.error(
        what,
        'events are not followed beyond a transaction that has been open for long; end it, or pg_terminate_backend(pid)',
      ),
  })
  horizonWatch.start()
  started.defer(() => horizonWatch.stop())
  const closures = new Closures({ database, clock, ids, shards, onError })
  closures.start()
  started.defer(() => closures.stop())
  const idleBalances = new IdleBalances({ database, clock, ids, shards, onError })
  idleBalances.start()
  started.defer(() => idleBalances.stop())
  const keyExpiry = new KeyExpiry({ database, clock, ids, mailer, onError })
  keyExpiry.start()
  started.defer(() => keyExpiry.stop())
  const accountPartner = new SandboxAccountBook({ database, clock })
  const accountDetails = new AccountDetailsUpkeep({ database, partner: accountPartner, clock, ids, shards, onError })
  accountDetails.start()
  started.defer(() => accountDetails.stop())
  const fundsRequests = new FundsRequests({ database, clock, ids, shards, onError })
  fundsRequests.start()
  started.defer(() => fundsRequests.stop())
  const fileUpkeep = new FileUpkeep({ database, clock, onError })
  fileUpkeep.start()
  started.defer(() => fileUpkeep.stop())
  const transactionFollower = new TransactionFollower({
    database,
    clock,
    commands: () => system.commandsCommitted,
    onError,
  })
  transactionFollower.start()
  started.defer(() => transactionFollower.stop())
  const scans = new DocumentScans({ database, scanner: overrides.scanner ?? sandboxScanner, clock, shards, onError })
  scans.start()
  started.defer(() => scans.stop())
  const bulkPayments = new BulkPayments({ database, queue, sandbox: config.sandbox, clock, ids, shards, onError })
  bulkPayments.start()
  started.defer(() => bulkPayments.stop())
  const approvals = new Approvals({
    database,
    clock,
    ids,
    shards,
    mailer,
    onError,
    subjects: {
      payment: paymentSubject({ queue, sandbox: config.sandbox, exchanges: exchange.world }),
      recipient: recipients.subject,
      approval_policy_change: policySubject(),
      exchange: exchangeSubject({ ...exchange.world, sandbox: config.sandbox }),
      bulk_payment: bulkPaymentSubject({ nudge: () => bulkPayments.nudge() }),
    },
  })
  approvals.start()
  const contracts = new Contracts({ ...exchange.world, partner: exchange.partner, shards, mailer, onError })
  contracts.start()
  started.defer(() => contracts.stop())
  const due = new DuePayments({
    system,
    database,
    recipients: recipients.directory,
    queue,
    ids,
    clock,
    shards,
    sandbox: config.sandbox,
    onError,
  })
  due.start()
  polled.push(due)
  started.defer(() => due.stop())
  started.defer(() => approvals.stop())
  const approvalReads = createApprovalReads({ database })
  const holds = new ComplianceHolds({
    database,
    clock,
    ids,
    shards,
    onError,
    subjects: {
      payment: heldPayment({ queue }),
      incoming_payment: heldIncoming({ accounts }),
      transfer: heldTransfer({ accounts }),
    },
  })
  holds.start()
  started.defer(() => holds.stop())
  const exceptions = new Exceptions({
    database,
    clock,
    ids,
    subjects: {
      payment: exceptionalPayment({ accounts }),
      transfer: transferExceptions({ accounts }),
      exchange: exchangeExceptions({ accounts, sandbox: config.sandbox, queue }),
    },
  })
  const complianceReads = createComplianceReads({ database, clock })
  const customerLife = createCustomerLife({ database, ids, clock })
  const notices = createNotices({ database, ids, clock })
  const pricing = createPricing({ database, ids, clock })
  const connectionCalendars = createConnectionCalendars({ database, ids, clock })

  const reads = createReads({ database, clock, drainPerSecond: () => queue.rate })
  const findIdempotencyRecord = async (id: string): Promise<IdempotencyRecord | null> => {
    const record = await reads.findIdempotencyRecord(id)
    if (record === null) return null
    return { fingerprint: record.fingerprint, createdAt: record.createdAt, answer: storedAnswer(record) }
  }
  const shared = { ids, clock, problemBase: config.problemBase }
  const paying = {
    ids,
    clock,
    sandbox: config.sandbox,
    system,
    queue,
    balances,
    recipients: recipients.directory,
    payees: overrides.payees ?? bank,
    orderNumbers,
    conversions: createConversions(exchange.world),
    market: exchange.world.market,
    documents: { statuses: (customerId: string, ids: readonly string[]) => statusesOf(database.pool, customerId, ids) },
  }
  const schedules = new ScheduledPayments({ database, clock, ids, shards, mailer, flow: paying, onError })
  schedules.start()
  started.defer(() => schedules.stop())
  const downloads = createDownloads({
    database,
    clock,
    linkKey: secrets.derive('links of downloads', 32),
    origin: () => config.publicUrl ?? url,
  })
  const writing = { database, clock, ids, documents: workers.documents }
  const recipientCommands = recipients.commands(approvals, findIdempotencyRecord)
  const bulk = createBulkService({
    database,
    paying,
    validation,
    recipients: recipientCommands,
    problemBase: config.problemBase,
  })
  started.defer(() => bulk.close())
  const jobs = new Jobs({
    database,
    clock,
    ids,
    shards,
    mailer,
    kinds: { statement: statementJob(writing), transaction_export: exportJob(writing), ...bulk.jobs },
    onError,
  })
  jobs.start()
  started.defer(() => jobs.stop())
  const calendar = new StatementCalendar({ database, clock, ids, shards, onError })
  await calendar.start()
  started.defer(() => calendar.stop())
  const jobWorld = { ...shared, database, downloads, jobs, sandbox: config.sandbox, findIdempotencyRecord }
  const transactions = createTransactions({ database, clock, ids })
  const documents = createDocuments({ database, clock, ids, downloads, transactions: transactions.reads })
  const fundsRequestWorld = {
    ...shared,
    database,
    log,
    mailer,
    orderNumbers,
    findIdempotencyRecord,
    linkKey: secrets.derive('links of funds requests', 32),
    origin: () => config.publicUrl ?? url,
    hasFeature: operators.reads.hasFeature,
  }
  const outcomeWorld = {
    ...shared,
    database,
    bank,
    findIdempotencyRecord,
    environment: config.appEnv,
    hasOperation: (operationId: string) => table.some((route) => route.operationId === operationId),
  }
  const answers = createAnswers({ database, problemBase: config.problemBase, findIdempotencyRecord })
  /** True once the start of the service is over. */
  let begun = false
  const world: Services = {
    ...shared,
    sandbox: config.sandbox,
    cursorKey: cursorKey(masterSecret),
    log,
    isWorkspace: (customerId) => customerId === sandbox?.customer.id,
    limitSignIn: (email) => rateLimits?.admitLogin(email),
    health: () => ({ status: 'ok', version: BUILD.version, commit: BUILD.commit, time: timestamp(clock.now()) }),
    readiness: () => readiness(database, shards, begun),
    findApiKey: reads.findApiKey,
    findIdempotencyRecord,
    identity: { ...identity, ...people },
    members: { ...members, ...memberCommands },
    approvals: { ...approvalReads, ...createApprovalCommands({ database, approvals, ids, clock }, approvalReads) },
    accounts: {
      getAccountDetails: reads.getAccountDetails,
      addMoney: createAddMoney({ ...exchange.world, answers, findIdempotencyRecord }),
    },
    balances: {
      ...reads,
      ...createBalanceCommands({ database, clock, ids, orderNumbers, gate, accountPartner, queries: reads }),
    },
    bulkPayments: {
      ...bulk.reads,
      ...createBulkReportReads({ ...writing, snapshots, downloads }),
      ...bulk.commands({ ...jobWorld, orderNumbers }),
      ...createBulkSubmissions({ ...jobWorld, market: exchange.world.market }),
    },
    bankLookups: recipients.lookups,
    compliance: { ...complianceReads, ...createComplianceCommands({ holds, exceptions, reads: complianceReads }) },
    confirmations: createConfirmations({ database, clock, render: workers.renderConfirmation }),
    connectionCalendars: { ...connectionCalendars.reads, ...connectionCalendars.commands },
    contracts: {
      ...createContractReads(database),
      ...createContractCommands({ ...exchange.world, approvals }, answers),
    },
    customers: {
      ...createSettingsReads({ database, ids, clock }),
      ...createSettingsCommands({ database, ids, clock, forgetRecipientsOf: recipients.forgetOf }),
      ...customerLife.reads,
      ...customerLife.commands,
    },
    documents: { ...documents.reads, ...documents.commands },
    downloads,
    exchanges: {
      ...exchange.reads,
      ...exchange.commands(answers, { problemBase: config.problemBase, findIdempotencyRecord }),
    },
    exports: createExportCommands({
      ...jobWorld,
      documents: workers.documents,
      identity,
      cursorKey: cursorKey(masterSecret),
    }),
    fundsRequests: { ...createFundsRequestReads(fundsRequestWorld), ...createFundsRequestCommands(fundsRequestWorld) },
    incomingPayments: {
      ...reads,
      ...createIncomingCommands({ database, accounts, balances, ids, clock, bank: credits, findIdempotencyRecord }),
    },
    integration: createIntegrationReads({
      database,
      clock,
      deprecated: deprecatedOperations(table),
      links: () => integrationLinks(config.publicUrl ?? url, config.problemBase),
    }),
    jobs: { ...createJobReads(jobWorld), ...createJobCommands(jobWorld) },
    notices: { ...notices.reads, ...notices.commands },
    operators: { ...operators.reads, ...operators.commands },
    payments: {
      ...reads,
      ...createPaymentOutcomeReads(outcomeWorld),
      ...createPaymentOutcomeCommands(outcomeWorld),
      ...createPaymentChanges({ database, clock, ids }),
      ...(overrides.commands?.(database, shared) ??
        createPaymentCommands({ ...shared, ...paying, approvals, database }, answers)),
    },
    pricing: { ...pricing.reads, ...pricing.commands },
    recipients: { ...reads, ...recipientCommands },
    reconciliation: {
      ...treasury,
      ...createTreasuryCommands({
        database,
        clock,
        breaks: new Breaks({ database, accounts, clock, ids }),
        reconciliations,
        reads: treasury,
      }),
    },
    scheduledPayments: {
      ...createScheduledPaymentReads({ database }),
      ...createScheduledPaymentCommands({
        ...shared,
        database,
        orderNumbers,
        balances,
        recipients: recipients.directory,
        findIdempotencyRecord,
      }),
    },
    statements: { ...createStatementReads(jobWorld), ...createStatementCommands(jobWorld) },
    transactions: { ...transactions.reads, ...transactions.commands },
    transfers: { ...reads, ...createTransferCommands({ ...paying, balances, gate }, answers) },
    webhooks: {
      ...createWebhookReads({ database, clock }),
      ...createWebhookCommands({
        database,
        clock,
        ids,
        log,
        mailer,
        secrets,
        random: randomBytes,
        policy: config.webhookTargets,
        resolve,
        webhooks,
        owners,
        findIdempotencyRecord,
      }),
    },
  }
  const forwarding =
    config.nodeSecret === null
      ? null
      : createForwarding({ shards, nodeSecret: config.nodeSecret, instance, clock, log })
  started.defer(async () => {
    await forwarding?.close()
  })
  const arrivals = new Arrivals()
  const admission = createAdmission({
    refusal: (path) => overloaded(world, path),
    linger: (request) => arrivals.linger(request),
    refuseWhenLate: overrides.refuseWhenLate ?? true,
  })
  started.defer(() => admission.close())
  const authentication = createAuthentication(world, new FailedCredentials(rateLimits))
  const app = createApp(table, world, {
    forwarding,
    rateLimits,
    requestLog,
    security: config,
    trustedProxies: config.trustedProxies,
    admission,
    arrivals,
    authentication,
  })
  const server = createHttpServer(admission.guard(app.callback(), authentication.partyOf), world)
  const url = await listen(server, config)
  started.defer(() => drain(server))
  // Shards start last and stop first: a node takes shards when it can work, and gives them up before it stops working.
  await shards.start()
  started.defer(() => shards.stop())
  if (config.metricsPort !== null) {
    started.use(
      await serveMetrics(
        createRegistry({
          system,
          queue,
          shards,
          admission,
          arrivals,
          webhooks,
          journalChain,
          reconciliations,
          transactions: transactionFollower,
          clockWatch,
          horizonWatch,
        }),
        { host: config.host, port: config.metricsPort },
      ),
    )
  }
  if (sandbox !== null) await keepSandbox(config, url, sandbox)
  begun = true

  const running = started.move()
  const close = () => running.disposeAsync()
  const pollOnce = async () => {
    await Promise.all(polled.map((poller) => poller.runOnce()))
  }
  return { url, databaseUrl, sandbox, system, queue, shards, pollOnce, close, [Symbol.asyncDispose]: close }
}

/** Paths of credentials, which are removed from every log line. */
const REDACTED = [
  '*.authorization',
  '*.password',
  '*.secret',
  '*.apiKey',
  '*.token',
  '*.cookie',
  'req.headers.authorization',
  'req.headers.cookie',
  'req.headers["x-csrf-token"]',
]

/**
 * Reports whether the node is ready: the start is over and the sandbox is stored, the database answers, and the shards
 * of this node are known.
 */
async function readiness(database: Database, shards: Shards, begun: boolean): ReturnType<Services['readiness']> {
  const from = performance.now()
  const postgres = await isAnswering(database)
  const latencyMs = Math.round(performance.now() - from)
  const { nodeId, held, total, nodes } = shards.state()
  const checks = [
    { name: 'postgres', ok: postgres, latencyMs },
    { name: 'shards', ok: nodes > 0, latencyMs: 0, nodeId, held, total, nodes },
    { name: 'start', ok: begun, latencyMs: 0 },
  ]
  return { status: checks.every(({ ok }) => ok) ? 'ready' : 'not_ready', checks }
}

/**
 * Opens the shards: a single node has all of them; several nodes lease them from Redis, unless leases are switched off.
 */
function openShards(
  { redisUrl, nodeUrl, nodeId, nodeSecret, leases }: Config,
  {
    log,
    clock,
    databaseUrl,
    instance,
  }: { readonly log: Logger; readonly clock: Clock; readonly databaseUrl: string; readonly instance: string },
): Shards {
  const id = nodeId ?? randomUUID()
  if (redisUrl === null || nodeUrl === null || nodeSecret === null || leases === 'off') return new InProcessShards(id)
  return new RedisShards({
    redisUrl,
    nodeUrl,
    nodeId: id,
    nodeSecret,
    instance,
    clock,
    namespace: new URL(databaseUrl).pathname.slice(1),
    log,
  })
}

/** Opens the rate limits of this node; with Redis, the counts are shared with the other nodes. */
function openRateLimits(
  config: Config,
  overrides: Overrides,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): { readonly limits: RateLimits | null; readonly stop: () => void } {
  if (overrides.rateLimits !== undefined) return { limits: overrides.rateLimits, stop: () => undefined }
  if (config.rateLimits === 'off') return { limits: null, stop: () => undefined }
  const redis = config.redisUrl === null ? null : connectRedis(config.redisUrl, 'commands')
  // Each failing command reports its own error, so the connection's errors need no log line.
  redis?.on('error', () => undefined)
  const limits = new RateLimits({
    clock,
    counters: redis === null ? null : createRateCounters(redis),
    onError: (error, what) => log.warn({ err: error }, what),
  })
  return {
    limits,
    stop: () => {
      limits[Symbol.dispose]()
      redis?.disconnect()
    },
  }
}

/** Returns the links of the documentation for an operator's developers. */
function integrationLinks(baseUrl: string, problemBase: string) {
  return {
    portal: documentation('', problemBase),
    reference: `${baseUrl}/docs`,
    gettingStarted: documentation('getting-started', problemBase),
    sandbox: documentation('sandbox', problemBase),
    changelog: documentation('changelog', problemBase),
    openapi: `${baseUrl}/v1/openapi.json`,
  }
}

/** Builds the body of the 503 with which admission refuses a request. */
function overloaded(
  { ids, problemBase }: Services,
  path: string,
): { readonly body: string; readonly requestId: string } {
  const requestId = ids.next()
  const instance = path.split('?', 1)[0] as string
  return {
    requestId,
    body: problemBody(
      { slug: 'service-unavailable', detail: TOO_MANY, retryAfterSeconds: 1 },
      { problemBase, instance, requestId },
    ),
  }
}

/** Derives the key that seals cursors from the master secret: the setting `SECRETS_KEY`, or the secret in DATA_DIR. */
function cursorKey(masterSecret: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', masterSecret, '', 'vostro cursors', 32))
}

/** Reads the master secret in DATA_DIR, and creates it at the first start. Used where `SECRETS_KEY` is not set. */
async function ownSecret(dataDir: string): Promise<string> {
  const path = join(dataDir, 'secrets.key')
  await mkdir(dataDir, { recursive: true })
  // `wx` creates the file only once: when two nodes start at the same time, one writes the secret and both read it.
  await writeFile(path, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST')
        throw new StartError(
          `DATA_DIR ${dataDir} cannot be written (${error.code}); make it writable or set another DATA_DIR.`,
          { cause: error },
        )
    },
  )
  return await readFile(path, 'utf8')
}

async function listen(server: Server, { host, port }: Config): Promise<string> {
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new StartError(`Port ${port} on ${host} is in use; stop what listens there or set another PORT.`, {
        cause: error,
      })
    if (code === 'EACCES')
      throw new StartError(`Port ${port} may not be opened by this user; set a PORT above 1023.`, { cause: error })
    throw new StartError(`Cannot listen on ${host}:${port} (${code}); correct HOST and PORT.`, { cause: error })
  }
  const address = server.address() as AddressInfo
  // A server that listens on every address is reached on the loopback address.
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${address.port}`
}

/** Stops accepting requests, and waits until those under way are answered, `DRAIN_MS` at most. */
async function drain(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
  // Closes the keep-alive connections that become idle during the drain.
  const sweep = setInterval(() => server.closeIdleConnections(), 100)
  await closed
  clearTimeout(cut)
  clearInterval(sweep)
}
