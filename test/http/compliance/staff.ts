/** People of the operator, and what they look after, for tests of holds and exceptions. */
import type { ComplianceHold, ComplianceHoldDetail } from '../../../lib/compliance/compliance-hold-schema.ts'
import type { Exception } from '../../../lib/compliance/exception-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { PageBody } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import { paymentBody, type World } from '../../support/world.ts'

export const eur = (minor: number) => ({ amountMinor: String(minor), currency: 'EUR' })

/** A payment of the seeded customer, by key. */
export async function pay(
  world: World,
  minor: number,
  reference = 'Invoice 42',
  recipientId = world.seeded.recipients.EUR,
): Promise<Payment> {
  return (
    await world.seeded.client.createPayment({
      ...paymentBody(world.seeded.balances.EUR, recipientId, minor),
      reference,
    })
  ).body
}

/** The events of an object as `type previous status`, in the order in which they were written. */
export async function eventsOf(world: World, id: string): Promise<readonly string[]> {
  const rows = await world.query<{ type: string; status: string; previous_status: string | null }>(
    'select type, status, previous_status from outbox where object_id = $1 order by created_at, id',
    [id],
  )
  return rows.map(({ type, status, previous_status }) => [type, previous_status, status].join(' '))
}

/** The statuses that a payment has gone through, with what customers read about each. */
export async function updatesOf(world: World, id: string): Promise<readonly string[]> {
  const rows = await world.query<{ status: string; message: string }>(
    'select status, message from status_update where object_id = $1 order by version',
    [id],
  )
  return rows.map(({ status, message }) => `${status}: ${message}`)
}

/** The hold that a payment waits for, or waited for. */
export async function holdOf(staff: Person, paymentId: string): Promise<ComplianceHoldDetail> {
  const page = (
    await staff.get<PageBody<ComplianceHold>>('/compliance-holds?filter[status]=open,released,blocked&limit=100')
  ).body
  const found = page.data.find(({ related }) => related.id === paymentId)
  if (found === undefined) throw new Error(`No hold is about ${paymentId}.`)
  return (await staff.get<ComplianceHoldDetail>(`/compliance-holds/${found.id}`)).body
}

/** The newest exception of a payment. */
export async function exceptionOf(staff: Person, paymentId: string): Promise<Exception> {
  const page = (
    await staff.get<PageBody<Exception>>('/exceptions?filter[status]=open,resolved&sort=-createdAt&limit=100')
  ).body
  const found = page.data.find(({ related }) => related.id === paymentId)
  if (found === undefined) throw new Error(`No exception is about ${paymentId}.`)
  return found
}

/** Whether one person is enough. */
export async function setFourEyes(world: World, on: boolean): Promise<void> {
  const admin = await world.person('operator_admin').signIn()
  const reply = await admin.send(
    'PATCH',
    '/operator/settings',
    { compliance: { fourEyesRelease: on }, payments: { fourEyesExceptions: on } },
    { 'if-match': '*' },
  )
  if (reply.status !== 200) throw new Error(reply.text)
}
