/** The moves of a KYB case and of its customer with it, as one table. Pure. */
import { type Problem, transitionProblem } from '../base/problems.ts'
import type { LifeStatus } from '../customers/status.ts'
import type { KybCaseStatus } from './case-words.ts'

export const CASE_TRIGGERS = [
  'submit',
  'begin_review',
  'request_info',
  'resubmit',
  'approve',
  'reject',
  'withdraw',
  'review_again',
  'reopen',
  'provider_green',
  'provider_red_final',
  'provider_red_retry',
] as const
export type CaseTrigger = (typeof CASE_TRIGGERS)[number]

/**
 * One move of a case. `customer` is the status to which a customer moves that was never approved; `approved` is what
 * becomes of one that is under review again: it `stays`, it `moves` too, or the move is `refused`. A measure of staff
 * holds beside the status until they lift it.
 */
interface CaseMove {
  readonly row: string
  readonly from: readonly KybCaseStatus[]
  readonly to: KybCaseStatus
  readonly customer: LifeStatus
  readonly approved: 'stays' | 'moves' | 'refused'
}

const REVIEWED = ['submitted', 'in_review', 'info_requested'] as const
const reviewed = { row: 'K10', from: REVIEWED, to: 'in_review', customer: 'in_review', approved: 'stays' } as const

/** The table. The provider's answers decide nothing: after green and red final staff still decide. */
export const CASE_MOVES: Readonly<Record<CaseTrigger, CaseMove>> = {
  submit: { row: 'K3', from: ['draft'], to: 'submitted', customer: 'in_review', approved: 'stays' },
  begin_review: { row: 'K3', from: ['submitted'], to: 'in_review', customer: 'in_review', approved: 'stays' },
  request_info: { row: 'K4', from: ['in_review'], to: 'info_requested', customer: 'info_required', approved: 'stays' },
  resubmit: { row: 'K5', from: ['info_requested'], to: 'in_review', customer: 'in_review', approved: 'stays' },
  approve: { row: 'K6', from: ['in_review'], to: 'approved', customer: 'active', approved: 'stays' },
  reject: { row: 'K7', from: ['in_review'], to: 'rejected', customer: 'rejected', approved: 'moves' },
  // A customer with money closes by its own request, which empties its balances first.
  withdraw: { row: 'K8', from: ['draft', ...REVIEWED], to: 'withdrawn', customer: 'closed', approved: 'refused' },
  review_again: { row: 'K9', from: ['approved'], to: 'in_review', customer: 'in_review', approved: 'stays' },
  reopen: { row: 'K9', from: ['rejected'], to: 'in_review', customer: 'in_review', approved: 'stays' },
  provider_green: reviewed,
  provider_red_final: reviewed,
  provider_red_retry: { ...reviewed, to: 'info_requested', customer: 'info_required' },
}

/** The statuses of a customer that has been approved, and still is. */
const APPROVED: readonly LifeStatus[] = ['active', 'closing']

/** The statuses of a case in which what it declares is changed. */
const OPEN: readonly KybCaseStatus[] = ['draft', 'info_requested']

/** The next status of a case and of its customer. */
export interface CaseMoved {
  readonly status: KybCaseStatus
  readonly customer: LifeStatus
}

/** Decides a move of a case, given the status of its customer: the next statuses, or the problem that refuses it. */
export function moveCase(
  { status, customer }: CaseMoved,
  trigger: CaseTrigger,
): CaseMoved | { readonly refused: Problem } {
  const move = CASE_MOVES[trigger]
  if (!move.from.includes(status)) return { refused: transitionProblem(`The case is ${status}.`, status, move.from) }
  if (customer === 'closed') return { refused: transitionProblem('The customer is closed.', status, []) }
  if (!APPROVED.includes(customer)) return { status: move.to, customer: move.customer }
  switch (move.approved) {
    case 'refused':
      return { refused: transitionProblem(`The customer is ${customer}; request its closure.`, status, []) }
    case 'stays':
      return { status: move.to, customer }
    case 'moves':
      return { status: move.to, customer: customer === 'closing' ? customer : move.customer }
    default:
      return move.approved satisfies never
  }
}

/**
 * Returns the problem that keeps the facts of a case from being changed; null when they may change. The persons and
 * the company of an approved case stay as they were approved; `renewal` is what falls due again: documents, and
 * statements that are made anew.
 */
export function caseLocked(status: KybCaseStatus, { renewal }: { readonly renewal: boolean }): Problem | null {
  const allowed = renewal ? [...OPEN, 'approved' as const] : OPEN
  return allowed.includes(status) ? null : transitionProblem(`The case is ${status}.`, status, allowed)
}
