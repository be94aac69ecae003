/** Rotates an API key. */
import { HOUR_MS } from '../../lib/base/clock.ts'
import { refuseTransition } from '../../lib/base/problems.ts'
import * as rows from '../../storage/identity/identity-api-keys.ts'
import type { MadeApiKey } from './identity.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { runChange } from '../commands/changes.ts'
import {
  checkLive,
  insertKey,
  lockKey,
  recordKeyChange,
  rereadKey,
  tellManagers,
  type ApiKeyDeps,
} from './api-key-changes.ts'

/**
 * Replaces a key by a new one with the same terms. The old key works on for the grace period.
 *
 * @throws ProblemError `invalid-transition`, `customer-not-active`
 */
export async function rotateApiKey(
  deps: ApiKeyDeps,
  by: Caller<'person'>,
  id: string,
  gracePeriodHours: number,
): Promise<MadeApiKey> {
  const { sha256, made } = await runChange(deps, async (tx) => {
    const { client, now } = tx
    await rows.lockTenantKeys(client, by.tenant.id)
    const old = await lockKey(tx, by, id)
    const { status, name, environment, scopes, ipAllowlist, expiresAt } = old.view
    if (status !== 'active') refuseTransition('Only an active key can be rotated.', status, ['active'])
    await checkLive(client, by, environment)
    const made = await insertKey(deps, tx, by, { name, environment, scopes, ipAllowlist, expiresAt, replacesId: id })
    const sha256 =
      gracePeriodHours === 0
        ? await rows.revokeApiKey(client, id, { by: by.session.userId, now, replacedById: made.view.id })
        : await rows.replaceApiKey(client, id, {
            byId: made.view.id,
            graceEndsAt: now + gracePeriodHours * HOUR_MS,
          })
    await recordKeyChange(tx, by, 'api_key.rotated', id, old.view, (await rereadKey(tx, by, id)).view)
    await recordKeyChange(tx, by, 'api_key.created', made.view.id, null, made.view)
    await tellManagers(tx, by, made.view)
    return { sha256, made }
  })
  if (sha256 !== null) await deps.changed(sha256)
  return made
}
