/** The moves of an exchange by the partner's messages, row by row. */
import { BoughtPayment } from '../../../lib/payments/bought-payment.ts'
import t from 'tap'

import { NEW_EXCHANGE, type ExchangeRecord } from '../../../lib/exchange/exchange.ts'
import { forItself } from '../../../lib/exchange/bought-for.ts'
import { moveExchange, type ExchangeCommand } from '../../../lib/exchange/moves.ts'
import { parseRate } from '../../../lib/exchange/rate.ts'
import { createIdSource } from '../../../lib/base/ids.ts'
import { CHART } from '../../../lib/ledger/chart.ts'
import type { PaymentState } from '../../../lib/payments/payment-state.ts'

const NOW = Date.parse('2026-05-04T09:30:00.000Z')
const ids = createIdSource({ now: () => NOW })
const accounts = Object.fromEntries(CHART.map(({ key }) => [key, key]))
const context = {
  ids,
  accounts: { sell: accounts, buy: accounts },
  valueDate: '2026-05-04',
  sandbox: false,
  queueDelayMs: 0,
}

const EXCHANGE: ExchangeRecord = {
  ...NEW_EXCHANGE,
  id: ids.next(),
  customerId: ids.next(),
  operatorId: ids.next(),
  connectionId: ids.next(),
  shard: 7,
  number: 'EXC0000000001',
  externalId: null,
  kind: 'spot',
  status: 'processing',
  quoteId: ids.next(),
  sellBalanceId: 'sold',
  buyBalanceId: 'bought',
  sellCurrency: 'EUR',
  buyCurrency: 'USD',
  sellAmount: 10_000n,
  buyAmount: 10_746n,
  rate: parseRate('1.0746')!,
  partnerRate: parseRate('1.08')!,
  fixedSide: 'sell',
  fee: 25n,
  tradeDate: '2026-05-04',
  settlementDate: '2026-05-04',
  reference: null,
  createdBy: ids.next(),
  createdVia: 'api_key',
  metadata: {},
  createdAt: NOW - 1_000,
  updatedAt: NOW - 1_000,
}

function move(change: Partial<ExchangeRecord>, command: ExchangeCommand) {
  const { reply, effects, refused } = moveExchange(
    { exchange: { ...EXCHANGE, ...change }, contract: null, payment: null },
    command,
    NOW,
  )
  return {
    reply,
    effects,
    refused,
    posted: effects?.postings?.map(
      ({ rule, currency, debit, credit, amount }) => `${rule} ${currency} ${debit.id} > ${credit.id} ${amount}`,
    ),
  }
}

const settle = (sold: bigint, bought: bigint, netted = false): ExchangeCommand => ({
  kind: 'settle',
  sold,
  bought,
  netted,
  message: null,
  context,
})
const refuse: ExchangeCommand = {
  kind: 'refuse',
  reason: 'FX01',
  message: { id: ids.next(), type: 'refused' },
  context,
}
const doubt: ExchangeCommand = { kind: 'doubt', why: 'timeout', message: null, context }

t.test('settled: both legs, what the customer gets, and the margin where it arises', (t) => {
  const gain = move({}, settle(10_000n, 10_800n))
  t.strictSame(gain.posted, [
    'L31 EUR fx_clearing > nostro 10000',
    'L32 USD nostro > fx_clearing 10800',
    'L33 USD fx_clearing > bought 10746',
    'L34 USD fx_clearing > inc_fx 54',
  ])
  t.match(gain.reply, {
    kind: 'moved',
    exchange: { status: 'completed', version: 2, settledAt: NOW, partnerSold: 10_000n, partnerBought: 10_800n },
  })
  t.strictSame(gain.effects?.fxOrdersDone, [EXCHANGE.id])
  t.strictSame(
    gain.effects?.events?.map(({ type }) => type),
    ['exchange.status_changed', 'exchange.completed'],
  )
  t.notOk(gain.effects?.exceptionEnds, 'there was no exception')
  t.strictSame(
    move({}, settle(10_000n, 10_700n)).posted?.slice(3),
    ['L34 USD exp_fx > fx_clearing 46'],
    'a loss is an expense',
  )
  t.strictSame(move({}, settle(10_010n, 10_746n)).posted?.slice(3), ['L34 EUR exp_fx > fx_clearing 10'])
  t.strictSame(move({}, settle(10_000n, 10_746n)).posted?.length, 3, 'no margin is no line')
  t.strictSame(move({}, settle(10_000n, 10_746n, true)).posted, [
    'L36 EUR fx_clearing > house 10000',
    'L36 USD house > fx_clearing 10746',
    'L33 USD fx_clearing > bought 10746',
  ])
  t.strictSame(move({ depositPlacedUsed: 4_000n, depositUsed: 4_000n }, settle(10_000n, 10_746n)).posted?.slice(0, 2), [
    'L31 EUR fx_clearing > nostro 6000',
    'L31 EUR fx_clearing > partner_deposit 4000',
  ])
  t.end()
})

