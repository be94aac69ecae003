/** The calls of the adapter of ClearBank, against a bank that behaves as documented. */
import t from 'tap'
import { openConnection } from '../../../support/clearbank/clearbank-connection.ts'
import { clearbankOrder, questionOf } from '../../../support/clearbank/clearbank-orders.ts'
import { FakeClearbank, type Trouble } from '../../../support/clearbank/fake-clearbank.ts'

const HOUR = 3_600_000
let now = Date.parse('2026-08-24T10:00:00Z')
const bank = new FakeClearbank(() => now)
const baseUrl = await bank.start()
const { connection, calls, close } = openConnection(bank, baseUrl, () => now)
t.teardown(async () => {
  await close()
  await bank.stop()
})

/** Sends a new order to a bank with troubles, and returns its result without its kind where there is no more. */
async function send(...troubles: readonly Trouble[]): Promise<unknown> {
  const order = clearbankOrder()
  bank.troubles.push(...troubles)
  const results = await connection.submit!([order], now)
  bank.troubles.length = 0
  return results.get(order.reference)
}

const status = (code: number, body?: object): Trouble => ({ kind: 'status', status: code, ...(body && { body }) })

t.test('an answer is a refusal only when it is certain that the payment was not taken', async (t) => {
  t.strictSame(await send(), { kind: 'accepted' })
  for (const code of [400, 404, 405, 406, 410, 413, 415, 422])
    t.strictSame(await send(status(code)), { kind: 'refused', schemeCode: 'TECH', beforeAcceptance: true }, `${code}`)
  for (const code of [401, 403, 423]) t.strictSame(await send(status(code)), { kind: 'unsent' }, `${code}`)
  for (const code of [302, 408, 500, 502, 503, 504])
    t.strictSame(await send(status(code)), { kind: 'timeout' }, `${code}`)
  t.strictSame(await send({ kind: 'taken_then', status: 500 }), { kind: 'accepted' }, 'the body says that it was taken')
  t.strictSame(await send(status(202, {})), { kind: 'timeout' }, 'an answer without the payment')
  const other = { transactions: [{ endToEndIdentification: 'theirs', response: 'Accepted' }] }
  t.strictSame(await send(status(202, other)), { kind: 'timeout' }, 'an answer about another payment')
})

t.test('the bank’s word for a refusal is translated, and a doubtful one is no refusal', async (t) => {
  for (const [response, schemeCode] of [
    ['InsufficientFunds', 'AM04'],
    ['InvalidAccount', 'AC01'],
    ['InvalidCurrency', 'AM03'],
    ['DebitPaymentDisabled', 'AG01'],
    ['Rejected', 'Rejected'],
  ] as const) {
    bank.response = response
    t.strictSame(await send(), { kind: 'refused', schemeCode, beforeAcceptance: true }, response)
  }
  for (const response of ['InvalidInstructionIdentification', 'ANewWord']) {
    bank.response = response
    t.strictSame(await send(), { kind: 'timeout' }, response)
  }
  bank.response = 'Accepted'
})

t.test('an order that was sent before is looked up, and a look-up that fails decides nothing', async (t) => {
  const order = clearbankOrder()
  bank.troubles.push({ kind: 'silent' })
  t.strictSame((await connection.submit!([order], now)).get(order.reference), { kind: 'timeout' })
  bank.troubles.push(status(409), status(500), status(500), status(500))
  t.strictSame((await connection.submit!([order], now)).get(order.reference), { kind: 'timeout' })
  bank.troubles.length = 0
  t.strictSame((await connection.submit!([order], now)).get(order.reference), { kind: 'accepted' })
  t.equal(bank.transactions.filter(({ pounds }) => pounds === 12.34).length > 0, true)
  bank.rejected(bank.paymentOf(order.reference)!, 'AC03')
  t.strictSame((await connection.submit!([order], now)).get(order.reference), { kind: 'timeout' }, 'staff decide')
})

t.test('the look-up tells the state, and after 23 hours no longer that a payment never arrived', async (t) => {
  const [known, lost] = [clearbankOrder(), clearbankOrder()]
  await connection.submit!([known], now)
  const ask = async (at = now) =>
    Object.fromEntries(await connection.status!([questionOf(known, now), questionOf(lost, now)], at))
  const at = (known: object, lost: object | undefined) => [known, lost]
  const states = async (time?: number) => {
    const found = await ask(time)
    return at(found[known.reference]!, found[lost.reference])
  }
  t.strictSame(await states(), [{ kind: 'pending' }, { kind: 'unknown' }])
  t.strictSame(await states(now + 22 * HOUR), [{ kind: 'pending' }, { kind: 'unknown' }])
  t.strictSame(await states(now + 24 * HOUR), [{ kind: 'pending' }, undefined])
  bank.settled(bank.paymentOf(known.reference)!)
  t.strictSame(await states(), [{ kind: 'settled' }, { kind: 'unknown' }])
  bank.rejected(bank.paymentOf(known.reference)!, 'AC03')
  t.strictSame(await states(), [{ kind: 'rejected', schemeCode: 'RJCT' }, { kind: 'unknown' }])
  bank.troubles.push(status(403))
  await t.rejects(connection.status!([questionOf(known, now)], now), { name: 'ClearbankRefusal' })
})

