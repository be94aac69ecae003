/**
 * The markets: by currency and country of the bank, the form of each member of the bank details, and the rails.
 *
 * The table of rails (`needs` in lib/rails/rails.ts) lists the members that identify an account on each rail, and the
 * rails that need the address; the form of each member is here.
 */
import type { CurrencyCode } from '../base/currency.ts'
import type { BankField } from '../rails/bank-field.ts'
import { CROSS_BORDER_RAIL, RAILS, type RailTerms } from '../rails/rails.ts'
import type { BankMember, BankValues, CheckName } from './bank-checks.ts'
import { IBAN_EXAMPLES } from './iban-examples.ts'
import { bankingCountry, ibanLength, ibanOf, usesIban } from './iban.ts'

/** The form of one member of the bank details in one market. */
export interface MemberRule {
  readonly member: BankMember
  readonly label: string
  readonly minLength: number
  readonly maxLength: number
  /** Pattern of the normal form; null for free text. */
  readonly pattern: string | null
  readonly example: string
  readonly description: string
  readonly checks: readonly CheckName[]
  readonly options?: readonly { readonly value: string; readonly label: string }[]
  /** Padded with zeros on the left to this length, which is also `maxLength`. */
  readonly padTo?: number
  /** Dashes are part of the value; elsewhere they only group digits and are dropped. */
  readonly dashes?: true
}

/** The members of one market, and its rules beyond their form. */
export interface Market {
  readonly members: readonly MemberRule[]
  /** Converts members from the form in which they were sent to the form in which they are stored. */
  readonly complete?: (bank: BankValues) => BankValues
  /** Checks of the recipient's name. */
  readonly nameChecks?: readonly CheckName[]
  /** Fields of the recipient that only some of the market's accounts need. */
  readonly conditional?: readonly ConditionalField[]
}

/** A field of the recipient that some accounts of a market need. */
export interface ConditionalField {
  readonly name: '/purpose'
  readonly label: string
  /** The accounts that need it, in words. */
  readonly requiredWhen: string
  readonly neededBy: (bank: BankValues) => boolean
  readonly minLength: number
  readonly maxLength: number
  /** Pattern that is found in the value. */
  readonly pattern: string
  readonly example: string
  readonly description: string
}

function rule(
  member: BankMember,
  label: string,
  [minLength, maxLength]: readonly [number, number],
  pattern: string | null,
  example: string,
  rest: Partial<MemberRule> = {},
): MemberRule {
  return { member, label, minLength, maxLength, pattern, example, description: '', checks: [], ...rest }
}

const digits = (
  member: BankMember,
  label: string,
  min: number,
  max: number,
  example: string,
  rest: Partial<MemberRule> = {},
): MemberRule =>
  rule(member, label, [min, max], min === max ? `^[0-9]{${min}}$` : `^[0-9]{${min},${max}}$`, example, rest)

/** Makes the rule of an IBAN; with a country, its length is exact. */
function iban(example: string, checks: readonly CheckName[] = [], country?: string): MemberRule {
  const length = country === undefined ? null : ibanLength(country)
  return rule(
    'iban',
    'IBAN',
    length === null ? [15, 33] : [length, length],
    '^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,29}$',
    example,
    { checks: ['iban', 'country_match', ...checks] },
  )
}

const BIC_PATTERN = '^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$'
const BIC = rule('bic', 'BIC', [8, 11], BIC_PATTERN, 'SBOXNL2A', {
  checks: ['bic', 'country_match'],
  description: 'Of the bank, with or without its branch.',
})

function accountType(values: readonly ('checking' | 'savings' | 'current')[], description = ''): MemberRule {
  const labels = { checking: 'Checking', savings: 'Savings', current: 'Current' }
  return rule('accountType', 'Account type', [7, 8], `^(${values.join('|')})$`, values[0] as string, {
    description,
    options: values.map((value) => ({ value, label: labels[value] })),
  })
}

