/**
 * Any bank that takes ISO 20022 files: pain.001.001.09 goes out; pain.002.001.10, camt.053.001.08 and camt.054.001.08
 * come in.
 */
import { CURRENCIES, WITHDRAWN_CURRENCIES } from '../../base/currency.ts'
import { MINUTE_MS } from '../../base/clock.ts'
import { ON_PLATFORM_RAIL, RAILS, type Rail } from '../../rails/rails.ts'
import type { ProviderDescription, ProviderRail } from '../provider.ts'
import { FilesConfig, filesConfigFault, FilesCredentials } from './files-config.ts'

/** Payments within the platform need no bank, and `card` is no way to pay. */
const NOT_CARRIED: ReadonlySet<Rail> = new Set<Rail>([ON_PLATFORM_RAIL, 'card'])

const rails = Object.fromEntries(
  [...RAILS.keys()]
    .filter((rail) => !NOT_CARRIED.has(rail))
    .map((rail): [Rail, ProviderRail] => [rail, { currencies: 'all' }]),
)

export const filesDescription: ProviderDescription = {
  provider: 'files',
  name: 'ISO 20022 files',
  environments: ['sandbox', 'production'],
  capabilities: {
    virtualAccounts: false,
    realAccounts: false,
    sepa: true,
    sepaInstant: true,
    swift: true,
    fasterPayments: true,
    chaps: true,
    bacs: true,
    returns: false,
    statementsCamt053: true,
    fx: false,
    forwards: false,
    heldRates: false,
    cards: false,
    webhooks: false,
    cop: false,
    vop: false,
    directDebit: true,
    bulk: true,
    recalls: false,
    currencies: CURRENCIES.map(({ code }) => code)
      .filter((code) => WITHDRAWN_CURRENCIES[code] === undefined)
      .sort(),
  },
  rails,
  debits: {
    sepa_dd_core: { management: 'client', travelBy: 'files' },
    sepa_dd_b2b: { management: 'client', travelBy: 'files' },
    bacs_dd: { management: 'client', travelBy: 'files' },
  },
  // Orders are put into the book, not sent.
  rate: { perSecond: 10_000, concurrent: 100 },
  config: FilesConfig,
  configFault: (config) => filesConfigFault(config as FilesConfig),
  credentials: FilesCredentials,
  webhooks: null,
  poll: { everyMs: MINUTE_MS },
  needsParties: true,
}
