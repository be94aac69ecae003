/** Rows of memberships, teams and invitations. Statements only; rules are elsewhere. */
import { limitsOf, type CurrencyLimits, type LimitsJson } from '../../lib/customers/limits.ts'
import type { MemberRole } from '../../lib/identity/capabilities.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { TransactionClient } from '../db/transaction.ts'

type Client = Pick<TransactionClient, 'query'>

/** Serialises changes of a customer's members: rules such as "one owner remains" are about all of them. */
export async function lockMembers(client: TransactionClient, customerId: string): Promise<void> {
  await client.query({
    name: 'lock_members',
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
    values: [`members of ${customerId}`],
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
  const { rows } = await client.query<{ owners: number }>({
    name: 'other_owners',
    text: `select count(*)::int as owners from membership where tenant_id = $1 and role = 'owner' and status = 'active' and id <> $2`,
    values: [customerId, exceptId],
  })
  return rows[0]!.owners
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
  id: string,
  { role, status }: { readonly role: string; readonly status: string },
  now: number,
): Promise<void> {
  await client.query({
    name: 'update_member',
    text: 'update membership set role = $2, status = $3, version = version + 1, updated_at = $4 where id = $1',
    values: [id, role, status, timestamp(now)],
  })
}

/** Makes a membership the customer's primary owner, in place of the present one. */
export async function setPrimaryOwner(
  client: TransactionClient,
  customerId: string,
  id: string,
  now: number,
): Promise<void> {
  await client.query({
    name: 'no_primary_owner',
    text: 'update membership set is_primary_owner = false, version = version + 1, updated_at = $2 where tenant_id = $1 and is_primary_owner',
    values: [customerId, timestamp(now)],
  })
  await client.query({
    name: 'set_primary_owner',
    text: `update membership set is_primary_owner = true, role = 'owner', version = version + 1, updated_at = $2 where id = $1`,
    values: [id, timestamp(now)],
  })
}

// ── Teams ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Selects the ids that are teams of the customer. */
export async function knownTeams(
  client: Client,
  customerId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ id: string }>({
    name: 'known_teams',
    text: 'select id from team where customer_id = $1 and id = any($2::uuid[])',
    values: [customerId, ids],
  })
  return new Set(rows.map(({ id }) => id))
}

/** Selects the ids that are memberships of the customer and not removed. */
export async function knownMembers(
  client: Client,
  customerId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ id: string }>({
    name: 'known_members',
    text: `select id from membership where tenant_id = $1 and status <> 'removed' and id = any($2::uuid[])`,
    values: [customerId, ids],
  })
  return new Set(rows.map(({ id }) => id))
}

export async function setTeamsOf(
  client: TransactionClient,
  customerId: string,
  membershipId: string,
  teamIds: readonly string[],
): Promise<void> {
  await client.query({
    name: 'leave_teams',
    text: 'delete from team_member where membership_id = $1',
    values: [membershipId],
  })
  await client.query({
    name: 'join_teams',
    text: 'insert into team_member (team_id, membership_id, customer_id) select t, $1, $2 from unnest($3::uuid[]) t',
    values: [membershipId, customerId, teamIds],
  })
}

/** Lists the memberships of a team. */
export async function membersOf(client: Client, teamId: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ membership_id: string }>({
    name: 'members_of_team',
    text: 'select membership_id from team_member where team_id = $1',
    values: [teamId],
  })
  return rows.map(({ membership_id: id }) => id)
}

export async function setMembersOf(
  client: TransactionClient,
  customerId: string,
  teamId: string,
  membershipIds: readonly string[],
): Promise<void> {
  await client.query({ name: 'empty_team', text: 'delete from team_member where team_id = $1', values: [teamId] })
  await client.query({
    name: 'fill_team',
    text: 'insert into team_member (team_id, membership_id, customer_id) select $1, m, $2 from unnest($3::uuid[]) m',
    values: [teamId, customerId, membershipIds],
  })
}

