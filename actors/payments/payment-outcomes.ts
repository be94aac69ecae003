/**
 * The events of payments after they were sent: recalls, each in one transaction with its event, history and trail
 * entry; and simulated outcomes of a sandbox, through its bank.
 */
import type { Payment } from '../../lib/payments/payment-schema.ts'
import type { BankSimulation } from '../sandbox/sandbox-bank.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { moneyJson } from '../../lib/base/money.ts'
import { paymentJson, type PaymentRecord } from '../../lib/payments/payment.ts'
import { moveRecall, newRecall, recallObstacle } from '../../lib/payments/recall.ts'
import type { Rail } from '../../lib/rails/rails.ts'
import { ProblemError, refuse, refuseField } from '../../lib/base/problems.ts'
import { sandboxRules, SIMULATIONS } from '../../lib/sandbox/catalogue.ts'
import {
  simulableStatuses,
  simulatedRecall,
  simulatedReturn,
  simulatedStatus,
  type SimulatedEvent,
} from '../../lib/sandbox/payment-simulations.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import type { Database } from '../../storage/db/database.ts'
import { writeAudit } from '../../storage/trail/trail.ts'
import { listPaymentUpdates } from '../../storage/payments/payment-update-queries.ts'
import { findPayment } from '../../storage/payments/payment-queries.ts'
import { findConnection, type ConnectionRow } from '../../storage/sandbox/sandbox-connection.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { loadPayments } from '../../storage/payments/payment-states.ts'
import { through, type Queries } from '../../storage/db/transaction.ts'
import { auditCaller } from '../commands/trail.ts'
import type { ByCaller } from '../../lib/identity/caller.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import { decideOnce } from '../commands/run-once.ts'
import type {
  PaymentRecallRequest,
  PaymentStatusUpdate,
  paymentStatusUpdateList,
} from '../../lib/payments/payment-outcome-schema.ts'
import type {
  SimPaymentRecall,
  SimPaymentReturn,
  SimPaymentStatus,
} from '../../lib/sandbox/payment-simulation-schema.ts'
import type { SimulationCatalogue } from '../../lib/contract/simulation.ts'
import {
  simulationIn,
  type SimulationForm,
  type SimulationIn,
  type SimulationResult,
} from '../../lib/contract/simulation.ts'
import type { Command, CommandAnswer, IdempotencyRecord } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

export interface PaymentOutcomeDeps {
  readonly database: Database
  readonly clock: { now(): number }
  readonly ids: IdSource
  readonly problemBase: string
  readonly environment: string
  /** Checks whether this version of the API has an operation. */
  readonly hasOperation: (operationId: string) => boolean
  /** Plans a message of the sandbox bank. Returns its id; null without a sandbox, or when the bank lacks the order. */
  readonly bank: { simulate(queries: Queries, reference: string, simulation: BankSimulation): Promise<string | null> }
  readonly findIdempotencyRecord: (id: string) => Promise<IdempotencyRecord | null>
}

export interface PaymentOutcomeReads {
  /** Null: no such payment in this tenant. */
  updates(
    query: ListQuery<typeof paymentStatusUpdateList> & { readonly paymentId: string },
  ): Promise<ListResult<PaymentStatusUpdate> | null>
  /** The simulations that a customer can request, and the automatic behaviour of the sandbox. */
  simulations(tenant: Tenant): Promise<SimulationCatalogue>
}

type Asked<Body> = Pick<Command<Body>, 'body' | 'idempotency' | 'requestId' | 'instance'>

