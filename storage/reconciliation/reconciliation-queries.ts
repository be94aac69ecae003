/** Reconciliations and their breaks as the API shows them to the operator's staff and systems. Customers see none. */
import { sql } from 'kysely'
import { DAY_MS, timestamp } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { moneyJson } from '../../lib/base/money.ts'
import { differenceOf, outcomesOf, type BreakKind, type BreakStatus } from '../../lib/reconciliation/item.ts'
import type { Direction } from '../../lib/reconciliation/statement.ts'
import type { Database } from '../db/database.ts'
import type { BreakProposal } from './reconciliation-items.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { Conditions, EMPTY, readPage, type ReadDatabase, type TimeTo } from '../db/page.ts'

type Status = 'queued' | 'running' | 'matched' | 'breaks' | 'failed'

export interface ReconciliationFilters {
  readonly status?: readonly string[]
  readonly connectionId?: readonly string[]
  readonly currency?: readonly string[]
  readonly dayFrom?: string
  readonly dayTo?: string
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

interface ReconciliationRow {
  readonly id: string
  readonly connection_id: string
  readonly currency: string
  readonly day: string
  readonly status: Status
  readonly error: string | null
  readonly statement_ref: string | null
  readonly sha256: string | null
  readonly entries: number | null
  readonly partner_opening: string | null
  readonly partner_closing: string | null
  readonly nostro_opening: string | null
  readonly nostro_closing: string | null
  readonly matched: number | null
  readonly timing: number | null
  readonly breaks: number | null
  readonly unexplained: string | null
  readonly block: string | null
  readonly block_hash: string | null
  readonly requested_by: string | null
  readonly version: number
  readonly started_ms: number | null
  readonly finished_ms: number | null
  readonly created_ms: number
  readonly updated_ms: number
}

const ms = (column: string, name: string) => `(extract(epoch from r.${column}) * 1000)::float8 as ${name}`
const COLUMNS = `r.id, r.connection_id, r.currency, r.day::text, r.status, r.error, r.statement_ref, encode(r.statement_sha256, 'hex') as sha256, r.entries, r.partner_opening, r.partner_closing,
  r.nostro_opening, r.nostro_closing, r.matched, r.timing, r.breaks, r.unexplained, r.block, encode(r.block_hash, 'hex') as block_hash, r.requested_by, r.version,
  ${ms('started_at', 'started_ms')}, ${ms('finished_at', 'finished_ms')}, ${ms('created_at', 'created_ms')}, ${ms('updated_at', 'updated_ms')}`

/** Lists an operator's reconciliations, by pages. */
export async function listReconciliations(
  db: ReadDatabase,
  { tenant, filters, sort, ...query }: RowQuery<ReconciliationFilters, '-createdAt' | 'createdAt'>,
): Promise<ListResult<ReturnType<typeof reconciliationJson>>> {
  if (tenant.kind !== 'operator') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const where = new Conditions()
    .add(sql`r.operator_id = ${tenant.id}::uuid`)
    .anyOf(sql`r.status`, filters.status, 'text')
    .anyOf(sql`r.connection_id`, filters.connectionId, 'uuid')
    .anyOf(sql`r.currency`, filters.currency, 'bpchar')
    .days(sql`r.day`, filters.dayFrom, filters.dayTo)
    .created('r', filters.createdFrom, filters.createdTo)
  const branch = {
    columns: sql.raw(COLUMNS),
    from: sql.raw('reconciliation r'),
    where: where.list,
    order: { keys: [{ expression: sql`r.id`, type: 'uuid' as const }], descending: sort === '-createdAt' },
  }
  const { rows, ...page } = await readPage<ReconciliationRow>(db, [branch], query)
  return { ...page, rows: rows.map(reconciliationJson) }
}

/** Reads one reconciliation of an operator with its version; null when the reconciliation is not the operator's. */
export async function getReconciliation(database: Database, tenant: Tenant, id: string) {
  if (tenant.kind !== 'operator') return null
  const {
    rows: [row],
  } = await database.pool.query<ReconciliationRow>({
    name: 'get_reconciliation',
    text: `select ${COLUMNS} from reconciliation r where r.id = $1 and r.operator_id = $2`,
    values: [id, tenant.id],
  })
  return row === undefined ? null : { version: row.version, view: reconciliationJson(row) }
}

function reconciliationJson(row: ReconciliationRow) {
  const money = (amount: string | bigint) =>
    moneyJson({ amountMinor: BigInt(amount), currency: row.currency as CurrencyCode })
  const at = (value: number | null) => (value === null ? null : timestamp(value))
  const { partner_opening: opening, partner_closing: closing, nostro_opening: ours, nostro_closing: oursClosing } = row
  return {
    id: row.id,
    connectionId: row.connection_id,
    currency: row.currency,
    day: row.day,
    status: row.status,
    error: row.error,
    statement:
      row.statement_ref === null || opening === null || closing === null
        ? null
        : {
            reference: row.statement_ref,
            sha256: row.sha256 ?? '',
            entries: row.entries ?? 0,
            openingBalance: money(opening),
            closingBalance: money(closing),
          },
    nostro:
      ours === null || oursClosing === null
        ? null
        : { openingBalance: money(ours), closingBalance: money(oursClosing) },
    matched: row.matched ?? 0,
    timing: row.timing ?? 0,
    breaks: row.breaks ?? 0,
    difference: closing === null || oursClosing === null ? null : money(BigInt(closing) - BigInt(oursClosing)),
    unexplained: row.unexplained === null ? null : money(row.unexplained),
    journalBlock: row.block === null || row.block_hash === null ? null : { number: row.block, hash: row.block_hash },
    requestedBy: row.requested_by,
    startedAt: at(row.started_ms),
    finishedAt: at(row.finished_ms),
    createdAt: timestamp(row.created_ms),
    updatedAt: timestamp(row.updated_ms),
  }
}

// ── Breaks
// ────────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface BreakFilters {
  readonly status?: readonly string[]
  readonly kind?: readonly string[]
  readonly direction?: readonly string[]
}

