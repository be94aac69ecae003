/** Cards where customers read their money: transactions, journal, holds, confirmations, statements and exports. */
import t from 'tap'

import type { DownloadLink } from '../../../lib/contract/download-link.ts'
import type { Job } from '../../../lib/jobs/job-schema.ts'
import type { Transaction, TransactionDetail } from '../../../lib/transactions/transaction-schema.ts'
import { timestamp } from '../../../lib/base/clock.ts'
import { pdfText } from '../../support/pdf-text.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import { charge } from '../pricing/pricing.ts'
import { cardWorld, EUR } from './card-world.ts'

await using world = await createWorld()
await charge(world, [
  { kind: 'card_withdrawal', currency: 'EUR', fixed: EUR(200) },
  { kind: 'card_conversion', currency: 'EUR', bps: 150, taxBps: 2_000 },
])
const { client, balances, issue, use } = await cardWorld(world)
const USD = (amountMinor: number) => ({ amountMinor: String(amountMinor), currency: 'USD' })

const detail = async (id: string) => (await client.get<TransactionDetail>(`/transactions/${id}`)).body
const ofCard = async (id: string, more: Readonly<Record<string, string>> = {}) =>
  (await client.list<Transaction>('/transactions', { 'filter[cardId]': id, sort: 'createdAt', ...more })).body.data
const journal = async () =>
  (
    await client.list<{ type: string; description: string; amount: { amountMinor: string }; transactionId: string }>(
      `/balances/${balances.EUR}/journal`,
      {},
    )
  ).body.data

await t.test('an authorisation is a pending transaction, which its first clearing completes', async (t) => {
  const card = await issue()
  const { ref, cardTransactionId: id } = (
    await use(card, { phase: 'authorisation', amount: EUR(2_500), merchantName: 'Grocer', merchantCountry: 'FR' })
  ).body.details
  const pending = await detail(id)
  t.match(pending, {
    type: 'card_payment',
    status: 'pending',
    direction: 'out',
    amount: EUR(2_500),
    rail: 'card',
    cardId: card.id,
    merchant: { name: 'Grocer', mcc: '5411', country: 'FR' },
    source: { object: 'card_transaction', id },
    holds: [{ subjectType: 'card_authorisation', subjectId: id, amount: EUR(2_500), expiresAt: /Z$/ }],
    originalAmount: null,
    exchange: null,
    updates: [{ status: 'pending', message: 'Authorisation.' }],
  })
  t.equal(
    pending.holds[0]!.expiresAt,
    (await client.get<{ expiresAt: string }>(`/card-transactions/${id}`)).body.expiresAt,
  )
  await use(card, { phase: 'settlement', amount: EUR(1_500), relatedRef: ref, final: false })
  t.match(await detail(id), {
    status: 'completed',
    amount: EUR(1_500),
    journalLines: [{ type: 'card_payment', amount: EUR(1_500) }],
    updates: [{ status: 'completed', previousStatus: 'pending' }, { status: 'pending' }],
  })
  await use(card, { phase: 'settlement', amount: EUR(900), relatedRef: ref })
  await use(card, { phase: 'refund', amount: EUR(400), relatedRef: ref })
  const all = await ofCard(card.id)
  t.match(
    all.map(({ type, amount, status }) => [type, amount.amountMinor, status]),
    [
      ['card_payment', '1500', 'completed'],
      ['card_payment', '900', 'completed'],
      ['card_refund', '400', 'completed'],
    ],
  )
  t.match((await detail(all[2]!.id)).related, [
    { object: 'card_transaction', id, relation: 'refund_of' },
    { object: 'transaction', id, relation: 'refund_of' },
    { object: 'transaction', id: all[1]!.id },
  ])
  t.equal((await ofCard(card.id, { 'filter[type]': 'card_refund' })).length, 1)
  t.match(await detail(all[1]!.id), { amount: EUR(900), status: 'completed', holds: [] })
})

await t.test('what came to nothing', async (t) => {
  const card = await issue()
  const reversed = (await use(card, { phase: 'authorisation', amount: EUR(700) })).body.details
  await use(card, { phase: 'partial_reversal', amount: EUR(200), relatedRef: reversed.ref })
  t.match(await detail(reversed.cardTransactionId), { status: 'pending', amount: EUR(500) })
  await use(card, { phase: 'reversal', amount: EUR(500), relatedRef: reversed.ref })
  t.match(await detail(reversed.cardTransactionId), { status: 'cancelled', runningBalance: null, holds: [] })
  const declined = (await use(card, { phase: 'authorisation', amount: EUR(1_306) })).body.details
  t.match(await detail(declined.cardTransactionId), {
    status: 'failed',
    amount: EUR(1_306),
    failure: { code: 'amount_limit_exceeded', schemeCode: 'limit_exceeded' },
    updates: [{ status: 'failed', message: 'Authorisation: declined.' }],
  })
  await use(card, { phase: 'advice', amount: EUR(1_306), relatedRef: declined.ref })
  t.match(await detail(declined.cardTransactionId), { status: 'completed', failure: null })
  const refund = (await use(card, { phase: 'refund', amount: EUR(50) })).body.details
  t.match(
    (await ofCard(card.id)).filter(({ source }) => source.id === refund.cardTransactionId),
    [{ type: 'card_refund', direction: 'in', amount: EUR(50) }],
  )
})

