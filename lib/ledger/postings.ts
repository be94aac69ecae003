/**
 * The posting rules L01…L97: the accounts that each business event moves, as data, and the one function that turns a
 * rule and its amounts into rows of the ledger.
 *
 * A rule is written as an accountant writes it: debit lines, credit lines, symbolic amounts. It is stored as pairs of
 * one debit account, one credit account, one currency and one positive amount; such pairs always balance (G1). A test
 * checks the rules symbolically: per currency, the debits of every rule equal its credits.
 *
 * Amounts are bigint minor units. A zero line is omitted; a negative line is a bug and throws (G8).
 */
import type { AccountKey } from './chart.ts'

/**
 * The symbols for amounts in rules: A amount, F fee, T tax within F, R returned amount, S sold, B bought, Sp and Bp the
 * amounts that the partner books for S and B, M markup within F, D deposit, P charge (or profit, or loss), C collection.
 */
export type Letter = 'A' | 'F' | 'T' | 'R' | 'S' | 'B' | 'Sp' | 'Bp' | 'D' | 'P' | 'C' | 'M'

/** A sum of letters, each with the factor 1 or -1: `{ F: 1, T: -1 }` is F - T. */
export type Expression = { readonly [letter in Letter]?: 1 | -1 }

/** `c`: the only currency of an event; `s` sold and `b` bought where there are two. */
export type CurrencySymbol = 'c' | 's' | 'b'

/** Tells two accounts of one key apart, where a rule moves money between them. */
export type AccountRole = 'from' | 'to'

/** The type of a line in the customer's journal. */
export type TransactionType =
  | 'incoming_payment'
  | 'outgoing_payment'
  | 'payment_return'
  | 'incoming_payment_return'
  | 'transfer_in'
  | 'transfer_out'
  | 'exchange_out'
  | 'exchange_in'
  | 'collection'
  | 'collection_return'
  | 'direct_debit'
  | 'direct_debit_refund'
  | 'card_payment'
  | 'card_refund'
  | 'card_withdrawal'
  | 'forward_deposit'
  | 'forward_deposit_release'
  | 'fee'
  | 'fee_refund'
  | 'interest'
  | 'adjustment'

/** One line of a rule: an account, a currency and an amount. */
export interface Line {
  readonly account: AccountKey
  readonly role?: AccountRole
  readonly currency: CurrencySymbol
  readonly amount: Expression
  /**
   * Lines of `cust` only: the type that the customer sees, unless the pair's other account has a type of its own (a
   * fee, a deposit).
   */
  readonly type?: TransactionType
}

/**
 * A case in which a rule is posted differently. It replaces the rule's lines in `currency` and leaves the others. With
 * `when`, it applies as soon as that expression is above zero; without `when`, the caller names it.
 */
export interface Variant {
  readonly currency: CurrencySymbol
  readonly when?: Expression
  readonly debit: readonly Line[]
  readonly credit: readonly Line[]
}

/** One posting rule. */
export interface Rule {
  readonly event: string
  readonly debit: readonly Line[]
  readonly credit: readonly Line[]
  readonly variants?: { readonly [name: string]: Variant }
  /** The rule whose entry this one reverses; the new entry links the old one. */
  readonly reverses?: RuleId
  /** The rule that follows later for the same money: money in transit leaves by L11. */
  readonly then?: RuleId
  readonly notes?: string
}

const A: Expression = { A: 1 }
const B: Expression = { B: 1 }
const C: Expression = { C: 1 }
const D: Expression = { D: 1 }
const F: Expression = { F: 1 }
const P: Expression = { P: 1 }
const R: Expression = { R: 1 }
const S: Expression = { S: 1 }
const T: Expression = { T: 1 }
const BP: Expression = { Bp: 1 }
const SP: Expression = { Sp: 1 }
const A_PLUS_F: Expression = { A: 1, F: 1 }
const F_MINUS_T: Expression = { F: 1, T: -1 }
const S_PLUS_F: Expression = { S: 1, F: 1 }

function line(account: AccountKey, currency: CurrencySymbol, amount: Expression): Line {
  return { account, currency, amount }
}

function cust(currency: CurrencySymbol, amount: Expression, type: TransactionType): Line {
  return { account: 'cust', currency, amount, type }
}

const instead = (currency: CurrencySymbol, debit: Line, credit: Line): Variant => ({
  currency,
  debit: [debit],
  credit: [credit],
})

