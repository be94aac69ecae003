/** Rows of an operator's staff. Statements only; rules are elsewhere. */
import { timestamp } from '../../lib/base/clock.ts'
import type { StaffRole } from '../../lib/identity/capabilities.ts'
import { entitiesOf } from '../db/entities.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { Membership } from '../identity/membership-entity.ts'

export interface StaffRecord {
  readonly id: string
  readonly userId: string
  readonly email: string
  readonly role: StaffRole
  readonly status: 'active' | 'suspended' | 'removed'
  readonly version: bigint
}

/** Finds a membership of an operator's staff; null when the operator has no such. */
export async function findStaff(
  client: TransactionClient,
  operatorId: string,
  id: string,
): Promise<StaffRecord | null> {
  const {
    rows: [row],
  } = await client.query<Omit<StaffRecord, 'version'> & { readonly version: string }>({
    name: 'find_staff',
    text: `select m.id, m.user_id as "userId", u.email, m.role, m.status, m.version from membership m join platform_user u on u.id = m.user_id
      where m.id = $2 and m.tenant_id = $1 and m.level = 'operator'`,
    values: [operatorId, id],
  })
  return row === undefined ? null : { ...row, version: BigInt(row.version) }
}

/** Counts the people, other than one, who can sign in for the operator in a role. */
export async function othersInRole(
  client: TransactionClient,
  operatorId: string,
  role: StaffRole,
  exceptId: string,
): Promise<number> {
  const { rows } = await client.query<{ others: number }>({
    name: 'other_staff_in_role',
    text: `select count(*)::int as others from membership m join platform_user u on u.id = m.user_id
      where m.tenant_id = $1 and m.level = 'operator' and m.role = $2 and m.status = 'active' and u.status = 'active' and m.id <> $3`,
    values: [operatorId, role, exceptId],
  })
  return rows[0]!.others
}

/** Counts the staff who are not removed, and open invitations. */
export async function countStaff(client: TransactionClient, operatorId: string, now: number): Promise<number> {
  const { rows } = await client.query<{ staff: number }>({
    name: 'count_staff',
    text: `select (select count(*) from membership where tenant_id = $1 and level = 'operator' and status <> 'removed')::int
      + (select count(*) from invitation where operator_id = $1 and customer_id is null and status = 'pending' and expires_at > $2::timestamptz)::int as staff`,
    values: [operatorId, timestamp(now)],
  })
  return rows[0]!.staff
}

/** Writes the role and the status of one of the staff, as the next version. */
export async function updateStaff(
  client: TransactionClient,
  operatorId: string,
  id: string,
  { role, status }: Pick<StaffRecord, 'role' | 'status'>,
  now: number,
): Promise<void> {
  const rows = entitiesOf(client, { operatorId })
  Object.assign(await rows.get(Membership, id), { role, status, updatedAt: now })
  await rows.save()
}
