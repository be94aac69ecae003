/** Requirements of a KYB case: their words and shape. */
import type { KybDocumentType } from './kyb-document.ts'

export const REQUIREMENT_KINDS = ['field', 'document', 'person', 'attestation'] as const
export type RequirementKind = (typeof REQUIREMENT_KINDS)[number]

export const REQUIREMENT_REASONS = [
  'missing',
  'expires',
  'expired',
  'not_clean',
  'verification_failed',
  'information_requested',
  'periodic_review',
] as const
export type RequirementReason = (typeof REQUIREMENT_REASONS)[number]

export const REQUIREMENT_ERRORS = ['document_not_clean', 'verification_failed', 'person_rejected'] as const
export type RequirementErrorCode = (typeof REQUIREMENT_ERRORS)[number]

/** One thing that a case needs: the pointer of its place in the case, and what would meet it. */
export interface Requirement {
  readonly pointer: string
  readonly kind: RequirementKind
  readonly personId: string | null
  readonly documentType: KybDocumentType | null
  readonly reason: RequirementReason
}

export const AWAITED = ['customer', 'operator', 'provider'] as const
export type Awaited = (typeof AWAITED)[number]

/** A part of an approved case that becomes past due at a time, epoch milliseconds. */
export interface DueAgain {
  readonly kind: 'statements' | 'documents'
  readonly dueAt: number
}

/** The requirements of a case at one moment. */
export interface KybRequirements {
  readonly currentlyDue: readonly Requirement[]
  readonly eventuallyDue: readonly Requirement[]
  readonly pastDue: readonly Requirement[]
  /** Given, and being checked. */
  readonly pendingVerification: readonly Requirement[]
  readonly errors: readonly {
    readonly requirement: string
    readonly code: RequirementErrorCode
    readonly message: string
  }[]
  /** The time at which the first of those that are due becomes past due, epoch milliseconds; null: none does. */
  readonly deadline: number | null
  /** Null: nothing is awaited. */
  readonly awaitingActionFrom: Awaited | null
}
