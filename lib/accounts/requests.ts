/**
 * Rules for requesting account details, and for the older details that new ones replace.
 *
 *   pending ──▶ active ──▶ replaced ──▶ closed      by newer ones of the same scope: a reissue or a provider switch
 *     │           └──▶ closing ──▶ closed           closed together with the balance
 *     └──▶ failed                                   the partner refused the request
 */
import { DAY_MS } from '../base/clock.ts'
import type { FieldError } from '../base/problems.ts'
import type { AccountDetailsStatus, AccountTerms } from './details.ts'

/** The kind of change that events report for the identifiers of a balance. */
export type DetailsChangeKind = 'reissue' | 'provider_switch' | 'closing'

/**
 * Time for which replaced details still accept money: 90 days, a quarter of a year, so that payers can change standing
 * orders.
 */
export const REPLACED_FOR_MS = 90 * DAY_MS

/** Account details as the current transaction has locked them. */
export interface KnownDetails {
  readonly id: string
  readonly scope: AccountTerms['scope']
  readonly status: AccountDetailsStatus
  readonly connectionId: string
}

type Offer = Pick<AccountTerms, 'scope' | 'rails'>

/**
 * Finds the one scope whose offer has all of the rails; otherwise returns the field error of the first rail at fault.
 */
export function scopeOf(rails: readonly string[], offers: readonly Offer[]): Offer | FieldError {
  for (const [index, rail] of rails.entries()) {
    if (!offers.some((offer) => (offer.rails as readonly string[]).includes(rail))) {
      return {
        field: `/rails/${index}`,
        code: 'not_applicable',
        message: `Accounts in this currency cannot receive payments by ${rail}.`,
      }
    }
  }
  const offer = offers.find((one) => rails.every((rail) => (one.rails as readonly string[]).includes(rail)))
  return (
    offer ?? {
      field: '/rails',
      code: 'invalid_value',
      message: 'Domestic and international rails have separate accounts; request them one after the other.',
    }
  )
}

/** Selects the active details of the same scope, which new details replace. */
export function replacedBy<Known extends KnownDetails>(
  known: readonly Known[],
  { id, scope }: Pick<KnownDetails, 'id' | 'scope'>,
): readonly Known[] {
  return known.filter((details) => details.id !== id && details.scope === scope && details.status === 'active')
}

/** Names the change to announce; null for the first details of a scope, because no payer uses older ones. */
export function changeKind(
  replaced: readonly KnownDetails[],
  { connectionId }: Pick<KnownDetails, 'connectionId'>,
): DetailsChangeKind | null {
  if (replaced.length === 0) return null
  return replaced.some((details) => details.connectionId !== connectionId) ? 'provider_switch' : 'reissue'
}

/** Statuses from best to worst; the best one among all details of a balance is the status that the balance shows. */
const STANDING = [
  'active',
  'pending',
  'replaced',
  'closing',
  'failed',
  'closed',
] as const satisfies readonly AccountDetailsStatus[]

/** Returns the details status that a balance shows; null when it has no account details. */
export function standingOf(known: readonly Pick<KnownDetails, 'status'>[]): AccountDetailsStatus | null {
  return STANDING.find((status) => known.some((details) => details.status === status)) ?? null
}

/**
 * Statuses in which the partner can still credit an account: the partner must close these before the balance can close.
 */
export const OPEN_DETAILS: readonly AccountDetailsStatus[] = ['pending', 'active', 'replaced', 'closing']
