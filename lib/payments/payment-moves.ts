/**
 * The moves of a payment after it was made.
 *
 *   pending_approval ──approve──▶ processing (queued), scheduled
 *          └──withdraw──▶ rejected, cancelled        processing (queued), scheduled ──withdraw──▶ cancelled
 *
 *   processing (waits for its exchange, conversion.ts) ──funded──▶ processing (queued)
 *                                          └──────────unfunded──▶ failed
 *
 *   on the rail `internal`, in place of hand_over (internal-moves.ts):
 *   processing (queued) ──book──▶ completed
 *          └──payee_closed──▶ failed
 *
 *   The paying balance decides the moves from `draft` (create-payment.ts) and from `scheduled` to `processing` (queued)
 *   or `failed` (release-payment.ts).
 *
 *   processing (queued) ──hold──▶ on_hold ──release──▶ processing (queued)
 *                                    └──────block────▶ failed
 *
 *   processing (queued) ──hand_over──▶ processing (submitted) ──settled──▶ completed ──returned──▶ returned
 *                                        │   │ ├─────────────rejected──▶ failed
 *                                        │   │ └─────────────returned──▶ returned
 *                                        │   └──timeout, unclear──▶ exception ──settled──▶ completed
 *                                        │                              ├──────rejected──▶ failed
 *                                        │                              ├──────returned──▶ returned
 *                                        │                              └──────accepted──▶ processing (submitted)
 *                                        └──refused (definite, before acceptance)──▶ failed
 *
 * hand_over and book debit the paying balance. While it is stopped, frozen or of a customer that does not pay, it takes
 * credits alone, so a payment that waits for them keeps its state, its hold and its place in the queue, and goes on when
 * the balance pays again. No state of its own is needed: the queue leaves these payments where they are
 * (storage/payments/partner-instructions.ts), and the commit refuses a debit that was decided before (`debit_refused`). What the partner has goes on.
 *
 * reroute changes the connection of a payment that is queued, or submitted and refused before the connection accepted it;
 * its status stays. After an unknown outcome it never does: that payment is in `exception`.
 *
 * A message that fits no row changes nothing: messages of partners are repeated, late and contradictory. The effects of
 * the moves are in waiting-moves.ts until the partner has the payment, and in bank-moves.ts from then on.
 */
import { fail, giveBack, handOver, reroute, resume, settle, suspend, TIMED_OUT, UNCLEAR } from './bank-moves.ts'
import { book, refuseClosed } from './internal-moves.ts'
import { awaitsExchange } from './move-parts.ts'
import { ON_PLATFORM_RAIL } from '../rails/rails.ts'
import { approve, block, fund, giveUp, hold, release, withdraw } from './waiting-moves.ts'
import type { PaymentCommand, PaymentDecision, PaymentState } from './payment-state.ts'

/** Decides one move. Pure: `now` is epoch milliseconds. */
export function movePayment(payment: PaymentState | null, command: PaymentCommand, now: number): PaymentDecision {
  if (payment === null) return { state: null, reply: { kind: 'ignored', status: null }, effects: null, refused: true }
  if (isElsewhere(payment, command)) return ignored(payment)
  switch (command.kind) {
    case 'approve':
      return payment.status === 'pending_approval' ? approve(payment, command.context, now) : ignored(payment)
    case 'withdraw':
      return payment.status === command.from && !payment.sent ? withdraw(payment, command, now) : ignored(payment)
    case 'funded':
      return awaitsExchange(payment) ? fund(payment, command.context, now) : ignored(payment)
    case 'unfunded':
      return awaitsExchange(payment) ? giveUp(payment, command.context, now) : ignored(payment)
    case 'hold':
      return waitsForHandOver(payment) ? hold(payment, command, now) : ignored(payment)
    case 'release':
      return payment.status === 'on_hold' ? release(payment, command.context, now) : ignored(payment)
    case 'block':
      return payment.status === 'on_hold' ? block(payment, command, now) : ignored(payment)
    case 'hand_over':
      return waitsForHandOver(payment) && payment.rail !== ON_PLATFORM_RAIL
        ? handOver(payment, command.context, now)
        : ignored(payment)
    case 'reroute':
      return payment.rail !== ON_PLATFORM_RAIL &&
        (command.to.afterRefusal ? payment.sent && payment.status === 'processing' : waitsForHandOver(payment))
        ? reroute(payment, command, now)
        : ignored(payment)
    case 'book':
      return waitsForHandOver(payment) && payment.rail === ON_PLATFORM_RAIL
        ? book(payment, command.payee, command.context, now)
        : ignored(payment)
    case 'payee_closed':
      return waitsForHandOver(payment) && payment.rail === ON_PLATFORM_RAIL
        ? refuseClosed(payment, command.context, now)
        : ignored(payment)
    case 'settled':
      return payment.sent && isUnsettled(payment) ? settle(payment, command, now) : ignored(payment)
    case 'rejected':
      return payment.sent && isUnsettled(payment)
        ? fail(payment, { ...command, schemeCode: command.schemeCode ?? 'NARR', suspenseId: command.suspenseId }, now)
        : ignored(payment)
    case 'refused':
      return payment.sent && payment.status === 'processing'
        ? fail(payment, { ...command, event: null, suspenseId: command.suspenseId }, now)
        : ignored(payment)
    case 'timeout':
      return payment.sent && payment.status === 'processing'
        ? suspend(payment, { ...command, event: null }, TIMED_OUT, now)
        : ignored(payment)
    case 'unclear':
      return payment.sent && payment.status === 'processing'
        ? suspend(payment, command, UNCLEAR, now)
        : ignored(payment)
    case 'returned':
      return payment.sent &&
        payment.rail !== ON_PLATFORM_RAIL &&
        (isUnsettled(payment) || payment.status === 'completed') &&
        command.amount > 0n &&
        command.amount <= payment.amount
        ? giveBack(payment, command, now)
        : ignored(payment)
    case 'accepted':
      return payment.status === 'exception' ? resume(payment, command, now) : ignored(payment)
    case 'still_unknown':
      return payment.status === 'exception'
        ? {
            state: payment,
            reply: { kind: 'moved', state: payment },
            effects: { attention: [{ paymentId: payment.id, attentionAt: command.askAgainAt }] },
          }
        : ignored(payment)
    default:
      return command satisfies never
  }
}

/** Tells whether the move was made for a connection that the payment has left since. */
const isElsewhere = ({ connectionId }: PaymentState, command: PaymentCommand): boolean =>
  'context' in command &&
  'connectionId' in command.context &&
  command.context.connectionId !== undefined &&
  command.context.connectionId !== connectionId

/** Tells whether the payment waits for its hand-over: its money is held and has not left. */
const waitsForHandOver = (payment: PaymentState): boolean =>
  payment.status === 'processing' && !payment.sent && !awaitsExchange(payment)

const isUnsettled = ({ status }: PaymentState): boolean => status === 'processing' || status === 'exception'

/**
 * Refuses the move, and is final only on fresh state (I4): another node may have handed the payment over since it was
 * read here. An ignored message is acknowledged, so the bank would not repeat it.
 */
const ignored = (payment: PaymentState): PaymentDecision => ({
  state: payment,
  reply: { kind: 'ignored', status: payment.status },
  effects: null,
  refused: true,
})