const BANK_NAME = rule('bankName', 'Bank name', [1, 70], null, 'Example Bank', {
  description: 'For people; payments do not depend on it.',
})
const accountNumber = (min: number, max: number, example: string, rest: Partial<MemberRule> = {}): MemberRule =>
  digits('accountNumber', 'Account number', min, max, example, rest)

/** Adds the sort code and the account number that are inside a British IBAN. */
function withUkAccount(bank: BankValues): BankValues {
  if (bank.iban === undefined || bank.iban.length !== 22) return bank
  return {
    ...bank,
    sortCode: bank.sortCode ?? bank.iban.slice(8, 14),
    accountNumber: bank.accountNumber ?? bank.iban.slice(14),
  }
}

/** Converts a Polish account number to an IBAN: the number is the IBAN without its country. */
function withPolishIban({ accountNumber: nrb, ...bank }: BankValues): BankValues {
  return nrb === undefined ? bank : { ...bank, iban: bank.iban ?? `PL${nrb}` }
}

/** Pads the suffix of a New Zealand account to three digits; a suffix of two digits lacks its leading zero. */
function withLongSuffix(bank: BankValues): BankValues {
  const account = bank.accountNumber
  return account?.length === 15 ? { ...bank, accountNumber: `${account.slice(0, 13)}0${account.slice(13)}` } : bank
}

