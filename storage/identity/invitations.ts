/** Rows of invitations, and of the person who accepts an invitation. Statements only; rules are elsewhere. */
import type { Role } from '../../lib/identity/capabilities.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { entitiesOf } from '../db/entities.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { Invitation } from './invitation-entity.ts'
import type { Client } from './members.ts'

/** The tenant of an invitation: a customer, or the operator of invited staff. */
export interface InvitingTenant {
  readonly level: 'customer' | 'operator'
  readonly id: string
  readonly name: string
}

export interface InvitationRecord {
  readonly id: string
  readonly tenant: InvitingTenant
  readonly operatorId: string
  readonly operatorName: string
  readonly email: string
  /** The name of the invited person; null: the person chooses it. */
  readonly name: string | null
  readonly role: Role
  readonly teamIds: readonly string[]
  /** As stored: an invitation past its expiry is still `pending`. */
  readonly status: 'pending' | 'accepted' | 'expired' | 'revoked'
  readonly expiresAt: number
  readonly invitedByName: string
  readonly version: number
  /** The user with this address, if one exists. */
  readonly userId: string | null
}

const INVITATION = `select i.id, i.customer_id, c.legal_name, i.operator_id, o.name as operator_name, i.email, i.name, i.role, i.team_ids, i.status,
    (extract(epoch from i.expires_at) * 1000)::float8 as expires_ms, i.invited_by_name, i.version,
    (select u.id from platform_user u where u.email_key = i.email_key) as user_id
  from invitation i join operator o on o.id = i.operator_id left join customer c on c.id = i.customer_id`

interface InvitationRow {
  readonly id: string
  readonly customer_id: string | null
  readonly legal_name: string | null
  readonly operator_id: string
  readonly operator_name: string
  readonly email: string
  readonly name: string | null
  readonly role: Role
  readonly team_ids: readonly string[]
  readonly status: InvitationRecord['status']
  readonly expires_ms: number
  readonly invited_by_name: string
  readonly version: number
  readonly user_id: string | null
}

function invitationRecord(row: InvitationRow): InvitationRecord {
  return {
    id: row.id,
    tenant:
      row.customer_id === null
        ? { level: 'operator', id: row.operator_id, name: row.operator_name }
        : { level: 'customer', id: row.customer_id, name: row.legal_name as string },
    operatorId: row.operator_id,
    operatorName: row.operator_name,
    email: row.email,
    name: row.name,
    role: row.role,
    teamIds: row.team_ids,
    status: row.status,
    expiresAt: row.expires_ms,
    invitedByName: row.invited_by_name,
    version: row.version,
    userId: row.user_id,
  }
}

export async function invitationByToken(
  client: Client,
  tokenSha256: string,
  lock = false,
): Promise<InvitationRecord | null> {
  const {
    rows: [row],
  } = await client.query<InvitationRow>({
    name: lock ? 'lock_invitation_by_token' : 'invitation_by_token',
    text: `${INVITATION} where i.token_sha256 = decode($1, 'hex')${lock ? ' for update of i' : ''}`,
    values: [tokenSha256],
  })
  return row === undefined ? null : invitationRecord(row)
}

/** Whose invitation it is. */
type Inviting = Pick<InvitingTenant, 'level' | 'id'>

/** SQL of the invitations of a tenant, `$1`. */
const OF_TENANT: Readonly<Record<InvitingTenant['level'], string>> = {
  customer: 'i.customer_id = $1',
  operator: 'i.operator_id = $1 and i.customer_id is null',
}

export async function lockInvitation(
  client: TransactionClient,
  { level, id: tenantId }: Inviting,
  id: string,
): Promise<InvitationRecord | null> {
  const {
    rows: [row],
  } = await client.query<InvitationRow>({
    name: `lock_invitation_of_${level}`,
    text: `${INVITATION} where i.id = $2 and ${OF_TENANT[level]} for update of i`,
    values: [tenantId, id],
  })
  return row === undefined ? null : invitationRecord(row)
}

/** Locks the invitations of a customer's owners that are open or have expired, the newest first. */
export async function ownerInvitations(
  client: TransactionClient,
  customerId: string,
): Promise<readonly InvitationRecord[]> {
  const { rows } = await client.query<InvitationRow>({
    name: 'lock_owner_invitations',
    text: `${INVITATION} where i.customer_id = $1 and i.role = 'owner' and i.status in ('pending', 'expired') order by i.id desc for update of i`,
    values: [customerId],
  })
  return rows.map(invitationRecord)
}

/**
 * Whether the address belongs to a member who is not removed, or has an open invitation. Expired invitations are closed
 * first.
 */
