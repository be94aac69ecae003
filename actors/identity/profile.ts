/** The commands of people on themselves: profile and second factors. */
import { timestamp } from '../../lib/base/clock.ts'
import { totpSecret, totpUri } from '../../lib/identity/totp.ts'
import { refuse } from '../../lib/base/problems.ts'
import { writePersonalAudit } from '../../storage/trail/trail.ts'
import {
  deleteFactor,
  insertFactor,
  lockFactors,
  lockProfile,
  updateProfile,
} from '../../storage/identity/identity-people.ts'
import { getUser, listFactors } from '../../storage/identity/user-queries.ts'
import { inTransaction, through } from '../../storage/db/transaction.ts'
import { etagOf } from '../../lib/commands/etag.ts'
import type { IdentityCommands } from './identity.ts'
import type { IdentityDeps } from './identity-world.ts'
import { auditPerson } from '../commands/trail.ts'
import { factorContext, takeCode } from './second-factor.ts'

/** The maximum number of factors of one person: a telephone, a spare, and some that were never confirmed. */
const FACTORS_MAX = 10

/** Creates the commands of profiles and second factors. */
export function createProfileCommands(
  world: IdentityDeps,
): Pick<IdentityCommands, 'updateUser' | 'addFactor' | 'confirmFactor' | 'removeFactor'> {
  const { database, clock, ids, random, secrets } = world
  const nextId = () => ids.next()

  return {
    async updateUser(by, body, expected) {
      const { userId } = by.session
      const now = clock.now()
      await inTransaction(database, async (client) => {
        const row = await lockProfile(client, userId)
        if (row === null) refuse('not-found', 'No such person.')
        const { version, ...before } = row
        if (expected !== null && version !== BigInt(expected)) {
          const current = await getUser(through(client), userId)
          refuse('precondition-failed', 'The resource has changed since it was read.', {
            extra: { currentEtag: current === null ? null : etagOf(current) },
          })
        }
        const after = {
          name: body.name ?? before.name,
          phone: body.phone === undefined ? before.phone : body.phone,
          locale: body.locale ?? before.locale,
        }
        await updateProfile(client, userId, after, now)
        await writePersonalAudit(client, {
          ...auditPerson(by),
          nextId,
          at: now,
          action: 'user.updated',
          object: { type: 'user', id: userId },
          before,
          after,
        })
      })
      const found = await getUser(database, userId)
      if (found === null) throw new Error(`The person ${userId} has vanished.`)
      return found
    },

    async addFactor(by, { kind, name = 'Authenticator app' }) {
      const { userId, email } = by.session
      const now = clock.now()
      const id = ids.next()
      const secret = totpSecret(random)
      await inTransaction(database, async (client) => {
        // Locks the profile, because locks on existing factors would not stop a parallel insert.
        await lockProfile(client, userId)
        const factors = await lockFactors(client, userId)
        if (factors.length >= FACTORS_MAX) {
          refuse('limit-reached', `A person may have at most ${FACTORS_MAX} second factors.`, {
            extra: { limit: FACTORS_MAX, resource: 'mfa_factor' },
          })
        }
        await insertFactor(client, { id, userId, kind, name, secret: secrets.seal(secret, factorContext(id)), now })
        await writePersonalAudit(client, {
          ...auditPerson(by),
          nextId,
          at: now,
          action: 'mfa_factor.created',
          object: { type: 'mfa_factor', id },
          before: null,
          after: { kind, name, status: 'pending' },
        })
      })
      return {
        id,
        kind,
        name,
        status: 'pending',
        createdAt: timestamp(now),
        lastUsedAt: null,
        secret,
        otpauthUri: totpUri(secret, email),
      }
    },

    async confirmFactor(by, factorId, code) {
      const { userId } = by.session
      const now = clock.now()
      const outcome = await inTransaction(database, async (client) => {
        const factor = (await lockFactors(client, userId)).find(({ id }) => id === factorId)
        if (factor === undefined) return 'absent'
        if (factor.status === 'active') return 'active'
        if (!(await takeCode(client, world, { userId, code, now, pending: factorId }))) return 'wrong'
        await writePersonalAudit(client, {
          ...auditPerson(by),
          nextId,
          at: now,
          action: 'mfa_factor.confirmed',
          object: { type: 'mfa_factor', id: factorId },
          before: { status: 'pending' },
          after: { status: 'active' },
        })
        return 'confirmed'
      })
      if (outcome === 'absent') refuse('not-found', 'No such second factor.')
      if (outcome === 'active')
        refuse('invalid-transition', 'The second factor is confirmed already.', {
          extra: { currentStatus: 'active', allowed: [] },
        })
      if (outcome === 'wrong') {
        const message = 'The code is wrong.'
        refuse('validation-error', message, { errors: [{ field: '/code', code: 'invalid_value', message }] })
      }
      const found = (await listFactors(database, userId)).find(({ id }) => id === factorId)
      if (found === undefined) throw new Error(`The second factor ${factorId} has vanished.`)
      return found
    },

    async removeFactor(by, factorId) {
      const { userId } = by.session
      const now = clock.now()
      await inTransaction(database, async (client) => {
        const factors = await lockFactors(client, userId)
        const factor = factors.find(({ id }) => id === factorId)
        if (factor === undefined) refuse('not-found', 'No such second factor.')
        if (factor.status === 'active' && factors.filter(({ status }) => status === 'active').length === 1) {
          refuse('invalid-transition', 'The last second factor cannot be removed; add another one first.', {
            extra: { currentStatus: 'last_factor', allowed: [] },
          })
        }
        await deleteFactor(client, factorId)
        await writePersonalAudit(client, {
          ...auditPerson(by),
          nextId,
          at: now,
          action: 'mfa_factor.deleted',
          object: { type: 'mfa_factor', id: factorId },
          before: { kind: 'totp', name: factor.name, status: factor.status },
          after: null,
        })
      })
    },
  }
}
