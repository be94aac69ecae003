/**
 * The API keys of a tenant, managed by people: create, rename, rotate, revoke.
 *
 *  * The text of a key is in one answer and is stored nowhere.
 *  * People cannot give a key a scope that they do not have themselves.
 *  * Every node knows of a change before it is answered: the database notifies the nodes at the commit, and they
 *    confirm. A node that cannot be reached drops its cached keys within a second by itself; no answer waits longer
 *    than that for it.
 */
import { CUSTOMER_SCOPES, generateApiKey, OPERATOR_SCOPES } from '../../lib/identity/api-key.ts'
import { HOUR_MS, timestamp } from '../../lib/base/clock.ts'
import { grantOfRole, MEMBER_ROLES, STAFF_ROLES } from '../../lib/identity/capabilities.ts'
import { isAllowlistEntry, widensAllowlist } from '../../lib/security/ip-allowlist.ts'
import { refuse, type FieldError } from '../../lib/base/problems.ts'
import { writeAudit } from '../../storage/trail/trail.ts'
import * as rows from '../../storage/identity/identity-api-keys.ts'
import { insertNotices, peopleInRoles } from '../../storage/notices/notices.ts'
import { inTransaction, through, type TransactionClient } from '../../storage/db/transaction.ts'
import { etagOf } from '../../lib/commands/etag.ts'
import type { IdentityCommands, MadeApiKey } from './identity.ts'
import type { ByInTenant } from '../../lib/identity/caller.ts'
import type { IdentityDeps } from './identity-world.ts'
import { auditCaller } from '../commands/trail.ts'
import { requireProof } from '../commands/proof.ts'
import type { ApiKeyView } from '../../lib/identity/api-key-schema.ts'

/** The maximum number of working keys of one tenant, without those that have been replaced. */
export const ACTIVE_KEYS_MAX = 50

/** The roles that are told of a new key: the roles that may create keys. */
const KEY_MANAGERS = [
  ...MEMBER_ROLES.filter((role) => grantOfRole(role).capabilities.has('api_keys.manage')),
  ...STAFF_ROLES.filter((role) => grantOfRole(role).capabilities.has('integration.manage')),
]

/** The part of a key that the trail keeps. */
function state({ name, environment, prefix, scopes, ipAllowlist, status, expiresAt, graceEndsAt }: ApiKeyView): object {
  return { name, environment, prefix, scopes, ipAllowlist, status, expiresAt, graceEndsAt }
}

function refuseFields(errors: readonly FieldError[]): void {
  if (errors.length > 0) refuse('validation-error', 'Some fields of the body are not valid.', { errors })
}

function allowlistErrors(entries: readonly string[]): FieldError[] {
  return entries.flatMap((entry, index): FieldError[] =>
    isAllowlistEntry(entry)
      ? []
      : [
          {
            field: `/ipAllowlist/${index}`,
            code: 'invalid_format',
            message: 'Must be an IPv4 or IPv6 address or a CIDR block.',
          },
        ],
  )
}

/**
 * Creates the key commands. `changed` is called with the hash of each key that nodes must drop from their caches, and
 * resolves when they have.
 */
