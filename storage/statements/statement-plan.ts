/** The lines and sums of a statement, fixed before it is written: its opening and closing balance and its turnover. */
import { timestamp } from '../../lib/base/clock.ts'
import type { StatementHolder, StatementKind } from '../../lib/statements/statement.ts'
import { firstLineSince } from '../journal/journal-lines.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { type StatementBalance, statementOfJob, type StatementRecord } from './statements.ts'

/** A statement to be planned. */
export interface StatementPlan {
  readonly id: string
  readonly jobId: string
  readonly kind: StatementKind
  readonly balance: StatementBalance
  readonly from: string
  readonly to: string
  readonly holder: StatementHolder
  readonly now: number
}

async function firstSince(client: TransactionClient, balanceId: string, day: string): Promise<bigint> {
  const first = await firstLineSince(client, balanceId, Date.parse(`${day}T00:00:00Z`))
  if (first === null) throw new Error(`The journal of balance ${balanceId} has a hole.`)
  return first
}

const SUMS = `select coalesce(sum(amount) filter (where not debit), 0)::text as credits, coalesce(sum(amount) filter (where debit), 0)::text as debits,
    count(*) filter (where not debit) as credit_count, count(*) filter (where debit) as debit_count, coalesce(max(amount), 0) as largest
  from (select true as debit, amount from posting where debit_account = $1 and debit_sequence between $2 and $3
    union all select false, amount from posting where credit_account = $1 and credit_sequence between $2 and $3) line`

const BALANCE_AFTER = `select coalesce((select debit_balance from posting where debit_account = $1 and debit_sequence = $2),
  (select credit_balance from posting where credit_account = $1 and credit_sequence = $2), 0) as balance`

/** The lines of a period, and their totals. */
export type StatementTotals = Pick<
  StatementRecord,
  | 'firstSequence'
  | 'lastSequence'
  | 'opening'
  | 'closing'
  | 'credits'
  | 'debits'
  | 'creditCount'
  | 'debitCount'
  | 'largest'
>

/**
 * Measures the lines that were booked in a period, both days included; or the lines from `begin` on until the period's
 * end.
 */
export async function measureStatement(
  client: TransactionClient,
  balanceId: string,
  { from, to }: { readonly from: string; readonly to: string },
  begin: bigint | null = null,
): Promise<StatementTotals> {
  const first = begin ?? (await firstSince(client, balanceId, from))
  const until = await firstSince(client, balanceId, Temporal.PlainDate.from(to).add({ days: 1 }).toString())
  const last = until > first ? until - 1n : first - 1n
  const {
    rows: [edge],
  } = await client.query<{ balance: string }>({
    name: 'statement_opening',
    text: BALANCE_AFTER,
    values: [balanceId, first - 1n],
  })
  const {
    rows: [sums],
  } = await client.query<{
    credits: string
    debits: string
    credit_count: string
    debit_count: string
    largest: string
  }>({ name: 'statement_sums', text: SUMS, values: [balanceId, first, last] })
  if (edge === undefined || sums === undefined) throw new Error(`The balance ${balanceId} has no journal.`)
  const [opening, credits, debits] = [BigInt(edge.balance), BigInt(sums.credits), BigInt(sums.debits)]
  return {
    firstSequence: Number(first),
    lastSequence: Number(last),
    opening,
    closing: opening + credits - debits,
    credits,
    debits,
    creditCount: Number(sums.credit_count),
    debitCount: Number(sums.debit_count),
    largest: BigInt(sums.largest),
  }
}

/**
 * Plans a statement and writes it with the status `preparing`; a statement that was planned for the same job before is
 * found again. Lines booked late for a month that has its statement are in the next one: a monthly statement begins
 * where the one before ended. Null when the month has its statement already.
 */
export async function planStatement(
  client: TransactionClient,
  { id, jobId, kind, balance, from, to, holder, now }: StatementPlan,
): Promise<StatementRecord | null> {
  const { id: balanceId } = balance
  // Statements of one balance are numbered, so they are planned one after the other.
  await client.query({
    name: 'statement_turn',
    text: `select pg_advisory_xact_lock(hashtextextended('statements of ' || $1::text, 0))`,
    values: [balanceId],
  })
  const known = await statementOfJob(client, jobId)
  if (known !== null) return known
  const {
    rows: [before],
  } = await client.query<{ sequence_number: number; last_sequence: string; period_to: string }>({
    name: 'statement_before',
    values: [balanceId, kind],
    text: 'select sequence_number, last_sequence, period_to::text as period_to from statement where balance_id = $1 and kind = $2 order by sequence_number desc limit 1',
  })
  if (kind === 'monthly' && before !== undefined && before.period_to >= to) return null
  const measured = await measureStatement(
    client,
    balanceId,
    { from, to },
    kind === 'monthly' && before !== undefined ? BigInt(before.last_sequence) + 1n : null,
  )
  await client.query({
    name: 'statement_insert',
    text: `insert into statement (id, customer_id, operator_id, balance_id, kind, sequence_number, period_from, period_to, currency, first_sequence, last_sequence, opening, closing, credits, debits,
        credit_count, debit_count, largest, holder, status, job_id, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, 'preparing', $20, $21)`,
    values: [
      id,
      balance.customerId,
      balance.operatorId,
      balanceId,
      kind,
      (before?.sequence_number ?? 0) + 1,
      from,
      to,
      balance.currency,
      measured.firstSequence,
      measured.lastSequence,
      measured.opening,
      measured.closing,
      measured.credits,
      measured.debits,
      measured.creditCount,
      measured.debitCount,
      measured.largest,
      JSON.stringify(holder),
      jobId,
      timestamp(now),
    ],
  })
  return await statementOfJob(client, jobId)
}
