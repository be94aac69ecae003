/** What staff decide on a KYB case, and what keeps them from it. Pure. */
import { DAY_MS } from '../base/clock.ts'
import { transitionProblem, type Problem } from '../base/problems.ts'
import type { RiskRating } from '../customers/customer.ts'
import type { CustomerType } from '../customers/types.ts'
import type { FirstApproval } from './case-decision.ts'
import { ATTESTATIONS, type ReviewAnswer } from './case-words.ts'
import type { KybCaseFacts } from './kyb-case.ts'
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

/** Reminders go out this long before a review falls due. */
const REMINDERS_MS = [30 * DAY_MS, 7 * DAY_MS]
/** From this long before its due time on, what the customer states anew counts for the review. */
const RENEWAL_MS = 30 * DAY_MS
/** A review that is overdue is looked at again after this time. */
const OVERDUE_MS = DAY_MS

/** Returns the first time at which the review of a case that was approved just now is looked at. */
export const firstLookAt = (nextReviewAt: number, now: number): number =>
  REMINDERS_MS.map((before) => nextReviewAt - before).find((at) => at > now) ?? nextReviewAt

/** What is done when the review of an approved case is looked at, and when it is looked at next; null: no more. */
export type ReviewStep =
  /** The customer has stated its facts anew, and staff look at them. */
  | { readonly kind: 'review' }
  | { readonly kind: 'remind'; readonly lookAt: number }
  /** The customer can no longer pay. */
  | { readonly kind: 'lapse'; readonly lookAt: number }
  | { readonly kind: 'wait'; readonly lookAt: number }

/** Decides what is done with a review at `now`; times are epoch milliseconds. */
export function reviewStep(
  {
    nextReviewAt,
    isRenewed,
    hasLapsed,
  }: { readonly nextReviewAt: number; readonly isRenewed: boolean; readonly hasLapsed: boolean },
  now: number,
): ReviewStep {
  if (now >= nextReviewAt) {
    if (isRenewed) return { kind: 'review' }
    return { kind: hasLapsed ? 'wait' : 'lapse', lookAt: now + OVERDUE_MS }
  }
  const lookAt = firstLookAt(nextReviewAt, now)
  return isRenewed || now < nextReviewAt - REMINDERS_MS[0]! ? { kind: 'wait', lookAt } : { kind: 'remind', lookAt }
}

/** Whether a customer has made all of its statements anew for the review that falls due at `nextReviewAt`. */
export function isRenewed(
  { attestations, terms }: Pick<KybCaseFacts, 'attestations' | 'terms'>,
  customerType: CustomerType,
  nextReviewAt: number,
): boolean {
  const statements = customerType === 'business' ? ATTESTATIONS.map((name) => attestations[name]) : []
  return [...statements, terms].every((made) => made != null && made.at >= nextReviewAt - RENEWAL_MS)
}

/** The currencies in which the balances of a new customer are opened: those it expects to use, else the euro. */
export function defaultCurrencies(
  expected: readonly string[] | null,
  available: ReadonlySet<string>,
): readonly string[] {
  const wanted = (expected ?? []).filter((currency) => available.has(currency))
  return wanted.length > 0 ? [...new Set(wanted)] : ['EUR'].filter((currency) => available.has(currency))
}
