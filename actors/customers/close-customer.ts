/** Ends a customer: its schedules, keys, members and webhook endpoints stop with it. */
import { cancelled } from '../../lib/scheduled-payments/schedule.ts'
import type { LifeStatus } from '../../lib/customers/status.ts'
import { endCustomer } from '../../storage/balances/closure.ts'
import { tellCustomerStatus } from '../../storage/customers/customer-rows.ts'
import { lockSchedulesOfCustomer, withState } from '../../storage/scheduled-payments/scheduled-payments.ts'
import type { AuditBy } from '../../storage/trail/trail.ts'
import { announceChange, discardQueued } from '../../storage/webhooks/webhook-endpoints.ts'
import { recordChange, type ChangeTransaction } from '../commands/changes.ts'
import { moveSchedule } from '../scheduled-payments/change-schedule.ts'

/** Closes a locked customer that has no money and nothing under way. `endedBy` is the person who asked for it. */
export async function closeCustomer(
  tx: ChangeTransaction,
  by: AuditBy,
  customerId: string,
  { previousStatus, endedBy }: { readonly previousStatus: LifeStatus; readonly endedBy: string },
): Promise<void> {
  const { client, ids, now } = tx
  for (const schedule of await lockSchedulesOfCustomer(client, customerId))
    await moveSchedule(tx, schedule, withState(schedule, cancelled(schedule.state)), null)
  const endpoints = await endCustomer(client, { customerId, by: endedBy, now })
  await discardQueued(client, endpoints, now)
  const move = { customerId, status: 'closed', previousStatus, id: ids.next(), now } as const
  await announceChange(client, endpoints, await tellCustomerStatus(client, move))
  await recordChange(tx, by, customerId, {
    action: 'customer.closed',
    object: { type: 'customer', id: customerId },
    before: { status: previousStatus },
    after: { status: 'closed' },
  })
}
