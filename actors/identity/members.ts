/**
 * The members of a customer, their roles and teams, and the invitations.
 *
 *  * At least one active owner remains, and the primary owner stays until another member takes over.
 *  * Only owners make owners. Members cannot change their own membership or add themselves to a team, because approval
 *    policies name teams.
 *  * An invitation is a link of 256 random bits, valid once and for seven days, to an address of an approved domain. A
 *    person with an account proves the address by their password; a new person chooses a password.
 *  * The rights of a person are read from the row at every request, so a change takes effect at once on every node.
 */
import { hash } from 'node:crypto'
import { DAY_MS, timestamp } from '../../lib/base/clock.ts'
import { limitsJson } from '../../lib/customers/limits.ts'
import { emailKey, passwordFault } from '../../lib/identity/password-rules.ts'
import { refuse, refuseField } from '../../lib/base/problems.ts'
import { writeMemberLimits } from '../../storage/customers/customer-limits.ts'
import { findCredentials, lockedUntil, noteFailure } from '../../storage/identity/identity-people.ts'
import { writeAudit, type AuditBy } from '../../storage/trail/trail.ts'
import * as rows from '../../storage/identity/members.ts'
import {
  getInvitation,
  getMember,
  getTeam,
  listInvitations,
  listMembers,
  listTeams,
} from '../../storage/identity/member-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { readSetting } from '../../storage/customers/settings.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import { limitsOfBody } from '../customers/customer-limits.ts'
import type { By, ByInTenant } from '../../lib/identity/caller.ts'
import type { Source } from '../../lib/commands/caller.ts'
import type { IdentityDeps } from './identity-world.ts'
import { auditCaller } from '../commands/trail.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import { requireProof } from '../commands/proof.ts'
import type {
  AcceptedInvitation,
  Invitation,
  InvitationAccept,
  InvitationCreate,
  invitationList,
  Member,
  memberList,
  MemberUpdate,
  OpenInvitation,
  Team,
  TeamCreate,
  teamList,
  TeamUpdate,
} from '../../lib/identity/member-schema.ts'
import { attemptKey, lockRule } from './sessions.ts'
import type { Versioned } from '../../lib/commands/command.ts'

/** The maximum number of members and open invitations of one customer. */
const MEMBERS_MAX = 100
const TEAMS_MAX = 50
const INVITATION_MS = 7 * DAY_MS
const TOKEN_BYTES = 32
/** The name of the customer setting with the domains that may be invited. */
export const APPROVED_DOMAINS = 'approved_domains'

type Expected = number | bigint | null

/** The reads. Null: no such row of the customer. */
export interface MemberReads {
  listMembers(customerId: string, query: ListQuery<typeof memberList>): Promise<ListResult<Member>>
  getMember(customerId: string, id: string): Promise<Versioned<Member> | null>
  listTeams(customerId: string, query: ListQuery<typeof teamList>): Promise<ListResult<Team>>
  getTeam(customerId: string, id: string): Promise<Versioned<Team> | null>
  listInvitations(customerId: string, query: ListQuery<typeof invitationList>): Promise<ListResult<Invitation>>
  getInvitation(customerId: string, id: string): Promise<Versioned<Invitation> | null>
  /** Reads the invitation behind a link; null when it is unknown, used, revoked or expired. */
  openInvitation(token: string): Promise<OpenInvitation | null>
}

