/** Sessions: found by their token for every request of a user, and listed for the user. */
import { sql } from 'kysely'
import type pg from 'pg'
import { HOUR_MS, MINUTE_MS, timestamp } from '../../lib/base/clock.ts'
import type { Impersonated } from '../../lib/identity/caller.ts'
import type { Role } from '../../lib/identity/capabilities.ts'
import { SESSION_ABSOLUTE_MS, SESSION_IDLE_MS, sessionStatus, type SessionTerms } from '../../lib/identity/session.ts'
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

/** SQL of the shortest of a setting among the operators of the user `user`; the default where the user has none. */
const shortest = (user: string, column: string, unitMs: number, defaultMs: number): string =>
  `coalesce((select min(o.${column}) * ${unitMs} from membership m join operator o on o.id = m.operator_id
      where m.user_id = ${user} and m.status = 'active'), ${defaultMs})::float8`

/** SQL of the time without a request after which the sessions of a user end, milliseconds. */
const idleMs = (user: string): string => shortest(user, 'session_idle_minutes', MINUTE_MS, SESSION_IDLE_MS)

/** SQL of the time after signing in after which the sessions of a user end, milliseconds. */
const absoluteMs = (user: string): string => shortest(user, 'session_absolute_hours', HOUR_MS, SESSION_ABSOLUTE_MS)

/**
 * SQL of the end of the session `session`: as it was when the person signed in, or earlier when an operator has set a
 * shorter time since.
 */
const endOf = (session: string): string =>
  `least(${session}.expires_at, ${session}.created_at + ${absoluteMs(`${session}.user_id`)} * interval '1 millisecond')`

/** Reads the terms of a new session of a user. @throws the driver's errors */
export async function readSessionTerms(client: pg.ClientBase, userId: string): Promise<SessionTerms> {
  const { rows } = await client.query<SessionTerms>({
    name: 'session_terms',
    text: `select ${idleMs('$1')} as "idleMs", ${absoluteMs('$1')} as "absoluteMs"`,
    values: [userId],
  })
  return rows[0]!
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
  ...pick(from(Session, 's'), ['mfaMethod', 'createdAt', 'lastSeenAt']),
  expiresAt: expression<number>(`(extract(epoch from ${endOf('s')}) * 1000)::float8`),
  idleMs: expression<number>(idleMs('s.user_id')),
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
  readonly idle_ms: number
  readonly ended_ms: number | null
}

const COLUMNS = sql`s.id, s.status, s.device_name, s.device_id, s.address, s.user_agent, s.mfa_method, ${epochMs('s.created_at')} as created_ms,
  ${epochMs('s.last_seen_at')} as seen_ms, ${sql.raw(`(extract(epoch from ${endOf('s')}) * 1000)::float8`)} as expires_ms,
  ${sql.raw(idleMs('s.user_id'))} as idle_ms, ${epochMs('s.ended_at')} as ended_ms`
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
    const status = sql`case when s.status = 'revoked' then 'revoked' when ${sql.raw(endOf('s'))} <= ${at} then 'expired'
      when s.last_seen_at + ${sql.raw(idleMs('s.user_id'))} * interval '1 millisecond' <= ${at} then 'idle' else s.status end`
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
      status: sessionStatus(
        { status: row.status, lastSeenAt: row.seen_ms, expiresAt: row.expires_ms, idleMs: row.idle_ms },
        now,
      ),
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