interface BreakRow {
  readonly id: string
  readonly reconciliation_id: string
  readonly connection_id: string
  readonly currency: string
  readonly kind: BreakKind
  readonly status: BreakStatus
  readonly direction: Direction
  readonly reference: string | null
  readonly source_object: string | null
  readonly entry_id: string | null
  readonly bank_ref: string | null
  readonly text: string | null
  readonly our_amount: string | null
  readonly partner_amount: string | null
  readonly found_on: string
  readonly cleared_on: string | null
  readonly suspense_id: string | null
  readonly proposal: string | null
  readonly outcome: string | null
  readonly evidence: string | null
  readonly resolved_by: string | null
  readonly resolved_by_name: string | null
  readonly resolved_ms: number | null
  readonly version: number
  readonly created_ms: number
  readonly updated_ms: number
}

const BREAK_COLUMNS = `r.id, r.reconciliation_id, r.connection_id, r.currency, r.kind, r.status, r.direction, r.reference, r.source_object, r.entry_id, r.bank_ref, r.text, r.our_amount,
  r.partner_amount, r.found_on::text, r.cleared_on::text, r.suspense_id, r.proposal, r.outcome, r.evidence, r.resolved_by, r.resolved_by_name, ${ms('resolved_at', 'resolved_ms')}, r.version,
  ${ms('created_at', 'created_ms')}, ${ms('updated_at', 'updated_ms')}`
const WORDS: Readonly<Record<string, Direction>> = { credit: 'CRDT', debit: 'DBIT' }

/**
 * Lists the breaks at the end of a reconciliation's day, in their present state; null when the operator has no such
 * reconciliation.
 */