const CARD = [line('card_payable', 'c', S), line('inc_fee', 'c', F_MINUS_T), line('fee_tax', 'c', T)]
const MARKED_UP = [line('inc_fee', 'c', { F: 1, T: -1, M: -1 }), line('inc_fx', 'c', { M: 1 })]
const CONVERTED = [line('card_payable', 'c', S), ...MARKED_UP, line('fee_tax', 'c', T)]

const RULE_TABLE = {
  L01: {
    event: 'Incoming payment credited',
    debit: [line('nostro', 'c', A)],
    credit: [cust('c', A, 'incoming_payment')],
    notes: 'Written together with the event incoming_payment.received.',
  },
  L02: {
    event: 'Fee for an incoming payment',
    debit: [cust('c', F, 'fee')],
    credit: [line('inc_fee', 'c', F)],
    notes: 'Optional, by pricing.',
  },
  L03: {
    event: 'Incoming payment, owner unknown',
    debit: [line('nostro', 'c', A)],
    credit: [line('unallocated', 'c', A)],
    notes: 'Opens an item of the incoming suspense list.',
  },
  L04: {
    event: 'Unallocated money given to its owner',
    debit: [line('unallocated', 'c', A)],
    credit: [cust('c', A, 'incoming_payment')],
  },
  L05: {
    event: 'Incoming payment held for review',
    debit: [line('nostro', 'c', A)],
    credit: [line('review_held', 'c', A)],
    notes: 'Not visible to the customer.',
  },
  L06: {
    event: 'Review released',
    debit: [line('review_held', 'c', A)],
    credit: [cust('c', A, 'incoming_payment')],
  },
  L07: {
    event: 'Review refused, money sent back',
    debit: [line('review_held', 'c', A)],
    credit: [line('out_transit', 'c', A)],
    then: 'L11',
  },
  L08: {
    event: 'Unallocated money sent back',
    debit: [line('unallocated', 'c', A)],
    credit: [line('out_transit', 'c', A)],
    then: 'L11',
  },
  L09: { event: 'Hold placed or released', debit: [], credit: [], notes: 'A hold is a reservation, never a posting.' },
  L10: {
    event: 'Payment handed to the partner',
    debit: [cust('c', A_PLUS_F, 'outgoing_payment')],
    credit: [line('out_transit', 'c', A), line('inc_fee', 'c', F_MINUS_T), line('fee_tax', 'c', T)],
    then: 'L11',
    notes: 'Committed together with the instruction to the partner, before the partner is called.',
  },
  L11: {
    event: 'Partner confirms a payment',
    debit: [line('out_transit', 'c', A)],
    credit: [line('nostro', 'c', A)],
  },
  L12: {
    event: 'Partner rejects a payment that was handed over',
    debit: [line('out_transit', 'c', A), line('inc_fee', 'c', F_MINUS_T), line('fee_tax', 'c', T)],
    credit: [cust('c', A_PLUS_F, 'payment_return')],
    reverses: 'L10',
  },
  L13: {
    event: 'Outgoing payment returned, or its recall accepted',
    debit: [line('nostro', 'c', R)],
    credit: [cust('c', R, 'payment_return')],
    notes: 'R is not above A; the difference stays with intermediaries.',
  },
  L14: {
    event: 'Fee given back',
    debit: [line('inc_fee', 'c', F_MINUS_T), line('fee_tax', 'c', T)],
    credit: [cust('c', F, 'fee_refund')],
    notes: 'Optional, by pricing.',
  },
  L15: {
    event: 'Fee for a return',
    debit: [cust('c', P, 'fee')],
    credit: [line('inc_fee', 'c', P)],
    notes: 'Optional, by pricing.',
  },
  L16: {
    event: 'Charge of the partner',
    debit: [line('exp_partner', 'c', P)],
    credit: [line('nostro', 'c', P)],
    notes: 'Borne by the operator’s own money, never by customers’ (G10).',
  },
  L17: {
    event: 'Charge of the partner passed on to the sender',
    debit: [line('exp_partner', 'c', P), cust('c', P, 'fee')],
    credit: [line('nostro', 'c', P), line('inc_fee', 'c', P)],
  },
  L20: {
    event: 'Transfer between two balances',
    debit: [{ ...cust('c', A, 'transfer_out'), role: 'from' }],
    credit: [{ ...cust('c', A, 'transfer_in'), role: 'to' }],
    variants: {
      payment: {
        currency: 'c',
        debit: [{ ...cust('c', A_PLUS_F, 'outgoing_payment'), role: 'from' }],
        credit: [
          { ...cust('c', A, 'incoming_payment'), role: 'to' },
          line('inc_fee', 'c', F_MINUS_T),
          line('fee_tax', 'c', T),
        ],
      },
    },
    notes:
      "The variant is a payment to a balance on the platform: the same two balances, other words in the journals, and the payer's fee as in L10.",
  },
  L21: {
    event: 'Cash leg of a transfer across two connections',
    debit: [{ ...line('nostro', 'c', A), role: 'to' }],
    credit: [{ ...line('nostro', 'c', A), role: 'from' }],
    variants: {
      in_transit: instead(
        'c',
        { ...line('out_transit', 'c', A), role: 'from' },
        { ...line('out_transit', 'c', A), role: 'to' },
      ),
    },
    notes: 'The variant is a payment that its connection has refused and that another carries: no cash has left yet.',
  },
  L30: {
    event: 'Spot or drawdown booked',
    debit: [cust('s', S_PLUS_F, 'exchange_out')],
    credit: [line('fx_clearing', 's', S), line('inc_fee', 's', F)],
    notes: 'Captures the hold.',
  },
  L31: {
    event: 'Partner takes the sold leg',
    debit: [line('fx_clearing', 's', SP)],
    credit: [line('nostro', 's', SP)],
    variants: {
      from_deposit: instead('s', line('fx_clearing', 's', SP), line('partner_deposit', 's', SP)),
    },
    notes: 'The variant uses a deposit that L41 placed with the partner.',
  },
  L32: {
    event: 'Partner pays the bought leg',
    debit: [line('nostro', 'b', BP)],
    credit: [line('fx_clearing', 'b', BP)],
  },
  L33: {
    event: 'Customer receives the bought currency',
    debit: [line('fx_clearing', 'b', B)],
    credit: [cust('b', B, 'exchange_in')],
    notes: 'Written together with the event exchange.completed.',
  },
  L34: {
    event: 'Margin of an exchange, both currencies',
    debit: [line('fx_clearing', 's', { S: 1, Sp: -1 }), line('fx_clearing', 'b', { Bp: 1, B: -1 })],
    credit: [line('inc_fx', 's', { S: 1, Sp: -1 }), line('inc_fx', 'b', { Bp: 1, B: -1 })],
    variants: {
      loss_sold: {
        currency: 's',
        when: { Sp: 1, S: -1 },
        debit: [line('exp_fx', 's', { Sp: 1, S: -1 })],
        credit: [line('fx_clearing', 's', { Sp: 1, S: -1 })],
      },
      loss_bought: {
        currency: 'b',
        when: { B: 1, Bp: -1 },
        debit: [line('exp_fx', 'b', { B: 1, Bp: -1 })],
        credit: [line('fx_clearing', 'b', { B: 1, Bp: -1 })],
      },
    },
    notes: 'Each currency wins or loses for itself: a negative margin is an expense, with the sides swapped.',
  },
  L35: {
    event: 'Exchange fails after it was booked',
    debit: [line('fx_clearing', 's', S), line('inc_fee', 's', F)],
    credit: [cust('s', S_PLUS_F, 'exchange_out')],
    reverses: 'L30',
    notes: 'When L31 was posted already it is reversed first. The journal shows the exchange_out taken back.',
  },
  L36: {
    event: 'Exchange netted inside the operator',
    debit: [line('fx_clearing', 's', S), line('house', 'b', B)],
    credit: [line('house', 's', S), line('fx_clearing', 'b', B)],
    notes: 'Replaces L31 and L32 when the treasury carries the risk itself.',
  },
  L40: {
    event: 'Deposit or margin call of a forward paid',
    debit: [cust('c', D, 'forward_deposit')],
    credit: [line('fx_deposit', 'c', D)],
  },
  L41: {
    event: 'Deposit placed with the partner',
    debit: [line('partner_deposit', 'c', D)],
    credit: [line('nostro', 'c', D)],
    notes: 'Where the partner asks for it; taken back by a reversal when the deposit is released.',
  },
  L42: {
    event: 'Deposit released',
    debit: [line('fx_deposit', 'c', D)],
    credit: [cust('c', D, 'forward_deposit_release')],
  },
  L43: {
    event: 'Last drawdown uses the deposit',
    debit: [line('fx_deposit', 's', D), cust('s', { S: 1, D: -1 }, 'exchange_out')],
    credit: [line('fx_clearing', 's', S)],
    notes:
      'Only when the deposit is in the sold currency; otherwise L42 first. A deposit placed by L41 is used by L31 from_deposit.',
  },
  L44: {
    event: 'Forward closed out at a loss',
    debit: [line('fx_deposit', 'c', D), cust('c', { P: 1, D: -1 }, 'adjustment')],
    credit: [line('nostro', 'c', P)],
    variants: {
      within_deposit: {
        currency: 'c',
        when: { D: 1, P: -1 },
        debit: [line('fx_deposit', 'c', P)],
        credit: [line('nostro', 'c', P)],
      },
    },
    notes: 'A loss below the deposit takes only its part; L42 releases the rest.',
  },
  L45: {
    event: 'Forward closed out at a gain',
    debit: [line('nostro', 'c', P), line('fx_deposit', 'c', D)],
    credit: [cust('c', { P: 1, D: 1 }, 'adjustment')],
  },
  L50: {
    event: 'Direct debit collected',
    debit: [line('nostro', 'c', C)],
    credit: [line('dd_clearing', 'c', C)],
    then: 'L51',
    notes: 'L51 follows in the same transaction, or after the reserve days.',
  },
  L51: {
    event: 'Collection credited',
    debit: [line('dd_clearing', 'c', C)],
    credit: [cust('c', C, 'collection')],
  },
  L52: {
    event: 'Collection returned or refunded',
    debit: [cust('c', C, 'collection_return'), line('dd_clearing', 'c', C)],
    credit: [line('dd_clearing', 'c', C), line('nostro', 'c', C)],
    notes: 'May take the balance below zero, which alerts and blocks outgoing payments.',
  },
  L53: {
    event: 'Fee for a returned collection',
    debit: [cust('c', P, 'fee')],
    credit: [line('inc_fee', 'c', P)],
  },
  L54: {
    event: 'Collection reversed by the creditor',
    debit: [cust('c', C, 'collection_return')],
    credit: [line('out_transit', 'c', C)],
    then: 'L11',
  },
  L60: {
    event: 'Direct debit paid under a mandate',
    debit: [cust('c', A, 'direct_debit')],
    credit: [line('nostro', 'c', A)],
    notes: 'Refused instead when mandate, funds or consent are missing.',
  },
  L61: {
    event: 'Direct debit refunded to its payer',
    debit: [line('nostro', 'c', A)],
    credit: [cust('c', A, 'direct_debit_refund')],
  },
  L70: { event: 'Card authorisation, increment or decline', debit: [], credit: [], notes: 'Moves a hold only.' },
  L71: {
    event: 'Card transaction settled',
    debit: [cust('c', S_PLUS_F, 'card_payment')],
    credit: CARD,
    variants: {
      withdrawal: { currency: 'c', debit: [cust('c', S_PLUS_F, 'card_withdrawal')], credit: CARD },
      converted: { currency: 'c', debit: [cust('c', S_PLUS_F, 'card_payment')], credit: CONVERTED },
      converted_withdrawal: { currency: 'c', debit: [cust('c', S_PLUS_F, 'card_withdrawal')], credit: CONVERTED },
    },
    notes: 'S is in the billing currency, the conversion by the scheme already inside; M is the markup on it.',
  },
  L72: { event: 'Card authorisation reversed before settlement', debit: [], credit: [], notes: 'Releases the hold.' },
  L73: {
    event: 'Card refund, or reversal after settlement',
    debit: [line('card_payable', 'c', R)],
    credit: [cust('c', R, 'card_refund')],
  },
  L74: {
    event: 'Net settlement with the card scheme',
    debit: [line('card_payable', 'c', A)],
    credit: [line('nostro', 'c', A)],
    variants: { scheme_pays: instead('c', line('nostro', 'c', A), line('card_payable', 'c', A)) },
  },
  L80: {
    event: 'Incoming payment recalled, recall accepted',
    debit: [cust('c', A, 'incoming_payment_return')],
    credit: [line('out_transit', 'c', A)],
    then: 'L11',
    notes: 'A hold of the kind recall stands while it is pending; with too little money the answer is AM04.',
  },
  L81: {
    event: 'Money added by conversion',
    debit: [cust('s', S, 'exchange_out')],
    credit: [line('fx_clearing', 's', S)],
    notes: 'The same chain as L30 to L34 follows.',
  },
  L90: {
    event: 'Manual correction in the customer’s favour',
    debit: [line('exp_loss', 'c', A)],
    credit: [cust('c', A, 'adjustment')],
    variants: {
      against_customer: instead('c', cust('c', A, 'adjustment'), line('exp_loss', 'c', A)),
    },
    notes: 'Two people decide. The variant corrects against the customer and may take the balance below zero.',
  },
  L91: {
    event: 'Negative balance written off',
    debit: [line('exp_loss', 'c', A)],
    credit: [cust('c', A, 'adjustment')],
  },
  L92: {
    event: 'Interest paid',
    debit: [line('exp_interest', 'c', A)],
    credit: [cust('c', A, 'interest')],
  },
  L93: {
    event: 'Unexplained debit on the partner’s statement',
    debit: [line('nostro_suspense', 'c', A)],
    credit: [line('nostro', 'c', A)],
    variants: {
      explained_as_charge: instead('c', line('exp_partner', 'c', A), line('nostro_suspense', 'c', A)),
      explained_as_payment: instead('c', line('out_transit', 'c', A), line('nostro_suspense', 'c', A)),
      explained_as_direct_debit: instead('c', cust('c', A, 'direct_debit'), line('nostro_suspense', 'c', A)),
    },
    notes:
      'A variant clears the suspense account once the debit is explained: a charge, a payment, or a customer’s direct debit.',
  },
  L94: {
    event: 'Operator funds the house account',
    debit: [line('nostro', 'c', A)],
    credit: [line('house', 'c', A)],
  },
  L95: {
    event: 'Period close',
    debit: [line('inc_fee', 'c', A), line('inc_fx', 'c', B)],
    credit: [line('exp_partner', 'c', P), line('house', 'c', { A: 1, B: 1, P: -1 })],
    variants: {
      loss: {
        currency: 'c',
        when: { P: 1, A: -1, B: -1 },
        debit: [line('inc_fee', 'c', A), line('inc_fx', 'c', B), line('house', 'c', { P: 1, A: -1, B: -1 })],
        credit: [line('exp_partner', 'c', P)],
      },
      exp_fx: { currency: 'c', debit: [line('house', 'c', P)], credit: [line('exp_fx', 'c', P)] },
      exp_loss: { currency: 'c', debit: [line('house', 'c', P)], credit: [line('exp_loss', 'c', P)] },
      exp_interest: { currency: 'c', debit: [line('house', 'c', P)], credit: [line('exp_interest', 'c', P)] },
    },
    notes:
      'Monthly sweep of income A and B and of expenses P into equity. The named variants sweep the other expenses.',
  },
  L96: {
    event: 'Connection migrated',
    debit: [{ ...line('nostro', 'c', A), role: 'to' }],
    credit: [{ ...line('nostro', 'c', A), role: 'from' }],
    notes: 'Debits the new connection; the event balance.details_changed follows.',
  },
  L97: {
    event: 'Unexplained credit on the partner’s statement',
    debit: [line('nostro', 'c', A)],
    credit: [line('unallocated', 'c', A)],
    notes: 'Treated as L03 from there on.',
  },
} as const satisfies Record<
  string,
  Omit<Rule, 'reverses' | 'then'> & { readonly reverses?: string; readonly then?: string }
