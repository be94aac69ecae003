/** Money that comes in, for tests: somebody pays, and the sandbox bank says so. */
import type { IncomingPayment } from '../../../lib/incoming-payments/incoming-payment-schema.ts'
import type { Client } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import type { World } from '../../support/world.ts'

export interface Simulated {
  readonly simulationId: string
  readonly kind: string
  readonly status: string
  readonly provider: string
  readonly providerEventIds: readonly string[]
  readonly providerReference: string | null
  readonly details: { readonly incomingPaymentRef: string; readonly caseId: string }
}

export const money = (amountMinor: number | bigint, currency = 'EUR') => ({
  amountMinor: String(amountMinor),
  currency,
})

/** Lets somebody pay; returns the id of what it becomes. */
export async function pay(
  client: Client,
  body: {
    readonly balanceId: string
    readonly amount: { readonly amountMinor: string; readonly currency: string }
  } & Readonly<Record<string, unknown>>,
): Promise<string> {
  return (await client.post<Simulated>('/simulations/incoming-payments', body)).body.details.incomingPaymentRef
}

/** Waits until it has come to its balance. */
export async function received(client: Client, id: string): Promise<IncomingPayment> {
  return await until(`${id} is received`, async () => {
    const reply = await client.get<IncomingPayment>(`/incoming-payments/${id}`)
    return reply.status === 200 ? reply.body : null
  })
}

/** Waits until its row says what is asked for; customers do not see all of them. */
export async function rowReaching(
  world: World,
  id: string,
  column: 'status' | 'return_state' | 'suspense',
  value: string,
): Promise<void> {
  await until(
    `${id} has ${column} ${value}`,
    async () =>
      (await world.query(`select from incoming_payment where id = $1 and ${column} = $2`, [id, value])).length === 1,
  )
}

/** The rules of its entries in the order they were posted, and the events about it. */
export async function trace(
  world: World,
  id: string,
): Promise<{ readonly rules: readonly string[]; readonly events: readonly string[] }> {
  const postings = await world.query<{ rule: string }>(
    'select rule from posting where source_id = $1 order by booked_at, entry_id, ordinal',
    [id],
  )
  const events = await world.query<{ type: string }>(
    `select type from outbox where object_id = $1 or object_id in (select c.id from compliance_hold c where c.subject_id = $1) order by id`,
    [id],
  )
  return { rules: postings.map(({ rule }) => rule), events: events.map(({ type }) => type) }
}

/** Closes a balance as nothing else would while there is money about. */
export async function shut(world: World, balanceId: string): Promise<void> {
  await world.query(`update account_details set status = 'closed' where balance_id = $1`, [balanceId])
  await world.query(
    `update balance set status = 'closed', is_default = false, closed_at = now(), version = version + 1 where id = $1`,
    [balanceId],
  )
}