export function createApiKeyCommands(
  world: IdentityDeps,
  changed: (sha256: string) => Promise<void>,
): Pick<IdentityCommands, 'createApiKey' | 'updateApiKey' | 'rotateApiKey' | 'revokeApiKey'> {
  const { database, clock, ids, random, sandbox, mailer, log } = world

  async function audit(
    client: TransactionClient,
    by: ByInTenant,
    action: string,
    id: string,
    before: ApiKeyView | null,
    after: ApiKeyView | null,
  ): Promise<void> {
    await writeAudit(client, {
      ...auditCaller(by),
      id: ids.next(),
      tenantId: by.tenant.id,
      at: clock.now(),
      action,
      object: { type: 'api_key', id },
      before: before === null ? null : state(before),
      after: after === null ? null : state(after),
    })
  }

  /** Locks the tenant's key until the transaction ends. */
  async function locked(
    client: TransactionClient,
    by: ByInTenant,
    id: string,
    expected: number | bigint | null = null,
  ): Promise<rows.StoredApiKey> {
    const found = await rows.lockApiKey(client, by.tenant.id, id, clock.now())
    if (found === null) refuse('not-found', 'No such resource exists in this tenant.')
    if (expected !== null && found.version !== BigInt(expected)) {
      refuse('precondition-failed', 'The resource has changed since it was read.', {
        extra: { currentEtag: etagOf(found) },
      })
    }
    return found
  }

  async function reread(client: TransactionClient, by: ByInTenant, id: string): Promise<rows.StoredApiKey> {
    const found = await rows.lockApiKey(client, by.tenant.id, id, clock.now())
    if (found === null) throw new Error(`The key ${id} has vanished.`)
    return found
  }

  async function insert(
    client: TransactionClient,
    by: ByInTenant,
    key: Pick<rows.NewApiKeyRow, 'name' | 'environment' | 'scopes' | 'ipAllowlist' | 'expiresAt' | 'replacesId'>,
  ): Promise<MadeApiKey> {
    const { secret, prefix, sha256 } = generateApiKey(key.environment, random)
    const id = ids.next()
    await rows.insertApiKey(client, {
      ...key,
      id,
      level: by.tenant.kind,
      tenantId: by.tenant.id,
      prefix,
      sha256,
      createdBy: by.session.userId,
      now: clock.now(),
    })
    return { ...(await reread(client, by, id)), secret }
  }

  /**
   * Writes notices of a new key to the people who manage keys, because a thief would create a key first. Returns a
   * function that sends the mails after the transaction.
   */
  async function tellManagers(
    client: TransactionClient,
    by: ByInTenant,
    { id, name, prefix, environment }: ApiKeyView,
  ): Promise<() => void> {
    const title = `A ${environment} API key was created`
    const text = `${by.session.name} created the API key ${name} (${prefix}…). If nobody should have, revoke it.`
    const managers = await peopleInRoles(client, by.tenant.id, KEY_MANAGERS)
    const addresses = await insertNotices(
      client,
      ids,
      managers,
      { tenantId: by.tenant.id, type: 'api_key_created', title, text, object: { type: 'api_key', id } },
      clock.now(),
    )
    return () => {
      for (const to of addresses)
        mailer
          .send({ to, subject: title, text })
          .catch((error: unknown) => log.warn({ err: error }, 'the notice of a new key could not be mailed'))
    }
  }

  /** Refuses live keys until the customer is active, because live keys move real money. */
  async function checkLive(client: TransactionClient, by: ByInTenant, environment: 'live' | 'test'): Promise<void> {
    if (environment !== 'live' || by.tenant.kind !== 'customer') return
    const status = await rows.customerStatus(client, by.tenant.id)
    if (status !== 'active')
      refuse('customer-not-active', 'Live keys need an approved customer.', { extra: { customerStatus: status } })
  }

  return {
    async createApiKey(by, body) {
      const now = clock.now()
      const scopes = [...new Set(body.scopes)]
      const offered: readonly string[] = by.tenant.kind === 'customer' ? CUSTOMER_SCOPES : OPERATOR_SCOPES
      const errors = body.scopes.flatMap((scope, index): FieldError[] => {
        if (!offered.includes(scope))
          return [
            { field: `/scopes/${index}`, code: 'invalid_value', message: `Is no scope of keys of ${by.tenant.kind}s.` },
          ]
        if (!by.principal.scopes.has(scope))
          return [{ field: `/scopes/${index}`, code: 'invalid_value', message: 'You may not do this yourself.' }]
        return []
      })
      errors.push(...allowlistErrors(body.ipAllowlist ?? []))
      if (!sandbox && body.environment === 'test')
        errors.push({
          field: '/environment',
          code: 'invalid_value',
          message: 'Test keys do not work here: this environment has no sandbox.',
        })
      const expiresAt = body.expiresAt === undefined || body.expiresAt === null ? null : Date.parse(body.expiresAt)
      if (expiresAt !== null && expiresAt <= now)
        errors.push({ field: '/expiresAt', code: 'in_past', message: 'Must be in the future.' })
      refuseFields(errors)
      const { made, mail } = await inTransaction(database, async (client) => {
        await rows.lockTenantKeys(client, by.tenant.id)
        await checkLive(client, by, body.environment)
        if ((await rows.countActiveKeys(client, by.tenant.id, now)) >= ACTIVE_KEYS_MAX) {
          refuse('limit-reached', `A tenant may have at most ${ACTIVE_KEYS_MAX} active keys.`, {
            extra: { limit: ACTIVE_KEYS_MAX, resource: 'api_key' },
          })
        }
        const made = await insert(client, by, {
          name: body.name,
          environment: body.environment,
          scopes,
          ipAllowlist: body.ipAllowlist ?? [],
          expiresAt: expiresAt === null ? null : timestamp(expiresAt),
          replacesId: null,
        })
        await audit(client, by, 'api_key.created', made.view.id, null, made.view)
        return { made, mail: await tellManagers(client, by, made.view) }
      })
      mail()
      return made
    },

    async updateApiKey(by, id, body, expected) {
      refuseFields(allowlistErrors(body.ipAllowlist ?? []))
      const { sha256, after } = await inTransaction(database, async (client) => {
        const before = await locked(client, by, id, expected)
        // A key that works from more addresses is as dangerous in the hands of a thief as a new key.
        if (body.ipAllowlist !== undefined && widensAllowlist(before.view.ipAllowlist, body.ipAllowlist))
          await requireProof({ database: through(client), clock }, by, 'api_key.create')
        const sha256 = await rows.renameApiKey(client, id, {
          name: body.name ?? before.view.name,
          ipAllowlist: body.ipAllowlist ?? before.view.ipAllowlist,
        })
        const after = await reread(client, by, id)
        await audit(client, by, 'api_key.updated', id, before.view, after.view)
        return { sha256, after }
      })
      if (sha256 !== null) await changed(sha256)
      return after
    },

    async rotateApiKey(by, id, gracePeriodHours) {
      const { sha256, made, mail } = await inTransaction(database, async (client) => {
        await rows.lockTenantKeys(client, by.tenant.id)
        const old = await locked(client, by, id)
        const { status, name, environment, scopes, ipAllowlist, expiresAt } = old.view
        if (status !== 'active')
          refuse('invalid-transition', 'Only an active key can be rotated.', {
            extra: { currentStatus: status, allowed: [] },
          })
        await checkLive(client, by, environment)
        const made = await insert(client, by, { name, environment, scopes, ipAllowlist, expiresAt, replacesId: id })
        const now = clock.now()
        const sha256 =
          gracePeriodHours === 0
            ? await rows.revokeApiKey(client, id, { by: by.session.userId, now, replacedById: made.view.id })
            : await rows.replaceApiKey(client, id, {
                byId: made.view.id,
                graceEndsAt: now + gracePeriodHours * HOUR_MS,
              })
        await audit(client, by, 'api_key.rotated', id, old.view, (await reread(client, by, id)).view)
        await audit(client, by, 'api_key.created', made.view.id, null, made.view)
        return { sha256, made, mail: await tellManagers(client, by, made.view) }
      })
      mail()
      if (sha256 !== null) await changed(sha256)
      return made
    },

    async revokeApiKey(by, id, expected) {
      const sha256 = await inTransaction(database, async (client) => {
        const before = await locked(client, by, id, expected)
        const sha256 = await rows.revokeApiKey(client, id, { by: by.session.userId, now: clock.now() })
        // Revoking a revoked key succeeds and changes nothing.
        if (sha256 !== null)
          await audit(client, by, 'api_key.revoked', id, before.view, (await reread(client, by, id)).view)
        return sha256
      })
      if (sha256 !== null) await changed(sha256)
    },
  }
}
