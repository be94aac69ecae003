/** Simulated outcomes of payments: the sandbox bank is told which message it sends. */
import { moneyJson } from '../../lib/base/money.ts'
import type { PaymentRecord } from '../../lib/payments/payment.ts'
import { ProblemError, refuseField } from '../../lib/base/problems.ts'
import {
  simulableStatuses,
  simulatedRecall,
  simulatedReturn,
  simulatedStatus,
  type SimulatedEvent,
} from '../../lib/sandbox/payment-simulations.ts'
import { findConnection, type ConnectionRow } from '../../storage/sandbox/sandbox-connection.ts'
import { through } from '../../storage/db/transaction.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { decideOnce } from '../commands/run-once.ts'
import type {
  SimPaymentRecall,
  SimPaymentReturn,
  SimPaymentStatus,
} from '../../lib/sandbox/payment-simulation-schema.ts'
import {
  simulationIn,
  type SimulationForm,
  type SimulationIn,
  type SimulationResult,
} from '../../lib/contract/simulation.ts'
import type { CommandAnswer } from '../../lib/commands/command.ts'
import { paymentOf, type Asked, type PaymentOutcomeDeps } from './request-recall.ts'

/**
 * Simulates that the bank reports a status of a payment.
 *
 * @throws ProblemError `not-found`, `validation-error`, `simulation-not-possible`, and what `decideOnce` throws
 */
export async function simulateStatus<Form extends SimulationForm>(
  deps: PaymentOutcomeDeps,
  by: Caller,
  paymentId: string,
  command: Asked<SimPaymentStatus>,
  form: Form,
): Promise<CommandAnswer<SimulationIn<Form>, 202>> {
  return await simulate(deps, by, paymentId, command, form, 'payment_status', (found) => {
    const { status, reasonCode, delaySeconds } = command.body
    if (reasonCode != null && status !== 'failed')
      refuseField('/reasonCode', 'not_applicable', 'Only a failure has a reason.')
    return {
      event: simulatedStatus(found, status, reasonCode ?? undefined),
      delaySeconds,
      details: { status, providerReference: found.id },
    }
  })
}

/**
 * Simulates that the bank returns a payment, or a part of it.
 *
 * @throws ProblemError `not-found`, `validation-error`, `simulation-not-possible`, and what `decideOnce` throws
 */
export async function simulateReturn(
  deps: PaymentOutcomeDeps,
  by: Caller,
  paymentId: string,
  command: Asked<SimPaymentReturn>,
): Promise<CommandAnswer<SimulationResult, 202>> {
  return await simulate(deps, by, paymentId, command, 'result', 'payment_return', (found) => {
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
  })
}

/**
 * Simulates the bank's answer to a recall of a payment.
 *
 * @throws ProblemError `not-found`, `validation-error`, `simulation-not-possible`, and what `decideOnce` throws
 */
export async function simulateRecallAnswer(
  deps: PaymentOutcomeDeps,
  by: Caller,
  paymentId: string,
  command: Asked<SimPaymentRecall>,
): Promise<CommandAnswer<SimulationResult, 202>> {
  return await simulate(deps, by, paymentId, command, 'result', 'payment_recall', (found) => {
    const { outcome, reasonCode = 'TECH', rejectionCode, amount } = command.body
    if (outcome === 'rejected' && amount != null)
      refuseField('/amount', 'not_applicable', 'The returned amount is zero.')
    if (outcome === 'accepted' && rejectionCode !== undefined)
      refuseField('/rejectionCode', 'not_applicable', 'Only a rejection has a reason.')
    const event = simulatedRecall(found, outcome, amountOf(found, amount), rejectionCode)
    return { event, details: { outcome, reasonCode, response: event?.schemeCode } }
  })
}

/** Tells the bank which message to send; the answer names that message. */
async function simulate<Form extends SimulationForm>(
  deps: PaymentOutcomeDeps,
  by: Caller,
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
  const { database, bank, ids } = deps
  const found = await paymentOf(database, by, paymentId)
  return await decideOnce(deps, command, 202, async (client) => {
    const queries = through(client)
    const { event, delaySeconds = 0, details } = plan(found)
    const connection = await findConnection(queries, { connectionId: found.connectionId })
    if (event === null || connection?.provider !== 'sandbox') throw notPossible(found, connection)
    const messageId = await bank.simulate(queries, found.id, { ...event, delayMs: delaySeconds * 1_000 })
    if (messageId === null) throw notPossible(found, connection)
    const result: SimulationResult = {
      simulationId: ids.next(),
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

function notPossible(found: PaymentRecord, connection: ConnectionRow | null): ProblemError {
  const allowed = simulableStatuses(found)
  const instead = allowed.length === 0 ? '' : `; it can be set to ${allowed.join(', ')}`
  return new ProblemError({
    slug: 'simulation-not-possible',
    detail:
      connection?.provider !== 'sandbox'
        ? 'The payment does not travel by the sandbox bank.'
        : found.sentAt === null
          ? 'The sandbox bank does not have the payment.'
          : `The bank cannot send this outcome for a payment that is ${found.status}${instead}.`,
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
    : refuseField('/amount/amountMinor', 'too_large', 'The returned amount is above the amount that was sent.', {
        max: String(found.amount),
      })
}