export async function addressTaken(
  client: TransactionClient,
  { level, id: tenantId }: Inviting,
  emailKey: string,
  now: number,
): Promise<'member' | 'invited' | null> {
  await client.query({
    name: `expire_invitations_of_${level}`,
    text: `update invitation i set status = 'expired', version = version + 1 where ${OF_TENANT[level]} and email_key = $2 and status = 'pending' and expires_at <= $3::timestamptz`,
    values: [tenantId, emailKey, timestamp(now)],
  })
  const {
    rows: [row],
  } = await client.query<{ member: boolean; invited: boolean }>({
    name: `address_taken_at_${level}`,
    text: `select exists (select from membership m join platform_user u on u.id = m.user_id where m.tenant_id = $1 and u.email_key = $2 and m.status <> 'removed') as member,
      exists (select from invitation i where ${OF_TENANT[level]} and email_key = $2 and status = 'pending') as invited`,
    values: [tenantId, emailKey],
  })
  return row!.member ? 'member' : row!.invited ? 'invited' : null
}

export interface NewInvitation {
  readonly id: string
  readonly operatorId: string
  /** Null: an invitation of the operator's staff. */
  readonly customerId: string | null
  readonly email: string
  readonly emailKey: string
  /** The name of the invited person; null: the person chooses it. */
  readonly name: string | null
  readonly role: Role
  readonly teamIds: readonly string[]
  readonly tokenSha256: string
  readonly by: { readonly id: string; readonly name: string }
  readonly expiresAt: number
  readonly now: number
}

export async function insertInvitation(
  client: TransactionClient,
  { by, now, tokenSha256, teamIds, ...invitation }: NewInvitation,
): Promise<void> {
  const { operatorId, customerId } = invitation
  await entitiesOf(client, customerId === null ? { operatorId } : { customerId }).insert(Invitation, {
    ...invitation,
    teamIds: [...teamIds],
    tokenSha256: Buffer.from(tokenSha256, 'hex'),
    status: 'pending',
    invitedBy: by.id,
    invitedByName: by.name,
    createdAt: now,
  })
}

type Locked = Pick<InvitationRecord, 'id' | 'tenant'>

/** Opens the rows of the tenant of an invitation. */
const rowsOf = (client: TransactionClient, { tenant: { level, id } }: Locked) =>
  entitiesOf(client, level === 'operator' ? { operatorId: id } : { customerId: id })

/** Sets a new link for a locked invitation, and other terms; the previous link becomes void. */
export async function renewInvitation(
  client: TransactionClient,
  locked: Locked,
  {
    tokenSha256,
    ...terms
  }: {
    readonly tokenSha256: string
    readonly expiresAt: number
    readonly role?: Role
    readonly name?: string | null
  },
): Promise<void> {
  const rows = rowsOf(client, locked)
  const change = { ...terms, tokenSha256: Buffer.from(tokenSha256, 'hex'), status: 'pending' }
  Object.assign(await rows.get(Invitation, locked.id), change)
  await rows.save()
}

/** Ends a locked invitation. */
export async function endInvitation(
  client: TransactionClient,
  locked: Locked,
  status: 'accepted' | 'revoked',
  now: number,
): Promise<void> {
  const rows = rowsOf(client, locked)
  Object.assign(await rows.get(Invitation, locked.id), { status, acceptedAt: status === 'accepted' ? now : null })
  await rows.save()
}

export async function insertPerson(
  client: TransactionClient,
  person: {
    readonly id: string
    readonly email: string
    readonly emailKey: string
    readonly name: string
    readonly passwordHash: string
    readonly now: number
  },
): Promise<void> {
  await client.query({
    name: 'insert_person',
    text: `insert into platform_user (id, email, email_key, name, password_hash, password_changed_at, status, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, 'active', $6, $6)`,
    values: [person.id, person.email, person.emailKey, person.name, person.passwordHash, timestamp(person.now)],
  })
}

/**
 * Makes a user a member of a customer or staff of an operator, even after an earlier removal. The first owner of a
 * customer is its primary owner.
 *
 * @returns the id
 */
export async function insertMember(
  client: TransactionClient,
  {
    id,
    userId,
    tenant,
    operatorId,
    role,
    now,
  }: {
    readonly id: string
    readonly userId: string
    readonly tenant: Pick<InvitingTenant, 'level' | 'id'>
    readonly operatorId: string
    readonly role: Role
    readonly now: number
  },
): Promise<string> {
  const {
    rows: [row],
  } = await client.query<{ id: string }>({
    name: 'insert_member',
    text: `insert into membership as m (id, user_id, level, tenant_id, operator_id, role, status, is_primary_owner, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, 'active', $6 = 'owner' and not exists (select from membership o where o.tenant_id = $4 and o.is_primary_owner), $7, $7)
      on conflict (tenant_id, user_id) do update set role = excluded.role, status = 'active', is_primary_owner = m.is_primary_owner or excluded.is_primary_owner, version = m.version + 1, updated_at = excluded.updated_at returning id`,
    values: [id, userId, tenant.level, tenant.id, operatorId, role, timestamp(now)],
  })
  return row!.id
}