/** The writes, for the customer that is the tenant. Every refusal is thrown as a problem. */
export interface MemberCommands {
  updateMember(by: ByInTenant, id: string, body: MemberUpdate, expected: Expected): Promise<Versioned<Member>>
  removeMember(by: ByInTenant, id: string, expected: Expected): Promise<void>
  transferPrimaryOwner(by: ByInTenant, membershipId: string): Promise<Versioned<Member>>
  createTeam(by: ByInTenant, body: TeamCreate): Promise<Versioned<Team>>
  updateTeam(by: ByInTenant, id: string, body: TeamUpdate, expected: Expected): Promise<Versioned<Team>>
  deleteTeam(by: ByInTenant, id: string, expected: Expected): Promise<void>
  invite(by: ByInTenant, body: InvitationCreate): Promise<Versioned<Invitation>>
  resendInvitation(by: ByInTenant, id: string): Promise<Versioned<Invitation>>
  revokeInvitation(by: ByInTenant, id: string): Promise<void>
  acceptInvitation(
    token: string,
    body: InvitationAccept,
    from: Pick<By, 'requestId'> & { readonly source: Source },
  ): Promise<AcceptedInvitation>
}

const gone = (): never => refuse('not-found', 'No such resource exists in this tenant.')
const closed = (): never => refuse('not-found', 'The link is unknown, was used or withdrawn, or has expired.')
const stands = (detail: string, currentStatus: string): never =>
  refuse('invalid-transition', detail, { extra: { currentStatus, allowed: [] } })

/** Creates the reads of members. */
export function createMemberReads({ database, clock }: Pick<IdentityDeps, 'database' | 'clock'>): MemberReads {
  const db = readDatabase(database)
  return {
    listMembers: (customerId, query) => listMembers(db, customerId, query),
    getMember: (customerId, id) => getMember(db, customerId, id),
    listTeams: (customerId, query) => listTeams(db, customerId, query),
    getTeam: (customerId, id) => getTeam(db, customerId, id),
    listInvitations: (customerId, query) => listInvitations(db, customerId, query, clock.now()),
    getInvitation: (customerId, id) => getInvitation(db, customerId, id, clock.now()),
    async openInvitation(token) {
      const found = await rows.invitationByToken(database.pool, hash('sha256', token, 'hex'))
      if (found === null || !isOpen(found, clock.now())) return null
      return {
        customerName: found.customerName,
        email: found.email,
        role: found.role,
        invitedByName: found.invitedByName,
        expiresAt: timestamp(found.expiresAt),
        knownPerson: found.userId !== null,
      }
    },
  }
}

const isOpen = ({ status, expiresAt }: rows.InvitationRecord, now: number): boolean =>
  status === 'pending' && expiresAt > now

