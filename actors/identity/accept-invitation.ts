/**
 * Reads and accepts an invitation by its link, of a customer's member or of an operator's staff. A person with an account
 * proves the address by their password; a new person chooses a password.
 */
import { timestamp } from '../../lib/base/clock.ts'
import { invitationTokenHash } from '../../lib/identity/invitation.ts'
import { emailKey, passwordFault } from '../../lib/identity/password-rules.ts'
import { refuse, refuseField } from '../../lib/base/problems.ts'
import * as teamRows from '../../storage/identity/teams.ts'
import * as invitationRows from '../../storage/identity/invitations.ts'
import type { Linked } from '../../lib/contract/linked.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { Source } from '../../lib/commands/caller.ts'
import type { IdentityDeps } from './identity-deps.ts'
import { recordChange } from '../commands/changes.ts'
import type { AcceptedInvitation, InvitationAccept, OpenInvitation } from '../../lib/identity/member-schema.ts'
import { provePassword } from './password-proof.ts'
import { changeMembers } from './member-changes.ts'

const closed = (): never => refuse('not-found', 'The link is unknown, was used or withdrawn, or has expired.')

const isOpen = ({ status, expiresAt }: invitationRows.InvitationRecord, now: number): boolean =>
  status === 'pending' && expiresAt > now

/** Reads the invitation behind a link; null when it is unknown, used, revoked or expired. */
export async function openInvitation(
  { database, clock }: Pick<IdentityDeps, 'database' | 'clock'>,
  token: string,
): Promise<Linked<OpenInvitation> | null> {
  const found = await invitationRows.invitationByToken(database.pool, invitationTokenHash(token))
  if (found === null || !isOpen(found, clock.now())) return null
  const view = {
    customerName: found.tenant.level === 'customer' ? found.tenant.name : null,
    operatorName: found.operatorName,
    email: found.email,
    name: found.name,
    role: found.role,
    invitedByName: found.invitedByName,
    expiresAt: timestamp(found.expiresAt),
    knownPerson: found.userId !== null,
  }
  return { view, tenantId: found.operatorId }
}

/**
 * Makes the person behind a link a member of the customer, or staff of the operator.
 *
 * @throws ProblemError `not-found` when the link is not open, `unauthenticated`
 */
export async function acceptInvitation(
  deps: IdentityDeps,
  token: string,
  body: InvitationAccept,
  { source, requestId }: Pick<Caller<'self'>, 'requestId'> & { readonly source: Source },
): Promise<AcceptedInvitation> {
  const { database, clock, ids, passwords } = deps
  const { password } = body
  const tokenSha256 = invitationTokenHash(token)
  const now = clock.now()
  const invitation = await invitationRows.invitationByToken(database.pool, tokenSha256)
  if (invitation === null || !isOpen(invitation, now)) return closed()
  const { email, tenant } = invitation
  const name = body.name ?? invitation.name
  const person = invitation.userId === null ? null : (await provePassword(deps, email, password, now)).person
  if (invitation.userId !== null && person === null) refuse('unauthenticated', 'The password is wrong.')
  let passwordHash = ''
  if (person === null) {
    if (name === null) refuseField('/name', 'required', 'A new person must give a name.')
    const fault = passwordFault(password, email)
    if (fault !== null) refuseField('/password', fault.code, fault.message, fault.params)
    passwordHash = await passwords.hash(password)
  }
  const membershipId = await changeMembers(deps, tenant.id, async (tx) => {
    const { client } = tx
    // When two requests redeem one link, the second finds it used.
    const one = await invitationRows.invitationByToken(client, tokenSha256, true)
    if (one === null || !isOpen(one, now) || (one.userId === null) !== (person === null)) return closed()
    const userId = person?.userId ?? ids.next()
    if (person === null)
      await invitationRows.insertPerson(client, {
        id: userId,
        email,
        emailKey: emailKey(email),
        name: name as string,
        passwordHash,
        now,
      })
    const id = await invitationRows.insertMember(client, {
      id: ids.next(),
      userId,
      tenant,
      operatorId: one.operatorId,
      role: one.role,
      now,
    })
    if (tenant.level === 'customer') {
      const teams = await teamRows.knownTeams(client, tenant.id, one.teamIds)
      await teamRows.setTeamsOf(client, tenant.id, id, [...teams])
    }
    await invitationRows.endInvitation(client, one, 'accepted', now)
    const type = tenant.level === 'customer' ? ('member' as const) : ('staff' as const)
    const actor = { type, id: userId, name: person?.name ?? (name as string) }
    await recordChange(tx, { actor, address: source.address, requestId }, tenant.id, {
      action: 'invitation.accepted',
      object: { type: 'invitation', id: one.id },
      before: { status: 'pending' },
      after: { status: 'accepted', membershipId: id, role: one.role },
    })
    return id
  })
  const customerId = tenant.level === 'customer' ? tenant.id : null
  return { membershipId, customerId, operatorId: invitation.operatorId, email }
}
