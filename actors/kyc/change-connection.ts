/** Makes and changes connections to KYC providers; each change is one transaction with its trail entry. */
import { checkVersion } from '../../lib/commands/etag.ts'
import type { AuditVerb } from '../../lib/base/audit-actions.ts'
import { refuse, refuseNotFound, refuseTransition, type FieldError } from '../../lib/base/problems.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { KYC_ADAPTERS } from '../../lib/kyc/adapters.ts'
import {
  credentialsContext,
  statusAfterKeys,
  webhookSecretContext,
  type KycConnection,
  type KycConnectionStatus,
} from '../../lib/kyc/connection.ts'
import type { KycConnectionCreate, KycConnectionUpdate } from '../../lib/kyc/kyc-connection-schema.ts'
import type { KycProviderId } from '../../lib/onboarding/case-words.ts'
import { changeKycConnection, insertKycConnection, lockKycConnections } from '../../storage/kyc/kyc-connections.ts'
import { runChange, type ChangeTransaction } from '../commands/changes.ts'
import { recordStatus, type RecordedConnection } from '../providers/connections/record-status.ts'
import { connectionFacts } from './connection-view.ts'
import type { KycDeps } from './kyc-deps.ts'

/** Connections of one operator. */
const CONNECTIONS_MAX = 20

type Writes = Pick<KycConnectionUpdate, 'levels' | 'credentials' | 'webhookSecret'>

/**
 * Makes a connection.
 *
 * @throws ProblemError `validation-error`, `limit-reached`
 */
export async function createConnection(
  deps: KycDeps,
  by: Caller<'person'>,
  { provider, name, ...writes }: KycConnectionCreate,
): Promise<KycConnection> {
  const errors = faultsOf(provider, writes)
  if (provider === 'sandbox' && !deps.sandbox)
    errors.push({ field: '/provider', code: 'not_applicable', message: 'There is no sandbox here.' })
  refuseFaults(errors)
  const operatorId = by.tenant.id
  return await runChange(deps, async (tx) => {
    const { client, ids, now } = tx
    if ((await lockKycConnections(client, operatorId)).length >= CONNECTIONS_MAX)
      refuse('limit-reached', `An operator has at most ${CONNECTIONS_MAX} connections.`, {
        extra: { limit: CONNECTIONS_MAX, resource: 'kyc_connection' },
      })
    const id = ids.next()
    const made: KycConnection = {
      id,
      operatorId,
      provider,
      name,
      status: 'draft',
      levels: { person: null, company: null },
      credentials: null,
      credentialsUpdatedAt: null,
      webhookSecret: null,
      webhookSecretUpdatedAt: null,
      probe: null,
      verifiedAt: null,
      activatedAt: null,
      version: 1,
      createdAt: now,
      updatedBy: by.session.userId,
      updatedAt: now,
    }
    const record = { ...made, ...written(deps, made, writes, now) }
    await insertKycConnection(client, record)
    await recordConnection(tx, by, 'created', null, record)
    return record
  })
}

/**
 * Changes a connection; absent members stay as they are.
 *
 * @throws ProblemError `not-found`, `precondition-failed`, `validation-error`, and `invalid-transition` when a connection
 *   is to be active whose keys have not been verified
 */
export async function updateConnection(
  deps: KycDeps,
  by: Caller<'person'>,
  id: string,
  { name, active, ...writes }: KycConnectionUpdate,
  expected: number | bigint | null,
): Promise<KycConnection> {
  const operatorId = by.tenant.id
  return await runChange(deps, async (tx) => {
    const { client, now } = tx
    const all = await lockKycConnections(client, operatorId)
    const before = all.find((each) => each.id === id.toLowerCase()) ?? refuseNotFound()
    checkVersion(before, expected)
    refuseFaults(faultsOf(before.provider, writes))
    const change = written(deps, before, writes, now)
    const status = statusFor(change.status ?? before.status, active)
    if (status === 'active' && before.status !== 'active') {
      const other = all.find((each) => each.status === 'active')
      if (other !== undefined) await moveStatus(tx, by, other, 'verified')
    }
    const after = await changeKycConnection(client, before, {
      ...change,
      name: name ?? before.name,
      status,
      ...(status === 'active' && before.status !== 'active' ? { activatedAt: now } : {}),
      updatedBy: by.session.userId,
      updatedAt: now,
    })
    await recordConnection(tx, by, 'updated', before, after)
    return after
  })
}

