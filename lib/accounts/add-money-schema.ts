/** Ways to put money on a balance. */
import Type, { type Static } from 'typebox'
import { AccountDetails } from './account-details-schema.ts'
import { Exchange } from '../exchange/exchange-schema.ts'
import { Nullable, PositiveMoney, Uuid, Words } from '../contract/primitives.ts'

export const AddMoney = Type.Object(
  {
    method: Words('AddMoneyMethod', ['bank_transfer', 'conversion']),
    balanceId: Uuid,
    amount: Type.Optional(Nullable(PositiveMoney)),
    fromBalanceId: Type.Optional(Nullable(Uuid, { description: 'The balance that sells; conversions only.' })),
    quoteId: Type.Optional(Nullable(Uuid, { description: 'The quote whose rate is used; conversions only.' })),
    fixedSide: Type.Optional(
      Nullable(Type.Enum(['sell', 'buy']), { description: 'The side that the amount fixes; conversions only.' }),
    ),
  },
  {
    title: 'AddMoney',
    additionalProperties: false,
    examples: [{ method: 'bank_transfer', balanceId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f' }],
  },
)

export type AddMoney = Static<typeof AddMoney>

export const AddMoneyResult = Type.Object(
  {
    method: Words('AddMoneyMethod', ['bank_transfer', 'conversion']),
    depositDetails: Type.Array(AccountDetails, { description: 'The accounts to pay to; empty for a conversion.' }),
    exchange: Nullable(Exchange, { description: 'Null for a bank transfer, which exchanges nothing.' }),
  },
  { title: 'AddMoneyResult' },
)
export type AddMoneyResult = Static<typeof AddMoneyResult>
