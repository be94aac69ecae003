/**
 * Screening alerts: a name of a case that a list has, found when the customer was reviewed or later, while it is
 * monitored. Two people of the staff decide on each. Pure.
 *
 *   open ──clear──▶ cleared ◀──┐
 *    └──confirm──▶ confirmed ──┘ two others may find otherwise
 */
import { timestamp } from '../base/clock.ts'
import { transitionProblem, type Problem } from '../base/problems.ts'
import type { KybScreeningHit } from './kyb-case.ts'
import type { Acted } from './case-decision.ts'

export const SCREENING_ALERT_STATUSES = ['open', 'cleared', 'confirmed'] as const
export type ScreeningAlertStatus = (typeof SCREENING_ALERT_STATUSES)[number]
export const ALERT_DECISIONS = ['cleared', 'confirmed'] as const
export type AlertDecision = (typeof ALERT_DECISIONS)[number]

/** Alerts of one case; hits beyond are kept with the result of the review alone. */
export const ALERTS_MAX = 200

/** A person's view of an alert. */
export interface AlertProposal extends Acted {
  readonly decision: AlertDecision
  readonly reason: string
}

/** The decision of two people. */
export interface AlertDecided extends AlertProposal {
  readonly first: AlertProposal
}

/** An alert. Times are epoch milliseconds. */
export interface ScreeningAlertRecord {
  readonly id: string
  readonly caseId: string
  readonly customerId: string
  readonly operatorId: string
  readonly provider: string
  readonly list: string
  /** The name as the list has it. */
  readonly name: string
  /** 0 to 100. */
  readonly score: number
  readonly status: ScreeningAlertStatus
  readonly proposal: AlertProposal | null
  readonly decision: AlertDecided | null
  readonly version: number
  readonly createdAt: number
  readonly updatedAt: number
}

/** Returns the hits of which a case has no alert yet; each once. A provider's own `false_positive` is none. */
export function newHits(
  known: readonly Pick<ScreeningAlertRecord, 'list' | 'name'>[],
  hits: readonly KybScreeningHit[],
): readonly KybScreeningHit[] {
  const keyOf = ({ list, name }: { readonly list: string; readonly name: string }) => JSON.stringify([list, name])
  const seen = new Set(known.map(keyOf))
  return hits.filter((hit) => {
    if (hit.status === 'false_positive' || seen.has(keyOf(hit))) return false
    seen.add(keyOf(hit))
    return true
  })
}

/** The members of an alert that a person's view changes. */
export type AlertChange = Pick<ScreeningAlertRecord, 'status' | 'proposal' | 'decision'>

/**
 * Decides what a person's view of an alert changes: the first is kept, and the same view of another person takes
 * effect; a different view takes the place of the first.
 */
export function decideAlert(
  { status, proposal, decision }: AlertChange,
  view: AlertProposal,
): AlertChange | { readonly refused: Problem } {
  if (status === view.decision)
    return {
      refused: transitionProblem(
        `The alert is ${status}.`,
        status,
        SCREENING_ALERT_STATUSES.filter((other) => other !== status),
      ),
    }
  const confirms = proposal !== null && proposal.by !== view.by && proposal.decision === view.decision
  return confirms
    ? { status: view.decision, proposal: null, decision: { ...view, first: proposal } }
    : { status, proposal: view, decision }
}

const proposalJson = ({ decision, reason, by, byName, at }: AlertProposal) => ({
  decision,
  reason,
  by: { id: by, name: byName },
  at: timestamp(at),
})

/** Builds an alert as staff see it. */
export function screeningAlertJson(alert: ScreeningAlertRecord) {
  const { id, provider, list, name, score, status, proposal, decision, createdAt, updatedAt } = alert
  return {
    ...{ id, provider, list, name, score, status },
    proposal: proposal === null ? null : proposalJson(proposal),
    decision: decision === null ? null : { ...proposalJson(decision), first: proposalJson(decision.first) },
    createdAt: timestamp(createdAt),
    updatedAt: timestamp(updatedAt),
  }
}
