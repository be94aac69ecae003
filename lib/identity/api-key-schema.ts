/** API keys as the people who manage them see them. */
import Type, { type Static } from 'typebox'
import { CUSTOMER_SCOPES, OPERATOR_SCOPES } from './api-key.ts'
import { IP_ALLOWLIST_MAX } from '../security/ip-allowlist.ts'
import { list } from '../contract/list.ts'
import { Nullable, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'

const STATUSES = ['active', 'rotating', 'expired', 'revoked'] as const
const ENVIRONMENTS = ['live', 'test'] as const
const SCOPES = [...new Set([...CUSTOMER_SCOPES, ...OPERATOR_SCOPES])]

const Environment = Words('ApiKeyEnvironment', ENVIRONMENTS)
const Name = Text(1, 80)
const IpAllowlist = Type.Array(Type.String({ minLength: 2, maxLength: 49 }), {
  maxItems: IP_ALLOWLIST_MAX,
  description: 'Addresses and CIDR blocks that may use the key; an empty list allows every address.',
  examples: [['192.0.2.7', '2001:db8::/32']],
})

const key = {
  id: Uuid,
  tenantId: Uuid,
  level: Words('ApiKeyLevel', ['customer', 'operator']),
  name: Name,
  environment: Environment,
  prefix: Type.String({ description: 'The first 17 characters of the key.', examples: ['svc_test_4fT9aZx0'] }),
  scopes: Type.Array(Type.String()),
  ipAllowlist: Type.Array(Type.String()),
  status: Words('ApiKeyStatus', STATUSES, '`rotating`: the key was replaced and still works until `graceEndsAt`.'),
  expiresAt: Nullable(Timestamp),
  graceEndsAt: Nullable(Timestamp),
  replacedById: Nullable(Uuid),
  replacesId: Nullable(Uuid),
  lastUsedAt: Nullable(Timestamp),
  lastUsedIp: Nullable(Type.String()),
  createdBy: Uuid,
  createdAt: Timestamp,
  revokedAt: Nullable(Timestamp),
  revokedBy: Nullable(Uuid),
}

export const ApiKey = Type.Object(key, { title: 'ApiKey' })
export type ApiKeyView = Static<typeof ApiKey>

export const NewApiKey = Type.Object(
  {
    ...key,
    secret: Type.String({ description: 'The whole key. Shown only in this answer; the service keeps only its hash.' }),
  },
  { title: 'NewApiKey' },
)

export const ApiKeyCreate = Type.Object(
  {
    name: Name,
    environment: Environment,
    scopes: Type.Array(Type.String({ maxLength: 40 }), {
      minItems: 1,
      maxItems: SCOPES.length,
      description: `Some of ${SCOPES.join(', ')}.`,
    }),
    ipAllowlist: Type.Optional(IpAllowlist),
    expiresAt: Type.Optional(Nullable(Timestamp)),
  },
  { title: 'ApiKeyCreate', additionalProperties: false },
)
export type ApiKeyCreate = Static<typeof ApiKeyCreate>

export const ApiKeyUpdate = Type.Object(
  {
    name: Type.Optional(Name),
    ipAllowlist: Type.Optional(IpAllowlist),
  },
  { title: 'ApiKeyUpdate', additionalProperties: false },
)
export type ApiKeyUpdate = Static<typeof ApiKeyUpdate>

export const ApiKeyRotate = Type.Object(
  {
    gracePeriodHours: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 168, default: 24, description: '0 ends the old key at once.' }),
    ),
  },
  { title: 'ApiKeyRotate', additionalProperties: false },
)

export const apiKeyList = list({
  filters: {
    status: { kind: 'words', values: STATUSES },
    environment: { kind: 'words', values: ENVIRONMENTS },
    scope: { kind: 'words', values: SCOPES },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'name'],
})
