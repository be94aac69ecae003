/**
 * Entries of the rules that move two currencies (L30 to L36, L43, L81): the accounts and the balances of each currency.
 */
import { creditRef, debitRef, internalRef, type CreditRef, type DebitRef } from '../ledger/account-ref.ts'
import type { Posting } from '../ledger/posting.ts'
import type { InternalAccounts } from '../ledger/entry.ts'
import { post, reversalOf, type Amounts, type CurrencySymbol, type Pair, type RuleId } from '../ledger/postings.ts'
import type { ExchangeRecord } from './exchange.ts'

/** The internal accounts of both currencies, on the connection of the exchange. */
export interface ExchangeAccounts {
  readonly sell: InternalAccounts
  readonly buy: InternalAccounts
}

export interface ExchangeEntry {
  readonly rule: RuleId
  readonly variant?: string
  /** Distinguishes entries of the same rule. */
  readonly occurrence?: number
  readonly amounts: Amounts
  readonly entryId: string
  /** The entry that this entry reverses, and its rule. */
  readonly reverses?: { readonly rule: RuleId; readonly entryId: string }
  readonly bookedAt: number
  readonly valueDate: string
}

type Booked = Pick<
  ExchangeRecord,
  'id' | 'customerId' | 'number' | 'reference' | 'sellBalanceId' | 'buyBalanceId' | 'sellCurrency' | 'buyCurrency'
>

/** Builds the postings of one entry of an exchange. @throws when an account of the rule is missing, which is a bug */
export function exchangeEntry(
  exchange: Booked,
  accounts: ExchangeAccounts,
  { rule, variant, occurrence = 1, amounts, entryId, reverses, bookedAt, valueDate }: ExchangeEntry,
): Posting[] {
  const currencies = { s: exchange.sellCurrency, b: exchange.buyCurrency, c: exchange.sellCurrency }
  const pairs =
    reverses === undefined
      ? post(rule, amounts, currencies, variant)
      : reversalOf(post(reverses.rule, amounts, currencies, variant))
  return pairs.map((pair, ordinal) => ({
    entryId,
    ordinal,
    customerId: exchange.customerId,
    rule,
    occurrence,
    sourceObject: 'exchange',
    sourceId: exchange.id,
    currency: pair.currency,
    amount: pair.amount,
    debit: pair.debit === 'cust' ? debitRef(balanceOf(exchange, pair)) : account(accounts, pair, 'debit', rule),
    credit:
      pair.credit === 'cust'
        ? creditRef({ id: balanceOf(exchange, pair), fence: 'open' })
        : account(accounts, pair, 'credit', rule),
    description: `Exchange ${exchange.number}`,
    reference: exchange.reference,
    counterparty: null,
    reversalOf: reverses?.entryId ?? null,
    bookedAt,
    valueDate,
  }))
}

const isBought = ({ symbol }: Pair): boolean => (symbol satisfies CurrencySymbol) === 'b'

const balanceOf = ({ buyBalanceId, sellBalanceId }: Booked, pair: Pair): string =>
  isBought(pair) ? buyBalanceId : sellBalanceId

function account(
  accounts: ExchangeAccounts,
  pair: Pair,
  which: 'debit' | 'credit',
  rule: RuleId,
): DebitRef & CreditRef {
  const key = pair[which]
  const id = (isBought(pair) ? accounts.buy : accounts.sell)[key]
  if (id === undefined)
    throw new Error(`${rule} needs the account ${key}, which does not exist for this connection and currency`)
  return internalRef(id)
}
