/**
 * Creates, changes and deletes teams. Approval policies name teams, so members cannot add themselves to a team, and a
 * change of the members of a team needs a step-up proof.
 */
import { refuse, refuseField, refuseNotFound, refuseTransition } from '../../lib/base/problems.ts'
import * as teamRows from '../../storage/identity/teams.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { auditCaller } from '../commands/trail.ts'
import { recordChange } from '../commands/changes.ts'
import { requireProof } from '../commands/proof.ts'
import type { Team, TeamCreate, TeamUpdate } from '../../lib/identity/member-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { changeMembers, found, type MemberDeps } from './member-changes.ts'
import { checkVersion } from '../../lib/commands/etag.ts'

const TEAMS_MAX = 50

/** Creates a team. */
export async function createTeam(
  deps: MemberDeps,
  by: Caller<'person'>,
  { name, membershipIds = [] }: TeamCreate,
): Promise<Versioned<Team>> {
  const customerId = by.tenant.id
  const id = deps.ids.next()
  await changeMembers(deps, customerId, async (tx) => {
    const { client, now } = tx
    if ((await teamRows.countTeams(client, customerId)) >= TEAMS_MAX)
      refuse('limit-reached', `A customer has at most ${TEAMS_MAX} teams.`, {
        extra: { limit: TEAMS_MAX, resource: 'team' },
      })
    if (!(await teamRows.insertTeam(client, { id, customerId, name, now })))
      refuseField('/name', 'invalid_value', 'Another team has this name.')
    await teamRows.setMembersOf(client, customerId, id, await checkTeamMembers(client, by, membershipIds, []))
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'team.created',
      object: { type: 'team', id },
      before: null,
      after: { name, membershipIds },
    })
  })
  return await found(deps.reads.getTeam(customerId, id))
}

/** Renames a team, and replaces its members. */
export async function updateTeam(
  deps: MemberDeps,
  by: Caller<'person'>,
  id: string,
  body: TeamUpdate,
  expected: number | bigint | null,
): Promise<Versioned<Team>> {
  const customerId = by.tenant.id
  const before = await found(deps.reads.getTeam(customerId, id))
  if (body.membershipIds !== undefined) await requireProof(deps, by, 'membership.change')
  await changeMembers(deps, customerId, async (tx) => {
    const { client, now } = tx
    await compareTeam(client, customerId, id, expected)
    const { name = before.view.name, membershipIds } = body
    if (!(await teamRows.renameTeam(client, { id, customerId, name, now })))
      refuseField('/name', 'invalid_value', 'Another team has this name.')
    if (membershipIds !== undefined)
      await teamRows.setMembersOf(
        client,
        customerId,
        id,
        await checkTeamMembers(client, by, membershipIds, await teamRows.membersOf(client, id)),
      )
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'team.updated',
      object: { type: 'team', id },
      before: { name: before.view.name, membershipIds: before.view.membershipIds },
      after: { name, membershipIds: membershipIds ?? before.view.membershipIds },
    })
  })
  return await found(deps.reads.getTeam(customerId, id))
}

/** Deletes a team. */
export async function deleteTeam(
  deps: MemberDeps,
  by: Caller<'person'>,
  id: string,
  expected: number | bigint | null,
): Promise<void> {
  const customerId = by.tenant.id
  const before = await found(deps.reads.getTeam(customerId, id))
  await changeMembers(deps, customerId, async (tx) => {
    const { client } = tx
    await compareTeam(client, customerId, id, expected)
    await teamRows.deleteTeam(client, customerId, id)
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'team.deleted',
      object: { type: 'team', id },
      before: { name: before.view.name, membershipIds: before.view.membershipIds },
      after: null,
    })
  })
}

async function compareTeam(
  client: TransactionClient,
  customerId: string,
  id: string,
  expected: number | bigint | null,
): Promise<void> {
  const version = (await teamRows.teamVersion(client, customerId, id)) ?? refuseNotFound()
  checkVersion({ version }, expected)
}

/** Returns the ids of teams of the customer, each once. @throws ProblemError when a team is unknown */
export async function checkTeams(
  client: TransactionClient,
  customerId: string,
  teamIds: readonly string[],
): Promise<readonly string[]> {
  const wanted = [...new Set(teamIds.map((id) => id.toLowerCase()))]
  const known = await teamRows.knownTeams(client, customerId, wanted)
  const index = teamIds.findIndex((id) => !known.has(id.toLowerCase()))
  if (index >= 0) refuseField(`/teamIds/${index}`, 'not_found', 'No such team.')
  return wanted
}

/**
 * Checks the memberships of a team. `before` are its current members.
 *
 * @throws ProblemError when the caller would join it
 */
async function checkTeamMembers(
  client: TransactionClient,
  by: Caller<'person'>,
  membershipIds: readonly string[],
  before: readonly string[],
): Promise<readonly string[]> {
  const wanted = await checkMembers(client, by.tenant.id, membershipIds)
  const own = by.session.memberships.find(({ tenantId }) => tenantId === by.tenant.id)?.id
  if (own !== undefined && wanted.includes(own) && !before.includes(own))
    refuseTransition('You cannot add yourself to a team; ask another owner or administrator.', 'own_membership', [])
  return wanted
}

async function checkMembers(
  client: TransactionClient,
  customerId: string,
  membershipIds: readonly string[],
): Promise<readonly string[]> {
  const wanted = [...new Set(membershipIds.map((id) => id.toLowerCase()))]
  const known = await teamRows.knownMembers(client, customerId, wanted)
  const index = membershipIds.findIndex((id) => !known.has(id.toLowerCase()))
  if (index >= 0) refuseField(`/membershipIds/${index}`, 'not_found', 'No such member.')
  return wanted
}
