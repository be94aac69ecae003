/**
 * Answers the payment commands of the API: from a checked request into the domain, and from a decision to the bytes of
 * the answer.
 *
 * Idempotency for the caller: the first request is decided, and its outcome is recorded with it, success and refusal
 * alike. A repeat with the same key is answered from the record. While the first request is in progress, the key is in
 * use. A different body under the same key is refused. The record is written in the transaction of the effect, so a
 * crash cannot separate the two (I5).
 */
import { type FlowOutcome, submitPayment } from './submit-payment.ts'
import { cancelPayment, type CancelDeps } from './cancel-payment.ts'
import { checkPayment } from './check-payment.ts'
import { createDraft, submitDraft } from './drafts.ts'
import { InTurn } from '../runtime/in-turn.ts'
import type { PaymentQueue } from './payment-queue.ts'
import { paymentJson } from '../../lib/payments/payment.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'
import type {
  Payment,
  PaymentCancel,
  PaymentCheck,
  PaymentCreate,
  PaymentSubmit,
} from '../../lib/payments/payment-schema.ts'
import { cancelledAnswer, done, paymentAnswer, type Answers, type Unmade } from '../commands/answers.ts'

export interface CommandDeps extends CancelDeps {
  readonly queue: PaymentQueue
}

/** The 201 of a payment, or of a draft. */
function createdAnswer(outcome: Exclude<FlowOutcome, Unmade>): CommandAnswer<Payment, 201> {
  if (outcome.kind === 'transfer_created') throw new Error('A payment was answered with a transfer.')
  return paymentAnswer(outcome.payment, false)
}

export function createPaymentCommands(
  deps: CommandDeps,
  { answer, recordedAnswer, callerOf }: Answers,
): PaymentCommands {
  /**
   * Submissions of this node by draft. Without it many submissions of one draft make each other stale until they give
   * up.
   */
  const submissions = new InTurn()

  return {
    createPayment: (command) =>
      answer(
        command,
        (caller, body): Promise<FlowOutcome> =>
          body.draft === true ? createDraft(deps, caller, body) : submitPayment(deps, caller, body),
        createdAnswer,
      ),
    checkPayment: async (command) => await checkPayment(deps, callerOf(command), command.body),
    submitPayment: async (command, paymentId) => {
      // A key with an answer keeps it, because a draft can be submitted only once.
      const known = command.idempotency === null ? null : await recordedAnswer<Payment, 200>(command.idempotency)
      return (
        known ??
        (await answer(
          command,
          (caller, body) => submissions.run(paymentId, () => submitDraft(deps, caller, paymentId, body)),
          ({ payment }) => done(paymentJson(payment, payment.details.queued), false),
        ))
      )
    },
    cancelPayment: async (command, paymentId) => {
      // A key with an answer keeps it, whatever the payment's status is now.
      const known = command.idempotency === null ? null : await recordedAnswer<Payment, 200>(command.idempotency)
      return (
        known ??
        (await answer(
          command,
          (caller, { reason = null }) => cancelPayment(deps, caller, paymentId, reason),
          ({ payment }) => cancelledAnswer(payment, false),
        ))
      )
    },
  }
}

/** The writes. A refusal is returned as an answer; only operating errors and bugs are thrown. */
export interface PaymentCommands {
  createPayment(command: Command<PaymentCreate>): Promise<CommandAnswer<Payment, 201>>
  /** Checks a payment; writes nothing. */
  checkPayment(command: Command<PaymentCreate>): Promise<PaymentCheck>
  submitPayment(command: Command<PaymentSubmit>, paymentId: string): Promise<CommandAnswer<Payment, 200>>
  cancelPayment(command: Command<PaymentCancel>, paymentId: string): Promise<CommandAnswer<Payment, 200>>
}
