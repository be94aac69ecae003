/** The contract of adapters, for Column, and what is its own. */
import t from 'tap'
import type { RawProviderEvent } from '../../../../actors/providers/adapters/adapter.ts'
import { columnDescription } from '../../../../lib/providers/column/description.ts'
import { columnOrder, columnQuestion, openColumn } from '../../../support/column/column-connection.ts'
import { ACCOUNT, API_KEY, FakeColumn, SECRET, type ColumnEvent } from '../../../support/column/fake-column.ts'
import { runKit, type AdapterHarness, type Trouble } from '../adapter-kit.ts'

const NOW = Date.parse('2026-08-24T10:00:00Z')
const TROUBLES: readonly Trouble[] = ['answer_lost', 'request_lost', 'empty_answer', 'huge_answer', 'too_many', 'echo']
const REFERENCE = '019ff000-0000-7000-8000-0000000000aa'

const bytesOf = (event: ColumnEvent): Uint8Array => Buffer.from(JSON.stringify(event))

async function open(): Promise<AdapterHarness> {
  const bank = new FakeColumn(() => NOW)
  const { connection, calls, close } = openColumn(await bank.start(), () => NOW)
  const eventsOf = async (event: ColumnEvent): Promise<readonly RawProviderEvent[]> => {
    const body = bytesOf(event)
    const headers = bank.signed(body)
    const found = connection.verify!({ bytes: body, headers }, SECRET, NOW)
    if (!found.valid) throw new Error(found.reason)
    const { eventId, type } = found
    const webhook: RawProviderEvent = { source: 'webhook', eventId, type, body, headers, occurredAt: NOW }
    // The first page holds what happened last; hundreds of payments need not be listed one by one.
    if (bank.events.length > 10) return [webhook]
    const { events } = await connection.list!(NOW, null, NOW)
    return [webhook, ...events.filter((each) => each.eventId === event.id)]
  }
  return {
    connection,
    now: NOW,
    order: (reference) => columnOrder(reference),
    troubles: new Set(TROUBLES),
    trouble: (trouble) => void bank.troubles.push(trouble),
    carried: (reference) => bank.transfersOf(reference).length,
    calls: bank.times,
    end: async (reference, { kind, code }) =>
      await eventsOf(
        kind === 'settled'
          ? bank.moves(reference, 'SETTLED', 'settled')
          : bank.moves(reference, 'RETURNED', 'returned', code),
      ),
    sign: (body) => ({ bytes: body, headers: bank.signed(body) }),
    webhookSecret: SECRET,
    signsTime: false,
    largeBody: (bytes) => bytesOf(bank.tell('ach.incoming_transfer.completed', { memo: 'x'.repeat(bytes) })),
    secrets: [API_KEY, SECRET],
    recorded: () => Promise.resolve(calls.map((call) => JSON.stringify(call))),
    async close() {
      await close()
      await bank.stop()
    },
  }
}

t.test('the contract', async (t) => {
  await runKit(t, open)
})

t.test('what is Column’s own', async (t) => {
  const bank = new FakeColumn(() => NOW)
  const baseUrl = await bank.start()
  const { connection, close } = openColumn(baseUrl, () => NOW)
  t.teardown(async () => {
    await close()
    await bank.stop()
  })
  const submit = async (order = columnOrder(REFERENCE)) => (await connection.submit!([order], NOW)).get(order.reference)

  await t.test('a transfer holds what the bank needs', async (t) => {
    const sent = await submit()
    t.match(sent, { kind: 'accepted', providerRef: /^acht_/ })
    t.strictSame(bank.transfers[0]?.request, {
      type: 'CREDIT',
      amount: 1_234,
      currency_code: 'USD',
      bank_account_id: ACCOUNT,
      entry_class_code: 'PPD',
      description: 'Invoice 42   May',
      counterparty: {
        name: 'Grace Hopper',
        routing_number: '099000011',
        account_number: '123456789',
        account_type: 'savings',
      },
    })
    const known = bank.transfers[0]!.id
    t.match((await connection.status!([columnQuestion(REFERENCE, NOW, known)], NOW)).get(REFERENCE), {
      kind: 'pending',
      providerRef: known,
    })
  })

  await t.test('refusals, and answers that are none', async (t) => {
    const rows: readonly (readonly [status: number, code: string, expected: object])[] = [
      [400, 'transfer_non_sufficient_fund', { kind: 'refused', schemeCode: 'AM04', beforeAcceptance: true }],
      [422, 'anything', { kind: 'refused', schemeCode: 'TECH', beforeAcceptance: true }],
      [401, 'unauthorized', { kind: 'unsent' }],
      [409, 'in_flight', { kind: 'timeout' }],
      [500, 'internal', { kind: 'timeout' }],
    ]
    for (const [nth, [status, code, expected]] of rows.entries()) {
      bank.refusal = { status, code }
      t.strictSame(await submit(columnOrder(`019ff000-0000-7000-8000-00000000b00${nth}`)), expected, String(status))
    }
    bank.refusal = null
    const none = { kind: 'refused', schemeCode: 'AC01', beforeAcceptance: true }
    t.strictSame(await submit(columnOrder(REFERENCE.replace('aa', 'ab'), { account: {} })), none)
  })

  await t.test('settled and completed are one message; what comes back before is a rejection', async (t) => {
    const raw = (event: ColumnEvent): RawProviderEvent => ({
      source: 'webhook',
      eventId: event.id,
      type: event.type,
      body: bytesOf(event),
      headers: {},
      occurredAt: NOW,
    })
    const told = (event: ColumnEvent) => connection.translate(raw(event))
    const [settled] = told(bank.moves(REFERENCE, 'SETTLED', 'settled'))
    const [completed] = told(bank.moves(REFERENCE, 'COMPLETED', 'completed'))
    t.strictSame(completed, settled)
    t.match(told(bank.moves(REFERENCE, 'RETURNED', 'returned', 'R03')), [
      { port: 'bank', message: { type: 'returned', schemeCode: 'R03', amount: 1_234n } },
    ])
    const early = REFERENCE.replace('aa', 'ac')
    await submit(columnOrder(early, { type: 'business' }))
    t.equal(bank.transfers[0]?.request['entry_class_code'], 'CCD')
    t.match(told(bank.moves(early, 'RETURNED', 'returned', 'R01')), [
      { port: 'bank', message: { type: 'rejected', schemeCode: 'R01', amount: null } },
    ])
    t.match(told(bank.tell('ach.outgoing_transfer.noc', {})), [{ port: 'none', isFault: false }])
    t.match(told(bank.tell('ach.incoming_transfer.completed', {})), [{ port: 'none', isFault: false }])
    t.match(told(bank.moves(early, 'SOMETHING_NEW', 'submitted')), [{ port: 'none', isFault: true }])
  })

  await t.test('probes, keys and configuration', async (t) => {
    t.match(await connection.probe(NOW), { ok: true, message: null })
    for (const [change, message] of [
      [{ apiKey: 'test_other' }, /does not accept the key/],
      [{ apiKey: 'live_key' }, /not one for sandbox/],
      [{ accountRef: 'bacc_none' }, /no account of this id/],
    ] as const) {
      const other = openColumn(baseUrl, () => NOW, change)
      t.match(await other.connection.probe(NOW), { ok: false, message })
      await other.close()
    }
    t.match(columnDescription.configFault?.({ settlementAccounts: [] }), /must name the bank account/)
    t.match(columnDescription.webhooks?.secretFault('a b'), /Must be the secret/)
    t.equal(columnDescription.webhooks?.secretFault(SECRET), null)
  })
})
