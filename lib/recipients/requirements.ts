/**
 * The requirements for recipients, by currency and country of the bank, as the requirements operation shows them. The
 * validation of recipients (lib/recipients/validation.ts) reads the same tables (markets.ts, country-rules.ts), so the
 * shown rules are the checked rules. A recipient must satisfy one rail.
 */
import { hash } from 'node:crypto'
import { isCurrencyCode, WITHDRAWN_CURRENCIES, type CurrencyCode } from '../base/currency.ts'
import { moneyJson, type MoneyJson } from '../base/money.ts'
import { underLimits, type RailLimits } from '../rails/rail-limits.ts'
import { PARTNER_ZONE, RAILS, type BankField, type ChargeBearer, type Rail, type RailTerms } from '../rails/rails.ts'
import { CHARACTERS } from '../rails/reference.ts'
import type { CheckName } from './bank-checks.ts'
import { addressNeeds, POSTAL_CODES, PURPOSES, purposeRuleOf, STATES } from './country-rules.ts'
import {
  groupsOf,
  INTERNATIONAL_ACCOUNT,
  LOCAL_MARKETS,
  marketOf,
  reachableRails,
  type Market,
  type MemberRule,
} from './markets.ts'

export type VerificationScheme = 'cop' | 'vop' | 'none'

/** Returns the scheme that checks a payee's name, and whether the check is mandatory. */
export function verificationOf(
  currency: CurrencyCode,
  country: string,
): { readonly scheme: VerificationScheme; readonly mandatory: boolean } {
  const scheme = reachableRails(currency, country)[0]?.payeeCheck ?? null
  return { scheme: scheme ?? 'none', mandatory: scheme !== null }
}

export interface RequirementField {
  /** JSON Pointer into the body. */
  readonly name: string
  readonly label: string
  readonly required: boolean
  readonly requiredWhen?: string
  readonly type: 'string' | 'enum' | 'date' | 'object'
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly options?: readonly { readonly value: string; readonly label: string }[]
  readonly example: string
  readonly description: string
  readonly checks: readonly CheckName[]
  readonly rails: readonly Rail[]
}

export interface RequirementRail {
  readonly rail: Rail
  readonly available: boolean
  readonly reason?: string
  readonly fields: readonly string[]
  readonly referenceRule: { readonly maxLength: number; readonly characters: string; readonly pattern: string }
  readonly limit: MoneyJson | null
  readonly cutOff: { readonly time: string; readonly zone: string } | null
  readonly speed: string
  readonly chargeBearers: readonly ChargeBearer[]
}

export interface Requirements {
  readonly currency: string
  readonly country: string
  readonly type: 'business' | 'individual' | null
  readonly version: string
  readonly rails: readonly RequirementRail[]
  readonly fields: readonly RequirementField[]
  readonly paymentFields: readonly RequirementField[]
  readonly verification: { readonly scheme: VerificationScheme; readonly mandatory: boolean }
}

/** The version of an operator without limits of its own. */
const NO_LIMITS = { limits: {}, version: 1 } as const

const NAME_LENGTH = { minLength: 2, maxLength: 140 } as const
const TYPES = [
  { value: 'business', label: 'Business' },
  { value: 'individual', label: 'Individual' },
]

/**
 * Makes the requirements for a recipient. `currency` must be known and not withdrawn. `set`: the operator's limits of
 * rails, and their version.
 */
export function requirementsOf(
  {
    currency,
    country,
    type,
  }: { readonly currency: CurrencyCode; readonly country: string; readonly type: 'business' | 'individual' | null },
  set: { readonly limits: RailLimits; readonly version: number } = NO_LIMITS,
): Requirements {
  const rows = reachableRails(currency, country).map((row) => underLimits(row, set.limits))
  const market = marketOf(currency, country)
  const rails = rows.map(({ rail }) => rail)
  const members = market.members.map((member) => memberField(member, rows, market))
  const always = (
    name: string,
    label: string,
    example: string,
    rest: Partial<RequirementField> = {},
  ): RequirementField => ({
    name,
    label,
    required: true,
    type: 'string',
    example,
    description: '',
    checks: [],
    rails,
    ...rest,
  })
  return {
    currency,
    country,
    type,
    version: set.version === NO_LIMITS.version ? REQUIREMENTS_VERSION : `${REQUIREMENTS_VERSION}-${set.version}`,
    rails: rows.map((row) => railJson(row, market, currency)),
    fields: [
      always('/name', 'Name', 'Amsterdam Trading BV', {
        ...NAME_LENGTH,
        checks: market.nameChecks ?? [],
        description: 'Longer names than a rail carries are cut.',
      }),
      always('/type', 'Type', 'business', { type: 'enum', options: TYPES }),
      always('/currency', 'Currency', currency, { minLength: 3, maxLength: 3, pattern: '^[A-Z]{3}$' }),
      always('/bank/bankCountry', 'Country of the bank', country, {
        minLength: 2,
        maxLength: 2,
        pattern: '^[A-Z]{2}$',
        ...(members.some(({ name }) => name === '/bank/iban') ? { requiredWhen: '/bank/iban is null' } : {}),
      }),
      ...members,
      ...addressFields(rows, market, country),
    ],
    paymentFields: paymentFields(rails, market, country),
    verification: verificationOf(currency, country),
  }
}

