/**
 * Exceptions: money that staff must investigate, opened and ended by the same moves that change the subject's status.
 * Only the operator's staff see them.
 */
import type { Effects, ObjectStatus } from '../decisions/effects.ts'

export const EXCEPTION_KINDS = [
  'compliance_hold',
  'provider_timeout',
  'provider_state_unknown',
  'reconciliation_mismatch',
  'ledger_blocked',
] as const
export type ExceptionKind = (typeof EXCEPTION_KINDS)[number]

/**
 * The outcomes of an exception. `processing`: the partner has the payment after all. `released` and `blocked` are the
 * decisions on a compliance hold.
 */
export const EXCEPTION_OUTCOMES = ['completed', 'failed', 'returned', 'processing', 'released', 'blocked'] as const
export type ExceptionOutcome = (typeof EXCEPTION_OUTCOMES)[number]

/**
 * The resolutions that staff may choose. `resubmit_forbidden` leaves the exception open: the service goes on asking for
 * the outcome and sends nothing again.
 */
export const EXCEPTION_RESOLUTIONS = ['completed', 'failed', 'returned', 'resubmit_forbidden'] as const
export type ExceptionResolution = (typeof EXCEPTION_RESOLUTIONS)[number]

/** An exception as it is opened. A subject has at most one open exception; a second one is not written. */
export interface ExceptionRow {
  readonly id: string
  readonly kind: ExceptionKind
  readonly code: string | null
  readonly message: string
  readonly subjectType: 'payment' | 'transfer' | 'exchange'
  readonly subjectId: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly currency: string
  /** Minor units. */
  readonly amount: bigint
  readonly createdAt: number
}

export interface ExceptionEnd {
  readonly subjectId: string
  readonly outcome: ExceptionOutcome
  readonly at: number
}

/** A subject that may be in an exception. */
export interface Exceptional {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly currency: string
  readonly amount: bigint
  readonly status: ObjectStatus
}

/** Builds the rows that open an exception of a payment, transfer or exchange. */
export function opensException(
  subjectType: ExceptionRow['subjectType'],
  { id: subjectId, customerId, operatorId, shard, currency, amount }: Exceptional,
  {
    id,
    kind,
    code = null,
    message,
    at,
  }: {
    readonly id: string
    readonly kind: ExceptionKind
    readonly code?: string | null
    readonly message: string
    readonly at: number
  },
): Pick<Effects, 'exceptions'> {
  return {
    exceptions: [
      {
        id,
        kind,
        code,
        message,
        subjectType,
        subjectId,
        customerId,
        operatorId,
        shard,
        currency,
        amount,
        createdAt: at,
      },
    ],
  }
}

/**
 * Builds the rows that end an exception; none when the subject's status shows that it is in no exception, so that
 * ordinary moves cost nothing more.
 */
export function endsException(
  { id, status }: Pick<Exceptional, 'id' | 'status'>,
  outcome: ExceptionOutcome,
  at: number,
): Pick<Effects, 'exceptionEnds'> {
  return status === 'exception' || status === 'on_hold' ? { exceptionEnds: [{ subjectId: id, outcome, at }] } : {}
}
