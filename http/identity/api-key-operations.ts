/**
 * The operations on API keys. A customer's owners and administrators use them for their customer, an operator's staff
 * for the operator itself. Both have the same operations under two addresses, so they are declared once.
 */
import { created, empty, page, resource } from '../route/answer.ts'
import { route, type Route } from '../route/route.ts'
import {
  ApiKey,
  ApiKeyCreate,
  apiKeyList,
  ApiKeyRotate,
  ApiKeyUpdate,
  NewApiKey,
} from '../../lib/identity/api-key-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'

const GRACE_HOURS = 24

interface Family {
  readonly base: '/api-keys' | '/operator/api-keys'
  readonly callers: 'session' | 'staff'
  readonly capability: 'api_keys.manage' | 'integration.manage'
  readonly tenant: 'customer' | 'operator'
  /** Builds an operation id from the verb, around the name of the key. */
  readonly id: (verb: string, plural?: string) => string
  readonly whose: string
}

/** Declares all operations on API keys for one address. */
export const apiKeyOperations = (family: Family): Route[] => [...collectionOperations(family), ...keyOperations(family)]

const SHARED = { tag: 'public-api', scope: null, idempotency: 'none' } as const

/** Declares the operations on the keys of a tenant: list and create. */
function collectionOperations({ base, id, whose, ...who }: Family): Route[] {
  const shared = { ...who, ...SHARED }
  return [
    route({
      ...shared,
      method: 'get',
      path: base,
      operationId: id('list', 's'),
      summary: `List the API keys of ${whose}`,
      list: apiKeyList,
      success: {
        status: 200,
        description: 'A page of keys, without their secrets.',
        schema: PageOf('ApiKeyPage', ApiKey),
        etag: true,
      },
      problems: [],
      handle: async ({ list }, { identity }) => page(list, await identity.listApiKeys(list)),
    }),
    route({
      ...shared,
      method: 'post',
      path: base,
      operationId: id('create'),
      summary: `Create an API key of ${whose}`,
      description:
        'The key is in this answer and never shown again. It can have only the scopes that its creator has. ' +
        'Live keys need an active customer; a tenant has at most 50 active keys.',
      stepUp: { action: 'api_key.create' },
      body: ApiKeyCreate,
      answersCredential: true,
      success: { status: 201, description: 'The key with its secret.', schema: NewApiKey, etag: true, location: true },
      problems: ['customer-not-active', 'limit-reached'],
      handle: async ({ caller, body }, { identity }) => {
        const made = await identity.createApiKey(caller, body)
        return created(made, `/v1${base}/${made.view.id}`, { secret: made.secret })
      },
    }),
  ]
}

/** Declares the operations on one key: read, change, replace and revoke. */
function keyOperations({ base, id, whose, ...who }: Family): Route[] {
  const one = `${base}/{apiKeyId}` as const
  const shared = { ...who, ...SHARED }
  return [
    route({
      ...shared,
      method: 'get',
      path: one,
      operationId: id('get'),
      summary: `Read an API key of ${whose}`,
      success: { status: 200, description: 'The key, without its secret.', schema: ApiKey, etag: true },
      problems: [],
      handle: async ({ tenant, params }, { identity }) => resource(await identity.getApiKey(tenant, params.apiKeyId)),
    }),
    route({
      ...shared,
      method: 'patch',
      path: one,
      operationId: id('update'),
      summary: `Change the name or the allowed addresses of an API key of ${whose}`,
      ...(base === '/operator/api-keys'
        ? { stepUp: { action: 'api_key.create' } as const }
        : {
            description:
              'A signed-in person needs a step-up for a list that allows an address which the previous list ' +
              'did not. An empty list allows every address.',
            stepUp: { action: 'api_key.create', byBody: true } as const,
          }),
      ifMatch: true,
      current: async ({ tenant, params }, { identity }) =>
        tenant === null ? null : await identity.getApiKey(tenant, params.apiKeyId),
      body: ApiKeyUpdate,
      success: { status: 200, description: 'The key as it is now.', schema: ApiKey, etag: true },
      problems: [],
      handle: async ({ caller, params, body, expectedVersion }, { identity }) =>
        resource(await identity.updateApiKey(caller, params.apiKeyId, body, expectedVersion)),
    }),
    route({
      ...shared,
      method: 'post',
      path: `${one}/rotate`,
      operationId: id('rotate'),
      summary: `Replace an API key of ${whose}`,
      description:
        'The new key has the settings of the old key. The old key works until its grace period ends, by ' +
        'default 24 hours.',
      stepUp: { action: 'api_key.create', subject: 'apiKeyId' },
      body: ApiKeyRotate,
      bodyOptional: true,
      answersCredential: true,
      success: {
        status: 201,
        description: 'The new key with its secret.',
        schema: NewApiKey,
        etag: true,
        location: true,
      },
      problems: ['invalid-transition', 'customer-not-active'],
      handle: async ({ caller, params, body }, { identity }) => {
        const made = await identity.rotateApiKey(caller, params.apiKeyId, body.gracePeriodHours ?? GRACE_HOURS)
        return created(made, `/v1${base}/${made.view.id}`, { secret: made.secret })
      },
    }),
    route({
      ...shared,
      method: 'delete',
      path: one,
      operationId: id('revoke'),
      summary: `Revoke an API key of ${whose} at once`,
      stepUp: { action: 'api_key.revoke', subject: 'apiKeyId' },
      // If-Match is optional, so that revoking a key never waits for a fresh copy of it.
      ifMatch: 'when sent',
      current: async ({ tenant, params }, { identity }) =>
        tenant === null ? null : await identity.getApiKey(tenant, params.apiKeyId),
      success: { status: 204, description: 'The key no longer works, on any node.' },
      problems: [],
      handle: async ({ caller, params, expectedVersion }, { identity }) => {
        await identity.revokeApiKey(caller, params.apiKeyId, expectedVersion)
        return empty()
      },
    }),
  ]
}
