/** Payments that may leave through another connection than their own, as routing sees them. */
import type { CustomerType } from '../../lib/customers/types.ts'
import type { KeptRouting, RoutedPayment } from '../../lib/providers/routing.ts'
import type { Rail } from '../../lib/rails/rails.ts'
import { plainArray } from '../db/array-literal.ts'
import { pick } from '../db/columns.ts'
import { expression, from, select } from '../db/select.ts'
import type { Queries } from '../db/transaction.ts'
import { Payment } from './payment-entity.ts'

export interface ReroutablePayment extends RoutedPayment {
  readonly id: string
  readonly operatorId: string
  readonly connectionId: string
  readonly routing: KeptRouting | null
}

const REROUTABLE = select({
  ...pick(from(Payment, 'p'), ['id', 'customerId', 'operatorId', 'connectionId', 'currency', 'amount', 'routing']),
  rail: expression<Rail>('p.rail'),
  country: expression<string>(`p.details::json#>>'{recipient,bankCountry}'`),
  customerType: expression<CustomerType>('c.customer_type'),
  homeConnectionId: expression<string>('b.connection_id'),
})

/**
 * Reads what routing needs to know of payments that exist; their rails stay.
 *
 * @throws DatabaseUnavailable, and what the driver throws
 */
export async function readReroutable(queries: Queries, ids: readonly string[]): Promise<readonly ReroutablePayment[]> {
  const rows = await queries.query({
    name: 'reroutable_payments',
    text: `select ${REROUTABLE.sql} from payment p join balance b on b.id = p.paying_balance_id join customer c on c.id = p.customer_id
      where p.id = any($1::uuid[])`,
    values: [plainArray(ids)],
  })
  return rows.map((row) => ({ ...REROUTABLE.read(row), isRailFixed: true }))
}
