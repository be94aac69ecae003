/** The text of confirmations of exchanges. */
import t from 'tap'
import { NEW_EXCHANGE } from '../../../lib/exchange/exchange.ts'
import { exchangeConfirmation, isExchangeConfirmed } from '../../../lib/exchange/confirmation.ts'
import { EXCHANGE_STATUSES, type ExchangeRecord } from '../../../lib/exchange/exchange.ts'
import { parseRate } from '../../../lib/exchange/rate.ts'

const AT = Date.UTC(2026, 4, 4, 9, 30, 15)
const PARTIES = {
  sell: {
    operatorName: 'Example Bank',
    customerName: 'Example Ltd',
    account: 'NL12SBOX0000000099',
    accountName: 'EUR account',
    timezone: 'UTC',
  },
  buy: {
    operatorName: 'Example Bank',
    customerName: 'Example Ltd',
    account: null,
    accountName: 'JPY account',
    timezone: 'UTC',
  },
}

const exchange = (change: Partial<ExchangeRecord> = {}): ExchangeRecord => ({
  ...NEW_EXCHANGE,
  id: '01980d6e-0000-7000-8000-00000000e001',
  customerId: 'c',
  operatorId: 'o',
  connectionId: 'k',
  shard: 1,
  number: 'EXC000000G01',
  externalId: null,
  kind: 'spot',
  status: 'completed',
  version: 2,
  quoteId: null,
  sellBalanceId: 's',
  buyBalanceId: 'b',
  sellCurrency: 'EUR',
  buyCurrency: 'JPY',
  sellAmount: 123_456_789n,
  buyAmount: 196_542_208n,
  rate: parseRate('159.2') as bigint,
  partnerRate: parseRate('160') as bigint,
  fixedSide: 'sell',
  fee: 0n,
  tradeDate: '2026-05-04',
  settlementDate: '2026-05-04',
  settledAt: AT + 5_000,
  reference: 'Treasury 7',
  createdBy: 'u',
  createdVia: 'api_key',
  metadata: {},
  createdAt: AT,
  updatedAt: AT + 5_000,
  ...change,
})

t.test('a confirmation says what was sold and bought, at which rate and when', (t) => {
  const page = exchangeConfirmation(exchange(), PARTIES)
  t.strictSame(
    [page.issuer, page.title, page.headline, page.status, page.createdAt],
    [
      'Example Bank',
      'Exchange confirmation',
      '196,542,208 JPY for 1,234,567.89 EUR',
      'Completed on 4 May 2026',
      AT + 5_000,
    ],
  )
  t.strictSame(page.sections, [
    { title: 'Customer', lines: [['Name', 'Example Ltd']] },
    {
      title: 'Sold',
      lines: [
        ['Amount', '1,234,567.89 EUR'],
        ['Account', 'NL12SBOX0000000099'],
        ['Account name', 'EUR account'],
      ],
    },
    {
      title: 'Bought',
      lines: [
        ['Amount', '196,542,208 JPY'],
        ['Account name', 'JPY account'],
      ],
    },
    {
      title: 'Exchange',
      lines: [
        ['Order number', 'EXC000000G01'],
        ['Kind', 'Spot'],
        ['Rate', '1 EUR = 159.2 JPY'],
        ['Inverse rate', '1 JPY = 0.0062814070 EUR'],
        ['Reference', 'Treasury 7'],
      ],
    },
    {
      title: 'Dates',
      lines: [
        ['Ordered', '4 May 2026, 09:30:15'],
        ['Trade date', '4 May 2026'],
        ['Settlement date', '4 May 2026'],
        ['Settled', '4 May 2026, 09:30:20'],
      ],
    },
  ])
  t.match(page.footer, /Exchange 01980d6e-0000-7000-8000-00000000e001/)
  t.end()
})

t.test('a fee is on it, and what is not known is left out', (t) => {
  const page = exchangeConfirmation(exchange({ fee: 250n, reference: null, kind: 'drawdown' }), PARTIES)
  t.strictSame(page.sections[1]!.lines.slice(0, 3), [
    ['Amount', '1,234,567.89 EUR'],
    ['Fee', '2.50 EUR'],
    ['Total debit', '1,234,570.39 EUR'],
  ])
  t.strictSame(
    page.sections[3]!.lines.map(([label]) => label),
    ['Order number', 'Kind', 'Rate', 'Inverse rate'],
  )
  t.match(
    exchangeConfirmation(exchange({ kind: 'forward', settledAt: null }), PARTIES).status,
    'Completed on 4 May 2026',
  )
  t.end()
})

t.test('only what has completed is confirmed', (t) => {
  t.strictSame(
    EXCHANGE_STATUSES.filter((status) => isExchangeConfirmed({ status })),
    ['completed'],
  )
  t.end()
})
