/** The entries of card transactions: L71 for what is paid, L73 for what comes back. */
import type { Posting } from '../ledger/posting.ts'
import type { CurrencyCode } from '../base/currency.ts'
import { formatMajor } from '../base/money.ts'
import { entry, type InternalAccounts } from '../ledger/entry.ts'
import type { CardFees } from './card-fees.ts'
import type { CardMessage } from './card-message.ts'
import type { CardMoney, CardTransactionState } from './card-transaction.ts'

/** The text of lines about a transaction. */
export const cardText = ({ merchantName }: Pick<CardTransactionState, 'merchantName'>, money: CardMoney): string =>
  money.kind === 'pay'
    ? money.withdrawal
      ? `Cash withdrawal, ${merchantName}`
      : `Card payment, ${merchantName}`
    : money.kind === 'take_back'
      ? `Card credit taken back, ${merchantName}`
      : `Card refund, ${merchantName}`

/** Makes the rows of a movement; none where it moves no money. Money of a closing balance is taken and given as usual. */
export function cardPostings(
  transaction: CardTransactionState,
  message: Pick<CardMessage, 'phase' | 'merchantAmount' | 'merchantCurrency' | 'rate'>,
  money: CardMoney,
  { fee: F, tax: T, markup, markupTax }: CardFees,
  {
    accounts,
    entryId,
    valueDate,
    now,
  }: {
    readonly accounts: InternalAccounts
    readonly entryId: string
    readonly valueDate: string
    readonly now: number
  },
): Posting[] {
  if (money.kind === 'none') return []
  const { id, balanceId, customerId, currency, merchantName, ref } = transaction
  const common = {
    currency,
    accounts,
    balances: { from: balanceId, to: { id: balanceId, fence: 'own_turn' } },
    entryId,
    customerId,
    source: { object: 'card_transaction', id },
    // Each version of the transaction posts once at most.
    occurrence: transaction.version,
    description:
      (message.phase.startsWith('chargeback')
        ? `Disputed card payment, ${merchantName}`
        : cardText(transaction, money)) + converted(message),
    reference: ref,
    counterparty: merchantName,
    bookedAt: now,
    valueDate,
  } as const
  switch (money.kind) {
    case 'pay':
      return entry({
        ...common,
        rule: 'L71',
        ...variantOf(money.withdrawal, message.rate !== null),
        amounts: { S: money.amount, F, T, M: markup - markupTax },
      })
    case 'credit':
      return entry({ ...common, rule: 'L73', amounts: { R: money.amount } })
    case 'take_back':
      return entry({ ...common, rule: 'L73', reverses: { entryId: null, rule: 'L73' }, amounts: { R: money.amount } })
    default:
      return money satisfies never
  }
}

/** The case of L71: cash, and a conversion whose markup is a line of its own. */
function variantOf(isCash: boolean, isConverted: boolean): { readonly variant?: string } {
  if (isConverted) return { variant: isCash ? 'converted_withdrawal' : 'converted' }
  return isCash ? { variant: 'withdrawal' } : {}
}

/** The part of a line's text that tells of a conversion: `, 108.00 USD at 0.9259259259`. */
const converted = ({
  merchantAmount,
  merchantCurrency,
  rate,
}: Pick<CardMessage, 'merchantAmount' | 'merchantCurrency' | 'rate'>): string =>
  rate === null
    ? ''
    : `, ${formatMajor(merchantAmount, merchantCurrency as CurrencyCode)} ${merchantCurrency} at ${rate}`