/** Makes a team, or renames it. @returns false when another team of the customer has the name */
export async function writeTeam(
  client: TransactionClient,
  {
    id,
    customerId,
    name,
    now,
  }: { readonly id: string; readonly customerId: string; readonly name: string; readonly now: number },
): Promise<boolean> {
  const { rowCount: taken } = await client.query({
    name: 'team_name_taken',
    text: 'select from team where customer_id = $1 and lower(name) = lower($2) and id <> $3',
    values: [customerId, name, id],
  })
  if (taken !== 0) return false
  await client.query({
    name: 'write_team',
    text: `insert into team (id, customer_id, name, version, created_at, updated_at) values ($1, $2, $3, 1, $4, $4)
      on conflict (id) do update set name = excluded.name, version = team.version + 1, updated_at = excluded.updated_at`,
    values: [id, customerId, name, timestamp(now)],
  })
  return true
}

/** Reads the version of a team; null when it is not the customer's. */
export async function teamVersion(client: Client, customerId: string, id: string): Promise<number | null> {
  const {
    rows: [row],
  } = await client.query<{ version: number }>({
    name: 'team_version',
    text: 'select version from team where customer_id = $1 and id = $2',
    values: [customerId, id],
  })
  return row?.version ?? null
}

export async function countTeams(client: Client, customerId: string): Promise<number> {
  const { rows } = await client.query<{ teams: number }>({
    name: 'count_teams',
    text: 'select count(*)::int as teams from team where customer_id = $1',
    values: [customerId],
  })
  return rows[0]!.teams
}

export async function deleteTeam(client: TransactionClient, id: string): Promise<void> {
  await client.query({ name: 'empty_team', text: 'delete from team_member where team_id = $1', values: [id] })
  await client.query({ name: 'delete_team', text: 'delete from team where id = $1', values: [id] })
}

// ── Invitations ───────────────────────────────────────────────────────────────────────────────────────────────────────

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
  readonly role: string
  readonly teamIds: readonly string[]
  readonly tokenSha256: string
  readonly by: { readonly id: string; readonly name: string }
  readonly expiresAt: number
  readonly now: number
}

export async function insertInvitation(client: TransactionClient, invitation: NewInvitation): Promise<void> {
  await client.query({
    name: 'insert_invitation',
    text: `insert into invitation (id, customer_id, email, email_key, role, team_ids, token_sha256, status, version, invited_by, invited_by_name, expires_at, created_at)
      values ($1, $2, $3, $4, $5, $6, decode($7, 'hex'), 'pending', 1, $8, $9, $10, $11)`,
    values: [
      invitation.id,
      invitation.customerId,
      invitation.email,
      invitation.emailKey,
      invitation.role,
      invitation.teamIds,
      invitation.tokenSha256,
      invitation.by.id,
      invitation.by.name,
      timestamp(invitation.expiresAt),
      timestamp(invitation.now),
    ],
  })
}

/** Sets a new link for an invitation; the previous link becomes void. */
export async function renewInvitation(
  client: TransactionClient,
  id: string,
  { tokenSha256, expiresAt }: { readonly tokenSha256: string; readonly expiresAt: number },
): Promise<void> {
  await client.query({
    name: 'renew_invitation',
    text: `update invitation set token_sha256 = decode($2, 'hex'), status = 'pending', expires_at = $3, version = version + 1 where id = $1`,
    values: [id, tokenSha256, timestamp(expiresAt)],
  })
}

export async function endInvitation(
  client: TransactionClient,
  id: string,
  status: 'accepted' | 'revoked',
  now: number,
): Promise<void> {
  await client.query({
    name: 'end_invitation',
    text: `update invitation set status = $2, accepted_at = case when $2 = 'accepted' then $3::timestamptz end, version = version + 1 where id = $1`,
    values: [id, status, timestamp(now)],
  })
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
    readonly role: string
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
