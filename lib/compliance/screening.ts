/**
 * The port to the provider that screens payments before they leave: against lists of names, by rules, or by a person. A
 * provider may be slow, so one call screens many payments. A payment without an answer does not leave.
 */
import type { ComplianceDecision, Finding } from './hold.ts'

/** The facts about a payment that the screening receives. */
export interface ScreeningSubject {
  readonly id: string
  /** Minor units. */
  readonly amount: bigint
  readonly reference: string
  /** The name of the payee. */
  readonly recipientName: string
}

/** The reason why a payment must not leave yet. */
export interface ScreeningHit {
  readonly provider: string
  readonly findings: readonly Finding[]
  /** The decision that the provider will make by itself, and the delay in milliseconds; null when staff decide. */
  readonly decides: { readonly decision: ComplianceDecision; readonly afterMs: number } | null
}

export interface Screener {
  /**
   * Returns the hits by subject id; a subject without a hit may leave. @throws when there is no answer: no subject may
   * leave then
   */
  screen(subjects: readonly ScreeningSubject[]): Promise<ReadonlyMap<string, ScreeningHit>>
}

/** Screening as use cases ask for it: hits that staff have released before are left out. */
export interface ScreeningGate {
  /** The hits, by the ids of their subjects. @throws when the screener gives no answer: no subject may leave then */
  screen(subjects: readonly ScreeningSubject[]): Promise<ReadonlyMap<string, ScreeningHit>>
}
