/** Tokens for the SDK of a KYC provider, and simulated reviews. */
import Type, { type Static } from 'typebox'
import { Nullable, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'
import { KYC_PROVIDERS } from '../onboarding/case-words.ts'

const LABEL_MAX = 100
const LABELS_MAX = 20
const COMMENT_MAX = 500

export const KycSdkTokenCreate = Type.Object(
  {
    personId: Type.Optional(
      Nullable(Uuid, { description: 'The person who uses the SDK. Absent or null: the customer itself.' }),
    ),
  },
  { title: 'KycSdkTokenCreate', additionalProperties: false, examples: [{}] },
)
export type KycSdkTokenCreate = Static<typeof KycSdkTokenCreate>

export const KycSdkToken = Type.Object(
  {
    token: Type.String({ description: "For the provider's SDK alone. Only this answer has it." }),
    expiresAt: Timestamp,
    provider: Words('KycProviderId', KYC_PROVIDERS),
  },
  { title: 'KycSdkToken' },
)
export type KycSdkToken = Static<typeof KycSdkToken>

export const SimKyc = Type.Object(
  {
    outcome: Words(
      'SimKycOutcome',
      ['approved', 'rejected', 'retry'],
      '`approved` is reviewed green, `rejected` red and final, `retry` red with another attempt.',
    ),
    personId: Type.Optional(
      Nullable(Uuid, { description: 'A person of the case. Absent or null: the customer itself.' }),
    ),
    rejectLabels: Type.Optional(Type.Array(Text(1, LABEL_MAX), { maxItems: LABELS_MAX })),
    moderationComment: Type.Optional(Nullable(Text(1, COMMENT_MAX))),
  },
  { title: 'SimKyc', additionalProperties: false, examples: [{ outcome: 'approved' }] },
)
export type SimKyc = Static<typeof SimKyc>
