/** Ids of the wrong kind, over HTTP: the refusal says what they are, within the caller's tenant and nowhere else. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { PaymentCheck } from '../../../lib/payments/payment-schema.ts'
import { createWorld, paymentBody, transferBody } from '../../support/world.ts'

t.test('ids of the wrong kind say what they are', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances, recipients } = world.seeded
  const payment = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 1_000))).body
  const stranger = await world.customer({ balances: [{ currency: 'EUR', amount: 1_000n }] })
  const [theirs] = stranger.balanceIds as [string]

  await t.test('in bodies', async (t) => {
    for (const [path, body, field, words] of [
      ['/payments', paymentBody(balances.EUR, balances.GBP, 100), '/recipientId', 'a balance'],
      ['/payments', paymentBody(recipients.EUR, recipients.EUR, 100), '/sourceBalanceId', 'a recipient'],
      ['/transfers', transferBody(balances.EUR, payment.id, 100), '/toBalanceId', 'a payment'],
      ['/transfers', transferBody(recipients.EUR, balances.EUR, 100), '/fromBalanceId', 'a recipient'],
    ] as const) {
      const { problem } = await client.post(path, body, randomUUID())
      t.match(problem, { status: 422, code: 'validation-error', errors: [{ field, code: 'not_found' }] })
      t.match(problem.errors?.[0]?.message, `This is the id of ${words}.`, `${path} ${field}`)
      t.match(problem.detail, `This is the id of ${words}.`)
    }
  })

  await t.test('in the check of a payment', async (t) => {
    const check = async (body: object) => (await client.post<PaymentCheck>('/payments/validate', body)).body.issues
    t.match(await check(paymentBody(recipients.EUR, balances.EUR, 100)), [
      { field: '/sourceBalanceId', code: 'not_found', message: 'No such balance. This is the id of a recipient.' },
      { field: '/recipientId', code: 'not_found', message: 'No such recipient. This is the id of a balance.' },
    ])
    t.match(await check(paymentBody(balances.EUR, randomUUID(), 100)), [{ message: 'No such recipient.' }])
  })

  await t.test('in paths', async (t) => {
    for (const [path, words] of [
      [`/payments/${balances.EUR}`, 'a balance'],
      [`/balances/${payment.id}`, 'a payment'],
      [`/recipients/${balances.EUR}`, 'a balance'],
      [`/transfers/${recipients.EUR}`, 'a recipient'],
    ] as const)
      t.match(
        (await client.get(path)).problem,
        {
          status: 404,
          code: 'not-found',
          detail: `No such resource exists in this tenant. This is the id of ${words}.`,
        },
        path,
      )
    t.equal((await client.get(`/payments/${randomUUID()}`)).problem.detail, 'No such resource exists in this tenant.')
  })

  await t.test('nothing is said of other tenants', async (t) => {
    t.equal((await client.get(`/payments/${theirs}`)).problem.detail, 'No such resource exists in this tenant.')
    const { problem } = await client.post('/payments', paymentBody(balances.EUR, theirs, 100), randomUUID())
    t.equal(problem.errors?.[0]?.message, 'No such recipient.')
    t.equal(
      (await stranger.client.get(`/recipients/${balances.EUR}`)).problem.detail,
      'No such resource exists in this tenant.',
    )
  })

  await t.test('money under review stays unseen', async (t) => {
    await world.query(
      `insert into incoming_payment select (jsonb_populate_record(null::incoming_payment, to_jsonb(i) || jsonb_build_object('id', $1::text, 'credited_at', null))).*
        from (select * from incoming_payment where customer_id = $2 limit 1) i`,
      [UNSEEN, client.tenantId],
    )
    t.equal((await world.query('select from incoming_payment where id = $1', [UNSEEN])).length, 1)
    t.equal((await client.get(`/payments/${UNSEEN}`)).problem.detail, 'No such resource exists in this tenant.')
    await world.query('delete from incoming_payment where id = $1', [UNSEEN])
  })
})

const UNSEEN = '01980d6e-0000-7000-8000-00000000abcd'