await t.test('another currency: the original amount, the rate, and the markup as a line of its own', async (t) => {
  const card = await issue()
  const { ref, cardTransactionId: id } = (
    await use(card, { phase: 'authorisation', amount: USD(10_800), merchantName: 'Diner', merchantCountry: 'US' })
  ).body.details
  await use(card, { phase: 'settlement', amount: USD(5_400), relatedRef: ref, merchantName: 'Diner' })
  const found = await detail(id)
  t.match(found, {
    amount: EUR(5_000),
    fee: EUR(75),
    feeTax: EUR(13),
    originalAmount: USD(5_400),
    exchange: { rate: '1.08', sellAmount: EUR(5_000), buyAmount: USD(5_400) },
  })
  t.match(
    found.journalLines.map(({ type, amount, description }) => [type, amount.amountMinor, description]),
    [
      ['card_payment', '5000', 'Card payment, Diner, 54.00 USD at 0.9259259259'],
      ['fee', '62', 'Card payment, Diner, 54.00 USD at 0.9259259259, currency conversion'],
      ['fee', '13', 'Card payment, Diner, 54.00 USD at 0.9259259259, tax in the fee'],
    ],
  )
  t.match((await client.get(`/card-transactions/${id}`)).body, {
    markup: EUR(75),
    events: [{ merchantAmount: USD(10_800) }, { merchantAmount: USD(5_400), markup: EUR(75), fee: EUR(75) }],
  })
  const { bytes } = await client.download(`/transactions/${id}/confirmation`)
  const text = pdfText(bytes).join('\n')
  for (const words of ['Diner', '54.00 USD', '0.9259259259 EUR for 1 USD', '0.75 EUR', '50.00 EUR'])
    t.ok(text.includes(words), words)
  const refunded = (await use(card, { phase: 'refund', amount: USD(1_080), relatedRef: ref })).body.details
  t.equal(refunded.cardTransactionId, id)
  const [, back] = await ofCard(card.id)
  t.match(await detail(back!.id), {
    amount: EUR(1_000),
    originalAmount: USD(1_080),
    exchange: { rate: '0.9259259259', sellAmount: USD(1_080), buyAmount: EUR(1_000) },
  })
})

await t.test('cash is a withdrawal, in the list and in the journal', async (t) => {
  const card = await issue()
  const cash = (await use(card, { phase: 'atm', amount: EUR(4_000), merchantName: 'Bank' })).body.details
  t.match(await detail(cash.cardTransactionId), { type: 'card_withdrawal', amount: EUR(4_000), fee: EUR(200) })
  t.match(
    (await journal()).filter(({ transactionId }) => transactionId === cash.cardTransactionId),
    [{ type: 'fee' }, { type: 'card_withdrawal', description: 'Cash withdrawal, Bank' }],
  )
  const { ref, cardTransactionId } = (await use(card, { phase: 'authorisation', amount: EUR(100), channel: 'atm' }))
    .body.details
  await use(card, { phase: 'settlement', amount: EUR(100), relatedRef: ref })
  t.match(await detail(cardTransactionId), { type: 'card_withdrawal', fee: EUR(200) }, 'cash in two messages')
  t.equal(
    (await client.list<object>(`/balances/${balances.EUR}/journal`, { 'filter[type]': 'card_withdrawal' })).body.data
      .length,
    2,
  )
})

await t.test('exports and statements tell of cards', async (t) => {
  const createdFrom = timestamp(world.now() - 86_400_000)
  const { body } = await client.post<Job>('/transactions/exports', {
    format: 'csv',
    columns: [
      'type',
      'amount',
      'exchangeRate',
      'originalAmount',
      'originalCurrency',
      'markup',
      'merchantName',
      'merchantCountry',
    ],
    filter: { createdFrom, balanceId: balances.EUR },
  })
  const csv = await (await fetch((body.result!.download as DownloadLink).url)).text()
  t.ok(csv.includes('card_payment,-50.00,1.08,54.00,USD,0.75,Diner,US'), csv)
  const to = timestamp(world.now()).slice(0, 10)
  const asked = await client.post<Job>(`/balances/${balances.EUR}/statements`, {
    from: `${to.slice(0, 8)}01`,
    to,
    formats: ['camt053'],
  })
  const job = await until('the statement is made', async () => {
    const found = (await client.get<Job>(`/jobs/${asked.body.id}`)).body
    return found.status !== 'queued' && found.status !== 'running' && found
  })
  const path = `/balances/${balances.EUR}/statements/${job.result!.statementId}/download?format=camt053`
  const camt = await (await fetch((await client.get<DownloadLink>(path)).body.url)).text()
  for (const code of ['POSD', 'CWDL', '54.00 USD at 0.9259259259']) t.ok(camt.includes(code), code)
})
