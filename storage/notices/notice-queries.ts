/** Notices that a user received, newest first. */
import { sql } from 'kysely'
import { timestamp } from '../../lib/base/clock.ts'
import type { NoticeType } from '../../lib/notices/notices.ts'
import type { RowQuery } from '../../lib/contract/list.ts'
import { Conditions, epochMs, readPage, type Order, type ReadDatabase, type TimeTo } from '../db/page.ts'

export interface NoticeFilters {
  readonly type?: readonly string[]
  readonly read?: boolean
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}
export type NoticeListQuery = RowQuery<NoticeFilters, '-createdAt' | 'createdAt'>

interface NoticeRow {
  readonly id: string
  readonly tenant_id: string
  readonly type: NoticeType
  readonly title: string
  readonly text: string
  readonly object: string | null
  readonly object_id: string | null
  readonly read_ms: number | null
  readonly created_ms: number
}

const COLUMNS = sql`n.id, n.tenant_id, n.type, n.title, n.text, n.object, n.object_id, ${epochMs('n.read_at')} as read_ms, ${epochMs('n.created_at')} as created_ms`
const order = (descending: boolean): Order => ({ keys: [{ expression: sql`n.id`, type: 'uuid' }], descending })

/** Lists a user's notices of the tenant that the user works for. */
export async function listNotices(
  db: ReadDatabase,
  userId: string,
  { tenant, filters, sort, ...page }: NoticeListQuery,
) {
  const where = owned(userId, tenant.id)
    .anyOf(sql`n.type`, filters.type, 'text')
    .created('n', filters.createdFrom, filters.createdTo)
  if (filters.read !== undefined) where.add(filters.read ? sql`n.read_at is not null` : sql`n.read_at is null`)
  const { rows, ...rest } = await readPage<NoticeRow>(
    db,
    [{ columns: COLUMNS, from: sql`notification n`, where: where.list, order: order(sort === '-createdAt') }],
    page,
  )
  return { ...rest, rows: rows.map(view) }
}

export async function getNotice(db: ReadDatabase, userId: string, tenantId: string, id: string) {
  const where = owned(userId, tenantId).add(sql`n.id = ${id}::uuid`)
  const {
    rows: [row],
  } = await readPage<NoticeRow>(
    db,
    [{ columns: COLUMNS, from: sql`notification n`, where: where.list, order: order(false) }],
    { limit: 1, position: null, withTotal: false },
  )
  return row === undefined ? null : view(row)
}

function owned(userId: string, tenantId: string): Conditions {
  return new Conditions().add(sql`n.user_id = ${userId}::uuid and n.tenant_id = ${tenantId}::uuid`)
}

function view(row: NoticeRow) {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    type: row.type,
    title: row.title,
    text: row.text,
    object: row.object === null || row.object_id === null ? null : { type: row.object, id: row.object_id },
    readAt: row.read_ms === null ? null : timestamp(row.read_ms),
    createdAt: timestamp(row.created_ms),
  }
}
