/** The commands of people on themselves: profile, second factors and recovery codes. */
import { refuse } from '../../lib/base/problems.ts'
import { lockProfile, updateProfile } from '../../storage/identity/identity-people.ts'
import { getUser } from '../../storage/identity/user-queries.ts'
import { inTransaction, through } from '../../storage/db/transaction.ts'
import { etagOf, refuseChanged, isCurrent } from '../../lib/commands/etag.ts'
import type { IdentityCommands } from './identity.ts'
import type { IdentityDeps } from './identity-deps.ts'
import { auditPerson } from '../commands/trail.ts'
import { recordPersonalChange } from '../commands/changes.ts'
import type { User, UserUpdate } from '../../lib/identity/user-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { addFactor, confirmFactor, createRecoveryCodes, removeFactor, updateFactor } from './mfa-factors.ts'

/** Creates the commands of profiles, second factors and recovery codes. */
export function createProfileCommands(
  deps: IdentityDeps,
): Pick<
  IdentityCommands,
  'updateUser' | 'addFactor' | 'confirmFactor' | 'updateFactor' | 'removeFactor' | 'createRecoveryCodes'
> {
  return {
    updateUser: (by, body, expected) => updateUser(deps, by, body, expected),
    addFactor: (by, body) => addFactor(deps, by, body),
    confirmFactor: (by, factorId, body) => confirmFactor(deps, by, factorId, body),
    updateFactor: (by, factorId, body, expected) => updateFactor(deps, by, factorId, body, expected),
    removeFactor: (by, factorId) => removeFactor(deps, by, factorId),
    createRecoveryCodes: (by) => createRecoveryCodes(deps, by),
  }
}

/** Changes the name, the telephone number and the locale of the person. */
async function updateUser(
  { database, clock, ids }: IdentityDeps,
  by: Caller<'self'>,
  body: UserUpdate,
  expected: number | bigint | null,
): Promise<Versioned<User>> {
  const { userId } = by.session
  const now = clock.now()
  await inTransaction(database, async (client) => {
    const row = await lockProfile(client, userId)
    if (row === null) refuse('not-found', 'No such person.')
    const { version, ...before } = row
    if (!isCurrent(version, expected)) {
      const current = await getUser(through(client), userId)
      refuseChanged(current === null ? undefined : etagOf(current))
    }
    const after = {
      name: body.name ?? before.name,
      phone: body.phone === undefined ? before.phone : body.phone,
      locale: body.locale ?? before.locale,
    }
    await updateProfile(client, userId, after, now)
    await recordPersonalChange({ client, ids, now }, auditPerson(by), {
      action: 'user.updated',
      object: { type: 'user', id: userId },
      before,
      after,
    })
  })
  const found = await getUser(database, userId)
  if (found === null) throw new Error(`The person ${userId} has vanished.`)
  return found
}
