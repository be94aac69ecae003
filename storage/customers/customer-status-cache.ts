/** Caches the status of customers per node, until it changes. */
import type { CustomerStatus } from '../../lib/customers/status.ts'
import type { Database } from '../db/database.ts'
import { TenantCache } from '../db/tenant-cache.ts'

/** The cached fact. The status is null when there is no such customer. */
export interface CustomerStanding {
  readonly status: CustomerStatus | null
}

/** Creates the cache. */
export const createCustomerStatusCache = (database: Database): TenantCache<CustomerStanding> =>
  new TenantCache(database, async (read, customerId) => {
    const [row] = await read.query<[CustomerStatus]>({
      name: 'status_of_customer',
      text: 'select status from customer where id = $1',
      values: [customerId],
    })
    return { status: row?.[0] ?? null }
  })
