/** The built-in sandbox bank: every rail and every currency, without a partner. */
import Type, { type Static } from 'typebox'
import { CURRENCIES, WITHDRAWN_CURRENCIES } from '../../base/currency.ts'
import { ON_PLATFORM_RAIL, RAILS, type Rail } from '../../rails/rails.ts'
import { standardSecretFault } from '../../security/standard-webhooks.ts'
import { CommonConfig, type ProviderDescription, type ProviderRail } from '../provider.ts'

const LATENCY_MS_MAX = 60_000

/** `realCalendar`, the cut-offs and the closed days belong to the connection's calendar, which is changed by itself. */
export const SandboxConfig = Type.Object(
  {
    ...CommonConfig.properties,
    latencyMs: Type.Optional(Type.Integer({ minimum: 0, maximum: LATENCY_MS_MAX })),
    autoSettle: Type.Optional(Type.Boolean()),
    country: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$' })),
  },
  { title: 'SandboxConnectionConfig', additionalProperties: false },
)
export type SandboxConfig = Static<typeof SandboxConfig>

/** No partner carries payments within the platform, and `card` is no way to pay. */
const NOT_CARRIED: ReadonlySet<Rail> = new Set<Rail>([ON_PLATFORM_RAIL, 'card'])

const rails = Object.fromEntries(
  [...RAILS.keys()]
    .filter((rail) => !NOT_CARRIED.has(rail))
    .map((rail): [Rail, ProviderRail] => [rail, { currencies: 'all' }]),
)

export const sandboxDescription: ProviderDescription = {
  provider: 'sandbox',
  name: 'Sandbox bank',
  environments: ['sandbox'],
  capabilities: {
    virtualAccounts: true,
    realAccounts: true,
    sepa: true,
    sepaInstant: true,
    swift: true,
    fasterPayments: true,
    chaps: true,
    bacs: true,
    returns: true,
    statementsCamt053: true,
    fx: true,
    forwards: true,
    heldRates: true,
    cards: true,
    webhooks: true,
    cop: true,
    vop: true,
    directDebit: true,
    bulk: true,
    recalls: true,
    currencies: CURRENCIES.map(({ code }) => code)
      .filter((code) => WITHDRAWN_CURRENCIES[code] === undefined)
      .sort(),
  },
  rails,
  // It manages no mandates of SEPA: there it stands for the banks of the payers, and reports what they would.
  debits: {
    sepa_dd_core: { management: 'client', travelBy: 'orders' },
    sepa_dd_b2b: { management: 'client', travelBy: 'orders' },
    bacs_dd: { management: 'provider', travelBy: 'orders' },
    ach_debit: { management: 'provider', travelBy: 'orders' },
    becs_dd: { management: 'provider', travelBy: 'orders' },
    pad: { management: 'provider', travelBy: 'orders' },
  },
  rate: null,
  config: SandboxConfig,
  credentials: null,
  webhooks: { secretFault: standardSecretFault, areHints: false },
  poll: null,
  needsParties: false,
}