function statusFor(status: KycConnectionStatus, active: boolean | undefined): KycConnectionStatus {
  if (active === undefined || active === (status === 'active')) return status
  if (!active) return 'verified'
  if (status !== 'verified') refuseTransition(`The connection is ${status}.`, status, ['verified'])
  return 'active'
}

/** Moves a locked connection to a status, with its entry in the trail and its event. */
export async function moveStatus(
  tx: ChangeTransaction,
  by: Caller<'person'>,
  before: KycConnection,
  status: KycConnectionStatus,
): Promise<void> {
  const change = { status, updatedBy: by.session.userId, updatedAt: tx.now }
  await recordConnection(tx, by, 'updated', before, await changeKycConnection(tx.client, before, change))
}

/** Writes a change into the trail, and tells the operator of a new status. */
export async function recordConnection(
  tx: ChangeTransaction,
  by: Caller<'person'>,
  verb: AuditVerb<'kyc_connection'>,
  before: KycConnection | null,
  after: KycConnection,
): Promise<void> {
  await recordStatus(
    tx,
    by,
    { kind: 'kyc_connection', action: `kyc_connection.${verb}` },
    before === null ? null : recorded(before),
    recorded(after),
  )
}

const recorded = (connection: KycConnection): RecordedConnection => ({
  ...connection,
  facts: connectionFacts(connection),
})

/** Finds what is wrong with the secrets and levels of a body, for a provider. */
function faultsOf(provider: KycProviderId, { levels, credentials, webhookSecret }: Writes): FieldError[] {
  const { credentials: keys, hasLevels, webhooks } = KYC_ADAPTERS[provider]
  const errors: FieldError[] = []
  const none = (field: string, what: string) =>
    errors.push({ field, code: 'not_applicable', message: `${provider} has no ${what}.` })
  if (credentials !== undefined && keys.length === 0) none('/credentials', 'keys')
  if (levels !== undefined && !hasLevels) none('/levels', 'levels')
  if (webhookSecret === undefined) return errors
  if (webhooks === null) none('/webhookSecret', 'webhooks')
  const fault = webhooks?.secretFault(webhookSecret) ?? null
  if (fault !== null) errors.push({ field: '/webhookSecret', code: 'invalid_format', message: fault })
  return errors
}

function refuseFaults(errors: readonly FieldError[]): void {
  if (errors.length > 0) refuse('validation-error', errors[0]!.message, { errors })
}

/** The members of a connection that a body writes, its secrets sealed. */
function written(
  { secrets }: Pick<KycDeps, 'secrets'>,
  { id, status, levels }: KycConnection,
  writes: Writes,
  now: number,
): Partial<Omit<KycConnection, 'id' | 'operatorId' | 'provider' | 'version' | 'createdAt'>> {
  const { credentials, webhookSecret } = writes
  return {
    levels: {
      person: writes.levels?.person === undefined ? levels.person : writes.levels.person,
      company: writes.levels?.company === undefined ? levels.company : writes.levels.company,
    },
    ...(credentials === undefined
      ? {}
      : {
          credentials: secrets.seal(JSON.stringify(credentials), credentialsContext(id)),
          credentialsUpdatedAt: now,
          status: statusAfterKeys(status),
        }),
    ...(webhookSecret === undefined
      ? {}
      : { webhookSecret: secrets.seal(webhookSecret, webhookSecretContext(id)), webhookSecretUpdatedAt: now }),
  }
}
