/** Schemas of the bank lookups by IBAN and by code. */
import Type, { type Static } from 'typebox'
import { CountryCode, CurrencyCode, Nullable, Rail, Text, Words } from '../contract/primitives.ts'

/** Leaves room for spaces and dashes. */
const CODE_MAX = 64

export const IbanLookupQuery = Type.Object({
  iban: Text(5, CODE_MAX, { description: 'Spaces do not matter.', examples: ['NL77SBOX0100000001'] }),
})

export const BankLookupQuery = Type.Object({
  country: CountryCode,
  code: Text(1, CODE_MAX, {
    description:
      'A BIC, or what the country names its banks by: a sort code, a routing number, a BSB and the like. In Mexico the first three digits of a CLABE.',
    examples: ['SBOXNL2A'],
  }),
})

export const BankLookup = Type.Object(
  {
    country: CountryCode,
    kind: Words(
      'BankCodeKind',
      [
        'iban',
        'bic',
        'clabe',
        'sortCode',
        'routingNumber',
        'bsb',
        'institutionNumber',
        'ifsc',
        'bankCode',
        'clearingNumber',
        'branchCode',
      ],
      'What the code is. `clabe`: the bank code that a CLABE begins with.',
    ),
    code: Type.String({ description: 'Without spaces, in capitals.' }),
    bankCode: Nullable(Type.String()),
    branchCode: Nullable(Type.String()),
    bankName: Nullable(Type.String({ description: 'Null where it is not known.' })),
    bic: Nullable(Type.String({ description: 'Null where it is not known.' })),
    vouchedBy: Words(
      'BankLookupSource',
      ['list', 'check_digits', 'form'],
      'A published list that has the code, its check digits, or no more than its form: a code that looks right need not exist.',
    ),
    rails: Type.Array(Type.Object({ rail: Rail, currency: Nullable(CurrencyCode) }), {
      description: '`currency` is null where the rail carries any.',
    }),
  },
  { title: 'BankLookup' },
)
export type BankLookup = Static<typeof BankLookup>
