/**
 * Reconciliations as rows: queued for every ended day of every account at a partner, taken by one node at a time, with
 * the lines of the partner's statement and the result. Their lines are matched in reconciliation-matching.ts.
 */
import { MINUTE_MS, timestamp } from '../../lib/base/clock.ts'
import type { StatementEntry, PartnerStatementHead } from '../../lib/reconciliation/statement.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { pick } from '../db/columns.ts'
import { expression, from, select } from '../db/select.ts'
import { Reconciliation } from './reconciliation-entity.ts'

/** Days queued at a time, at most: a month. */
const DAYS_MAX = 31

/**
 * Wait after the end of a day before it is compared: decisions of before midnight are committed after it, under the
 * time of their decision. No decision is committed this long after its time: it is dropped after seconds, and clocks of
 * nodes are a minute apart at most.
 */
const COMMITTED_AFTER_MS = 5 * MINUTE_MS

/** A reconciliation that this node has taken. */
export interface TakenReconciliation {
  readonly id: string
  readonly operatorId: string
  readonly connectionId: string
  readonly currency: string
  readonly day: string
  /** An earlier node has compared the day, and crashed before it finished the work that follows from the comparison. */
  readonly compared: boolean
  /** Counts the attempts: a node that stalled learns by it that another node has taken the reconciliation. */
  readonly attempt: number
}

/**
 * SQL of the accounts at partners: those that the books know, and those that the settings of a working connection name,
 * so that an account is compared from its first day on, before anything is booked on it.
 */
const ACCOUNTS_AT_PARTNERS = `
  select operator_id, connection_id, currency from account where key = 'nostro'
  union
  select c.operator_id, c.id, (s->>'currency')::char(3) from provider_connection c
  cross join lateral jsonb_array_elements(case jsonb_typeof(c.settings->'settlementAccounts') when 'array' then c.settings->'settlementAccounts' else '[]' end) s
  where c.status in ('active', 'draining')`

/**
 * Queues ended days that are not queued yet: every day up to `until` of each account at a partner, at most a month at a
 * time. A connection's first day is that of its activation. `only` narrows the accounts, and queues failed days again.
 *
 * @returns how many were queued
 */
export async function queueReconciliations(
  database: Database,
  {
    until,
    now,
    only,
  }: {
    readonly until: string
    readonly now: number
    readonly only?: {
      readonly operatorId: string
      readonly connectionId: string | null
      readonly currency: string | null
      readonly by: string
    }
  },
): Promise<number> {
  const rows = await database.query<[string]>({
    name: 'queue_reconciliations',
    values: [
      until,
      timestamp(now),
      DAYS_MAX,
      only?.operatorId ?? null,
      only?.connectionId ?? null,
      only?.currency ?? null,
      only?.by ?? null,
    ],
    text: `insert into reconciliation (id, operator_id, connection_id, currency, day, status, taken_until, requested_by, created_at, updated_at)
      select uuidv7($2::timestamptz - now()), a.operator_id, a.connection_id, a.currency, d.day::date, 'queued',
        greatest($2, (d.day + interval '1 day') at time zone 'UTC' + make_interval(secs => ${COMMITTED_AFTER_MS / 1_000})), $7::uuid, $2, $2
      from (${ACCOUNTS_AT_PARTNERS}) a join provider_connection c on c.id = a.connection_id
      cross join lateral (select max(r.day) as day from reconciliation r where r.connection_id = a.connection_id and r.currency = a.currency) last
      cross join lateral (select coalesce(last.day + 1, (coalesce(c.activated_at, c.created_at) at time zone 'UTC')::date) as first) f
      cross join lateral generate_series(f.first::timestamp, least($1::date, f.first + $3::int - 1)::timestamp, interval '1 day') d(day)
      where ($4::uuid is null or a.operator_id = $4) and ($5::uuid is null or a.connection_id = $5) and ($6::text is null or a.currency = $6)
      order by d.day, a.connection_id, a.currency
      on conflict (connection_id, currency, day) do nothing returning id`,
  })
  if (only === undefined) return rows.length
  const again = await database.query<[string]>({
    name: 'requeue_reconciliations',
    values: [only.operatorId, only.connectionId, only.currency, until, timestamp(now), only.by],
    text: `update reconciliation set status = 'queued', error = null, taken_until = $5, finished_at = null, requested_by = $6, updated_at = $5, version = version + 1
      where operator_id = $1 and ($2::uuid is null or connection_id = $2) and ($3::text is null or currency = $3) and day <= $4 and status = 'failed' returning id`,
  })
  return rows.length + again.length
}

const TAKEN = select({
  ...pick(from(Reconciliation, 'r'), ['id', 'operatorId', 'connectionId', 'currency', 'day']),
  compared: expression<boolean>('r.statement_ref is not null'),
  attempt: expression<number>('r.attempts'),
})

/**
 * Takes a day, without unfinished earlier days of its account, and with all its decisions committed. Null when it waits
 * for one of these, has been done, or another node has taken it until later; `evenIfTaken`: that node is dead.
 */
