/** Requests for forwards, held rates and drawdowns. The answers are exchanges. */
import Type, { type Static } from 'typebox'
import { FORWARD_TYPES } from './exchange.ts'
import { EXCHANGE_CREATE } from './exchange-schema.ts'
import {
  CalendarDate,
  ExternalId,
  Metadata,
  Nullable,
  PositiveMoney,
  Text,
  Uuid,
  Words,
} from '../contract/primitives.ts'

const QUOTE_EXAMPLE = { quoteId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f' }

export const ForwardContractCreate = Type.Object(
  {
    ...EXCHANGE_CREATE,
    forwardType: Type.Optional(
      Words(
        'ForwardType',
        FORWARD_TYPES,
        '`fixed`: drawn on the settlement date alone. `open`: on any business day from `drawdownFrom`.',
      ),
    ),
    drawdownFrom: Type.Optional(
      Nullable(CalendarDate, { description: 'Of an open forward, before the settlement date.' }),
    ),
    depositBalanceId: Type.Optional(
      Nullable(Uuid, {
        description: 'Pays the deposit at once; where people have to approve the forward, it is paid afterwards.',
      }),
    ),
    acceptTerms: Type.Literal(true, {
      description: 'A forward binds: it is settled, or closed out at what the market makes of it.',
    }),
  },
  {
    title: 'ForwardContractCreate',
    additionalProperties: false,
    examples: [{ ...QUOTE_EXAMPLE, forwardType: 'fixed', acceptTerms: true }],
  },
)
export type ForwardContractCreate = Static<typeof ForwardContractCreate>

export const HeldRateCreate = Type.Object(EXCHANGE_CREATE, {
  title: 'HeldRateCreate',
  additionalProperties: false,
  examples: [QUOTE_EXAMPLE],
})
export type HeldRateCreate = Static<typeof HeldRateCreate>

export const ForwardDeposit = Type.Object(
  {
    balanceId: Uuid,
    amount: Type.Optional(Nullable(PositiveMoney, { description: 'All that is missing, unless said otherwise.' })),
  },
  {
    title: 'ForwardDeposit',
    additionalProperties: false,
    examples: [{ balanceId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f' }],
  },
)
export type ForwardDeposit = Static<typeof ForwardDeposit>

export const DrawdownCreate = Type.Object(
  {
    amount: PositiveMoney,
    sellBalanceId: Type.Optional(Nullable(Uuid, { description: 'That of the contract unless said otherwise.' })),
    buyBalanceId: Type.Optional(Nullable(Uuid, { description: 'That of the contract unless said otherwise.' })),
    reference: Type.Optional(Nullable(Text(0, 140))),
    externalId: Type.Optional(Nullable(ExternalId)),
    metadata: Type.Optional(Metadata),
  },
  {
    title: 'DrawdownCreate',
    additionalProperties: false,
    examples: [{ amount: { amountMinor: '500000', currency: 'EUR' } }],
  },
)
export type DrawdownCreate = Static<typeof DrawdownCreate>