>

/** The name of a posting rule. */
export type RuleId = keyof typeof RULE_TABLE

/** Every posting rule by its name. */
export const RULES: { readonly [id in RuleId]: Rule } = RULE_TABLE

/** The names of all rules, ascending. */
export const RULE_IDS: readonly RuleId[] = Object.keys(RULE_TABLE) as RuleId[]

// Rules by which a customer's balance may fall below zero (G3): fees and losses that are owed in any case, and debits
// that other banks have already made. L90 only against the customer, see `mayOverdraw`.
const OVERDRAWING: ReadonlySet<RuleId> = new Set<RuleId>(['L15', 'L17', 'L44', 'L52', 'L53', 'L71'])

/**
 * Tells whether a rule may take a customer's balance below zero (G3). For every other rule that debits a customer, the
 * funds must be there first. L90 may against the customer, and L73 reversed: the credit may have been spent.
 */
export function mayOverdraw(rule: RuleId, variant?: string): boolean {
  if (rule === 'L90') return variant === 'against_customer' || variant === 'reversed'
  return OVERDRAWING.has(rule) || (rule === 'L73' && variant === 'reversed')
}

/** The amounts of one event, by letter. An omitted fee, tax or markup is zero; all other letters of the rule are required. */
export type Amounts = { readonly [letter in Letter]?: bigint }

