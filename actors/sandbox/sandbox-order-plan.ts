/** The plan of an order at the sandbox bank: the answer to it, its messages and its status. */
import { decodeSteps, encodeSteps, type PlanStep } from '../../lib/sandbox/plan-steps.ts'
import { planOutcome } from '../../lib/sandbox/triggers.ts'
import { RAILS, speedOf } from '../../lib/rails/rails.ts'
import type { SandboxOrderState } from '../../storage/sandbox/sandbox-orders.ts'
import type { OrderStatus, PaymentOrder, Submission } from '../providers/bank.ts'

/** Return reason code of the scheme for money that comes back after a recall. */
export const RECALLED_CODE = 'FOCR'
/** The answer to a submitted order, and the messages planned about it. */
export interface PlannedOrder {
  readonly submission: Submission
  readonly state: 'accepted' | 'unanswered'
  readonly steps: readonly PlanStep[]
}

/**
 * Returns the bank's id of a message about a reference: a UUID of version 8, which no reference is. The event number
 * makes the ids of messages about one reference differ.
 */
export function messageId(reference: string, eventNumber: number): string {
  const counter = Number.parseInt(reference.slice(15, 18), 16) ^ (eventNumber & 0xfff)
  return `${reference.slice(0, 14)}8${counter.toString(16).padStart(3, '0')}${reference.slice(18)}`
}

/** Encodes steps as text; null where the columns of the next message hold everything. */
export function stepsText(steps: readonly PlanStep[]): string | null {
  return steps.length > 1 || (steps[0] !== undefined && steps[0].amountMinor !== null) ? encodeSteps(steps) : null
}

/** Sorts steps by their times. */
export const inOrder = (steps: readonly PlanStep[]): PlanStep[] =>
  steps.toSorted((left, right) => left.afterMs - right.afterMs)

/** Whether a step answers a recall: with the money, or with a refusal. */
export const isRecallAnswer = ({ event, schemeCode }: PlanStep): boolean =>
  event === 'recall_rejected' || (event === 'returned' && schemeCode === RECALLED_CODE)

/** Returns the status of an order; null for no answer, as for an order whose submission timed out, until it is due. */
export function statusOf({ state, nextEvent, schemeCode, isDue, steps }: SandboxOrderState): OrderStatus | null {
  const known = state === 'unanswered' ? (isDue ? nextEvent : null) : state
  switch (known) {
    case null:
      return null
    case 'settled':
      return { kind: 'settled' }
    case 'rejected':
      return { kind: 'rejected', schemeCode: schemeCode ?? 'NARR' }
    case 'returned':
      return {
        kind: 'returned',
        schemeCode: schemeCode ?? 'NARR',
        amount: decodeSteps(steps ?? '')[0]?.amountMinor ?? 0n,
      }
    default:
      return { kind: 'pending' }
  }
}

/** Plans the answer to an order and the messages about it, from its amount and the tokens in its texts. */
export function planOrder(order: PaymentOrder): PlannedOrder {
  const terms = RAILS.get(order.rail)
  const instant = terms !== undefined && speedOf(terms, order.amount) === 'instant'
  const { submit, refusalCode, steps, reconcile } = planOutcome({
    amountMinor: order.amount,
    reference: order.remittance,
    recipientName: order.creditorName,
    instant,
  })
  if (submit === 'refused')
    return { submission: { kind: 'refused', schemeCode: refusalCode ?? 'NARR' }, state: 'unanswered', steps: [] }
  if (submit === 'accepted') return { submission: { kind: 'accepted' }, state: 'accepted', steps }
  return {
    submission: { kind: 'timeout' },
    state: 'unanswered',
    steps:
      reconcile === null
        ? []
        : [
            {
              afterMs: reconcile.afterMs,
              event: reconcile.outcome,
              schemeCode: reconcile.schemeCode,
              amountMinor: null,
            },
          ],
  }
}
