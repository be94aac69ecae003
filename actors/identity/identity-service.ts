/** Identity: users, members, sessions and API keys, and the listener for keys that other nodes change. */
import { grantOfRole } from '../../lib/identity/capabilities.ts'
import { STEP_UP_FRESH_MS } from '../../lib/identity/step-up.ts'
import { relyingPartyOf } from '../../lib/identity/webauthn.ts'
import { operatorOfCustomer } from '../../storage/customers/customers.ts'
import { noteKeyUse } from '../../storage/identity/identity-api-keys.ts'
import {
  findStepUpChallenge,
  SIGN_IN,
  proofMethod,
  signInChallenge,
  touchSession,
} from '../../storage/identity/identity-sessions.ts'
import { getApiKey, listApiKeys } from '../../storage/identity/api-key-queries.ts'
import { listAuditEvents } from '../../storage/trail/audit-events.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { findSession, listSessions } from '../../storage/identity/session-queries.ts'
import { usableFactors } from '../../storage/identity/mfa-factors.ts'
import { getUser, listFactors } from '../../storage/identity/user-queries.ts'
import type { Node } from '../runtime/node.ts'
import { createApiKeyCommands } from './api-keys.ts'
import { offerOf } from './challenges.ts'
import type { IdentityReads } from './identity.ts'
import type { IdentityDeps } from './identity-deps.ts'
import { keyExpiry } from './key-expiry.ts'
import { createMemberCommands, createMemberReads } from './members.ts'
import { createPasswordCommands, openPasswordReset } from './passwords.ts'
import { createProfileCommands } from './profile.ts'
import { getRecoveryCodes } from './mfa-factors.ts'
import { createSessionCommands } from './sessions.ts'
import { createStepUpCommands } from './step-up.ts'

/** Channel of the database's notifications that an API key has changed; the payload is the key's hash. */
const KEY_CHANGED = 'api_key_changed'
/**
 * How long a change waits for other nodes to drop the key from their caches. Nodes not notified by then drop it
 * themselves.
 */
const FORGOTTEN_WITHIN_MS = 1_000

export type IdentityService = ReturnType<typeof createIdentityService>

/**
 * Creates the service.
 *
 * @param options `singleUse`: whether each code of a second factor is accepted only once
 */
export function createIdentityService(node: Node, { singleUse }: Pick<IdentityDeps, 'singleUse'>) {
  const { database, clock, listener } = node
  const deps: IdentityDeps = {
    ...node,
    passwords: node.workers.passwords,
    singleUse,
    relyingParty: () => relyingPartyOf(node.config, node.origin()),
  }
  const db = readDatabase(database)
  const listeners: ((sha256: string | null) => void)[] = []
  const tell = (sha256: string | null) => {
    for (const listener of listeners) listener(sha256)
  }
  const changes = listener.subscribe(KEY_CHANGED, { onMessage: tell, onGap: () => tell(null), confirms: true })
  const passwords = createPasswordCommands(deps)
  const members = createMemberReads(deps)

  const reads: IdentityReads = {
    findSession: (tokenSha256) => findSession(database, tokenSha256, clock.now()),
    touchSession: (sessionId) => touchSession(database, sessionId, clock.now()),
    async loginChallenge({ id, userId }) {
      const challengeId = await signInChallenge(database, id)
      if (challengeId === null) return null
      const offer = offerOf(
        deps,
        { id: challengeId, action: SIGN_IN },
        await usableFactors(database, userId, { action: SIGN_IN, now: clock.now() }),
      )
      return { challengeId, ...offer }
    },
    async findChallenge({ id: sessionId, userId }, tenantId, id) {
      const found = await findStepUpChallenge(database, { id, sessionId, tenantId })
      return found === null
        ? null
        : {
            ...found,
            ...offerOf(deps, found, await usableFactors(database, userId, { action: found.action, now: clock.now() })),
          }
    },
    hasProof: async (question) =>
      (await proofMethod(database, { ...question, since: clock.now() - STEP_UP_FRESH_MS })) !== null,
    operatorOf: (customerId) => operatorOfCustomer(database, customerId),
    noteKeyUse: (keyId, address) => noteKeyUse(database, keyId, address, clock.now()),
    onKeyChange: (listener) => {
      listeners.push(listener)
    },
    listSessions: (userId, query) => listSessions(db, userId, query, clock.now()),
    getUser: (userId) => getUser(database, userId),
    listFactors: (userId) => listFactors(database, userId),
    getRecoveryCodes: (userId) => getRecoveryCodes(database, userId),
    listApiKeys: (query) => listApiKeys(db, query, clock.now()),
    getApiKey: (tenant, id) => getApiKey(database, tenant, id, clock.now()),
    listAuditEvents: (query) => listAuditEvents(db, query),
    openPasswordReset: (token) => openPasswordReset(deps, token),
    capabilitiesOf: (role) => [...grantOfRole(role).capabilities],
  }

  return {
    reads,
    commands: {
      ...createSessionCommands(deps),
      ...createStepUpCommands(deps),
      ...createProfileCommands(deps),
      ...passwords.commands,
      ...createApiKeyCommands(deps, async (sha256) => {
        tell(sha256)
        await changes.heard(sha256, FORGOTTEN_WITHIN_MS)
      }),
    },
    members: { reads: members, commands: createMemberCommands(deps, members) },
    background: [
      // Requests for resets are begun after an answer and need no start.
      { name: 'password resets', start: () => undefined, stop: () => passwords.settled() },
    ],
    tasks: [keyExpiry(node)],
  }
}
