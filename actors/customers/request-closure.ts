/** Requests the closure of a customer, and withdraws it. */
import type { CustomerStatus } from '../../lib/customers/status.ts'
import { refuse } from '../../lib/base/problems.ts'
import { tellCustomerStatus } from './closures.ts'
import {
  deleteClosure,
  insertClosure,
  lockCustomer,
  moveCustomer,
  openBusiness,
} from '../../storage/balances/closure.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import type { SettingsDeps } from './settings-deps.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { auditCaller } from '../commands/trail.ts'
import type { CustomerClosure } from '../../lib/customers/customer-address-schema.ts'
import { recordChange, runChange } from '../commands/changes.ts'

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
      refuse('invalid-transition', `The customer is ${status}.`, {
        extra: { currentStatus: status, allowed: status === 'closing' ? ['active'] : [] },
      })
    }
    await moveCustomer(client, customerId, { from: 'active', to: 'closing', now })
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
 * Withdraws the closure, until the accounts of the customer are being closed.
 *
 * @throws ProblemError `invalid-transition`
 */
export async function withdrawClosure(deps: SettingsDeps, by: Caller<'person'>): Promise<void> {
  const customerId = by.tenant.id
  await runChange(deps, async (tx) => {
    const { client, ids, now } = tx
    const status = await lockCustomer(client, customerId)
    if (status !== 'closing')
      refuse('invalid-transition', `The customer is ${status}.`, {
        extra: { currentStatus: status, allowed: [] },
      })
    if (await deleteClosure(client, customerId))
      refuse('invalid-transition', 'The accounts of the customer are being closed.', {
        extra: { currentStatus: status, allowed: [] },
      })
    await moveCustomer(client, customerId, { from: 'closing', to: 'active', now })
    await tellCustomerStatus(client, {
      customerId,
      status: 'active',
      previousStatus: status,
      id: ids.next(),
      now,
    })
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'closure.withdrawn',
      object: { type: 'customer', id: customerId },
      before: { status },
      after: { status: 'active' },
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
    refuse('invalid-transition', `${payments} payments are under way; wait for them or cancel them first.`, {
      extra: { currentStatus: status, allowed: [] },
    })
  if (transfers > 0)
    refuse('invalid-transition', `${transfers} transfers are under way.`, {
      extra: { currentStatus: status, allowed: [] },
    })
  if (exchanges > 0)
    refuse('invalid-transition', `${exchanges} exchanges or contracts are not over.`, {
      extra: { currentStatus: status, allowed: [] },
    })
}
