/**
 * Resolves exceptions by staff: a first person proposes the outcome with evidence, a second person confirms it, and the
 * ledger books the step to that outcome in the transaction that records both people.
 *
 * The partner may report the outcome in between; the later of the two finds the exception resolved.
 */
import type { AuditVerb } from '../../lib/base/audit-actions.ts'
import { timestamp, type Clock } from '../../lib/base/clock.ts'
import type { ExceptionResolution } from '../../lib/compliance/exception.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { refuse, refuseField, refuseTransition } from '../../lib/base/problems.ts'
import { railDate } from '../../lib/rails/business-days.ts'
import { movePayment } from '../../lib/payments/payment-moves.ts'
import type { PaymentMoveContext, PaymentCommand } from '../../lib/payments/payment-state.ts'
import { writeOrSuspend } from '../../storage/sections/write-effects.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import type { Database } from '../../storage/db/database.ts'
import {
  forbidResubmission,
  lockException,
  noteResolution,
  proposeResolution,
  type ExceptionRecord,
  type ResolutionProposal,
} from '../../storage/compliance/exceptions.ts'
import { writeAudit, type AuditBy } from '../../storage/trail/trail.ts'
import type { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { readOperator } from '../../storage/operators/operators.ts'
import { homeOfPayment } from '../../storage/payments/partner-instructions.ts'
import { readPayment } from '../../storage/payments/payment-states.ts'
import type { SubjectOutcome } from '../approvals/approval-subject.ts'
import { decideInTransaction } from '../approvals/decision-transaction.ts'

/** The code of a payment that staff have resolved as failed. */
const FAILED_CODE = 'TECH'
/** The code of a payment that staff have resolved as returned. */
const RETURNED_CODE = 'NARR'

/** The outcomes that end an exception. */
type Outcome = Exclude<ExceptionResolution, 'resubmit_forbidden'>

/**
 * The effect of a resolution on one kind of subject, within its transaction. `amount`: the amount returned, minor
 * units. `suspenseId`: set when the credited balance is closed; the money then waits in suspense for its owner under
 * this id.
 */
export interface ExceptionSubjectKind {
  resolved(
    tx: ApprovalTx,
    exception: ExceptionRecord,
    outcome: Outcome,
    amount: bigint,
    suspenseId: string | undefined,
  ): Promise<SubjectOutcome>
}

export interface ExceptionsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly subjects: Readonly<Partial<Record<ExceptionRecord['subjectType'], ExceptionSubjectKind>>>
}

export interface Resolution {
  readonly exceptionId: string
  readonly operatorId: string
  readonly outcome: ExceptionResolution
  readonly evidence: string
  readonly amount: { readonly minor: bigint; readonly currency: string } | null
  readonly by: AuditBy
}

export class Exceptions {
  readonly #options: ExceptionsOptions

  constructor(options: ExceptionsOptions) {
    this.#options = options
  }

  /**
   * Records the outcome that one person reports. Where the operator requires two people, the first report is stored as
   * a proposal, and the same report by another person books it; a different report replaces the proposal. Each person
   * brings evidence: that of the second is stored with the exception, both are in the trail.
   *
   * @returns `proposed` while a second person is needed
   * @throws ProblemError `not-found` when the operator has no such exception, `invalid-transition` when it is resolved
   *   or may not be resolved by staff, `validation-error` when the amount does not fit
   */
  async resolve(request: Resolution): Promise<'resolved' | 'proposed'> {
    return await decideInTransaction(this.#options, async (tx, afterwards) => {
      const exception = await lockException(tx.client, request.exceptionId)
      if (exception === null || exception.operatorId !== request.operatorId)
        refuse('not-found', 'No such exception exists in this tenant.')
      if (exception.status !== 'open') refuseTransition('The exception is resolved.', exception.status, ['open'])
      if (exception.kind === 'compliance_hold')
        refuseTransition('A subject under a compliance hold is decided through that hold.', exception.status, ['open'])
      const amountMinor = amountOf(exception, request)
      const operator = await readOperator(tx.client, exception.operatorId)
      if (
        operator?.payments.fourEyesExceptions !== false &&
        !isConfirmation(exception.proposal, request, amountMinor)
      ) {
        const { outcome, evidence, by } = request
        await proposeResolution(tx.client, exception.id, {
          outcome,
          evidence,
          amountMinor: amountMinor?.toString() ?? null,
          by: by.actor.id,
          byName: by.actor.name,
          at: timestamp(tx.now),
        })
        await this.#trail(tx, exception, request, 'proposed', amountMinor)
        return 'proposed'
      }
      afterwards.push(await this.#end(tx, exception, request, amountMinor))
      return 'resolved'
    })
  }

