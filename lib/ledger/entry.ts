/** One entry of the ledger: the pairs of a posting rule with their accounts, as rows to write. */
import { creditRef, debitRef, internalRef, type CreditedBalance, type CreditRef, type DebitRef } from './account-ref.ts'
import type { AccountKey } from './chart.ts'
import type { Posting, SourceObject } from './posting.ts'
import { post, reversalOf, type Amounts, type Pair, type RuleId } from './postings.ts'

/**
 * The part of a pair's description that follows that of its entry, by the account on either side: a customer reads tax
 * as a line of its own.
 */
const PAIR_DESCRIPTIONS: { readonly [key in AccountKey]?: string } = { fee_tax: ', tax in the fee' }

/** A customer reads the markup of a conversion as a line of its own, too; margins of exchanges are no line of customers. */
const markupText = ({ debit, credit }: Pair): string =>
  debit === 'cust' && credit === 'inc_fx' ? ', currency conversion' : ''

/** The internal accounts of one operator, connection and currency, by their key in the chart. */
export type InternalAccounts = Readonly<Partial<Record<AccountKey, string>>>

export interface EntryOptions {
  readonly rule: RuleId
  /** A case of the rule that does not follow from the amounts. */
  readonly variant?: string
  readonly amounts: Amounts
  readonly currency: string
  readonly accounts: InternalAccounts
  /** The accounts of the receiving connection, where a rule names two connections. */
  readonly toAccounts?: InternalAccounts
  /** The balances behind `cust`: the one debited, and the one credited with its fence. */
  readonly balances: { readonly from: string; readonly to: CreditedBalance }
  readonly entryId: string
  readonly customerId: string
  readonly source: { readonly object: SourceObject; readonly id: string }
  readonly occurrence?: number
  readonly description: string
  readonly reference?: string | null
  readonly counterparty?: string | null
  /** The entry that this one reverses, with its rule and variant: its pairs are posted with the sides swapped. */
  readonly reverses?: { readonly entryId: string | null; readonly rule: RuleId; readonly variant?: string }
  readonly bookedAt: number
  readonly valueDate: string
}

/** The balances of a rule that touches no customer's balance. */
export const NO_BALANCE: EntryOptions['balances'] = { from: '', to: { id: '', fence: 'open' } }

/**
 * Makes the rows of one entry.
 * @throws Error when an account of the rule is missing, which is a bug
 */
export function entry(options: EntryOptions): Posting[] {
  const currencies = { c: options.currency }
  const pairs =
    options.reverses === undefined
      ? post(options.rule, options.amounts, currencies, options.variant)
      : reversalOf(post(options.reverses.rule, options.amounts, currencies, options.reverses.variant))
  return pairs.map((pair, ordinal) => ({
    entryId: options.entryId,
    ordinal,
    customerId: options.customerId,
    rule: options.rule,
    occurrence: options.occurrence ?? 1,
    sourceObject: options.source.object,
    sourceId: options.source.id,
    currency: options.currency,
    amount: pair.amount,
    debit: pair.debit === 'cust' ? debitRef(options.balances.from) : account(pair, 'debit', options),
    credit: pair.credit === 'cust' ? creditRef(options.balances.to) : account(pair, 'credit', options),
    description:
      options.description + (PAIR_DESCRIPTIONS[pair.debit] ?? PAIR_DESCRIPTIONS[pair.credit] ?? markupText(pair)),
    reference: options.reference ?? null,
    counterparty: options.counterparty ?? null,
    reversalOf: options.reverses?.entryId ?? null,
    bookedAt: options.bookedAt,
    valueDate: options.valueDate,
  }))
}

function account(
  pair: Pair,
  which: 'debit' | 'credit',
  { rule, accounts, toAccounts = accounts }: EntryOptions,
): DebitRef & CreditRef {
  const key = pair[which]
  const role = which === 'debit' ? pair.debitRole : pair.creditRole
  const id = (role === 'to' ? toAccounts : accounts)[key]
  if (id === undefined)
    throw new Error(`${rule} needs the account ${key}, which does not exist for this connection and currency`)
  return internalRef(id)
}
