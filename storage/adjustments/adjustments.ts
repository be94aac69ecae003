/** Adjustments as rows, and the facts of the books that they are decided on. Statements only; rules are elsewhere. */
import type { InferEntity } from '@mikro-orm/core'
import { sql } from 'kysely'
import { OWN_MONEY, type AdjustmentRecord, type OwnMoney, type OwnMoneyKey } from '../../lib/adjustments/adjustment.ts'
import type { PostedPair } from '../../lib/adjustments/postings.ts'
import type { Swept, SweptKey } from '../../lib/adjustments/period-close.ts'
import type { BalanceStatus } from '../../lib/balances/closing.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { SourceObject } from '../../lib/ledger/posting.ts'
import type { RuleId } from '../../lib/ledger/postings.ts'
import { entitiesOf } from '../db/entities.ts'
import type { StatementRunner } from '../db/entity-driver.ts'
import { Conditions, EMPTY, readPage, type ReadDatabase, type TimeTo } from '../db/page.ts'
import { from, select } from '../db/select.ts'
import { through, type TransactionClient } from '../db/transaction.ts'
import { totalsOf } from '../ledger/ledger-accounts.ts'
import { Adjustment } from './adjustment-entity.ts'

const recordOf = (row: InferEntity<typeof Adjustment>): AdjustmentRecord => ({
  ...row,
  amount: row.amount === null || row.amount === undefined ? null : BigInt(row.amount),
  balanceId: row.balanceId ?? null,
  customerId: row.customerId ?? null,
  connectionId: row.connectionId ?? null,
  period: row.period ?? null,
  breakId: row.breakId ?? null,
  entryId: row.entryId ?? null,
  decidedBy: row.decidedBy ?? null,
  decidedByName: row.decidedByName ?? null,
  decidedAt: row.decidedAt ?? null,
  decisionReason: row.decisionReason ?? null,
})

/** Adds an adjustment. @throws the driver's errors, a unique violation for an entry or break that has another one */
export async function insertAdjustment(
  client: TransactionClient,
  {
    version: _,
    ...record
  }: Omit<AdjustmentRecord, 'decidedBy' | 'decidedByName' | 'decidedAt' | 'decisionReason' | 'entryIds'>,
): Promise<AdjustmentRecord> {
  const { operatorId, documentIds } = record
  const added = await entitiesOf(client, { operatorId }).insert(Adjustment, {
    ...record,
    documentIds: [...documentIds],
    entryIds: [],
  })
  return recordOf(added)
}

/** Reads an adjustment; null when the operator has none with this id. */
export async function findAdjustment(
  client: StatementRunner,
  operatorId: string,
  id: string,
): Promise<AdjustmentRecord | null> {
  const found = await entitiesOf(client, { operatorId }).findOne(Adjustment, { id })
  return found === null ? null : recordOf(found)
}

/** Locks an adjustment until the transaction ends; null when the operator has none with this id. */
export async function lockAdjustment(
  client: TransactionClient,
  operatorId: string,
  id: string,
): Promise<AdjustmentRecord | null> {
  const found = await entitiesOf(client, { operatorId }).lock(Adjustment, { id })
  return found === null ? null : recordOf(found)
}

/** Writes the decision on a locked adjustment. */
export async function decideAdjustment(
  client: TransactionClient,
  { id, operatorId }: Pick<AdjustmentRecord, 'id' | 'operatorId'>,
  decision: {
    readonly status: 'posted' | 'rejected'
    readonly by: { readonly id: string; readonly name: string }
    readonly reason: string | null
    readonly amount: bigint | null
    readonly entryIds: readonly string[]
    readonly now: number
  },
): Promise<AdjustmentRecord> {
  const entities = entitiesOf(client, { operatorId })
  const found = await entities.get(Adjustment, id)
  found.status = decision.status
  found.decidedBy = decision.by.id
  found.decidedByName = decision.by.name
  found.decidedAt = decision.now
  found.decisionReason = decision.reason
  found.amount = decision.amount
  found.entryIds = [...decision.entryIds]
  found.updatedAt = decision.now
  await entities.save()
  return recordOf(found)
}

