/**
 * The chart of accounts. Each operator and environment has one set; each account has one currency.
 *
 * A customer's journal shows the mirror of the ledger: a ledger credit on `cust` is money in. At all times, per
 * operator and currency: assets = liabilities + equity + income - expenses (G5).
 */

/** The five classes of double-entry bookkeeping. */
export const ACCOUNT_CLASSES = ['asset', 'liability', 'equity', 'income', 'expense'] as const
export type AccountClass = (typeof ACCOUNT_CLASSES)[number]

/** The side that increases an account. */
export type Side = 'debit' | 'credit'

/** The owner of an account: each owner has one account per currency. `balance`: one account per customer balance. */
export type Granularity = 'connection' | 'balance' | 'customer' | 'operator'

interface Row {
  readonly code: number
  readonly class: AccountClass
  readonly per: Granularity
  readonly purpose: string
}

const ROWS = {
  nostro: {
    code: 1000,
    class: 'asset',
    per: 'connection',
    purpose: 'Customer money at the banking partner, safeguarded.',
  },
  nostro_suspense: {
    code: 1050,
    class: 'asset',
    per: 'connection',
    purpose: 'Debits on the partner’s statement that are not explained yet.',
  },
  partner_deposit: {
    code: 1200,
    class: 'asset',
    per: 'connection',
    purpose: 'Margin and collateral placed with a partner.',
  },
  cust: {
    code: 2000,
    class: 'liability',
    per: 'balance',
    purpose: 'What the operator owes the customer on one balance: its book balance.',
  },
  out_transit: { code: 2100, class: 'liability', per: 'connection', purpose: 'Sent or being sent, not settled.' },
  fx_clearing: {
    code: 2200,
    class: 'liability',
    per: 'connection',
    purpose: 'Both legs of a running exchange; returns to zero for each exchange (G7).',
  },
  fx_deposit: { code: 2300, class: 'liability', per: 'customer', purpose: 'Deposits received for forwards.' },
  unallocated: {
    code: 2400,
    class: 'liability',
    per: 'connection',
    purpose: 'Money received whose owner is not known.',
  },
  review_held: {
    code: 2410,
    class: 'liability',
    per: 'customer',
    purpose: 'Money received and under compliance review.',
  },
  card_payable: { code: 2500, class: 'liability', per: 'connection', purpose: 'Owed to the card scheme, or by it.' },
  dd_clearing: {
    code: 2600,
    class: 'liability',
    per: 'connection',
    purpose: 'Direct-debit credits and returns in process.',
  },
  fee_tax: {
    code: 2700,
    class: 'liability',
    per: 'operator',
    purpose: 'Value-added tax on fees, where the pricing has it.',
  },
  house: { code: 3000, class: 'equity', per: 'operator', purpose: 'The operator’s own money at the partner.' },
  inc_fee: { code: 4000, class: 'income', per: 'operator', purpose: 'Fees.' },
  inc_fx: { code: 4100, class: 'income', per: 'operator', purpose: 'Exchange margin.' },
  exp_partner: { code: 5000, class: 'expense', per: 'operator', purpose: 'Charges of partners.' },
  exp_fx: { code: 5100, class: 'expense', per: 'operator', purpose: 'Negative exchange margin and slippage.' },
  exp_loss: { code: 5200, class: 'expense', per: 'operator', purpose: 'Write-offs and goodwill.' },
  exp_interest: { code: 5300, class: 'expense', per: 'operator', purpose: 'Interest paid to customers.' },
} as const satisfies Record<string, Row>

/** The name of an account in the chart. */
export type AccountKey = keyof typeof ROWS

/** One account of the chart. */
export interface ChartAccount extends Row {
  readonly key: AccountKey
  /** The side that increases the account: debit for assets and expenses, credit for all others. */
  readonly normalSide: Side
}

/** The chart, in the order of the codes. */
export const CHART: readonly ChartAccount[] = (Object.keys(ROWS) as AccountKey[]).map((key) => {
  const row = ROWS[key]
  return { key, ...row, normalSide: row.class === 'asset' || row.class === 'expense' ? 'debit' : 'credit' }
})

const BY_KEY: ReadonlyMap<AccountKey, ChartAccount> = new Map(CHART.map((account) => [account.key, account]))

/** Returns the account of a key. */
export function accountOf(key: AccountKey): ChartAccount {
  return BY_KEY.get(key)!
}
