/** Reports of the operator's treasury, as tables: which columns they have, and how their rows are made. Pure. */
import { accountOf, type AccountKey } from '../ledger/chart.ts'
import { RULES, type RuleId } from '../ledger/postings.ts'
import type { CurrencyCode } from '../base/currency.ts'
import type { Cell } from '../statements/table.ts'

export const REPORT_KINDS = ['safeguarding', 'fees', 'volumes'] as const
export type ReportKind = (typeof REPORT_KINDS)[number]

/** The formats of a report, with the ending and the content type of the file. */
export const REPORT_FORMATS = {
  csv: { ending: 'csv', contentType: 'text/csv; charset=utf-8' },
  xlsx: { ending: 'xlsx', contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' },
  pdf: { ending: 'pdf', contentType: 'application/pdf' },
} as const
export type ReportFileFormat = keyof typeof REPORT_FORMATS

/** The scope of a report. Days are `YYYY-MM-DD`, both included, in the zone of the report. */
export interface ReportQuestion {
  readonly kind: ReportKind
  readonly from: string
  readonly to: string
  /** IANA name. */
  readonly timezone: string
  /** Null for all of them. */
  readonly currency: string | null
  readonly connectionId: string | null
  readonly customerId: string | null
}

/** The instants of a period: from the first on, and before the second; epoch milliseconds. */
export function instantsOf({ from, to, timezone }: Pick<ReportQuestion, 'from' | 'to' | 'timezone'>): {
  readonly from: number
  readonly before: number
} {
  const begin = (day: Temporal.PlainDate): number => day.toZonedDateTime(timezone).epochMilliseconds
  return { from: begin(Temporal.PlainDate.from(from)), before: begin(Temporal.PlainDate.from(to).add({ days: 1 })) }
}

/** The columns of each report. */
export const REPORT_COLUMNS = {
  safeguarding: [
    'day',
    'connectionId',
    'connection',
    'currency',
    'balances',
    'inTransit',
    'exchanges',
    'deposits',
    'unallocated',
    'underReview',
    'directDebits',
    'cards',
    'customerMoney',
    'ownMoney',
    'bankPerBooks',
    'suspense',
    'collateral',
    'booksDifference',
    'surplus',
    'bankPerStatement',
    'bankDifference',
    'unexplained',
    'reconciliation',
  ],
  fees: ['customerId', 'customer', 'rule', 'event', 'currency', 'entries', 'net', 'tax', 'gross'],
  volumes: ['direction', 'rail', 'currency', 'customerId', 'customer', 'country', 'status', 'count', 'amount', 'fees'],
} as const satisfies Record<ReportKind, readonly string[]>

const amount = (value: bigint | null, currency: string): Cell =>
  value === null ? null : { kind: 'amount', value, currency: currency as CurrencyCode }
const count = (value: number): Cell => ({ kind: 'integer', value })

// ── Safeguarding
// ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** The accounts of customers' money, by their columns: what the operator owes to customers, wherever it is on its way. */
const CUSTOMER_MONEY = {
  balances: 'cust',
  inTransit: 'out_transit',
  exchanges: 'fx_clearing',
  deposits: 'fx_deposit',
  unallocated: 'unallocated',
  underReview: 'review_held',
  directDebits: 'dd_clearing',
  cards: 'card_payable',
} as const satisfies Record<string, AccountKey>
const CUSTOMER_KEYS: ReadonlySet<AccountKey> = new Set(Object.values(CUSTOMER_MONEY))

/** The account of a connection and currency on a day, as the bank and the books have it. Amounts are minor units. */
export interface SafeguardedDay {
  readonly day: string
  /** Null for what only moves between accounts that no connection has. */
  readonly connectionId: string | null
  readonly connection: string | null
  readonly currency: string
  /** The balance of each account at the end of the day: debits less credits. */
  readonly accounts: ReadonlyMap<AccountKey, bigint>
  /** The bank's statement of the day; null while it was not compared. */
  readonly statement: {
    readonly closing: bigint
    /** The part of the difference that no item explains. */
    readonly unexplained: bigint
    readonly status: string
  } | null
}

/** The figures of a day that the reconciliations of a regulator ask for. */
export interface SafeguardedFigures {
  /** The debt to customers: the requirement. */
  readonly customerMoney: bigint
  /** The operator's own money, fees and their tax included. */
  readonly ownMoney: bigint
  /** The money at the bank: the resource. */
  readonly bankPerBooks: bigint
  /** Of the internal reconciliation: zero in correct books. */
  readonly booksDifference: bigint
  /** The resource less the requirement; negative for a shortfall. */
  readonly surplus: bigint
  /** Of the external reconciliation: the bank's statement less the books; null without a statement. */
  readonly bankDifference: bigint | null
}

/** Computes the figures of a day. */
export function figuresOf({ accounts, statement }: Pick<SafeguardedDay, 'accounts' | 'statement'>): SafeguardedFigures {
  let [customerMoney, ownMoney, assets] = [0n, 0n, 0n]
  for (const [key, debit] of accounts) {
    if (accountOf(key).class === 'asset') assets += debit
    else if (CUSTOMER_KEYS.has(key)) customerMoney -= debit
    else ownMoney -= debit
  }
  const bankPerBooks = accounts.get('nostro') ?? 0n
  return {
    customerMoney,
    ownMoney,
    bankPerBooks,
    booksDifference: assets - customerMoney - ownMoney,
    surplus: bankPerBooks - customerMoney,
    bankDifference: statement === null ? null : statement.closing - bankPerBooks,
  }
}

/** Makes the row of a day. */
export function safeguardingRow(safeguarded: SafeguardedDay): readonly Cell[] {
  const { day, connectionId, connection, currency, accounts, statement } = safeguarded
  const figures = figuresOf(safeguarded)
  const of = (key: AccountKey): Cell => amount(-(accounts.get(key) ?? 0n), currency)
  return [
    { kind: 'date', value: day },
    connectionId,
    connection,
    currency,
    ...Object.values(CUSTOMER_MONEY).map(of),
    amount(figures.customerMoney, currency),
    amount(figures.ownMoney, currency),
    amount(figures.bankPerBooks, currency),
    amount(accounts.get('nostro_suspense') ?? 0n, currency),
    amount(accounts.get('partner_deposit') ?? 0n, currency),
    amount(figures.booksDifference, currency),
    amount(figures.surplus, currency),
    amount(statement?.closing ?? null, currency),
    amount(figures.bankDifference, currency),
    amount(statement?.unexplained ?? null, currency),
    statement?.status ?? 'no_statement',
  ]
}

// ── Fees and volumes
// ──────────────────────────────────────────────────────────────────────────────────────────────────

/** The fees of one customer by one posting rule. Amounts are minor units; what was given back is deducted. */
export interface FeeSum {
  readonly customerId: string
  readonly customer: string | null
  readonly rule: RuleId
  readonly currency: string
  readonly entries: number
  /** Without the tax. */
  readonly net: bigint
  readonly tax: bigint
}

export function feeRow({ customerId, customer, rule, currency, entries, net, tax }: FeeSum): readonly Cell[] {
  return [
    customerId,
    customer,
    rule,
    RULES[rule].event,
    currency,
    count(entries),
    amount(net, currency),
    amount(tax, currency),
    amount(net + tax, currency),
  ]
}

/** The payments of one kind. Amounts are minor units. */
export interface VolumeSum {
  readonly direction: 'out' | 'in'
  readonly rail: string | null
  readonly currency: string
  readonly customerId: string | null
  readonly customer: string | null
  /** Of the recipient's bank, or of the payer. */
  readonly country: string | null
  readonly status: string
  readonly count: number
  readonly amount: bigint
  /** In the currency of the balance that pays them; null where it is another than that of the payment. */
  readonly fees: bigint | null
}

export function volumeRow(sum: VolumeSum): readonly Cell[] {
  return [
    sum.direction,
    sum.rail,
    sum.currency,
    sum.customerId,
    sum.customer,
    sum.country,
    sum.status,
    count(sum.count),
    amount(sum.amount, sum.currency),
    amount(sum.fees, sum.currency),
  ]
}
