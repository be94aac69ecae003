/** The decisions of staff on a KYB case, and the reasons that prevent them. Pure. */
import { transitionProblem, type Problem } from '../base/problems.ts'
import type { RiskRating } from '../customers/customer.ts'
import type { FirstApproval } from './case-decision.ts'
import type { ReviewAnswer } from './case-words.ts'
import type { ScreeningAlertStatus } from './screening-alert.ts'
import type { KybPersonKind, KybPersonStatus } from './kyb-person.ts'

/** Notes of one case. */
export const CASE_NOTES_MAX = 200
/** Requirements of one request for information. */
export const REQUESTED_MAX = 50
/** The questions that a case keeps; answered ones give way. */
export const INFO_REQUESTS_MAX = 200

/** Whether two people have to approve a customer of this risk. */
export const needsTwoPeople = (risk: RiskRating | null): boolean => risk === 'high'

/** The facts on which an approval depends. */
export interface ApprovalFacts {
  readonly risk: RiskRating | null
  readonly status: string
  /** The provider's answer about the customer itself; null: none yet. */
  readonly reviewAnswer: ReviewAnswer | null
  /** Whether a provider reviews the case; without one staff verify people themselves. */
  readonly hasProvider: boolean
  readonly persons: readonly { readonly id: string; readonly kind: KybPersonKind; readonly status: KybPersonStatus }[]
  readonly alerts: readonly { readonly status: ScreeningAlertStatus }[]
  /** The operator's setting `kyb.requireAllPersonsVerified`. */
  readonly requireAllPersonsVerified: boolean
}

/** Returns the problem that keeps a case in review from being approved; null for none. */
export function approvalProblem(facts: ApprovalFacts): Problem | null {
  const { risk, status, reviewAnswer, hasProvider, persons, alerts, requireAllPersonsVerified } = facts
  if (risk === 'prohibited') return transitionProblem('A customer of prohibited risk is not approved.', status, [])
  const unverified =
    requireAllPersonsVerified && hasProvider
      ? persons.filter((person) => person.kind === 'person' && person.status !== 'green').map(({ id }) => id)
      : []
  const uncleared = alerts.filter((alert) => alert.status !== 'cleared').length
  const faults = [
    ...(unverified.length > 0 ? [`${unverified.length} persons are not verified`] : []),
    ...(requireAllPersonsVerified && hasProvider && reviewAnswer !== 'green' ? ['the customer is not verified'] : []),
    ...(uncleared > 0 ? [`${uncleared} screening alerts are not cleared`] : []),
  ]
  if (faults.length === 0) return null
  return {
    slug: 'kyc_incomplete',
    detail: `The case is not complete: ${faults.join(', ')}.`,
    extra: { persons: unverified },
  }
}

/**
 * Decides what an approval of a person does: it is the `first` of two, it is one of a person who has given theirs
 * (`again`), or it `approves` the customer.
 */
export function approvalBy(
  personId: string,
  { risk, first }: { readonly risk: RiskRating | null; readonly first: FirstApproval | null },
): 'first' | 'again' | 'approves' {
  if (!needsTwoPeople(risk)) return 'approves'
  if (first === null) return 'first'
  return first.by === personId ? 'again' : 'approves'
}

/** The months between two reviews, by risk: data of the operator. */
export type ReviewMonths = Readonly<Record<'low' | 'medium' | 'high', number>>

/** Returns the time of the next review after one at `now`, epoch milliseconds; an unrated customer is of medium risk. */
export function nextReviewAfter(now: number, risk: RiskRating | null, months: ReviewMonths): number {
  const rated = risk === 'low' || risk === 'high' ? risk : risk === 'prohibited' ? 'high' : 'medium'
  const next = new Date(now)
  const day = next.getUTCDate()
  next.setUTCDate(1)
  next.setUTCMonth(next.getUTCMonth() + months[rated])
  const lastDay = new Date(Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1, 0)).getUTCDate()
  next.setUTCDate(Math.min(day, lastDay))
  return next.getTime()
}

/** The currencies in which the balances of a new customer are opened: those it expects to use, else the euro. */
export function defaultCurrencies(
  expected: readonly string[] | null,
  available: ReadonlySet<string>,
): readonly string[] {
  const wanted = (expected ?? []).filter((currency) => available.has(currency))
  return wanted.length > 0 ? [...new Set(wanted)] : ['EUR'].filter((currency) => available.has(currency))
}
