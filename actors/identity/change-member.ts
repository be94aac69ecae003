/**
 * Changes a member and removes one.
 *
 *  * At least one active owner remains, and the primary owner stays until another member takes over.
 *  * Only owners make owners, and members cannot change their own membership.
 */
import { limitsJson } from '../../lib/customers/limits.ts'
import { refuse, refuseField, refuseNotFound, refuseTransition } from '../../lib/base/problems.ts'
import { writeMemberLimits } from '../../storage/customers/customer-limits.ts'
import * as rows from '../../storage/identity/members.ts'
import * as teamRows from '../../storage/identity/teams.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import { limitsOfBody } from '../../lib/customers/limits-of-body.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { auditCaller } from '../commands/trail.ts'
import { recordChange } from '../commands/changes.ts'
import type { Member, MemberUpdate } from '../../lib/identity/member-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { changeMembers, found, requireOwner, type MemberDeps } from './member-changes.ts'
import { checkTeams } from './teams.ts'
import { checkVersion } from '../../lib/commands/etag.ts'

/** Changes the role, the status, the teams and the limits of a member. */
export async function updateMember(
  deps: MemberDeps,
  by: Caller<'person'>,
  id: string,
  body: MemberUpdate,
  expected: number | bigint | null,
): Promise<Versioned<Member>> {
  const customerId = by.tenant.id
  const limits = body.limits == null ? body.limits : limitsOfBody(body.limits, '/limits')
  await changeMembers(deps, customerId, async (tx) => {
    const { client, now } = tx
    const member = await changeable(client, by, id, expected)
    const { role = member.role, status = member.status, teamIds } = body
    if (role === 'owner' && member.role !== 'owner') requireOwner(by)
    if (role !== 'owner' || status !== 'active') await requireOtherOwner(client, customerId, member)
    if (teamIds !== undefined)
      await teamRows.setTeamsOf(client, customerId, id, await checkTeams(client, customerId, teamIds))
    await rows.updateMember(client, customerId, id, { role, status }, now)
    // Last, because this write locks the balances.
    if (limits !== undefined)
      await writeMemberLimits(client, { customerId, membershipId: id, userId: member.userId, limits, now })
    const limitsOf = (terms: typeof member.limits) => (terms === null ? null : limitsJson(terms).currencies)
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'membership.updated',
      object: { type: 'membership', id },
      before: {
        role: member.role,
        status: member.status,
        ...(limits === undefined ? {} : { limits: limitsOf(member.limits) }),
      },
      after: {
        role,
        status,
        ...(teamIds === undefined ? {} : { teamIds }),
        ...(limits === undefined ? {} : { limits: limitsOf(limits) }),
      },
    })
  })
  return await found(deps.reads.getMember(customerId, id))
}

/** Ends a membership, with its teams and its limits. */
export async function removeMember(
  deps: MemberDeps,
  by: Caller<'person'>,
  id: string,
  expected: number | bigint | null,
): Promise<void> {
  const customerId = by.tenant.id
  await changeMembers(deps, customerId, async (tx) => {
    const { client, now } = tx
    const member = await changeable(client, by, id, expected)
    await requireOtherOwner(client, customerId, member)
    await teamRows.setTeamsOf(client, customerId, id, [])
    await rows.updateMember(client, customerId, id, { role: member.role, status: 'removed' }, now)
    // A person who is invited again starts without the old limits.
    if (member.limits !== null)
      await writeMemberLimits(client, { customerId, membershipId: id, userId: member.userId, limits: null, now })
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'membership.removed',
      object: { type: 'membership', id },
      before: { role: member.role, status: member.status, email: member.email },
      after: { status: 'removed' },
    })
  })
}

/** Makes another member the primary owner. Only the primary owner may do this. */
export async function transferPrimaryOwner(
  deps: MemberDeps,
  by: Caller<'person'>,
  membershipId: string,
): Promise<Versioned<Member>> {
  const customerId = by.tenant.id
  const own = by.session.memberships.find(({ tenantId }) => tenantId === customerId)
  await changeMembers(deps, customerId, async (tx) => {
    const { client, now } = tx
    const [mine, next] = [
      own === undefined ? null : await rows.findMember(client, customerId, own.id),
      await rows.findMember(client, customerId, membershipId.toLowerCase()),
    ]
    if (mine?.isPrimaryOwner !== true)
      refuse('insufficient-scope', 'Only the primary owner can transfer the primary ownership.', {
        extra: { requiredCapability: 'owner' },
      })
    if (next === null || next.status === 'removed') refuseField('/membershipId', 'not_found', 'No such member.')
    if (next.status !== 'active') refuseField('/membershipId', 'inactive', 'The member is suspended.')
    await rows.setPrimaryOwner(client, customerId, next.id, now)
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'primary_owner.transferred',
      object: { type: 'membership', id: next.id },
      before: { membershipId: mine.id },
      after: { membershipId: next.id },
    })
  })
  return await found(deps.reads.getMember(customerId, membershipId.toLowerCase()))
}

/** Reads the member to be changed. @throws ProblemError when the caller may not change them */
async function changeable(
  client: TransactionClient,
  by: Caller<'person'>,
  id: string,
  expected: number | bigint | null,
): Promise<rows.MemberRecord> {
  const member = (await rows.findMember(client, by.tenant.id, id)) ?? refuseNotFound()
  checkVersion(member, expected)
  if (member.status === 'removed') refuseTransition('The member was removed.', 'removed', ['active', 'suspended'])
  if (member.userId === by.session.userId)
    refuseTransition('You cannot change your own membership; ask another owner or administrator.', 'own_membership', [])
  if (member.role === 'owner') requireOwner(by)
  return member
}

/**
 * Checks that the customer keeps its primary owner and an active owner without this member.
 *
 * @throws ProblemError otherwise
 */
async function requireOtherOwner(
  client: TransactionClient,
  customerId: string,
  member: rows.MemberRecord,
): Promise<void> {
  if (member.isPrimaryOwner)
    refuseTransition(
      'The primary owner cannot be removed; transfer the primary ownership to another member first.',
      'primary_owner',
      [],
    )
  if (
    member.role === 'owner' &&
    member.status === 'active' &&
    (await rows.otherOwners(client, customerId, member.id)) === 0
  )
    refuseTransition('The last active owner cannot be changed.', 'last_owner', [])
}
