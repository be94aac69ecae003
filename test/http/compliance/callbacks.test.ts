/** The endpoints that are told of a compliance hold: the operator's endpoints, and never a customer's. */
import t from 'tap'
import type { IntegratorWebhook } from '../../../lib/webhooks/webhook-schema.ts'
import { Receiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import { holdOf, pay, setFourEyes } from './staff.ts'

const HOLDS = ['compliance_hold.created', 'compliance_hold.released', 'compliance_hold.blocked']

t.test(
  'holds are told to operators with what they are about, and not to customers whatever their endpoints say',
  async (t) => {
    await using operators = await Receiver.open()
    await using customers = await Receiver.open()
    await using world = await createWorld({ settings: { WEBHOOK_TARGETS: 'any' } })
    await setFourEyes(world, false)
    const { client } = world.seeded
    t.match((await client.post('/integrator-webhooks', { url: customers.url, events: HOLDS })).problem, {
      status: 422,
      errors: [{ field: '/events/0', code: 'invalid_value' }],
    })
    const { id: endpointId } = (
      await client.post<IntegratorWebhook>('/integrator-webhooks', {
        url: customers.url,
        events: ['payment.status_changed', 'payment.failed'],
      })
    ).body
    // As if the rule had once been another one.
    await world.query('update webhook_endpoint set events = events || $2::text[] where id = $1', [endpointId, HOLDS])
    t.equal((await world.operator.post('/integrator-webhooks', { url: operators.url, events: HOLDS })).status, 201)
    const payment = await pay(world, 5_000, 'SBX:HOLD')
    await client.paymentReaching(payment.id, 'on_hold')
    const staff = await world.person('compliance').signIn()
    const hold = await holdOf(staff, payment.id)
    t.equal((await staff.post(`/compliance-holds/${hold.id}/block`, { reason: 'On the list.' })).status, 200)
    await until('both have been told', () => operators.received.length === 2 && customers.received.length === 3)
    const operatorId = staff.tenantId
    t.match(operators.ofType('compliance_hold.created')[0]?.event, {
      tenantId: operatorId,
      customerId: payment.customerId,
      data: {
        object: 'compliance_hold',
        id: hold.id,
        status: 'open',
        previousStatus: null,
        amount: null,
        related: { object: 'payment', id: payment.id },
        test: false,
      },
    })
    t.match(operators.ofType('compliance_hold.blocked')[0]?.event.data, {
      status: 'blocked',
      previousStatus: 'open',
      related: { object: 'payment', id: payment.id },
    })
    t.strictSame(
      customers.received.map(({ event }) => [event.type, event.data.status, event.data.related]),
      [
        ['payment.status_changed', 'on_hold', null],
        ['payment.status_changed', 'failed', null],
        ['payment.failed', 'failed', null],
      ],
    )
    for (const { body } of customers.received) t.notMatch(body, /complian|screen|sanction/i)
  },
)
