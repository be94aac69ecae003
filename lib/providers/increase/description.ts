/** Increase, a bank's interface in the United States: what it can do here, and what a connection to it is told. */
import Type, { type Static } from 'typebox'
import { CAPABILITIES, CommonConfig, type Capabilities, type ProviderDescription } from '../provider.ts'

/** `settlementAccounts` names the account that pays: Increase's id of it, `account_…`, for USD. */
export const IncreaseConfig = Type.Object({ ...CommonConfig.properties }, { additionalProperties: false })
export type IncreaseConfig = Static<typeof IncreaseConfig>

export const IncreaseCredentials = Type.Object(
  { apiKey: Type.String({ minLength: 8, maxLength: 500, description: 'The API key of the environment.' }) },
  { additionalProperties: false },
)
export type IncreaseCredentials = Static<typeof IncreaseCredentials>

/** Returns Increase's id of the account that pays; null where the configuration names none. */
export function payingAccountOf({ settlementAccounts = [] }: IncreaseConfig): string | null {
  return settlementAccounts.find(({ currency }) => currency === 'USD')?.accountRef ?? null
}

const ABILITIES: ReadonlySet<string> = new Set(['webhooks'])

const capabilities = {
  ...Object.fromEntries(CAPABILITIES.map((capability) => [capability, ABILITIES.has(capability)])),
  currencies: ['USD'],
} as unknown as Capabilities

const SECRET_LENGTH_MIN = 16

export const increaseDescription: ProviderDescription = {
  provider: 'increase',
  name: 'Increase',
  environments: ['sandbox', 'production'],
  capabilities,
  rails: { ach: { currencies: ['USD'] }, ach_same_day: { currencies: ['USD'] } },
  debits: {},
  // The documented rate of the sandbox; production has five times of it.
  rate: { perSecond: 20, concurrent: 8 },
  config: IncreaseConfig,
  configFault: (config) =>
    payingAccountOf(config as IncreaseConfig) === null ? 'settlementAccounts must name the account for USD.' : null,
  credentials: IncreaseCredentials,
  webhooks: {
    secretFault: (secret) =>
      secret.length < SECRET_LENGTH_MIN ? `The secret has at least ${SECRET_LENGTH_MIN} characters.` : null,
    areHints: true,
  },
  poll: { everyMs: 60_000 },
  needsParties: true,
}
