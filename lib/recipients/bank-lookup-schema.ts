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
      'A BIC or a national bank code, such as a sort code, a routing number or a BSB. In Mexico the first ' +
      'three digits of a CLABE.',
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
      'The kind of the code. `clabe`: the bank code at the beginning of a CLABE.',
    ),
    code: Type.String({ description: 'Without spaces, in capitals.' }),
    bankCode: Nullable(Type.String()),
    branchCode: Nullable(Type.String()),
    bankName: Nullable(Type.String({ description: 'Null where it is not known.' })),
    bic: Nullable(Type.String({ description: 'Null where it is not known.' })),
    vouchedBy: Words(
      'BankLookupSource',
      ['list', 'check_digits', 'form'],
      'The strength of the check: a published list that has the code, its check digits, or only its form. A ' +
        'code of the right form need not exist.',
    ),
    rails: Type.Array(Type.Object({ rail: Rail, currency: Nullable(CurrencyCode) }), {
      description: '`currency` is null when the rail carries every currency.',
    }),
  },
  { title: 'BankLookup' },
)
export type BankLookup = Static<typeof BankLookup>
