/** ClearBank: a bank in the United Kingdom, over its interface for institutions. Only Faster Payments are carried. */
import { createPublicKey } from 'node:crypto'
import Type, { type Static } from 'typebox'
import { Text, Words } from '../../contract/primitives.ts'
import { CommonConfig, type ProviderDescription } from '../provider.ts'

const TOKEN_MAX = 4_096
const KEY_MAX = 8_192

/** `institutionId` and `signingKeyId` are notes for staff: the token names the institution and the certificate. */
export const ClearbankConfig = Type.Object(
  {
    ...CommonConfig.properties,
    institutionId: Type.Optional(Text(1, 100)),
    signingKeyId: Type.Optional(Text(1, 100)),
    region: Type.Optional(Words('ClearbankRegion', ['uk'])),
  },
  { title: 'ClearbankConnectionConfig', additionalProperties: false },
)
export type ClearbankConfig = Static<typeof ClearbankConfig>

export const ClearbankCredentials = Type.Object(
  {
    apiToken: Type.String({ minLength: 1, maxLength: TOKEN_MAX, pattern: '^[\\x21-\\x7e]+$' }),
    privateKey: Type.String({
      minLength: 1,
      maxLength: KEY_MAX,
      pattern: '^-----BEGIN (RSA )?PRIVATE KEY-----',
      description: 'The RSA key of the certificate that the token was made for, in PEM.',
    }),
  },
  { title: 'ClearbankCredentials', additionalProperties: false },
)
export type ClearbankCredentials = Static<typeof ClearbankCredentials>

/** The limit of one Faster Payment: 1 000 000.00. */
const FPS_MAX_MINOR = 100_000_000n

/** The bank publishes no numbers: its limits change, and it answers 429 where they are met. */
const RATE = { perSecond: 20, concurrent: 10 } as const

/** The bank notifies of each change, so the list is only a net below: for notifications that never came. */
const POLL_MS = 15 * 60_000

/** The bank signs webhooks with a key of its own; its public half is no secret, but stands where others have one. */
function publicKeyFault(pem: string): string | null {
  try {
    // A private key would be read too, and is none that the bank gives away.
    if (pem.includes('PUBLIC KEY') && createPublicKey(pem).asymmetricKeyType === 'rsa') return null
  } catch {
    // The same answer as for a key of another kind.
  }
  return 'Must be the RSA public key of the bank in PEM, as its portal gives it.'
}

export const clearbankDescription: ProviderDescription = {
  provider: 'clearbank',
  name: 'ClearBank',
  environments: ['sandbox', 'production'],
  capabilities: {
    virtualAccounts: false,
    realAccounts: false,
    sepa: false,
    sepaInstant: false,
    swift: false,
    fasterPayments: true,
    chaps: false,
    bacs: false,
    returns: true,
    statementsCamt053: false,
    fx: false,
    forwards: false,
    heldRates: false,
    cards: false,
    webhooks: true,
    cop: false,
    vop: false,
    directDebit: false,
    bulk: false,
    recalls: false,
    currencies: ['GBP'],
  },
  rails: { faster_payments: { currencies: ['GBP'], amountMax: FPS_MAX_MINOR } },
  debits: {},
  rate: RATE,
  config: ClearbankConfig,
  credentials: ClearbankCredentials,
  webhooks: { secretFault: publicKeyFault, areHints: false },
  poll: { everyMs: POLL_MS },
  needsParties: true,
}
