/** The currencies of a customer. */
import Type, { type Static } from 'typebox'
import { CalendarDate, CurrencyCode, Nullable, Rail, Uuid } from '../contract/primitives.ts'

export const CurrencySetting = Type.Object(
  {
    currency: CurrencyCode,
    name: Type.String(),
    exponent: Type.Integer({ description: 'Decimals of the minor unit.' }),
    offered: Type.Boolean({ description: 'Whether the operator offers the currency.' }),
    enabled: Type.Boolean({ description: 'Whether the customer has enabled the currency.' }),
    capabilities: Type.Object(
      {
        hold: Type.Boolean(),
        receiveLocal: Type.Boolean(),
        receiveSwift: Type.Boolean(),
        sendLocal: Type.Boolean(),
        sendSwift: Type.Boolean(),
        exchange: Type.Boolean(),
        directDebit: Type.Boolean(),
      },
      { title: 'CurrencyCapabilities' },
    ),
    rails: Type.Array(Rail),
    balanceIds: Type.Array(Uuid),
    withdrawnOn: Nullable(CalendarDate, { description: 'The last day of a withdrawn currency; null for any other.' }),
  },
  { title: 'CurrencySetting' },
)
export type CurrencySetting = Static<typeof CurrencySetting>

export const CurrencyQuery = Type.Object({
  enabled: Type.Optional(
    Type.Enum(['true', 'false'], {
      description: 'Lists only the currencies that the customer has enabled, or has not enabled.',
    }),
  ),
})

export const CurrenciesWrite = Type.Object(
  {
    enabled: Type.Array(CurrencyCode, { maxItems: 100, uniqueItems: true }),
  },
  { title: 'CurrenciesWrite', additionalProperties: false, examples: [{ enabled: ['EUR', 'GBP'] }] },
)
export type CurrenciesWrite = Static<typeof CurrenciesWrite>
