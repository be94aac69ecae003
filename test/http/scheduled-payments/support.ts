/** The parts that tests of scheduled payments share. */
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type {
  ScheduledPayment,
  ScheduledPaymentCreate,
  ScheduledPaymentOccurrence,
} from '../../../lib/scheduled-payments/scheduled-payment-schema.ts'
import type { Static } from 'typebox'
import { addDays, dateIn } from '../../../lib/base/clock.ts'
import { zonedMoment } from '../../../lib/rails/calendar-days.ts'
import type { PageBody, Reply } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import type { World } from '../../support/world.ts'

export const DAY_MS = 86_400_000
export const ZONE = 'Europe/Brussels'

/** A date so many days from now, by the clocks of the rails in euro. */
export const inDays = (world: World, days: number): string => addDays(dateIn(world.now(), ZONE), days)

/** A moment after the time of day at which payments of a date are made, so many days from now. */
export const dueIn = (world: World, days: number): number => zonedMoment(ZONE, inDays(world, days), '00:06')

/** A schedule of the seeded customer in euro that can be made: monthly, from tomorrow. */
export function scheduleBody(world: World, change: Partial<ScheduledPaymentCreate> = {}): ScheduledPaymentCreate {
  const { balances, recipients } = world.seeded
  return {
    recipientId: recipients.EUR,
    sourceBalanceId: balances.EUR,
    amount: { amountMinor: '95000', currency: 'EUR' },
    reference: 'Rent',
    frequency: 'monthly',
    startDate: inDays(world, 1),
    ...change,
  }
}

export const create = (
  world: World,
  change: Partial<ScheduledPaymentCreate> = {},
  key?: string,
): Promise<Reply<ScheduledPayment>> =>
  world.seeded.client.post<ScheduledPayment>('/scheduled-payments', scheduleBody(world, change), key)

export const read = async (world: World, id: string): Promise<ScheduledPayment> =>
  (await world.seeded.client.get<ScheduledPayment>(`/scheduled-payments/${id}`)).body

export const act = (
  world: World,
  id: string,
  action: 'pause' | 'resume' | 'cancel',
): Promise<Reply<ScheduledPayment>> =>
  world.seeded.client.send<ScheduledPayment>(`/v1/scheduled-payments/${id}/${action}`, { method: 'POST' })

export const runNow = (world: World, id: string): Promise<Reply<{ readonly details: Record<string, string> }>> =>
  world.seeded.client.send(`/v1/simulations/scheduled-payments/${id}/run-now`, { method: 'POST' })

/** Changes one on the version that is there. */
export async function patch(world: World, id: string, change: object, tag?: string): Promise<Reply<ScheduledPayment>> {
  const { client } = world.seeded
  const etag = tag ?? (await client.get(`/scheduled-payments/${id}`)).headers.get('etag')!
  return await client.send<ScheduledPayment>(`/v1/scheduled-payments/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', 'if-match': etag },
    body: JSON.stringify(change),
  })
}

export interface Occurrences extends PageBody<Static<typeof ScheduledPaymentOccurrence>> {
  readonly upcoming: readonly { readonly plannedDate: string; readonly executionDate: string }[]
}
export const occurrences = async (world: World, id: string, query = ''): Promise<Occurrences> =>
  (await world.seeded.client.get<Occurrences>(`/scheduled-payments/${id}/occurrences${query}`)).body

/** Waits until a schedule is as wanted. */
export const reaching = (
  world: World,
  id: string,
  what: string,
  is: (schedule: ScheduledPayment) => boolean,
): Promise<ScheduledPayment> =>
  until(
    `scheduled payment ${id}: ${what}`,
    async () => {
      const found = await read(world, id)
      return is(found) ? found : null
    },
    { pollMs: 50 },
  )

/** The payments of a schedule, the newest first. */
export const paymentsOf = async (world: World, id: string): Promise<readonly Payment[]> =>
  (await world.seeded.client.list<Payment>('/payments', { 'filter[scheduledPaymentId]': id, limit: 100 })).body.data

/** The status changes of a schedule as its events tell them: `before after`. */
export async function statusEvents(world: World, id: string): Promise<string[]> {
  const rows = await world.query<{ previous_status: string | null; status: string }>(
    `select previous_status, status from outbox where object_id = $1 and type = 'scheduled_payment.status_changed' and object = 'scheduled_payment' order by created_at, id`,
    [id],
  )
  return rows.map(({ previous_status, status }) => `${previous_status ?? 'none'} ${status}`)
}

/** The trail of a schedule: each action, and the kind of its actor. */
export const trail = async (world: World, id: string): Promise<string[]> =>
  (
    await world.query<{ action: string; actor_type: string }>(
      'select action, actor_type from audit_event where object_id = $1 order by id',
      [id],
    )
  ).map(({ action, actor_type }) => `${action} ${actor_type}`)
