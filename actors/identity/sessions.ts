/** Commands of sessions: signing in and out, and a fresh token. */
import { endSessions, hasSession } from '../../storage/identity/identity-sessions.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import type { IdentityCommands } from './identity.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { IdentityDeps } from './identity-deps.ts'
import { auditPerson } from '../commands/trail.ts'
import { recordPersonalChange } from '../commands/changes.ts'
import { openedSession, renewToken } from './session-token.ts'
import { signIn, verifyMfa } from './sign-in.ts'

/** Creates the commands of sessions. */
export function createSessionCommands(
  deps: IdentityDeps,
): Pick<IdentityCommands, 'signIn' | 'verifyMfa' | 'refresh' | 'signOut' | 'revokeSession'> {
  const { database, clock } = deps
  return {
    signIn: (body, from) => signIn(deps, body, from),
    verifyMfa: (by, body) => verifyMfa(deps, by, body),
    async refresh(by) {
      const token = await inTransaction(database, (client) => renewToken(deps, client, by, clock.now()))
      return openedSession(by.session.id, token, by.session)
    },

    async signOut(by) {
      await inTransaction(database, (client) => endSession(deps, client, by, by.session.id))
    },

    async revokeSession(by, sessionId) {
      return await inTransaction(database, async (client) => {
        if (!(await hasSession(client, by.session.userId, sessionId))) return false
        await endSession(deps, client, by, sessionId)
        return true
      })
    },
  }
}

/** Ends a session of the person. Ending an ended session succeeds and changes nothing. */
async function endSession(
  { clock, ids }: IdentityDeps,
  client: TransactionClient,
  by: Caller<'self'>,
  sessionId: string,
): Promise<void> {
  const now = clock.now()
  if ((await endSessions(client, { userId: by.session.userId, only: sessionId, now })) === 0) return
  await recordPersonalChange({ client, ids, now }, auditPerson(by), {
    action: 'session.revoked',
    object: { type: 'session', id: sessionId },
    before: { status: 'active' },
    after: { status: 'revoked' },
  })
}
