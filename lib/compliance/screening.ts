/**
 * The port to whoever screens payments before they leave: against lists of names, by rules, by a person somewhere. It may
 * be slow, so it is asked about many payments at once and answers when it can; what it does not answer for stays where it is.
 */
import type { ComplianceDecision, Finding } from './hold.ts'

/** What is known of a payment where it is screened. */
export interface ScreeningSubject {
  readonly id: string
  /** Minor units. */
  readonly amount: bigint
  readonly reference: string
  /** Who is paid. */
  readonly recipientName: string
}

/** Why a payment must not leave yet. */
export interface ScreeningHit {
  readonly provider: string
  readonly findings: readonly Finding[]
  /** What the provider decides by itself, and after how many milliseconds; null: people do. */
  readonly decides: { readonly decision: ComplianceDecision; readonly afterMs: number } | null
}

export interface Screener {
  /** The hits, by the ids of their subjects; a subject that is absent may leave. @throws when there is no answer: none of them may leave then */
  screen(subjects: readonly ScreeningSubject[]): Promise<ReadonlyMap<string, ScreeningHit>>
}

/** Screening as use cases ask for it: hits that staff have released before are left out. */
export interface ScreeningGate {
  /** The hits, by the ids of their subjects. @throws when the screener gives no answer: no subject may leave then */
  screen(subjects: readonly ScreeningSubject[]): Promise<ReadonlyMap<string, ScreeningHit>>
}
