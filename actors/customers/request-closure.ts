/** Requests the closure of a customer, and withdraws it. */
import type { CustomerStatus } from '../../lib/customers/status.ts'
import { refuseTransition } from '../../lib/base/problems.ts'
import { tellCustomerStatus } from '../../storage/customers/customer-rows.ts'
import {
  deleteClosure,
  insertClosure,
  lockCustomer,
  moveBalances,
  moveCustomer,
  openBusiness,
} from '../../storage/balances/closure.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import type { SettingsDeps } from './settings-deps.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { auditCaller } from '../commands/trail.ts'
import type { CustomerClosure } from '../../lib/customers/customer-address-schema.ts'
import { recordChange, runChange } from '../commands/changes.ts'

/** The statuses in which a customer may request its closure. */
const CLOSABLE = ['active', 'restricted']

/**
 * Requests the closure. From then on the customer's balances take no money in and pay none out.
 *
 * @throws ProblemError `invalid-transition`
 */
export async function requestClosure(deps: SettingsDeps, by: Caller<'person'>): Promise<CustomerClosure> {
  const customerId = by.tenant.id
  await runChange(deps, async (tx) => {
    const { client, ids, now } = tx
    const status = await lockCustomer(client, customerId)
    if (status !== 'active' && status !== 'restricted') {
      refuseTransition(`The customer is ${status}.`, status, CLOSABLE)
    }
    await moveCustomer(client, customerId, { to: 'closing', now })
    await moveBalances(client, customerId, { from: 'active', to: 'closing', now })
    await requireNoOpenBusiness(client, customerId, status)
    await insertClosure(client, { customerId, previousStatus: status, by: by.session.userId, now })
    await tellCustomerStatus(client, {
      customerId,
      status: 'closing',
      previousStatus: status,
      id: ids.next(),
      now,
    })
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'closure.requested',
      object: { type: 'customer', id: customerId },
      before: { status },
      after: { status: 'closing' },
    })
  })
  return { customerId, status: 'closing' }
}

/**
 * Withdraws the closure, until the accounts of the customer are being closed. A customer that was restricted is so again.
 *
 * @throws ProblemError `invalid-transition`
 */
export async function withdrawClosure(deps: SettingsDeps, by: Caller<'person'>): Promise<void> {
  const customerId = by.tenant.id
  await runChange(deps, async (tx) => {
    const { client, ids, now } = tx
    const status = await lockCustomer(client, customerId)
    if (status !== 'closing') refuseTransition(`The customer is ${status}.`, status, ['closing'])
    const { begun, previousStatus } = await deleteClosure(client, customerId)
    if (begun) refuseTransition('The accounts of the customer are being closed.', status, ['closing'])
    await moveCustomer(client, customerId, { to: previousStatus, now })
    await moveBalances(client, customerId, { from: 'closing', to: 'active', now })
    await tellCustomerStatus(client, {
      customerId,
      status: previousStatus,
      previousStatus: status,
      id: ids.next(),
      now,
    })
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'closure.withdrawn',
      object: { type: 'customer', id: customerId },
      before: { status },
      after: { status: previousStatus },
    })
  })
}

/** Refuses while payments, transfers or exchanges of the customer are under way. */
async function requireNoOpenBusiness(
  client: TransactionClient,
  customerId: string,
  status: CustomerStatus,
): Promise<void> {
  const { payments, transfers, exchanges } = await openBusiness(client, customerId)
  if (payments > 0)
    refuseTransition(`${payments} payments are under way; wait for them or cancel them first.`, status, CLOSABLE)
  if (transfers > 0) refuseTransition(`${transfers} transfers are under way.`, status, CLOSABLE)
  if (exchanges > 0) refuseTransition(`${exchanges} exchanges or contracts are not over.`, status, CLOSABLE)
}
