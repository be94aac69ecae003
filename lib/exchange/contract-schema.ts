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
      Nullable(CalendarDate, {
        description: 'The first day of drawdowns of an open forward, before the settlement date.',
      }),
    ),
    depositBalanceId: Type.Optional(
      Nullable(Uuid, {
        description: 'The balance that pays the deposit at once, or after the approval of the forward.',
      }),
    ),
    acceptTerms: Type.Literal(true, {
      description: 'Confirms that a forward is binding: it is settled, or closed out at the market rate.',
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
    amount: Type.Optional(Nullable(PositiveMoney, { description: 'By default the whole missing amount.' })),
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
    sellBalanceId: Type.Optional(Nullable(Uuid, { description: 'By default the balance of the contract.' })),
    buyBalanceId: Type.Optional(Nullable(Uuid, { description: 'By default the balance of the contract.' })),
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