/** The markets with rails of their own, by currency; their countries are those of the rails. */
export const LOCAL_MARKETS: { readonly [currency in CurrencyCode]?: Market } = {
  EUR: { members: [iban('NL77SBOX0100000001'), BIC] },
  GBP: {
    members: [
      digits('sortCode', 'Sort code', 6, 6, '990001', { checks: ['uk_modulus'] }),
      accountNumber(6, 8, '12345678', { padTo: 8, description: 'Filled up to eight digits with zeros on the left.' }),
      iban('GB48SBOX99000112345678', [], 'GB'),
      rule('secondaryReference', 'Roll number', [1, 35], null, 'A-12345678', {
        description: 'Where the account belongs to a building society.',
      }),
    ],
    complete: withUkAccount,
  },
  USD: {
    members: [
      digits('routingNumber', 'Routing number', 9, 9, '099000011', { checks: ['aba'] }),
      rule('accountNumber', 'Account number', [4, 17], '^[A-Z0-9]{4,17}$', '1000000001'),
      accountType(['checking', 'savings']),
    ],
  },
  PLN: {
    members: [
      iban('PL61109010140000071219812874', ['public_account_pl'], 'PL'),
      accountNumber(26, 26, '61109010140000071219812874', { description: 'NRB; kept as the IBAN.' }),
    ],
    complete: withPolishIban,
  },
  CHF: { members: [iban('CH9300762011623852957', ['qr_iban'], 'CH')] },
  SEK: {
    members: [
      iban('SE4550000000058398257466', [], 'SE'),
      digits('clearingNumber', 'Clearing number', 4, 5, '5000'),
      accountNumber(1, 10, '0058398257'),
      digits('bankgiro', 'Bankgiro', 7, 8, '9912346', { checks: ['luhn'] }),
    ],
  },
  NOK: { members: [iban('NO9386011117947', [], 'NO'), accountNumber(11, 11, '86011117947', { checks: ['mod11_no'] })] },
  DKK: {
    members: [
      iban('DK5000400440116243', [], 'DK'),
      digits('bankCode', 'Registration number', 4, 4, '0040'),
      accountNumber(4, 10, '0440116243', { padTo: 10, description: 'Filled up to ten digits with zeros on the left.' }),
    ],
  },
  CZK: {
    members: [
      iban('CZ6508000000192000145399', [], 'CZ'),
      rule('accountNumber', 'Account number', [2, 17], '^([0-9]{1,6}-)?[0-9]{2,10}$', '19-2000145399', {
        dashes: true,
        checks: ['mod11_cz'],
      }),
      digits('bankCode', 'Bank code', 4, 4, '0800'),
    ],
  },
  HUF: {
    members: [
      iban('HU42117730161111101800000000', [], 'HU'),
      rule('accountNumber', 'Account number', [16, 24], '^([0-9]{16}|[0-9]{24})$', '117730161111101800000000', {
        checks: ['giro_hu'],
      }),
    ],
  },
  RON: {
    members: [iban('RO49AAAA1B31007593840000', [], 'RO')],
    conditional: [
      {
        name: '/purpose',
        label: 'Purpose',
        requiredWhen: '/bank/iban is an account of the treasury (TREZ)',
        neededBy: ({ iban: account }) => account?.slice(4, 8) === 'TREZ',
        minLength: 2,
        maxLength: 140,
        pattern: '[0-9]{2,13}',
        example: 'CUI 14399840',
        description: 'Payments to the treasury need the tax id of the payer in the purpose.',
      },
    ],
  },
  AUD: { members: [digits('bsb', 'BSB', 6, 6, '062000'), accountNumber(5, 9, '123456789')] },
  NZD: {
    members: [accountNumber(15, 16, '0100010001234000', { description: 'Bank, branch, account and suffix.' })],
    complete: withLongSuffix,
  },
  CAD: {
    members: [
      digits('institutionNumber', 'Institution number', 3, 3, '003'),
      digits('transitNumber', 'Transit number', 5, 5, '00012'),
      accountNumber(5, 12, '1234567'),
    ],
  },
  SGD: {
    members: [
      BIC,
      digits('bankCode', 'Bank code', 4, 4, '7171'),
      digits('branchCode', 'Branch code', 3, 3, '001'),
      accountNumber(4, 19, '0010000001'),
    ],
  },
  HKD: {
    members: [
      digits('bankCode', 'Bank code', 3, 3, '004'),
      accountNumber(9, 17, '600123456001', { description: 'With the branch in front.' }),
      digits('fpsId', 'FPS identifier', 7, 9, '1234567'),
    ],
  },
  JPY: {
    members: [
      digits('bankCode', 'Bank code', 4, 4, '0001'),
      digits('branchCode', 'Branch code', 3, 3, '001'),
      accountType(['savings', 'current'], 'Savings is futsu, current is toza.'),
      accountNumber(1, 7, '1234567', { padTo: 7, description: 'Filled up to seven digits with zeros on the left.' }),
    ],
    nameChecks: ['kana'],
  },
  INR: {
    members: [
      rule('ifsc', 'IFSC', [11, 11], '^[A-Z]{4}0[A-Z0-9]{6}$', 'SBIN0000001'),
      accountNumber(9, 18, '12345678901'),
    ],
  },
  MXN: { members: [digits('clabe', 'CLABE', 18, 18, '999010000000000004', { checks: ['clabe'] })] },
  ZAR: {
    members: [
      digits('branchCode', 'Branch code', 6, 6, '250655', { description: 'The universal one of the bank.' }),
      accountNumber(7, 11, '62000000001'),
      accountType(['current', 'savings', 'checking']),
    ],
  },
  AED: { members: [iban('AE070331234567890123456', [], 'AE')] },
}

export const INTERNATIONAL_ACCOUNT = rule('accountNumber', 'Account number', [1, 34], '^[A-Z0-9]{1,34}$', '1234567890')

/**
 * Returns the members by which SWIFT reaches a country: the BIC, with an IBAN where the country has IBANs; in dollars
 * an account number is possible, too.
 */
function crossBorderMembers(currency: CurrencyCode, country: string): readonly MemberRule[] {
  return [
    BIC,
    ...(usesIban(country) ? [iban('DE89370400440532013000')] : []),
    ...(needsIban(currency, country) ? [] : [INTERNATIONAL_ACCOUNT]),
    rule('intermediaryBic', 'BIC of the intermediary bank', [8, 11], BIC_PATTERN, 'SBOXUS33', { checks: ['bic'] }),
  ]
}

