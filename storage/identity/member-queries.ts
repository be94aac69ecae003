/** Members, teams and invitations as the customer sees them. */
import { sql } from 'kysely'
import { timestamp } from '../../lib/base/clock.ts'
import { limitsOf, limitsShown, type LimitsJson } from '../../lib/customers/limits.ts'
import type { MemberRole } from '../../lib/identity/capabilities.ts'
import type { RowQuery } from '../../lib/contract/list.ts'
import { Conditions, epochMs, readPage, type Order, type ReadDatabase, type TimeTo } from '../db/page.ts'

const order = (alias: string, descending: boolean): Order => ({
  keys: [{ expression: sql.ref(`${alias}.id`), type: 'uuid' }],
  descending,
})

export interface MemberFilters {
  readonly status?: readonly string[]
  readonly role?: readonly string[]
  readonly teamId?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}
export type MemberListQuery = RowQuery<MemberFilters, '-createdAt' | 'createdAt'>

interface MemberRow {
  readonly id: string
  readonly tenant_id: string
  readonly user_id: string
  readonly email: string
  readonly name: string
  readonly role: MemberRole
  readonly status: 'active' | 'suspended' | 'removed'
  readonly is_primary_owner: boolean
  readonly mfa: boolean
  readonly teams: string[]
  readonly limits: LimitsJson | null
  readonly version: string
  readonly created_ms: number
  readonly updated_ms: number
}

const MEMBER = sql`m.id, m.tenant_id, m.user_id, u.email, u.name, m.role, m.status, m.is_primary_owner, m.limits, m.version,
  exists (select from mfa_factor f where f.user_id = u.id and f.status = 'active') as mfa,
  array(select tm.team_id::text from team_member tm where tm.membership_id = m.id order by tm.team_id) as teams,
  ${epochMs('m.created_at')} as created_ms, ${epochMs('m.updated_at')} as updated_ms`
const MEMBERS = sql`membership m join platform_user u on u.id = m.user_id`

export async function listMembers(db: ReadDatabase, customerId: string, { filters, sort, ...page }: MemberListQuery) {
  const where = new Conditions()
    .add(sql`m.tenant_id = ${customerId}::uuid and m.level = 'customer'`)
    .anyOf(sql`m.status`, filters.status, 'text')
    .anyOf(sql`m.role`, filters.role, 'text')
    .created('m', filters.createdFrom, filters.createdTo)
  if (filters.teamId !== undefined)
    where.add(
      sql`exists (select from team_member tm where tm.membership_id = m.id and tm.team_id = any(${filters.teamId}::uuid[]))`,
    )
  const { rows, ...rest } = await readPage<MemberRow>(
    db,
    [{ columns: MEMBER, from: MEMBERS, where: where.list, order: order('m', sort === '-createdAt') }],
    page,
  )
  return { ...rest, rows: rows.map(member) }
}

/** Reads one membership with its version; null when it is not the customer's. */
export async function getMember(db: ReadDatabase, customerId: string, id: string) {
  const where = [sql`m.tenant_id = ${customerId}::uuid and m.level = 'customer' and m.id = ${id}::uuid`]
  const {
    rows: [row],
  } = await readPage<MemberRow>(db, [{ columns: MEMBER, from: MEMBERS, where, order: order('m', false) }], ONE)
  return row === undefined ? null : { version: BigInt(row.version), view: member(row) }
}

const ONE = { limit: 1, position: null, withTotal: false } as const

function member(row: MemberRow) {
  return {
    id: row.id,
    customerId: row.tenant_id,
    userId: row.user_id,
    email: row.email,
    name: row.name,
    role: row.role,
    status: row.status,
    isPrimaryOwner: row.is_primary_owner,
    teamIds: row.teams,
    limits: row.limits === null ? null : limitsShown(limitsOf(row.limits)),
    mfaEnabled: row.mfa,
    createdAt: timestamp(row.created_ms),
    updatedAt: timestamp(row.updated_ms),
  }
}

// ── Teams
// ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

export type TeamListQuery = RowQuery<
  { readonly createdFrom?: string; readonly createdTo?: TimeTo },
  '-createdAt' | 'createdAt'
>

interface TeamRow {
  readonly id: string
  readonly customer_id: string
  readonly name: string
  readonly members: string[]
  readonly version: number
  readonly created_ms: number
  readonly updated_ms: number
}

