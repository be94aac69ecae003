/** Connections of an operator to KYC providers. */
import { PAGE_LIMIT_MAX, PageOf } from '../../lib/contract/page.ts'
import { KycConnection, KycConnectionCreate, KycConnectionUpdate } from '../../lib/kyc/kyc-connection-schema.ts'
import { created, json, resource } from '../route/answer.ts'
import { route, type CurrentContext } from '../route/route.ts'
import type { ReadServices } from '../route/services.ts'

const STAFF = {
  tag: 'providers',
  callers: 'staff',
  capability: 'providers.manage',
  scope: null,
  tenant: 'operator',
  idempotency: 'none',
} as const
const current = async ({ tenant, params }: CurrentContext<'/kyc-connections/{connectionId}'>, { kyc }: ReadServices) =>
  tenant === null ? null : await kyc.connection(tenant.id, params.connectionId)

export const listKycConnections = route({
  ...STAFF,
  method: 'get',
  path: '/kyc-connections',
  operationId: 'listKycConnections',
  summary: 'List the connections to KYC providers',
  success: {
    status: 200,
    description: 'All connections, oldest first.',
    schema: PageOf('KycConnectionPage', KycConnection),
  },
  problems: [],
  handle: async ({ tenant }, { kyc }) =>
    json(200, {
      data: await kyc.connections(tenant.id),
      page: { nextCursor: null, prevCursor: null, limit: PAGE_LIMIT_MAX },
    }),
})

export const createKycConnection = route({
  ...STAFF,
  method: 'post',
  path: '/kyc-connections',
  operationId: 'createKycConnection',
  summary: 'Connect a KYC provider',
  description: 'The connection is a `draft`. Keys and secrets are stored encrypted, and no answer shows them.',
  body: KycConnectionCreate,
  success: { status: 201, description: 'The connection.', schema: KycConnection, etag: true, location: true },
  problems: ['limit-reached'],
  handle: async ({ caller, body }, { kyc }) => {
    const connection = await kyc.createConnection(caller, body)
    return created(connection, `/v1/kyc-connections/${connection.view.id}`)
  },
})

export const getKycConnection = route({
  ...STAFF,
  method: 'get',
  path: '/kyc-connections/{connectionId}',
  operationId: 'getKycConnection',
  summary: 'Read a connection to a KYC provider',
  success: { status: 200, description: 'The connection.', schema: KycConnection, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { kyc }) => resource(await kyc.connection(tenant.id, params.connectionId)),
})

export const updateKycConnection = route({
  ...STAFF,
  method: 'patch',
  path: '/kyc-connections/{connectionId}',
  operationId: 'updateKycConnection',
  summary: 'Change a connection to a KYC provider',
  description:
    'Members that are left out stay unchanged. With new keys a connection that is not active is a `draft` again. ' +
    '`active` lets a verified connection review the customers of the operator from their next submission on.',
  ifMatch: true,
  current,
  body: KycConnectionUpdate,
  success: { status: 200, description: 'The connection after the change.', schema: KycConnection, etag: true },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, body, expectedVersion }, { kyc }) =>
    resource(await kyc.updateConnection(caller, params.connectionId, body, expectedVersion)),
})

export const verifyKycConnection = route({
  ...STAFF,
  method: 'post',
  path: '/kyc-connections/{connectionId}/verify',
  operationId: 'verifyKycConnection',
  summary: 'Try the keys of a connection',
  description:
    'Calls the provider. Afterwards the connection is `verified`, or `failed` with the reason in `lastVerification`; ' +
    'an active one stays active.',
  success: { status: 200, description: 'The connection after the trial.', schema: KycConnection, etag: true },
  problems: ['precondition-failed'],
  handle: async ({ caller, params }, { kyc }) => resource(await kyc.verifyConnection(caller, params.connectionId)),
})
