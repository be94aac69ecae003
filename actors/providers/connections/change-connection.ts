/** Makes and changes connections to banking partners; each change is one transaction with its trail entry. */
import type { ProviderTargets } from '../../../lib/providers/provider-targets.ts'
import { refuse, refuseTransition, type FieldError } from '../../../lib/base/problems.ts'
import { checkVersion } from '../../../lib/commands/etag.ts'
import type { Caller } from '../../../lib/identity/caller.ts'
import {
  checkConfig,
  checkCredentials,
  currencyFaults,
  descriptionOf,
  environmentFaults,
  secretFaults,
  type Checked,
} from '../../../lib/providers/connection-faults.ts'
import type {
  ProviderConnectionCreate,
  ProviderConnectionUpdate,
  ProviderCredentials,
} from '../../../lib/providers/connection-schema.ts'
import {
  CONNECTIONS_MAX,
  credentialsContext,
  fingerprintOf,
  roleFor,
  statusAfterChange,
  webhookSecretContext,
  type ProviderConnectionRecord,
} from '../../../lib/providers/connection.ts'
import { PROVIDER_DESCRIPTIONS } from '../../../lib/providers/descriptions.ts'
import type { ProviderDescription } from '../../../lib/providers/provider.ts'
import { belongsToOperator } from '../../../storage/customers/customers.ts'
import { through } from '../../../storage/db/transaction.ts'
import {
  insertConnection,
  lockConnections,
  type ConnectionChange,
} from '../../../storage/providers/provider-connections.ts'
import { runChange } from '../../commands/changes.ts'
import type { ConnectionDeps } from './connection-deps.ts'
import { applyChange, changeLocked, recordConnection } from './record-connection.ts'

/** The name of the key that credentials are sealed with: there is one, of the service's `SECRETS_KEY`. */
const SEALING_KEY = 'secrets-key'
const FINGERPRINTS = 'fingerprints of credentials'

/** The addresses that providers may have. */
const targetsOf = ({ config }: ConnectionDeps): ProviderTargets => ({
  policy: config.webhookTargets,
  networks: config.providerNetworks,
})

/**
 * Makes a connection, a `draft`.
 *
 * @throws ProblemError `validation-error`, `limit-reached`
 */
export async function createConnection(
  deps: ConnectionDeps,
  by: Caller<'person'>,
  body: ProviderConnectionCreate,
): Promise<ProviderConnectionRecord> {
  const { provider, name, fallbackCurrencies = [], contractModel = null, customerId = null } = body
  const description = PROVIDER_DESCRIPTIONS[provider]
  const environment = body.environment ?? (deps.sandbox ? 'sandbox' : 'production')
  const config = checkConfig(description, body.config ?? {}, targetsOf(deps))
  const credentials =
    body.credentials === undefined ? null : checkCredentials(description, body.credentials, '/credentials')
  const errors = [
    ...environmentFaults(description, environment, deps.sandbox),
    ...config.errors,
    ...(credentials?.errors ?? []),
    ...currencyFaults(description, fallbackCurrencies),
    ...(body.webhookSecret === undefined ? [] : secretFaults(description, body.webhookSecret, '/webhookSecret')),
  ]
  refuseFaults(errors)
  const operatorId = by.tenant.id
  return await runChange(deps, async (tx) => {
    const { client, ids, now } = tx
    const open = (await lockConnections(client, operatorId)).filter(({ status }) => status !== 'retired')
    if (open.length >= CONNECTIONS_MAX)
      refuse('limit-reached', `An operator has at most ${CONNECTIONS_MAX} connections that are not retired.`, {
        extra: { limit: CONNECTIONS_MAX, resource: 'provider_connection' },
      })
    if (customerId !== null && !(await belongsToOperator(through(client), customerId, operatorId)))
      refuseFaults([{ field: '/customerId', code: 'not_found', message: 'No such customer.' }])
    const id = ids.next()
    const made: ProviderConnectionRecord = {
      ...{ id, operatorId, customerId, provider, environment, name, contractModel },
      role: roleFor(fallbackCurrencies),
      status: 'draft',
      settings: config.value,
      fallbackCurrencies: [...fallbackCurrencies].sort(),
      ...NO_SECRETS,
      ...(credentials === null ? {} : sealedCredentials(deps, id, credentials, now)),
      ...(body.webhookSecret === undefined ? {} : sealedSecret(deps, id, body.webhookSecret, now)),
      webhookRegistration: 'pending',
      ...{ verifiedAt: null, activatedAt: null, drainingAt: null, retiredAt: null, migration: null },
      ...{ health: 'healthy', version: 1, createdAt: now, updatedBy: by.session.userId, updatedAt: now },
    }
    await insertConnection(client, made, { exchanges: description.capabilities.fx })
    await recordConnection(tx, by, 'created', null, made)
    return made
  })
}

