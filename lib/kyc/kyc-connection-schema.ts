/** Schemas of an operator's connections to KYC providers. Secrets are written and never shown. */
import Type, { type Static } from 'typebox'
import { Nullable, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'
import { KYC_PROVIDERS } from '../onboarding/case-words.ts'
import { KYC_CONNECTION_STATUSES } from './connection.ts'

const NAME_MAX = 100
const LEVEL_MAX = 100
const KEY_MAX = 500
const SECRET_MAX = 200

const name = Text(1, NAME_MAX, { examples: ['Sumsub'] })
const level = Nullable(Text(1, LEVEL_MAX), { examples: ['id-and-liveness'] })
const provider = Words('KycProviderId', KYC_PROVIDERS)

const Levels = Type.Object(
  { person: level, company: level },
  { title: 'KycLevels', description: 'The names of the reviews at the provider, for `sumsub`.' },
)

export const KycConnection = Type.Object(
  {
    id: Uuid,
    provider,
    name,
    status: Words(
      'KycConnectionStatus',
      KYC_CONNECTION_STATUSES,
      '`active`: it reviews the customers of the operator; at most one is. Without one, staff review by themselves.',
    ),
    levels: Levels,
    credentialsSet: Type.Boolean(),
    credentialsUpdatedAt: Nullable(Timestamp),
    webhookSecretSet: Type.Boolean({ description: 'Without a secret no webhook is believed.' }),
    webhookSecretUpdatedAt: Nullable(Timestamp),
    webhookUrl: Nullable(Type.String({ format: 'uri' }), {
      description: 'The address to register with the provider; null where the provider sends nothing.',
    }),
    lastVerification: Nullable(
      Type.Object(
        { ok: Type.Boolean(), message: Nullable(Type.String()), at: Timestamp },
        { title: 'KycVerification', description: 'The end of the last trial of the keys.' },
      ),
    ),
    verifiedAt: Nullable(Timestamp),
    activatedAt: Nullable(Timestamp),
    createdAt: Timestamp,
    updatedBy: Nullable(Uuid),
    updatedAt: Timestamp,
  },
  { title: 'KycConnection' },
)
export type KycConnectionView = Static<typeof KycConnection>

const key = Text(1, KEY_MAX, { writeOnly: true })
const writes = {
  levels: Type.Optional(
    Type.Object(
      { person: Type.Optional(level), company: Type.Optional(level) },
      { title: 'KycLevelsWrite', additionalProperties: false },
    ),
  ),
  credentials: Type.Optional(
    Type.Object(
      { appToken: key, secretKey: key },
      {
        title: 'KycCredentials',
        additionalProperties: false,
        description: "The keys of the provider's API, for `sumsub`; stored encrypted and never shown.",
      },
    ),
  ),
  webhookSecret: Type.Optional(
    Text(1, SECRET_MAX, {
      writeOnly: true,
      description:
        'The secret with which the provider signs its webhooks; for `sandbox` `whsec_` and 24 to 64 bytes in base64.',
    }),
  ),
}

export const KycConnectionCreate = Type.Object(
  { provider, name, ...writes },
  {
    title: 'KycConnectionCreate',
    additionalProperties: false,
    examples: [{ provider: 'manual', name: 'Review by staff' }],
  },
)
export type KycConnectionCreate = Static<typeof KycConnectionCreate>

export const KycConnectionUpdate = Type.Object(
  {
    name: Type.Optional(name),
    ...writes,
    active: Type.Optional(
      Type.Boolean({
        description: 'True lets this connection, which must be `verified`, review the customers in place of another.',
      }),
    ),
  },
  { title: 'KycConnectionUpdate', additionalProperties: false, examples: [{ active: true }] },
)
export type KycConnectionUpdate = Static<typeof KycConnectionUpdate>

/** The body of a webhook, for the document: each provider has its own. */
export const KycWebhook = Type.Object(
  {},
  { title: 'KycWebhook', additionalProperties: true, description: 'As the provider words it.' },
)