t.test('refused: everything back, the fee too, and it names what it takes back', (t) => {
  const { posted, effects, reply } = move({}, refuse)
  t.strictSame(posted, ['L35 EUR fx_clearing > sold 10000', 'L35 EUR inc_fee > sold 25'])
  t.strictSame(new Set(effects?.postings?.map(({ reversalOf }) => reversalOf)), new Set([EXCHANGE.id]))
  t.match(reply, { exchange: { status: 'failed', failure: { schemeCode: 'FX01', retryable: true } } })
  t.match(effects?.providerEvents, [{ type: 'refused', objectId: EXCHANGE.id, code: 'FX01' }])
  t.strictSame(move({ depositUsed: 4_000n }, refuse).posted, [
    'L35 EUR fx_clearing > fx_deposit 4000',
    'L35 EUR fx_clearing > sold 6000',
    'L35 EUR inc_fee > sold 25',
  ])
  t.end()
})

t.test('doubted: an exception of what was sold; the order stays, and its end ends it', (t) => {
  const { effects, reply, posted } = move({}, doubt)
  t.equal(posted, undefined)
  t.match(reply, { exchange: { status: 'exception', exception: { kind: 'provider_timeout' } } })
  t.match(effects?.exceptions, [
    { subjectType: 'exchange', subjectId: EXCHANGE.id, kind: 'provider_timeout', currency: 'EUR', amount: 10_000n },
  ])
  t.equal(effects?.fxOrdersDone, undefined)
  t.match(move({}, { kind: 'doubt', why: 'unclear', message: null, context }).effects?.exceptions, [
    { kind: 'provider_state_unknown' },
  ])
  const exception = { kind: 'provider_timeout' as const, code: null, message: '', since: '' }
  for (const [command, outcome] of [
    [settle(10_000n, 10_800n), 'completed'],
    [refuse, 'failed'],
  ] as const) {
    const ended = move({ status: 'exception', exception }, command)
    t.match(ended.effects?.exceptionEnds, [{ subjectId: EXCHANGE.id, outcome }])
    t.match(ended.effects?.exchangeChanges, [{ exception: null }])
  }
  t.end()
})

t.test('what fits no row changes nothing, and is final only on fresh state', (t) => {
  for (const status of ['pending_approval', 'completed', 'failed', 'rejected', 'cancelled'] as const) {
    for (const command of [settle(1n, 1n), refuse, doubt])
      t.match(
        move({ status }, command),
        { reply: { kind: 'ignored', status }, effects: null, refused: true },
        `${status} ${command.kind}`,
      )
  }
  t.match(move({ status: 'exception' }, doubt), { reply: { kind: 'ignored' } })
  t.match(moveExchange(null, refuse, NOW), {
    state: null,
    reply: { kind: 'ignored', status: null },
    effects: null,
    refused: true,
  })
  t.end()
})

t.test('an exchange that buys for a payment cannot end without it', (t) => {
  const paymentId = ids.next()
  const payment: PaymentState = {
    id: paymentId,
    customerId: EXCHANGE.customerId,
    operatorId: EXCHANGE.operatorId,
    connectionId: EXCHANGE.connectionId,
    shard: 7,
    number: 'PAY1',
    status: 'processing',
    version: 3,
    sent: false,
    sourceBalanceId: 'sold',
    payingBalanceId: 'bought',
    holdId: null,
    currency: 'USD',
    amount: 10_746n,
    fee: 0n,
    rail: 'fedwire',
    reference: 'Invoice 42',
    recipientName: 'Amsterdam Trading BV',
    spenderId: EXCHANGE.createdBy,
    createdAt: NOW,
    recall: null,
    conversion: { quoteId: 'quote', exchangeId: EXCHANGE.id, sellCurrency: 'EUR', sellMinor: '10000', feeMinor: '25' },
  }
  const exchange = { ...EXCHANGE, paymentId }
  const moved = (command: ExchangeCommand, of: Partial<PaymentState> = {}) => {
    const { reply, effects, state } = moveExchange(
      { exchange, contract: null, payment: new BoughtPayment({ ...payment, ...of }, '2026-05-04', null) },
      command,
      NOW,
    )
    return { reply, state, part: effects?.exchangeChanges?.[0]?.payment }
  }
  const settled = moved(settle(10_000n, 10_800n))
  t.match(settled.part, {
    paymentDecisions: [{ id: paymentId, version: 3, status: 'processing' }],
    holds: [{ balanceId: 'bought', amount: 10_746n }],
    instructions: [{ paymentId }],
  })
  t.match(settled.reply, { queued: { id: paymentId, shard: 7 } })
  t.equal(settled.state, null, 'what has become of the payment is read again')
  t.match(moved(refuse).part, { paymentDecisions: [{ id: paymentId, version: 3, status: 'failed' }] })
  t.equal(moved(doubt).part, 'waits')
  t.strictSame(moved(settle(10_000n, 10_800n), { status: 'cancelled' }).part, {}, 'it waits no more')
  t.equal(
    moveExchange({ exchange: { ...exchange, status: 'completed' }, contract: null, payment: null }, refuse, NOW)
      .effects,
    null,
    'a late word changes nothing',
  )
  t.throws(() => moveExchange({ exchange, contract: null, payment: null }, refuse, NOW), /was not read with it/)
  t.throws(() => forItself(exchange), /without its payment/)
  t.end()
})
