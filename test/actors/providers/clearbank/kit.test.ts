/** The contract of adapters, for ClearBank. */
import t from 'tap'
import type { RawProviderEvent } from '../../../../actors/providers/adapters/adapter.ts'
import { runKit, type AdapterHarness, type Trouble } from '../adapter-kit.ts'
import { openConnection } from '../../../support/clearbank/clearbank-connection.ts'
import { clearbankOrder } from '../../../support/clearbank/clearbank-orders.ts'
import { FakeClearbank, type Trouble as BankTrouble, type Webhook } from '../../../support/clearbank/fake-clearbank.ts'

const NOW = Date.parse('2026-08-24T10:00:00Z')

/** The troubles of the kit, as the bank has them. */
const TROUBLES: Readonly<Record<Trouble, BankTrouble>> = {
  answer_lost: { kind: 'silent' },
  request_lost: { kind: 'lost' },
  empty_answer: { kind: 'nothing', bytes: 0 },
  huge_answer: { kind: 'nothing', bytes: 5 * 1024 * 1024 },
  too_many: { kind: 'status', status: 429, retryAfter: 1 },
  echo: { kind: 'echo' },
}

async function open(): Promise<AdapterHarness> {
  const bank = new FakeClearbank(() => NOW)
  const baseUrl = await bank.start()
  const { connection, calls, close } = openConnection(bank, baseUrl, () => NOW)
  const credentials = bank.credentials()
  const webhookEvent = (webhook: Webhook): RawProviderEvent => {
    const request = { bytes: Buffer.from(webhook.body), headers: webhook.headers }
    const found = connection.verify!(request, bank.bank.publicPem, NOW)
    if (!found.valid) throw new Error(found.reason)
    const { eventId, type } = found
    return { source: 'webhook', eventId, type, body: request.bytes, headers: webhook.headers, occurredAt: NOW }
  }
  return {
    connection,
    now: NOW,
    order: (reference) => clearbankOrder({ reference }),
    troubles: new Set(Object.keys(TROUBLES) as Trouble[]),
    trouble: (trouble) => void bank.troubles.push(TROUBLES[trouble]),
    carried: (reference) =>
      bank.transactions.filter(
        ({ endToEndIdentifier, debitCreditCode }) =>
          debitCreditCode === 'DBIT' && endToEndIdentifier === reference.replaceAll('-', ''),
      ).length,
    calls: bank.times,
    async end(reference, { kind, code }) {
      const payment = bank.paymentOf(reference)
      if (payment === undefined) throw new Error('The bank has no such payment.')
      // A payment that comes back has settled before.
      if (kind === 'returned') return [webhookEvent(bank.cameBack(payment, code ?? 'AC04'))]
      const webhook = kind === 'settled' ? bank.settled(payment) : bank.rejected(payment, code)
      // The first page holds what happened last; hundreds of payments need not be listed one by one.
      if (bank.transactions.length > 10) return [webhookEvent(webhook)]
      const { events } = await connection.list!(NOW, null, NOW)
      return [webhookEvent(webhook), ...events.filter(({ eventId }) => eventId.includes(payment.transactionId))]
    },
    sign: (body) => {
      const { headers } = bank.signed(Buffer.from(body).toString('utf8'))
      return { bytes: body, headers }
    },
    webhookSecret: bank.bank.publicPem,
    signsTime: false,
    largeBody: (bytes) => Buffer.from(bank.webhook('FITestEvent', 1, 'x'.repeat(bytes)).body),
    // The lines of the key count one by one: an error may hold a part of it.
    secrets: [credentials.apiToken, ...credentials.privateKey.split('\n').filter((line) => line.length > 20)],
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
