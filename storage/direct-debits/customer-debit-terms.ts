/** The terms under which a customer collects: settings of its operator and its own, its exposure, its return rate. */
import type { DebitTerms } from '../../lib/direct-debits/debit-terms.ts'
import type { CustomerStanding } from '../../lib/customers/status.ts'
import type { MandateScheme } from '../../lib/rails/debit-schemes.ts'
import type { Database } from '../db/database.ts'
import { maxExposureOf, type MaxExposureJson } from '../operators/collection-terms.ts'

/** The terms of a customer in one scheme and currency. */
export interface CustomerDebitTerms extends DebitTerms, CustomerStanding {
  /** What counts for its exposure now, minor units. */
  readonly exposure: bigint
  /** Whether its return rate has stopped new collections. */
  readonly isStopped: boolean
}

const TERMS = `select o.collection_pre_notification_days, o.collection_reserve_days, o.collection_max_exposure,
    (select (s.value->>'preNotificationDays')::integer from setting s where s.owner_id = c.id and s.name = 'preferences'),
    coalesce((select e.amount from debit_exposure e where e.customer_id = c.id and e.currency = $3), 0)::text,
    exists (select from return_standing r where r.customer_id = c.id and r.scheme = $2 and r.level = 'stopped'),
    c.status, c.measure
  from customer c join operator o on o.id = c.operator_id where c.id = $1`

/** Reads the terms of a customer. @throws when the customer does not exist */
export async function readDebitTerms(
  database: Pick<Database, 'query'>,
  {
    customerId,
    scheme,
    currency,
  }: { readonly customerId: string; readonly scheme: MandateScheme; readonly currency: string },
): Promise<CustomerDebitTerms> {
  const [row] = await database.query<
    [
      number,
      number,
      MaxExposureJson,
      number | null,
      string,
      boolean,
      CustomerStanding['customerStatus'],
      CustomerStanding['customerMeasure'],
    ]
  >({
    name: 'debit_terms',
    text: TERMS,
    values: [customerId, scheme, currency],
  })
  if (row === undefined) throw new Error(`The customer ${customerId} does not exist.`)
  const [
    preNotificationDays,
    reserveDays,
    maxExposure,
    customerNoticeDays,
    exposure,
    isStopped,
    customerStatus,
    customerMeasure,
  ] = row
  return {
    preNotificationDays,
    reserveDays,
    maxExposure: maxExposureOf(maxExposure),
    customerNoticeDays,
    exposure: BigInt(exposure),
    isStopped,
    customerStatus,
    customerMeasure,
  }
}

/**
 * Makes the row of a customer's exposure, so that it can be locked: without a row two first collections could pass a
 * limit together.
 */
export async function ensureExposure(
  database: Pick<Database, 'query'>,
  { customerId, currency }: { readonly customerId: string; readonly currency: string },
): Promise<void> {
  await database.query({
    name: 'ensure_exposure',
    text: 'insert into debit_exposure (customer_id, currency, amount) values ($1, $2, 0) on conflict do nothing',
    values: [customerId, currency],
  })
}
