/**
 * Money that comes to a balance which takes none any more: it waits for its owner with the rest of the unallocated money, as an item of
 * the suspense list, whichever rule has brought it. The operator's people give it to another balance of its owner.
 */
import { internalRef } from '../ledger/account-ref.ts'
import type { Effects } from '../decisions/effects.ts'
import type { IncomingPaymentRow } from './effects.ts'
import type { Posting } from '../ledger/posting.ts'
import type { InternalAccounts } from '../ledger/entry.ts'

/** What of an item of the suspense list is known beside its money. */
export type SuspenseItem = Pick<IncomingPaymentRow, 'id' | 'operatorId' | 'connectionId' | 'shard' | 'payerName' | 'reference' | 'rail' | 'valueDate' | 'receivedAt'> & {
  /** The payment, exchange or transfer. */
  readonly originId: string
}

/** The item itself. `amount` is minor units. */
export function suspenseItem(item: SuspenseItem, money: Pick<IncomingPaymentRow, 'currency' | 'amount'>): IncomingPaymentRow {
  return {
    ...item, ...money, customerId: null, balanceId: null, status: 'unallocated', payerIdentifier: null, payerBankName: null, payerCountry: null, endToEndId: null, uetr: null,
    suspense: 'open', suspenseReason: 'balance_closed', creditedAt: null,
  }
}

/**
 * The same effects after the commit has refused their credit: every posting keeps its rule and its debit, and what it gives the
 * balance goes to `unallocated`.
 *
 * @param accounts those of the connection and currency of the money
 * @throws when the effects credit no balance, or two, of which it is not known which one was refused
 */
export function intoSuspense(effects: Effects, item: SuspenseItem, accounts: InternalAccounts): Effects {
  const unallocated = accounts.unallocated
  if (unallocated === undefined) throw new Error(`There is no suspense account for the money of ${item.originId}.`)
  const refused = new Set<string>()
  let currency = ''
  let amount = 0n
  const postings = (effects.postings ?? []).map((posting): Posting => {
    if (posting.credit.kind !== 'balance' || posting.credit.fence !== 'open') return posting
    refused.add(posting.credit.id)
    currency = posting.currency
    amount += posting.amount
    return { ...posting, credit: internalRef(unallocated) }
  })
  if (refused.size !== 1) throw new Error(`${refused.size} balances are credited for ${item.originId}, not one.`)
  return { ...effects, postings, incomingPayments: [...effects.incomingPayments ?? [], suspenseItem(item, { currency, amount })] }
}