export interface AdjustmentFilters {
  readonly kind?: readonly string[]
  readonly status?: readonly string[]
  readonly currency?: readonly string[]
  readonly balanceId?: readonly string[]
  readonly customerId?: readonly string[]
  readonly requestedBy?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

const LISTED = select(from(Adjustment, 'j'))

/** Lists an operator's adjustments, by pages. @throws DatabaseUnavailable */
export async function listAdjustments(
  db: ReadDatabase,
  { tenant, filters, sort, ...query }: RowQuery<AdjustmentFilters, '-createdAt' | 'createdAt'>,
): Promise<ListResult<AdjustmentRecord>> {
  if (tenant.kind !== 'operator') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const where = new Conditions()
    .add(sql`j.operator_id = ${tenant.id}::uuid`)
    .anyOf(sql`j.kind`, filters.kind, 'text')
    .anyOf(sql`j.status`, filters.status, 'text')
    .anyOf(sql`j.currency`, filters.currency, 'bpchar')
    .anyOf(sql`j.balance_id`, filters.balanceId, 'uuid')
    .anyOf(sql`j.customer_id`, filters.customerId, 'uuid')
    .anyOf(sql`j.requested_by`, filters.requestedBy, 'uuid')
    .created('j', filters.createdFrom, filters.createdTo)
  const branch = {
    columns: sql.raw(LISTED.named),
    from: sql`adjustment j`,
    where: where.list,
    order: { keys: [{ expression: sql`j.id`, type: 'uuid' as const }], descending: sort === '-createdAt' },
  }
  const { rows, ...page } = await readPage<object>(db, [branch], query)
  return { ...page, rows: rows.map((row) => LISTED.readNamed(row)) }
}

// ── The books
// ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Lets the adjustments of an operator be decided one after the other, until the transaction ends. */
export async function lockTreasury(client: TransactionClient, operatorId: string): Promise<void> {
  await client.query({
    name: 'lock_treasury',
    values: [operatorId],
    text: `select pg_advisory_xact_lock(hashtextextended('treasury of ' || $1::text, 0))`,
  })
}

/** A balance as an adjustment moves it. Amounts are minor units. */
export interface AdjustedBalance {
  readonly id: string
  readonly customerId: string
  readonly connectionId: string
  readonly currency: string
  readonly status: BalanceStatus
  readonly posted: bigint
  readonly available: bigint
  readonly version: bigint
}

/** Locks a balance of an operator until the transaction ends; null when the balance is not the operator's. */
export async function lockAdjustedBalance(
  client: TransactionClient,
  operatorId: string,
  id: string,
): Promise<AdjustedBalance | null> {
  const {
    rows: [row],
  } = await client.query<[string, string, string, string, BalanceStatus, string, string, string]>({
    name: 'lock_adjusted_balance',
    rowMode: 'array',
    values: [id, operatorId],
    text: `select id, customer_id, connection_id, currency, status, posted, posted - held, version from balance where id = $1 and operator_id = $2 for update`,
  })
  if (row === undefined) return null
  const [, customerId, connectionId, currency, status, posted, available, version] = row
  return {
    id,
    customerId,
    connectionId,
    currency,
    status,
    posted: BigInt(posted),
    available: BigInt(available),
    version: BigInt(version),
  }
}

/** Whether a connection belongs to the operator. */
export async function isConnectionOf(client: TransactionClient, operatorId: string, id: string): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'connection_of_treasury',
    values: [id, operatorId],
    text: 'select from provider_connection where id = $1 and operator_id = $2',
  })
  return rowCount === 1
}

/** Reads the accounts that an operator has once in a currency, by their keys; empty before the first posting. */
export async function operatorAccounts(
  client: TransactionClient,
  operatorId: string,
  currency: string,
): Promise<ReadonlyMap<OwnMoneyKey, string>> {
  const { rows } = await client.query<[OwnMoneyKey, string]>({
    name: 'operator_accounts',
    rowMode: 'array',
    values: [operatorId, currency, OWN_MONEY],
    text: `select key, id from account where operator_id = $1 and currency = $2 and key = any($3::text[]) and connection_id is null and customer_id is null`,
  })
  return new Map(rows)
}

/** Sums up the operator's own money in a currency, from its accounts by their keys. */
export async function ownMoneyOf(
  client: TransactionClient,
  accounts: ReadonlyMap<OwnMoneyKey, string>,
): Promise<OwnMoney> {
  const totals = await totalsOf(through(client), [...accounts.values()])
  let [funds, expenses] = [0n, 0n]
  for (const [key, id] of accounts) {
    const { debits, credits } = totals.get(id) ?? { debits: 0n, credits: 0n }
    if (key.startsWith('exp_')) expenses += debits - credits
    else funds += credits - debits
  }
  return { funds, expenses }
}

