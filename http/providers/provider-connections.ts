/** Connections of an operator to banking partners. */
import type { Tenant } from '../../lib/commands/caller.ts'
import { PageOf } from '../../lib/contract/page.ts'
import {
  CashConfirmation,
  ConnectionMigration,
  ConnectionMigrationCreate,
  ProviderConnection,
  ProviderConnectionCreate,
  providerConnectionList,
  ProviderConnectionUpdate,
  ProviderCredentials,
  ProviderWebhookSecret,
} from '../../lib/providers/connection-schema.ts'
import { created, empty, json, page, resource } from '../route/answer.ts'
import { route, type CurrentContext } from '../route/route.ts'
import type { ReadServices } from '../route/services.ts'

const READ = {
  tag: 'providers',
  method: 'get',
  callers: 'key',
  scope: 'integration:read',
  tenant: 'operator',
  idempotency: 'none',
  problems: [],
} as const
const STAFF = {
  tag: 'providers',
  callers: 'staff',
  capability: 'providers.manage',
  scope: null,
  tenant: 'operator',
  idempotency: 'none',
} as const
const STEP_UP = { action: 'provider_connection.change' } as const

const current = async (
  { tenant, params }: CurrentContext<'/provider-connections/{connectionId}'>,
  { providerConnections }: ReadServices,
) => (tenant === null ? null : await providerConnections.get(tenant.id, params.connectionId))
const exists = async (
  tenant: Tenant,
  { connectionId }: { readonly connectionId: string },
  { providerConnections }: ReadServices,
) => (await providerConnections.get(tenant.id, connectionId)) !== null

/** A change of the life of a connection. */
const MOVE = {
  ...STAFF,
  method: 'post',
  exists,
  success: { status: 200, description: 'The connection as it is now.', schema: ProviderConnection, etag: true },
} as const

export const listProviderConnections = route({
  ...READ,
  path: '/provider-connections',
  operationId: 'listProviderConnections',
  summary: 'List the connections to banking partners',
  list: providerConnectionList,
  success: {
    status: 200,
    description: 'A page of connections.',
    schema: PageOf('ProviderConnectionPage', ProviderConnection),
    etag: true,
  },
  handle: async ({ list }, { providerConnections }) => page(list, await providerConnections.list(list)),
})

export const getProviderConnection = route({
  ...READ,
  path: '/provider-connections/{connectionId}',
  operationId: 'getProviderConnection',
  summary: 'Read a connection to a banking partner',
  success: { status: 200, description: 'The connection.', schema: ProviderConnection, etag: true },
  handle: async ({ tenant, params }, { providerConnections }) =>
    resource(await providerConnections.get(tenant.id, params.connectionId)),
})

export const createProviderConnection = route({
  ...STAFF,
  method: 'post',
  path: '/provider-connections',
  operationId: 'createProviderConnection',
  summary: 'Connect a banking partner',
  description:
    'The connection is a `draft`: set its credentials, verify it, then activate it. With `fallbackCurrencies` it is a ' +
    'fallback for these currencies. Credentials and secrets are stored encrypted, and no answer shows them.',
  stepUp: STEP_UP,
  body: ProviderConnectionCreate,
  success: { status: 201, description: 'The connection.', schema: ProviderConnection, etag: true, location: true },
  problems: ['limit-reached'],
  handle: async ({ caller, body }, { providerConnections }) => {
    const connection = await providerConnections.create(caller, body)
    return created(connection, `/v1/provider-connections/${connection.view.id}`)
  },
})

export const updateProviderConnection = route({
  ...STAFF,
  method: 'patch',
  path: '/provider-connections/{connectionId}',
  operationId: 'updateProviderConnection',
  summary: 'Change a connection to a banking partner',
  description:
    'Members that are left out stay unchanged; `config` is replaced as a whole, after which a connection that is not ' +
    'in use has to be verified again.',
  ifMatch: true,
  ifMatchesVersion: true,
  current,
  body: ProviderConnectionUpdate,
  success: { status: 200, description: 'The connection after the change.', schema: ProviderConnection, etag: true },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, body, expectedVersion }, { providerConnections }) =>
    resource(await providerConnections.update(caller, params.connectionId, body, expectedVersion)),
})

export const deleteProviderConnection = route({
  ...STAFF,
  method: 'delete',
  path: '/provider-connections/{connectionId}',
  operationId: 'deleteProviderConnection',
  summary: 'Delete a connection that was never active',
  description: 'The connection is `retired` and its secrets are destroyed.',
  ifMatch: true,
  ifMatchesVersion: true,
  current,
  success: { status: 204, description: 'The connection is retired.' },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, expectedVersion }, { providerConnections }) => {
    await providerConnections.delete(caller, params.connectionId, expectedVersion)
    return empty()
  },
})