const NO_SECRETS = {
  credentials: null,
  credentialsKid: null,
  credentialsFingerprint: null,
  credentialsUpdatedAt: null,
  webhookSecret: null,
  webhookSecretUpdatedAt: null,
} as const

/** The members of a connection whose secrets are destroyed. */
export const WITHOUT_SECRETS: ConnectionChange = NO_SECRETS

/**
 * Changes a connection; absent members stay as they are. Another configuration has to be verified, unless the connection
 * works already.
 *
 * @throws ProblemError `not-found`, `precondition-failed`, `validation-error`, `invalid-transition`
 */
export async function updateConnection(
  deps: ConnectionDeps,
  by: Caller<'person'>,
  id: string,
  { name, config, fallbackCurrencies, contractModel }: ProviderConnectionUpdate,
  expected: number | bigint | null,
): Promise<ProviderConnectionRecord> {
  return await changeLocked(deps, by, id, async (tx, { before }) => {
    checkVersion(before, expected)
    const description = changeable(before)
    const settings = config === undefined ? null : checkConfig(description, config, targetsOf(deps))
    const currencies = fallbackCurrencies ?? before.fallbackCurrencies
    refuseFaults([
      ...(settings?.errors ?? []),
      ...currencyFaults(description, currencies),
      ...(isWorking(before) && roleFor(currencies) !== before.role
        ? ([
            {
              field: '/fallbackCurrencies',
              code: 'invalid_value',
              message: `The connection is ${before.status} as ${before.role} and stays so.`,
            },
          ] satisfies FieldError[])
        : []),
    ])
    return await applyChange(tx, by, 'updated', before, {
      ...(name === undefined ? {} : { name }),
      ...(settings === null ? {} : { settings: settings.value, status: statusAfterChange(before.status) }),
      fallbackCurrencies: [...currencies].sort(),
      role: roleFor(currencies),
      ...(contractModel === undefined ? {} : { contractModel }),
    })
  })
}

const isWorking = ({ status }: ProviderConnectionRecord): boolean => status === 'active' || status === 'draining'

/** The description of the provider of a connection that may change. @throws ProblemError `invalid-transition` */
function changeable({ provider, status }: ProviderConnectionRecord): ProviderDescription {
  const open = ['draft', 'verified', 'failed', 'active', 'draining']
  if (status === 'retired') refuseTransition('The connection is retired.', status, open)
  return descriptionOf(provider) ?? refuseTransition(`There is no adapter for ${provider} here.`, status, [])
}

/**
 * Replaces the credentials of a connection. One that works goes on with them; any other has to be verified again.
 *
 * @throws ProblemError `not-found`, `validation-error`, `invalid-transition`
 */
export async function setCredentials(
  deps: ConnectionDeps,
  by: Caller<'person'>,
  id: string,
  body: ProviderCredentials,
): Promise<void> {
  await changeLocked(deps, by, id, async (tx, { before }) => {
    const credentials = checkCredentials(changeable(before), body, '')
    refuseFaults(credentials.errors)
    return await applyChange(tx, by, 'credentials_set', before, {
      ...sealedCredentials(deps, id, credentials, tx.now),
      status: statusAfterChange(before.status),
    })
  })
}

/**
 * Replaces the secret of a connection's webhooks.
 *
 * @throws ProblemError `not-found`, `validation-error`, `invalid-transition`
 */
export async function setWebhookSecret(
  deps: ConnectionDeps,
  by: Caller<'person'>,
  id: string,
  secret: string,
): Promise<void> {
  await changeLocked(deps, by, id, async (tx, { before }) => {
    refuseFaults(secretFaults(changeable(before), secret, '/secret'))
    return await applyChange(tx, by, 'webhook_secret_set', before, {
      ...sealedSecret(deps, id, secret, tx.now),
      webhookRegistration: 'pending',
    })
  })
}

function sealedCredentials(
  { secrets }: Pick<ConnectionDeps, 'secrets'>,
  id: string,
  { value }: Checked,
  now: number,
): Pick<
  ProviderConnectionRecord,
  'credentials' | 'credentialsKid' | 'credentialsFingerprint' | 'credentialsUpdatedAt'
> {
  return {
    credentials: secrets.seal(JSON.stringify(value), credentialsContext(id)),
    credentialsKid: SEALING_KEY,
    credentialsFingerprint: fingerprintOf(secrets.derive(FINGERPRINTS, 32), id, value),
    credentialsUpdatedAt: now,
  }
}

const sealedSecret = (
  { secrets }: Pick<ConnectionDeps, 'secrets'>,
  id: string,
  secret: string,
  now: number,
): Pick<ProviderConnectionRecord, 'webhookSecret' | 'webhookSecretUpdatedAt'> => ({
  webhookSecret: secrets.seal(secret, webhookSecretContext(id)),
  webhookSecretUpdatedAt: now,
})

function refuseFaults(errors: readonly FieldError[]): void {
  if (errors.length > 0) refuse('validation-error', errors[0]!.message, { errors })
}
