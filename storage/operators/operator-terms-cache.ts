/** Caches what an operator's settings say about requests, per tenant and node, until anything about an operator changes. */
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { flagsOf, type FeatureSet } from '../../lib/operators/features.ts'
import type { Database } from '../db/database.ts'
import { TenantCache } from '../db/tenant-cache.ts'

/** The cached facts of an operator. */
export interface OperatorTerms {
  readonly features: FeatureSet
  /** People prove themselves for payments above it; zero: for all. Minor units. */
  readonly stepUpThreshold: { readonly amount: bigint; readonly currency: CurrencyCode }
}

/** Creates the cache: the terms of an operator, or those of a customer's operator. */
export const createOperatorTermsCache = (database: Database): TenantCache<OperatorTerms> =>
  new TenantCache(database, readTerms)

async function readTerms(database: Database, tenantId: string): Promise<OperatorTerms> {
  const [row] = await database.query<[Readonly<Record<string, boolean>>, string, CurrencyCode]>({
    name: 'operator_terms',
    text: `select features, payments_step_up_amount::text, payments_step_up_currency from operator
      where id = coalesce((select operator_id from customer where id = $1), $1)`,
    values: [tenantId],
  })
  return {
    features: flagsOf(row?.[0] ?? {}),
    stepUpThreshold: { amount: BigInt(row?.[1] ?? '0'), currency: row?.[2] ?? 'EUR' },
  }
}