/** The commands. Every refusal is thrown as a problem, except the outcomes recorded under an idempotency key. */
export interface PaymentOutcomeCommands {
  requestRecall(
    by: ByCaller,
    paymentId: string,
    command: Asked<PaymentRecallRequest>,
  ): Promise<CommandAnswer<Payment, 202>>
  simulateStatus<Form extends SimulationForm>(
    by: ByCaller,
    paymentId: string,
    command: Asked<SimPaymentStatus>,
    form: Form,
  ): Promise<CommandAnswer<SimulationIn<Form>, 202>>
  simulateReturn(
    by: ByCaller,
    paymentId: string,
    command: Asked<SimPaymentReturn>,
  ): Promise<CommandAnswer<SimulationResult, 202>>
  simulateRecall(
    by: ByCaller,
    paymentId: string,
    command: Asked<SimPaymentRecall>,
  ): Promise<CommandAnswer<SimulationResult, 202>>
}

/** Creates the reads. */
export function createPaymentOutcomeReads({
  database,
  environment,
  hasOperation,
}: Pick<PaymentOutcomeDeps, 'database' | 'environment' | 'hasOperation'>): PaymentOutcomeReads {
  const db = readDatabase(database)
  return {
    updates: async (query) => await listPaymentUpdates(database, db, query),
    async simulations(tenant) {
      const connection = await findConnection(database, { customerId: tenant.id })
      return {
        environment,
        connection:
          connection === null
            ? null
            : { id: connection.id, provider: connection.provider, environment: connection.environment },
        data: SIMULATIONS.map(({ operationId, kind, providers, rules, ...entry }) => ({
          ...entry,
          kind: kind as SimulationCatalogue['data'][number]['kind'],
          method: 'POST' as const,
          providers: [...providers],
          rules: [...rules],
          available: hasOperation(operationId),
        })),
        rules: sandboxRules().map(({ topic, rule }) => ({ topic, rule })),
      }
    },
  }
}

