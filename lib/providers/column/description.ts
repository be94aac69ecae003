/** Column: a bank in the United States, over its interface for platforms. Only standard ACH credits are carried. */
import Type, { type Static } from 'typebox'
import { MINUTE_MS } from '../../base/clock.ts'
import { CommonConfig, type ProviderDescription } from '../provider.ts'

const KEY_MAX = 200
const SECRET_MAX = 200

/** `settlementAccounts` names the bank account that pays: the bank's id of it, `bacc_…`, for USD. */
export const ColumnConfig = Type.Object(CommonConfig.properties, {
  title: 'ColumnConnectionConfig',
  additionalProperties: false,
})
export type ColumnConfig = Static<typeof ColumnConfig>

export const ColumnCredentials = Type.Object(
  {
    apiKey: Type.String({
      minLength: 1,
      maxLength: KEY_MAX,
      pattern: '^(test|live)_[\\x21-\\x7e]+$',
      description: 'A key of the dashboard: `test_…` for the sandbox, `live_…` for production.',
    }),
  },
  { title: 'ColumnCredentials', additionalProperties: false },
)
export type ColumnCredentials = Static<typeof ColumnCredentials>

/** The bank publishes no numbers, and answers 429 where its limits are met. */
const RATE = { perSecond: 10, concurrent: 5 } as const
/** Webhooks tell of each change; the list of events is a net below, for webhooks that never came. */
const POLL_MS = 15 * MINUTE_MS

const secretFault = (secret: string): string | null =>
  secret.length > 0 && secret.length <= SECRET_MAX && !/\s/.test(secret)
    ? null
    : 'Must be the secret of the webhook endpoint, as the bank shows it.'

/** The account of the connection that pays; null where its configuration names none in dollars. */
export function payingAccount({ settlementAccounts = [] }: Pick<ColumnConfig, 'settlementAccounts'>): string | null {
  return settlementAccounts.find(({ currency }) => currency === 'USD')?.accountRef ?? null
}

export const columnDescription: ProviderDescription = {
  provider: 'column',
  name: 'Column',
  environments: ['sandbox', 'production'],
  capabilities: {
    virtualAccounts: false,
    realAccounts: false,
    sepa: false,
    sepaInstant: false,
    swift: false,
    fasterPayments: false,
    chaps: false,
    bacs: false,
    returns: false,
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
    currencies: ['USD'],
  },
  rails: { ach: { currencies: ['USD'] } },
  debits: {},
  rate: RATE,
  config: ColumnConfig,
  configFault: (config) =>
    payingAccount(config as ColumnConfig) === null ? 'settlementAccounts must name the bank account for USD.' : null,
  credentials: ColumnCredentials,
  webhooks: { secretFault, areHints: false },
  poll: { everyMs: POLL_MS },
  needsParties: true,
}
