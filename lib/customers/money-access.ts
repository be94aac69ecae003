/**
 * What a customer may do with its money in each of its statuses, and under each measure of staff. A route that prepares, moves or pays money says so; all
 * other operations, reads among them, go on in every status. Money that comes in goes on too: it belongs to the customer.
 *
 * The same table decides where a request arrives, where a balance decides, and where something that was accepted earlier
 * starts to move money: an approval, a payment in the queue, an occurrence of a schedule, a row of a bulk payment.
 */
import type { Problem } from '../base/problems.ts'
import { LIFE_STATUSES, type CustomerStanding, type LifeStatus, type MeasureTaken } from './status.ts'

/**
 * The ways in which an operation uses a customer's money:
 *  - `prepare`  opens what money is received with or paid to: balances, account details, recipients, funds requests
 *  - `move`     moves money between balances of the customer, exchanges included
 *  - `pay`      orders that money leaves the customer, at once or later
 */
export const MONEY_USES = ['prepare', 'move', 'pay'] as const
export type MoneyUse = (typeof MONEY_USES)[number]

/** Allowed, or the problem that refuses it. */
type Access = 'allowed' | 'customer-not-active' | 'customer-restricted'

const all = (access: Access): Readonly<Record<MoneyUse, Access>> => ({ prepare: access, move: access, pay: access })

const ACCESS: Readonly<Record<LifeStatus, Readonly<Record<MoneyUse, Access>>>> = {
  draft: all('customer-not-active'),
  onboarding: all('customer-not-active'),
  in_review: all('customer-not-active'),
  info_required: all('customer-not-active'),
  active: all('allowed'),
  rejected: all('customer-not-active'),
  // Its balances are closing, and refuse themselves what they no longer do.
  closing: { prepare: 'customer-not-active', move: 'allowed', pay: 'allowed' },
  closed: all('customer-not-active'),
}

/** The uses that a measure refuses, whatever the status. Both measures stop payments that were accepted earlier. */
const ACCESS_UNDER: Readonly<Record<MeasureTaken, Readonly<Record<MoneyUse, Access>>>> = {
  restricted: { prepare: 'allowed', move: 'allowed', pay: 'customer-restricted' },
  suspended: all('customer-restricted'),
}

/**
 * The statuses in which payments that were accepted earlier wait, because the customer does not pay: a new review may
 * lead a customer with payments under way to `rejected`, and from there to the statuses of a review. `closed` is not among
 * them: a closure waits for the end of all payments, and the balances of closed customers are many.
 */
export const WAITING_STATUSES: readonly LifeStatus[] = LIFE_STATUSES.filter(
  (status) => ACCESS[status].pay !== 'allowed' && status !== 'closed',
)

/** Returns the problem of a use of money for a customer of this standing; null when the customer may. */
export function moneyProblem({ customerStatus, customerMeasure }: CustomerStanding, use: MoneyUse): Problem | null {
  const measured = customerMeasure === null ? 'allowed' : ACCESS_UNDER[customerMeasure][use]
  const access = measured === 'allowed' ? ACCESS[customerStatus][use] : measured
  switch (access) {
    case 'allowed':
      return null
    case 'customer-not-active':
      return {
        slug: access,
        detail: `The customer is ${customerStatus}, not active.`,
        extra: { customerStatus },
      }
    case 'customer-restricted':
      return { slug: access, detail: 'The account cannot do this at present; please contact your bank.' }
    default:
      return access satisfies never
  }
}
