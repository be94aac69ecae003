/**
 * The requirements for recipients, by currency and country of the bank, as the requirements operation shows them. The
 * validation of recipients (lib/recipients/validation.ts) reads the same tables (markets.ts, country-rules.ts), so the
 * shown rules are the checked rules. A recipient must satisfy one rail.
 */
import { hash } from 'node:crypto'
import { isCurrencyCode, WITHDRAWN_CURRENCIES, type CurrencyCode } from '../base/currency.ts'
import { moneyJson, type MoneyJson } from '../base/money.ts'
import { underLimits, type RailLimits } from '../rails/rail-limits.ts'
import type { BankField } from '../rails/bank-field.ts'
import { railDays } from '../rails/calendars.ts'
import { CROSS_BORDER_RAIL, RAILS, type ChargeBearer, type Rail, type RailTerms } from '../rails/rails.ts'
import { CHARACTERS } from '../rails/reference.ts'
import type { CheckName } from './bank-checks.ts'
import { addressNeeds, POSTAL_CODES, STATES } from './country-rules.ts'
import {
  groupsOf,
  INTERNATIONAL_ACCOUNT,
  LOCAL_MARKETS,
  marketOf,
  pointerOf,
  reachableRails,
  type Market,
  type MemberRule,
} from './markets.ts'
import { PAYMENT_RULES, paymentRulesOf, type PaymentCheckName, type PaymentFieldRule } from './payment-fields.ts'
import { PURPOSE_CODES_DATE } from './purpose-codes.ts'

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
  readonly checks: readonly (CheckName | PaymentCheckName)[]
  readonly rails: readonly Rail[]
}

export interface RequirementRail {
  readonly rail: Rail
  readonly available: boolean
  readonly reason?: string
  readonly fields: readonly string[]
  /** Each group of fields is enough for the rail. */
  readonly alternatives: readonly (readonly string[])[]
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
  const place = { currency, country }
  const ways = rows.flatMap((row) => groupsOf(row, place, market).map((group): Way => ({ rail: row.rail, group })))
  const members = market.members.map((member) => memberField(member, rails, ways))
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
    rails: rows.map((row) => railJson(row, ways, currency)),
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
      ...addressFields(rails, ways, country),
      ...conditionalFields(market, always),
    ],
    paymentFields: paymentFields(rows, country),
    verification: verificationOf(currency, country),
  }
}

/** A way of paying: a rail, and fields that are enough for it. */
interface Way {
  readonly rail: Rail
  readonly group: readonly BankField[]
}

/**
 * Makes the field of a member. Where the currency has rails of its own, a member that only SWIFT needs is optional: a
 * recipient must satisfy one rail.
 */
function memberField(member: MemberRule, rails: readonly Rail[], all: readonly Way[]): RequirementField {
  const { member: name, label, minLength, maxLength, pattern, options, example, description, checks } = member
  const pointer = `/bank/${name}`
  const has = ({ group }: Way): boolean => group.some((field) => pointerOf(field) === pointer)
  const own = all.filter(({ rail }) => rail !== CROSS_BORDER_RAIL)
  const ways = own.length > 0 ? own : all
  const using = ways.filter(has)
  // The alternatives to this member: for each, a member that the other way needs and this way does not.
  const others = ways
    .filter((way) => !has(way))
    .map(
      ({ group }) =>
        group.find((field) => field !== 'address' && !using.some((own) => own.group.includes(field))) ??
        (group[0] as BankField),
    )
  const requiredWhen = [...new Set(others)].map((field) => `${pointerOf(field)} is null`).join(' and ')
  const named = all.filter(has).map(({ rail }) => rail)
  return {
    name: pointer,
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
    rails: named.length === 0 ? rails : [...new Set(named)],
  }
}

/** Makes the fields that only some accounts of the market need. */
function conditionalFields(
  market: Market,
  field: (name: string, label: string, example: string, rest: Partial<RequirementField>) => RequirementField,
): RequirementField[] {
  return (market.conditional ?? []).map(
    ({ name, label, example, requiredWhen, minLength, maxLength, pattern, description }) =>
      field(name, label, example, { required: false, requiredWhen, minLength, maxLength, pattern, description }),
  )
}

/** Makes the fields of the address for the rails that need one: required when all rails need it. */
function addressFields(rails: readonly Rail[], ways: readonly Way[], country: string): RequirementField[] {
  const needing = rails.filter((rail) => ways.some((way) => way.rail === rail && way.group.includes('address')))
  if (needing.length === 0) return []
  const shared = {
    required: needing.length === rails.length,
    type: 'string' as const,
    checks: [],
    rails: needing,
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

/** Makes the fields of payments: each rule once, with the rails that have it. */
function paymentFields(rows: readonly RailTerms[], country: string): RequirementField[] {
  const rails = new Map<PaymentFieldRule, Rail[]>()
  for (const row of rows)
    for (const rule of paymentRulesOf(row, country)) rails.set(rule, [...(rails.get(rule) ?? []), row.rail])
  return [...rails].map(([rule, having]) => {
    const { name, label, required, requiredWhen, minLength, maxLength, pattern, example, description, checks } = rule
    return {
      name,
      label,
      required,
      ...(requiredWhen === undefined ? {} : { requiredWhen }),
      type: 'string',
      minLength,
      maxLength,
      pattern,
      example,
      description,
      checks,
      rails: having,
    }
  })
}

function railJson(row: RailTerms, ways: readonly Way[], currency: CurrencyCode): RequirementRail {
  const { rail, reference, limitMinor, cutOff, speed, chargeBearers } = row
  const alternatives = ways.filter((way) => way.rail === rail).map(({ group }) => group.map(pointerOf))
  return {
    rail,
    available: true,
    fields: ['/name', '/type', '/currency', '/bank/bankCountry', ...new Set(alternatives.flat())],
    alternatives,
    referenceRule: {
      maxLength: reference.max,
      characters: reference.characters,
      pattern: CHARACTERS[reference.characters].source,
    },
    limit: limitMinor === null ? null : moneyJson({ amountMinor: limitMinor, currency }),
    cutOff: cutOff === null ? null : { time: cutOff.time, zone: railDays(rail).zone },
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
    [
      LOCAL_MARKETS,
      INTERNATIONAL_ACCOUNT,
      PAYMENT_RULES,
      PURPOSE_CODES_DATE,
      [...STATES],
      [...POSTAL_CODES],
      [...RAILS.values()].map(ruleOf),
    ],
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
