/**
 * Exceptions: money that somebody has to look into, opened and ended with the moves that make them so. What they are is for
 * the operator's people alone.
 */
import type { Effects } from '../decisions/effects.ts'

export const EXCEPTION_KINDS = ['compliance_hold', 'provider_timeout', 'provider_state_unknown', 'reconciliation_mismatch', 'ledger_blocked'] as const
export type ExceptionKind = (typeof EXCEPTION_KINDS)[number]

/** How one ends. `processing`: the partner has it after all. The last two are those of a compliance hold. */
export const EXCEPTION_OUTCOMES = ['completed', 'failed', 'returned', 'processing', 'released', 'blocked'] as const
export type ExceptionOutcome = (typeof EXCEPTION_OUTCOMES)[number]

/** What people may resolve one with. `resubmit_forbidden` leaves it open: it is found out what became of it, and nothing is sent again. */
export const EXCEPTION_RESOLUTIONS = ['completed', 'failed', 'returned', 'resubmit_forbidden'] as const
export type ExceptionResolution = (typeof EXCEPTION_RESOLUTIONS)[number]

/** An exception as it is opened. A subject has one open exception at a time; one that would be its second is not written. */
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

/** Money that may be in an exception. */
export interface Exceptional {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly currency: string
  readonly amount: bigint
  readonly status: string
}

/** What opening an exception of a payment or transfer writes. */
export function opensException(
  subjectType: ExceptionRow['subjectType'], { id: subjectId, customerId, operatorId, shard, currency, amount }: Exceptional,
  { id, kind, code = null, message, at }: { readonly id: string; readonly kind: ExceptionKind; readonly code?: string | null; readonly message: string; readonly at: number },
): Pick<Effects, 'exceptions'> {
  return { exceptions: [{ id, kind, code, message, subjectType, subjectId, customerId, operatorId, shard, currency, amount, createdAt: at }] }
}

/** What a move out of an exception writes; nothing where the subject was in none, so that others cost nothing more. */
export function endsException({ id, status }: Pick<Exceptional, 'id' | 'status'>, outcome: ExceptionOutcome, at: number): Pick<Effects, 'exceptionEnds'> {
  return status === 'exception' || status === 'on_hold' ? { exceptionEnds: [{ subjectId: id, outcome, at }] } : {}
}
