/**
 * Nodes without a port: everything that works on schedules, funds requests and files of payments, composed as the
 * service composes it, over one database and one clock that stands until it is moved. Pollers do not run by themselves:
 * a node looks for what is due when it is told to, so a history decides when, and how many look at once. Tasks are run
 * by any of the nodes. They hold no leases and know nothing of each other.
 */
import { createWakes } from '../support/wakes.ts'
import { randomBytes, randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { Approvals, type ApprovalsOptions } from '../../actors/approvals/approvals.ts'
import { BulkPayments } from '../../actors/bulk-payments/bulk-payment-pollers.ts'
import { bulkPaymentSubject } from '../../actors/bulk-payments/approve-bulk-payment.ts'
import { DuePayments } from '../../actors/payments/due-payments.ts'
import { IncomingPayments } from '../../actors/incoming-payments/incoming-payments.ts'
import { PaymentQueue } from '../../actors/payments/payment-queue.ts'
import type { PayDeps } from '../../actors/payments/submit-payment.ts'
import { FundsRequests } from '../../actors/funds-requests/funds-request-poller.ts'
import { Jobs } from '../../actors/jobs/jobs.ts'
import type { CreditMessage } from '../../actors/providers/credits.ts'
import { SandboxBank } from '../../actors/sandbox/sandbox-bank.ts'
import { InProcessShards } from '../../actors/runtime/in-process-shards.ts'
import { ActorSystem } from '../../actors/runtime/system.ts'
import { Tasks } from '../../actors/runtime/tasks.ts'
import { ScheduledPayments } from '../../actors/scheduled-payments/scheduled-payments.ts'
import { createBulkJobs } from '../../actors/bulk-payments/bulk-jobs.ts'
import { createIdempotencyRecords } from '../../actors/commands/answers.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { createRecipientService } from '../../actors/recipients/recipient-service.ts'
import type { Command, Idempotency } from '../../lib/commands/command.ts'
import { sandboxScreener } from '../../lib/sandbox/sandbox-screener.ts'
import type { Clock, ManualClock } from '../../lib/base/clock.ts'
import { OperatingError } from '../../lib/base/errors.ts'
import { createSecretBox } from '../../lib/security/secret-box.ts'
import { BankDirectory } from '../../lib/recipients/bank-directory.ts'
import { BalanceCache } from '../../storage/balances/balance-cache.ts'
import { Database } from '../../storage/db/database.ts'
import { PgListener } from '../../storage/db/pg-listener.ts'
import { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { OrderNumbers } from '../../storage/payments/order-numbers.ts'
import { loadUkModulusTable } from '../../storage/recipients/uk-modulus-files.ts'
import { ids, newKey } from '../support/commands.ts'
import type { Ledger } from '../support/ledger.ts'
import type { Random } from '../support/random.ts'
import { Tally } from './history.ts'

export const PROBLEM_BASE = 'https://example.com/problems'
/** Connections of a node besides its lane's. */
const CONNECTIONS = 6

export type Node = Awaited<ReturnType<typeof openNode>>

/**
 * Opens nodes over a ledger; they are gone when the test ends. What they log that the world is not to blame for is a
 * bug.
 */
export async function openNodes(
  t: Test,
  ledger: Ledger,
  count: number,
): Promise<{ readonly nodes: readonly Node[]; readonly bugs: string[] }> {
  const bugs: string[] = []
  const nodes = await Promise.all(Array.from({ length: count }, () => openNode(ledger, bugs)))
  t.teardown(async () => {
    await Promise.all(nodes.map((node) => node.close()))
  })
  return { nodes, bugs }
}

async function openNode(ledger: Ledger, bugs: string[]) {
  const { url: databaseUrl, clock } = ledger
  const database = new Database(databaseUrl, CONNECTIONS)
  const shards = new InProcessShards(randomUUID())
  const onError = (error: unknown, what: string): void => {
    if (!(error instanceof OperatingError)) bugs.push(`${what}: ${(error as Error).stack}`)
  }
  const wakes = createWakes({ clock, shards })
  const shared = { database, clock, ids, shards, wakes, onError }
  const system = new ActorSystem({ databaseUrl, lanes: 1, clock, onBug: onError })
  const accounts = new InternalAccountCache(database, ids)
  const bank = new SandboxBank(shared)
  // Never started: payments wait until a history says what the bank makes of them.
  const queue = new PaymentQueue({ ...shared, system, accounts, bank, screener: sandboxScreener })
  const validation = { ukModulus: await loadUkModulusTable(null), banks: new BankDirectory([]) }
  const bulkPayments = new BulkPayments({ ...shared, queue, sandbox: true })
  // No history has payments that wait for people one by one.
  const subjects: ApprovalsOptions['subjects'] = {
    bulk_payment: bulkPaymentSubject({ nudge: () => bulkPayments.nudge() }),
  }
  const approvals = new Approvals({ ...shared, subjects })
  const findIdempotencyRecord = createIdempotencyRecords({ database, clock })
  const listener = new PgListener({ url: databaseUrl, onError })
  const recipients = createRecipientService(
    { ...shared, listener, sandbox: true, problemBase: PROBLEM_BASE, findIdempotencyRecord },
    {
      validation,
      payees: bank,
      approvals: { approvals, addSubjects: (added) => Object.assign(subjects, added) },
      operators: { onChange: () => undefined },
    },
  )
  const orderNumbers = new OrderNumbers(database)
  const paying: PayDeps = {
    ids,
    clock,
    sandbox: true,
    system,
    queue,
    recipients: recipients.directory,
    balances: new BalanceCache(database),
    payees: bank,
    orderNumbers,
  }
  const bulk = createBulkJobs({
    database,
    paying,
    validation: { ...validation, sandbox: true },
    recipients: recipients.commands,
    problemBase: PROBLEM_BASE,
    debits: {
      ...shared,
      system,
      accounts,
      orderNumbers,
      random: randomBytes,
      managementOf: () => 'client',
      isOrdered: () => false,
    },
  })
  const jobs = new Jobs({ ...shared, kinds: bulk.kinds })
  const tasks = new Tasks({ ...shared, databaseUrl, listener, tasks: [...jobs.tasks(), ...recipients.tasks] })
  const parts = {
    /** The dependencies with which commands are made. */
    world: {
      ...shared,
      problemBase: PROBLEM_BASE,
      orderNumbers,
      secrets: createSecretBox('the secret of the histories'),
      recipients: recipients.directory,
      balances: paying.balances,
      findIdempotencyRecord,
    },
    system,
    approvals,
    bulkPayments,
    recipientCommands: recipients.commands,
    due: new DuePayments({ ...shared, system, recipients: recipients.directory, queue, sandbox: true }),
    schedules: new ScheduledPayments({ ...shared, flow: paying, problemBase: PROBLEM_BASE }),
    fundsRequests: new FundsRequests(shared),
    incoming: new IncomingPayments({
      ...shared,
      system,
      accounts,
      balances: new BalanceCache(database),
      partner: { giveBack: async () => [] },
      screener: sandboxScreener,
    }),
    jobs,
    tasks,
  }
  await listener.start()
  await tasks.start()
  return {
    ...parts,
    async close(): Promise<void> {
      await Promise.all([
        tasks.stop(),
        parts.schedules.stop(),
        parts.due.stop(),
        parts.fundsRequests.stop(),
        approvals.stop(),
        bulkPayments.stop(),
      ])
      await Promise.all([bulk.close(), system.close()])
      await listener.stop()
      await database.close()
    },
  }
}

/** The customer of a ledger, calling with its key. */
function caller({ customerId, apiKeyId }: Pick<Ledger, 'customerId' | 'apiKeyId'>): Caller {
  return {
    tenant: { id: customerId, kind: 'customer' },
    session: null,
    source: null,
    requestId: ids.next(),
    principal: {
      kind: 'key',
      id: apiKeyId,
      name: 'Key',
      scopes: new Set(),
      capabilities: new Set(),
      createdVia: 'api_key',
    },
  }
}

/** A key nobody has used, as a request brings it. */
export const freshKey = (): Idempotency => ({
  ...newKey(),
  problemRequest: { problemBase: PROBLEM_BASE, instance: '/v1/', requestId: ids.next() },
})

/** A command of the customer under a new key, with time until it is decided. */
export function command<Body>(by: Caller, path: string, body: Body, clock: Clock): Command<Body> {
  const { tenant, principal, requestId } = by
  return {
    tenantId: tenant.id,
    principal,
    body,
    idempotency: freshKey(),
    requestId,
    instance: path,
    deadline: clock.now() + 15_000,
  }
}

/** Money that comes in; minor units of euros. */
export interface Money {
  readonly balanceId: string
  readonly amount: number
  readonly remittance: string | null
}

/** The bank's message that it has come. */
export function credited(
  { connectionId, shard }: Pick<Ledger, 'connectionId' | 'shard'>,
  { balanceId, amount, remittance }: Money,
): CreditMessage {
  const reference = ids.next()
  return {
    id: ids.next(),
    shard,
    reference,
    type: 'account.credited',
    connectionId,
    account: balanceId,
    credit: {
      reference,
      amount: BigInt(amount),
      currency: 'EUR',
      payerName: 'A payer',
      payerIdentifier: null,
      payerBankName: null,
      payerCountry: null,
      remittance,
      rail: 'sepa',
      endToEndId: null,
      uetr: null,
      valueDate: '2026-05-04',
    },
  }
}

/** A client that sends random commands of one ledger's customer to several nodes, whose common clock is set by hand. */
export abstract class Client<Hearer> {
  readonly tally = new Tally()
  protected readonly ledger: Ledger
  protected readonly clock: ManualClock
  protected readonly random: Random
  protected readonly nodes: readonly Hearer[]
  protected readonly by: Caller

  constructor(ledger: Ledger, clock: ManualClock, random: Random, nodes: readonly Hearer[]) {
    this.ledger = ledger
    this.clock = clock
    this.random = random
    this.nodes = nodes
    this.by = caller(ledger)
  }

  /** Says one thing. */
  abstract next(): Promise<void>
}