export async function takeReconciliation(
  database: Database,
  id: string,
  { now, until, evenIfTaken }: { readonly now: number; readonly until: number; readonly evenIfTaken: boolean },
): Promise<TakenReconciliation | null> {
  const [row] = await database.query({
    name: 'take_reconciliation',
    values: [id, timestamp(now), timestamp(until), timestamp(now - COMMITTED_AFTER_MS), evenIfTaken],
    text: `update reconciliation r set status = 'running', taken_until = $3, attempts = attempts + 1, started_at = $2, updated_at = $2, version = version + 1
      where r.id = $1 and status in ('queued', 'running') and (taken_until is null or taken_until <= $2 or $5) and r.day < ($4::timestamptz at time zone 'UTC')::date
        and not exists (select from reconciliation e where e.connection_id = r.connection_id and e.currency = r.currency and e.day < r.day and e.status in ('queued', 'running', 'failed'))
      returning ${TAKEN.sql}`,
  })
  return row === undefined ? null : TAKEN.read(row)
}

/**
 * Locks a reconciliation until the transaction ends. @returns whether this attempt still holds it, and it is not
 * compared yet
 */
export async function isStillTaken(client: TransactionClient, { id, attempt }: TakenReconciliation): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'still_taken',
    values: [id, attempt],
    text: `select from reconciliation where id = $1 and attempts = $2 and status = 'running' and statement_ref is null for update`,
  })
  return rowCount === 1
}

/** Thrown when another node has taken the reconciliation meanwhile: that node does the remaining work. */
export class TakenElsewhere extends Error {
  override readonly name = 'TakenElsewhere'

  constructor({ id, attempt }: TakenReconciliation) {
    super(`The reconciliation ${id} was taken again since attempt ${attempt}.`)
  }
}

/**
 * Gives a reconciliation back: for later, or as failed with the reason. @returns whether this attempt still held it; if
 * not, nothing changed
 */
export async function giveBackReconciliation(
  database: Database,
  { id, attempt }: TakenReconciliation,
  end: { readonly laterAt: number } | { readonly error: string },
  now: number,
): Promise<boolean> {
  const [later, error] = 'laterAt' in end ? [end.laterAt, null] : [null, end.error]
  const rows = await database.query<[string]>({
    name: 'give_back_reconciliation',
    values: [
      id,
      error === null ? 'queued' : 'failed',
      error,
      later === null ? null : timestamp(later),
      timestamp(now),
      attempt,
    ],
    text: `update reconciliation set status = $2, error = $3, taken_until = $4, finished_at = case when $2 = 'failed' then $5::timestamptz end, updated_at = $5, version = version + 1
      where id = $1 and status = 'running' and attempts = $6 returning id`,
  })
  return rows.length > 0
}

// ── The statement
// ─────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * SQL of the reconciliation of an attempt ($1, $2), share-locked while the statement that begins with it runs: a node
 * that takes it again waits until then, and finds the written rows.
 */
const MINE = `with mine as materialized (select id from reconciliation where id = $1 and attempts = $2 and status = 'running' for share)`

/** Deletes the statement entries that an earlier attempt has read. @throws TakenElsewhere and nothing was deleted */
export async function forgetEntries(database: Database, taken: TakenReconciliation): Promise<void> {
  const [row] = await database.query<[string]>({
    name: 'forget_entries',
    values: [taken.id, taken.attempt],
    text: `${MINE}, forgotten as (delete from bank_statement_entry e using mine where e.reconciliation_id = mine.id) select count(*) from mine`,
  })
  if (Number(row?.[0]) === 0) throw new TakenElsewhere(taken)
}

/** Writes lines of a statement; `from` is the number of the first. @throws TakenElsewhere and nothing was written */
export async function keepEntries(
  database: Database,
  taken: TakenReconciliation,
  from: number,
  entries: readonly StatementEntry[],
): Promise<void> {
  if (entries.length === 0) return
  const [row] = await database.query<[string]>({
    name: 'keep_entries',
    text: `${MINE}, kept as (
      insert into bank_statement_entry (reconciliation_id, ordinal, reference, direction, amount, booked_on, value_date, bank_ref, code, text)
      select mine.id, $3::int + n::int - 1, reference, direction, amount, booked_on, value_date, bank_ref, code, text
      from mine, unnest($4::uuid[], $5::text[], $6::bigint[], $7::date[], $8::date[], $9::text[], $10::text[], $11::text[]) with ordinality
        as u(reference, direction, amount, booked_on, value_date, bank_ref, code, text, n))
      select count(*) from mine`,
    values: [
      taken.id,
      taken.attempt,
      from,
      plainArray(entries.map(({ reference }) => reference)),
      textArray(entries.map(({ direction }) => direction)),
      plainArray(entries.map(({ amount }) => amount)),
      plainArray(entries.map(({ bookedOn }) => bookedOn)),
      plainArray(entries.map(({ valueDate }) => valueDate)),
      textArray(entries.map(({ bankRef }) => bankRef)),
      textArray(entries.map(({ code }) => code)),
      textArray(entries.map(({ text }) => text)),
    ],
  })
  if (Number(row?.[0]) === 0) throw new TakenElsewhere(taken)
}

