/** Quotes, and exchanges of every kind. */
import Type, { type Static } from 'typebox'
import { DEPOSIT_STATUSES, EXCHANGE_KINDS, EXCHANGE_STATUSES, FORWARD_TYPES } from './exchange.ts'
import { list } from '../contract/list.ts'
import {
  CalendarDate,
  CreatedVia,
  CurrencyCode,
  ExternalId,
  Failure,
  Metadata,
  Money,
  Nullable,
  PositiveMoney,
  Rate,
  Text,
  Timestamp,
  Uuid,
  Words,
} from '../contract/primitives.ts'

export const FixedSide = Words(
  'FixedSide',
  ['sell', 'buy'],
  'The side that the request fixed; the other side follows from the rate.',
)
const ExchangeKind = Words('ExchangeKind', EXCHANGE_KINDS, '`drawdown`: an exchange from a forward or a held rate.')

export const Quote = Type.Object(
  {
    id: Uuid,
    sellAmount: Money,
    buyAmount: Money,
    rate: Rate,
    inverseRate: Rate,
    fixedSide: FixedSide,
    kind: ExchangeKind,
    fee: Nullable(Money, { description: 'The fee in the sold currency, in addition to the amount.' }),
    settlementDate: Nullable(CalendarDate),
    depositRequired: Nullable(Money),
    expiresAt: Timestamp,
    used: Type.Boolean(),
    createdAt: Timestamp,
  },
  { title: 'Quote' },
)
export type Quote = Static<typeof Quote>

export const QuoteCreate = Type.Object(
  {
    sellCurrency: CurrencyCode,
    buyCurrency: CurrencyCode,
    amount: PositiveMoney,
    fixedSide: FixedSide,
    kind: Type.Optional(ExchangeKind),
    settlementDate: Type.Optional(Nullable(CalendarDate, { description: 'Required for a forward.' })),
    sellBalanceId: Type.Optional(Nullable(Uuid)),
    buyBalanceId: Type.Optional(Nullable(Uuid)),
    holdMinutes: Type.Optional(
      Nullable(Type.Integer({ minimum: 1 }), {
        description: "The duration of a held rate; by default the operator's setting.",
      }),
    ),
  },
  {
    title: 'QuoteCreate',
    additionalProperties: false,
    examples: [
      {
        sellCurrency: 'EUR',
        buyCurrency: 'USD',
        amount: { amountMinor: '100000', currency: 'EUR' },
        fixedSide: 'sell',
      },
    ],
  },
)
export type QuoteCreate = Static<typeof QuoteCreate>

export const Exchange = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    number: Type.String({ examples: ['EXC7K3M9QX2TB'] }),
    externalId: Nullable(ExternalId),
    kind: ExchangeKind,
    status: Words('ExchangeStatus', EXCHANGE_STATUSES),
    quoteId: Nullable(Uuid),
    parentExchangeId: Nullable(Uuid, { description: 'The contract of a drawdown.' }),
    sellAmount: Money,
    buyAmount: Money,
    rate: Rate,
    inverseRate: Rate,
    fixedSide: FixedSide,
    fee: Nullable(Money),
    sellBalanceId: Uuid,
    buyBalanceId: Uuid,
    tradeDate: CalendarDate,
    settlementDate: CalendarDate,
    settledAt: Nullable(Timestamp),
    approvalId: Nullable(Uuid),
    failure: Nullable(Failure),
    exception: Type.Null({ description: 'For staff only.' }),
    reference: Nullable(Type.String()),
    drawdownCount: Type.Integer({ minimum: 0 }),
    remainingSellAmount: Nullable(Money),
    remainingBuyAmount: Nullable(Money),
    forwardType: Nullable(Words('ForwardType', FORWARD_TYPES)),
    drawdownFrom: Nullable(CalendarDate),
    heldUntil: Nullable(Timestamp),
    deposit: Nullable(
      Type.Object(
        {
          status: Words('DepositStatus', DEPOSIT_STATUSES),
          required: Money,
          received: Money,
          dueAt: Nullable(Timestamp),
        },
        { title: 'ExchangeDeposit' },
      ),
    ),
    transactionIds: Type.Array(Uuid),
    createdBy: Uuid,
    createdVia: CreatedVia,
    metadata: Metadata,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Exchange' },
)
export type Exchange = Static<typeof Exchange>