t.test('the lists tell payments at once, and credits when no webhook can come any more', async (t) => {
  const credit = bank.receive({ pounds: 20.5 })
  const listed = async (since: number) => {
    const ids: string[] = []
    for (let cursor: string | null = null; ; ) {
      const page = await connection.list!(since, cursor, now)
      for (const { body, type, source } of page.events) {
        t.match({ type, source }, { type: 'ListedTransaction', source: 'poll' })
        ids.push(
          (JSON.parse(Buffer.from(body).toString()) as { transaction: { transactionId: string } }).transaction
            .transactionId,
        )
      }
      if (page.cursor === null) return ids
      cursor = page.cursor
    }
  }
  const began = now
  t.notOk((await listed(began - HOUR)).includes(credit.transactionId))
  now += 30 * HOUR
  const later = await listed(now - 6 * HOUR)
  t.strictSame(later, [credit.transactionId], 'the credit of the time that ended 25 hours ago, and nothing else')
  const { events } = await connection.list!(now - 6 * HOUR, 'in.1.0.1', now)
  t.match(connection.translate(events[0]!), [
    {
      port: 'credit',
      message: {
        reference: credit.transactionId,
        account: 'GB90CLRB04190000001107',
        credit: { amount: 2_050n, payerName: 'Ada Payer', endToEndId: credit.endToEndIdentifier },
      },
    },
  ])
  now = began
})

t.test('a credit is returned once, by the bank’s id and in its words', async (t) => {
  const credit = bank.receive({ pounds: 3 })
  const order = (reasonCode: string) => ({
    reference: credit.transactionId,
    shard: 1,
    connectionId: 'c',
    amount: 300n,
    currency: 'GBP',
    reasonCode,
  })
  t.strictSame(await connection.giveBack!([order('AC04')], now), [credit.transactionId])
  t.strictSame(bank.returns, [{ TransactionId: credit.transactionId, ReasonForReturn: 'BeneficiaryAccountClosed' }])
  t.strictSame(await connection.giveBack!([order('AC04')], now), [credit.transactionId], 'taken before')
  t.equal(bank.returns.length, 1)
  bank.troubles.push(status(400))
  t.strictSame(await connection.giveBack!([order('NARR')], now), [], 'not now')
  bank.troubles.push(status(500))
  await t.rejects(connection.giveBack!([order('NARR')], now), { name: 'ClearbankRefusal' })
})

t.test('a probe needs the token and the key', async (t) => {
  const probe = (change: Parameters<typeof openConnection>[3]) => {
    const opened = openConnection(bank, baseUrl, () => now, change)
    return opened.connection.probe(now).finally(() => opened.close())
  }
  t.match(await connection.probe(now), { ok: true, message: null })
  const { apiToken, privateKey } = bank.credentials()
  now += 1
  t.match(await probe({ credentials: { apiToken: 'another-token', privateKey } }), { ok: false, message: /token/ })
  const foreign = { apiToken, privateKey: bank.bank.privatePem }
  t.match(await probe({ credentials: foreign }), { ok: false, message: /private key/ })
  t.match(await probe({ credentials: null }), { ok: false, message: /not set/ })
  bank.troubles.push({ kind: 'silent' })
  t.match(await connection.probe(now), { ok: true, message: null }, 'an answer that was lost')
  bank.troubles.push(status(503), status(503), status(503))
  t.match(await connection.probe(now), { ok: false, message: /503/ })
})

t.test('without credentials nothing is sent', async (t) => {
  const opened = openConnection(bank, baseUrl, () => now, { credentials: null })
  t.teardown(() => opened.close())
  const order = clearbankOrder()
  const before = bank.times.length
  t.strictSame((await opened.connection.submit!([order], now)).get(order.reference), { kind: 'unsent' })
  t.equal(bank.times.length, before)
  const webhook = bank.webhook('FITestEvent', 1, 'x')
  const request = { bytes: Buffer.from(webhook.body), headers: webhook.headers }
  const found = opened.connection.verify!(request, bank.bank.publicPem, now)
  t.match(found, { valid: true, answer: undefined })
})

t.test('the record of the calls holds no secret', (t) => {
  t.ok(calls.some(({ operation }) => operation === 'create_payment'))
  const told = JSON.stringify(calls)
  const { apiToken, privateKey } = bank.credentials()
  for (const secret of [apiToken, ...privateKey.split('\n').filter((line) => line.length > 20)])
    t.notOk(told.includes(secret))
  t.end()
})
