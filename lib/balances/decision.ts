/**
 * Parts shared by all decisions of a balance: the key under which a command is stored, and the two kinds of refusal.
 */
import { outcomeRecord } from '../decisions/outcome-record.ts'
import { problemBody, problemStatus, type ProblemRequest } from '../base/problem-document.ts'
import type { BalanceState } from './balance.ts'
import type { Effects } from '../decisions/effects.ts'
import type { CurrencyCode } from '../base/currency.ts'
import { formatMajor, moneyJson } from '../base/money.ts'
import type { FieldError, Problem } from '../base/problems.ts'

/** The key under which a command and its outcome are stored (I5). */
export interface CommandKey {
  readonly id: string
  /** The fingerprint of the request, 128 bits in the text form of a UUID. */
  readonly fingerprint: string
}

/** The part of a command that is needed to record a refusal. */
export interface Recorded {
  /** Null when the caller sent no key. */
  readonly key: CommandKey | null
  /** The request that the problem document of a refusal repeats; the document is stored with the key. */
  readonly problemRequest: ProblemRequest
}

/** The request of a command without a key, whose refusals are recorded nowhere. */
export const NO_REQUEST: ProblemRequest = { problemBase: '', instance: '', requestId: '' }

/** A refusal. `body` is the recorded problem document; null when nothing was recorded. */
export interface Refused {
  readonly kind: 'refused'
  readonly problem: Problem
  readonly body: string | null
}

export interface BalanceDecision<Done> {
  readonly state: BalanceState | null
  readonly reply: Done | Refused
  readonly effects: Effects | null
  readonly refused?: boolean
}

/** Refuses a request with an invalid field and records nothing. */
export function invalid(balance: BalanceState | null, error: FieldError): BalanceDecision<never> {
  return {
    state: balance,
    reply: {
      kind: 'refused',
      problem: { slug: 'validation-error', detail: error.message, errors: [error] },
      body: null,
    },
    effects: null,
  }
}

/**
 * Refuses a command on freshly loaded state (I4) and records nothing, because the refusal is none of the command: the
 * same request may succeed when its cause has ended.
 */
export function unrecorded(
  balance: BalanceState,
  problem: Problem,
): BalanceDecision<never> & { readonly refused: true } {
  return { state: balance, reply: { kind: 'refused', problem, body: null }, effects: null, refused: true }
}

/** Refuses a command and records the refusal under its key, so that a repeat can never be approved (I5). */
export function refuse(
  balance: BalanceState,
  command: Recorded,
  now: number,
  problem: Problem,
): BalanceDecision<never> {
  if (command.key === null) return { state: balance, reply: { kind: 'refused', problem, body: null }, effects: null }
  const body = problemBody(problem, command.problemRequest)
  return {
    state: balance,
    reply: { kind: 'refused', problem, body },
    effects: outcomeRecord(command.key, problemStatus(problem), null, body, now),
  }
}

/** Builds the problem of a balance that does not cover `required`, minor units. */
export function insufficientFunds(balance: Pick<BalanceState, 'available' | 'currency'>, required: bigint): Problem {
  const currency = balance.currency as CurrencyCode
  return {
    slug: 'insufficient-funds',
    detail: `Available ${formatMajor(balance.available, currency)} ${currency}, required ${formatMajor(required, currency)} ${currency}.`,
    extra: {
      available: moneyJson({ amountMinor: balance.available, currency }),
      required: moneyJson({ amountMinor: required, currency }),
    },
  }
}