/** Reads an entry's pairs, in their order; empty when the operator has no such entry. */
export async function pairsOfEntry(
  client: TransactionClient,
  operatorId: string,
  entryId: string,
): Promise<readonly PostedPair[]> {
  const { rows } = await client.query<{
    entry_id: string
    ordinal: number
    customer_id: string
    rule: RuleId
    occurrence: number
    source_object: SourceObject
    source_id: string
    currency: string
    amount: string
    debit_account: string
    credit_account: string
    debits_balance: boolean
    credits_balance: boolean
    description: string | null
    reference: string | null
    counterparty: string | null
    reversal_of: string | null
    booked_ms: number
    value_day: string
  }>({
    name: 'pairs_of_entry',
    values: [entryId, operatorId],
    text: `select p.*, p.debit_sequence is not null as debits_balance, p.credit_sequence is not null as credits_balance,
        (extract(epoch from p.booked_at) * 1000)::float8 as booked_ms, p.value_date::text as value_day
      from posting p where p.entry_id = $1 and (p.customer_id = $2 or exists (select from customer k where k.id = p.customer_id and k.operator_id = $2))
      order by p.ordinal`,
  })
  return rows.map((row) => ({
    entryId: row.entry_id,
    ordinal: row.ordinal,
    customerId: row.customer_id,
    rule: row.rule,
    occurrence: row.occurrence,
    sourceObject: row.source_object,
    sourceId: row.source_id,
    currency: row.currency,
    amount: BigInt(row.amount),
    debitAccount: row.debit_account,
    creditAccount: row.credit_account,
    debitsBalance: row.debits_balance,
    creditsBalance: row.credits_balance,
    description: row.description,
    reference: row.reference,
    counterparty: row.counterparty,
    reversalOf: row.reversal_of,
    bookedAt: row.booked_ms,
    valueDate: row.value_day,
  }))
}

// ── Periods
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A close of a period that was posted, and whether it was reversed since. */
export interface PostedClose {
  readonly period: string
  readonly isReversed: boolean
}

/** Lists the closes of a currency that were posted, oldest first. */
export async function postedCloses(
  client: TransactionClient,
  operatorId: string,
  currency: string,
): Promise<readonly PostedClose[]> {
  const { rows } = await client.query<{ period: string; reversed: boolean }>({
    name: 'posted_closes',
    values: [operatorId, currency],
    text: `select c.period, not exists (select from unnest(c.entry_ids) e(id)
          where not exists (select from adjustment r where r.entry_id = e.id and r.status = 'posted')) as reversed
      from adjustment c where c.operator_id = $1 and c.currency = $2 and c.kind = 'period_close' and c.status = 'posted' order by c.id`,
  })
  return rows.map(({ period, reversed }) => ({ period, isReversed: reversed }))
}

/**
 * Sums up what a close sweeps from each account: all that was booked before `end` (epoch milliseconds), less what closes
 * have swept already. A scan, made once for a close.
 */
export async function sweptBefore(
  client: TransactionClient,
  accounts: ReadonlyMap<OwnMoneyKey, string>,
  end: number,
): Promise<Swept> {
  const swept = new Map([...accounts].flatMap(([key, id]) => (key === 'house' ? [] : [[id, key as SweptKey] as const])))
  const { rows } = await client.query<[string, string, string]>({
    name: 'swept_before',
    rowMode: 'array',
    values: [[...swept.keys()], timestamp(end)],
    text: `select id, sum(debit), sum(credit) from (
        select debit_account as id, amount as debit, 0 as credit from posting where debit_account = any($1::uuid[]) and (booked_at < $2::timestamptz or rule = 'L95')
        union all
        select credit_account, 0, amount from posting where credit_account = any($1::uuid[]) and (booked_at < $2::timestamptz or rule = 'L95')) s group by id`,
  })
  return Object.fromEntries(
    rows.map(([id, debit, credit]) => {
      const key = swept.get(id) as SweptKey
      const net = BigInt(credit) - BigInt(debit)
      return [key, key.startsWith('exp_') ? -net : net]
    }),
  )
}
