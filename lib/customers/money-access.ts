/**
 * What a customer may do with its money in each of its statuses. A route that prepares, moves or pays money says so; all
 * other operations, reads among them, go on in every status. Money that comes in goes on too: it belongs to the customer.
 *
 * The same table decides where a request arrives, where a balance decides, and where something that was accepted earlier
 * starts to move money: an approval, a payment in the queue, an occurrence of a schedule, a row of a bulk payment.
 */
import type { Problem } from '../base/problems.ts'
import { CUSTOMER_STATUSES, type CustomerStatus } from './status.ts'

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

const ACCESS: Readonly<Record<CustomerStatus, Readonly<Record<MoneyUse, Access>>>> = {
  draft: all('customer-not-active'),
  onboarding: all('customer-not-active'),
  in_review: all('customer-not-active'),
  info_required: all('customer-not-active'),
  active: all('allowed'),
  restricted: { prepare: 'allowed', move: 'allowed', pay: 'customer-restricted' },
  suspended: all('customer-restricted'),
  rejected: all('customer-not-active'),
  // Its balances are closing, and refuse themselves what they no longer do.
  closing: { prepare: 'customer-not-active', move: 'allowed', pay: 'allowed' },
  closed: all('customer-not-active'),
}

/** The statuses in which a payment that was accepted earlier waits until staff have lifted the measure. */
export const STOPPED_STATUSES: readonly CustomerStatus[] = CUSTOMER_STATUSES.filter(
  (status) => ACCESS[status].pay === 'customer-restricted',
)

/** Returns the problem of a use of money in a customer's status; null when the customer may. */
export function moneyProblem(status: CustomerStatus, use: MoneyUse): Problem | null {
  const access = ACCESS[status][use]
  switch (access) {
    case 'allowed':
      return null
    case 'customer-not-active':
      return {
        slug: access,
        detail: `The customer is ${status}, not active.`,
        extra: { customerStatus: status },
      }
    case 'customer-restricted':
      return { slug: access, detail: 'The account cannot do this at present; please contact your bank.' }
    default:
      return access satisfies never
  }
}
