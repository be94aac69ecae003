/** Caches the features of a tenant per node, until anything about an operator changes. */
import { flagsOf, type FeatureSet } from '../../lib/operators/features.ts'
import type { Database } from '../db/database.ts'
import { TenantCache } from '../db/tenant-cache.ts'

/** Creates the cache: the flags of an operator, or those of a customer's operator. */
export const createFeatureCache = (database: Database): TenantCache<FeatureSet> =>
  new TenantCache(database, readFeatures)

async function readFeatures(database: Database, tenantId: string): Promise<FeatureSet> {
  const [row] = await database.query<[Readonly<Record<string, boolean>>]>({
    name: 'features_of',
    text: 'select features from operator where id = coalesce((select operator_id from customer where id = $1), $1)',
    values: [tenantId],
  })
  return flagsOf(row?.[0] ?? {})
}