/** The currency code of each symbol in one event. */
export type Currencies = { readonly [each in CurrencySymbol]?: string }

/**
 * One row of the ledger before it has accounts: chart keys, to be resolved for the connection, balance, customer or
 * operator.
 */
export interface Pair {
  readonly debit: AccountKey
  readonly credit: AccountKey
  /** Tells the accounts of one key apart, where a rule names two (L20, L21, L96). */
  readonly debitRole: AccountRole | null
  readonly creditRole: AccountRole | null
  readonly symbol: CurrencySymbol
  readonly currency: string
  /** Minor units, above zero. */
  readonly amount: bigint
  /** The type of the line in the customer's journal, where that side is a customer's balance; otherwise null. */
  readonly debitType: TransactionType | null
  readonly creditType: TransactionType | null
}

/**
 * Accounts that decide the type of the line on the other side of their pair, in place of the rule: the fee of a payment
 * is a fee.
 */
export const COUNTERPART_TYPES: {
  readonly [key in AccountKey]?: { readonly debit: TransactionType; readonly credit: TransactionType }
} = {
  inc_fee: { debit: 'fee', credit: 'fee_refund' },
  inc_fx: { debit: 'fee', credit: 'fee_refund' },
  fee_tax: { debit: 'fee', credit: 'fee_refund' },
  fx_deposit: { debit: 'forward_deposit', credit: 'forward_deposit_release' },
}

