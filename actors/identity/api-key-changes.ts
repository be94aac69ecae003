/** The steps that changes of API keys share: lock a key, make one, write its trail entry and its notices. */
import type { AuditAction } from '../../lib/base/audit-actions.ts'
import { generateApiKey } from '../../lib/identity/api-key.ts'
import { rolesWith } from '../../lib/identity/capabilities.ts'
import { isAllowlistEntry } from '../../lib/security/ip-allowlist.ts'
import { refuse, refuseNotFound, type FieldError } from '../../lib/base/problems.ts'
import * as rows from '../../storage/identity/identity-api-keys.ts'
import { insertNotices, peopleInRoles } from '../../storage/notices/notices.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import type { MadeApiKey } from './identity.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { IdentityDeps } from './identity-deps.ts'
import { auditCaller } from '../commands/trail.ts'
import { recordChange, type ChangeTransaction } from '../commands/changes.ts'
import type { ApiKeyView } from '../../lib/identity/api-key-schema.ts'
import { checkVersion } from '../../lib/commands/etag.ts'

/** The dependencies of the commands of API keys. */
export interface ApiKeyDeps extends IdentityDeps {
  /** Resolves when the nodes have dropped the key with this hash from their caches. */
  readonly changed: (sha256: string) => Promise<void>
}

/** The roles that are told of a new key: the roles that may create keys. */
const KEY_MANAGERS = [...rolesWith('api_keys.manage'), ...rolesWith('integration.manage')]

/** The part of a key that the trail keeps. */
function state({ name, environment, prefix, scopes, ipAllowlist, status, expiresAt, graceEndsAt }: ApiKeyView): object {
  return { name, environment, prefix, scopes, ipAllowlist, status, expiresAt, graceEndsAt }
}

/** Refuses a body with these errors, if there are any. @throws ProblemError `validation-error` */
export function refuseFields(errors: readonly FieldError[]): void {
  if (errors.length > 0) refuse('validation-error', 'Some fields of the body are not valid.', { errors })
}

/** Returns the errors of the entries of an address list. */
export function checkAllowlist(entries: readonly string[]): FieldError[] {
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

/** Writes a change of a key into the trail. */
export async function recordKeyChange(
  tx: ChangeTransaction,
  by: Caller<'person'>,
  action: AuditAction<'api_key'>,
  id: string,
  before: ApiKeyView | null,
  after: ApiKeyView | null,
): Promise<void> {
  await recordChange(tx, auditCaller(by), by.tenant.id, {
    action,
    object: { type: 'api_key', id },
    before: before === null ? null : state(before),
    after: after === null ? null : state(after),
  })
}

/** Locks the tenant's key until the transaction ends. @throws ProblemError `not-found`, `precondition-failed` */
export async function lockKey(
  { client, now }: ChangeTransaction,
  by: Caller<'person'>,
  id: string,
  expected: number | bigint | null = null,
): Promise<rows.StoredApiKey> {
  const found = (await rows.lockApiKey(client, by.tenant.id, id, now)) ?? refuseNotFound()
  checkVersion(found, expected)
  return found
}

/** Reads a key again after its change. */
export async function rereadKey(
  { client, now }: ChangeTransaction,
  by: Caller<'person'>,
  id: string,
): Promise<rows.StoredApiKey> {
  const found = await rows.lockApiKey(client, by.tenant.id, id, now)
  if (found === null) throw new Error(`The key ${id} has vanished.`)
  return found
}

/** Makes a key with a new text, which the answer alone has. */
export async function insertKey(
  { random }: IdentityDeps,
  tx: ChangeTransaction,
  by: Caller<'person'>,
  key: Pick<rows.NewApiKeyRow, 'name' | 'environment' | 'scopes' | 'ipAllowlist' | 'expiresAt' | 'replacesId'>,
): Promise<MadeApiKey> {
  const { client, ids, now } = tx
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
    now,
  })
  return { ...(await rereadKey(tx, by, id)), secret }
}

/** Tells the people who manage keys of a new key, because a thief would create a key first. */
export async function tellManagers(
  { client, ids, now }: ChangeTransaction,
  by: Caller<'person'>,
  { id, name, prefix, environment }: ApiKeyView,
): Promise<void> {
  const title = `A ${environment} API key was created`
  const text = `${by.session.name} created the API key ${name} (${prefix}…). If nobody should have, revoke it.`
  const managers = await peopleInRoles(client, by.tenant.id, KEY_MANAGERS)
  await insertNotices(
    client,
    ids,
    managers,
    { tenantId: by.tenant.id, type: 'api_key_created', title, text, object: { type: 'api_key', id } },
    now,
  )
}

/**
 * Refuses live keys until the customer is active, because live keys move real money.
 *
 * @throws ProblemError `customer-not-active`
 */
export async function checkLive(
  client: TransactionClient,
  by: Caller<'person'>,
  environment: 'live' | 'test',
): Promise<void> {
  if (environment !== 'live' || by.tenant.kind !== 'customer') return
  const status = await rows.customerStatus(client, by.tenant.id)
  if (status !== 'active')
    refuse('customer-not-active', 'Live keys need an approved customer.', { extra: { customerStatus: status } })
}
