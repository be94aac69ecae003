/**
 * Makes the first operator of an empty database and the invitation of its first administrator. It serves the command
 * `vostro init` alone: over HTTP nobody can make an operator.
 */
import { generateInvitationToken, INVITATION_MS, invitationTokenHash } from '../../lib/identity/invitation.ts'
import { emailKey } from '../../lib/identity/password-rules.ts'
import type { FirstEntry } from '../../lib/operators/first-entry.ts'
import { insertInvitation } from '../../storage/identity/invitations.ts'
import { hasOperator, insertOperator, lockOperators } from '../../storage/operators/operators.ts'
import { SYSTEM } from '../../storage/trail/trail.ts'
import { recordChange, runChange, type ChangeDeps } from '../commands/changes.ts'

export interface InitDeps extends ChangeDeps {
  /** Returns random bytes of cryptographic quality. */
  readonly random: (bytes: number) => Uint8Array
}

/** The operator that was made, and the token of the link of its first administrator. */
export interface InitialOperator {
  readonly operatorId: string
  readonly token: string
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/** The role of the first of the staff, who invites the others. */
const FIRST_ROLE = 'operator_admin'

/**
 * Makes the operator, with the defaults of its settings and features, and the invitation. Of calls at the same moment
 * one makes them.
 *
 * @returns null when the database has an operator; then nothing was written
 * @throws the driver's errors; then nothing was written
 */
export async function initOperator(
  deps: InitDeps,
  { operator, email, name }: FirstEntry,
): Promise<InitialOperator | null> {
  const token = generateInvitationToken(deps.random)
  return await runChange(deps, async (tx) => {
    const { client, ids, now } = tx
    await lockOperators(client)
    if (await hasOperator(client)) return null
    const operatorId = ids.next()
    const invitationId = ids.next()
    const expiresAt = now + INVITATION_MS
    await insertOperator(client, { id: operatorId, name: operator, now })
    await recordChange(tx, SYSTEM, operatorId, {
      action: 'operator.created',
      object: { type: 'operator', id: operatorId },
      before: null,
      after: { name: operator },
    })
    await insertInvitation(client, {
      id: invitationId,
      operatorId,
      customerId: null,
      email,
      emailKey: emailKey(email),
      name,
      role: FIRST_ROLE,
      teamIds: [],
      tokenSha256: invitationTokenHash(token),
      by: SYSTEM.actor,
      expiresAt,
      now,
    })
    await recordChange(tx, SYSTEM, operatorId, {
      action: 'invitation.created',
      object: { type: 'invitation', id: invitationId },
      before: null,
      after: { email, role: FIRST_ROLE },
    })
    return { operatorId, token, expiresAt }
  })
}