export const setProviderCredentials = route({
  ...STAFF,
  method: 'put',
  path: '/provider-connections/{connectionId}/credentials',
  operationId: 'setProviderCredentials',
  summary: 'Set the credentials of a connection',
  description:
    'Replaces all of them. A connection that is not in use is a `draft` again; one that is in use goes on with them.',
  stepUp: STEP_UP,
  exists,
  body: ProviderCredentials,
  success: { status: 204, description: 'The credentials are stored.' },
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params, body }, { providerConnections }) => {
    await providerConnections.setCredentials(caller, params.connectionId, body)
    return empty()
  },
})

export const setProviderWebhookSecret = route({
  ...STAFF,
  method: 'put',
  path: '/provider-connections/{connectionId}/webhook-secret',
  operationId: 'setProviderWebhookSecret',
  summary: 'Set the secret of a connection’s webhooks',
  stepUp: STEP_UP,
  exists,
  body: ProviderWebhookSecret,
  success: { status: 204, description: 'The secret is stored.' },
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params, body }, { providerConnections }) => {
    await providerConnections.setWebhookSecret(caller, params.connectionId, body.secret)
    return empty()
  },
})

export const verifyProviderConnection = route({
  ...MOVE,
  path: '/provider-connections/{connectionId}/verify',
  operationId: 'verifyProviderConnection',
  summary: 'Verify a connection by a live probe',
  description:
    'Calls the partner. A connection that is not in use is then `verified`, or `failed` with the reason in ' +
    '`lastHealth`; of one in use only the health changes.',
  problems: ['not-found', 'invalid-transition', 'precondition-failed'],
  handle: async ({ caller, params }, { providerConnections }) =>
    resource(await providerConnections.verify(caller, params.connectionId)),
})

export const checkProviderConnectionHealth = route({
  ...MOVE,
  path: '/provider-connections/{connectionId}/health-check',
  operationId: 'checkProviderConnectionHealth',
  summary: 'Probe a connection',
  description: 'Calls the partner and records `lastHealth`; a probe that succeeds ends a pause. The status stays.',
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params }, { providerConnections }) =>
    resource(await providerConnections.checkHealth(caller, params.connectionId)),
})

export const activateProviderConnection = route({
  ...MOVE,
  path: '/provider-connections/{connectionId}/activate',
  operationId: 'activateProviderConnection',
  summary: 'Put a verified connection to work',
  description: 'The primary that was active for the same environment and customer drains from then on.',
  stepUp: STEP_UP,
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params }, { providerConnections }) =>
    resource(await providerConnections.activate(caller, params.connectionId)),
})

export const drainProviderConnection = route({
  ...MOVE,
  path: '/provider-connections/{connectionId}/drain',
  operationId: 'drainProviderConnection',
  summary: 'Give a connection no new work',
  description: 'What is in flight finishes. Balances stay until they are migrated.',
  stepUp: STEP_UP,
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params }, { providerConnections }) =>
    resource(await providerConnections.drain(caller, params.connectionId)),
})

export const retireProviderConnection = route({
  ...MOVE,
  path: '/provider-connections/{connectionId}/retire',
  operationId: 'retireProviderConnection',
  summary: 'Retire a connection',
  description:
    'A draining connection retires when nothing is in flight and every balance has moved. Its secrets are destroyed, ' +
    'and accounts that its partner keeps for balances are closed.',
  stepUp: STEP_UP,
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params }, { providerConnections }) =>
    resource(await providerConnections.retire(caller, params.connectionId)),
})

export const confirmProviderCash = route({
  ...MOVE,
  path: '/provider-connections/{connectionId}/cash-confirmations',
  operationId: 'confirmProviderCash',
  summary: 'Confirm cash that was moved between two connections',
  description:
    'Ends one sum of `cashToMove` where no statement of the bank shows it: staff have moved it, and name where the bank ' +
    'shows it. The amount is that of the sum. The ledger stays as it is: it moved the cash with the money of customers.',
  stepUp: STEP_UP,
  body: CashConfirmation,
  problems: ['not-found'],
  handle: async ({ caller, params, body }, { providerConnections }) =>
    resource(await providerConnections.confirmCash(caller, params.connectionId, body)),
})

export const migrateProviderConnection = route({
  ...STAFF,
  method: 'post',
  path: '/provider-connections/{connectionId}/migrate',
  operationId: 'migrateProviderConnection',
  summary: 'Migrate the balances of a draining connection',
  description:
    'Two people ask for it: the first request is kept, the same request of another person starts the job, which moves ' +
    'each balance of which nothing is under way and waits for the others. Customers with account details hear of the ' +
    'new ones by `balance.details_changed` with the status `provider_switch`.',
  exists,
  body: ConnectionMigrationCreate,
  success: {
    status: 202,
    description: 'The migration, with its job when two people agree.',
    schema: ConnectionMigration,
  },
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params, body }, { providerConnections }) =>
    json(202, await providerConnections.migrate(caller, params.connectionId, body.toConnectionId ?? null)),
})