interface Part {
  readonly symbol: CurrencySymbol
  readonly debit: readonly CompiledLine[]
  readonly credit: readonly CompiledLine[]
}

interface CompiledLine {
  readonly account: AccountKey
  readonly role: AccountRole | null
  readonly type: TransactionType | null
  readonly plus: readonly Letter[]
  readonly minus: readonly Letter[]
}

interface CompiledVariant {
  readonly name: string
  readonly when: CompiledSum | null
  readonly part: Part
}

interface CompiledSum {
  readonly plus: readonly Letter[]
  readonly minus: readonly Letter[]
}

interface CompiledRule {
  readonly parts: readonly Part[]
  readonly variants: readonly CompiledVariant[]
}

const SYMBOLS: readonly CurrencySymbol[] = ['c', 's', 'b']

// Rules are compiled once, so that posting is arithmetic only.
const COMPILED: ReadonlyMap<RuleId, CompiledRule> = new Map(RULE_IDS.map((id) => [id, compile(RULES[id])]))

function compile(rule: Rule): CompiledRule {
  const parts = SYMBOLS.map((symbol) => part(symbol, rule.debit, rule.credit)).filter((each) => each.debit.length > 0)
  const variants = Object.entries(rule.variants ?? {}).map(([name, variant]) => ({
    name,
    when: variant.when === undefined ? null : sum(variant.when),
    part: part(variant.currency, variant.debit, variant.credit),
  }))
  return { parts, variants }
}

