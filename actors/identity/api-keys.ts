/**
 * The API keys of a tenant, managed by people: create, rename, rotate, revoke.
 *
 *  * The text of a key is in one answer and is stored nowhere.
 *  * People cannot give a key a scope that they do not have themselves.
 *  * Every node knows of a change before it is answered: the database notifies the nodes at the commit, and they
 *    confirm. A node that cannot be reached drops its cached keys within a second by itself; no answer waits longer
 *    than that for it.
 */
import { widensAllowlist } from '../../lib/security/ip-allowlist.ts'
import * as rows from '../../storage/identity/identity-api-keys.ts'
import { through } from '../../storage/db/transaction.ts'
import type { IdentityCommands } from './identity.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { runChange } from '../commands/changes.ts'
import type { IdentityDeps } from './identity-deps.ts'
import { requireProof } from '../commands/proof.ts'
import type { ApiKeyUpdate, ApiKeyView } from '../../lib/identity/api-key-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import {
  checkAllowlist,
  lockKey,
  recordKeyChange,
  refuseFields,
  rereadKey,
  type ApiKeyDeps,
} from './api-key-changes.ts'
import { createApiKey } from './create-api-key.ts'
import { rotateApiKey } from './rotate-api-key.ts'

/**
 * Creates the key commands. `changed` is called with the hash of each key that nodes must drop from their caches, and
 * resolves when they have.
 */
export function createApiKeyCommands(
  identity: IdentityDeps,
  changed: (sha256: string) => Promise<void>,
): Pick<IdentityCommands, 'createApiKey' | 'updateApiKey' | 'rotateApiKey' | 'revokeApiKey'> {
  const deps = { ...identity, changed }
  return {
    createApiKey: (by, body) => createApiKey(deps, by, body),
    updateApiKey: (by, id, body, expected) => updateApiKey(deps, by, id, body, expected),
    rotateApiKey: (by, id, gracePeriodHours) => rotateApiKey(deps, by, id, gracePeriodHours),
    revokeApiKey: (by, id, expected) => revokeApiKey(deps, by, id, expected),
  }
}

/** Renames a key, and replaces the addresses it works from. */
async function updateApiKey(
  deps: ApiKeyDeps,
  by: Caller<'person'>,
  id: string,
  body: ApiKeyUpdate,
  expected: number | bigint | null,
): Promise<Versioned<ApiKeyView>> {
  refuseFields(checkAllowlist(body.ipAllowlist ?? []))
  const { sha256, after } = await runChange(deps, async (tx) => {
    const { client } = tx
    const before = await lockKey(tx, by, id, expected)
    // A key that works from more addresses is as dangerous in the hands of a thief as a new key.
    if (body.ipAllowlist !== undefined && widensAllowlist(before.view.ipAllowlist, body.ipAllowlist))
      await requireProof({ database: through(client), clock: deps.clock }, by, 'api_key.create')
    const sha256 = await rows.renameApiKey(client, id, {
      name: body.name ?? before.view.name,
      ipAllowlist: body.ipAllowlist ?? before.view.ipAllowlist,
    })
    const after = await rereadKey(tx, by, id)
    await recordKeyChange(tx, by, 'api_key.updated', id, before.view, after.view)
    return { sha256, after }
  })
  if (sha256 !== null) await deps.changed(sha256)
  return after
}

/** Revokes a key at once. */
async function revokeApiKey(
  deps: ApiKeyDeps,
  by: Caller<'person'>,
  id: string,
  expected: number | bigint | null,
): Promise<void> {
  const sha256 = await runChange(deps, async (tx) => {
    const { client } = tx
    const before = await lockKey(tx, by, id, expected)
    const sha256 = await rows.revokeApiKey(client, id, { by: by.session.userId, now: tx.now })
    // Revoking a revoked key succeeds and changes nothing.
    if (sha256 !== null)
      await recordKeyChange(tx, by, 'api_key.revoked', id, before.view, (await rereadKey(tx, by, id)).view)
    return sha256
  })
  if (sha256 !== null) await deps.changed(sha256)
}
