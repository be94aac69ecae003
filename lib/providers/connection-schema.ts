/** Schemas of an operator's connections to banking partners. Secrets are written and never shown. */
import Type, { type Static } from 'typebox'
import { list } from '../contract/list.ts'
import {
  CurrencyCode,
  Money,
  Nullable,
  PositiveMoney,
  Rail,
  Text,
  Timestamp,
  Uuid,
  Words,
} from '../contract/primitives.ts'
import { Job } from '../jobs/job-schema.ts'
import { CONNECTION_ROLES, CONNECTION_STATUSES, CONTRACT_MODELS, WEBHOOK_REGISTRATIONS } from './connection.ts'
import { HEALTH_STATES } from './health.ts'
import { CAPABILITIES, PROVIDER_ENVIRONMENTS, PROVIDERS, type ProviderCapability } from './provider.ts'

const NAME_MAX = 100
const CURRENCIES_MAX = 200
const SECRET_MAX = 4_096
const MEMBERS_MAX = 50

const name = Text(1, NAME_MAX, { examples: ['Our bank'] })
const provider = Words('ProviderId', PROVIDERS)
const environment = Words('ProviderEnvironment', PROVIDER_ENVIRONMENTS)
const role = Words(
  'ConnectionRole',
  CONNECTION_ROLES,
  '`primary` takes new work; `fallback` takes it in `fallbackCurrencies` alone, when the primary cannot.',
)
const status = Words(
  'ConnectionLifecycle',
  CONNECTION_STATUSES,
  '`draining`: no new work, what is in flight finishes; `failed`: the last probe failed.',
)
const contractModel = Words(
  'ContractModel',
  CONTRACT_MODELS,
  'The party to the contract with the partner: the operator, or the customer.',
)
const config = Type.Record(Type.String({ maxLength: NAME_MAX }), Type.Unknown(), {
  title: 'ProviderConnectionConfig',
  maxProperties: MEMBERS_MAX,
  description:
    'The members depend on the provider (`/docs/providers` lists them); all have `baseUrl`, `timeoutMs`, ' +
    '`maxConcurrency` and `settlementAccounts`. Written as a whole.',
  examples: [{ timeoutMs: 10000 }],
})
const fallbackCurrencies = Type.Array(CurrencyCode, {
  maxItems: CURRENCIES_MAX,
  uniqueItems: true,
  description: 'The currencies in which a fallback takes work; empty for a primary.',
})

const Capabilities = Type.Object(
  {
    ...(Object.fromEntries(CAPABILITIES.map((capability) => [capability, Type.Boolean()])) as Record<
      ProviderCapability,
      ReturnType<typeof Type.Boolean>
    >),
    currencies: Type.Array(CurrencyCode),
  },
  { title: 'ProviderCapabilities', description: 'The abilities of the provider, as its adapter describes them.' },
)

export const ProviderConnection = Type.Object(
  {
    id: Uuid,
    operatorId: Uuid,
    customerId: Nullable(Uuid, { description: 'The customer that it is for; null: all customers.' }),
    provider,
    environment,
    name,
    config,
    credentialsSet: Type.Boolean(),
    credentialsKid: Nullable(Type.String(), {
      description: 'The name of the key that the credentials are sealed with.',
    }),
    credentialsUpdatedAt: Nullable(Timestamp),
    credentialsFingerprint: Nullable(Type.String({ pattern: '^fp_[0-9a-f]{12}$', examples: ['fp_0a1b2c3d4e5f'] }), {
      description: 'Equal for equal credentials of this connection.',
    }),
    webhookSecretSet: Type.Boolean({ description: 'Without a secret no webhook is believed.' }),
    webhookUrl: Nullable(Type.String({ format: 'uri' }), {
      description: 'The address to register with the provider; null where the provider sends nothing.',
    }),
    status,
    role,
    fallbackCurrencies,
    contractModel: Nullable(contractModel),
    webhookRegistrationState: Words(
      'WebhookRegistrationState',
      WEBHOOK_REGISTRATIONS,
      '`registered`: a webhook with a valid signature has come; `failed`: one has come that was signed otherwise.',
    ),
    healthy: Nullable(Type.Boolean(), { description: 'Null before the first probe or call.' }),
    health: Words(
      'ConnectionHealth',
      HEALTH_STATES,
      'By the errors and the times of the last five minutes; `paused`: not polled until a probe succeeds.',
    ),
    verifiedAt: Nullable(Timestamp),
    activatedAt: Nullable(Timestamp),
    drainingAt: Nullable(Timestamp),
    retiredAt: Nullable(Timestamp),
    capabilities: Capabilities,
    localRails: Type.Array(Rail, { description: 'The rails beside those that `capabilities` names.' }),
    lastHealthAt: Nullable(Timestamp),
    lastHealth: Nullable(
      Type.Object(
        { ok: Type.Boolean(), latencyMs: Type.Integer({ minimum: 0 }), message: Nullable(Type.String()) },
        { title: 'ConnectionProbe', description: 'The end of the last probe.' },
      ),
    ),
    lastError: Nullable(Type.String()),
    inFlight: Type.Integer({ minimum: 0, description: 'Orders and returns of which the partner still has to tell.' }),
    oldestUnconfirmedAt: Nullable(Timestamp, { description: 'When the oldest of them was handed to the partner.' }),
    cashToMove: Type.Array(
      Type.Object(
        {
          direction: Words('CashDirection', ['in', 'out'], 'From this connection (`out`) or to it (`in`).'),
          otherConnectionId: Uuid,
          amount: Money,
          payments: Type.Integer({ minimum: 1 }),
        },
        { title: 'CashToMove' },
      ),
      {
        description:
          'Cash that the operator has to move between its accounts at two connections, until a statement shows it, or staff explain or confirm it: of payments between balances there, of payments that left by another connection than that of their balance, of money for balances that have moved. `payments` counts its legs.',
      },
    ),
    migration: Nullable(
      Type.Object(
        { toConnectionId: Uuid, proposedBy: Uuid, proposedAt: Timestamp, jobId: Nullable(Uuid) },
        {
          title: 'ConnectionMigrationState',
          description: 'Where its balances go; `jobId` when two people have agreed.',
        },
      ),
    ),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'ProviderConnection' },
)
export type ProviderConnectionView = Static<typeof ProviderConnection>

