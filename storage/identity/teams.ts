/** Rows of teams and their members. Rules are elsewhere. */
import { entitiesOf } from '../db/entities.ts'
import type { TransactionClient } from '../db/transaction.ts'
import type { Client } from './members.ts'
import { Team } from './team-entity.ts'

/** Selects the ids that are teams of the customer. */
export async function knownTeams(
  client: Client,
  customerId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const teams = await entitiesOf(client, { customerId }).find(Team, { id: { $in: [...ids] } })
  return new Set(teams.map(({ id }) => id))
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

/** Returns whether another team of the customer has this name, in any case. */
async function teamNameTaken(client: Client, customerId: string, id: string, name: string): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'team_name_taken',
    text: 'select from team where customer_id = $1 and lower(name) = lower($2) and id <> $3',
    values: [customerId, name, id],
  })
  return rowCount !== 0
}

/** The name of a team. `now` is epoch milliseconds. */
interface TeamChange {
  readonly id: string
  readonly customerId: string
  readonly name: string
  readonly now: number
}

/** Makes a team. @returns false when another team of the customer has the name */
export async function insertTeam(
  client: TransactionClient,
  { id, customerId, name, now }: TeamChange,
): Promise<boolean> {
  if (await teamNameTaken(client, customerId, id, name)) return false
  await entitiesOf(client, { customerId }).insert(Team, { id, customerId, name, createdAt: now, updatedAt: now })
  return true
}

/** Renames a team that this transaction has read. @returns false when another team of the customer has the name */
export async function renameTeam(
  client: TransactionClient,
  { id, customerId, name, now }: TeamChange,
): Promise<boolean> {
  if (await teamNameTaken(client, customerId, id, name)) return false
  const rows = entitiesOf(client, { customerId })
  Object.assign(await rows.get(Team, id), { name, updatedAt: now })
  await rows.save()
  return true
}

/** Reads the version of a team; null when it is not the customer's. */
export async function teamVersion(client: Client, customerId: string, id: string): Promise<number | null> {
  return (await entitiesOf(client, { customerId }).findOne(Team, { id }))?.version ?? null
}

export async function countTeams(client: Client, customerId: string): Promise<number> {
  return await entitiesOf(client, { customerId }).count(Team)
}

/** Deletes a team that this transaction has read, and its memberships. */
export async function deleteTeam(client: TransactionClient, customerId: string, id: string): Promise<void> {
  await client.query({ name: 'empty_team', text: 'delete from team_member where team_id = $1', values: [id] })
  const rows = entitiesOf(client, { customerId })
  await rows.remove(await rows.get(Team, id))
}
