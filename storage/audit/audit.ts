/**
 * Audits the books: every promise of the ledger as a query for the rows that break it.
 *
 * The checks share one snapshot, so they can run beside a working service. They compute everything again from rows that
 * cannot change (postings, status updates, events) instead of trusting totals that were kept up to date.
 */
import type pg from 'pg'
import { ADJUSTMENT_CHECKS } from './audit-adjustments.ts'
import { CHAIN_CHECKS, keptBlockCheck, type KeptBlock } from './audit-chain.ts'
import type { Check } from './audit-check.ts'
import { DEBIT_SUM_CHECKS } from './audit-debit-sums.ts'
import { DIRECT_DEBIT_CHECKS } from './audit-direct-debits.ts'
import { EVENT_CHECKS } from './audit-events.ts'
import { EXCHANGE_CHECKS } from './audit-exchanges.ts'
import { CARD_CHECKS } from './audit-cards.ts'
import { CASH_CHECKS } from './audit-cash.ts'
import { INCOMING_CHECKS } from './audit-incoming.ts'
import { INCOMING_DEBIT_CHECKS } from './audit-incoming-debits.ts'
import { LEDGER_CHECKS } from './audit-ledger.ts'
import { PAYMENT_CHECKS } from './audit-payments.ts'
import { WAITING_CHECKS } from './audit-waiting.ts'
import { BULK_PAYMENT_CHECKS } from './audit-bulk-payments.ts'
import { CONTRACT_CHECKS } from './audit-contracts.ts'
import { STATEMENT_CHECKS } from './audit-statements.ts'
import { TRANSACTION_CHECKS } from './audit-transactions.ts'

/** A row that disagrees, as the check describes it. */
export type AuditRow = Readonly<Record<string, unknown>>

export interface AuditCheck {
  readonly name: string
  /** The promise that holds for every row that is not listed. */
  readonly promise: string
  /** Number of rows that break the promise. */
  readonly disagreeing: number
  /** The first of the disagreeing rows. */
  readonly rows: readonly AuditRow[]
  readonly milliseconds: number
}

export interface AuditReport {
  readonly ok: boolean
  readonly checks: readonly AuditCheck[]
  readonly postings: number
  /** The newest block of the journal's chain, to be kept outside of the database; null while no line is chained. */
  readonly block: { readonly number: string; readonly hash: string } | null
  readonly milliseconds: number
}

/** Disagreeing rows that a check lists, at most. */
const LISTED_MAX = 20

/**
 * Memory for each node of a query plan. Sorting and hashing millions of rows in memory is several times faster than on
 * disk, and an audit is a single connection, run by hand, so it may use this much.
 */
const WORK_MEMORY = '256MB'

/**
 * Audits the database behind a connection that has no open transaction. `kept` are blocks of the journal's chain that
 * were kept elsewhere.
 *
 * @throws the driver's errors. Disagreeing rows are in the report and throw nothing.
 */
export async function audit(
  client: Pick<pg.ClientBase, 'query'>,
  kept: readonly KeptBlock[] = [],
): Promise<AuditReport> {
  const begin = performance.now()
  await client.query('begin isolation level repeatable read read only')
  try {
    // Dropping a partition is seen at once, also by an older snapshot, which would miss the events and not know why.
    await client.query('lock table outbox in access share mode')
    await client.query(`set local work_mem = '${WORK_MEMORY}'; set local jit = off; set local statement_timeout = 0`)
    const checks: AuditCheck[] = []
    for (const check of [
      ...LEDGER_CHECKS,
      ...ADJUSTMENT_CHECKS,
      ...PAYMENT_CHECKS,
      ...CASH_CHECKS,
      ...EXCHANGE_CHECKS,
      ...WAITING_CHECKS,
      ...INCOMING_CHECKS,
      ...INCOMING_DEBIT_CHECKS,
      ...CARD_CHECKS,
      ...DIRECT_DEBIT_CHECKS,
      ...DEBIT_SUM_CHECKS,
      ...EVENT_CHECKS,
      ...CONTRACT_CHECKS,
      ...BULK_PAYMENT_CHECKS,
      ...TRANSACTION_CHECKS,
      ...STATEMENT_CHECKS,
      ...CHAIN_CHECKS,
      ...kept.map(keptBlockCheck),
    ])
      checks.push(await run(client, check))
    const {
      rows: [counted],
    } = await client.query<{ postings: string }>('select count(*) as postings from posting')
    const {
      rows: [block],
    } = await client.query<{ number: string; hash: string }>(
      "select number, encode(hash, 'hex') as hash from journal_block order by number desc limit 1",
    )
    return {
      ok: checks.every(({ disagreeing }) => disagreeing === 0),
      checks,
      postings: Number(counted!.postings),
      block: block ?? null,
      milliseconds: performance.now() - begin,
    }
  } finally {
    await client.query('rollback')
  }
}

async function run(
  client: Pick<pg.ClientBase, 'query'>,
  { name, promise, sql, values = [] }: Check,
): Promise<AuditCheck> {
  const begin = performance.now()
  const { rows } = await client.query<AuditRow & { disagreeing: string }>(
    `select *, count(*) over () as disagreeing from (${sql}) broken limit ${LISTED_MAX}`,
    [...values],
  )
  return {
    name,
    promise,
    disagreeing: Number(rows[0]?.disagreeing ?? 0),
    rows: rows.map(({ disagreeing: _, ...row }) => row),
    milliseconds: performance.now() - begin,
  }
}
