/** Caches the standing of customers per node, until it changes. */
import type { CustomerStanding } from '../../lib/customers/status.ts'
import type { Database } from '../db/database.ts'
import { TenantCache } from '../db/tenant-cache.ts'

/** The cached fact. The standing is null when there is no such customer. */
interface Known {
  readonly standing: CustomerStanding | null
}

/** Creates the cache. */
export const createCustomerStatusCache = (database: Database): TenantCache<Known> =>
  new TenantCache(database, async (read, customerId) => {
    const [row] = await read.query<[CustomerStanding['customerStatus'], CustomerStanding['customerMeasure']]>({
      name: 'status_of_customer',
      text: 'select status, measure from customer where id = $1',
      values: [customerId],
    })
    return { standing: row === undefined ? null : { customerStatus: row[0], customerMeasure: row[1] } }
  })