const TEAM = sql`t.id, t.customer_id, t.name, t.version, array(select tm.membership_id::text from team_member tm where tm.team_id = t.id order by tm.membership_id) as members,
  ${epochMs('t.created_at')} as created_ms, ${epochMs('t.updated_at')} as updated_ms`

export async function listTeams(db: ReadDatabase, customerId: string, { filters, sort, ...page }: TeamListQuery) {
  const where = new Conditions()
    .add(sql`t.customer_id = ${customerId}::uuid`)
    .created('t', filters.createdFrom, filters.createdTo)
  const { rows, ...rest } = await readPage<TeamRow>(
    db,
    [{ columns: TEAM, from: sql`team t`, where: where.list, order: order('t', sort === '-createdAt') }],
    page,
  )
  return { ...rest, rows: rows.map(team) }
}

export async function getTeam(db: ReadDatabase, customerId: string, id: string) {
  const {
    rows: [row],
  } = await readPage<TeamRow>(
    db,
    [
      {
        columns: TEAM,
        from: sql`team t`,
        where: [sql`t.customer_id = ${customerId}::uuid and t.id = ${id}::uuid`],
        order: order('t', false),
      },
    ],
    ONE,
  )
  return row === undefined ? null : { version: row.version, view: team(row) }
}

function team(row: TeamRow) {
  return {
    id: row.id,
    customerId: row.customer_id,
    name: row.name,
    membershipIds: row.members,
    createdAt: timestamp(row.created_ms),
    updatedAt: timestamp(row.updated_ms),
  }
}

// ── Invitations
// ───────────────────────────────────────────────────────────────────────────────────────────────────────

export interface InvitationFilters {
  readonly status?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}
export type InvitationListQuery = RowQuery<InvitationFilters, '-createdAt' | 'createdAt'>

interface InvitationRow {
  readonly id: string
  readonly customer_id: string
  readonly email: string
  readonly role: MemberRole
  readonly team_ids: string[]
  readonly status: 'pending' | 'accepted' | 'expired' | 'revoked'
  readonly invited_by: string
  readonly invited_by_name: string
  readonly version: number
  readonly expires_ms: number
  readonly accepted_ms: number | null
  readonly created_ms: number
}

/** An invitation past its expiry is shown as expired, whether or not its row was updated. */
const status = (now: number) =>
  sql`case when i.status = 'pending' and i.expires_at <= ${timestamp(now)}::timestamptz then 'expired' else i.status end`
const invitation = (
  now: number,
) => sql`i.id, i.customer_id, i.email, i.role, i.team_ids, ${status(now)} as status, i.invited_by, i.invited_by_name, i.version,
  ${epochMs('i.expires_at')} as expires_ms, ${epochMs('i.accepted_at')} as accepted_ms, ${epochMs('i.created_at')} as created_ms`

export async function listInvitations(
  db: ReadDatabase,
  customerId: string,
  { filters, sort, ...page }: InvitationListQuery,
  now: number,
) {
  const where = new Conditions()
    .add(sql`i.customer_id = ${customerId}::uuid`)
    .created('i', filters.createdFrom, filters.createdTo)
  if (filters.status !== undefined) where.anyOf(sql`(${status(now)})`, filters.status, 'text')
  const { rows, ...rest } = await readPage<InvitationRow>(
    db,
    [
      {
        columns: invitation(now),
        from: sql`invitation i`,
        where: where.list,
        order: order('i', sort === '-createdAt'),
      },
    ],
    page,
  )
  return { ...rest, rows: rows.map(invitationView) }
}

export async function getInvitation(db: ReadDatabase, customerId: string, id: string, now: number) {
  const where = [sql`i.customer_id = ${customerId}::uuid and i.id = ${id}::uuid`]
  const {
    rows: [row],
  } = await readPage<InvitationRow>(
    db,
    [{ columns: invitation(now), from: sql`invitation i`, where, order: order('i', false) }],
    ONE,
  )
  return row === undefined ? null : { version: row.version, view: invitationView(row) }
}

function invitationView(row: InvitationRow) {
  return {
    id: row.id,
    customerId: row.customer_id,
    email: row.email,
    role: row.role,
    teamIds: row.team_ids,
    status: row.status,
    invitedBy: row.invited_by,
    invitedByName: row.invited_by_name,
    expiresAt: timestamp(row.expires_ms),
    acceptedAt: row.accepted_ms === null ? null : timestamp(row.accepted_ms),
    createdAt: timestamp(row.created_ms),
  }
}
