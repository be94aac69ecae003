/** Invites people to an operator's staff, and changes, renews and revokes their invitations. */
import { refuse, refuseField, refuseNotFound, refuseTransition } from '../../lib/base/problems.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { checkVersion } from '../../lib/commands/etag.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { INVITATION_MS, invitationMail, newLink } from '../../lib/identity/invitation.ts'
import { emailKey } from '../../lib/identity/password-rules.ts'
import type { StaffInvitation, StaffInvitationCreate, StaffInvitationUpdate } from '../../lib/staff/staff-schema.ts'
import * as invitations from '../../storage/identity/invitations.ts'
import { writeMail } from '../../storage/notices/mails.ts'
import { readOperator } from '../../storage/operators/operators.ts'
import { countStaff } from '../../storage/staff/staff.ts'
import { type ChangeTransaction, recordChange } from '../commands/changes.ts'
import { auditCaller } from '../commands/trail.ts'
import { changeOperatorStaff } from './change-staff.ts'
import type { StaffDeps } from './staff-deps.ts'

/** The largest number of staff and open invitations of one operator. */
const STAFF_MAX = 500

const operatorOf = ({ tenant: { id } }: Caller<'person'>) => ({ level: 'operator', id }) as const

/** Invites a person, and mails the link. @throws ProblemError */
export async function inviteStaff(
  deps: StaffDeps,
  by: Caller<'person'>,
  { email, role, name = null }: StaffInvitationCreate,
): Promise<Versioned<StaffInvitation>> {
  const operatorId = by.tenant.id
  const id = deps.ids.next()
  const link = newLink(deps.random)
  await changeOperatorStaff(deps, operatorId, async (tx) => {
    const { client, now } = tx
    const taken = await invitations.addressTaken(client, operatorOf(by), emailKey(email), now)
    if (taken !== null)
      refuseField(
        '/email',
        'invalid_value',
        taken === 'member'
          ? 'The person is already one of the staff.'
          : 'The person is already invited; change that invitation.',
      )
    if ((await countStaff(client, operatorId, now)) >= STAFF_MAX)
      refuse('limit-reached', `An operator has at most ${STAFF_MAX} staff.`, {
        extra: { limit: STAFF_MAX, resource: 'membership' },
      })
    await invitations.insertInvitation(client, {
      id,
      operatorId,
      customerId: null,
      email,
      emailKey: emailKey(email),
      name,
      role,
      teamIds: [],
      tokenSha256: link.tokenSha256,
      by: { id: by.session.userId, name: by.session.name },
      expiresAt: now + INVITATION_MS,
      now,
    })
    await recordChange(tx, auditCaller(by), operatorId, {
      action: 'invitation.created',
      object: { type: 'invitation', id },
      before: null,
      after: { email, role, name },
    })
    await mailLink(deps, tx, by, email, link.token)
  })
  return (await deps.reads.getInvitation(operatorId, id)) ?? refuseNotFound()
}

/** Changes an open or expired invitation, and mails a new link; the link before no longer works. @throws ProblemError */
export async function renewInvitation(
  deps: StaffDeps,
  by: Caller<'person'>,
  id: string,
  body: StaffInvitationUpdate,
  expected: number | bigint | null,
): Promise<Versioned<StaffInvitation>> {
  const operatorId = by.tenant.id
  const { token, tokenSha256 } = newLink(deps.random)
  await changeOperatorStaff(deps, operatorId, async (tx) => {
    const { client, now } = tx
    const one = (await invitations.lockInvitation(client, operatorOf(by), id)) ?? refuseNotFound()
    checkVersion(one, expected)
    if (one.status === 'accepted' || one.status === 'revoked')
      refuseTransition(`The invitation is ${one.status}.`, one.status, ['pending', 'expired'])
    if (
      one.status === 'expired' &&
      (await invitations.addressTaken(client, operatorOf(by), emailKey(one.email), now)) !== null
    )
      refuseTransition('The address has another invitation or is one of the staff.', 'expired', ['pending', 'expired'])
    const terms = { role: body.role ?? one.role, name: body.name === undefined ? one.name : body.name }
    await invitations.renewInvitation(client, one, { ...terms, tokenSha256, expiresAt: now + INVITATION_MS })
    await recordChange(tx, auditCaller(by), operatorId, {
      action: 'invitation.resent',
      object: { type: 'invitation', id },
      before: { email: one.email, role: one.role, name: one.name },
      after: { email: one.email, ...terms },
    })
    await mailLink(deps, tx, by, one.email, token)
  })
  return (await deps.reads.getInvitation(operatorId, id)) ?? refuseNotFound()
}

/** Revokes an invitation. Revoking it again succeeds and changes nothing. @throws ProblemError */
export async function revokeInvitation(
  deps: StaffDeps,
  by: Caller<'person'>,
  id: string,
  expected: number | bigint | null,
): Promise<void> {
  const operatorId = by.tenant.id
  await changeOperatorStaff(deps, operatorId, async (tx) => {
    const { client, now } = tx
    const one = (await invitations.lockInvitation(client, operatorOf(by), id)) ?? refuseNotFound()
    checkVersion(one, expected)
    if (one.status === 'revoked') return
    if (one.status === 'accepted')
      refuseTransition('The invitation was accepted; remove the person instead.', 'accepted', [
        'pending',
        'expired',
        'revoked',
      ])
    await invitations.endInvitation(client, one, 'revoked', now)
    await recordChange(tx, auditCaller(by), operatorId, {
      action: 'invitation.revoked',
      object: { type: 'invitation', id },
      before: { email: one.email, status: one.status },
      after: { status: 'revoked' },
    })
  })
}

async function mailLink(
  { secrets, origin }: StaffDeps,
  tx: ChangeTransaction,
  by: Caller<'person'>,
  email: string,
  token: string,
): Promise<void> {
  const tenantId = by.tenant.id
  const { name: tenantName } = (await readOperator(tx.client, tenantId)) ?? refuseNotFound()
  const from = { byName: by.session.name, origin: origin(), tenantId, now: tx.now }
  await writeMail(tx, secrets, invitationMail({ email, tenantName, token, ...from }))
}
