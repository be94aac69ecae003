/** The invitation of a customer's first owner by its operator. */
import { INVITATION_MS, invitationMail, newLink } from '../../lib/identity/invitation.ts'
import { emailKey } from '../../lib/identity/password-rules.ts'
import { refuseField, refuseNotFound, refuseTransition } from '../../lib/base/problems.ts'
import type { Customer, OwnerInvitation, PrimaryOwner } from '../../lib/customers/customer-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { readCustomer } from '../../storage/customers/customer-queries.ts'
import {
  endInvitation,
  insertInvitation,
  ownerInvitations,
  renewInvitation,
} from '../../storage/identity/invitations.ts'
import { lockMembers } from '../../storage/identity/members.ts'
import { writeMail } from '../../storage/notices/mails.ts'
import { recordChange, runChange, type ChangeTransaction } from '../commands/changes.ts'
import { auditCaller } from '../commands/trail.ts'
import type { CustomerDeps } from './customer-deps.ts'

/** The role of the person who is invited with a customer. */
const OWNER = 'owner'

/** Writes the invitation of a customer's first owner, and the mail with its link. */
export async function inviteOwner(
  deps: Pick<CustomerDeps, 'random' | 'secrets' | 'origin'>,
  tx: ChangeTransaction,
  by: Caller,
  {
    customerId,
    operatorId,
    tenantName,
  }: { readonly customerId: string; readonly operatorId: string; readonly tenantName: string },
  { email, firstName, lastName }: PrimaryOwner,
): Promise<void> {
  const { client, ids, now } = tx
  const { token, tokenSha256 } = newLink(deps.random)
  const id = ids.next()
  await insertInvitation(client, {
    id,
    operatorId,
    customerId,
    email,
    emailKey: emailKey(email),
    name: `${firstName} ${lastName}`,
    role: OWNER,
    teamIds: [],
    tokenSha256,
    by: { id: by.principal.id, name: by.principal.name },
    expiresAt: now + INVITATION_MS,
    now,
  })
  await recordChange(tx, auditCaller(by), customerId, {
    action: 'invitation.created',
    object: { type: 'invitation', id },
    before: null,
    after: { email, role: OWNER },
  })
  await mailOwner(deps, tx, by, customerId, { email, tenantName, token })
}

/** Writes the mail with the link of an invited owner; it is sent after the commit. */
async function mailOwner(
  { secrets, origin }: Pick<CustomerDeps, 'secrets' | 'origin'>,
  tx: ChangeTransaction,
  by: Caller,
  customerId: string,
  link: { readonly email: string; readonly tenantName: string; readonly token: string },
): Promise<void> {
  const from = { byName: by.principal.name, origin: origin(), tenantId: customerId, now: tx.now }
  await writeMail(tx, secrets, invitationMail({ ...link, ...from }))
}

/**
 * Sends the invitation of the first owner again, with a new link; the link before no longer works. With `primaryOwner`
 * this person is invited, in place of an owner who has not accepted.
 *
 * @throws ProblemError `not-found`, `invalid-transition` when the customer has an owner, `validation-error`
 */
export async function resendOwnerInvitation(
  deps: CustomerDeps,
  by: Caller<'person'>,
  customerId: string,
  { primaryOwner, reason }: OwnerInvitation,
): Promise<Versioned<Customer>> {
  return await runChange(deps, async (tx) => {
    const { client, now } = tx
    await lockMembers(client, customerId)
    const { view } = (await readCustomer(client, customerId)) ?? refuseNotFound()
    const { operatorId, legalName: tenantName, accessStatus, status } = view
    if (accessStatus === 'active' || accessStatus === 'locked')
      refuseTransition('The customer has members; they invite others.', accessStatus, ['not_invited', 'invited'])
    if (status === 'closed' || status === 'rejected') refuseTransition(`The customer is ${status}.`, status, [])
    const open = await ownerInvitations(client, customerId)
    const [last] = open
    if (primaryOwner !== undefined) {
      for (const before of open) await endInvitation(client, before, 'revoked', now)
      await inviteOwner(deps, tx, by, { customerId, operatorId, tenantName }, primaryOwner)
      return (await readCustomer(client, customerId))!
    }
    if (last === undefined)
      refuseField('/primaryOwner', 'required', 'No owner has been invited yet; name the person to invite.')
    const { token, tokenSha256 } = newLink(deps.random)
    await mailOwner(deps, tx, by, customerId, { email: last.email, tenantName, token })
    await renewInvitation(client, last, { tokenSha256, expiresAt: now + INVITATION_MS })
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'invitation.resent',
      object: { type: 'invitation', id: last.id },
      before: null,
      after: { email: last.email, ...(reason === undefined ? {} : { reason }) },
    })
    return (await readCustomer(client, customerId))!
  })
}
