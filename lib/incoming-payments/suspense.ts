/**
 * Money that comes to a closed balance: it waits for its owner among the unallocated money, as an item of the suspense
 * list, whichever rule brought it. Staff allocate it to another balance of its owner.
 */
import { internalRef } from '../ledger/account-ref.ts'
import type { Effects } from '../decisions/effects.ts'
import type { IncomingPaymentRow } from './effects.ts'
import type { Posting } from '../ledger/posting.ts'
import type { InternalAccounts } from '../ledger/entry.ts'

/** The fields of a suspense item beside its money. */
export type SuspenseOrigin = Pick<
  IncomingPaymentRow,
  'id' | 'operatorId' | 'connectionId' | 'shard' | 'payerName' | 'reference' | 'rail' | 'valueDate' | 'receivedAt'
> & {
  /** The payment, exchange or transfer that the money comes from. */
  readonly originId: string
}

/** Makes the suspense item. `amount` is minor units. */
export function suspenseItem(
  item: SuspenseOrigin,
  money: Pick<IncomingPaymentRow, 'currency' | 'amount'>,
): IncomingPaymentRow {
  return {
    ...item,
    ...money,
    customerId: null,
    balanceId: null,
    status: 'unallocated',
    payerIdentifier: null,
    payerBankName: null,
    payerCountry: null,
    endToEndId: null,
    uetr: null,
    suspense: 'open',
    suspenseReason: 'balance_closed',
    creditedAt: null,
  }
}

/**
 * Redirects effects into suspense after the commit has refused their credit: every posting keeps its rule and its
 * debit, and its credit of the balance goes to `unallocated` instead.
 *
 * @param accounts the accounts of the connection and currency of the money
 * @throws Error when the effects credit no balance, or two, because then the refused one is not known
 */
export function intoSuspense(effects: Effects, item: SuspenseOrigin, accounts: InternalAccounts): Effects {
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
  return {
    ...effects,
    postings,
    incomingPayments: [...(effects.incomingPayments ?? []), suspenseItem(item, { currency, amount })],
  }
}
