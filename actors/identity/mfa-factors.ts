/** Adds, confirms and removes second factors of a person. */
import { timestamp } from '../../lib/base/clock.ts'
import { totpSecret, totpUri } from '../../lib/identity/totp.ts'
import { refuse, refuseTransition } from '../../lib/base/problems.ts'
import { deleteFactor, insertFactor, lockFactors, lockProfile } from '../../storage/identity/identity-people.ts'
import { listFactors } from '../../storage/identity/user-queries.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import type { IdentityDeps } from './identity-deps.ts'
import { auditPerson } from '../commands/trail.ts'
import { recordPersonalChange } from '../commands/changes.ts'
import { factorContext, takeCode } from './second-factor.ts'
import type { FactorCreate, MfaFactor } from '../../lib/identity/user-schema.ts'
import type { Caller } from '../../lib/identity/caller.ts'

/** The maximum number of factors of one person: a telephone, a spare, and some that were never confirmed. */
const FACTORS_MAX = 10

/** Adds a factor, which works once it is confirmed. The answer alone has its secret. */
export async function addFactor(
  { database, clock, ids, random, secrets }: IdentityDeps,
  by: Caller<'self'>,
  { kind, name = 'Authenticator app' }: FactorCreate,
): Promise<MfaFactor & { readonly secret: string; readonly otpauthUri: string }> {
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
    await recordPersonalChange({ client, ids, now }, auditPerson(by), {
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
}

/** Confirms a factor with a code of it. */
export async function confirmFactor(
  deps: IdentityDeps,
  by: Caller<'self'>,
  factorId: string,
  code: string,
): Promise<MfaFactor> {
  const { database, clock, ids } = deps
  const { userId } = by.session
  const now = clock.now()
  const outcome = await inTransaction(database, async (client) => {
    const factor = (await lockFactors(client, userId)).find(({ id }) => id === factorId)
    if (factor === undefined) return 'absent'
    if (factor.status === 'active') return 'active'
    if (!(await takeCode(client, deps, { userId, code, now, pending: factorId }))) return 'wrong'
    await recordPersonalChange({ client, ids, now }, auditPerson(by), {
      action: 'mfa_factor.confirmed',
      object: { type: 'mfa_factor', id: factorId },
      before: { status: 'pending' },
      after: { status: 'active' },
    })
    return 'confirmed'
  })
  if (outcome === 'absent') refuse('not-found', 'No such second factor.')
  if (outcome === 'active') refuseTransition('The second factor is confirmed already.', 'active', ['pending'])
  if (outcome === 'wrong') {
    const message = 'The code is wrong.'
    refuse('validation-error', message, { errors: [{ field: '/code', code: 'invalid_value', message }] })
  }
  const found = (await listFactors(database, userId)).find(({ id }) => id === factorId)
  if (found === undefined) throw new Error(`The second factor ${factorId} has vanished.`)
  return found
}

/** Removes a factor, unless it is the last confirmed factor. */
export async function removeFactor(
  { database, clock, ids }: IdentityDeps,
  by: Caller<'self'>,
  factorId: string,
): Promise<void> {
  const { userId } = by.session
  const now = clock.now()
  await inTransaction(database, async (client) => {
    const factors = await lockFactors(client, userId)
    const factor = factors.find(({ id }) => id === factorId)
    if (factor === undefined) refuse('not-found', 'No such second factor.')
    if (factor.status === 'active' && factors.filter(({ status }) => status === 'active').length === 1) {
      refuseTransition('The last second factor cannot be removed; add another one first.', 'last_factor', [])
    }
    await deleteFactor(client, factorId)
    await recordPersonalChange({ client, ids, now }, auditPerson(by), {
      action: 'mfa_factor.deleted',
      object: { type: 'mfa_factor', id: factorId },
      before: { kind: 'totp', name: factor.name, status: factor.status },
      after: null,
    })
  })
}
