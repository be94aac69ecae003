/** The adapter of Increase: the contract of adapters, and the words of the bank. */
import t, { type Test } from 'tap'
import { increaseDescription } from '../../../../lib/providers/increase/description.ts'
import { runKit } from '../adapter-kit.ts'
import { ACCOUNT, NOW, openIncreaseHarness, orderOf } from './increase-bank.ts'

const REFERENCE = '019ff000-0000-7000-8000-000000000001'

async function open(t: Test) {
  const harness = await openIncreaseHarness()
  t.teardown(() => harness.close())
  return harness
}

t.test('Increase keeps the contract', (t) => runKit(t, openIncreaseHarness))

t.test('an order becomes a transfer', async (t) => {
  const { bank, connection } = await open(t)
  const taken = await connection.submit?.([orderOf(REFERENCE)], NOW)
  t.strictSame(taken?.get(REFERENCE), { kind: 'accepted', providerRef: 'ach_transfer_0' })
  t.strictSame(bank.requests, [
    {
      account_id: ACCOUNT,
      amount: 1000,
      statement_descriptor: 'Invoice 1',
      account_number: '987654321',
      routing_number: '101050001',
      funding: 'checking',
      individual_name: 'Ada Lovelace',
      company_name: 'National Phonogr',
      destination_account_holder: 'individual',
      standard_entry_class_code: 'prearranged_payments_and_deposit',
      preferred_effective_date: { settlement_schedule: 'future_dated' },
      require_approval: false,
    },
  ])
})

t.test('an answer says no more than it knows', async (t) => {
  const { bank, connection } = await open(t)
  const submitted = async (status: number, body: unknown) => {
    bank.answer = { status, body }
    return (await connection.submit?.([orderOf(REFERENCE)], NOW))?.get(REFERENCE)
  }
  const refused = { kind: 'refused', schemeCode: 'invalid_operation_error', beforeAcceptance: true }
  t.strictSame(await submitted(409, { type: 'invalid_operation_error', status: 409 }), refused)
  t.strictSame(await submitted(409, { type: 'idempotency_key_already_used_error' }), { kind: 'timeout' })
  t.strictSame(await submitted(401, { type: 'invalid_api_key_error' }), { kind: 'unsent' })
  t.strictSame(await submitted(400, 'a page of a proxy'), { kind: 'timeout' })
  t.strictSame(await submitted(500, { type: 'internal_server_error' }), { kind: 'timeout' })
  t.strictSame(await submitted(200, { id: 'ach_transfer_9' }), { kind: 'timeout' })
  t.equal(bank.transfers.size, 0)
})

t.test('an order without an account at a bank is refused, and nothing is sent', async (t) => {
  const { bank, connection } = await open(t)
  const { parties: _, ...order } = orderOf(REFERENCE)
  const refused = { kind: 'refused', schemeCode: 'NARR', beforeAcceptance: true }
  t.strictSame((await connection.submit?.([order], NOW))?.get(REFERENCE), refused)
  t.equal(bank.calls.length, 0)
})

t.test('the status tells every end, and what was named once is never unknown', async (t) => {
  const { bank, connection } = await open(t)
  const asked = async (providerRef: string | null) => {
    const { connectionId, rail, currency, amount } = orderOf(REFERENCE)
    const question = { reference: REFERENCE, connectionId, providerRef, rail, currency, amount, sentAt: NOW }
    return (await connection.status?.([question], NOW))?.get(REFERENCE)
  }
  t.strictSame(await asked(null), { kind: 'unknown' })
  t.equal(await asked('ach_transfer_0'), undefined)
  await connection.submit?.([orderOf(REFERENCE)], NOW)
  const providerRef = 'ach_transfer_0'
  t.strictSame(await asked(null), { kind: 'pending', providerRef })
  bank.end(REFERENCE, { kind: 'settled', code: null })
  t.strictSame(await asked(null), { kind: 'settled', providerRef })
  bank.end(REFERENCE, { kind: 'returned', code: 'R03' })
  t.strictSame(await asked(null), { kind: 'returned', schemeCode: 'R03', amount: 1000n, providerRef })
})

t.test('the list has the state of each transfer, and a webhook says nothing', async (t) => {
  const { bank, connection } = await open(t)
  await connection.submit?.([orderOf(REFERENCE)], NOW)
  bank.end(REFERENCE, { kind: 'rejected', code: 'R03' })
  const page = await connection.list?.(NOW - 1_000, null, NOW)
  const [event, ...others] = page?.events ?? []
  t.equal(others.length, 0, 'two events of one transfer are one reading')
  t.ok(event !== undefined && !bank.events.some(({ id }) => id === event.eventId), 'a webhook has another id')
  if (event === undefined) return
  t.match(connection.translate(event), [{ message: { type: 'rejected', schemeCode: 'R03', reference: REFERENCE } }])
  const body = Buffer.from(JSON.stringify(bank.events[0]))
  t.match(connection.translate({ ...event, source: 'webhook', body }), [{ port: 'none', isFault: false }])
})

t.test('the description asks for the account that pays', (t) => {
  t.match(increaseDescription.configFault?.({}), /USD/)
  t.equal(increaseDescription.configFault?.({ settlementAccounts: [{ currency: 'USD', accountRef: ACCOUNT }] }), null)
  t.match(increaseDescription.webhooks?.secretFault('short'), /characters/)
  t.end()
})