/** Reads the closing balances of the day before; null where there was none. */
export async function dayBefore(
  client: Pick<TransactionClient, 'query'>,
  { connectionId, currency, day }: TakenReconciliation,
): Promise<{ readonly partnerClosing: bigint; readonly nostroClosing: bigint } | null> {
  const {
    rows: [row],
  } = await client.query<{ partner_closing: string; nostro_closing: string }>({
    name: 'reconciliation_before',
    values: [connectionId, currency, day],
    text: `select partner_closing, nostro_closing from reconciliation where connection_id = $1 and currency = $2 and day < $3 and status in ('matched', 'breaks') order by day desc limit 1`,
  })
  return row === undefined
    ? null
    : { partnerClosing: BigInt(row.partner_closing), nostroClosing: BigInt(row.nostro_closing) }
}

/** Counts and sums the lines of a statement. */
export async function entriesTotal(
  client: Pick<TransactionClient, 'query'>,
  id: string,
): Promise<{ readonly count: number; readonly total: bigint }> {
  const {
    rows: [row],
  } = await client.query<{ count: string; total: string }>({
    name: 'entries_total',
    values: [id],
    text: `select count(*) as count, coalesce(sum(case direction when 'CRDT' then amount else -amount end), 0) as total from bank_statement_entry where reconciliation_id = $1`,
  })
  return { count: Number(row!.count), total: BigInt(row!.total) }
}

// ── The result
// ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Counts the remaining items at the end of a day. */
export async function itemsLeft(
  client: TransactionClient,
  { connectionId, currency }: TakenReconciliation,
): Promise<{ readonly timing: number; readonly breaks: number; readonly difference: bigint }> {
  const {
    rows: [row],
  } = await client.query<{ timing: string; breaks: string; difference: string }>({
    name: 'items_left',
    values: [connectionId, currency],
    text: `select count(*) filter (where status = 'timing') as timing, count(*) filter (where status = 'open') as breaks,
        coalesce(sum((case direction when 'CRDT' then 1 else -1 end) * (coalesce(partner_amount, 0) - coalesce(our_amount, 0))), 0) as difference
      from reconciliation_item where connection_id = $1 and currency = $2 and cleared_on is null`,
  })
  return { timing: Number(row!.timing), breaks: Number(row!.breaks), difference: BigInt(row!.difference) }
}

/** Writes the result of the comparison, in its transaction. The reconciliation ends later, with `endReconciliation`. */
export async function keepResult(
  client: TransactionClient,
  id: string,
  result: {
    readonly head: PartnerStatementHead
    readonly sha256: string
    readonly entries: number
    readonly nostroOpening: bigint
    readonly nostroClosing: bigint
    readonly matched: number
    readonly timing: number
    readonly breaks: number
    readonly unexplained: bigint
    readonly block: { readonly number: string; readonly hash: string } | null
    readonly now: number
  },
): Promise<void> {
  const { head, sha256, entries, nostroOpening, nostroClosing, matched, timing, breaks, unexplained, block, now } =
    result
  await client.query({
    name: 'keep_result',
    values: [
      id,
      head.id,
      sha256,
      entries,
      head.opening,
      head.closing,
      nostroOpening,
      nostroClosing,
      matched,
      timing,
      breaks,
      unexplained,
      block?.number ?? null,
      block?.hash ?? null,
      timestamp(now),
    ],
    text: `update reconciliation set statement_ref = $2, statement_sha256 = decode($3, 'hex'), entries = $4, partner_opening = $5, partner_closing = $6, nostro_opening = $7,
        nostro_closing = $8, matched = $9, timing = $10, breaks = $11, unexplained = $12, block = $13, block_hash = decode($14, 'hex'), error = null, updated_at = $15, version = version + 1
      where id = $1`,
  })
}

/**
 * Ends a reconciliation after all follow-up work, and makes the next day of the account due. @returns the breaks left
 * for staff @throws TakenElsewhere and nothing
 * was ended
 */
export async function endReconciliation(
  database: Database,
  taken: TakenReconciliation,
  now: number,
): Promise<{ readonly breaks: number; readonly unexplained: bigint }> {
  const [row] = await database.query<[number, string]>({
    name: 'end_reconciliation',
    values: [taken.id, timestamp(now), taken.attempt],
    text: `with ended as (
        update reconciliation set status = case when breaks = 0 and unexplained = 0 then 'matched' else 'breaks' end, taken_until = null, finished_at = $2, updated_at = $2, version = version + 1
        where id = $1 and attempts = $3 and status = 'running' returning connection_id, currency, day, breaks, unexplained),
      next as (
        update reconciliation r set taken_until = greatest(r.taken_until, $2) from ended e
        where r.id = (select id from reconciliation n where n.connection_id = e.connection_id and n.currency = e.currency and n.day > e.day and n.status = 'queued' order by n.day limit 1))
      select breaks, unexplained from ended`,
  })
  if (row === undefined) throw new TakenElsewhere(taken)
  return { breaks: row[0], unexplained: BigInt(row[1]) }
}
