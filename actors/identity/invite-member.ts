/**
 * Invites a person, and sends or withdraws an invitation again. An invitation is a link to an address of a domain that
 * the customer has approved.
 */
import { INVITATION_MS, invitationMail, newLink } from '../../lib/identity/invitation.ts'
import { emailKey } from '../../lib/identity/password-rules.ts'
import { refuse, refuseField, refuseNotFound, refuseTransition } from '../../lib/base/problems.ts'
import * as rows from '../../storage/identity/members.ts'
import * as invitationRows from '../../storage/identity/invitations.ts'
import { operatorOfCustomer } from '../../storage/customers/customers.ts'
import { readSetting } from '../../storage/customers/settings.ts'
import { writeMail } from '../../storage/notices/mails.ts'
import { through, type TransactionClient } from '../../storage/db/transaction.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { auditCaller } from '../commands/trail.ts'
import { recordChange } from '../commands/changes.ts'
import type { Invitation, InvitationCreate } from '../../lib/identity/member-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { changeMembers, found, requireOwner, type MemberDeps } from './member-changes.ts'
import { checkTeams } from './teams.ts'

/** The maximum number of members and open invitations of one customer. */
const MEMBERS_MAX = 100
/** The name of the customer setting with the domains that may be invited. */
const APPROVED_DOMAINS = 'approved_domains'

/** Invites a person to the customer, and mails the link. */
export async function invite(
  deps: MemberDeps,
  by: Caller<'person'>,
  { email, role, teamIds = [] }: InvitationCreate,
): Promise<Versioned<Invitation>> {
  const customerId = by.tenant.id
  const id = deps.ids.next()
  const { token, tokenSha256 } = newLink(deps.random)
  if (role === 'owner') requireOwner(by)
  await changeMembers(deps, customerId, async (tx) => {
    const { client, now } = tx
    await checkDomain(client, customerId, email)
    const taken = await invitationRows.addressTaken(client, customerOf(by), emailKey(email), now)
    if (taken !== null)
      refuseField(
        '/email',
        'invalid_value',
        taken === 'member'
          ? 'The person is already a member.'
          : 'The person is already invited; send that invitation again.',
      )
    if ((await rows.countMembers(client, customerId, now)) >= MEMBERS_MAX) {
      refuse('limit-reached', `A customer has at most ${MEMBERS_MAX} members.`, {
        extra: { limit: MEMBERS_MAX, resource: 'membership' },
      })
    }
    const teams = await checkTeams(client, customerId, teamIds)
    await invitationRows.insertInvitation(client, {
      id,
      operatorId: (await operatorOfCustomer(through(client), customerId)) ?? refuseNotFound(),
      customerId,
      email,
      emailKey: emailKey(email),
      name: null,
      role,
      teamIds: teams,
      tokenSha256,
      by: { id: by.session.userId, name: by.session.name },
      expiresAt: now + INVITATION_MS,
      now,
    })
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'invitation.created',
      object: { type: 'invitation', id },
      before: null,
      after: { email, role, teamIds: teams },
    })
    const { tenant } = (await invitationRows.invitationByToken(client, tokenSha256)) ?? refuseNotFound()
    const mail = invitationMail({
      email,
      tenantName: tenant.name,
      byName: by.session.name,
      token,
      origin: deps.origin(),
      tenantId: customerId,
      now,
    })
    await writeMail(tx, deps.secrets, mail)
  })
  return await found(deps.reads.getInvitation(customerId, id))
}

/** Renews an open or expired invitation, and mails a new link; the link before no longer works. */
export async function resendInvitation(
  deps: MemberDeps,
  by: Caller<'person'>,
  id: string,
): Promise<Versioned<Invitation>> {
  const customerId = by.tenant.id
  const { token, tokenSha256 } = newLink(deps.random)
  await changeMembers(deps, customerId, async (tx) => {
    const { client, now } = tx
    const one = (await invitationRows.lockInvitation(client, customerOf(by), id)) ?? refuseNotFound()
    if (one.status === 'accepted' || one.status === 'revoked')
      refuseTransition(`The invitation is ${one.status}.`, one.status, ['pending', 'expired'])
    if (one.role === 'owner') requireOwner(by)
    await checkDomain(client, customerId, one.email)
    if (
      one.status === 'expired' &&
      (await invitationRows.addressTaken(client, customerOf(by), emailKey(one.email), now)) !== null
    )
      refuseTransition('The address has another invitation or is a member.', 'expired', ['pending', 'expired'])
    await invitationRows.renewInvitation(client, one, { tokenSha256, expiresAt: now + INVITATION_MS })
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'invitation.resent',
      object: { type: 'invitation', id },
      before: null,
      after: { email: one.email },
    })
    const mail = invitationMail({
      email: one.email,
      tenantName: one.tenant.name,
      byName: by.session.name,
      token,
      origin: deps.origin(),
      tenantId: customerId,
      now,
    })
    await writeMail(tx, deps.secrets, mail)
  })
  return await found(deps.reads.getInvitation(customerId, id))
}

/** Withdraws an invitation. Withdrawing a withdrawn invitation succeeds and changes nothing. */
export async function revokeInvitation(deps: MemberDeps, by: Caller<'person'>, id: string): Promise<void> {
  const customerId = by.tenant.id
  await changeMembers(deps, customerId, async (tx) => {
    const { client, now } = tx
    const one = (await invitationRows.lockInvitation(client, customerOf(by), id)) ?? refuseNotFound()
    if (one.status === 'revoked') return
    if (one.status === 'accepted')
      refuseTransition('The invitation was accepted; remove the member instead.', 'accepted', [
        'pending',
        'expired',
        'revoked',
      ])
    await invitationRows.endInvitation(client, one, 'revoked', now)
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'invitation.revoked',
      object: { type: 'invitation', id },
      before: { email: one.email, status: one.status },
      after: { status: 'revoked' },
    })
  })
}

/** The inviting tenant: the customer for which the person acts. */
const customerOf = ({ tenant: { id } }: Caller<'person'>) => ({ level: 'customer', id }) as const

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