function memberField(member: MemberRule, rows: readonly RailTerms[], market: Market): RequirementField {
  const { member: name, label, minLength, maxLength, pattern, options, example, description, checks } = member
  const groups = rows.flatMap((row) => groupsOf(row, market).map((group) => ({ rail: row.rail, group })))
  const using = groups.filter(({ group }) => group.includes(name as BankField))
  // The alternatives to this member: for each, a member that the other way needs and this way does not.
  const ways = groups
    .filter(({ group }) => !group.includes(name as BankField))
    .map(
      ({ group }) =>
        group.find((field) => field !== 'address' && !using.some((own) => own.group.includes(field))) ??
        (group[0] as BankField),
    )
  const requiredWhen = [...new Set(ways)].map((field) => `/bank/${field} is null`).join(' and ')
  const named = using.length === 0 ? rows.map(({ rail }) => rail) : [...new Set(using.map(({ rail }) => rail))]
  return {
    name: `/bank/${name}`,
    label,
    required: using.length > 0,
    ...(using.length > 0 && requiredWhen !== '' ? { requiredWhen } : {}),
    type: options === undefined ? 'string' : 'enum',
    minLength,
    maxLength,
    ...(pattern === null ? {} : { pattern }),
    ...(options === undefined ? {} : { options }),
    example,
    description,
    checks,
    rails: named,
  }
}

/** Makes the fields of the address for the rails that need one: required when all rails need it. */
function addressFields(rows: readonly RailTerms[], market: Market, country: string): RequirementField[] {
  const needing = rows.filter((row) => groupsOf(row, market).some((group) => group.includes('address')))
  if (needing.length === 0) return []
  const shared = {
    required: needing.length === rows.length,
    type: 'string' as const,
    checks: [],
    rails: needing.map(({ rail }) => rail),
    description: '',
  }
  const more = new Set<string>(addressNeeds(country))
  return [
    { ...shared, name: '/address/line1', label: 'Street', minLength: 1, maxLength: 70, example: 'Keizersgracht 1' },
    { ...shared, name: '/address/city', label: 'City', minLength: 1, maxLength: 35, example: 'Amsterdam' },
    ...(more.has('postalCode')
      ? [
          {
            ...shared,
            name: '/address/postalCode',
            label: 'Postal code',
            minLength: 1,
            maxLength: 16,
            example: '1015CJ',
          },
        ]
      : []),
    ...(more.has('state')
      ? [
          {
            ...shared,
            name: '/address/state',
            label: 'State',
            minLength: 1,
            maxLength: 35,
            example: 'NY',
            description: 'The part of its ISO 3166-2 code behind the country.',
          },
        ]
      : []),
    {
      ...shared,
      name: '/address/country',
      label: 'Country',
      minLength: 2,
      maxLength: 2,
      pattern: '^[A-Z]{2}$',
      example: country,
    },
  ]
}

function paymentFields(rails: readonly Rail[], market: Market, country: string): RequirementField[] {
  const fields: RequirementField[] = []
  const purpose = purposeRuleOf(country)
  if (purpose !== null) {
    fields.push({
      name: '/purposeCode',
      label: 'Purpose code',
      required: true,
      type: 'string',
      minLength: 1,
      maxLength: purpose.maxLength,
      pattern: purpose.pattern,
      example: purpose.example,
      description: purpose.description,
      checks: [],
      rails,
    })
  }
  if (market.members.some(({ checks }) => checks.includes('qr_iban'))) {
    fields.push({
      name: '/reference',
      label: 'QR reference',
      required: false,
      requiredWhen: '/bank/iban is a QR-IBAN',
      type: 'string',
      minLength: 27,
      maxLength: 27,
      pattern: '^[0-9]{27}$',
      example: '210000000003139471430009017',
      description: 'Printed on the bill.',
      checks: ['qr_iban'],
      rails,
    })
  }
  return fields
}

function railJson(row: RailTerms, market: Market, currency: CurrencyCode): RequirementRail {
  const { rail, reference, limitMinor, cutOff, speed, chargeBearers } = row
  const fields = new Set(
    groupsOf(row, market)
      .flat()
      .map((field) => (field === 'address' ? '/address' : `/bank/${field}`)),
  )
  return {
    rail,
    available: true,
    fields: ['/name', '/type', '/currency', '/bank/bankCountry', ...fields],
    referenceRule: {
      maxLength: reference.max,
      characters: reference.characters,
      pattern: CHARACTERS[reference.characters].source,
    },
    limit: limitMinor === null ? null : moneyJson({ amountMinor: limitMinor, currency }),
    cutOff: cutOff === null || cutOff.zone === PARTNER_ZONE ? null : cutOff,
    speed,
    chargeBearers,
  }
}

/** Returns the fault of a recipient's currency; null when there is none. */
export function currencyFault(currency: string): {
  readonly code: 'invalid_value' | 'currency_withdrawn'
  readonly message: string
  readonly params?: Readonly<Record<string, string>>
} | null {
  if (!isCurrencyCode(currency))
    return { code: 'invalid_value', message: 'Is not an ISO 4217 currency that can be paid.' }
  const withdrawn = WITHDRAWN_CURRENCIES[currency]
  if (withdrawn === undefined) return null
  return {
    code: 'currency_withdrawn',
    message: `Ended on ${withdrawn.since}; use ${withdrawn.replacedBy}.`,
    params: { since: withdrawn.since, replacedBy: withdrawn.replacedBy },
  }
}

/** Returns the columns of a rail that are rules for recipients. */
function ruleOf({ calendar: _calendar, ...row }: RailTerms): Omit<RailTerms, 'calendar'> {
  return row
}

/** Changes when a rule changes. */
export const REQUIREMENTS_VERSION = hash(
  'sha256',
  JSON.stringify(
    [LOCAL_MARKETS, INTERNATIONAL_ACCOUNT, PURPOSES, [...STATES], [...POSTAL_CODES], [...RAILS.values()].map(ruleOf)],
    (_, value: unknown) =>
      typeof value === 'bigint'
        ? String(value)
        : value instanceof Set
          ? ([...value] as unknown[])
          : typeof value === 'function'
            ? String(value)
            : value,
  ),
  'hex',
).slice(0, 12)