  async #end(
    tx: ApprovalTx,
    exception: ExceptionRecord,
    request: Resolution,
    amountMinor: bigint | null,
  ): Promise<() => void> {
    const { outcome, evidence, by } = request
    await this.#trail(
      tx,
      exception,
      request,
      outcome === 'resubmit_forbidden' ? 'resubmission_forbidden' : 'resolved',
      amountMinor,
    )
    if (outcome === 'resubmit_forbidden') {
      await forbidResubmission(tx.client, exception, { evidence, by: by.actor, now: tx.now })
      return () => undefined
    }
    const subject = this.#options.subjects[exception.subjectType]
    if (subject === undefined) throw new Error(`Nothing is known of exceptions of ${exception.subjectType}.`)
    const { after = () => undefined } = await writeOrSuspend(tx, (suspenseId) =>
      subject.resolved(tx, exception, outcome, amountMinor ?? exception.amount, suspenseId),
    )
    await noteResolution(tx.client, exception.id, { evidence, amountMinor, by: by.actor, now: tx.now })
    return after
  }

  async #trail(
    tx: ApprovalTx,
    { id, operatorId, subjectType, subjectId, customerId, proposal }: ExceptionRecord,
    { outcome, evidence, by }: Resolution,
    verb: AuditVerb<'exception'>,
    amountMinor: bigint | null,
  ): Promise<void> {
    await writeAudit(tx.client, {
      ...by,
      id: tx.ids.next(),
      tenantId: operatorId,
      at: tx.now,
      action: `exception.${verb}`,
      object: { type: 'exception', id },
      before: { status: 'open', proposal },
      after: { outcome, evidence, amountMinor: amountMinor?.toString() ?? null, subjectType, subjectId, customerId },
    })
  }
}

/** Checks the returned amount: given only for a return, in the currency of the exception, and at most its amount. */
function amountOf({ currency, amount: whole }: ExceptionRecord, { outcome, amount }: Resolution): bigint | null {
  if (amount === null) return outcome === 'returned' ? whole : null
  if (outcome !== 'returned') refuseField('/amount', 'not_applicable', 'Only the outcome `returned` has an amount.')
  if (amount.currency !== currency)
    refuseField('/amount/currency', 'currency_mismatch', `The exception is about ${currency}.`)
  if (amount.minor > whole)
    refuseField('/amount/amountMinor', 'too_large', 'The amount is above the amount that was sent.', {
      max: whole.toString(),
    })
  return amount.minor
}

/** Checks whether another person has proposed the same outcome before. */
function isConfirmation(
  proposal: ResolutionProposal | null,
  { outcome, by }: Resolution,
  amountMinor: bigint | null,
): boolean {
  return (
    proposal !== null &&
    proposal.by !== by.actor.id &&
    proposal.outcome === outcome &&
    proposal.amountMinor === (amountMinor?.toString() ?? null)
  )
}

/** Payments of unknown outcome: applies the same step as the partner's own message. */
export function exceptionalPayment({
  accounts,
}: {
  readonly accounts: Pick<InternalAccountCache, 'within'>
}): ExceptionSubjectKind {
  return {
    async resolved({ client, ids, now }, { subjectId }, outcome, amount, suspenseId) {
      const payment = await readPayment(client, subjectId)
      if (payment === null) throw new Error(`The payment ${subjectId} does not exist.`)
      const reader = accounts.within(client)
      const home = await homeOfPayment(client, payment)
      const context: PaymentMoveContext = {
        accounts: await reader.accounts(payment),
        ...(home === null
          ? {}
          : { home: { connectionId: home, accounts: await reader.accounts({ ...payment, connectionId: home }) } }),
        ids,
        valueDate: railDate(payment.rail, now),
      }
      const { reply, effects } = movePayment(payment, commandOf(outcome, amount, context, suspenseId), now)
      if (reply.kind === 'moved') return { effects: effects ?? {} }
      refuseTransition(`The payment is ${reply.status ?? 'gone'}.`, reply.status, ['exception'])
    },
  }
}

function commandOf(
  outcome: Outcome,
  amount: bigint,
  context: PaymentMoveContext,
  suspenseId: string | undefined,
): PaymentCommand {
  const suspense = suspenseId === undefined ? {} : { suspenseId }
  switch (outcome) {
    case 'completed':
      return { kind: 'settled', schemeCode: null, context, event: null }
    case 'failed':
      return { kind: 'rejected', schemeCode: FAILED_CODE, context, event: null, ...suspense }
    case 'returned':
      return { kind: 'returned', amount, schemeCode: RETURNED_CODE, context, event: null, ...suspense }
    default:
      return outcome satisfies never
  }
}