export async function listBreaks(
  db: ReadDatabase,
  database: Database,
  {
    tenant,
    filters,
    sort,
    reconciliationId,
    now,
    ...query
  }: RowQuery<BreakFilters, '-createdAt' | 'createdAt'> & {
    readonly reconciliationId: string
    readonly now: number
  },
): Promise<ListResult<ReturnType<typeof breakJson>> | null> {
  const found = await getReconciliation(database, tenant, reconciliationId)
  if (found === null) return null
  const { connectionId, currency, day } = found.view
  const where = new Conditions()
    .add(sql`r.connection_id = ${connectionId}::uuid`)
    .add(sql`r.currency = ${currency}::bpchar`)
    .add(sql`r.found_on <= ${day}::date`)
    .add(sql`(r.cleared_on is null or r.cleared_on > ${day}::date)`)
    .anyOf(sql`r.status`, filters.status, 'text')
    .anyOf(sql`r.kind`, filters.kind, 'text')
    .anyOf(
      sql`r.direction`,
      filters.direction?.map((word) => WORDS[word] as string),
      'bpchar',
    )
  const branch = {
    columns: sql.raw(BREAK_COLUMNS),
    from: sql.raw('reconciliation_item r'),
    where: where.list,
    order: { keys: [{ expression: sql`r.id`, type: 'uuid' as const }], descending: sort === '-createdAt' },
  }
  const { rows, ...page } = await readPage<BreakRow>(db, [branch], query)
  return { ...page, rows: rows.map((row) => breakJson(row, now)) }
}

/**
 * Reads one break of an operator with its version; null when the break is not the operator's, or not of an account of
 * that reconciliation.
 */
export async function getBreak(
  database: Database,
  tenant: Tenant,
  {
    reconciliationId,
    breakId,
    now,
  }: { readonly reconciliationId: string; readonly breakId: string; readonly now: number },
) {
  if (tenant.kind !== 'operator') return null
  const {
    rows: [row],
  } = await database.pool.query<BreakRow>({
    name: 'get_break',
    values: [breakId, tenant.id, reconciliationId],
    text: `select ${BREAK_COLUMNS} from reconciliation_item r join reconciliation c on c.id = $3 and c.operator_id = $2 and c.connection_id = r.connection_id and c.currency = r.currency
      where r.id = $1 and r.operator_id = $2`,
  })
  return row === undefined ? null : { version: row.version, view: breakJson(row, now) }
}

function breakJson(row: BreakRow, now: number) {
  const money = (amount: bigint | string | null) =>
    amount === null ? null : moneyJson({ amountMinor: BigInt(amount), currency: row.currency as CurrencyCode })
  const amount = (text: string | null) => (text === null ? null : BigInt(text))
  const facts = {
    kind: row.kind,
    status: row.status,
    direction: row.direction,
    ourAmount: amount(row.our_amount),
    partnerAmount: amount(row.partner_amount),
  }
  return {
    id: row.id,
    reconciliationId: row.reconciliation_id,
    connectionId: row.connection_id,
    currency: row.currency,
    kind: row.kind,
    status: row.status,
    direction: row.direction === 'CRDT' ? ('credit' as const) : ('debit' as const),
    reference: row.reference,
    sourceObject: row.source_object,
    entryId: row.entry_id,
    bankReference: row.bank_ref,
    text: row.text,
    ourAmount: money(row.our_amount),
    partnerAmount: money(row.partner_amount),
    difference: money(differenceOf(facts)),
    foundOn: row.found_on,
    ageDays: Math.max(0, Math.floor((now - Date.parse(row.found_on)) / DAY_MS)),
    clearedOn: row.cleared_on,
    suspenseItemId: row.suspense_id,
    allowedOutcomes: [...outcomesOf(facts)],
    proposal: row.proposal === null ? null : (JSON.parse(row.proposal) as BreakProposal),
    outcome: row.outcome,
    evidence: row.evidence,
    resolvedBy: row.resolved_by,
    resolvedByName: row.resolved_by_name,
    resolvedAt: row.resolved_ms === null ? null : timestamp(row.resolved_ms),
    createdAt: timestamp(row.created_ms),
    updatedAt: timestamp(row.updated_ms),
  }
}
