/** Creates an API key. People cannot give a key a scope that they do not have themselves. */
import { CUSTOMER_SCOPES, OPERATOR_SCOPES } from '../../lib/identity/api-key.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { refuse, type FieldError } from '../../lib/base/problems.ts'
import * as rows from '../../storage/identity/identity-api-keys.ts'
import type { MadeApiKey } from './identity.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { runChange } from '../commands/changes.ts'
import type { ApiKeyCreate } from '../../lib/identity/api-key-schema.ts'
import {
  checkAllowlist,
  checkLive,
  insertKey,
  recordKeyChange,
  refuseFields,
  tellManagers,
  type ApiKeyDeps,
} from './api-key-changes.ts'

/** The maximum number of working keys of one tenant, without those that have been replaced. */
export const ACTIVE_KEYS_MAX = 50

/**
 * Creates a key and tells the people who manage keys.
 *
 * @throws ProblemError `validation-error`, `customer-not-active`, `limit-reached`
 */
export async function createApiKey(deps: ApiKeyDeps, by: Caller<'person'>, body: ApiKeyCreate): Promise<MadeApiKey> {
  checkKey(deps, by, body)
  const scopes = [...new Set(body.scopes)]
  const expiresAt = body.expiresAt == null ? null : Date.parse(body.expiresAt)
  return await runChange(deps, async (tx) => {
    const { client } = tx
    await rows.lockTenantKeys(client, by.tenant.id)
    await checkLive(client, by, body.environment)
    if ((await rows.countActiveKeys(client, by.tenant.id, tx.now)) >= ACTIVE_KEYS_MAX) {
      refuse('limit-reached', `A tenant may have at most ${ACTIVE_KEYS_MAX} active keys.`, {
        extra: { limit: ACTIVE_KEYS_MAX, resource: 'api_key' },
      })
    }
    const made = await insertKey(deps, tx, by, {
      name: body.name,
      environment: body.environment,
      scopes,
      ipAllowlist: body.ipAllowlist ?? [],
      expiresAt: expiresAt === null ? null : timestamp(expiresAt),
      replacesId: null,
    })
    await recordKeyChange(tx, by, 'api_key.created', made.view.id, null, made.view)
    await tellManagers(tx, by, made.view)
    return made
  })
}

/**
 * Checks the scopes, the addresses, the environment and the end of a new key. @throws ProblemError `validation-error`
 */
function checkKey({ clock, sandbox }: ApiKeyDeps, by: Caller<'person'>, body: ApiKeyCreate): void {
  const offered: readonly string[] = by.tenant.kind === 'customer' ? CUSTOMER_SCOPES : OPERATOR_SCOPES
  const errors = body.scopes.flatMap((scope, index): FieldError[] => {
    if (!offered.includes(scope))
      return [
        { field: `/scopes/${index}`, code: 'invalid_value', message: `Is no scope of keys of ${by.tenant.kind}s.` },
      ]
    if (!by.principal.scopes.has(scope))
      return [
        {
          field: `/scopes/${index}`,
          code: 'invalid_value',
          message: 'You do not have this capability yourself, so the key cannot have it.',
        },
      ]
    return []
  })
  errors.push(...checkAllowlist(body.ipAllowlist ?? []))
  if (!sandbox && body.environment === 'test')
    errors.push({
      field: '/environment',
      code: 'invalid_value',
      message: 'Test keys do not work here: this environment has no sandbox.',
    })
  const expiresAt = body.expiresAt == null ? null : Date.parse(body.expiresAt)
  if (expiresAt !== null && expiresAt <= clock.now())
    errors.push({ field: '/expiresAt', code: 'in_past', message: 'Must be in the future.' })
  refuseFields(errors)
}
