/** The updates of a transaction. */
import type { ObjectStatus } from '../../lib/decisions/effects.ts'
import { sql } from 'kysely'
import { timestamp } from '../../lib/base/clock.ts'
import { type TransactionRecord, transactionStatus } from '../../lib/transactions/transaction.ts'
import { transactionId } from '../../lib/ledger/transaction-id.ts'
import type { Database } from '../db/database.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import { epochMs, readPage, type ReadDatabase } from '../db/page.ts'
import { findTransaction } from './transaction-queries.ts'

/** Updates shown with a transaction, at most; their own list has all of them. */
export const UPDATES_SHOWN = 20

export type TransactionUpdateQuery = RowQuery<object, '-at' | 'at'> & { readonly transactionId: string }

interface UpdateRow {
  readonly version: number
  readonly status: ObjectStatus
  readonly previous_status: ObjectStatus | null
  readonly message: string
  readonly actor: 'system' | 'member' | 'partner'
  readonly at_ms: number
}

const UPDATE_COLUMNS = sql`u.version, u.status, u.previous_status, u.message, u.actor, ${epochMs('u.at')} as at_ms`

/** Lists the updates of a transaction; null when the transaction is not the tenant's. */
export async function listTransactionUpdates(
  database: Database,
  db: ReadDatabase,
  query: TransactionUpdateQuery,
  now: number,
): Promise<ListResult<ReturnType<typeof updateJson>> | null> {
  const record = await findTransaction(database, db, query.tenant, query.transactionId, now)
  if (record === null) return null
  const { rows, ...page } = await readPage<UpdateRow>(
    db,
    [
      {
        columns: UPDATE_COLUMNS,
        from: updatesFrom(record),
        where: [],
        order: { keys: [{ expression: sql`u.version`, type: 'bigint' }], descending: query.sort === '-at' },
      },
    ],
    query,
  )
  return { ...page, rows: rows.map((row) => updateJson(record.id, row)) }
}

export async function updatesOf(db: ReadDatabase, record: TransactionRecord) {
  const { rows } =
    await sql<UpdateRow>`select ${UPDATE_COLUMNS} from ${updatesFrom(record)} order by u.version desc limit ${sql.lit(UPDATES_SHOWN)}`.execute(
      db.kysely,
    )
  return rows.map((row) => updateJson(record.id, row))
}

/**
 * SQL of the updates of the cause, from the first movement on; a transaction that was booked immediately has that
 * single update.
 */
function updatesFrom({ id, sourceId, sourceObject, status, createdAt, description }: TransactionRecord) {
  const booked = sql`select 1 as version, ${status}::text as status, null::text as previous_status, ${`${description}.`}::text as message, 'partner'::text as actor, ${timestamp(createdAt)}::timestamptz as at`
  if (id !== sourceId && id !== transactionId(sourceId, 'other_side')) return sql`(${booked}) u`
  if (sourceObject === 'card_transaction') return sql`(${cardUpdates(sourceId)}) u`
  const told = sql`select s.version, s.status, case when s.previous_status = 'draft' then null else s.previous_status end as previous_status, s.message, s.actor, s.at from status_update s where s.object_id = ${sourceId}::uuid and s.status <> 'draft'`
  return sql`(${told} union all select * from (${booked}) b where not exists (select from status_update s where s.object_id = ${sourceId}::uuid)) u`
}

/** SQL of the updates of an authorisation, from the messages of the card network, until it was cleared or ended. */
const cardUpdates = (cardTransactionId: string) => sql`
  select m.version, m.status, lag(m.status) over (order by m.version) as previous_status, m.message, 'partner' as actor, m.at from (
    select e.version::int as version, case when e.pays > 0 then 'completed' when e.first_declined then 'failed'
        when e.phase in ('reversal', 'expiry') then 'cancelled' else 'pending' end as status,
      initcap(left(e.phase, 1)) || replace(substr(e.phase, 2), '_', ' ') || case when e.decline_reason is null then '' else ': declined' end || '.' as message, e.at
    from (select c.phase, c.at, c.decline_reason, row_number() over told as version, first_value(c.decline_reason is not null) over told as first_declined,
        count(*) filter (where c.phase in ('settlement', 'advice', 'force_post', 'atm') and c.decline_reason is null) over told as pays
      from card_event c where c.transaction_id = ${cardTransactionId}::uuid window told as (order by c.at, c.id)) e
    where e.pays < 2 and (e.pays = 0 or e.phase in ('settlement', 'advice', 'force_post', 'atm'))) m`

function updateJson(id: string, { version, status, previous_status, message, actor, at_ms }: UpdateRow) {
  return {
    id: updateId(id, version),
    transactionId: id,
    status: transactionStatus(status),
    previousStatus: previous_status === null ? null : transactionStatus(previous_status),
    message,
    actor,
    at: timestamp(at_ms),
  }
}

/**
 * Derives the id of an update: the transaction's id with its last eight digits XORed with the version, so it never
 * changes.
 */
function updateId(id: string, version: number): string {
  return id.slice(0, -8) + ((Number.parseInt(id.slice(-8), 16) ^ version) >>> 0).toString(16).padStart(8, '0')
}
