/** Rows of memberships. Statements only; rules are elsewhere. */
import { limitsOf, type CurrencyLimits, type LimitsJson } from '../../lib/customers/limits.ts'
import type { MemberRole } from '../../lib/identity/capabilities.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { entitiesOf } from '../db/entities.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { Membership } from './membership-entity.ts'

export type Client = Pick<TransactionClient, 'query'>

/** Serialises changes of a tenant's members or staff: rules such as "one owner remains" are about all of them. */
export async function lockMembers(client: TransactionClient, tenantId: string): Promise<void> {
  await client.query({
    name: 'lock_members',
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
    values: [`members of ${tenantId}`],
  })
}

export interface MemberRecord {
  readonly id: string
  readonly userId: string
  readonly email: string
  readonly name: string
  readonly role: MemberRole
  readonly status: 'active' | 'suspended' | 'removed'
  readonly isPrimaryOwner: boolean
  readonly limits: readonly CurrencyLimits[] | null
  readonly version: bigint
}

/** Finds a membership of a customer; null when it is not the customer's. */
export async function findMember(client: Client, customerId: string, id: string): Promise<MemberRecord | null> {
  const {
    rows: [row],
  } = await client.query<{
    id: string
    user_id: string
    email: string
    name: string
    role: MemberRole
    status: MemberRecord['status']
    is_primary_owner: boolean
    limits: LimitsJson | null
    version: string
  }>({
    name: 'find_member',
    text: `select m.id, m.user_id, u.email, u.name, m.role, m.status, m.is_primary_owner, m.limits, m.version from membership m join platform_user u on u.id = m.user_id
      where m.id = $2 and m.tenant_id = $1 and m.level = 'customer'`,
    values: [customerId, id],
  })
  if (row === undefined) return null
  return {
    id: row.id,
    userId: row.user_id,
    email: row.email,
    name: row.name,
    role: row.role,
    status: row.status,
    isPrimaryOwner: row.is_primary_owner,
    limits: row.limits === null ? null : limitsOf(row.limits),
    version: BigInt(row.version),
  }
}

/** Counts active owners of a customer other than one membership. */
export async function otherOwners(client: Client, customerId: string, exceptId: string): Promise<number> {
  const owners = { role: 'owner', status: 'active', id: { $ne: exceptId } }
  return await entitiesOf(client, { customerId }).count(Membership, owners)
}

/** Counts members that are not removed, and open invitations. */
export async function countMembers(client: Client, customerId: string, now: number): Promise<number> {
  const { rows } = await client.query<{ members: number }>({
    name: 'count_members',
    text: `select (select count(*) from membership where tenant_id = $1 and status <> 'removed')::int
      + (select count(*) from invitation where customer_id = $1 and status = 'pending' and expires_at > $2::timestamptz)::int as members`,
    values: [customerId, timestamp(now)],
  })
  return rows[0]!.members
}

export async function updateMember(
  client: TransactionClient,
  customerId: string,
  id: string,
  { role, status }: { readonly role: MemberRole; readonly status: 'active' | 'suspended' | 'removed' },
  now: number,
): Promise<void> {
  const rows = entitiesOf(client, { customerId })
  Object.assign(await rows.get(Membership, id), { role, status, updatedAt: now })
  await rows.save()
}

/** Makes a membership the customer's primary owner, in place of the present one. */
export async function setPrimaryOwner(
  client: TransactionClient,
  customerId: string,
  id: string,
  now: number,
): Promise<void> {
  const rows = entitiesOf(client, { customerId })
  const present = await rows.findOne(Membership, { isPrimaryOwner: true })
  if (present !== null) Object.assign(present, { isPrimaryOwner: false, updatedAt: now })
  // Written first: a customer has one primary owner at any moment.
  await rows.save()
  Object.assign(await rows.get(Membership, id), { isPrimaryOwner: true, role: 'owner', updatedAt: now })
  await rows.save()
}

/** Reads the tenant to which a user has belonged for longest; null for a user without a membership. */
export async function tenantOfUser(client: Pick<TransactionClient, 'query'>, userId: string): Promise<string | null> {
  const { rows } = await client.query<{ tenant_id: string }>({
    name: 'tenant_of_user',
    text: `select tenant_id from membership where user_id = $1 and status = 'active' order by id limit 1`,
    values: [userId],
  })
  return rows[0]?.tenant_id ?? null
}
