/** Rows of invitations, and of the person who accepts an invitation. Statements only; rules are elsewhere. */
import type { MemberRole } from '../../lib/identity/capabilities.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { entitiesOf } from '../db/entities.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { Invitation } from './invitation-entity.ts'
import type { Client } from './members.ts'

export interface InvitationRecord {
  readonly id: string
  readonly customerId: string
  readonly customerName: string
  readonly operatorId: string
  readonly email: string
  readonly role: MemberRole
  readonly teamIds: readonly string[]
  /** As stored: an invitation past its expiry is still `pending`. */
  readonly status: 'pending' | 'accepted' | 'expired' | 'revoked'
  readonly expiresAt: number
  readonly invitedByName: string
  readonly version: number
  /** The user with this address, if one exists. */
  readonly userId: string | null
}

const INVITATION = `select i.id, i.customer_id, c.legal_name, c.operator_id, i.email, i.role, i.team_ids, i.status, (extract(epoch from i.expires_at) * 1000)::float8 as expires_ms,
    i.invited_by_name, i.version, (select u.id from platform_user u where u.email_key = i.email_key) as user_id
  from invitation i join customer c on c.id = i.customer_id`

interface InvitationRow {
  readonly id: string
  readonly customer_id: string
  readonly legal_name: string
  readonly operator_id: string
  readonly email: string
  readonly role: MemberRole
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
    customerId: row.customer_id,
    customerName: row.legal_name,
    operatorId: row.operator_id,
    email: row.email,
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

export async function lockInvitation(
  client: TransactionClient,
  customerId: string,
  id: string,
): Promise<InvitationRecord | null> {
  const {
    rows: [row],
  } = await client.query<InvitationRow>({
    name: 'lock_invitation',
    text: `${INVITATION} where i.id = $2 and i.customer_id = $1 for update of i`,
    values: [customerId, id],
  })
  return row === undefined ? null : invitationRecord(row)
}

/**
 * Whether the address belongs to a member who is not removed, or has an open invitation. Expired invitations are closed
 * first.
 */
export async function addressTaken(
  client: TransactionClient,
  customerId: string,
  emailKey: string,
  now: number,
): Promise<'member' | 'invited' | null> {
  await client.query({
    name: 'expire_invitations',
    text: `update invitation set status = 'expired', version = version + 1 where customer_id = $1 and email_key = $2 and status = 'pending' and expires_at <= $3::timestamptz`,
    values: [customerId, emailKey, timestamp(now)],
  })
  const {
    rows: [row],
  } = await client.query<{ member: boolean; invited: boolean }>({
    name: 'address_taken',
    text: `select exists (select from membership m join platform_user u on u.id = m.user_id where m.tenant_id = $1 and u.email_key = $2 and m.status <> 'removed') as member,
      exists (select from invitation where customer_id = $1 and email_key = $2 and status = 'pending') as invited`,
    values: [customerId, emailKey],
  })
  return row!.member ? 'member' : row!.invited ? 'invited' : null
}

export interface NewInvitation {
  readonly id: string
  readonly customerId: string
  readonly email: string
  readonly emailKey: string
  readonly role: MemberRole
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
  await entitiesOf(client, { customerId: invitation.customerId }).insert(Invitation, {
    ...invitation,
    teamIds: [...teamIds],
    tokenSha256: Buffer.from(tokenSha256, 'hex'),
    status: 'pending',
    invitedBy: by.id,
    invitedByName: by.name,
    createdAt: now,
  })
}

/** Sets a new link for a locked invitation; the previous link becomes void. */
export async function renewInvitation(
  client: TransactionClient,
  { id, customerId }: Pick<InvitationRecord, 'id' | 'customerId'>,
  { tokenSha256, expiresAt }: { readonly tokenSha256: string; readonly expiresAt: number },
): Promise<void> {
  const rows = entitiesOf(client, { customerId })
  const change = { tokenSha256: Buffer.from(tokenSha256, 'hex'), status: 'pending', expiresAt }
  Object.assign(await rows.get(Invitation, id), change)
  await rows.save()
}

/** Ends a locked invitation. */
export async function endInvitation(
  client: TransactionClient,
  { id, customerId }: Pick<InvitationRecord, 'id' | 'customerId'>,
  status: 'accepted' | 'revoked',
  now: number,
): Promise<void> {
  const rows = entitiesOf(client, { customerId })
  Object.assign(await rows.get(Invitation, id), { status, acceptedAt: status === 'accepted' ? now : null })
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

/** Makes a user a member, even after an earlier removal. @returns the membership's id */
export async function insertMember(
  client: TransactionClient,
  {
    id,
    userId,
    customerId,
    operatorId,
    role,
    now,
  }: {
    readonly id: string
    readonly userId: string
    readonly customerId: string
    readonly operatorId: string
    readonly role: MemberRole
    readonly now: number
  },
): Promise<string> {
  const {
    rows: [row],
  } = await client.query<{ id: string }>({
    name: 'insert_member',
    text: `insert into membership as m (id, user_id, level, tenant_id, operator_id, role, status, created_at, updated_at) values ($1, $2, 'customer', $3, $4, $5, 'active', $6, $6)
      on conflict (tenant_id, user_id) do update set role = excluded.role, status = 'active', version = m.version + 1, updated_at = excluded.updated_at returning id`,
    values: [id, userId, customerId, operatorId, role, timestamp(now)],
  })
  return row!.id
}
