/** A check of the audit, and the SQL that several checks share. */

/** A promise as a query for the rows that break it. */
export interface Check {
  readonly name: string
  readonly promise: string
  /** Returns the rows that disagree. Parameters from `$1` on are `values`. */
  readonly sql: string
  readonly values?: readonly unknown[]
}

/** SQL of each posting as a line of each balance it touches. */
export const LINES = `
  select debit_account as balance_id, debit_sequence as sequence, -amount as change, debit_balance as running, rule, entry_id
  from posting where debit_sequence is not null
  union all
  select credit_account, credit_sequence, amount, credit_balance, rule, entry_id
  from posting where credit_sequence is not null`

/** SQL of all accounts that postings can debit or credit: balances and internal accounts. */
export const ACCOUNTS = `
  select id, currency, operator_id, 'cust' as key, true as is_balance from balance
  union all
  select id, currency, operator_id, key, false from account`

/** Events older than this were dropped with their partitions, so earlier changes are no longer proven by events. */
export const EVENTS_KEPT_FROM = '(select kept_from from event_retention)'
