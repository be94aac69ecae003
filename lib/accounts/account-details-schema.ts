/** Account details: where payers send money for a balance. */
import Type, { type Static } from 'typebox'
import { Address } from '../contract/address.ts'
import { CountryCode, CurrencyCode, Nullable, Rail, Timestamp, Uuid } from '../contract/primitives.ts'
import { AccountDetailsStatus } from '../balances/balance-schema.ts'

const Identifier = Nullable(Type.String())

export const AccountDetails = Type.Object(
  {
    id: Uuid,
    balanceId: Uuid,
    currency: CurrencyCode,
    rails: Type.Array(Rail, { description: 'The rails that can credit the balance through these details.' }),
    status: AccountDetailsStatus,
    accountHolderName: Type.String(),
    iban: Identifier,
    bic: Identifier,
    accountNumber: Identifier,
    sortCode: Identifier,
    routingNumber: Identifier,
    bsb: Identifier,
    bankCode: Identifier,
    branchCode: Identifier,
    clabe: Identifier,
    bankName: Nullable(Type.String()),
    bankAddress: Nullable(Address),
    country: Nullable(CountryCode),
    scope: Type.Enum(['local', 'international']),
    shared: Type.Boolean({
      description: 'True for an account shared by many customers: payers must quote the reference.',
    }),
    reference: Nullable(Type.String()),
    intermediaryBic: Identifier,
    validFrom: Nullable(Timestamp),
    validUntil: Nullable(Timestamp),
    replacedById: Nullable(Uuid),
    statusReason: Nullable(Type.String()),
    estimatedArrival: Nullable(
      Type.Object(
        {
          unit: Type.Enum(['hours', 'days']),
          min: Type.Integer({ minimum: 0 }),
          max: Type.Integer({ minimum: 0 }),
        },
        { title: 'ArrivalEstimate' },
      ),
    ),
    createdAt: Timestamp,
  },
  { title: 'AccountDetails', description: 'While it is pending, all identifiers are null.' },
)
export type AccountDetails = Static<typeof AccountDetails>

export const AccountDetailsQuery = Type.Object({
  rail: Type.Optional(Rail),
})