function part(symbol: CurrencySymbol, debit: readonly Line[], credit: readonly Line[]): Part {
  const ofSymbol = (lines: readonly Line[]) => lines.filter((each) => each.currency === symbol).map(compileLine)
  return { symbol, debit: ofSymbol(debit), credit: ofSymbol(credit) }
}

function compileLine(each: Line): CompiledLine {
  return { account: each.account, role: each.role ?? null, type: each.type ?? null, ...sum(each.amount) }
}

function sum(expression: Expression): CompiledSum {
  const letters = Object.keys(expression) as Letter[]
  return {
    plus: letters.filter((letter) => expression[letter] === 1),
    minus: letters.filter((letter) => expression[letter] === -1),
  }
}

function valueOf(expression: CompiledSum, amounts: Amounts, rule: RuleId): bigint {
  let value = 0n
  for (const letter of expression.plus) value += amountOf(letter, amounts, rule)
  for (const letter of expression.minus) value -= amountOf(letter, amounts, rule)
  return value
}

function amountOf(letter: Letter, amounts: Amounts, rule: RuleId): bigint {
  const amount = amounts[letter]
  if (amount === undefined) {
    if (letter !== 'F' && letter !== 'T' && letter !== 'M') throw new RangeError(`${rule} needs the amount ${letter}`)
    return 0n
  }
  if (amount < 0n) throw new RangeError(`${rule} was given ${letter} = ${amount}; amounts are never negative`)
  return amount
}

