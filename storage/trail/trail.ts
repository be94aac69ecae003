/**
 * The audit trail of changes, written in the transaction of the change: either both are committed or neither.
 *
 * Written by hand: a row is added with every change, none is changed, and the table is partitioned by time.
 */
import type { AuditAction, AuditedObject } from '../../lib/base/audit-actions.ts'
import type pg from 'pg'
import { timestamp } from '../../lib/base/clock.ts'
import { SYSTEM_NAME } from '../../lib/identity/caller.ts'

/** The actor of a change, and the address it came from. */
export interface AuditBy {
  readonly actor: { readonly type: 'member' | 'staff' | 'key' | 'system'; readonly id: string; readonly name: string }
  readonly address: string | null
  readonly requestId: string | null
}

/** The actor of changes by time or by a rule: no user, with an id that no user can have. */
export const SYSTEM: AuditBy = {
  actor: { type: 'system', id: '00000000-0000-4000-8000-000000000000', name: SYSTEM_NAME },
  address: null,
  requestId: null,
}

/** The changed object. Neither state may hold a secret. */
export interface AuditChange {
  readonly action: AuditAction
  readonly object: { readonly type: AuditedObject; readonly id: string }
  readonly before: object | null
  readonly after: object | null
}

const INSERT_FOR_TENANT = `insert into audit_event
    (id, tenant_id, operator_id, customer_id, actor_type, actor_id, actor_name, action, object_type, object_id, before, after, address, request_id, created_at)
  select $1, $2, coalesce(c.operator_id, $2), c.id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
  from (select $2::uuid as id) t left join customer c on c.id = t.id`

/** Writes one row into the trail of a tenant. `id` is new, `at` epoch milliseconds. */
export async function writeAudit(
  client: pg.ClientBase,
  row: AuditBy & AuditChange & { readonly id: string; readonly tenantId: string; readonly at: number },
): Promise<void> {
  await client.query({
    name: 'audit_tenant',
    text: INSERT_FOR_TENANT,
    values: [
      row.id,
      row.tenantId,
      row.actor.type,
      row.actor.id,
      row.actor.name,
      row.action,
      row.object.type,
      row.object.id,
      text(row.before),
      text(row.after),
      row.address,
      row.requestId,
      timestamp(row.at),
    ],
  })
}

const INSERT_FOR_PERSON = `insert into audit_event
    (id, tenant_id, operator_id, customer_id, actor_type, actor_id, actor_name, action, object_type, object_id, before, after, address, request_id, created_at)
  select coalesce(m.id, $1), m.tenant_id, m.operator_id, m.customer_id, coalesce(m.actor_type, $2), $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
  from (select 1) one left join (
    select ($13::uuid[])[row_number() over (order by id)] as id, tenant_id, operator_id,
      case when level = 'customer' then tenant_id end as customer_id, case when level = 'customer' then 'member' else 'staff' end as actor_type
    from membership where user_id = $3 and status = 'active' order by id limit cardinality($13::uuid[])
  ) m on true`

/** Tenants of one user whose trails are written together, at most. */
const TENANTS_MAX = 32

/**
 * Writes a user's change of their own account: into the trail of each tenant the user belongs to, since each must know
 * who can act for it; without a tenant when the user belongs to none.
 */
export async function writePersonalAudit(
  client: pg.ClientBase,
  row: AuditBy & AuditChange & { readonly nextId: () => string; readonly at: number },
): Promise<void> {
  await client.query({
    name: 'audit_person',
    text: INSERT_FOR_PERSON,
    values: [
      row.nextId(),
      row.actor.type,
      row.actor.id,
      row.actor.name,
      row.action,
      row.object.type,
      row.object.id,
      text(row.before),
      text(row.after),
      row.address,
      row.requestId,
      timestamp(row.at),
      Array.from({ length: TENANTS_MAX }, row.nextId),
    ],
  })
}

function text(state: object | null): string | null {
  return state === null ? null : JSON.stringify(state)
}
