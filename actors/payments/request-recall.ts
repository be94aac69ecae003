/** Requests the recall of a payment. */
import type { BankSimulation } from '../sandbox/sandbox-bank.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { paymentJson, type PaymentRecord } from '../../lib/payments/payment.ts'
import { moveRecall, newRecall, recallObstacle } from '../../lib/payments/recall.ts'
import { ProblemError, refuseNotFound } from '../../lib/base/problems.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import type { Database } from '../../storage/db/database.ts'
import { findPayment } from '../../storage/payments/payment-queries.ts'
import { loadPayments } from '../../storage/payments/payment-states.ts'
import { through, type Queries } from '../../storage/db/transaction.ts'
import { auditCaller } from '../commands/trail.ts'
import { recordChange } from '../commands/changes.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { decideOnce } from '../commands/run-once.ts'
import type { PaymentRecallRequest } from '../../lib/payments/payment-outcome-schema.ts'
import type { Payment } from '../../lib/payments/payment-schema.ts'
import type { Command, CommandAnswer, IdempotencyRecord } from '../../lib/commands/command.ts'

/** The dependencies of commands on sent payments. */
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

/** The part of a command that these use cases need. */
export type Asked<Body> = Pick<Command<Body>, 'body' | 'idempotency' | 'requestId' | 'instance'>

/**
 * Requests the recall of a sent payment: the recall, its event, its history and its trail entry are one transaction.
 *
 * @throws ProblemError `not-found`, what stands in the way of a recall, and what `decideOnce` throws
 */
export async function requestRecall(
  deps: PaymentOutcomeDeps,
  by: Caller,
  paymentId: string,
  command: Asked<PaymentRecallRequest>,
): Promise<CommandAnswer<Payment, 202>> {
  const { database, clock, ids } = deps
  await paymentOf(database, by, paymentId)
  return await decideOnce(deps, command, 202, async (client) => {
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
    const found = await paymentOf(through(client), by, paymentId)
    const now = clock.now()
    const obstacle = recallObstacle(found, now)
    if (obstacle !== null) throw new ProblemError(obstacle)
    const recall = newRecall(found.rail!, command.body.reasonCode, command.body.note, now)
    const { effects } = moveRecall(state, { kind: 'request_recall', recall, context: { ids } }, now)
    if (effects === null)
      throw new Error(`The payment ${paymentId} cannot be recalled, though nothing stands in its way.`)
    await writeEffects({ client, now }, effects)
    await recordChange({ client, ids, now }, auditCaller(by), by.tenant.id, {
      action: 'payment.recall_requested',
      object: { type: 'payment', id: paymentId },
      before: null,
      after: { reasonCode: recall.reasonCode, note: recall.note },
    })
    const changed = await paymentOf(through(client), by, paymentId)
    return { shown: { version: changed.version, view: paymentJson(changed, null) } }
  })
}

/** Finds a payment of the caller's customer. @throws ProblemError `not-found` */
export async function paymentOf(rows: Queries, { tenant }: Caller, id: string): Promise<PaymentRecord> {
  const found = await findPayment(rows, id)
  return found === null || found.customerId !== tenant.id ? refuseNotFound() : found
}
