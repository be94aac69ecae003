/**
 * Asking for account details, and what becomes of those that were there before.
 *
 *   pending ──▶ active ──▶ replaced ──▶ closed      by newer ones of the same scope: it is a reissue, or the provider was switched
 *     │           └──▶ closing ──▶ closed           with its balance
 *     └──▶ failed                                   the partner refused
 */
import type { FieldError } from '../base/problems.ts'
import type { AccountDetailsStatus, AccountTerms } from './details.ts'

/** What a change of a balance's identifiers is told as. */
export type DetailsChangeKind = 'reissue' | 'provider_switch' | 'closing'

/** How long payers may go on using details that were replaced: a quarter of a year, for standing orders. */
export const REPLACED_FOR_MS = 90 * 86_400_000

/** Details as whoever decides has locked them. */
export interface KnownDetails {
  readonly id: string
  readonly scope: AccountTerms['scope']
  readonly status: AccountDetailsStatus
  readonly connectionId: string
}

type Offer = Pick<AccountTerms, 'scope' | 'rails'>

/** The one scope whose offer has all of the rails, or what is wrong with them. */
export function scopeOf(rails: readonly string[], offers: readonly Offer[]): Offer | FieldError {
  for (const [index, rail] of rails.entries()) {
    if (!offers.some((offer) => (offer.rails as readonly string[]).includes(rail))) {
      return { field: `/rails/${index}`, code: 'not_applicable', message: `Nothing comes in by ${rail} in this currency.` }
    }
  }
  const offer = offers.find((one) => rails.every((rail) => (one.rails as readonly string[]).includes(rail)))
  return offer ?? { field: '/rails', code: 'invalid_value', message: 'Rails of the own country and of abroad have accounts of their own; ask for them one after the other.' }
}

/** Those that new details of a scope take the place of. */
export function replacedBy<Known extends KnownDetails>(known: readonly Known[], { id, scope }: Pick<KnownDetails, 'id' | 'scope'>): readonly Known[] {
  return known.filter((details) => details.id !== id && details.scope === scope && details.status === 'active')
}

/** What the change is told as: null for first details, which change nothing that anybody uses. */
export function changeKind(replaced: readonly KnownDetails[], { connectionId }: Pick<KnownDetails, 'connectionId'>): DetailsChangeKind | null {
  if (replaced.length === 0) return null
  return replaced.some((details) => details.connectionId !== connectionId) ? 'provider_switch' : 'reissue'
}

/** Best first: what all the details of a balance amount to. */
const STANDING = ['active', 'pending', 'replaced', 'closing', 'failed', 'closed'] as const satisfies readonly AccountDetailsStatus[]

/** What a balance says of its details; null when it has none. */
export function standingOf(known: readonly Pick<KnownDetails, 'status'>[]): AccountDetailsStatus | null {
  return STANDING.find((status) => known.some((details) => details.status === status)) ?? null
}

/** Details that the partner still has to close before nothing comes in any more. */
export const OPEN_DETAILS: readonly AccountDetailsStatus[] = ['pending', 'active', 'replaced', 'closing']