export const providerConnectionList = list({
  filters: {
    status: { kind: 'words', values: CONNECTION_STATUSES },
    provider: { kind: 'words', values: PROVIDERS },
    environment: { kind: 'words', values: PROVIDER_ENVIRONMENTS },
    role: { kind: 'words', values: CONNECTION_ROLES },
    customerId: { kind: 'ids' },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt'],
})

export const ProviderCredentials = Type.Record(Type.String({ maxLength: NAME_MAX }), Type.Unknown(), {
  title: 'ProviderCredentials',
  maxProperties: MEMBERS_MAX,
  writeOnly: true,
  description: 'The members depend on the provider (`/docs/providers` lists them). Stored encrypted and never shown.',
  examples: [{ apiToken: 'token-of-the-provider' }],
})
export type ProviderCredentials = Static<typeof ProviderCredentials>

/** The pattern keeps a secret as it was sent: free text would be trimmed, and have no line breaks. */
const secret = Type.String({
  minLength: 1,
  maxLength: SECRET_MAX,
  pattern: '^[\\t\\n\\r\\x20-\\x7e]+$',
  writeOnly: true,
  description: 'The secret, or the public key, by which the webhooks of the provider are verified.',
})
export const ProviderWebhookSecret = Type.Object(
  { secret },
  {
    title: 'ProviderWebhookSecret',
    additionalProperties: false,
    examples: [{ secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }],
  },
)
export type ProviderWebhookSecret = Static<typeof ProviderWebhookSecret>

export const ProviderConnectionCreate = Type.Object(
  {
    provider,
    environment: Type.Optional(environment),
    name,
    customerId: Type.Optional(Nullable(Uuid)),
    config: Type.Optional(config),
    credentials: Type.Optional(ProviderCredentials),
    webhookSecret: Type.Optional(secret),
    fallbackCurrencies: Type.Optional(fallbackCurrencies),
    contractModel: Type.Optional(Nullable(contractModel)),
  },
  {
    title: 'ProviderConnectionCreate',
    additionalProperties: false,
    examples: [{ provider: 'sandbox', name: 'Sandbox bank' }],
  },
)
export type ProviderConnectionCreate = Static<typeof ProviderConnectionCreate>

export const ProviderConnectionUpdate = Type.Object(
  {
    name: Type.Optional(name),
    config: Type.Optional(config),
    fallbackCurrencies: Type.Optional(fallbackCurrencies),
    contractModel: Type.Optional(Nullable(contractModel)),
  },
  { title: 'ProviderConnectionUpdate', additionalProperties: false, examples: [{ name: 'Our first bank' }] },
)
export type ProviderConnectionUpdate = Static<typeof ProviderConnectionUpdate>

export const ConnectionMigrationCreate = Type.Object(
  {
    toConnectionId: Type.Optional(
      Nullable(Uuid, { description: 'The active primary that takes the balances; by default the one there is.' }),
    ),
  },
  { title: 'ConnectionMigrationCreate', additionalProperties: false, examples: [{}] },
)
export type ConnectionMigrationCreate = Static<typeof ConnectionMigrationCreate>

/** A sum of `cashToMove` that staff have moved, or found at the bank. */
export const CashConfirmation = Type.Object(
  {
    direction: Words('CashDirection', ['in', 'out'], 'From this connection (`out`) or to it (`in`).'),
    otherConnectionId: Uuid,
    amount: PositiveMoney,
    evidence: Text(1, 500, { description: 'Where the bank shows it.' }),
  },
  {
    title: 'CashConfirmation',
    additionalProperties: false,
    examples: [
      {
        direction: 'in',
        otherConnectionId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
        amount: { amountMinor: '12500', currency: 'EUR' },
        evidence: 'Account report of 24 November, line 7.',
      },
    ],
  },
)
export type CashConfirmation = Static<typeof CashConfirmation>

export const ConnectionMigration = Type.Object(
  {
    connectionId: Uuid,
    toConnectionId: Uuid,
    status: Words(
      'ConnectionMigrationStatus',
      ['pending_approval', 'approved'],
      '`pending_approval`: a second person has to ask for the same; `approved`: the job moves the balances.',
    ),
    proposedBy: Uuid,
    proposedAt: Timestamp,
    job: Nullable(Job),
  },
  { title: 'ConnectionMigration' },
)
export type ConnectionMigrationView = Static<typeof ConnectionMigration>
