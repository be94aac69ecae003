/** Sessions: found by their token for every request of a user, and listed for the user. */
import { sql } from 'kysely'
import { timestamp } from '../../lib/base/clock.ts'
import type { Impersonated } from '../../lib/identity/caller.ts'
import type { Role } from '../../lib/identity/capabilities.ts'
import { SESSION_IDLE_MS, sessionStatus } from '../../lib/identity/session.ts'
import type { StepUpMethod } from '../../lib/identity/step-up.ts'
import { pick } from '../db/columns.ts'
import type { Database } from '../db/database.ts'
import { expression, from, select } from '../db/select.ts'
import { Session } from './session-entity.ts'
import type { RowQuery } from '../../lib/contract/list.ts'
import { Conditions, epochMs, readPage, type Order, type ReadDatabase, type TimeTo } from '../db/page.ts'

/** A user's role with one tenant. */
export interface MembershipRecord {
  readonly id: string
  readonly tenantId: string
  readonly tenantName: string
  readonly level: 'customer' | 'operator'
  readonly operatorId: string
  readonly role: Role
}

// Reads in one round trip all facts that decide a session's rights: a changed role or a suspended membership counts
// from the next request.
const SESSION = select({
  id: expression<string>('s.id'),
  userId: expression<string>('s.user_id'),
  email: expression<string>('u.email'),
  name: expression<string>('u.name'),
  userStatus: expression<'active' | 'disabled'>('u.status'),
  status: expression<'mfa_required' | 'active' | 'revoked'>('s.status'),
  ...pick(from(Session, 's'), ['mfaMethod', 'createdAt', 'lastSeenAt', 'expiresAt']),
  factors: expression<number>(
    `(select count(*)::int from mfa_factor f where f.user_id = u.id and f.status = 'active')`,
  ),
  memberships: expression<
    MembershipRecord[]
  >(`(select coalesce(json_agg(json_build_object('id', m.id, 'tenantId', m.tenant_id, 'tenantName', coalesce(c.legal_name, o.name), 'level', m.level,
        'operatorId', m.operator_id, 'role', m.role) order by m.id), '[]')
      from membership m join operator o on o.id = m.operator_id left join customer c on m.level = 'customer' and c.id = m.tenant_id
      where m.user_id = u.id and m.status = 'active')`),
  impersonated: expression<Impersonated | null>(`case when s.impersonated_customer_id is not null then (
      select json_build_object('customerId', c.id, 'customerName', c.legal_name, 'operatorId', c.operator_id, 'reason', s.impersonation_reason)
      from customer c where c.id = s.impersonated_customer_id) end`),
})
const FIND = `select ${SESSION.sql}
  from session s join platform_user u on u.id = s.user_id
  where s.token_sha256 = decode($1, 'hex') or (s.previous_token_sha256 = decode($1, 'hex') and s.previous_until > $2::timestamptz)`

/**
 * Finds the session, with its user, whose token has this SHA-256, or whose previous token has it and is still valid;
 * null when there is none.
 */
export async function findSession(database: Database, tokenSha256: string, now: number) {
  const [row] = await database.query({
    name: 'find_session',
    text: FIND,
    values: [tokenSha256, timestamp(now)],
  })
  return row === undefined ? null : SESSION.read(row)
}

export interface SessionFilters {
  readonly status?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}
export type SessionListQuery = RowQuery<SessionFilters, '-createdAt' | 'createdAt'>

interface SessionListRow {
  readonly id: string
  readonly status: 'mfa_required' | 'active' | 'revoked'
  readonly device_name: string | null
  readonly device_id: string | null
  readonly address: string
  readonly user_agent: string | null
  readonly mfa_method: StepUpMethod | null
  readonly created_ms: number
  readonly seen_ms: number
  readonly expires_ms: number
  readonly ended_ms: number | null
}

const COLUMNS = sql`s.id, s.status, s.device_name, s.device_id, s.address, s.user_agent, s.mfa_method, ${epochMs('s.created_at')} as created_ms,
  ${epochMs('s.last_seen_at')} as seen_ms, ${epochMs('s.expires_at')} as expires_ms, ${epochMs('s.ended_at')} as ended_ms`
const ID = { expression: sql`s.id`, type: 'uuid' } as const
const ORDERS: Readonly<Record<SessionListQuery['sort'], Order>> = {
  '-createdAt': { keys: [ID], descending: true },
  createdAt: { keys: [ID], descending: false },
}

/** Lists the sessions of a user. `now` is epoch milliseconds. */
export async function listSessions(
  db: ReadDatabase,
  userId: string,
  { filters, sort, ...page }: SessionListQuery,
  now: number,
) {
  const where = new Conditions()
    .add(sql`s.user_id = ${userId}::uuid`)
    .created('s', filters.createdFrom, filters.createdTo)
  if (filters.status !== undefined) {
    const at = sql`${timestamp(now)}::timestamptz`
    const status = sql`case when s.status = 'revoked' then 'revoked' when s.expires_at <= ${at} then 'expired'
      when s.last_seen_at <= ${timestamp(now - SESSION_IDLE_MS)}::timestamptz then 'idle' else s.status end`
    where.anyOf(sql`(${status})`, filters.status, 'text')
  }
  const { rows, ...rest } = await readPage<SessionListRow>(
    db,
    [{ columns: COLUMNS, from: sql`session s`, where: where.list, order: ORDERS[sort] }],
    page,
  )
  return {
    ...rest,
    rows: rows.map((row) => ({
      id: row.id,
      status: sessionStatus({ status: row.status, lastSeenAt: row.seen_ms, expiresAt: row.expires_ms }, now),
      deviceName: row.device_name,
      deviceId: row.device_id,
      address: row.address,
      userAgent: row.user_agent,
      mfaMethod: row.mfa_method,
      createdAt: timestamp(row.created_ms),
      lastSeenAt: timestamp(row.seen_ms),
      expiresAt: timestamp(row.expires_ms),
      endedAt: row.ended_ms === null ? null : timestamp(row.ended_ms),
    })),
  }
}
