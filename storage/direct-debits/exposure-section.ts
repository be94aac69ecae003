/** The sections of the commit statement for exposure: the sum of each customer and currency, and its limit. */
import type { ExposureChange } from '../../lib/direct-debits/exposure.ts'
import { commandConflict, fence, gathered, NO_DETAIL, section, waitsFor, type Section } from '../commit/section.ts'

/**
 * Adds to the sum of one customer and currency: one row for each, because a statement cannot write a row twice. The row
 * that is proposed has to keep the table's checks even where another one is updated instead, so it is never negative.
 */
export const EXPOSURE_CHANGES: Section<ExposureChange> = gathered(
  'exposureChanges',
  {
    ...section<Pick<ExposureChange, 'customerId' | 'currency' | 'amount'>>(
      'exposure',
      { customerId: 'uuid', currency: 'text', amount: 'bigint' },
      (source) => `exposure_written as (
  insert into debit_exposure as e (customer_id, currency, amount)
  select u.customer_id, u.currency, greatest(u.amount, 0) from ${source} where (select ok from verdict)
  on conflict (customer_id, currency) do update set amount = e.amount +
    (select u.amount from ${source} where u.customer_id = e.customer_id and u.currency = e.currency))`,
    ),
    keyed: 'sorted' as const,
  },
  (change, batch) => {
    const changes = batch.keyed(EXPOSURE_CHANGES)
    const { customerId, currency, amount, max } = change
    const key = `${customerId} ${currency}`
    const known = changes.get(key)
    changes.set(key, known === undefined ? change : { ...change, amount: known.amount + amount })
    if (max !== null) batch.add(EXPOSURE_FENCES, { command: batch.nth, id: customerId, currency, amount, max })
  },
)

interface ExposureRow {
  readonly command: number
  /** The customer. */
  readonly id: string
  readonly currency: string
  readonly amount: bigint
  readonly max: bigint
}

const EXPOSURE_EXCEEDED = commandConflict('exposure_exceeded')

/**
 * Finds new collections beyond the largest exposure of their customer. Collections of one commit count in the order of
 * their commands; the row of the sum is locked, so that two nodes cannot pass the limit together.
 */
export const EXPOSURE_FENCES = {
  ...fence<ExposureRow, ReturnType<typeof EXPOSURE_EXCEEDED.of>>(
    EXPOSURE_EXCEEDED,
    'exposure_fence',
    { command: 'integer', id: 'uuid', currency: 'text', amount: 'bigint', max: 'bigint' },
    (source) => `${NO_DETAIL}
  from (select u.*, sum(u.amount) over (partition by u.id, u.currency order by u.command) as more from ${source}) u
    left join locked_exposure l on l.id = u.id and l.currency = u.currency
  where coalesce(l.amount, 0) + u.more > u.max`,
  ),
  lock: {
    name: 'locked_exposure',
    sql: (ids: string, after: readonly string[]) => `
  select e.customer_id as id, e.currency, e.amount from debit_exposure e where e.customer_id = any(${ids}) ${waitsFor(after)}
  order by e.customer_id, e.currency for update`,
  },
}
