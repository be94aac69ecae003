/** Rows of teams and their members. Statements only; rules are elsewhere. */
import { timestamp } from '../../lib/base/clock.ts'
import type { TransactionClient } from '../db/transaction.ts'
import type { Client } from './members.ts'

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
