/**
 * A recall: the customer asks the recipient's bank to send the money back. A recall alone does not change the payment.
 *
 *   (none) ──request──▶ requested ──returned (payment-moves.ts)──▶ accepted, with the money
 *                          ├────────recall_rejected──────────────▶ rejected
 *                          └────────recall_expired───────────────▶ expired
 *
 * A payment can be recalled once. A message that fits no row changes nothing.
 */
import { timestamp } from '../base/clock.ts'
import type { Effects } from '../decisions/effects.ts'
import type { Problem } from '../base/problems.ts'
import { addBusinessDays, railDate } from '../rails/business-days.ts'
import { answeredRecall, type PaymentRecall, type PaymentRecord } from './payment.ts'
import { recallEvent } from './move-parts.ts'
import type { PaymentMoveContext, PartnerMessage, PaymentDecision, PaymentState } from './payment-state.ts'
import { RAILS, type Rail } from '../rails/rails.ts'

/** The reasons of a recall, in the codes of the banks. */
export const RECALL_REASONS = ['DUPL', 'TECH', 'FRAD', 'AC03', 'AM09', 'CUST'] as const
export type RecallReason = (typeof RECALL_REASONS)[number]

/** A payment can be recalled within this time after its completion. */
const MONTHS_MAX = 13
/** Business days that the recipient's bank has for its answer. */
const ANSWER_DAYS = 15

/** Returns the rail whose business days count for the answer to a recall; null where there are no recalls. */
const recallDaysOf = (rail: Rail): Rail | null => RAILS.get(rail)?.recallDays ?? null

/** Returns the refusal of a recall; null when the payment can be recalled. `now` is epoch milliseconds. */
export function recallObstacle({ status, rail, recall, completedAt }: PaymentRecord, now: number): Problem | null {
  const no = (detail: string): Problem => ({
    slug: 'invalid-transition',
    detail,
    extra: { currentStatus: status, allowed: ['completed'] },
  })
  if (recall !== null) return no('The payment has been recalled before.')
  if (status !== 'completed' || completedAt === null) return no('Only a completed payment can be recalled.')
  if (rail === null || recallDaysOf(rail) === null) return no('Payments of this rail cannot be recalled.')
  const until = Temporal.Instant.fromEpochMilliseconds(completedAt)
    .toZonedDateTimeISO('UTC')
    .add({ months: MONTHS_MAX }).epochMilliseconds
  if (now > until) return no(`A payment can be recalled within ${MONTHS_MAX} months.`)
  return null
}

/**
 * Makes a requested recall. @throws CalendarUnknown where the business days until its expiry are not in the calendars
 */
export function newRecall(rail: Rail, reasonCode: RecallReason, note: string, now: number): PaymentRecall {
  const calendar = recallDaysOf(rail) ?? rail
  // The end of that day in UTC.
  const expiresAt = `${addBusinessDays(calendar, railDate(calendar, now), ANSWER_DAYS)}T23:59:59.999Z`
  return {
    status: 'requested',
    reasonCode,
    note,
    requestedAt: timestamp(now),
    sentAt: null,
    decidedAt: null,
    response: null,
    expiresAt,
  }
}

export type RecallCommand =
  | {
      readonly kind: 'request_recall'
      readonly recall: PaymentRecall
      readonly context: Pick<PaymentMoveContext, 'ids'>
    }
  /** The partner has the recall; from now on the answer of the recipient's bank is awaited. */
  | { readonly kind: 'recall_sent' }
  | {
      readonly kind: 'recall_rejected'
      readonly schemeCode: string
      readonly context: Pick<PaymentMoveContext, 'ids'>
      readonly event: PartnerMessage | null
    }
  | { readonly kind: 'recall_expired'; readonly context: Pick<PaymentMoveContext, 'ids'> }

/** Decides one move of a payment's recall. Pure: `now` is epoch milliseconds. */
export function moveRecall(payment: PaymentState | null, command: RecallCommand, now: number): PaymentDecision {
  const recall = payment?.recall ?? null
  if (payment === null || payment.status !== 'completed' || !fits(recall, command)) {
    return { state: payment, reply: { kind: 'ignored', status: payment?.status ?? null }, effects: null, refused: true }
  }
  switch (command.kind) {
    case 'request_recall':
      // Due at once: the poller of recalls passes it on.
      return changed(
        payment,
        command.recall,
        { dueAt: now, message: 'Recall requested.', actor: 'member', context: command.context },
        now,
      )
    case 'recall_sent': {
      const sent: PaymentRecall = { ...(recall as PaymentRecall), sentAt: timestamp(now) }
      return changed(
        payment,
        sent,
        {
          dueAt: Date.parse(sent.expiresAt),
          message: 'The recall was passed on to the recipient’s bank.',
          actor: 'system',
          context: null,
        },
        now,
      )
    }
    case 'recall_rejected': {
      const { event, schemeCode } = command
      const answered = changed(
        payment,
        answeredRecall(recall as PaymentRecall, 'rejected', schemeCode, now),
        {
          dueAt: null,
          message: 'The recipient’s bank declined the recall.',
          actor: 'partner',
          context: command.context,
        },
        now,
      )
      return event === null
        ? answered
        : {
            ...answered,
            effects: {
              ...answered.effects,
              providerEvents: [
                {
                  id: event.id,
                  connectionId: payment.connectionId,
                  type: event.type,
                  objectId: payment.id,
                  code: schemeCode,
                  receivedAt: now,
                },
              ],
            },
          }
    }
    case 'recall_expired':
      return changed(
        payment,
        answeredRecall(recall as PaymentRecall, 'expired', null, now),
        {
          dueAt: null,
          message: 'The recipient’s bank did not answer the recall in time.',
          actor: 'system',
          context: command.context,
        },
        now,
      )
    default:
      return command satisfies never
  }
}

/** Tells whether the command fits the recall. Two nodes may have passed the same recall on; it is recorded once. */
function fits(recall: PaymentRecall | null, { kind }: RecallCommand): boolean {
  if (kind === 'request_recall') return recall === null
  return recall?.status === 'requested' && (kind !== 'recall_sent' || recall.sentAt === null)
}

interface Change {
  /** The time when the poller of recalls handles it again; null when it has ended. */
  readonly dueAt: number | null
  readonly message: string
  readonly actor: 'member' | 'partner' | 'system'
  /** Null where no event is sent. */
  readonly context: Pick<PaymentMoveContext, 'ids'> | null
}

function changed(
  payment: PaymentState,
  recall: PaymentRecall,
  { dueAt, message, actor, context }: Change,
  now: number,
): PaymentDecision {
  const { id, customerId, version, status } = payment
  const next: PaymentState = { ...payment, version: version + 1, recall }
  const effects: Effects = {
    paymentDecisions: [{ id, version, status, recall: JSON.stringify(recall), recallDueAt: dueAt, updatedAt: now }],
    statusUpdates: [
      { objectId: id, version: next.version, customerId, status, previousStatus: status, message, actor, at: now },
    ],
    ...(context === null ? {} : { events: [recallEvent(next, payment.recall?.status ?? null, context, now)] }),
  }
  return { state: next, reply: { kind: 'moved', state: next }, effects }
}
