/** The audit trail of changes, newest first. */
import type { AuditAction, AuditedObject } from '../../lib/base/audit-actions.ts'
import { sql } from 'kysely'
import { timestamp } from '../../lib/base/clock.ts'
import type { RowQuery } from '../../lib/contract/list.ts'
import { Conditions, epochMs, readPage, type Order, type ReadDatabase, type TimeTo } from '../db/page.ts'

export interface AuditEventFilters {
  readonly actorId?: readonly string[]
  readonly action?: readonly string[]
  readonly objectType?: readonly string[]
  readonly objectId?: readonly string[]
  readonly customerId?: readonly string[]
  readonly from?: string
  readonly to?: TimeTo
}
export type AuditEventListQuery = RowQuery<AuditEventFilters, '-at'>

interface AuditEventRow {
  readonly id: string
  readonly customer_id: string | null
  readonly actor_type: 'member' | 'staff' | 'key' | 'system'
  readonly actor_id: string
  readonly actor_name: string
  readonly action: AuditAction
  readonly object_type: AuditedObject
  readonly object_id: string
  readonly before: string | null
  readonly after: string | null
  readonly address: string | null
  readonly request_id: string | null
  readonly created_ms: number
}

const COLUMNS = sql`e.id, e.customer_id, e.actor_type, e.actor_id, e.actor_name, e.action, e.object_type, e.object_id, e.before, e.after,
  e.address, e.request_id, ${epochMs('e.created_at')} as created_ms`
const ORDER: Order = { keys: [{ expression: sql`e.id`, type: 'uuid' }], descending: true }

/** Lists a customer's own audit events, or an operator's with those of its customers. */
export async function listAuditEvents(db: ReadDatabase, { tenant, filters, ...page }: AuditEventListQuery) {
  const owner = tenant.kind === 'operator' ? sql`e.operator_id` : sql`e.customer_id`
  const where = new Conditions()
    .add(sql`${owner} = ${tenant.id}::uuid`)
    .anyOf(sql`e.actor_id`, filters.actorId, 'uuid')
    .anyOf(sql`e.action`, filters.action, 'text')
    .anyOf(sql`e.object_type`, filters.objectType, 'text')
    .anyOf(sql`e.object_id`, filters.objectId, 'uuid')
    .anyOf(sql`e.customer_id`, filters.customerId, 'uuid')
    .created('e', filters.from, filters.to)
  const { rows, ...rest } = await readPage<AuditEventRow>(
    db,
    [{ columns: COLUMNS, from: sql`audit_event e`, where: where.list, order: ORDER }],
    page,
  )
  return { ...rest, rows: rows.map(view) }
}

function view(row: AuditEventRow) {
  return {
    id: row.id,
    at: timestamp(row.created_ms),
    customerId: row.customer_id,
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    action: row.action,
    object: { type: row.object_type, id: row.object_id },
    before: state(row.before),
    after: state(row.after),
    address: row.address,
    requestId: row.request_id,
  }
}

function state(text: string | null): Record<string, unknown> | null {
  return text === null ? null : (JSON.parse(text) as Record<string, unknown>)
}
