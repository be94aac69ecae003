/**
 * Names of payees and exchanges are asked of the customer's own connections: where none of their providers has the
 * ability, the answer says so, and the sandbox's answer is not put in its place.
 */
import t from 'tap'
import type { IndicativeRates, Quote } from '../../../lib/exchange/exchange-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { Recipient } from '../../../lib/recipients/recipient-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { exchange, quote } from '../exchange/support.ts'
import { createByKey } from '../recipients/support.ts'

const NOT_OFFERED = 'No bank of the customer checks names.'
/** A recipient with an account at the sandbox bank. */
const inPounds = (name: string, accountNumber: string) =>
  ({ name, currency: 'GBP', bank: { bankCountry: 'GB', sortCode: '990001', accountNumber } }) as const

t.test('what no connection of the customer can do', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const check = async (id: string) =>
    await client.send<Recipient['verification']>(`/v1/recipients/${id}/verify`, { method: 'POST' })
  const named = async (name: string, account: string) => await createByKey(client, inPounds(name, account))
  t.match(
    (await named('Nomatch One Ltd', '31926811')).problem,
    { code: 'verification-mismatch' },
    'the sandbox checks names',
  )
  const early = (await quote(client)).body

  // The operator's only connection becomes one of a bank that checks no names and exchanges nothing.
  await world.query(`update provider_connection set provider = 'clearbank'`)
  await until('the bank is another', async () => (await check(recipients.GBP)).status === 422)

  await t.test('names', async (t) => {
    t.match((await check(recipients.GBP)).problem, { status: 422, code: 'verification-unavailable', scheme: 'cop' })
    t.match((await check(recipients.EUR)).problem, { status: 422, code: 'verification-unavailable', scheme: 'vop' })
    const made = await named('Nomatch Two Ltd', '31926812')
    t.match(made.body.verification, {
      scheme: 'cop',
      outcome: 'unavailable',
      reasonCode: null,
      reason: NOT_OFFERED,
      matchedName: null,
      validUntil: null,
    })
    const pounds = () => client.post<Payment>('/payments', paymentBody(balances.GBP, recipients.GBP, 100, 'GBP'))
    t.match((await pounds()).body.verification, { scheme: 'cop', outcome: 'unavailable', reason: NOT_OFFERED })
    await world.query(`update operator set recipient_require_verification = true`)
    await until('the operator demands a check', async () => {
      const refused = await pounds()
      return refused.status === 422 && refused.problem.code === 'verification-mismatch'
    })
    await world.query(`update operator set recipient_require_verification = false`)
  })

  await t.test('exchanges', async (t) => {
    const off = { status: 404, code: 'feature-disabled', feature: 'exchange.spot' }
    t.match((await client.get<IndicativeRates>('/exchanges/rates?sellCurrency=EUR')).problem, off)
    t.match((await quote(client)).problem, off)
    t.match((await client.post<Quote>(`/exchanges/quotes/${early.id}/refresh`, undefined)).problem, off)
    t.match((await exchange(client, early.id)).problem, off, 'an earlier quote is no promise of the new bank')
    const bought = await client.post('/payments', {
      ...paymentBody(balances.USD, recipients.USD, 100, 'USD'),
      quoteId: early.id,
    })
    t.match(bought.problem, off)
    t.strictSame(await world.query('select from exchange'), [])
  })

  await t.test('another connection for the currency has the ability', async (t) => {
    await world.query(
      `insert into provider_connection (id, operator_id, provider, environment, role, status, name, fallback_currencies, verified_at, activated_at, created_at)
       select gen_random_uuid(), operator_id, 'sandbox', 'sandbox', 'fallback', 'active', 'For pounds', '{GBP}', now(), now(), now() from provider_connection`,
    )
    await until('pounds are checked', async () => (await check(recipients.GBP)).status === 200)
    t.match((await named('Nomatch Three Ltd', '31926813')).problem, { code: 'verification-mismatch' })
    t.match((await check(recipients.EUR)).problem, { code: 'verification-unavailable' }, 'it is not for euros')
    t.match((await quote(client)).problem, { code: 'feature-disabled' }, 'the money does not sit there')
    await world.query(`update provider_connection set status = 'draining', draining_at = now() where role = 'fallback'`)
    await until('it drains', async () => (await check(recipients.GBP)).status === 422)
  })

  await world.query(`update provider_connection set provider = 'sandbox'`)
})

t.test('a service without a sandbox has no answers of the sandbox', async () => {
  await using world = await createWorld()
  const { client, recipients } = world.seeded
  // The connection is one of a provider for which this version has no adapter, as the sandbox’s is in production.
  await world.query(`update provider_connection set provider = 'adyen'`)
  await until('no name is checked', async () => {
    const reply = await client.send(`/v1/recipients/${recipients.GBP}/verify`, { method: 'POST' })
    return reply.status === 422 && reply.problem.code === 'verification-unavailable'
  })
  await until('no rate is quoted', async () => {
    const reply = await quote(client)
    return reply.status === 502 && reply.problem.code === 'provider-error'
  })
  await world.query(`update provider_connection set provider = 'sandbox'`)
})
