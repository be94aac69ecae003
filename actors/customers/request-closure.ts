/** Requests the closure of a customer, and withdraws it. */
import { shownStatus, type CustomerStatus } from '../../lib/customers/status.ts'
import { refuseNotFound, refuseTransition } from '../../lib/base/problems.ts'
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
    const status = shownStatus((await lockCustomer(client, customerId)) ?? refuseNotFound())
    if (status !== 'active' && status !== 'restricted') {
      refuseTransition(`The customer is ${status}.`, status, CLOSABLE)
    }
    await moveCustomer(client, customerId, { to: 'closing', now })
    await moveBalances(client, customerId, { from: 'active', to: 'closing', now })
    await requireNoOpenBusiness(client, customerId, status)
    await insertClosure(client, { customerId, by: by.session.userId, now })
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
 * Withdraws the closure, until the accounts of the customer are being closed. A measure against the customer stays.
 *
 * @throws ProblemError `invalid-transition`
 */
export async function withdrawClosure(deps: SettingsDeps, by: Caller<'person'>): Promise<void> {
  const customerId = by.tenant.id
  await runChange(deps, async (tx) => {
    const { client, ids, now } = tx
    const standing = (await lockCustomer(client, customerId)) ?? refuseNotFound()
    const status = shownStatus(standing)
    if (status !== 'closing') refuseTransition(`The customer is ${status}.`, status, ['closing'])
    if (await deleteClosure(client, customerId))
      refuseTransition('The accounts of the customer are being closed.', status, ['closing'])
    const next = shownStatus({ ...standing, customerStatus: 'active' })
    await moveCustomer(client, customerId, { to: 'active', now })
    await moveBalances(client, customerId, { from: 'closing', to: 'active', now })
    await tellCustomerStatus(client, {
      customerId,
      status: next,
      previousStatus: status,
      id: ids.next(),
      now,
    })
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'closure.withdrawn',
      object: { type: 'customer', id: customerId },
      before: { status },
      after: { status: next },
    })
  })
}

/** Refuses while payments, transfers, exchanges or direct debits of the customer are under way. */
async function requireNoOpenBusiness(
  client: TransactionClient,
  customerId: string,
  status: CustomerStatus,
): Promise<void> {
  const { payments, transfers, exchanges, mandates, collections } = await openBusiness(client, customerId)
  if (payments > 0)
    refuseTransition(`${payments} payments are under way; wait for them or cancel them first.`, status, CLOSABLE)
  if (transfers > 0) refuseTransition(`${transfers} transfers are under way.`, status, CLOSABLE)
  if (exchanges > 0) refuseTransition(`${exchanges} exchanges or contracts are not over.`, status, CLOSABLE)
  if (collections > 0) refuseTransition(`${collections} collections are under way.`, status, CLOSABLE)
  if (mandates > 0) refuseTransition(`${mandates} mandates are not over; cancel them first.`, status, CLOSABLE)
}