/** Creates the writes. */
export function createPaymentOutcomeCommands(world: PaymentOutcomeDeps): PaymentOutcomeCommands {
  const { database, clock, ids, bank } = world

  async function payment(rows: Queries, { tenant }: ByCaller, id: string): Promise<PaymentRecord> {
    const found = await findPayment(rows, id)
    return found === null || found.customerId !== tenant.id
      ? refuse('not-found', 'No such resource exists in this tenant.')
      : found
  }

  /** Tells the bank which message to send; the answer names that message. */
  async function simulate<Form extends SimulationForm>(
    by: ByCaller,
    paymentId: string,
    command: Asked<unknown>,
    form: Form,
    kind: 'payment_status' | 'payment_return' | 'payment_recall',
    plan: (found: PaymentRecord) => {
      readonly event: SimulatedEvent | null
      readonly delaySeconds?: number | undefined
      readonly details: object
    },
  ): Promise<CommandAnswer<SimulationIn<Form>, 202>> {
    const found = await payment(database, by, paymentId)
    return await decideOnce(world, command, 202, async (client) => {
      const queries = through(client)
      const { event, delaySeconds = 0, details } = plan(found)
      const connection = await findConnection(queries, { connectionId: found.connectionId })
      if (event === null || connection?.provider !== 'sandbox') throw notPossible(found, connection)
      const messageId = await bank.simulate(queries, found.id, { ...event, delayMs: delaySeconds * 1_000 })
      if (messageId === null) throw notPossible(found, connection)
      const simulationId = ids.next()
      const result: SimulationResult = {
        simulationId,
        kind,
        status: 'queued',
        provider: 'sandbox',
        providerEventIds: [messageId],
        providerReference: found.id,
        details,
      }
      const view = simulationIn(form, result, found.id)
      return { shown: { version: 1, view } }
    })
  }

  return {
    async requestRecall(by, paymentId, command) {
      await payment(database, by, paymentId)
      return await decideOnce(world, command, 202, async (client) => {
        const state =
          (
            await loadPayments(
              {
                query: async (statement) =>
                  (await client.query({ ...statement, rowMode: 'array' })) as unknown as { rows: unknown[][] },
              },
              [paymentId],
              true,
            )
          ).get(paymentId) ?? null
        const found = await payment(through(client), by, paymentId)
        const now = clock.now()
        const obstacle = recallObstacle(found, now)
        if (obstacle !== null) throw new ProblemError(obstacle)
        const recall = newRecall(found.rail as Rail, command.body.reasonCode, command.body.note, now)
        const { effects } = moveRecall(state, { kind: 'request_recall', recall, context: { ids } }, now)
        if (effects === null)
          throw new Error(`The payment ${paymentId} cannot be recalled, though nothing stands in its way.`)
        await writeEffects({ client, now }, effects)
        await writeAudit(client, {
          ...auditCaller(by),
          id: ids.next(),
          tenantId: by.tenant.id,
          at: now,
          action: 'payment.recall_requested',
          object: { type: 'payment', id: paymentId },
          before: null,
          after: { reasonCode: recall.reasonCode, note: recall.note },
        })
        const changed = await payment(through(client), by, paymentId)
        return { shown: { version: changed.version, view: paymentJson(changed, null) } }
      })
    },

    simulateStatus: (by, paymentId, command, form) =>
      simulate(by, paymentId, command, form, 'payment_status', (found) => {
        const { status, reasonCode, delaySeconds } = command.body
        if (reasonCode != null && status !== 'failed')
          refuseField('/reasonCode', 'not_applicable', 'Only a failure has a reason.')
        return {
          event: simulatedStatus(found, status, reasonCode ?? undefined),
          delaySeconds,
          details: { status, providerReference: found.id },
        }
      }),

    simulateReturn: (by, paymentId, command) =>
      simulate(by, paymentId, command, 'result', 'payment_return', (found) => {
        const { amount, reasonCode, note, delaySeconds } = command.body
        const returned = amountOf(found, amount)
        const event = simulatedReturn(found, returned, reasonCode)
        return {
          event,
          delaySeconds,
          details: {
            amount: moneyJson({ amountMinor: returned, currency: found.currency as never }),
            reasonCode: event?.schemeCode,
            note: note ?? null,
          },
        }
      }),

    simulateRecall: (by, paymentId, command) =>
      simulate(by, paymentId, command, 'result', 'payment_recall', (found) => {
        const { outcome, reasonCode = 'TECH', rejectionCode, amount } = command.body
        if (outcome === 'rejected' && amount != null) refuseField('/amount', 'not_applicable', 'Nothing comes back.')
        if (outcome === 'accepted' && rejectionCode !== undefined)
          refuseField('/rejectionCode', 'not_applicable', 'Only a rejection has a reason.')
        const event = simulatedRecall(found, outcome, amountOf(found, amount), rejectionCode)
        return { event, details: { outcome, reasonCode, response: event?.schemeCode } }
      }),
  }
}

function notPossible(found: PaymentRecord, connection: ConnectionRow | null): ProblemError {
  const allowed = simulableStatuses(found)
  return new ProblemError({
    slug: 'simulation-not-possible',
    detail:
      connection?.provider !== 'sandbox'
        ? 'The payment does not travel by the sandbox bank.'
        : found.sentAt === null
          ? 'The sandbox bank does not have the payment.'
          : `The bank cannot say that of a payment that is ${found.status}${allowed.length === 0 ? '' : `; it can be made ${allowed.join(', ')}`}.`,
    extra: { currentStatus: found.status, connectionProvider: connection?.provider ?? null },
  })
}

/** The returned amount: the whole payment, or the requested part. */
function amountOf(
  found: PaymentRecord,
  amount: { readonly amountMinor: string; readonly currency: string } | null | undefined,
): bigint {
  if (amount == null) return found.amount
  if (amount.currency !== found.currency)
    refuseField('/amount/currency', 'currency_mismatch', `The payment is in ${found.currency}.`)
  const minor = BigInt(amount.amountMinor)
  return minor <= found.amount
    ? minor
    : refuseField('/amount/amountMinor', 'too_large', 'No more comes back than was sent.', {
        max: String(found.amount),
      })
}