/** Tells whether SWIFT takes no account without its IBAN. */
const needsIban = (currency: string, country: string): boolean => usesIban(country) && currency !== 'USD'

/**
 * Returns the rails that reach a country's banks in a currency: the currency's own rails, then SWIFT, which reaches all
 * of them.
 */
export function reachableRails(currency: CurrencyCode, country: string): readonly RailTerms[] {
  return [...ownRails(currency, country), RAILS.get(CROSS_BORDER_RAIL) as RailTerms]
}

const ownRails = (currency: CurrencyCode, country: string): readonly RailTerms[] =>
  [...RAILS.values()].filter(
    (row) => row.currency === currency && row.countries?.has(country) === true && row.withdrawnSince === null,
  )

/**
 * Returns the rules of a market: the members of its own rails, then those that only SWIFT needs. A member has one form
 * in a market, whichever rail carries the payment.
 */
export function marketOf(currency: CurrencyCode, country: string): Market {
  const local: Market | undefined = ownRails(currency, country).length > 0 ? LOCAL_MARKETS[currency] : undefined
  const own = local?.members ?? []
  const more = crossBorderMembers(currency, country).filter(
    ({ member }) => !own.some((known) => known.member === member),
  )
  const members = [...own, ...more].map((known) => ofCountry(known, country))
  return { ...local, members: [...members, BANK_NAME] }
}

/** Returns the rule with an example of the country: an IBAN or BIC of another country would be refused. */
function ofCountry(known: MemberRule, country: string): MemberRule {
  const home = bankingCountry(country)
  switch (known.member) {
    case 'iban':
      return { ...known, example: IBAN_EXAMPLES.get(home) ?? known.example }
    case 'bic':
      return { ...known, example: `SBOX${home}2A` }
    default:
      return known
  }
}

/**
 * Returns the details by which rails can identify an account, of the members that are present.
 *
 * @param country ISO 3166 alpha-2, of the bank
 */
export function bankFields(
  currency: string,
  country: string,
  members: Iterable<string>,
  hasAddress: boolean,
): ReadonlySet<BankField> {
  const fields = new Set(members as Iterable<BankField>)
  if (fields.has('accountNumber') && !needsIban(currency, country)) fields.add('accountWithoutIban')
  if (hasAddress) fields.add('address')
  return fields
}

/** Returns the groups of a rail's `needs` that the members of a market can satisfy. */
export function groupsOf(
  row: RailTerms,
  { currency, country }: { readonly currency: string; readonly country: string },
  { members }: Market,
): readonly (readonly BankField[])[] {
  const known = bankFields(
    currency,
    country,
    members.map(({ member }) => member),
    true,
  )
  return row.needs.filter((group) => group.every((field) => known.has(field)))
}

/** Returns the JSON Pointer of the field of a recipient's body that a rail needs. */
export function pointerOf(field: BankField): string {
  return field === 'address' ? '/address' : `/bank/${field === 'accountWithoutIban' ? 'accountNumber' : field}`
}

/**
 * Converts an account to the IBAN of the countries that write accounts with and without it; null for any other account.
 */
export function domesticIban(country: string, bank: BankValues): string | null {
  if (bank.iban !== undefined) return bank.iban
  const account = bank.accountNumber
  if (account === undefined) return null
  switch (country) {
    case 'NO':
      return ibanOf('NO', account)
    case 'DK':
      return bank.bankCode === undefined ? null : ibanOf('DK', bank.bankCode + account.padStart(10, '0'))
    case 'HU':
      return ibanOf('HU', account.padEnd(24, '0'))
    case 'CZ': {
      const [first, second] = account.split('-')
      const [prefix, base] = second === undefined ? ['', first as string] : [first as string, second]
      return bank.bankCode === undefined
        ? null
        : ibanOf('CZ', bank.bankCode + prefix.padStart(6, '0') + base.padStart(10, '0'))
    }
    default:
      return null
  }
}