/** Creates the commands of members. */
export function createMemberCommands(world: IdentityDeps, reads: MemberReads): MemberCommands {
  const { database, clock, ids, log, mailer, passwords, random } = world

  /** Runs one change of a customer's members at a time, under a lock. */
  async function changing<Result>(
    customerId: string,
    work: (client: TransactionClient, now: number) => Promise<Result>,
  ): Promise<Result> {
    return await inTransaction(database, async (client) => {
      await rows.lockMembers(client, customerId)
      return await work(client, clock.now())
    })
  }

  async function trail(
    client: TransactionClient,
    by: AuditBy,
    customerId: string,
    action: string,
    object: { readonly type: string; readonly id: string },
    before: object | null,
    after: object | null,
  ): Promise<void> {
    await writeAudit(client, {
      ...by,
      id: ids.next(),
      tenantId: customerId,
      at: clock.now(),
      action,
      object,
      before,
      after,
    })
  }

  async function found<View>(reading: Promise<Versioned<View> | null>): Promise<Versioned<View>> {
    return (await reading) ?? gone()
  }

  async function compareTeam(
    client: TransactionClient,
    customerId: string,
    id: string,
    expected: Expected,
  ): Promise<void> {
    const version = (await rows.teamVersion(client, customerId, id)) ?? gone()
    if (expected !== null && BigInt(version) !== BigInt(expected))
      refuse('precondition-failed', 'The resource has changed since it was read.')
  }

  /** Reads the member to be changed. @throws ProblemError when the caller may not change them */
  async function changeable(
    client: TransactionClient,
    by: ByInTenant,
    id: string,
    expected: Expected,
  ): Promise<rows.MemberRecord> {
    const member = (await rows.findMember(client, by.tenant.id, id)) ?? gone()
    if (expected !== null && member.version !== BigInt(expected))
      refuse('precondition-failed', 'The resource has changed since it was read.')
    if (member.status === 'removed') stands('The member was removed.', 'removed')
    if (member.userId === by.session.userId)
      stands('Nobody changes their own membership; ask another owner or administrator.', 'own_membership')
    if (member.role === 'owner') onlyOwners(by)
    return member
  }

  function onlyOwners(by: ByInTenant): void {
    if (!by.principal.capabilities.has('owner'))
      refuse('insufficient-scope', 'Only owners make, change and remove owners.', {
        extra: { requiredCapability: 'owner' },
      })
  }

  /**
   * Checks that the customer keeps its primary owner and an active owner without this member.
   *
   * @throws ProblemError otherwise
   */
  async function staysOwned(client: TransactionClient, customerId: string, member: rows.MemberRecord): Promise<void> {
    if (member.isPrimaryOwner)
      stands('The primary owner stays; transfer that to another member first.', 'primary_owner')
    if (
      member.role === 'owner' &&
      member.status === 'active' &&
      (await rows.otherOwners(client, customerId, member.id)) === 0
    )
      stands('One active owner remains.', 'last_owner')
  }

  async function checkTeams(
    client: TransactionClient,
    customerId: string,
    teamIds: readonly string[],
  ): Promise<readonly string[]> {
    const wanted = [...new Set(teamIds.map((id) => id.toLowerCase()))]
    const known = await rows.knownTeams(client, customerId, wanted)
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
    by: ByInTenant,
    membershipIds: readonly string[],
    before: readonly string[],
  ): Promise<readonly string[]> {
    const wanted = await checkMembers(client, by.tenant.id, membershipIds)
    const own = by.session.memberships.find(({ tenantId }) => tenantId === by.tenant.id)?.id
    if (own !== undefined && wanted.includes(own) && !before.includes(own))
      stands('Nobody puts themselves into a team; ask another owner or administrator.', 'own_membership')
    return wanted
  }

  async function checkMembers(
    client: TransactionClient,
    customerId: string,
    membershipIds: readonly string[],
  ): Promise<readonly string[]> {
    const wanted = [...new Set(membershipIds.map((id) => id.toLowerCase()))]
    const known = await rows.knownMembers(client, customerId, wanted)
    const index = membershipIds.findIndex((id) => !known.has(id.toLowerCase()))
    if (index >= 0) refuseField(`/membershipIds/${index}`, 'not_found', 'No such member.')
    return wanted
  }

  function newLink(): { readonly token: string; readonly tokenSha256: string } {
    const token = `inv_${Buffer.from(random(TOKEN_BYTES)).toString('base64url')}`
    return { token, tokenSha256: hash('sha256', token, 'hex') }
  }

  function sendLink(email: string, customerName: string, by: ByInTenant, token: string): void {
    mailer
      .send({
        to: email,
        subject: `${by.session.name} invites you to ${customerName}`,
        text: [
          `${by.session.name} invites you to work for ${customerName}. The link is good for seven days:`,
          '',
          `  GET  /v1/invitations/${token}`,
          `  POST /v1/invitations/${token}/accept`,
        ].join('\r\n'),
      })
      .catch((error: unknown) => log.warn({ err: error }, 'an invitation could not be mailed'))
  }

  async function checkDomain(client: TransactionClient, customerId: string, email: string): Promise<void> {
    const domains = (await readSetting(client, customerId, APPROVED_DOMAINS))?.value as
      | { readonly domains: readonly string[] }
      | undefined
    if (domains === undefined || domains.domains.length === 0)
      refuse('invitation_domains_required', 'Approve a domain first: PUT …/settings/approved-domains.')
    const domain = emailKey(email).split('@').at(-1) as string
    if (!domains.domains.includes(domain))
      refuse('domain_not_approved', `Addresses at ${domain} may not be invited.`, { extra: { domain } })
  }

  return {
    async updateMember(by, id, body, expected) {
      const customerId = by.tenant.id
      const limits = body.limits == null ? body.limits : limitsOfBody(body.limits, '/limits')
      await changing(customerId, async (client, now) => {
        const member = await changeable(client, by, id, expected)
        const { role = member.role, status = member.status, teamIds } = body
        if (role === 'owner' && member.role !== 'owner') onlyOwners(by)
        if (role !== 'owner' || status !== 'active') await staysOwned(client, customerId, member)
        if (teamIds !== undefined)
          await rows.setTeamsOf(client, customerId, id, await checkTeams(client, customerId, teamIds))
        await rows.updateMember(client, id, { role, status }, now)
        // Last, because this write locks the balances.
        if (limits !== undefined)
          await writeMemberLimits(client, { customerId, membershipId: id, userId: member.userId, limits, now })
        const limitsOf = (terms: typeof member.limits) => (terms === null ? null : limitsJson(terms).currencies)
        await trail(
          client,
          auditCaller(by),
          customerId,
          'membership.updated',
          { type: 'membership', id },
          {
            role: member.role,
            status: member.status,
            ...(limits === undefined ? {} : { limits: limitsOf(member.limits) }),
          },
          {
            role,
            status,
            ...(teamIds === undefined ? {} : { teamIds }),
            ...(limits === undefined ? {} : { limits: limitsOf(limits) }),
          },
        )
      })
      return await found(reads.getMember(customerId, id))
    },

    async removeMember(by, id, expected) {
      const customerId = by.tenant.id
      await changing(customerId, async (client, now) => {
        const member = await changeable(client, by, id, expected)
        await staysOwned(client, customerId, member)
        await rows.setTeamsOf(client, customerId, id, [])
        await rows.updateMember(client, id, { role: member.role, status: 'removed' }, now)
        // A person who is invited again starts without the old limits.
        if (member.limits !== null)
          await writeMemberLimits(client, { customerId, membershipId: id, userId: member.userId, limits: null, now })
        await trail(
          client,
          auditCaller(by),
          customerId,
          'membership.removed',
          { type: 'membership', id },
          { role: member.role, status: member.status, email: member.email },
          { status: 'removed' },
        )
      })
    },

    async transferPrimaryOwner(by, membershipId) {
      const customerId = by.tenant.id
      const own = by.session.memberships.find(({ tenantId }) => tenantId === customerId)
      await changing(customerId, async (client, now) => {
        const [mine, next] = [
          own === undefined ? null : await rows.findMember(client, customerId, own.id),
          await rows.findMember(client, customerId, membershipId.toLowerCase()),
        ]
        if (mine?.isPrimaryOwner !== true)
          refuse('insufficient-scope', 'Only the primary owner passes that on.', {
            extra: { requiredCapability: 'owner' },
          })
        if (next === null || next.status === 'removed') refuseField('/membershipId', 'not_found', 'No such member.')
        if (next.status !== 'active') refuseField('/membershipId', 'inactive', 'The member is suspended.')
        await rows.setPrimaryOwner(client, customerId, next.id, now)
        await trail(
          client,
          auditCaller(by),
          customerId,
          'primary_owner.transferred',
          { type: 'membership', id: next.id },
          { membershipId: mine.id },
          { membershipId: next.id },
        )
      })
      return await found(reads.getMember(customerId, membershipId.toLowerCase()))
    },

    async createTeam(by, { name, membershipIds = [] }) {
      const customerId = by.tenant.id
      const id = ids.next()
      await changing(customerId, async (client, now) => {
        if ((await rows.countTeams(client, customerId)) >= TEAMS_MAX)
          refuse('limit-reached', `A customer has at most ${TEAMS_MAX} teams.`, {
            extra: { limit: TEAMS_MAX, resource: 'team' },
          })
        if (!(await rows.writeTeam(client, { id, customerId, name, now })))
          refuseField('/name', 'invalid_value', 'Another team has this name.')
        await rows.setMembersOf(client, customerId, id, await checkTeamMembers(client, by, membershipIds, []))
        await trail(client, auditCaller(by), customerId, 'team.created', { type: 'team', id }, null, {
          name,
          membershipIds,
        })
      })
      return await found(reads.getTeam(customerId, id))
    },

    async updateTeam(by, id, body, expected) {
      const customerId = by.tenant.id
      const before = await found(reads.getTeam(customerId, id))
      if (body.membershipIds !== undefined) await requireProof(world, by, 'membership.change')
      await changing(customerId, async (client, now) => {
        await compareTeam(client, customerId, id, expected)
        const { name = before.view.name, membershipIds } = body
        if (!(await rows.writeTeam(client, { id, customerId, name, now })))
          refuseField('/name', 'invalid_value', 'Another team has this name.')
        if (membershipIds !== undefined)
          await rows.setMembersOf(
            client,
            customerId,
            id,
            await checkTeamMembers(client, by, membershipIds, await rows.membersOf(client, id)),
          )
        await trail(
          client,
          auditCaller(by),
          customerId,
          'team.updated',
          { type: 'team', id },
          { name: before.view.name, membershipIds: before.view.membershipIds },
          { name, membershipIds: membershipIds ?? before.view.membershipIds },
        )
      })
      return await found(reads.getTeam(customerId, id))
    },

    async deleteTeam(by, id, expected) {
      const customerId = by.tenant.id
      const before = await found(reads.getTeam(customerId, id))
      await changing(customerId, async (client) => {
        await compareTeam(client, customerId, id, expected)
        await rows.deleteTeam(client, id)
        await trail(
          client,
          auditCaller(by),
          customerId,
          'team.deleted',
          { type: 'team', id },
          { name: before.view.name, membershipIds: before.view.membershipIds },
          null,
        )
      })
    },

    async invite(by, { email, role, teamIds = [] }) {
      const customerId = by.tenant.id
      const id = ids.next()
      const { token, tokenSha256 } = newLink()
      if (role === 'owner') onlyOwners(by)
      await changing(customerId, async (client, now) => {
        await checkDomain(client, customerId, email)
        const taken = await rows.addressTaken(client, customerId, emailKey(email), now)
        if (taken !== null)
          refuseField(
            '/email',
            'invalid_value',
            taken === 'member' ? 'Is a member already.' : 'Is invited already; send that invitation again.',
          )
        if ((await rows.countMembers(client, customerId, now)) >= MEMBERS_MAX) {
          refuse('limit-reached', `A customer has at most ${MEMBERS_MAX} members.`, {
            extra: { limit: MEMBERS_MAX, resource: 'membership' },
          })
        }
        const teams = await checkTeams(client, customerId, teamIds)
        await rows.insertInvitation(client, {
          id,
          customerId,
          email,
          emailKey: emailKey(email),
          role,
          teamIds: teams,
          tokenSha256,
          by: { id: by.session.userId, name: by.session.name },
          expiresAt: now + INVITATION_MS,
          now,
        })
        await trail(client, auditCaller(by), customerId, 'invitation.created', { type: 'invitation', id }, null, {
          email,
          role,
          teamIds: teams,
        })
      })
      const { customerName } = (await rows.invitationByToken(database.pool, tokenSha256)) ?? gone()
      sendLink(email, customerName, by, token)
      return await found(reads.getInvitation(customerId, id))
    },

    async resendInvitation(by, id) {
      const customerId = by.tenant.id
      const { token, tokenSha256 } = newLink()
      const invitation = await changing(customerId, async (client, now) => {
        const one = (await rows.lockInvitation(client, customerId, id)) ?? gone()
        if (one.status === 'accepted' || one.status === 'revoked')
          stands(`The invitation is ${one.status}.`, one.status)
        if (one.role === 'owner') onlyOwners(by)
        await checkDomain(client, customerId, one.email)
        if (
          one.status === 'expired' &&
          (await rows.addressTaken(client, customerId, emailKey(one.email), now)) !== null
        )
          stands('The address has another invitation or is a member.', 'expired')
        await rows.renewInvitation(client, id, { tokenSha256, expiresAt: now + INVITATION_MS })
        await trail(client, auditCaller(by), customerId, 'invitation.resent', { type: 'invitation', id }, null, {
          email: one.email,
        })
        return one
      })
      sendLink(invitation.email, invitation.customerName, by, token)
      return await found(reads.getInvitation(customerId, id))
    },

    async revokeInvitation(by, id) {
      const customerId = by.tenant.id
      await changing(customerId, async (client, now) => {
        const one = (await rows.lockInvitation(client, customerId, id)) ?? gone()
        if (one.status === 'revoked') return
        if (one.status === 'accepted') stands('The invitation was accepted; remove the member instead.', 'accepted')
        await rows.endInvitation(client, id, 'revoked', now)
        await trail(
          client,
          auditCaller(by),
          customerId,
          'invitation.revoked',
          { type: 'invitation', id },
          { email: one.email, status: one.status },
          { status: 'revoked' },
        )
      })
    },

    async acceptInvitation(token, { name, password }, { source, requestId }) {
      const tokenSha256 = hash('sha256', token, 'hex')
      const now = clock.now()
      const invitation = await rows.invitationByToken(database.pool, tokenSha256)
      if (invitation === null || !isOpen(invitation, now)) return closed()
      const { email, customerId } = invitation
      const person = invitation.userId === null ? null : await provenPerson(email, password, now)
      let passwordHash = ''
      if (person === null) {
        if (name === undefined) refuseField('/name', 'required', 'Say your name.')
        const fault = passwordFault(password, email)
        if (fault !== null) refuseField('/password', fault.code, fault.message, fault.params)
        passwordHash = await passwords.hash(password)
      }
      const membershipId = await changing(customerId, async (client) => {
        // When two requests redeem one link, the second finds it used.
        const one = await rows.invitationByToken(client, tokenSha256, true)
        if (one === null || !isOpen(one, now) || (one.userId === null) !== (person === null)) return closed()
        const userId = person?.userId ?? ids.next()
        if (person === null)
          await rows.insertPerson(client, {
            id: userId,
            email,
            emailKey: emailKey(email),
            name: name as string,
            passwordHash,
            now,
          })
        const id = await rows.insertMember(client, {
          id: ids.next(),
          userId,
          customerId,
          operatorId: one.operatorId,
          role: one.role,
          now,
        })
        const teams = await rows.knownTeams(client, customerId, one.teamIds)
        await rows.setTeamsOf(client, customerId, id, [...teams])
        await rows.endInvitation(client, one.id, 'accepted', now)
        const actor = { type: 'member' as const, id: userId, name: person?.name ?? (name as string) }
        await trail(
          client,
          { actor, address: source.address, requestId },
          customerId,
          'invitation.accepted',
          { type: 'invitation', id: one.id },
          { status: 'pending' },
          { status: 'accepted', membershipId: id, role: one.role },
        )
        return id
      })
      return { membershipId, customerId, email }
    },
  }

  /** Finds the person with this address when the password is theirs. A wrong password counts as a failed sign-in. */
  async function provenPerson(
    email: string,
    password: string,
    now: number,
  ): Promise<{ readonly userId: string; readonly name: string }> {
    const attempt = attemptKey(email)
    const [person, locked] = await Promise.all([
      findCredentials(database, emailKey(email)),
      lockedUntil(database, attempt, now),
    ])
    if (
      person === null ||
      person.passwordHash === null ||
      person.status !== 'active' ||
      !(await passwords.verify(password, person.passwordHash)) ||
      locked !== null
    ) {
      await noteFailure(database, attempt, lockRule(now))
      refuse('unauthenticated', 'The password is wrong.')
    }
    return person
  }
}