/**
 * Makes the ledger rows of one event: positive pairs, per currency in the order c, s, b, and within a currency in the
 * order of the rule (principal, then fee, then tax). Empty for rules that only move holds. `variant` names a case of
 * the rule that does not follow from the amounts; cases that follow from them (a negative margin, a loss within the
 * deposit) are found here.
 *
 * @throws RangeError for bugs of the caller: an amount of the rule is missing or negative, amounts contradict each
 *   other (tax above the fee), or the currency of a symbol or the variant does not exist
 */
export function post(rule: RuleId, amounts: Amounts, currencies: Currencies, variant?: string): readonly Pair[] {
  const compiled = COMPILED.get(rule)!
  const chosen = variant === undefined ? undefined : compiled.variants.find((each) => each.name === variant)
  if (variant !== undefined && chosen === undefined) throw new RangeError(`${rule} has no variant ${variant}`)
  const pairs: Pair[] = []
  for (const each of compiled.parts) {
    const symbol = each.symbol
    const currency = currencies[symbol]
    if (currency === undefined) throw new RangeError(`${rule} needs the currency ${symbol}`)
    let taken = each
    if (chosen?.part.symbol === symbol) taken = chosen.part
    else {
      for (const { when, part: instead } of compiled.variants) {
        if (instead.symbol === symbol && when !== null && valueOf(when, amounts, rule) > 0n) taken = instead
      }
    }
    pairUp(taken, currency, amounts, rule, pairs)
  }
  return pairs
}

// Walks both sides in order; each step takes the smaller rest of the current debit and the current credit. Both sides
// have the same sum, so they end together, and every account gets the total of its lines.
function pairUp(taken: Part, currency: string, amounts: Amounts, rule: RuleId, pairs: Pair[]): void {
  let creditAt = -1
  let creditLeft = 0n
  for (const debit of taken.debit) {
    let debitLeft = lineAmount(debit, amounts, rule)
    while (debitLeft > 0n) {
      while (creditLeft === 0n) {
        creditAt += 1
        if (creditAt >= taken.credit.length) throw new RangeError(`${rule} does not balance`)
        creditLeft = lineAmount(taken.credit[creditAt]!, amounts, rule)
      }
      const credit = taken.credit[creditAt]!
      const amount = debitLeft < creditLeft ? debitLeft : creditLeft
      pairs.push({
        debit: debit.account,
        credit: credit.account,
        debitRole: debit.role,
        creditRole: credit.role,
        symbol: taken.symbol,
        currency,
        amount,
        debitType: debit.type === null ? null : (COUNTERPART_TYPES[credit.account]?.debit ?? debit.type),
        creditType: credit.type === null ? null : (COUNTERPART_TYPES[debit.account]?.credit ?? credit.type),
      })
      debitLeft -= amount
      creditLeft -= amount
    }
  }
  // Only zero lines may be left among the credits; anything else is a wrong rule or a wrong evaluation.
  for (let at = creditAt + 1; at < taken.credit.length; at += 1)
    creditLeft += lineAmount(taken.credit[at]!, amounts, rule)
  if (creditLeft !== 0n) throw new RangeError(`${rule} does not balance`)
}

function lineAmount(each: CompiledLine, amounts: Amounts, rule: RuleId): bigint {
  const amount = valueOf(each, amounts, rule)
  if (amount < 0n) throw new RangeError(`${rule}: the line of ${each.account} would be ${amount}`)
  return amount
}

/**
 * Reverses the given pairs: sides swapped, order kept. The journal keeps the original types, so that a filter on a type
 * finds the reversal, too; the new entry links the old one.
 */
export function reversalOf(pairs: readonly Pair[]): readonly Pair[] {
  return pairs.map((pair) => ({
    ...pair,
    debit: pair.credit,
    credit: pair.debit,
    debitRole: pair.creditRole,
    creditRole: pair.debitRole,
    debitType: pair.creditType,
    creditType: pair.debitType,
  }))
}
