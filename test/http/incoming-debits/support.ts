/** Direct debits that creditors collect, for tests: the sandbox bank announces them. */
import type { IncomingDebit } from '../../../lib/incoming-debits/incoming-debit-schema.ts'
import type { IncomingDebitStatus } from '../../../lib/incoming-debits/incoming-debit.ts'
import type { Client } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import type { World } from '../../support/world.ts'

export const money = (amountMinor: number | bigint, currency = 'EUR') => ({
  amountMinor: String(amountMinor),
  currency,
})

/** The members of a simulation that a test may set beside the balance. */
export interface Collected {
  readonly amount?: { readonly amountMinor: string; readonly currency: string }
  readonly creditorName?: string
  readonly creditorId?: string
  readonly mandateReference?: string
  readonly scheme?: string
  readonly reference?: string
  readonly dueDate?: string
}

/** Lets a creditor collect; returns the id of the debit. */
export async function collect(client: Client, balanceId: string, body: Collected = {}): Promise<string> {
  const reply = await client.post<{ readonly details: { readonly incomingDebitRef: string } }>(
    '/simulations/incoming-debits',
    { balanceId, amount: money(1_000), creditorName: 'City Power', scheme: 'sepa_dd_core', ...body },
  )
  if (reply.status !== 202) throw new Error(reply.text)
  return reply.body.details.incomingDebitRef
}

/** Waits until a debit has a status. */
export async function reaching(client: Client, id: string, status: IncomingDebitStatus): Promise<IncomingDebit> {
  return await until(`${id} is ${status}`, async () => {
    const reply = await client.get<IncomingDebit>(`/incoming-debits/${id}`)
    return reply.status === 200 && reply.body.status === status ? reply.body : null
  })
}

/** The rules of the entries of a debit, in their order, and the events about it with their statuses. */
export async function trace(
  world: World,
  id: string,
): Promise<{ readonly rules: string[]; readonly events: string[] }> {
  const postings = await world.query<{ rule: string }>(
    'select rule from posting where source_id = $1 order by booked_at, entry_id, ordinal',
    [id],
  )
  const events = await world.query<{ type: string; status: string }>(
    'select type, status from outbox where object_id = $1 order by created_at, id',
    [id],
  )
  return {
    rules: postings.map(({ rule }) => rule),
    events: events.map(({ type, status }) => `${type.slice('incoming_debit.'.length)} ${status}`),
  }
}

/** Returns the day that is some days after a moment, by the clocks of Berlin. */
export const dayAfter = (ms: number, days: number): string =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO('Europe/Berlin').toPlainDate().add({ days }).toString()
