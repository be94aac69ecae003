/**
 * Exceptions as rows: opened and ended by the commit with the moves of their subject, resolved under their lock. Locks
 * are taken in one order: exceptions, then balances, then payments.
 *
 * Written by hand: the commit of payments opens and ends these rows, and a decision locks them with balances.
 */
import type { ExceptionKind, ExceptionResolution } from '../../lib/compliance/exception.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { TransactionClient } from '../db/transaction.ts'

/** The outcome that the first of two staff members proposes, with evidence. */
export interface ResolutionProposal {
  readonly outcome: ExceptionResolution
  readonly evidence: string
  /** Minor units that were returned, where the outcome is a return. */
  readonly amountMinor: string | null
  readonly by: string
  readonly byName: string
  /** RFC 3339. */
  readonly at: string
}

/** An exception with the fields that its resolution needs. */
export interface ExceptionRecord {
  readonly id: string
  readonly kind: ExceptionKind
  readonly status: 'open' | 'resolved'
  readonly subjectType: 'payment' | 'transfer' | 'exchange'
  readonly subjectId: string
  readonly customerId: string
  readonly operatorId: string
  readonly currency: string
  readonly amount: bigint
  readonly proposal: ResolutionProposal | null
}

/** Locks an exception until the transaction ends; null when it does not exist. */
export async function lockException(client: TransactionClient, id: string): Promise<ExceptionRecord | null> {
  const {
    rows: [row],
  } = await client.query<{
    id: string
    kind: ExceptionKind
    status: 'open' | 'resolved'
    subject_type: 'payment' | 'transfer'
    subject_id: string
    customer_id: string
    operator_id: string
    currency: string
    amount: string
    proposal: string | null
  }>({
    name: 'lock_exception',
    values: [id],
    text: 'select id, kind, status, subject_type, subject_id, customer_id, operator_id, currency, amount, proposal from exception_case where id = $1 for update',
  })
  return row === undefined
    ? null
    : {
        id: row.id,
        kind: row.kind,
        status: row.status,
        subjectType: row.subject_type,
        subjectId: row.subject_id,
        customerId: row.customer_id,
        operatorId: row.operator_id,
        currency: row.currency,
        amount: BigInt(row.amount),
        proposal: row.proposal === null ? null : (JSON.parse(row.proposal) as ResolutionProposal),
      }
}

/**
 * Records the proposal of the first of two staff members, in place of an earlier one. The first to act becomes the
 * assignee.
 */
export async function proposeResolution(
  client: TransactionClient,
  id: string,
  proposal: ResolutionProposal,
): Promise<void> {
  await client.query({
    name: 'propose_resolution',
    values: [id, JSON.stringify(proposal), proposal.by, proposal.at],
    text: 'update exception_case set proposal = $2, assignee = coalesce(assignee, $3), updated_at = $4, version = version + 1 where id = $1',
  })
}

/** Records the resolver and the evidence; the move of the subject, in the same transaction, has ended the exception. */
export async function noteResolution(
  client: TransactionClient,
  id: string,
  {
    evidence,
    amountMinor,
    by,
    now,
  }: {
    readonly evidence: string
    readonly amountMinor: bigint | null
    readonly by: { readonly id: string; readonly name: string }
    readonly now: number
  },
): Promise<void> {
  await client.query({
    name: 'note_resolution',
    values: [id, evidence, amountMinor, by.id, by.name, timestamp(now)],
    text: `update exception_case set evidence = $2, outcome_amount = $3, resolved_by = $4, resolved_by_name = $5, updated_at = $6,
      assignee = coalesce(assignee, $4), version = version + 1 where id = $1`,
  })
}

/** Forbids a new submission: from then on the partner is only asked about the payment, and never receives it again. */
export async function forbidResubmission(
  client: TransactionClient,
  { id, subjectId }: Pick<ExceptionRecord, 'id' | 'subjectId'>,
  {
    evidence,
    by,
    now,
  }: {
    readonly evidence: string
    readonly by: { readonly id: string }
    readonly now: number
  },
): Promise<void> {
  await client.query({
    name: 'forbid_resubmission',
    values: [id, evidence, by.id, timestamp(now)],
    text: `update exception_case set resubmit_forbidden = true, proposal = null, evidence = $2, assignee = coalesce(assignee, $3), updated_at = $4,
      version = version + 1 where id = $1`,
  })
  await client.query({
    name: 'never_send_again',
    values: [subjectId],
    text: 'update partner_instruction set resubmit_forbidden = true where payment_id = $1',
  })
}
