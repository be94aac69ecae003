/**
 * The providers of banking services, each described as data: what it can do, by which rails, how fast it may be asked,
 * and what a connection to it must be told. An adapter of the same name does the work (actors/providers/adapters).
 */
import Type, { type Static, type TSchema } from 'typebox'
import type { CurrencyCode } from '../base/currency.ts'
import { CurrencyCode as CurrencyCodeSchema } from '../contract/primitives.ts'
import type { MandateManagement, MandateScheme } from '../rails/debit-schemes.ts'
import type { Rail } from '../rails/rails.ts'

/** The providers: a name here, a description (descriptions.ts) and an adapter (actors/providers/adapters) each. */
export const PROVIDERS = ['sandbox', 'files', 'clearbank', 'column', 'increase'] as const
export type ProviderId = (typeof PROVIDERS)[number]

export const PROVIDER_ENVIRONMENTS = ['sandbox', 'production'] as const
export type ProviderEnvironment = (typeof PROVIDER_ENVIRONMENTS)[number]

/** The abilities that a connection shows, beside its currencies. */
export const CAPABILITIES = [
  'virtualAccounts',
  'realAccounts',
  'sepa',
  'sepaInstant',
  'swift',
  'fasterPayments',
  'chaps',
  'bacs',
  'returns',
  'statementsCamt053',
  'fx',
  'forwards',
  'heldRates',
  'cards',
  'webhooks',
  'cop',
  'vop',
  'directDebit',
  'bulk',
  'recalls',
] as const
export type ProviderCapability = (typeof CAPABILITIES)[number]

export interface Capabilities extends Readonly<Record<ProviderCapability, boolean>> {
  /** In alphabetical order. */
  readonly currencies: readonly CurrencyCode[]
}

/** The terms of a provider on one rail. */
export interface ProviderRail {
  readonly currencies: 'all' | readonly CurrencyCode[]
  /** The largest amount of one payment, in minor units of its currency; absent: only the limit of the rail itself. */
  readonly amountMax?: bigint
}

/** The terms of a provider for one scheme of direct debits. */
export interface ProviderDebits {
  readonly management: MandateManagement
  /**
   * `orders`: each mandate is lodged and each collection presented by a call of the adapter, whoever manages the
   * mandates. `files`: collections of one day travel together in a file.
   */
  readonly travelBy: 'orders' | 'files'
}

/** A provider. */
export interface ProviderDescription {
  readonly provider: ProviderId
  /** The name for people. */
  readonly name: string
  readonly environments: readonly ProviderEnvironment[]
  readonly capabilities: Capabilities
  readonly rails: { readonly [rail in Rail]?: ProviderRail }
  /** Its schemes of direct debits. Mandates of all others are managed by us, and staff send their files. */
  readonly debits: { readonly [scheme in MandateScheme]?: ProviderDebits }
  /**
   * How fast one connection may be asked; a connection's `maxConcurrency` may lower `concurrent`. Null: the provider is
   * part of this process, takes the orders of all its connections together, and is neither limited nor recorded.
   */
  readonly rate: { readonly perSecond: number; readonly concurrent: number } | null
  /** The configuration of a connection: an object schema that holds the members of `CommonConfig` too. */
  readonly config: TSchema
  /** Tells what is wrong with a configuration that the schema allows, in words for staff; null for nothing. */
  configFault?(config: unknown): string | null
  /** The write-only credentials of a connection; null: it has none. */
  readonly credentials: TSchema | null
  /**
   * Null: the provider sends no webhooks. `secretFault` tells what is wrong with a secret; null: nothing. `areHints`:
   * before a webhook moves a payment, the provider is asked for its status, which counts.
   */
  readonly webhooks: { secretFault(secret: string): string | null; readonly areHints: boolean } | null
  /** How often `list` is asked for new events; null: the adapter has no `list`. */
  readonly poll: { readonly everyMs: number } | null
  /** Whether orders carry the parties, which cost a read for each batch. */
  readonly needsParties: boolean
}

const TIMEOUT_MS_MIN = 100
const TIMEOUT_MS_MAX = 60_000
const CONCURRENCY_MAX = 100
const ACCOUNTS_MAX = 50

/** A member of settlement accounts. */
export const CreditorId = Type.Optional(
  Type.String({
    pattern: '^[A-Z0-9]{3,35}$',
    description:
      "The operator's identifier as a creditor of direct debits: of SEPA its creditor identifier, of Bacs its service user number.",
  }),
)

/** The members of every connection's configuration. `timeoutMs`: of one call; by default `CALL_TIMEOUT_MS`. */
export const CommonConfig = Type.Object({
  baseUrl: Type.Optional(Type.String({ format: 'uri', maxLength: 300 })),
  timeoutMs: Type.Optional(Type.Integer({ minimum: TIMEOUT_MS_MIN, maximum: TIMEOUT_MS_MAX })),
  maxConcurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: CONCURRENCY_MAX })),
  settlementAccounts: Type.Optional(
    Type.Array(
      Type.Object(
        {
          currency: CurrencyCodeSchema,
          accountRef: Type.String({ minLength: 1, maxLength: 100 }),
          creditorId: CreditorId,
        },
        { title: 'SettlementAccount', additionalProperties: false },
      ),
      { maxItems: ACCOUNTS_MAX, description: 'The accounts of the operator at the provider, one for each currency.' },
    ),
  ),
})
export type CommonConfig = Static<typeof CommonConfig>

/** How long one call of a provider may take where its connection's configuration does not tell. */
export const CALL_TIMEOUT_MS = 10_000
