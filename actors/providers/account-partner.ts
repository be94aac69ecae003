/**
 * The port to the accounts that banking partners keep for balances. Accounts are opened and closed under a reference
 * of ours; a repeated request under the same reference is harmless.
 */
import type { AccountTerms } from '../../lib/accounts/details.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'

/** A kind of account that the partner offers for a currency. */
export type AccountOffer = Pick<AccountTerms, 'scope' | 'rails'>

export interface AccountRequest {
  /** The connection through which the account is kept. */
  readonly connectionId: string
  /** Our reference, which names the account from then on. */
  readonly reference: string
  readonly currency: CurrencyCode
  readonly scope: AccountTerms['scope']
  readonly holderName: string
}

/** The answer to a request for an account; `refused` is final. */
export type AccountAnswer =
  | { readonly kind: 'pending' }
  | { readonly kind: 'opened'; readonly terms: AccountTerms }
  | { readonly kind: 'refused'; readonly reason: string }

export interface AccountPartner {
  /** The kinds of account of a provider for a currency; none where it opens no accounts in it. */
  offers(provider: string, currency: CurrencyCode): readonly AccountOffer[]
  /** Requests an account, or asks for the state of a requested one. @throws when the outcome is unknown */
  open(request: AccountRequest): Promise<AccountAnswer>
  /**
   * Requests the closing of an account; resolves with true when no money can arrive through it any more.
   *
   * @throws when the outcome is unknown
   */
  close(account: Pick<AccountRequest, 'reference' | 'connectionId'>): Promise<boolean>
}