/** The members that every request to make an exchange from a quote accepts. */
export const EXCHANGE_CREATE = {
  quoteId: Uuid,
  sellBalanceId: Type.Optional(
    Nullable(Uuid, {
      description: 'By default the balance of the quote, or else the default balance of the currency.',
    }),
  ),
  buyBalanceId: Type.Optional(
    Nullable(Uuid, {
      description:
        'By default the balance of the quote, or else the default balance of the currency, which is opened ' +
        'when it is missing.',
    }),
  ),
  reference: Type.Optional(Nullable(Text(0, 140))),
  externalId: Type.Optional(Nullable(ExternalId)),
  metadata: Type.Optional(Metadata),
} as const

export const ExchangeCreate = Type.Object(EXCHANGE_CREATE, {
  title: 'ExchangeCreate',
  additionalProperties: false,
  examples: [{ quoteId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f', reference: 'Dollars for invoice 42' }],
})
export type ExchangeCreate = Static<typeof ExchangeCreate>

export const IndicativeRates = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          sellCurrency: CurrencyCode,
          buyCurrency: CurrencyCode,
          mid: Rate,
          bid: Rate,
          ask: Rate,
          at: Timestamp,
        },
        {
          title: 'IndicativeRate',
          description:
            'Units of `buyCurrency` for one unit of `sellCurrency`. Indicative only: an exchange needs a quote.',
        },
      ),
    ),
  },
  { title: 'IndicativeRates' },
)
export type IndicativeRates = Static<typeof IndicativeRates>

/** The filters that every list of exchanges has. */
export const EXCHANGE_FILTERS = {
  status: { kind: 'words', values: EXCHANGE_STATUSES },
  sellCurrency: { kind: 'text', max: 3 },
  buyCurrency: { kind: 'text', max: 3 },
  settlementFrom: { kind: 'dateFrom' },
  settlementTo: { kind: 'dateTo' },
  externalId: { kind: 'text', max: 64 },
  createdFrom: { kind: 'timeFrom' },
  createdTo: { kind: 'timeTo' },
} as const

export const exchangeList = list({
  filters: { kind: { kind: 'words', values: EXCHANGE_KINDS }, ...EXCHANGE_FILTERS, parentExchangeId: { kind: 'ids' } },
  sorts: ['-createdAt', 'createdAt', 'settlementDate'],
  q: true,
})

export const SimExchangeStatus = Type.Object(
  {
    status: Words('SimExchangeStatusValue', ['completed', 'failed', 'exception']),
    reason: Type.Optional(Text(1, 140, { description: 'The reason of a failure.' })),
    delaySeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 300 })),
  },
  { title: 'SimExchangeStatus', additionalProperties: false, examples: [{ status: 'completed' }] },
)
export type SimExchangeStatus = Static<typeof SimExchangeStatus>

export const SimFxRate = Type.Object(
  {
    sellCurrency: CurrencyCode,
    buyCurrency: CurrencyCode,
    shiftBps: Type.Integer({
      minimum: -5_000,
      maximum: 5_000,
      description: 'The shift from the base rate, in hundredths of a per cent; 0 removes the shift.',
    }),
    durationMinutes: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_440 })),
  },
  {
    title: 'SimFxRate',
    additionalProperties: false,
    examples: [{ sellCurrency: 'EUR', buyCurrency: 'USD', shiftBps: 150 }],
  },
)
export type SimFxRate = Static<typeof SimFxRate>
