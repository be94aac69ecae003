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
import type { Caller } from '../commands/caller.ts'
import { cancelPayment, type CancelOutcome, type CancelDeps } from './cancel-payment.ts'
import { checkPayment } from './check-payment.ts'
import { createDraft, submitDraft, type SubmitOutcome } from './drafts.ts'
import { InTurn } from '../runtime/in-turn.ts'
import type { PaymentQueue } from './payment-queue.ts'
import { paymentJson, type PaymentRecord } from '../../lib/payments/payment.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'
import type { PaymentCancel, PaymentCheck, PaymentCreate, PaymentSubmit } from '../../lib/payments/payment-schema.ts'
import { cancelledAnswer, paymentAnswer, type Answers, type Unmade } from '../commands/answers.ts'

export interface CommandDeps extends CancelDeps {
  readonly queue: PaymentQueue
}

/** The 200 of a submitted draft; the answer is recorded under its key. */
function submittedAnswer(payment: PaymentRecord): CommandAnswer {
  return {
    status: 200,
    body: JSON.stringify(paymentJson(payment, payment.details.queued)),
    contentType: 'application/json',
    replayed: false,
  }
}

/** Renders the answer for the result of a command. */
function madeAnswer(outcome: Exclude<FlowOutcome | CancelOutcome | SubmitOutcome, Unmade>): CommandAnswer {
  switch (outcome.kind) {
    case 'payment_created':
      return paymentAnswer(outcome.payment, false)
    case 'submitted':
      return submittedAnswer(outcome.payment)
    case 'cancelled':
      return cancelledAnswer(outcome.payment, false)
    case 'transfer_created':
      throw new Error('A payment was answered with a transfer.')
    default:
      return outcome satisfies never
  }
}

export function createPaymentCommands(
  world: CommandDeps,
  { answer: answerWith, recordedAnswer, callerOf }: Answers,
): PaymentCommands {
  const answer = <Body>(
    command: Command<Body>,
    submit: (caller: Caller, body: Body) => Promise<FlowOutcome | CancelOutcome | SubmitOutcome>,
  ) => answerWith<Body, Exclude<FlowOutcome | CancelOutcome | SubmitOutcome, Unmade>>(command, submit, madeAnswer)

  /** Submissions of this node by draft. Without it many submissions of one draft make each other stale until they give up. */
  const submissions = new InTurn()

  return {
    createPayment: (command) =>
      answer(command, (caller, body) =>
        body.draft === true ? createDraft(world, caller, body) : submitPayment(world, caller, body),
      ),
    checkPayment: async (command) => await checkPayment(world, callerOf(command), command.body),
    submitPayment: async (command, paymentId) => {
      // A key with an answer keeps it, because a draft can be submitted only once.
      const known = command.idempotency === null ? null : await recordedAnswer(command.idempotency)
      return (
        known ??
        (await answer(command, (caller, body) =>
          submissions.run(paymentId, () => submitDraft(world, caller, paymentId, body)),
        ))
      )
    },
    cancelPayment: async (command, paymentId) => {
      // A key with an answer keeps it, whatever the payment's status is now.
      const known = command.idempotency === null ? null : await recordedAnswer(command.idempotency)
      return (
        known ?? (await answer(command, (caller, { reason = null }) => cancelPayment(world, caller, paymentId, reason)))
      )
    },
  }
}

/** The writes. A refusal is returned as an answer; only operating errors and bugs are thrown. */
export interface PaymentCommands {
  createPayment(command: Command<PaymentCreate>): Promise<CommandAnswer>
  /** Checks a payment; writes nothing. */
  checkPayment(command: Command<PaymentCreate>): Promise<PaymentCheck>
  submitPayment(command: Command<PaymentSubmit>, paymentId: string): Promise<CommandAnswer>
  cancelPayment(command: Command<PaymentCancel>, paymentId: string): Promise<CommandAnswer>
}
