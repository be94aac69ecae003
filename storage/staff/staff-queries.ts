/** An operator's staff and the invitations to join it, as the operator sees them. */
import { sql } from 'kysely'
import { timestamp } from '../../lib/base/clock.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { RowQuery } from '../../lib/contract/list.ts'
import type { StaffRole } from '../../lib/identity/capabilities.ts'
import type { StaffInvitation, StaffMember } from '../../lib/staff/staff-schema.ts'
import { Conditions, epochMs, readPage, type Order, type ReadDatabase, type TimeTo } from '../db/page.ts'

type Sort = '-createdAt' | 'createdAt'
const ONE = { limit: 1, position: null, withTotal: false } as const

const order = (alias: string, sort: Sort): Order => ({
  keys: [{ expression: sql.ref(`${alias}.id`), type: 'uuid' }],
  descending: sort === '-createdAt',
})

export interface StaffFilters {
  readonly status?: readonly string[]
  readonly role?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}
export type StaffListQuery = RowQuery<StaffFilters, Sort>

interface StaffRow {
  readonly id: string
  readonly operator_id: string
  readonly user_id: string
  readonly email: string
  readonly name: string
  readonly role: StaffRole
  readonly status: StaffMember['status']
  readonly mfa: boolean
  readonly version: string
  readonly created_ms: number
  readonly updated_ms: number
}

const STAFF = sql`m.id, m.operator_id, m.user_id, u.email, u.name, m.role, m.status, m.version,
  exists (select from mfa_factor f where f.user_id = u.id and f.status = 'active') as mfa,
  ${epochMs('m.created_at')} as created_ms, ${epochMs('m.updated_at')} as updated_ms`
const MEMBERSHIPS = sql`membership m join platform_user u on u.id = m.user_id`
const ofOperator = (operatorId: string) => sql`m.tenant_id = ${operatorId}::uuid and m.level = 'operator'`

/** Lists the staff of an operator. @throws the driver's errors */
export async function listStaff(db: ReadDatabase, operatorId: string, { filters, sort, ...page }: StaffListQuery) {
  const where = new Conditions()
    .add(ofOperator(operatorId))
    .anyOf(sql`m.status`, filters.status, 'text')
    .anyOf(sql`m.role`, filters.role, 'text')
    .created('m', filters.createdFrom, filters.createdTo)
  const { rows, ...rest } = await readPage<StaffRow>(
    db,
    [{ columns: STAFF, from: MEMBERSHIPS, where: where.list, order: order('m', sort) }],
    page,
  )
  return { ...rest, rows: rows.map(staffMember) }
}

/** Reads one of the staff with its version; null when the operator has no such. @throws the driver's errors */
export async function getStaff(
  db: ReadDatabase,
  operatorId: string,
  id: string,
): Promise<Versioned<StaffMember> | null> {
  const where = [ofOperator(operatorId), sql`m.id = ${id}::uuid`]
  const {
    rows: [row],
  } = await readPage<StaffRow>(db, [{ columns: STAFF, from: MEMBERSHIPS, where, order: order('m', 'createdAt') }], ONE)
  return row === undefined ? null : { version: BigInt(row.version), view: staffMember(row) }
}

function staffMember(row: StaffRow): StaffMember {
  return {
    id: row.id,
    operatorId: row.operator_id,
    userId: row.user_id,
    email: row.email,
    name: row.name,
    role: row.role,
    status: row.status,
    mfaEnabled: row.mfa,
    createdAt: timestamp(row.created_ms),
    updatedAt: timestamp(row.updated_ms),
  }
}

export interface StaffInvitationFilters {
  readonly status?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}
export type StaffInvitationListQuery = RowQuery<StaffInvitationFilters, Sort>

interface InvitationRow {
  readonly id: string
  readonly operator_id: string
  readonly email: string
  readonly name: string | null
  readonly role: StaffRole
  readonly status: StaffInvitation['status']
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
const invitation = (now: number) =>
  sql`i.id, i.operator_id, i.email, i.name, i.role, ${status(now)} as status, i.invited_by, i.invited_by_name, i.version,
  ${epochMs('i.expires_at')} as expires_ms, ${epochMs('i.accepted_at')} as accepted_ms, ${epochMs('i.created_at')} as created_ms`
const toJoin = (operatorId: string) => sql`i.operator_id = ${operatorId}::uuid and i.customer_id is null`

/** Lists the invitations of an operator's staff; `now` in epoch milliseconds. @throws the driver's errors */
export async function listStaffInvitations(
  db: ReadDatabase,
  operatorId: string,
  { filters, sort, ...page }: StaffInvitationListQuery,
  now: number,
) {
  const where = new Conditions().add(toJoin(operatorId)).created('i', filters.createdFrom, filters.createdTo)
  if (filters.status !== undefined) where.anyOf(sql`(${status(now)})`, filters.status, 'text')
  const { rows, ...rest } = await readPage<InvitationRow>(
    db,
    [{ columns: invitation(now), from: sql`invitation i`, where: where.list, order: order('i', sort) }],
    page,
  )
  return { ...rest, rows: rows.map(invitationView) }
}

/** Reads an invitation of an operator's staff with its version; null when the operator has no such. */
export async function getStaffInvitation(
  db: ReadDatabase,
  operatorId: string,
  id: string,
  now: number,
): Promise<Versioned<StaffInvitation> | null> {
  const where = [toJoin(operatorId), sql`i.id = ${id}::uuid`]
  const branch = { columns: invitation(now), from: sql`invitation i`, where, order: order('i', 'createdAt') }
  const {
    rows: [row],
  } = await readPage<InvitationRow>(db, [branch], ONE)
  return row === undefined ? null : { version: row.version, view: invitationView(row) }
}

function invitationView(row: InvitationRow): StaffInvitation {
  return {
    id: row.id,
    operatorId: row.operator_id,
    email: row.email,
    name: row.name,
    role: row.role,
    status: row.status,
    invitedBy: row.invited_by,
    invitedByName: row.invited_by_name,
    expiresAt: timestamp(row.expires_ms),
    acceptedAt: row.accepted_ms === null ? null : timestamp(row.accepted_ms),
    createdAt: timestamp(row.created_ms),
  }
}
