/**
 * The port to the accounts that a banking partner keeps for balances: opened and closed under a reference of ours, which may be
 * named as often as it takes.
 */
import type { AccountTerms } from '../../lib/accounts/details.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'

/** A way in which the partner lets a currency come in. */
export type AccountOffer = Pick<AccountTerms, 'scope' | 'rails'>

export interface AccountRequest {
  /** Ours; it names the account from then on. */
  readonly reference: string
  readonly currency: CurrencyCode
  readonly scope: AccountTerms['scope']
  readonly holderName: string
}

/** `refused` is final. */
export type AccountAnswer =
  | { readonly kind: 'pending' }
  | { readonly kind: 'opened'; readonly terms: AccountTerms }
  | { readonly kind: 'refused'; readonly reason: string }

export interface AccountPartner {
  /** The ways in for a currency; none where it opens no accounts in it. */
  offers(currency: CurrencyCode): readonly AccountOffer[]
  /** Asks for an account, or what has become of one that was asked for. @throws when nobody knows */
  open(request: AccountRequest): Promise<AccountAnswer>
  /** Asks for an account to be closed; resolves with whether nothing comes in by it any more. @throws when nobody knows */
  close(reference: string): Promise<boolean>
}
