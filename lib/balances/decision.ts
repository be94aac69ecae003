/**
 * What the decisions of a balance have in common: what a command is remembered under, and the two ways to say no.
 */
import type { BalanceState } from './balance.ts'
import type { Effects } from '../decisions/effects.ts'
import type { CurrencyCode } from '../base/currency.ts'
import { formatMajor, moneyJson } from '../base/money.ts'
import type { FieldError, Problem } from '../base/problems.ts'

/** What a command is remembered under (I5). */
export interface CommandKey {
  readonly id: string
  /** The fingerprint of what was asked, 128 bits in the text form of a UUID. */
  readonly fingerprint: string
}

/** The part of a command that lets a refusal be remembered. */
export interface Recorded {
  /** Null when the caller sent no key. */
  readonly key: CommandKey | null
  /** The problem document of a refusal, to be kept with the key. */
  readonly problemText: (problem: Problem) => string
  /** Its status code. */
  readonly problemStatus: (problem: Problem) => number
}

/** `body` is the document that was recorded; null when nothing was. */
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

/** A body that names something it may not: answered, and nothing is remembered. */
export function invalid(balance: BalanceState | null, error: FieldError): BalanceDecision<never> {
  return {
    state: balance,
    reply: { kind: 'refused', problem: { slug: 'validation-error', detail: error.message, errors: [error] }, body: null },
    effects: null,
  }
}

/** A no that is remembered under its key, so that a repeat can never become a yes (I5). */
export function refuse(balance: BalanceState, command: Recorded, now: number, problem: Problem): BalanceDecision<never> {
  if (command.key === null) return { state: balance, reply: { kind: 'refused', problem, body: null }, effects: null }
  const body = command.problemText(problem)
  return {
    state: balance,
    reply: { kind: 'refused', problem, body },
    effects: { idempotency: { ...command.key, status: command.problemStatus(problem), resourceId: null, answer: body, createdAt: now } },
  }
}

/** The problem of a balance that does not cover what is asked of it, minor units. */
export function insufficientFunds(balance: BalanceState, required: bigint): Problem {
  const currency = balance.currency as CurrencyCode
  return {
    slug: 'insufficient-funds',
    detail: `Available ${formatMajor(balance.available, currency)} ${currency}, required ${formatMajor(required, currency)} ${currency}.`,
    extra: { available: moneyJson({ amountMinor: balance.available, currency }), required: moneyJson({ amountMinor: required, currency }) },
  }
}
